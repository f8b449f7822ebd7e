"""
The functions that users call: arguments to a description, one look at the source, a dataset.

The keyword arguments that they share are described at `tfstream.Arguments`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from tfstream.arguments import Arguments, Common, position_of
from tfstream.describe import shard_of, specs_of, wanted_of
from tfstream.errors import SpecError
from tfstream.fetch.opening import Pinned, notices, opened, pinned
from tfstream.fetch.stream import Stream
from tfstream.labels.images import ImageLabels
from tfstream.labels.table import TableLabels
from tfstream.options import ReadOptions
from tfstream.sources.base import Credentials, Source
from tfstream.spec import DatasetSpec, Position, subset_of
from tfstream.tf_config import resolved
from tfstream.urls import at_endpoint, source_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tfstream.dataset import StreamDataset


class UncommittedWarning(UserWarning):
    """The branch has changes below the pattern that are in no commit, so they are not read."""


def from_lakefs(
    repo: str,
    branch: str,
    pattern: str = "**",
    *,
    endpoint: str | None = None,
    since: str | None = None,
    **common: Unpack[Common],
) -> StreamDataset:
    """
    Stream what a lakeFS repository has at a commit.

    ```python
    train = tfstream.from_lakefs("photos", "main", "train/**/*.jpg", image_size=(224, 224))
    model.fit(train, epochs=10)
    ```

    Args:
        repo: The repository.
        branch: Any ref: branch, tag, commit id, `main~1`. It becomes a commit id now; later
            commits change nothing, and uncommitted objects are not read.
        pattern: Which keys: `*` and `?` within a segment, `**` for any number of segments.
            The class is the first folder after what comes before the wildcards.
        endpoint: The server. Else `LAKECTL_SERVER_ENDPOINT_URL` or `~/.lakectl.yaml` names it.
        since: Only objects that were added or changed since this ref, which becomes a commit
            id now too.
        **common: See `tfstream.Arguments`. `credentials` may hold `access_key_id`,
            `secret_access_key` and `token`.

    Returns:
        A dataset of (images, labels); for `subset="both"` a list of two.

    Errors:
        RefNotFoundError, ObjectNotFoundError: naming what there is instead.
        AuthenticationError, AccessDeniedError: naming what is missing.
        ValueError: an argument, in Keras' manner.
    """
    from tfstream.sources.lakefs import LakeFSSource

    source = LakeFSSource(
        repository=repo, ref=branch, pattern=pattern, endpoint=endpoint, since_ref=since
    )
    dataset: StreamDataset = _made(source, common)
    return dataset


def from_s3(
    bucket: str,
    pattern: str = "**",
    *,
    endpoint: str | None = None,
    region: str | None = None,
    anonymous: bool = False,
    **common: Unpack[Common],
) -> StreamDataset:
    """
    Stream what a bucket of S3, or of a server like it, has now.

    ```python
    train = tfstream.from_s3("photos", "train/**", validation_split=0.2, subset="training")
    ```

    A bucket can change: the spec holds a digest of the listing, and reading something else
    later is an `ObjectChangedError`.

    Args:
        bucket: Its name.
        pattern: As for `from_lakefs`.
        endpoint: The server, where it is not AWS.
        region: Else as the AWS environment and profile say.
        anonymous: For public buckets: send no signature.
        **common: See `tfstream.Arguments`. `credentials` may hold `access_key_id`,
            `secret_access_key`, `session_token` and `profile`.

    Errors:
        As for `from_lakefs`; MissingDependencyError: names the pip line.
    """
    from tfstream.sources.s3 import S3Source

    source = S3Source(
        bucket=bucket, pattern=pattern, endpoint=endpoint, region=region, anonymous=anonymous
    )
    dataset: StreamDataset = _made(source, common)
    return dataset


def from_url(
    url: str | os.PathLike[str], *, endpoint: str | None = None, **common: Unpack[Common]
) -> StreamDataset:
    """
    Stream what a URL or path names.

    ```python
    tfstream.from_url("lakefs://photos/main/train/**")
    tfstream.from_url("s3://photos/train/**")       # gs://bucket/…, az://container@account/…
    tfstream.from_url("/data/train")                # a folder, or file:///data/train
    tfstream.from_url("memory://photos")            # anything that fsspec knows
    ```

    Args:
        url: Taken literally: nothing in it is percent-decoded, but in https:// ones.
        endpoint: The server, for sources that have one.
        **common: See `tfstream.Arguments`. For fsspec URLs, `credentials` are the
            filesystem's own options, or `{"filesystem": fs}` for one of your own.
    """
    follow_links = bool(common.get("follow_links", False))
    source = source_of(os.fspath(url), follow_links=follow_links)
    dataset: StreamDataset = _made(at_endpoint(source, endpoint), common)
    return dataset


def load(
    spec: DatasetSpec | str,
    *,
    credentials: Credentials | None = None,
    options: ReadOptions | None = None,
    endpoint: str | None = None,
    num_shards: int | Literal["auto"] | None = None,
    shard_index: int | None = None,
    position: tuple[int, int] | Position | None = None,
) -> StreamDataset:
    """
    The dataset that a spec describes, on any machine.

    ```python
    data = tfstream.load(text, num_shards=8, shard_index=3)
    ```

    Args:
        spec: A `DatasetSpec` or its JSON.
        credentials: As for the function that made the spec; else the environment's.
        options: How to read here.
        endpoint: The server as it is called here.
        num_shards: How many workers share the records, if not as the spec says. "auto": as many
            as `TF_CONFIG` has, which also says which of them this is.
        shard_index: Which of them this is.
        position: (epoch, record) to enter at, if not where the spec says.

    Errors:
        SpecError: not a spec, or of a newer version.
        ObjectChangedError: what is there now is not what was pinned.
    """
    from tfstream.dataset import StreamDataset

    if isinstance(spec, str):
        spec = DatasetSpec.from_json(spec)
    if spec.manifest is None:
        raise SpecError("not pinned: load takes the spec of a dataset", where="$.manifest")
    workers, index = resolved(num_shards, shard_index)
    if (workers is None) != (index is None):
        raise ValueError("`num_shards` and `shard_index` go together")
    if workers is not None:
        remainder = spec.shard.remainder if spec.shard else "uneven"
        spec = spec.replace(shard=shard_of(workers, index, remainder))
    if position is not None:
        spec = spec.replace(start=position_of(position))
    opening = spec.replace(source=at_endpoint(spec.source, endpoint))
    return StreamDataset(opened(opening, credentials, options or ReadOptions()))


def _known(common: Mapping[str, Any]) -> None:
    """Errors: TypeError about an argument that is none, with the nearest that is."""
    names = [each.name for each in fields(Arguments)]
    for name in common:
        if name not in names:
            raise TypeError(f"unexpected keyword argument {name!r}{_hint(name, names)}")


def _hint(name: str, names: list[str]) -> str:
    if name == "format":  # Keras has it, for PyTorch's loaders
        return ": the result is always a tf.data.Dataset"
    if name == "since":
        return ": only from_lakefs has it, where there are commits to compare"
    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else ": tfstream.Arguments has them all"


def _with_beside(source: Source, arguments: Arguments) -> tuple[Source, Arguments]:
    """In a folder, masks and tables have a path of their own: find one root for both."""
    from tfstream.sources.local import LocalSource, with_other, with_table

    labels = arguments.labels
    if isinstance(source, LocalSource) and isinstance(labels, TableLabels):
        source, path = with_table(source, labels.path)
        return source, replace(arguments, labels=replace(labels, path=path))
    if not isinstance(source, LocalSource) or not isinstance(labels, ImageLabels):
        return source, arguments
    source, masks = with_other(source, labels.pattern)
    return source, replace(arguments, labels=replace(labels, pattern=masks))


def _made(source: Source, common: Common) -> Any:
    from tfstream.dataset import StreamDataset  # first: no store is asked without TensorFlow

    _known(common)
    arguments = Arguments(**common)
    source, arguments = _with_beside(source, arguments)
    _check_source(source, arguments)
    found = pinned(
        wanted_of(arguments, source), arguments.credentials, arguments.options or ReadOptions()
    )
    for notice in notices(found):
        warnings.warn(notice, UncommittedWarning, stacklevel=3)
    specs = specs_of(arguments, found)
    if arguments.verbose:
        _tell(found, specs)
    datasets = [StreamDataset(Stream(spec, found.reading, found.manifest)) for spec in specs]
    return datasets if arguments.subset == "both" else datasets[0]


def _check_source(source: Source, arguments: Arguments) -> None:
    if arguments.follow_links and source.name != "local":
        raise ValueError(f"`follow_links` is for folders, not for {source.name} sources")
    if arguments.credentials and source.name == "local":
        raise ValueError("`credentials` is not for local sources: a folder needs none")


def _tell(found: Pinned, specs: list[DatasetSpec]) -> None:
    """What Keras prints, in its words."""
    what = "records" if found.reader.shards else "files"
    classes = "" if found.class_names is None else f" belonging to {len(found.class_names)} classes"
    lines = [f"Found {found.manifest.count} {what}{classes}."]
    for spec in specs:
        if spec.order.subset is not None:
            count = subset_of(spec.order, found.manifest.count).size
            lines.append(f"Using {count} {what} for {spec.order.subset}.")
    sys.stdout.write("\n".join(lines) + "\n")
