"""What accuracy.py and forms.py have in common: generated samples, files that `sinter quantize` makes, and a table with a row a model."""
import os
import subprocess
import sys

import onnx
from judge import OnnxRuntime
from quantizer import around, graph, ranges, samples

HERE = os.path.dirname(os.path.abspath(__file__))
CALIBRATION_SEED, HELD_OUT_SEED = 11, 12


class Failed(Exception):
    """A program refused a model; the text is why."""


def call(words):
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Failed(f"{' '.join(words[1:3])}: exit code {done.returncode}: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    return done.stdout


def outputs_of(path, held_out, scratch, level=None):
    """What ONNX Runtime gives for each sample; the level is that of its own rewriting."""
    tasks = OnnxRuntime.run([OnnxRuntime.Task(path, feeds, os.path.join(scratch, f"run_{i}"), level=level) for i, feeds in enumerate(held_out)])
    for task in tasks:
        if task.error:
            raise Failed(f"ONNX Runtime: {task.error}")
    return [task.outputs for task in tasks]


def prepare(folder, read_set, options, scratch):
    """(model, calibration samples, held-out samples); the first are in SCRATCH/calibration, too."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    constants = {each.name for each in model.graph.initializer}
    names = [each.name for each in model.graph.input if each.name not in constants]
    given = read_set(folder, "input", names)
    if len(given) < len(names):
        raise Failed(f"{folder}/test_data_set_0 has inputs for {len(given)} of {len(names)}: it tells their shapes")
    calibration = list(samples.make(model, given, options.samples, CALIBRATION_SEED))
    for number, sample in enumerate(calibration):
        place = os.path.join(scratch, "calibration", f"{number:03}")
        os.makedirs(place)
        samples.write(sample, place)
    return model, calibration, list(samples.make(model, given, options.held_out, HELD_OUT_SEED))


def write_around(model, calibration, path):
    """The model in the style around, with ranges of all calibration samples."""
    made = graph.Graph(model)
    around.around(made, ranges.measure(made, *calibration), set())
    onnx.save(made.model(), path)


def add_options(parser, samples):
    """What both scripts take."""
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "..", "build", "bin", "sinter"))
    parser.add_argument("--samples", type=int, default=samples,
                        help=f"generated inputs to calibrate with (default: {samples}; sinter sets every fifth aside)")
    parser.add_argument("--held-out", type=int, default=24, help="generated inputs to judge by (default: 24)")
    parser.add_argument("--out", metavar="OUT", help="where the files stay")
    parser.add_argument("--scratch", metavar="DIR", help="where files lie meanwhile (default: that of the system)")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there, too")


def parse(parser, models_in):
    """The options, with `models`."""
    options = parser.parse_args()
    if options.samples < 1 or options.held_out < 1:
        parser.error("--samples, --held-out: at least 1")
    options.models = models_in(options.folders)
    if not options.models:
        parser.error("no model.onnx in " + ", ".join(options.folders))
    return options


def progress(text):
    """One line on standard error, where that is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text + "\r")
        sys.stderr.flush()


def tabulate(options, columns, judge, line, seen=lambda rows: None):
    """Prints a row for each model as it is judged: (rows, the lines of the table)."""
    table = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    print("\n".join(table), flush=True)
    rows = []
    for folder in options.models:
        try:
            rows.append(judge(folder))
        except (Failed, FileNotFoundError) as error:
            rows.append({"model": os.path.basename(folder), "errors": [str(error)]})
        table.append(line(rows[-1]))
        progress("")
        print(table[-1], "; ".join(rows[-1]["errors"]), flush=True)
        seen(rows)
    return rows, table
