"""What tests need beside Sinter itself: without it, a test says so and ends with 77, which CTest counts as skipped."""
import importlib.util
import os
import shutil

SKIPPED = 77
BENCH = os.environ.get("BENCH") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")


def missing(runtime=False):
    """What is not installed of Python's onnx and numpy and, with runtime, of ONNX Runtime; None if all is."""
    for name in ("onnx", "numpy"):
        if not importlib.util.find_spec(name):
            return f"Python's {name} (Debian: python3-{name})"
    if runtime and not shutil.which("node"):
        return "node (Debian: nodejs)"
    if runtime and not os.path.isdir(os.path.join(BENCH, "node_modules", "onnxruntime-node")):
        return "onnxruntime-node (npm install --ignore-scripts in bench/, or say where with BENCH)"
    return None


def skip_without(runtime=False):
    """Ends the program if something is missing."""
    what = missing(runtime)
    if what:
        print(f"skipped: {what} is not installed")
        raise SystemExit(SKIPPED)
