"""ONNX Runtime (npm install in bench/) as the judge of models: what it computes, and what it makes of their graphs."""
import collections
import json
import os
import subprocess

import numpy as np
import onnx

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "OnnxRuntime.js")

class Task:
    """A model and what it is run on: arrays by name, or None to load it only. The level is that of the runtime's own
    rewriting ("disabled": none, every node straight from its definition).

    After run(): `outputs` by name or, where the runtime refused it, `error`."""

    def __init__(self, model, feeds, folder, optimised=None, level=None):
        self.model, self.feeds, self.folder, self.optimised, self.level = model, feeds, folder, optimised, level
        self.outputs, self.error = None, None

    def request(self):
        inputs = None if self.feeds is None else []
        os.makedirs(self.folder, exist_ok=True)
        for i, (name, array) in enumerate((self.feeds or {}).items()):
            file = os.path.join(self.folder, f"in_{i}.bin")
            np.ascontiguousarray(array).tofile(file)
            inputs.append({"name": name, "type": str(array.dtype), "dims": list(array.shape), "file": file})
        return json.dumps({"model": self.model, "folder": self.folder, "inputs": inputs, "optimised": self.optimised,
                           "level": self.level})

    def take(self, answer):
        self.error = answer.get("error")
        if self.error is None:
            self.outputs = {each["name"]: np.fromfile(each["file"], each["type"]).reshape(each["dims"])
                            for each in answer["outputs"]}


def run(tasks):
    """Fills in what the runtime gives for each task; each needs a folder of its own."""
    rest = list(tasks)
    while rest:
        done = subprocess.run(["node", SCRIPT], input="".join(task.request() + "\n" for task in rest), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) < len(rest):
            # The process died: the first without an answer is what killed it.
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
            answers.append({"error": f"the runtime died ({done.returncode}): {reason}"})
        for task, answer in zip(rest, answers):
            task.take(answer)
        rest = rest[len(answers):]
    return tasks


def difference(expected, got, tolerance=1e-4, half=2e-2):
    """The first output that is not as expected, in words, or None. Tolerances are relative to the largest value."""
    for name, a in expected.items():
        b = got.get(name)
        if b is None or a.shape != b.shape or a.dtype != b.dtype:
            return f"output '{name}' is not what it was"
        limit = half if a.dtype == np.float16 else tolerance
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.abs(a[np.isfinite(a)])
        if not np.allclose(a, b, rtol=0, atol=limit * max(1.0, finite.max(initial=0.0)), equal_nan=True):
            return f"output '{name}' differs by {np.nanmax(np.abs(a - b)):.3g}"
    return None


def operators(path):
    """How many nodes of each operator the model at path has, inner graphs included."""
    counts = collections.Counter()

    def count(graph):
        for node in graph.node:
            counts[node.op_type] += 1
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    count(attribute.g)

    count(onnx.load(path, load_external_data=False).graph)
    return counts
