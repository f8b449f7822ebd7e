"""A training with PyTorch on what tfstream streams: tasks that pass both libraries' types."""

import hashlib
from dataclasses import dataclass

import tensorflow as tf
import torch
from flytekit import task, workflow
from flytekit.extras.pytorch import PyTorchCheckpoint

import tfstream
from tfstream import DatasetSpec
from tfstream.flyte import TrainingCheckpoint

STEPS = 3
"""Of an epoch: 12 pictures in batches of 4."""


@dataclass
class HyperParameters:
    """A user's own."""

    rate: float = 0.05


@task
def choose(url: str) -> DatasetSpec:
    """Three batches."""
    return tfstream.from_url(url, image_size=(4, 4), batch_size=4, seed=3, verbose=False).spec


@task
def measure(data: tf.data.Dataset) -> tuple[torch.Tensor, tf.Tensor]:
    """Mean and standard deviation of each colour, one as a tensor of each library."""
    pixels = tf.concat([tf.reshape(images, [-1, 3]) for images, _ in data], axis=0)
    return torch.tensor(tf.reduce_mean(pixels, axis=0).numpy()), tf.math.reduce_std(pixels, axis=0)


@task
def build(classes: list[str]) -> torch.nn.Module:
    """Untrained."""
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, len(classes)))


@task
def train(
    data: tf.data.Dataset, module: torch.nn.Module, mean: torch.Tensor, deviation: tf.Tensor
) -> torch.nn.Module:
    """Two epochs at once."""
    optimizer = optimizer_of(module, HyperParameters().rate)
    batches = data.epochs(2).as_numpy_iterator()
    losses = [step(module, optimizer, batch, mean, deviation) for batch in batches]
    print(f"{len(losses)} steps, the loss fell: {losses[-1] < losses[0]}")
    return module


@task
def begin(
    data: tf.data.Dataset, module: torch.nn.Module, mean: torch.Tensor, deviation: tf.Tensor
) -> tuple[PyTorchCheckpoint, TrainingCheckpoint]:
    """Two steps of the first epoch: the module's state, and where the data goes on."""
    rates = HyperParameters()
    optimizer = optimizer_of(module, rates.rate)
    for batch in data.epochs(2).take(2).as_numpy_iterator():
        loss = step(module, optimizer, batch, mean, deviation)
    state = PyTorchCheckpoint(module=module, optimizer=optimizer, hyperparameters=rates)
    return state, TrainingCheckpoint(model=(), data=data, step=2, loss=loss)


@task
def go_on(
    state: PyTorchCheckpoint,
    place: TrainingCheckpoint,
    module: torch.nn.Module,
    mean: torch.Tensor,
    deviation: tf.Tensor,
) -> torch.nn.Module:
    """The four steps that are left."""
    module.load_state_dict(state["module_state_dict"])
    optimizer = optimizer_of(module, state["rate"])
    optimizer.load_state_dict(state["optimizer_state_dict"])
    left = place.dataset().epochs(2).take(2 * STEPS - place.step)
    for batch in left.as_numpy_iterator():
        step(module, optimizer, batch, mean, deviation)
    return module


@task
def compare(one: torch.nn.Module, other: torch.nn.Module, spec: DatasetSpec) -> str:
    """Whether both have the same bits."""
    return f"{spec.class_names} same weights: {digest(one) == digest(other)}"


@workflow
def side_by_side(url: str) -> str:
    """The same training by one task and by two."""
    spec = choose(url=url)
    mean, deviation = measure(data=spec)
    module = build(classes=spec.class_names)
    once = train(data=spec, module=module, mean=mean, deviation=deviation)
    state, place = begin(data=spec, module=module, mean=mean, deviation=deviation)
    after = go_on(state=state, place=place, module=module, mean=mean, deviation=deviation)
    return compare(one=once, other=after, spec=spec)


def optimizer_of(module, rate):
    """One with state."""
    return torch.optim.SGD(module.parameters(), lr=rate, momentum=0.9)


def step(module, optimizer, batch, mean, deviation):
    """Train on one batch of NumPy arrays; its loss."""
    images, labels = (torch.tensor(array) for array in batch)
    scaled = (images - mean) / torch.tensor(deviation.numpy())
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(module(scaled), labels.long())
    loss.backward()
    optimizer.step()
    return float(loss)


def digest(module):
    """Of every bit of its weights."""
    found = hashlib.sha256()
    for tensor in module.state_dict().values():
        found.update(tensor.numpy().tobytes())
    return found.hexdigest()
