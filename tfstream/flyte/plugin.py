"""What flytekit loads by its entry point, at the end of `import flytekit`; loading registers."""

from tfstream.flyte.registration import register_flytekit

register_flytekit()
