"""
From a URL to the source that it names, by its scheme.

```
lakefs://repository/ref/pattern    s3://bucket/pattern    gs://bucket/pattern
az://container@account/pattern     /a/folder, file://     anything else: fsspec
```
"""

from __future__ import annotations

from dataclasses import replace

from tfstream.sources.base import Source


def source_of(url: str, *, follow_links: bool = False) -> Source:
    """
    The description of where a URL or path points. Nothing is looked at but the local disk.

    Errors:
        ValueError: which part is missing.
        SpecError: no such kind of URL.
    """
    if not url:
        raise ValueError("`url` is empty: name a URL, a folder or a file")
    scheme, separator, rest = url.partition("://")
    if not separator or (scheme.lower() == "file" and "::" not in url):
        from tfstream.sources.local import local_source

        return local_source(rest if separator else url, follow_links=follow_links)
    make = _SCHEMES.get(scheme.lower()) if "::" not in url else None
    if make is not None:
        return make(url)
    from tfstream.sources.fsspec import fsspec_source

    return fsspec_source(url)


def _lakefs(url: str) -> Source:
    from tfstream.sources.lakefs import LakeFSSource, parse_lakefs_url

    repository, ref, pattern = parse_lakefs_url(url)
    return LakeFSSource(repository=repository, ref=ref, pattern=pattern)


def _s3(url: str) -> Source:
    from tfstream.sources.s3 import S3Source, parse_s3_url

    bucket, pattern = parse_s3_url(url)
    return S3Source(bucket=bucket, pattern=pattern)


def _gcs(url: str) -> Source:
    from tfstream.sources.gcs import GCSSource, parse_gs_url

    bucket, pattern = parse_gs_url(url)
    return GCSSource(bucket=bucket, pattern=pattern)


def _azure(url: str) -> Source:
    from tfstream.sources.azure import AzureSource, parse_az_url

    account, container, pattern = parse_az_url(url)
    return AzureSource(account=account, container=container, pattern=pattern)


_SCHEMES = {"lakefs": _lakefs, "s3": _s3, "gs": _gcs, "az": _azure}


def at_endpoint(source: Source, endpoint: str | None) -> Source:
    """The same source at another server; ValueError where it has none."""
    if endpoint is None:
        return source
    if not hasattr(source, "endpoint"):
        raise ValueError(f"`endpoint` is not for {source.name} sources. Received: {endpoint!r}")
    return replace(source, endpoint=endpoint)  # type: ignore[call-arg]
