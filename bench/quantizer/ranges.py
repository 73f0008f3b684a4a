"""Ranges of a model's float values, measured in ONNX Runtime on the inputs that are there."""
import os
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test"))
from judge import OnnxRuntime

from .graph import Unsupported


def measure(graph, *samples):
    """Name -> (least, greatest) of every f32 value on all samples. The model's copy gets a ReduceMin and a ReduceMax for each as outputs,
    so that what comes back is small."""
    probed = graph.copy()
    values = probed.float_values()
    names = {}
    for value in values:
        for which in ("Min", "Max"):
            name = probed.fresh(f"{value}_range_{which.lower()}")
            names[name] = (value, which)
            probed.nodes.append(helper.make_node("Reduce" + which, [value], [name], keepdims=0))
            probed.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, []))
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "model.onnx")
        onnx.save(probed.model(), path)
        tasks = OnnxRuntime.run([OnnxRuntime.Task(path, feeds, os.path.join(scratch, str(i))) for i, feeds in enumerate(samples)])
    found = {value: [0.0, 0.0] for value in values}
    for name, (value, which) in names.items():
        seen = []
        for task in tasks:
            if task.error:
                raise Unsupported(f"no ranges, as ONNX Runtime does not run the model: {task.error}")
            seen.append(float(task.outputs[name]))
        found[value][which == "Max"] = max(seen) if which == "Max" else min(seen)
    return {value: tuple(pair) for value, pair in found.items()}
