"""
How an obstore store is made: the same for S3, GCS, Azure and lakeFS' gateway.

obstore reads settings from variables such as `AWS_*` for all that it is not given. What must
not depend on the user's environment is therefore written out here.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import Any

from tfstream.errors import MissingDependencyError
from tfstream.options import ReadOptions

AWS_SETTINGS = {
    "s3_express": False,
    "request_payer": False,
    "unsigned_payload": False,
    "imdsv1_fallback": False,
    # about writing, but nonsense in its variable would be an error, and a key for "sse-c"
    # would be sent along with each read
    "server_side_encryption": "AES256",
    "sse_bucket_key_enabled": False,
    "checksum_algorithm": "SHA256",
    "conditional_put": "etag",
    "copy_if_not_exists": "multipart",
    "disable_tagging": False,
    "disable_bulk_delete": False,
}
"""For `S3Store`: every `AWS_*` variable that reading does not need."""


def obstore_package() -> Any:
    """The package with its `store` and `exceptions`, imported when first needed."""
    try:
        import obstore.exceptions
        import obstore.store
    except ImportError:
        raise MissingDependencyError("pip install obstore") from None
    return obstore


def client_settings(options: ReadOptions, *, url: str) -> dict[str, Any]:
    """Arguments for any of obstore's stores: timeouts, and one attempt a call."""
    return {
        "client_options": {
            "allow_http": url.startswith("http://"),
            "allow_invalid_certificates": False,
            "http1_only": True,
            "connect_timeout": timedelta(seconds=options.connect_timeout),
            "timeout": timedelta(seconds=options.read_timeout),  # of the whole answer
        },
        "retry_config": {"max_retries": 0},
    }


def proxy_settings(proxy: str | None, *, url: str) -> dict[str, str]:
    """Client options for this proxy or for none, whatever the variables say."""
    if proxy:
        return {"proxy_url": proxy, "proxy_excludes": ""}
    # to exclude all is the only way to have none; "*" is names only, not addresses
    return {"proxy_url": url, "proxy_excludes": "*,0.0.0.0/0,::/0"}


def usable() -> bool:
    """
    Whether obstore may be called in this process: not in a fork of one that had imported it.

    Its threads do not survive a fork, and a call in the child would wait for them for ever.
    """
    return not _threads_lost


def _after_fork() -> None:
    global _threads_lost
    _threads_lost = _threads_lost or "obstore" in sys.modules


_threads_lost = False
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
