"""
What a dataset is, in the report of a task of flyte 2, which shows inputs and outputs only if told.

```python
@env.task(report=True)
async def train(data: tf.data.Dataset) -> float:
    tfstream.flyte.log_dataset(data)
    await flyte.report.flush.aio()
```
"""

from __future__ import annotations

from typing import Any

from tfstream.checks import whole
from tfstream.errors import MissingDependencyError
from tfstream.flyte.annotation import MOST_PICTURES
from tfstream.flyte.deck import dataset_html


def log_dataset(dataset: Any, *, tab: str = "dataset", preview: int = 0) -> None:
    """
    Show a `DatasetSpec` or a `tf.data.Dataset` in a tab of this task's report.

    Args:
        dataset: It is described; nothing is read.
        tab: The tab's name.
        preview: How many of the first pictures are shown, too, which are read for it; at most 64.

    Errors:
        MissingDependencyError: without flyte 2.
    """
    try:
        from flyte.report import get_tab
    except ModuleNotFoundError as error:
        raise MissingDependencyError('pip install "tfstream[flyte2]"') from error
    get_tab(tab).log(dataset_html(dataset, whole("preview", preview, least=0, most=MOST_PICTURES)))
