#!/bin/sh
# Make a virtual environment at $1 with $PYTHON, or with the first Python that TensorFlow supports.
set -eu

supported='import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))'
for python in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
    if "$python" -c "$supported" 2>/dev/null; then
        [ -x "$1/bin/python" ] && "$1/bin/python" -c "$supported" && exit 0  # it is there
        echo "making $1 with $("$python" --version)"
        "$python" -m venv --clear "$1" && exit 0
        echo "this Python cannot make virtual environments; on Debian: apt install python3-venv" >&2
        exit 1
    fi
done
echo "Python 3.10 to 3.13 is needed (TensorFlow has no other); not usable: ${PYTHON:-python3}" >&2
exit 1
