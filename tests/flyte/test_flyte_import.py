"""`import flytekit` with tfstream installed: light, silent, in any order."""

import sys

import pytest

NO_PLUGINS = """
import importlib.metadata
importlib.metadata.entry_points = lambda **group: importlib.metadata.EntryPoints()
"""

LOADED = """
import sys
import flytekit
print(*{name.partition(".")[0] for name in sys.modules})
"""

NEVER_PICKLED = """
import sys
import {first}
if "flytekit" in sys.modules:
    flytekit.core.type_engine.TypeEngine.to_literal_type(int)  # a lookup without TensorFlow
import {second}
import tensorflow as tf
import tfstream
from flytekit.core.type_engine import TypeEngine
made = tf.data.Dataset.range(3)
kinds = [tf.data.Dataset, tf.data.TFRecordDataset, tf.compat.v1.data.Dataset]
kinds += [tfstream.StreamDataset, type(made.map(abs)), type(made.batch(2)), type(made.shuffle(2))]
print({{TypeEngine.get_transformer(kind).name for kind in kinds}})
print(TypeEngine.get_transformer(tfstream.DatasetSpec).name)
"""

ODD_TENSORFLOW = """
import sys
from types import ModuleType
sys.modules["tensorflow"] = ModuleType("tensorflow")
import flytekit
print("tfstream.flyte.plugin" in sys.modules)
"""

BROKEN = """
import sys
sys.modules["{module}"] = None
import flytekit
from flytekit.core.type_engine import TypeEngine
print(TypeEngine.to_literal_type(int).simple)
"""

WITHOUT_TENSORFLOW = """
import sys

class Absent:
    def find_spec(name, path=None, target=None):
        if name in ("tensorflow", "keras"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent)
from flytekit.core.context_manager import FlyteContextManager
from flytekit.core.type_engine import TypeEngine
from tfstream import DatasetSpec, ImageDecoder, LocalSource

spec = DatasetSpec(source=LocalSource(root="photos"), decoder=ImageDecoder())
context, kind = FlyteContextManager.current_context(), DatasetSpec
literal = TypeEngine.to_literal(context, spec, kind, TypeEngine.to_literal_type(kind))
print(TypeEngine.to_python_value(context, literal, kind) == spec)
"""

IN_FLYTE_2 = """
import {first}
import sys
from flyte.types import TypeEngine
print("tensorflow" in sys.modules, TypeEngine.get_transformer(int).name)
import {second}
import tensorflow as tf
import tfstream
made = tf.data.Dataset.range(3)
kinds = [tf.data.Dataset, tf.data.TFRecordDataset, type(made.map(abs)), tfstream.StreamDataset]
print({{TypeEngine.get_transformer(kind).name for kind in kinds}})
print(TypeEngine.get_transformer(tfstream.DatasetSpec).name)
"""


@pytest.mark.slow
def test_flytekit_stays_light(machine):
    """Its import loads no package because of us but tfstream, so no TensorFlow and no NumPy."""
    bare, ours = (set(machine.python(code).split()) for code in (NO_PLUGINS + LOADED, LOADED))
    found = ours - bare - sys.stdlib_module_names
    assert {"tfstream"} == found - {"zipp"}  # which reads entry points


@pytest.mark.slow
def test_no_tensorflow_is_needed(machine):
    """Where it is not installed, specs are passed all the same."""
    assert "True\n" == machine.python(WITHOUT_TENSORFLOW)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [("flytekit", "tensorflow"), ("tensorflow", "flytekit")]
)
def test_no_dataset_is_pickled(machine, first, second):
    """
    Whichever is imported first, every class of tf.data has our transformer. Names are frozen.

    Also where TensorFlow comes after a first lookup.
    """
    told = machine.python(NEVER_PICKLED.format(first=first, second=second))
    assert "{'tfstream.Dataset'}\ntfstream.DatasetSpec\n" == told


@pytest.mark.slow
@pytest.mark.parametrize("module", ["tfstream.flyte.v1", "tfstream.spec", "tfstream.flyte.nested"])
def test_flytekit_never_fails_because_of_us(machine, module):
    """What is broken in tfstream is a warning, and flytekit works."""
    done = machine.run("python", "-c", BROKEN.format(module=module))
    assert "1\n" == done.stdout
    assert "tfstream cannot register" in done.stderr


@pytest.mark.slow
def test_nor_because_of_a_tensorflow(machine):
    """For which tfstream has no ops: it was imported before, and is not what it should be."""
    assert "True\n" == machine.python(ODD_TENSORFLOW)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [("flyte, flytekit", "tensorflow"), ("tensorflow", "flyte")]
)
def test_flyte_2_knows_them_too(machine, first, second):
    """In any order, without a deadlock, and beside flytekit; TensorFlow is not loaded for it."""
    told = machine.python(IN_FLYTE_2.format(first=first, second=second))
    loaded = first == "tensorflow"
    assert f"{loaded} int\n{{'tfstream.Dataset'}}\ntfstream.DatasetSpec\n" == told
