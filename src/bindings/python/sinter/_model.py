"""Models: read, looked at, rewritten, saved."""
import os

from . import _sinter
from ._errors import usage_error
from ._options import Call
from ._session import Session
from ._values import Value, signature, table


class Model:
    """A model. `load` makes them.

        >>> load("model.onnx")
        <sinter.Model 'model.onnx' (x: f32[N, 3]) -> (y: f32[..., 2])>
    """

    def __init__(self, handle, name, stats=None):
        self._handle = handle
        self._name = name
        #: What the rewrite did that made this model, a dictionary; None if it was read.
        self.stats = stats

    @property
    def inputs(self):
        """The inputs, a list of Value.

            >>> load("model.onnx").inputs
            [Value(name='x', dtype='f32', shape=('N', 3))]
        """
        return [Value(*each) for each in self._handle.inputs()]

    @property
    def outputs(self):
        """The outputs, a list of Value.

            >>> load("model.onnx").outputs[0].dtype
            'f32'
        """
        return [Value(*each) for each in self._handle.outputs()]

    def compile(self, *, shapes=None, **given):
        """A Session, as sinter.compile() gives it.

            >>> load("model.onnx").compile()(x)
            array([[ 0., 12.]], dtype=float32)
        """
        call = Call(given, shapes)
        return Session(call.make_or_cancel(self._handle.compile, call.options), call.notes)

    def compile_to(self, path, *, shapes=None, **given):
        """Compiles the model ahead of time, to code that needs no library: `path` is a file ending with .o, .a, .so, .s or .ll, which
        gets a C header beside it, or a folder.

        Options are those of `sinter compile`, such as name, weights, target, cpu, features, parallel, debug_info, force. Gives the
        report of `sinter compile --json`, a dictionary, with the paths of all files.

            >>> made = load("model.onnx").compile_to("layer/", name="layer", shapes={"x": (4, 3)})
            >>> made["functions"]["run"]
            'layer_run'
        """
        call = Call(given, shapes)
        return _from_json(call.make_or_cancel(self._handle.compile_to, os.fspath(path), call.options))

    def optimize(self, *, shapes=None, **given):
        """A simplified model of the same format.

        Options are those of `sinter optimize`; `format=".onnx"` where the name of a model in memory does not say its format.

            >>> load("model.onnx").optimize().stats["after"] != {}
            True
        """
        call = Call(given, shapes)
        return self._rewritten(call.make_or_cancel(self._handle.optimize, call.options))

    def quantize(self, calibration, *, shapes=None, **given):
        """An 8-bit model, by the ranges that activations have for the samples of `calibration`, any iterable.

        A sample is an array if the model has one input, else a dictionary by input or a list. Options are those of `sinter
        quantize`, such as `max_loss`. WrongResultError if the loss cannot be held; what the iterable raises is raised.

            >>> samples = (numpy.full((4, 3), i, numpy.float32) for i in range(8))
            >>> load("model.onnx").quantize(samples, **{"for": "any"})
            <sinter.Model 'model.onnx' (x: f32[N, 3]) -> (y: f32[..., 2])>
        """
        names = [each.name for each in self.inputs]
        samples = [_sample(each, names) for each in calibration]
        call = Call(given, shapes)
        return self._rewritten(call.make_or_cancel(self._handle.quantize, call.options, samples.__getitem__, len(samples)))

    def _rewritten(self, result):
        handle, report = result
        return Model(handle, self._name, _from_json(report))

    def compare(self, other, inputs=(), *, shapes=None, **given):
        """How `other`, a Model, differs from this one, whose results are the expected ones: the report of `sinter compare --json`, a
        dictionary, whose "agrees" says whether all outputs, states and tensors of the same names do.

        `inputs` are those of this model, as a sample of quantize(); without, they are random. Options are those of `sinter
        compare` about two models: rtol, atol, range_atol, min_snr, min_cosine, backend, outputs_only, ...

            >>> model = load("model.onnx")
            >>> model.compare(model.optimize(), x)["agrees"]
            True
        """
        arrays = _sample(inputs, [each.name for each in self.inputs])
        call = Call(given, shapes)
        return _from_json(call.make_or_cancel(self._handle.compare, other._handle, arrays, call.options))

    def evaluate(self, data, *, against=None, shapes=None, **given):
        """How right the model is on samples whose right answers are known: the report of `sinter evaluate --json`, a dictionary.

        `data` is what `sinter evaluate --data` takes, a path or several, or an iterable of pairs of a sample, as of quantize(),
        and its target: a label, or an array of an output's shape. A sample is one row of the model's batch, or a whole one with as
        many labels. `against`, a Model, runs on the same samples, for "differences". Options are those of `sinter evaluate`:
        truth, labels, metric, batch, preset, ... WrongResultError if a bound (at_least, at_most, max_loss) does not hold.

            >>> samples = [(numpy.full((1, 3), i, numpy.float32), i % 2) for i in range(4)]
            >>> load("model.onnx").evaluate(samples)["samples"]
            4
        """
        several = [data] if isinstance(data, (str, os.PathLike)) else list(data)
        are_paths = bool(several) and all(isinstance(each, (str, os.PathLike)) for each in several)
        samples = []
        if are_paths:
            given["data"] = [os.fspath(each) for each in several]
        else:
            names = [each.name for each in self.inputs]
            samples = [_sample(each, names) + [_target(target)] for each, target in several]
        call = Call(given, shapes)
        other = None if against is None else against._handle
        return _from_json(call.make_or_cancel(self._handle.evaluate, other, call.options, samples.__getitem__, len(samples)))

    def show(self, path=None, *, shapes=None, **given):
        """Shows the graph as it was read, the one that is compiled, and its kernels, as `sinter inspect --html` does.

        Writes the page to `path`. Without, writes a temporary file and opens it in a browser. Gives the path. Options are those of
        `sinter inspect`; `measure=True` for measured times, on random inputs."""
        call = Call(given, shapes)
        page = call.make_or_cancel(self._handle.view, call.options)
        if path is None:
            # Few programs need them, and they take a part of the time that `import sinter` takes.
            import tempfile
            import webbrowser
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="sinter-", suffix=".html", delete=False) as file:
                file.write(page)
            webbrowser.open("file://" + file.name)
            return file.name
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return os.fspath(path)

    def save(self, path, **given):
        """Writes the model to a file, whose extension names the format: .onnx, .mlir, .mlir.bc, .stablehlo, .pdmodel, .json.

            >>> load("model.onnx").save("copy.mlir")
            >>> load("copy.mlir").inputs[0].shape
            ('N', 3)
        """
        call = Call(given)
        call.make(self._handle.save, os.fspath(path), call.options)

    def tobytes(self, format=".onnx", **given):  # noqa: A002
        """The model as the contents of a file. UsageError if it takes several files.

            >>> load(load("model.onnx").tobytes(".mlir.bc")).inputs[0].shape
            ('N', 3)
        """
        call = Call(given)
        files = call.make(self._handle.save_memory, "model" + format, call.options)
        if len(files) != 1:
            raise usage_error(f"the model takes {len(files)} files: {', '.join(files)}", "save() writes them")
        return next(iter(files.values()))

    def __reduce__(self):
        return _unpickle, (self.tobytes(".mlir.bc"), self._name, self.stats)

    def __repr__(self):
        return f"<sinter.Model {self._name!r} {signature(self.inputs, self.outputs)}>"

    def _repr_html_(self):
        """A table of the inputs and outputs, for notebooks."""
        return table(self._name, input=self.inputs, output=self.outputs)


