"""The second listing of images whose labels are images: a mask for each of them, or an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tfstream.fetch.columns import Objects
from tfstream.fetch.listing import Listing, listing_of, warn_unused
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.reading import Reading
from tfstream.labels.images import ImageLabels, stem
from tfstream.sources.base import ObjectInfo


def masked_manifest(
    labels: ImageLabels,
    listing: Listing,
    reading: Reading,
    *,
    ignore: tuple[str, ...],
    is_data: Callable[[str], bool],
) -> Manifest:
    """
    The images in the order of their keys, each with its mask as its partner.

    Errors:
        ValueError: an image has no mask, or two.
        ObjectNotFoundError: there are no masks at all.
    """
    masks = listing_of(
        replace(reading.source, pattern=labels.pattern),
        reading.store,
        ignore=ignore,
        options=reading.options,
        counts=reading.counts,
        is_data=is_data,
    )
    warn_unused(reading.source, listing, masks)
    images = _with_masks(listing, masks)
    if len(images) < len(listing.objects):
        reading.counts.leave_out({"mask ignored": len(listing.objects) - len(images)})
    places = labels.pair(
        [info.path for info in images],
        [info.path for info in masks.objects],
        prefixes=(listing.prefix, masks.prefix),
    )
    every = {stem(info.path, listing.prefix) for info in listing.whole or images}
    alone = sum(stem(info.path, masks.prefix) not in every for info in masks.objects)
    if alone:
        reading.counts.leave_out({"mask without an image": alone})
    partners = Objects.of([masks.objects[place] for place in places])
    return Manifest(Objects.of(images), partners=partners)


def _with_masks(images: Listing, masks: Listing) -> list[ObjectInfo]:
    """The images but for those whose mask `ignore` leaves out: it takes the pair."""
    there = {stem(info.path, masks.prefix) for info in masks.objects}
    lost = {stem(path, masks.prefix) for path in masks.ignored} - there
    return [info for info in images.objects if stem(info.path, images.prefix) not in lost]
