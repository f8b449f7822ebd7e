"""
PyTorch and TensorFlow in one workflow, each with its own types.

PyTorch is in an environment of its own, `make torch`: pip's for Linux brings 2.5 GB of CUDA.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from machines import ROOT, Machine

pytestmark = pytest.mark.slow


@pytest.fixture
def torch_machine(tmp_path):
    """A machine whose programs have PyTorch; without it the tests fail, they are not skipped."""
    own, made = Path(sys.executable).parent, ROOT / ".venv-torch" / "bin"
    programs = own if find_spec("torch") else made
    assert (programs / "pyflyte").exists(), "PyTorch is not here: `make torch` brings it"
    return Machine(tmp_path, programs)


def test_a_module_is_trained_by_a_dataset(torch_machine, digits):
    """
    Its batches as NumPy arrays, in one task or in two that hand over in mid-epoch: the same bits.

    flytekit passes PyTorch's tensors, modules and checkpoints, and tfstream the spec, the
    dataset, TensorFlow's tensor and the data's position.
    """
    torch_machine.put("torch_v1.py")
    # From PyTorch 2.6 on, flytekit's transformers read no module without this variable
    told = torch_machine.run(
        "pyflyte",
        *("run", "torch_v1.py", "side_by_side", "--url", digits),
        TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD="1",
    ).stdout
    assert "6 steps, the loss fell: True" in told
    assert "('0', '1', '2') same weights: True" in told


@pytest.mark.parametrize("first", ["torch", "flytekit"])
def test_each_type_has_its_own_transformer(torch_machine, first):
    """Whatever is imported first: neither library's types are pickled, or taken by the other."""
    told = torch_machine.python(KINDS.format(first=first))
    assert told.split("\n")[:-1] == [
        "PyTorch Tensor, PyTorch Module, PyTorch Checkpoint",
        "tfstream.Tensor, tfstream.Dataset, tfstream.DatasetSpec",
        "['PyTorchTensor', 'TensorFlowTensor']",
    ]


KINDS = """
import {first}
import tensorflow as tf, torch, tfstream
from flytekit.core.type_engine import TypeEngine
from flytekit.extras.pytorch import PyTorchCheckpoint

for kinds in (
    (torch.Tensor, torch.nn.Module, PyTorchCheckpoint),
    (tf.Tensor, tf.data.Dataset, tfstream.DatasetSpec),
):
    print(", ".join(TypeEngine.get_transformer(kind).name for kind in kinds))
either = TypeEngine.to_literal_type(torch.Tensor | tf.Tensor)
print([each.blob.format for each in either.union_type.variants])
"""
