"""Models in training."""
import time

from ._errors import usage_error
from ._interrupts import interruptible
from ._model import Model, load
from ._options import Call


class Trainer:
    """Trains a model by steps on batches of the caller's.

    A batch has the inputs of the model, then the targets: a list or a tuple, or a dictionary by the names in `names`. The
    first dimension of each array counts samples.

        >>> trainer = Trainer("model.onnx", loss="cross-entropy", optimizer="adam", lr=1e-3)
        >>> trainer.names
        ['x', 'target']
        >>> batches = [(numpy.ones((4, 3), numpy.float32), numpy.array([0, 1, 0, 1]))] * 2
        >>> losses = [trainer.step(batch) for batch in batches]
        >>> losses[1] < losses[0]
        True
        >>> trainer.model().save("trained.onnx")

    A signal (KeyboardInterrupt) cancels a step that still compiles; the weights are then those before or after it."""

    def __init__(self, model, *, shapes=None, **given):
        """`model` is a Model or what sinter.load() takes. Options are those of `sinter train` about a step: loss, optimizer,
        lr, momentum, weight_decay, clip_norm, trainable, frozen, seed, accumulate, memory_limit, threads, precision, ..."""
        model = model if isinstance(model, Model) else load(model)
        self._name = model._name
        self._call = Call(given, shapes)
        self._handle = self._call.make_or_cancel(model._handle.train, self._call.options)
        self._short = set()
        #: The names of a batch's arrays, in order.
        self.names = self._handle.names()

    def _ordered(self, batch):
        """The arrays of a batch, in order."""
        if not hasattr(batch, "keys"):
            return list(batch)
        unknown = [name for name in batch if name not in self.names]
        missing = [name for name in self.names if name not in batch]
        if unknown or missing:
            raise usage_error(f"a batch has {', '.join(map(repr, self.names))}"
                              + "".join(f"; there is no {name!r}" for name in unknown)
                              + "".join(f"; {name!r} is missing" for name in missing))
        return [batch[name] for name in self.names]

    def _loss(self, method, batch):
        arrays = self._ordered(batch)
        # Other sizes compile another program.
        sizes = (method.__name__, *(getattr(each, "shape", None) for each in arrays))
        begin = time.monotonic()
        loss = method(arrays) if sizes in self._short else self._interruptible(lambda: method(arrays))
        if time.monotonic() - begin < 0.05:
            self._short.add(sizes)
        else:
            self._short.discard(sizes)
        self._call.notes.tell()
        return loss

    def _interruptible(self, call):
        """call(), which a signal cancels; further ones go on."""
        cancellation = self._call.cancellation
        try:
            return interruptible(call, cancellation.cancel)
        finally:
            cancellation.reset()

    def step(self, batch):
        """Trains on a batch; its loss before the step.

        WrongResultError if the loss or a gradient is not finite: the weights stay, and further steps are refused."""
        return self._loss(self._handle.step, batch)

    def evaluate(self, batch):
        """The loss of a batch as the model would run. The weights stay."""
        return self._loss(self._handle.evaluate, batch)

    @property
    def lr(self):
        """The learning rate of further steps."""
        return self._handle.rate()

    @lr.setter
    def lr(self, rate):
        self._handle.set_rate(rate)

    def model(self):
        """A Model with the weights as they are."""
        return Model(self._handle.model(), self._name)

    def __repr__(self):
        return f"<sinter.Trainer of {self._name!r} on {', '.join(self.names)}>"
