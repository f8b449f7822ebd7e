"""
`TarReader`: files in a tar, each read by itself; also as WebDataset groups them.

```
a/x.jpg  a/x.cls    one record: members that lie side by side and have one name up to the first
a/y.jpg  a/y.cls    dot of its last part; what follows is the field
```

Headers are read by `tarfile`: ustar, GNU and PAX, with long names. It stops without an error
where a later header is broken, so the end of the archive is looked at here.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO, ClassVar

from tfstream.errors import ShardError
from tfstream.readers.base import ArchiveReader, Fields, Packed
from tfstream.readers.field_values import value_of
from tfstream.readers.image_names import is_image

_BLOCK = 512
_MOST_PADDING = 1 << 20
"""Zeros after the end that are looked at: writers fill up to 10,240 bytes, some to more."""
_MOST_FIELD = 1 << 20
"""Bytes of a label."""
_MAGIC = slice(257, 262)


@dataclass(frozen=True, kw_only=True)
class TarReader(ArchiveReader):
    """Tar archives without compression. Each image, with the fields beside it, is a record."""

    name: ClassVar[str] = "tar"
    usual_label: ClassVar[str | None] = "cls"

    @classmethod
    def named(cls, key: str) -> bool:
        return key.lower().endswith(".tar")

    @classmethod
    def looks(cls, start: bytes) -> bool:
        return start[_MAGIC] == b"ustar"

    def index(self, file: BinaryIO, path: str, fields: Fields) -> Iterator[Packed]:
        seen: set[str] = set()
        for base, group in groupby(_members(file, path), lambda member: _split(member.name)[0]):
            members = list(group)
            if base in seen:
                text = f"the members of {base!r} do not lie side by side"
                raise ShardError(text, path=path, offset=members[0].offset)
            seen.add(base)
            yield _record(file, path, members, fields)

    def unpack(self, packed: bytes, extra: int, path: str, field: str | None = None) -> bytes:
        """As they are: a tar has no sums of its data."""
        return packed


def _members(file: BinaryIO, path: str) -> Iterator[tarfile.TarInfo]:
    size, end = file.seek(0, 2), 0
    file.seek(0)
    try:
        archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 - `file` is not ours
        for member in archive:
            end = member.offset_data + -(-member.size // _BLOCK) * _BLOCK
            if end > size:
                raise _truncated(path, size)
            if not member.isdir():
                _check(member, path)
                yield member
            archive.members = []  # type: ignore[attr-defined] # or it keeps them all
        end = archive.offset
    except tarfile.TarError as error:
        text = f"not a tar archive, or truncated: {error}"
        raise ShardError(text, path=path, offset=min(end, size)) from error
    _check_end(file, path, end, size)


def _check(member: tarfile.TarInfo, path: str) -> None:
    if not member.isreg() or member.issparse():
        kind = "sparse" if member.issparse() else "a link" if member.linkname else "no file"
        text = f"the member {member.name!r} is {kind}: pack files as they are"
        raise ShardError(text, path=path, offset=member.offset)


def _check_end(file: BinaryIO, path: str, end: int, size: int) -> None:
    """The end is a block of zeros, with nothing else behind it."""
    file.seek(end)
    rest = file.read(_MOST_PADDING)
    if len(rest) < _BLOCK:
        raise _truncated(path, size)
    if any(rest[:_BLOCK]):
        raise ShardError("a broken header", path=path, offset=end)
    if any(rest):
        text = "more behind its end: several archives in one file"
        raise ShardError(text, path=path, offset=end)


def _truncated(path: str, size: int) -> ShardError:
    return ShardError("truncated: there is no end of the archive", path=path, offset=size)


def _split(name: str) -> tuple[str, str]:
    """What the members of a record have in common, and the field."""
    folder, slash, last = name.removeprefix("./").rpartition("/")
    base, _, field = last.partition(".")
    if not base:  # a hidden file, which is no field of any other
        return folder + slash + last, ""
    return folder + slash + base, field.lower()


def _record(file: BinaryIO, path: str, members: list[tarfile.TarInfo], fields: Fields) -> Packed:
    by_field = {_split(each.name)[1]: each for each in members}
    if len(by_field) < len(members):
        names = ", ".join(repr(each.name) for each in members)
        text = f"two members are the same field of one record: {names}"
        raise ShardError(text, path=path, offset=members[0].offset)
    image = _image(by_field, path, fields.image)
    label = None if fields.label is None else _label(file, by_field, path, fields.label)
    name = image.name.removeprefix("./")
    return Packed(name, image.offset_data, image.size, label=label)


def _image(by_field: dict[str, tarfile.TarInfo], path: str, wanted: str | None) -> tarfile.TarInfo:
    """The member that is decoded; the first one where none of them can be."""
    first = next(iter(by_field.values()))
    if wanted is not None:
        if wanted.lower() not in by_field:
            text = f"the record of {first.name!r} has no field {wanted!r}: {sorted(by_field)}"
            raise ShardError(text, path=path, offset=first.offset)
        return by_field[wanted.lower()]
    images = [field for field, each in by_field.items() if is_image(each.name)]
    if len(images) > 1:
        text = (
            f"the record of {first.name!r} has {len(images)} images: pass "
            f"decoder=ImageDecoder(field={images[0]!r})"
        )
        raise ShardError(text, path=path, offset=first.offset)
    return by_field[images[0]] if images else first


def _label(file: BinaryIO, by_field: dict[str, tarfile.TarInfo], path: str, wanted: str) -> Any:
    """The value of `cls`, `txt`, or of `label` in the object that `json.label` stands for."""
    member = by_field.get(wanted.lower())
    inner = ""
    if member is None and wanted.lower().startswith("json."):
        member, inner = by_field.get("json"), wanted[5:]
    if member is None or member.size > _MOST_FIELD:
        return None
    file.seek(member.offset_data)
    data = file.read(member.size)
    try:
        return json.loads(data).get(inner) if inner else value_of(data)
    except (ValueError, AttributeError) as error:
        text = f"the member {member.name!r} is no label: {error}"
        raise ShardError(text, path=path, offset=member.offset_data) from error
