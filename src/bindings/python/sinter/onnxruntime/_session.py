"""InferenceSession."""
import os
import threading

import numpy

from .. import _model
from .._sinter import Cancellation
from ._errors import InvalidArgument, NoSuchFile, RuntimeException, translated
from ._once import once, without_effect
from ._onnx_file import described
from ._options import SessionOptions, compile_options, folder_of
from ._types import dtype_of, name_of
from ._values import IOBinding, OrtValue

PROVIDER = "CPUExecutionProvider"


class NodeArg:
    """An input or output: its name, its shape with sizes, names or None, and its type, "tensor(float)"."""

    def __init__(self, name, shape, type):  # noqa: A002
        self.name, self.shape, self.type = name, shape, type

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


def _node_arg(value, dimensions=()):
    shape = list(value.shape or ())
    for i, name in enumerate(dimensions if len(dimensions) == len(shape) else ()):
        shape[i] = name if shape[i] is None else shape[i]
    return NodeArg(value.name, shape, name_of(value.dtype))


def _check_providers(providers):
    for each in providers or ():
        name = each[0] if isinstance(each, (list, tuple)) else each
        if name != PROVIDER:
            once(name, f"there is no such execution provider; the model runs on {PROVIDER}")


class InferenceSession:
    """A model that runs: of a path, or of the contents of a file."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        for name in kwargs:
            without_effect(f"InferenceSession's {name}")
        self._options = sess_options if sess_options is not None else SessionOptions()
        self.set_providers(providers, provider_options)
        model = _load(path_or_bytes, self._options)
        self._metadata, dimensions = described(os.fspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike))
                                               else path_or_bytes)
        given, shapes = compile_options(self._options, model.inputs)
        with translated():
            self._session = model.compile(shapes=shapes, **given)
        self._inputs = [_node_arg(each) for each in self._session.inputs]
        self._outputs = [_node_arg(each, dimensions.get(each.name, ())) for each in self._session.outputs]
        self._input_names = {each.name: each.dtype for each in self._session.inputs}
        self._output_names = [each.name for each in self._session.outputs]
        if self._options.optimized_model_filepath:
            with translated():
                model.optimize(shapes=shapes).save(self._options.optimized_model_filepath)

    # What the model is.

    def get_inputs(self):
        return list(self._inputs)

    def get_outputs(self):
        return list(self._outputs)

    def get_overridable_initializers(self):
        """None: weights that have a value are constants."""
        return []

    def get_modelmeta(self):
        return self._metadata

    # How it runs.

    def get_session_options(self):
        return self._options

    def get_providers(self):
        return [PROVIDER]

    def get_provider_options(self):
        return {PROVIDER: {}}

    def set_providers(self, providers=None, provider_options=None):
        """Warns of providers other than that of the CPU."""
        _check_providers(providers)

    def enable_fallback(self):
        """Nothing: there is one provider."""

    def disable_fallback(self):
        """Nothing: there is one provider."""

    def get_profiling_start_time_ns(self):
        return 0

    def end_profiling(self):
        """"": no profile is written."""
        without_effect("InferenceSession.end_profiling")
        return ""

    # Runs.

    def _array(self, name, value):
        """VALUE as what a session takes, an input of name NAME."""
        if name not in self._input_names:
            raise InvalidArgument(f"Invalid input name: {name}")
        if isinstance(value, OrtValue):
            return value._data
        if isinstance(value, (list, tuple, int, float, bool)):
            return numpy.asarray(value, dtype_of(self._input_names[name]))
        return numpy.asarray(value) if isinstance(value, numpy.generic) else value

    def _results(self, inputs, outputs, options):
        """The results of OUTPUTS (name: memory or None) by name, of a run by OPTIONS, RunOptions or None."""
        arrays = {name: self._array(name, value) for name, value in inputs.items()}
        missing = [name for name in self._input_names if name not in arrays]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(inputs)}).")
        memory = {name: value for name, value in outputs.items() if value is not None}
        session = self._session
        with translated(RuntimeException):
            try:
                return session._results([arrays[name] for name in self._input_names], session._outputs(memory or None),
                                        options and options._cancellation)
            except KeyboardInterrupt:
                # It cancelled this run, not further ones.
                if options and not options.terminate:
                    options._cancellation = Cancellation()
                raise

    def run(self, output_names, input_feed, run_options=None):
        """The outputs of these names (None: all), a list of arrays, of INPUT_FEED, arrays by input."""
        names = list(output_names) if output_names else self._output_names
        for name in names:
            if name not in self._output_names:
                raise InvalidArgument(f"Invalid output name: {name}")
        results = self._results(input_feed, {}, run_options)
        return [results[name] for name in names]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """As run() in a thread, which calls callback(results, user_data, error): results are [] if the text of error is not ""."""
        def work():
            try:
                results, error = self.run(output_names, input_feed, run_options), ""
            except Exception as raised:  # noqa: BLE001 - the callback gets it
                results, error = [], str(raised)
            callback(results, user_data, error)
        threading.Thread(target=work, name="sinter.onnxruntime.run_async").start()

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """As run() on OrtValues, of which it returns a list."""
        return [OrtValue(each) for each in self.run(output_names, input_dict_ort_values, run_options)]

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs the model on what is bound."""
        iobinding._run(run_options)


def _load(source, options):
    if isinstance(source, (str, os.PathLike)):
        if not os.path.exists(source):
            raise NoSuchFile(f"Load model from {os.fspath(source)} failed: File doesn't exist")
        with translated():
            return _model.load(source)
    if not isinstance(source, (bytes, bytearray, memoryview)):
        raise TypeError(f"Unable to load from type '{type(source)}'")
    with translated():
        return _model.load(source, name="model.onnx", folder=folder_of(options))
