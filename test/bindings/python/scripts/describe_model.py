"""What a model is, and a run on random inputs of its types."""
import sys

import numpy as np
import onnxruntime as rt
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

TYPES = {"tensor(float)": np.float32, "tensor(uint8)": np.uint8, "tensor(int64)": np.int64}

rt.set_default_logger_severity(3)
options = rt.SessionOptions()
options.enable_mem_pattern = False
options.execution_mode = rt.ExecutionMode.ORT_SEQUENTIAL
session = rt.InferenceSession(sys.argv[1], sess_options=options)
meta = session.get_modelmeta()
print(f"{meta.producer_name}: graph {meta.graph_name}, version {meta.version}, {meta.custom_metadata_map}")
feed, random = {}, np.random.default_rng(11)
for each in session.get_inputs():
    print("input", each.name, each.type, each.shape)
    shape = [size if isinstance(size, int) else 2 for size in each.shape]
    feed[each.name] = (random.random(shape) * 255).astype(TYPES[each.type])
names = [each.name for each in session.get_outputs()]
for name, value in zip(names, session.run(names, feed)):
    print("output", name, value.dtype, value.shape)
try:
    session.run(names, {**feed, "nothing": feed[session.get_inputs()[0].name]})
except (InvalidArgument, ValueError) as error:
    print("refused:", error)
print(session.get_providers(), rt.get_device())
