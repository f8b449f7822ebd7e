"""`tfstream.keras.fit`: what is gone on with, what is finished, what is refused."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfstream
from tests.keras.trainings import cut, fitted, model_of, names, streamed
from tfstream.spec import Position
from tfstream.testing.images import encode, noise

pytestmark = pytest.mark.slow


class Entered:
    """A `transform` that notes where each dataset begins and how many batches it has."""

    def __init__(self):
        self.parts = []

    def __call__(self, data):
        start = data.spec.start or Position()
        self.parts.append((start.epoch, start.record, len(data)))
        return data


def weights(model):
    """All of them, as one list of numbers."""
    return np.concatenate([each.numpy().ravel() for each in model.variables]).tolist()


def test_without_a_checkpoint(photos):
    """Epochs are numbered from `initial_epoch`, in one iteration; nothing is saved."""
    entered = Entered()
    history = fitted(photos, epochs=3, initial_epoch=1, transform=entered)
    assert [(1, 0, 20)] == entered.parts
    assert [1, 2] == history.epoch


def test_a_cut_epoch_goes_on(photos, tmp_path):
    """Its rest comes first, then the others, and the History is that of the whole training."""
    expected, model, entered = model_of(), model_of(), Entered()
    whole = fitted(photos, model=expected, epochs=3)
    cut(photos, tmp_path, after=15, epochs=3)
    history = fitted(photos, tmp_path, model=model, epochs=3, transform=entered)
    assert [(1, 12, 6), (2, 0, 10)] == entered.parts
    assert (whole.epoch, whole.history) == (history.epoch, history.history)
    assert weights(expected) == weights(model)
    assert model.history is history


def test_more_epochs(photos, tmp_path):
    """A training of two epochs, asked for four, ends as one of four."""
    expected, model = model_of(), model_of()
    whole = fitted(photos, model=expected, epochs=4)
    fitted(photos, tmp_path, epochs=2)
    history = fitted(photos, tmp_path, model=model, epochs=4)
    assert whole.history == history.history
    assert weights(expected) == weights(model)


def test_a_finished_training(photos, tmp_path):
    """Its History and the weights that callbacks left come at once, and nothing is trained."""

    class Last(keras.callbacks.Callback):
        def on_train_end(self, logs=None):
            self.model.layers[-1].bias.assign([7.0, 8.0])

    history = fitted(photos, tmp_path, epochs=2, callbacks=[Last()])
    model, calls = model_of(), []
    told = keras.callbacks.LambdaCallback(on_train_begin=lambda logs: calls.append("begin"))
    again = fitted(photos, tmp_path, model=model, epochs=2, callbacks=[told])
    assert (history.epoch, history.history, []) == (again.epoch, again.history, calls)
    assert [7.0, 8.0] == model.layers[-1].bias.numpy().tolist()
    assert history.history == fitted(photos, tmp_path, epochs=1).history, "it has more already"


def test_a_training_that_a_callback_stopped(photos, tmp_path):
    """It is finished, however many epochs are asked for later."""

    class Enough(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    fitted(photos, tmp_path, epochs=5, callbacks=[Enough()])
    assert [0, 1] == fitted(photos, tmp_path, epochs=9).epoch


def test_steps_per_epoch(photos, tmp_path):
    """As in Keras: shorter epochs go on in the stream where the last one ended."""
    arguments = {"epochs": 3, "steps_per_epoch": 7}
    whole, entered = fitted(photos, **arguments), Entered()
    cut(photos, tmp_path, after=11, **arguments)  # step 3 of epoch 1 is batch 10 of the stream
    history = fitted(photos, tmp_path, transform=entered, **arguments)
    assert [(1, 0, 10), (1, 12, 16)] == entered.parts
    assert whole.history == history.history


def test_a_part_of_many_workers(photos, tmp_path):
    """A worker's steps are its own, and its position counts for all."""
    data, entered = streamed(photos, num_shards=2, shard_index=1), Entered()
    cut(photos, tmp_path, after=8, data=data, epochs=2)
    fitted(photos, tmp_path, data=data, epochs=2, transform=entered)
    assert [(1, 2 * 2 * 3, 3)] == entered.parts
    other = streamed(photos, num_shards=2, shard_index=0)
    with pytest.raises(tfstream.SpecError, match=r"\$\.shard\.index: 1 there, 0 here"):
        fitted(photos, tmp_path, data=other, epochs=2)


def test_class_weights_and_validation(photos, tmp_path):
    """Keras' other arguments mean what they mean, also in a training that goes on."""
    arguments = {"epochs": 2, "class_weight": {0: 1.0, 1: 3.0}, "validation_freq": 2}
    arguments["validation_data"] = streamed(photos, seed=9)
    whole = fitted(photos, **arguments)
    cut(photos, tmp_path, after=12, **arguments)
    history = fitted(photos, tmp_path, **arguments)
    assert whole.history == history.history
    assert 1 == len(history.history["val_loss"])


