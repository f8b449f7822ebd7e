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
                "no class folders: labels='inferred' takes the class from the first folder of "
                "each path (cat/1.jpg). For images without labels pass labels=None"
            )
        if class_names is None and len(found) == 1:
            raise ValueError(_alone(found[0], keys, prefix))
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
    if class_names is None:
        return tuple(found)
    if not set(class_names) <= set(found):
        raise ValueError(
            "The `class_names` passed did not match the names of the class folders. "
            f"Expected: {_some(found)} (or a subset of it), "
            f"but received: class_names={_some(class_names)}"
        )
    return tuple(class_names)


def _alone(name: str, keys: Sequence[str], prefix: str) -> str:
    """What to say about a single class folder: it may be the one that has the class folders."""
    inside = f"{prefix}{name}/"
    deeper = any(key.startswith(inside) and "/" in key[len(inside) :] for key in keys)
    why = "there is nothing to tell apart"
    if deeper:
        why = f"did you mean the pattern {inside + '**'!r}, whose folders are the classes?"
    return (
        f"only one class folder, {name!r}: {why}{'' if deeper else '.'} For images without "
        f"labels pass labels=None; to keep the one class pass class_names={[name]!r}"
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"{list(names[:20])}{more}"
