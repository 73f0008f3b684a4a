"""Super resolution of images of any size, in half precision if the model has it."""
import pathlib
import sys

import numpy as np
import onnxruntime as ort

session = ort.InferenceSession(pathlib.Path(sys.argv[1]), providers=["CPUExecutionProvider"])
[low] = session.get_inputs()
dtype = {"tensor(float)": np.float32, "tensor(float16)": np.float16}[low.type]
for size in ((12, 16), (7, 5)):
    image = np.random.default_rng(3).random((1, 1, *size)).astype(dtype)
    [high] = session.run(None, {low.name: image})
    assert high.shape == (1, 1, 2 * size[0], 2 * size[1]) and high.dtype == dtype, (high.shape, high.dtype)
    print(size, "->", high.shape[2:], f"mean {high.astype(np.float32).mean():.3f}")