def test_a_validation_that_is_entered(photos, tmp_path):
    """It is the same part each time, in a training that goes on, too."""
    arguments = {"epochs": 3, "validation_data": streamed(photos, seed=9).at(step=2)}
    whole = fitted(photos, **arguments)
    cut(photos, tmp_path, after=12, **arguments)
    assert whole.history == fitted(photos, tmp_path, **arguments).history


def test_an_eager_model(photos, tmp_path):
    """One whose steps are not traced goes on, too."""
    whole = fitted(photos, model=model_of(run_eagerly=True))
    cut(photos, tmp_path, after=3, model=model_of(run_eagerly=True))
    history = fitted(photos, tmp_path, model=model_of(run_eagerly=True))
    assert whole.history == history.history


def test_steps_per_execution(photos, tmp_path):
    """Several steps at once go on between them; what does not divide the epoch is refused."""
    whole = fitted(photos, model=model_of(steps_per_execution=5), epochs=2)
    cut(photos, tmp_path, after=4, model=model_of(steps_per_execution=5), epochs=2)
    assert "epoch-00001-step-00000005.npz" == names(tmp_path)[-1]
    history = fitted(photos, tmp_path, model=model_of(steps_per_execution=5), epochs=2)
    assert whole.history == history.history
    with pytest.raises(ValueError, match=r"must divide the 10 steps .*steps_per_execution=4"):
        fitted(photos, model=model_of(steps_per_execution=4))


def test_another_dataset_is_refused(photos, tmp_path):
    """Another seed, batch size or length is an error that says what differs."""
    cut(photos, tmp_path, after=3)
    with pytest.raises(
        tfstream.SpecError, match=r"another training\. \$\.order\.seed: 5 there, 6 "
    ):
        fitted(photos, tmp_path, data=streamed(photos, seed=6))
    with pytest.raises(tfstream.SpecError, match=r"\$\.batch_size: 3 .* epoch: 10 there, 8 here"):
        fitted(photos, tmp_path, data=streamed(photos, batch_size=4))
    with pytest.raises(tfstream.SpecError, match="steps of an epoch: 10 there, 5 here"):
        fitted(photos, tmp_path, steps_per_epoch=5)


def test_another_model_is_refused(photos, tmp_path):
    """The error names the variable and its file stays as it was."""
    cut(photos, tmp_path, after=3)
    before, model = names(tmp_path), model_of(units=5)
    with pytest.raises(tfstream.CheckpointError, match=r"sequential.*dense.*/kernel.*\[192, 4\]"):
        fitted(photos, tmp_path, model=model)
    assert before == names(tmp_path)


def test_what_fit_takes(photos):
    """A derived or entered dataset, and Keras' own backup, are refused with the way out."""
    data = streamed(photos)
    with pytest.raises(ValueError, match=r"transform=lambda data: data\.map\(augment\)"):
        fitted(photos, data=data.map(lambda *batch: batch))
    with pytest.raises(ValueError, match="`initial_epoch`"):
        fitted(photos, data=data.at(epoch=1))
    with pytest.raises(ValueError, match="has its number of epochs already"):
        fitted(photos, data=data.epochs(2))
    with pytest.raises(ValueError, match="BackupAndRestore"):
        fitted(photos, callbacks=[keras.callbacks.BackupAndRestore("backup")])
    with pytest.raises(ValueError, match="nobody knows how many steps"):
        fitted(photos, data=streamed(photos, batch_size=None, on_error="skip"))


@pytest.mark.parametrize(
    ("transform", "words"),
    [
        (lambda data: data.unbatch(), "makes an unknown number of elements of 10"),
        (lambda data: data.batch(2), "makes 5 elements of 10"),
        (lambda data: iter(data), "must return a dataset"),
    ],
)
def test_what_a_transform_keeps(photos, transform, words):
    """It gives as many elements as it gets, since steps are counted in them."""
    with pytest.raises(ValueError, match=words):
        fitted(photos, transform=transform)


@pytest.mark.parametrize(("name", "value"), [("save_every", 0), ("keep", 0), ("keep", 1.5)])
def test_whole_numbers(photos, tmp_path, name, value):
    """Steps and checkpoints are counted from one."""
    with pytest.raises(ValueError, match=f"`{name}` must be an integer of at least 1"):
        fitted(photos, tmp_path, **{name: value})


def test_errors_are_tfstreams(tmp_path):
    """A file that cannot be decoded ends a training with the error that iterating gives."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(encode(noise(8, 8), "PNG"))
    file = tmp_path / "b" / "1.png"
    file.write_bytes(file.read_bytes()[:60])
    with pytest.raises(tfstream.DecodeError, match=r"b/1\.png") as caught:
        fitted(tmp_path)
    assert "b/1.png" == caught.value.path


def test_other_errors_stay(photos):
    """What TensorFlow says of a user's own stage is TensorFlow's error."""
    checked = tf.debugging.assert_less

    def wrong(image, label):
        with tf.control_dependencies([checked(label, 0)]):
            return image, label

    with pytest.raises(tf.errors.InvalidArgumentError):
        fitted(photos, transform=lambda data: data.map(wrong))
