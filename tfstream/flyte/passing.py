"""
A `tf.data.Dataset` to what a literal holds, and back.

```
as it came from another task              -> as it came
a StreamDataset as it was opened          -> its spec
anything else, by stages that can travel  -> its graph: in the literal up to 1 MB, else a folder
a stage that cannot travel                -> NotPortableError, which names it
TFDataset(mode="save" | "snapshot")       -> its elements, in a folder
```

Only the last reads records. Uploading and downloading are Flyte's: `Parcel.folder` goes up,
and its address becomes `content["folder"]`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tfstream.api import load
from tfstream.dataset import StreamDataset
from tfstream.errors import NotPortableError, SpecError
from tfstream.flyte.annotation import TFDataset
from tfstream.flyte.content import KEY, VERSION, Content, form_of, of_spec, spec_in
from tfstream.graph.portable import from_graph, to_graph

if TYPE_CHECKING:
    import tensorflow as tf

INLINE_BYTES = 1_000_000
"""Of a graph in the literal. Flyte passes literals by value, and refuses messages of 4 MB."""
_GRAPH, _ELEMENTS = "graph", "elements"


class Parcel(NamedTuple):
    """
    What a literal will hold.

    Fields:
        content: Still without the address of `folder`.
        folder: To upload, or None.
    """

    content: Content
    folder: Path | None = None


def parcel_of(
    dataset: tf.data.Dataset,
    way: TFDataset,
    folder: Callable[[], str],
    inline: int = INLINE_BYTES,
) -> Parcel:
    """
    How this dataset travels.

    Args:
        way: What its annotation says.
        folder: Makes an empty folder, for what does not fit into a literal.
        inline: How many bytes of a graph do.

    Errors:
        NotPortableError: the stage that cannot travel, and what to do.
    """
    came_as = getattr(dataset, "_tfstream_content", None)
    if came_as is not None and way.mode in ("describe", form_of(came_as)):
        return Parcel(came_as)
    if way.mode == "save":
        return _saved(dataset, Path(folder()))
    if way.mode == "describe" and isinstance(dataset, StreamDataset) and dataset.is_its_spec:
        return Parcel(of_spec(dataset.spec))
    graph = to_graph(dataset)
    if way.mode == "snapshot":
        return _snapshot(graph, Path(folder()))
    if len(graph) <= inline:
        return Parcel({KEY: VERSION, "form": "graph", "graph": graph})
    return _in_folder("graph", graph, Path(folder()))


def dataset_in(
    content: Content, folder: Path | None, kind: Any, *, allow_local: bool
) -> tf.data.Dataset:
    """
    The dataset that `parcel_of` was given.

    Args:
        folder: The downloaded one, if the content names one.
        kind: What the input is annotated as.
        allow_local: As for `from_graph`.

    Errors:
        NotPortableError: it is not a `kind`, or must not be opened here.
    """
    dataset = _made(content, folder, allow_local)
    if not isinstance(dataset, kind):
        raise NotPortableError(
            f"the input is a {kind.__name__}, but what came is a {type(dataset).__name__}: "
            "annotate it as tf.data.Dataset"
        )
    dataset._tfstream_content = content  # it may be passed on as it is
    return dataset


def _made(content: Content, folder: Path | None, allow_local: bool) -> tf.data.Dataset:
    import tensorflow as tf

    form = form_of(content)
    if form == "spec":
        return load(spec_in(content))
    if folder is None:
        if "graph" not in content:
            raise SpecError(f"the {form} of a dataset without its folder", where="$.folder")
        return from_graph(content["graph"], allow_local=allow_local)
    if form == "save":
        return tf.data.Dataset.load(str(folder / _ELEMENTS))
    dataset = from_graph((folder / _GRAPH).read_bytes(), allow_local=allow_local)
    return dataset.snapshot(str(folder / _ELEMENTS)) if form == "snapshot" else dataset


def _in_folder(form: str, graph: bytes, folder: Path) -> Parcel:
    (folder / _GRAPH).write_bytes(graph)
    return Parcel({KEY: VERSION, "form": form}, folder)


def _saved(dataset: tf.data.Dataset, folder: Path) -> Parcel:
    _check_end(dataset)
    dataset.save(str(folder / _ELEMENTS))
    return Parcel({KEY: VERSION, "form": "save"}, folder)


def _snapshot(graph: bytes, folder: Path) -> Parcel:
    """Of the graph as the reader will have it: TensorFlow finds a snapshot by its graph."""
    dataset = from_graph(graph, allow_local=True)
    _check_end(dataset)
    for _ in dataset.snapshot(str(folder / _ELEMENTS)):
        pass  # reading it is what writes it
    return _in_folder("snapshot", graph, folder)


def _check_end(dataset: tf.data.Dataset) -> None:
    import tensorflow as tf

    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise NotPortableError("a dataset without an end cannot be saved: take(n) of it can")
