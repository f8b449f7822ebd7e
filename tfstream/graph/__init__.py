"""The only builder of graphs: everything that makes or runs TensorFlow's ops."""

from tfstream.errors import MissingDependencyError

try:
    import tensorflow  # noqa: F401
except ModuleNotFoundError as error:  # which TensorFlow, and whether, is the user's choice
    if error.name != "tensorflow":
        raise
    raise MissingDependencyError('pip install "tfstream[tf]"') from None
