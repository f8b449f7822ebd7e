#!/bin/sh
# Make an environment at $1 with PyTorch, flytekit and the TensorFlow of the extra $2.
# pip's PyTorch for Linux does not load without 2.5 GB of CUDA; Debian's python3-torch is 40 MB.
set -eu

debian=/usr/bin/python3
for_flytekit='import sys; sys.exit(sys.version_info >= (3, 13))'
if "$debian" -c 'import torch, venv, ensurepip' 2>/dev/null && "$debian" -c "$for_flytekit"; then
    echo "making $1 with Debian's PyTorch"
    "$debian" -m venv --clear --system-site-packages "$1"
    # built for one of NumPy's binary interfaces, which changes with its major version
    torch="numpy==$("$debian" -c 'import numpy; print(numpy.__version__.split(".")[0])').*"
else
    echo "making $1 with pip's PyTorch; on Debian \`apt install python3-torch\` saves 2.5 GB"
    sh "$(dirname "$0")/make_venv.sh" "$1"
    "$1/bin/python" -c "$for_flytekit" || { echo "flytekit is for Python up to 3.12"; exit 0; }
    torch=torch
fi
"$1/bin/python" -m pip install --editable ".[$2,flyte]" "$torch"
