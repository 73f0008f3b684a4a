"""The exceptions, and which of Sinter's becomes which."""
import contextlib

from .. import _sinter


class Fail(Exception):
    """What has no other name: a file that cannot be read or written, say."""


class InvalidArgument(Exception):
    """The call makes no sense for this model: a name, type or shape."""


class NoSuchFile(Exception):
    """There is no such model."""


class RuntimeException(Exception):
    """A run failed."""


class NotImplemented(Exception):  # noqa: A001
    """The model uses what is not supported."""


class InvalidGraph(Exception):
    """The model is not valid."""


# A file that is no model at all is the same error here.
InvalidProtobuf = InvalidGraph
# Nothing raises these; programs catch them.
NoModel = type("NoModel", (Exception,), {})
EngineError = type("EngineError", (Exception,), {})
ModelLoaded = type("ModelLoaded", (Exception,), {})
EPFail = type("EPFail", (Exception,), {})

_KINDS = [
    (_sinter.UsageError, InvalidArgument), (_sinter.UnsupportedError, NotImplemented), (_sinter.InvalidModelError, InvalidGraph),
    (_sinter.SystemError, Fail), (_sinter.Error, RuntimeException),
]


@contextlib.contextmanager
def translated(invalid=InvalidGraph):
    """Raises errors of Sinter as those of ONNX Runtime: INVALID for a model that is not valid, or not with these inputs."""
    try:
        yield
    except _sinter.CancelledError as error:
        raise Fail("Exiting due to terminate flag being set to true.") from error
    except _sinter.Error as error:
        kind = next(to for of, to in _KINDS if isinstance(error, of))
        raise (invalid if kind is InvalidGraph else kind)(str(error)) from error
    except (TypeError, BufferError) as error:
        raise InvalidArgument(str(error)) from error
