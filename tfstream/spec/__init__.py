"""What to stream: `DatasetSpec`, and what it is made of."""

from tfstream.spec.dataset_spec import DatasetSpec
from tfstream.spec.parts import (
    LIMIT,
    Interpolation,
    LabelForm,
    LabelMode,
    OnError,
    Order,
    Position,
    Resize,
    Shard,
    Subset,
    SubsetRange,
    is_limit,
    subset_of,
)

__all__ = [
    "LIMIT",
    "DatasetSpec",
    "Interpolation",
    "LabelForm",
    "LabelMode",
    "OnError",
    "Order",
    "Position",
    "Resize",
    "Shard",
    "Subset",
    "SubsetRange",
    "is_limit",
    "subset_of",
]
