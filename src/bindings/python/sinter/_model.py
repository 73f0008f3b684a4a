"""Models: read, looked at, rewritten, saved."""
import collections
import html
import json
import os

from . import _sinter
from ._options import options
from ._session import Session

#: An input or output: its name, its element type ("f32") and its shape, in which a dynamic dimension is its name, or None.
Value = collections.namedtuple("Value", ["name", "dtype", "shape"])


class Model:
    """A model. `load` makes them.

        >>> load("model.onnx")
        <sinter.Model 'model.onnx' (x: f32[N, 3]) -> (y: f32[?, 2])>
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
        """The outputs, a list of Value."""
        return [Value(*each) for each in self._handle.outputs()]

    def compile(self, *, shapes=None, **given):
        """As sinter.compile()."""
        return Session(self._handle.compile(options(given, shapes)))

    def optimize(self, *, shapes=None, **given):
        """A simplified model of the same format.

        Options are those of `sinter optimize`; `format=".onnx"` where the name of a model in memory does not say its format.

            >>> load("model.onnx").optimize().stats["after"] != {}
            True
        """
        handle, report = self._handle.optimize(options(given, shapes))
        return Model(handle, self._name, json.loads(report))

    def quantize(self, calibration, *, shapes=None, **given):
        """An 8-bit model, by the ranges that activations have for the samples of `calibration`, any iterable.

        A sample is an array if the model has one input, else a dictionary by input or a list. Options are those of `sinter
        quantize`, such as `max_loss`."""
        names = [each.name for each in self.inputs]
        samples = [_sample(each, names) for each in calibration]
        handle, report = self._handle.quantize(options(given, shapes), samples.__getitem__, len(samples))
        return Model(handle, self._name, json.loads(report))

    def compare(self, other, inputs=(), *, shapes=None, **given):
        """How `other`, a Model, differs from this one, whose results are the expected ones: the report of `sinter compare --json`, a
        dictionary, whose "agrees" says whether all outputs, states and tensors of the same names do.

        `inputs` are those of this model, as a sample of quantize(); without, they are random. Options are those of `sinter
        compare` about two models: rtol, atol, range_atol, backend, outputs_only, ..."""
        arrays = _sample(inputs, [each.name for each in self.inputs])
        return json.loads(self._handle.compare(other._handle, arrays, options(given, shapes)))

    def show(self, path=None, *, shapes=None, **given):
        """Shows the graph as it was read, the one that is compiled, and its kernels, as `sinter inspect --html` does.

        Writes the page to `path`. Without, writes a temporary file and opens it in a browser. Gives the path. Options are those of
        `sinter inspect`; `measure=True` for measured times, on random inputs."""
        page = self._handle.view(options(given, shapes))
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
        """Writes the model to a file, whose extension names the format: .onnx, .mlir, .mlir.bc, .stablehlo, .pdmodel, .json."""
        self._handle.save(os.fspath(path), options(given))

    def tobytes(self, format=".onnx", **given):  # noqa: A002
        """The model as the contents of a file. UsageError if it takes several files.

            >>> load(load("model.onnx").tobytes(".mlir.bc")).inputs[0].shape
            ('N', 3)
        """
        files = self._handle.save_memory("model" + format, options(given))
        if len(files) != 1:
            raise _sinter.UsageError(f"the model takes {len(files)} files: {', '.join(files)}")
        return next(iter(files.values()))

    def __reduce__(self):
        return _unpickle, (self.tobytes(".mlir.bc"), self._name, self.stats)

    def __repr__(self):
        def text(values):
            return ", ".join(f"{each.name}: {each.dtype}{_shape_text(each.shape)}" for each in values)
        return f"<sinter.Model {self._name!r} ({text(self.inputs)}) -> ({text(self.outputs)})>"

    def _repr_html_(self):
        """A table of the inputs and outputs, for notebooks."""
        rows = "".join(f"<tr><td>{kind}</td>" + "".join(f"<td>{html.escape(text)}</td>" for text in
                                                       (each.name, each.dtype, _shape_text(each.shape))) + "</tr>"
                       for kind, values in (("input", self.inputs), ("output", self.outputs)) for each in values)
        return (f"<table><caption>{html.escape(self._name)}</caption><tr><th></th><th>name</th><th>type</th><th>shape</th></tr>"
                f"{rows}</table>")


def _shape_text(shape):
    if shape is None:
        return "[...]"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _unpickle(contents, name, stats):
    model = load(contents, name="model.mlir.bc")
    model._name, model.stats = name, stats
    return model


def _sample(sample, names):
    if isinstance(sample, dict):
        return [sample[name] for name in names]
    return list(sample) if isinstance(sample, (list, tuple)) else [sample]


def load(source, *, name=None, folder=None, shapes=None, **given):
    """Reads a model.

    `source` is a path (of a file or a folder), the contents of a file (bytes), an open binary file, or an onnx.ModelProto.
    For contents, `name` is what messages call it, and `folder` has its external data. `shapes` gives sizes of dynamic
    dimensions, by input: `{"x": (1, 3, None, None)}`.

        >>> load("model.onnx", shapes={"x": (8, None)}).inputs[0].shape
        (8, 3)
    """
    chosen = options(given, shapes)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return Model(_sinter.open(path, None, None, chosen), path)
    if hasattr(source, "SerializeToString"):
        contents, name = source.SerializeToString(), name or "model.onnx"
    elif hasattr(source, "read"):
        contents, name = source.read(), name or os.path.basename(getattr(source, "name", "") or "model")
    else:
        contents = source
    name = name or "model"
    return Model(_sinter.open(name, contents, folder and os.fspath(folder), chosen), name)


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
