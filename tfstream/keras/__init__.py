"""
Training with Keras that goes on where it was cut.

```python
tfstream.keras.fit(model, train, epochs=10, checkpoint="ckpt/")
```
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfstream.keras.training import fit

__all__ = ["fit"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tfstream.keras' has no attribute {name!r}")
    import_module("tfstream.dataset")  # which says what to install, without TensorFlow
    value = getattr(import_module("tfstream.keras.training"), name)
    globals()[name] = value
    return value
