"""`DirectoryLabels`: the class is the folder, as in `image_dataset_from_directory`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tfstream.labels.base import Labelled, Labels


@dataclass(frozen=True, kw_only=True)
class DirectoryLabels(Labels):
    """
    The class is the first path segment after the pattern's literal prefix.

    Deeper files belong to it too; files beside the class folders belong to none and are left
    out, as in Keras.
    """

    name: ClassVar[str] = "directory"
    by_class: ClassVar[bool] = True

    def assign(
        self, keys: Sequence[str], *, prefix: str, class_names: Sequence[str] | None
    ) -> Labelled:
        folders = [_folder(key, len(prefix)) for key in keys]
        found = sorted({name for name in folders if name is not None}, key=_bytewise)
        if not found:
            raise ValueError(
                f"no class folders below {prefix or '/'!r}: labels='inferred' takes the class "
                "from the first folder of each path (cat/1.jpg). For images without labels "
                "pass labels=None"
            )
        names = _checked(class_names, found)
        place = {name: index for index, name in enumerate(names)}
        values = [-1 if name is None else place.get(name, -1) for name in folders]
        return Labelled(values, names, "not in a class folder of class_names")


def _folder(key: str, start: int) -> str | None:
    end = key.find("/", start)
    return key[start:end] if end >= 0 else None


def _bytewise(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _checked(class_names: Sequence[str] | None, found: Sequence[str]) -> tuple[str, ...]:
    if class_names is not None:
        if not set(class_names) <= set(found):
            raise ValueError(
                "The `class_names` passed did not match the names of the class folders. "
                f"Expected: {_some(found)} (or a subset of it), "
                f"but received: class_names={_some(class_names)}"
            )
        return tuple(class_names)
    if len(found) == 1:
        raise ValueError(
            f"only one class folder, {found[0]!r}: there is nothing to tell apart. For images "
            f"without labels pass labels=None; to keep the one class pass class_names={found!r}"
        )
    return tuple(found)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"{list(names[:20])}{more}"
