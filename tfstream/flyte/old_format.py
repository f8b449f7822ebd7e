"""
Literals as protobuf Structs, for Flyte's servers before 1.14, which know no msgpack.

flytekit's own switch for it is the environment variable `FLYTE_USE_OLD_DC_FORMAT=true`. A Struct
has no bytes, so graphs go into a folder, and no integers, so large seeds are refused.
"""

from __future__ import annotations

import os
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct

from tfstream.errors import NotPortableError
from tfstream.flyte.content import Content, from_struct


def is_wanted() -> bool:
    """Whether the variable is set, to one of the words that flytekit takes."""
    from flytekit.core.constants import FLYTE_USE_OLD_DC_FORMAT
    from flytekit.core.utils import str2bool

    return bool(str2bool(os.environ.get(FLYTE_USE_OLD_DC_FORMAT)))


def struct_of(content: Content) -> Any:
    """Errors: NotPortableError, it would be another content when it is read again."""
    struct = ParseDict(content, Struct()) if "graph" not in content else None
    if struct is None or from_struct(MessageToDict(struct)) != content:
        what = "a graph in its literal" if struct is None else "an integer that no double holds"
        raise NotPortableError(
            f"this has {what}: FLYTE_USE_OLD_DC_FORMAT=true cannot pass it. Without the variable "
            "it can be passed, which takes Flyte 1.14 or newer"
        )
    return struct
