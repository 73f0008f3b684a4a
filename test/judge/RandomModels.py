"""Random models in ONNX test form, with what ONNX Runtime gives for them as what is expected."""
import collections
import os
import re
import shutil

import onnx
from onnx import numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

from . import OnnxRuntime


def write_cases(folder, generators, level=None):
    """A folder gSEED for the model of each generator, by seed, that has one: (tasks for the runtime, by seed).

    A generator has model(), which gives a model or None, feeds, arrays by name, and may have `judged`, what the runtime computes in
    its place."""
    tasks = {}
    shutil.rmtree(folder, ignore_errors=True)
    for seed, generator in generators.items():
        made = generator.model()
        if made is None:
            continue
        case = os.path.join(folder, f"g{seed}")
        os.makedirs(case)
        onnx.save(made, os.path.join(case, "model.onnx"))
        write_set(case, "input", generator.feeds)
        path = os.path.join(case, "model.onnx")
        if getattr(generator, "judged", None):
            path = f"{os.path.normpath(folder)}-judged-{seed}.onnx"
            onnx.save(generator.judged, path)
        tasks[seed] = OnnxRuntime.Task(path, generator.feeds, case, level=level)
    return tasks


def write_set(case, kind, arrays, number=0):
    folder = os.path.join(case, f"test_data_set_{number}")
    os.makedirs(folder, exist_ok=True)
    for i, (name, array) in enumerate(arrays.items()):
        with open(os.path.join(folder, f"{kind}_{i}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(array, name).SerializeToString())


def declare_outputs(path, outputs):
    """Adds the element types of outputs that the model at path gives without one."""
    model = onnx.load(path)
    for each in model.graph.output:
        if not each.HasField("type") and each.name in outputs:
            each.type.tensor_type.elem_type = NP_TYPE_TO_TENSOR_TYPE[outputs[each.name].dtype]
    onnx.save(model, path)


def ask_runtime(tasks):
    """Runs all and writes what comes as expected outputs; the tasks that the runtime takes. Says what it refused, and why."""
    OnnxRuntime.run(tasks.values())
    refused = collections.Counter()
    for task in tasks.values():
        if task.error:
            refused[re.sub(r"'[^']*'|\d+", "_", task.error)[:110]] += 1
            shutil.rmtree(task.folder)
        else:
            write_set(task.folder, "output", task.outputs)
            declare_outputs(os.path.join(task.folder, "model.onnx"), task.outputs)
    taken = {seed: task for seed, task in tasks.items() if not task.error}
    print(f"{len(taken)} graphs; the runtime refused {sum(refused.values())}")
    for reason, times in refused.most_common(8):
        print(f"    {times} x {reason}")
    return taken


def add_sets(tasks, feeds):
    """Asks for what each model gives for further inputs, lists of arrays by name for each seed, and adds those that the
    runtime takes to its case: how many, and the tasks that it refused, each with that of its model."""
    more = [(task, OnnxRuntime.Task(task.model, each, os.path.join(task.folder, f"more_{i}"), level=task.level))
            for seed, task in tasks.items() for i, each in enumerate(feeds[seed])]
    OnnxRuntime.run([each for _, each in more])
    counts, refused = collections.Counter(), []
    for task, each in more:
        if each.error:
            refused.append((task, each))
        else:
            counts[task.folder] += 1
            for kind, arrays in ("input", each.feeds), ("output", each.outputs):
                write_set(task.folder, kind, arrays, counts[task.folder])
    return sum(counts.values()), refused


def seeds(arguments):
    """The seeds of so many graphs as are asked for: graph i depends on the seed and i alone."""
    return [arguments.seed * 1_000_003 + number for number in range(arguments.first, arguments.first + arguments.count)]


def add_options(parser, count):
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first graph")
    parser.add_argument("--backend", action="append", help="cpu or interpreter (default: both)")
    parser.add_argument("--optimize", action="store_true", help="judge what `sinter optimize` writes of them, too")
    parser.add_argument("--keep", help="where the graphs stay")
