"""
What a Deck or report shows of a dataset: a table, and a link into lakeFS. Nothing is read,
unless pictures are asked for.

All texts are other people's (keys, classes, refs), so all are escaped.
"""

from __future__ import annotations

import html
import json
from typing import Any
from urllib.parse import quote

from tfstream.errors import AuthenticationError
from tfstream.sources.lakefs import LakeFSSource
from tfstream.spec import DatasetSpec, subset_of

_CLASSES = 20
"""Names of classes that are shown; a thousand of them would hide the rest."""


def dataset_html(value: Any, preview: int = 0) -> str:
    """A `DatasetSpec` or a dataset, with so many of its first pictures, which are read for it."""
    spec: DatasetSpec | None
    if isinstance(value, DatasetSpec):
        spec, shown = value, spec_html(value)
    else:
        spec, elements = _spec_of(value), value.element_spec
        is_all = getattr(value, "is_its_spec", False)
        shown = spec_html(spec, elements) if spec and is_all else graph_html(spec, elements)
    if not preview:
        return shown
    from tfstream.flyte.contact_sheet import contact_sheet

    return shown + contact_sheet(value, spec.class_names if spec else None, preview)


def _spec_of(dataset: Any) -> DatasetSpec | None:
    from tfstream.graph.origin import spec_of

    try:
        return spec_of(dataset)
    except ValueError:  # of several
        return None


def spec_html(spec: DatasetSpec, elements: Any = None) -> str:
    """The spec as a table, with its JSON below. `elements` is an element_spec."""
    rows = [*_rows(spec), ("elements", elements)]
    shown = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{_escaped(value)}</td></tr>"
        for name, value in rows
        if value is not None
    )
    text = html.escape(json.dumps(json.loads(spec.to_json()), indent=2, ensure_ascii=False))
    return (
        f"<table>{shown}</table>{_link(spec.source)}"
        f"<details><summary>JSON</summary><pre>{text}</pre></details>"
    )


def graph_html(spec: DatasetSpec | None, elements: Any) -> str:
    """A dataset with stages of its own."""
    what = "<p>a graph: the stages below the spec travel with it</p>"
    if spec is None:
        return f"{what}<pre>{html.escape(str(elements))}</pre>"
    return what + spec_html(spec, elements)


def _rows(spec: DatasetSpec) -> list[tuple[str, Any]]:
    source, order = spec.source, spec.order
    count = None if spec.records is None else f"{subset_of(order, spec.records).size:,}"
    names = spec.class_names
    more = "" if names is None or len(names) <= _CLASSES else ", …"
    classes = None if names is None else f"{len(names)}: {', '.join(names[:_CLASSES])}{more}"
    return [
        ("source", source.url(source.pattern)),
        ("ref", getattr(source, "ref", None)),
        ("commit", getattr(source, "commit", None)),
        ("records", count),
        ("subset", order.subset),
        ("classes", classes),
        ("batch size", spec.batch_size),
        ("digest", spec.digest),
    ]


def _escaped(value: Any) -> str:
    return html.escape(str(value))


def _link(source: Any) -> str:
    """To the commit in lakeFS' web page, where this environment knows the server."""
    if not isinstance(source, LakeFSSource) or source.commit is None:
        return ""
    root = _server(source)
    if root is None:
        return ""
    address = f"{root}/repositories/{quote(source.repository, safe='')}/objects?ref={source.commit}"
    return f'<p><a href="{html.escape(address)}">open in lakeFS</a></p>'


def _server(source: LakeFSSource) -> str | None:
    from tfstream.sources.lakefs_credentials import find_access, root_of

    try:
        return root_of(source.endpoint) if source.endpoint else find_access(None, None).endpoint
    except AuthenticationError:
        return None
