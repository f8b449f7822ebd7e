"""`ImageLabels`: the label of an image is another image, as in segmentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from tfstream.labels.base import Labelled, Labels

MaskType = Literal["uint8", "uint16"]


@dataclass(frozen=True)  # not all by keyword: the pattern says enough
class ImageLabels(Labels):
    """
    A mask for each image: the object with the same stem under another pattern.

    ```python
    tfstream.from_lakefs(
        "street", "main", "images/**/*.jpg", labels=tfstream.ImageLabels("masks/**/*.png")
    )
    ```

    The stem is the key after what comes before the pattern's wildcards, without the extension:
    `images/a/1.jpg` goes with `masks/a/1.png`. A mask is [height, width, 1]; its values are those
    that are stored: palette indices, or gray levels, never colours. It is resized, cropped and
    padded as its image is, but by nearest neighbour and keeping its dtype; padding is 0.

    Attributes:
        pattern: In the same repository or bucket; a path where the images come from a folder.
        dtype: Of the masks' values.
    """

    name: ClassVar[str] = "images"

    pattern: str
    dtype: MaskType = field(default="uint8", kw_only=True)

    def __post_init__(self) -> None:
        if not self.pattern:
            raise ValueError("`pattern` of ImageLabels must name the masks. Received: ''")
        if self.dtype not in get_args(MaskType):
            raise ValueError(
                f'`dtype` must be one of {{"uint8", "uint16"}}. Received: dtype={self.dtype!r}'
            )

    def pair(
        self, images: Sequence[str], masks: Sequence[str], *, prefixes: tuple[str, str]
    ) -> list[int]:
        """
        The place in `masks` of each image's mask. `prefixes` are what the stems come after.

        Errors:
            ValueError: an image without a mask, or with two; names the first few.
        """
        of_images, of_masks = prefixes
        places: dict[str, int] = {}
        for place, key in enumerate(masks):
            other = places.setdefault(stem(key, of_masks), place)
            if other != place:
                raise ValueError(
                    f"two masks have the stem {stem(key, of_masks)!r}: {masks[other]!r} and "
                    f"{key!r}. Narrow the pattern of ImageLabels"
                )
        missing = [key for key in images if stem(key, of_images) not in places]
        if missing:
            shown = ", ".join(map(repr, missing[:3])) + (", …" if len(missing) > 3 else "")
            raise ValueError(
                f"{len(missing):,} of {len(images):,} images have no mask among the "
                f"{len(masks):,} objects that match {self.pattern!r}: {shown}. The first should be "
                f"{of_masks + stem(missing[0], of_images)!r} with any extension"
            )
        return [places[stem(key, of_images)] for key in images]

    def assign(
        self, keys: Sequence[str], *, prefix: str, class_names: Sequence[str] | None
    ) -> Labelled:
        """Not for masks: they are paired with a second listing."""
        raise TypeError("masks are objects of their own: use `pair`")


def stem(key: str, prefix: str) -> str:
    """What an image and its mask have in common."""
    name = key[len(prefix) :]
    folder, slash, last = name.rpartition("/")
    return folder + slash + (last.rpartition(".")[0] or last)
