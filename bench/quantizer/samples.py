"""Plausible inputs for models whose data is not at hand: pictures, token ids, and numbers for all else."""
import numpy as np
from onnx import numpy_helper


def picture(shape, rng):
    """Smooth colours with edges, about as spread as normalised photographs: a spectrum that falls with frequency, whose
    channels go together, with a few flat patches."""
    channels, height, width = shape[-3:]
    rows, columns = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None]
    fall = 1 / np.maximum(np.hypot(rows, columns), 1 / max(height, width)) ** rng.uniform(0.9, 1.4)

    def field():
        noise = rng.normal(size=fall.shape) + 1j * rng.normal(size=fall.shape)
        values = np.fft.irfft2(noise * fall, (height, width))
        return (values - values.mean()) / values.std()

    grey = field()
    made = np.stack([0.85 * grey + 0.5 * field() for _ in range(channels)])
    for _ in range(rng.integers(2, 6)):
        top, left = rng.integers(0, height - height // 4), rng.integers(0, width - width // 4)
        bottom, right = top + rng.integers(2, height // 3), left + rng.integers(2, width // 3)
        made[:, top:bottom, left:right] = 0.3 * made[:, top:bottom, left:right] + rng.normal(size=(channels, 1, 1))
    made = made * rng.uniform(0.5, 1.2) + rng.normal(0, 0.4) + rng.normal(0, 0.03, made.shape)
    # Pixels have a least and a greatest value.
    return np.broadcast_to(np.clip(made, -2.1, 2.6), shape).astype(np.float32)


def words(shape, most, used, rng):
    """Token ids below `most`: few are frequent, most are rare (Zipf); behind those that are used, the id 0."""
    order = np.random.default_rng(7).permutation(most)
    ids = order[np.minimum(rng.zipf(1.2, shape) - 1, most - 1)]
    ids[..., used:] = 0
    return ids


def looked_up(model, name):
    """How many rows the tables have that an input looks up, the least of them; None where it looks up none."""
    tables = {each.name: each for each in model.graph.initializer}
    sizes = [tables[node.input[0]].dims[0] for node in model.graph.node
             if node.op_type == "Gather" and node.input[1] == name and node.input[0] in tables]
    return min(sizes, default=None)


def make(model, given, count, seed):
    """COUNT samples, of the types and shapes of a given one, by the inputs' names."""
    rng = np.random.default_rng(seed)
    rows = {name: looked_up(model, name) for name in given}
    for _ in range(count):
        sample = {}
        lengths = [array.shape[-1] for array in given.values() if array.ndim]
        used = int(rng.integers(max(1, min(lengths, default=1) // 3), min(lengths, default=1) + 1))
        for name, array in given.items():
            if array.dtype.kind in "iu" and rows[name] and rows[name] > 2:
                sample[name] = words(array.shape, rows[name], used, rng).astype(array.dtype)
            elif array.dtype.kind in "iu" and rows[name]:
                # Which of two texts a token is of.
                sample[name] = np.broadcast_to(np.arange(array.shape[-1]) >= used // 2, array.shape).astype(array.dtype)
            elif array.dtype.kind in "iub":
                # Which tokens count.
                sample[name] = np.broadcast_to(np.arange(array.shape[-1]) < used, array.shape).astype(array.dtype)
            elif array.ndim == 4 and array.shape[1] in (1, 3) and min(array.shape[2:]) >= 16:
                sample[name] = picture(array.shape, rng).astype(array.dtype)
            else:
                sample[name] = (rng.normal(size=array.shape) * rng.uniform(0.5, 1.5)).astype(array.dtype)
        yield sample


def write(sample, folder):
    """The inputs of a sample as FOLDER/input_N.pb."""
    for i, (name, array) in enumerate(sample.items()):
        with open(f"{folder}/input_{i}.pb", "wb") as file:
            file.write(numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())
