"""What callbacks see of a training that was cut: one training."""

from __future__ import annotations

import keras
import pytest

from tests.keras.trainings import cut, fitted, model_of, streamed

pytestmark = pytest.mark.slow


class Told(keras.callbacks.Callback):
    """Notes what it is told."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def on_train_begin(self, logs=None):
        self.calls.append("begin")

    def on_train_end(self, logs=None):
        self.calls.append(("end", sorted(logs)))

    def on_epoch_begin(self, epoch, logs=None):
        self.calls.append(f"epoch {epoch}")

    def on_epoch_end(self, epoch, logs=None):
        self.calls.append(f"epoch {epoch} over")

    def on_train_batch_begin(self, batch, logs=None):
        self.calls.append(batch)

    def on_train_batch_end(self, batch, logs=None):
        self.calls.append((batch, logs["loss"]))


def test_one_training(photos, tmp_path):
    """One beginning, one end, each batch by its number, with the loss that it would have had."""
    whole, after = Told(), Told()
    fitted(photos, epochs=3, callbacks=[whole])
    cut(photos, tmp_path, after=15, epochs=3)
    fitted(photos, tmp_path, epochs=3, callbacks=[after])
    at = whole.calls.index("epoch 1")
    left = whole.calls[at + 1 + 2 * 4 :]  # four batches of epoch 1 were told to the first process
    assert ["begin", "epoch 1", *left] == after.calls
    assert ("end", ["accuracy", "loss"]) == after.calls[-1]


def test_the_progress_bar(photos, tmp_path, capsys):
    """It begins at the next step, of all of the epoch."""
    cut(photos, tmp_path, after=15, epochs=2)
    capsys.readouterr()
    fitted(photos, tmp_path, epochs=2, verbose=1)
    shown = capsys.readouterr().out
    assert "Epoch 2/2" in shown
    assert " 5/10" in shown
    assert "10/10" in shown
    assert not any(f" {step}/10" in shown for step in (1, 2, 3, 4))
    assert "/6" not in shown


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras'
def test_a_learning_rate_that_callbacks_set(photos, tmp_path):
    """A schedule of the rate before it is not applied again to the epoch that was cut."""

    def scheduled():
        return keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)

    whole = fitted(photos, epochs=3, callbacks=[scheduled()])
    cut(photos, tmp_path, after=15, epochs=3, callbacks=[scheduled()])
    history = fitted(photos, tmp_path, epochs=3, callbacks=[scheduled()])
    assert whole.history == history.history


def test_the_users_own_history(photos, tmp_path):
    """It is the one that is filled and returned, as in Keras."""
    cut(photos, tmp_path, after=15, epochs=2)
    mine = keras.callbacks.History()
    assert fitted(photos, tmp_path, epochs=2, callbacks=[mine]) is mine
    assert [0, 1] == mine.epoch


def test_averaged_weights(photos, tmp_path):
    """Keras puts them into the model when a training ends: at its end only, not the cut epoch's."""

    def averaging():
        return model_of(optimizer=keras.optimizers.SGD(0.1, use_ema=True))

    expected, model = averaging(), averaging()
    fitted(photos, model=expected, epochs=3)
    cut(photos, tmp_path, after=15, model=averaging(), epochs=3)
    fitted(photos, tmp_path, model=model, epochs=3)
    for one, two in zip(expected.variables, model.variables, strict=True):
        assert one.numpy().tolist() == two.numpy().tolist()


def test_a_validation_is_not_repeated(photos, tmp_path):
    """What is saved at an epoch's end is saved after its validation."""
    calls = []
    told = keras.callbacks.LambdaCallback(on_test_begin=lambda logs: calls.append("validation"))
    told.on_test_begin = lambda logs=None: calls.append("validation")
    arguments = {"validation_data": streamed(photos), "callbacks": [told], "epochs": 2}
    cut(photos, tmp_path, after=11, **arguments)
    fitted(photos, tmp_path, **arguments)
    assert ["validation"] * 2 == calls
