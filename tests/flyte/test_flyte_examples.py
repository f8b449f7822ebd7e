"""The examples run, each by its SDK's own program."""

import json
import re

import pytest
from machines import ROOT, unframed

import tfstream

pytestmark = pytest.mark.slow
EXAMPLES = ROOT / "examples" / "flyte"


LOSS = r"Epoch 2/2 .*loss: \d+\.\d+"


def test_flytekit_trains(machine, digits):
    """On a graph that another task made of the spec; a loss comes out."""
    machine.put("train_v1.py", folder=EXAMPLES)
    told = unframed(machine.run("pyflyte", "run", "train_v1.py", "wf", "--url", digits).stdout)
    assert re.search(LOSS, told)


def test_flyte_2_trains(machine, digits):
    """Every image is in one machine's part, and a loss comes out."""
    data = tfstream.from_url(digits, image_size=(32, 32), verbose=False)
    total = sum(float(images.numpy().sum(dtype="float64")) for images, _ in data)
    machine.put("train_v2.py", folder=EXAMPLES)
    command = ("flyte", "run", "--local", "train_v2.py", "main", "--url", digits)
    told = unframed(machine.run(*command).stdout)
    found = re.search(r"brightness of all images: (\d+)", told)
    assert pytest.approx(total, rel=1e-5) == float(found[1])
    assert re.search(LOSS, told)


def test_statistics_of_all_parts(machine, digits):
    """One task a part and one for all give what NumPy gives for all pictures at once."""
    data = tfstream.from_url(digits, image_size=(32, 32), batch_size=12, verbose=False)
    ((images, _),) = data.as_numpy_iterator()
    pixels = images.reshape(-1, 3).astype("float64") / 255
    machine.put("statistics_v1.py", folder=EXAMPLES)
    command = ("pyflyte", "run", "statistics_v1.py", "wf", "--machines", 2)
    told = unframed(machine.run(*command, "--url", digits).stdout)
    found = re.search(r"mean (\[.*?\]) deviation (\[.*?\])", told)
    assert pytest.approx(pixels.mean(axis=0).tolist(), abs=1e-5) == json.loads(found[1])
    assert pytest.approx(pixels.std(axis=0).tolist(), abs=1e-5) == json.loads(found[2])


def test_a_training_is_handed_over(machine, digits):
    """At the next picture; and the Deck of the first task has a contact sheet."""
    machine.put("hand_over_v1.py", folder=EXAMPLES)
    told = unframed(machine.run("pyflyte", "run", "hand_over_v1.py", "wf", "--url", digits).stdout)
    assert "goes on at Position(epoch=0, record=4)" in told
    assert re.search(LOSS, told)
    decks = [path.read_text() for path in machine.home.rglob("*.html")]
    assert [12] == [count for deck in decks if (count := deck.count("data:image/jpeg;base64"))]