def _from_json(text):
    import json
    return json.loads(text)


def _unpickle(contents, name, stats):
    model = load(contents, name="model.mlir.bc")
    model._name, model.stats = name, stats
    return model


def _sample(sample, names):
    if hasattr(sample, "keys"):
        return [sample[name] for name in names]
    return list(sample) if isinstance(sample, (list, tuple)) else [sample]


def _target(target):
    """A label as an array."""
    if isinstance(target, int):
        import array
        return memoryview(array.array("q", [target]))
    return target


def load(source, *, name=None, folder=None, shapes=None, **given):
    """Reads a model.

    `source` is a path (of a file or a folder), the contents of a file (bytes), an open binary file, or an onnx.ModelProto.
    For contents, `name` is what messages call it, and `folder` has its external data. `shapes` gives sizes of dynamic
    dimensions, by input: `{"x": (1, 3, None, None)}`.

        >>> load("model.onnx", shapes={"x": (8, None)}).inputs[0].shape
        (8, 3)
    """
    call = Call(given, shapes)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return Model(call.make(_sinter.open, path, None, None, call.options), path)
    if hasattr(source, "SerializeToString"):
        contents, name = source.SerializeToString(), name or "model.onnx"
    elif hasattr(source, "read"):
        contents, name = source.read(), name or os.path.basename(getattr(source, "name", "") or "model")
    else:
        contents = source
    name = name or "model"
    return Model(call.make(_sinter.open, name, contents, folder and os.fspath(folder), call.options), name)


def compile(model, *, shapes=None, **given):  # noqa: A001
    """A session that runs `model`, a Model or what load() takes.

    Options are those of `sinter run` that say how to compile: threads, cpu, features, precision, cache_dir, ... Dynamic
    dimensions stay dynamic unless `shapes` gives their sizes, by input.

        >>> compile("model.onnx", threads=1)(x).dtype
        dtype('float32')
    """
    if not isinstance(model, Model):
        model = load(model)
    return model.compile(shapes=shapes, **given)
