"""The exceptions, options and types of ONNX Runtime's extension."""
from .._errors import (EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf,  # noqa: F401
                       ModelLoaded, NoModel, NoSuchFile, NotImplemented, RuntimeException)  # noqa: A004
from .._onnx_file import ModelMetadata  # noqa: F401
from .._options import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions)  # noqa: F401
from .._session import NodeArg  # noqa: F401
