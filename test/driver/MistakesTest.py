#!/usr/bin/env python3
"""More than a hundred mistakes, as a table: which exit code each gives, and which line on standard error.

A row of MISTAKES is an exit code, a command line and a regular expression that the line's end must match behind "error: ". The
commands run in a folder with the files of MistakeFiles.py. Whatever the mistake, there is one line, no trace of a crash, and
no file that was not there before. LIMITED adds what a disk, a permission or a signal does to commands that are right.
"""
import os
import resource
import shutil
import signal
import subprocess
import time

import MistakeFiles
import SinterCommand
from SinterCommand import CommandTest, main

MISTAKES = """
# Files that are no models.
5 | run nothing.onnx | cannot open 'nothing.onnx': No such file or directory
5 | run folder | cannot read 'folder': Is a directory
5 | run /dev/null | cannot map '/dev/null': not a regular file
5 | inspect nothing.onnx | cannot open 'nothing.onnx': No such file or directory
5 | test nothing | cannot open 'nothing': no such file or directory
3 | run empty.onnx | empty.onnx: the file is empty
3 | run words.onnx | words.onnx: not an ONNX model: .*
3 | inspect words.onnx | words.onnx: not an ONNX model: .*
3 | optimize words.onnx -o out.onnx | words.onnx: not an ONNX model: .*
3 | convert words.onnx -o out.mlir | words.onnx: not an ONNX model: .*
3 | quantize words.onnx --calibration random -o out.onnx | words.onnx: not an ONNX model: .*
3 | train words.onnx --data data.npz -o out.onnx | words.onnx: not an ONNX model: .*
3 | compare words.onnx good.onnx | words.onnx: not an ONNX model: .*
3 | bench words.onnx | words.onnx: not an ONNX model: .*
3 | run cut.onnx | cut.onnx: not an ONNX model: .*is the file cut off.*
3 | run syntax.mlir --input random | syntax.mlir:2:8: custom op 'stablehlo.sinus' is unknown
3 | run shapes.mlir --input random | shapes.mlir:2:26: use of value '%y' expects different type .*
3 | run concatenate.onnx --input random | concatenate.onnx: node 'joined' \\(Concat\\): inputs differ in dimension 1: .*2x3xf32.* and .*2x4xf32.*
3 | run outside.onnx --input random | outside.onnx: tensor 'w': external data '../secret': is not a path inside the model's folder
3 | run external.onnx --input random | external.onnx: tensor 'w': external data 'weights.bin': there is no such file in the model's folder
3 | run short.onnx --input random | short.onnx: tensor 'w': external data 'short.bin': 24 bytes at offset 0 go past the file's end at 4
3 | run undefined.onnx --input random | undefined.onnx: node 'relu' \\(Relu\\): 'z' is not defined: .*
3 | run several.mlir --input random | several.mlir: there is no @main, but @a, @b; choose one with --function
3 | run counter.mlir | counter.mlir: state 'count': its argument has no initial value
4 | run operator.onnx --input random | operator.onnx: unsupported: 1 x Frobnicate .*: the operator is not known, at node 'odd' \\(Frobnicate\\)
4 | convert operator.onnx -o out.mlir | operator.onnx: unsupported: 1 x Frobnicate .*
4 | run opset.onnx --input random | opset.onnx: operator set 99 is newer than the newest that is known, \\d+
# Commands and options.
2 | nothing | there is no command 'nothing'; there are 'run', .*
2 | rnu good.onnx | there is no command 'rnu'; did you mean 'run'\\?
2 | --nothing | `sinter` has no option '--nothing' without a command
2 | run | MODEL is required; .*
2 | bench | MODEL is missing; .*
2 | run good.onnx extra | 'extra' is one argument too many for `sinter run`
2 | run good.onnx --nothing | `sinter run` has no option '--nothing'
2 | run good.onnx --bakend cpu | `sinter run` has no option '--bakend'; did you mean '--backend'\\?
2 | run good.onnx --input | --input needs a value; .*
2 | run good.onnx --threads a | --threads: 'a' is not a number from 0 to 4096; .*
2 | run good.onnx --threads -1 | --threads: '-1' is not a number from 0 to 4096; .*
2 | run good.onnx --threads 1 --threads 2 | --threads is given more than once; .*
2 | run good.onnx --precision f16 | --precision: 'f16' is none of f32-exact, f32, bf16; .*
2 | run good.onnx --dynamic --static | --dynamic excludes --static; .*
2 | run good.onnx --partitions 2 | --partitions requires --replicas; .*
2 | run good.onnx --replicas 0 | --replicas: '0' is not a number from 1 to 4096; .*
2 | run good.onnx --input random --function f | good.onnx: --function: a model in the format ONNX has no functions .*
2 | run text.mlir --input random --function f | text.mlir: --function: there is no function @f; there are @main
2 | run good.onnx --input random --cpu nothing | good.onnx: unknown CPU 'nothing' for target .*
2 | run good.onnx --input random --features=+nothing | good.onnx: unknown feature 'nothing' for target .*
2 | run good.onnx --input random --disable-patterns nothing | good.onnx: there is no pattern 'nothing' to disable; --list-patterns prints them all
2 | run good.onnx --input random --allow nothing | good.onnx: --allow: there is no 'nothing'; it takes .*
2 | run good.onnx --input random --print-ir-after nothing | good.onnx: --print-ir-after: there is no pass 'nothing'
2 | bench good.onnx --seconds a | --seconds: 'a' is not a number from 0 to 1000000; .*
2 | bench good.onnx --machine | --machine measures no model: leave out 'good.onnx', or --machine
2 | optimize good.onnx | nothing to do: give -o FILE, --in-place, or --stats
2 | quantize float.onnx --calibration random | nothing to do: give -o FILE, --profile-out FILE, --html FILE or --json
2 | quantize float.onnx | give --calibration DIR to measure ranges on, or --profile FILE, or --weights int8 .*
2 | quantize float.onnx --calibration random -o out.onnx --range abc | --range: 'abc' is none of max, percentile\\[:P\\], entropy, mse and best; .*
2 | quantize float.onnx --calibration random -o out.onnx --cpu nothing | .*'nothing'.*
2 | train net.onnx --data data.npz | nothing to do: give -o FILE for the trained model, or --write-step FILE
2 | train net.onnx --data data.npz -o out.onnx --lr abc | --lr: 'abc' is no number; .*
2 | train net.onnx --data data.npz -o out.onnx --lr -1 | --lr: a number from 0 on is expected
2 | train net.onnx --data data.npz -o out.onnx --batch 0 | --batch: '0' is not a number from 1 to 16777216; .*
2 | train net.onnx --data data.npz -o out.onnx --optimizer nothing | --optimizer: 'nothing' is none of .*
2 | train net.onnx --data data.npz -o out.onnx --loss nothing | --loss: 'nothing': .* is expected.*
2 | train net.onnx --data data.npz -o out.onnx --frozen nothing | net.onnx: --frozen 'nothing': no weight has such a name
2 | train net.onnx --data data.npz -o out.onnx --resume | --resume needs --checkpoint-dir DIR
2 | train net.onnx --data data.npz -o out.onnx --checkpoint-dir kept --resume | --resume: there is no checkpoint in 'kept'
2 | test folder | no tests in 'folder': expected folders with model.onnx and test_data_set_0
2 | test tests --filter nothing | no test's path contains 'nothing'
2 | test tests --rtol abc | --rtol: 'abc' is not a number from 0 on; .*
2 | compare good.onnx --backend cpu,cpu | --backend: both sides are the same
2 | compare good.onnx negated.onnx --passes | --passes is about one model
2 | inspect good.onnx --html page.html --json | --json excludes --html; .*
2 | inspect good.onnx --measure | --measure requires --html; .*
2 | reduce text.mlir | --output is required; .*
2 | reduce text.mlir -o small.mlir | 'text.mlir' does not fail: the backends agree on it
# Shapes and sizes.
2 | run dynamic.mlir --input random --shape x:2x5x3 | dynamic.mlir: input 'arg0' is f32 \\[N, 4, L\\], but --shape has 2x5x3xf32
2 | run dynamic.mlir --input random --shape x:2x4 | dynamic.mlir: input 'arg0' is f32 \\[N, 4, L\\], but --shape has 2x4xf32
2 | run dynamic.mlir --input random --shape z:2x4x3 | dynamic.mlir: --shape: there is no input 'z'; there are 'arg0' and 'arg1'
2 | run dynamic.mlir --input random --shape x | --shape 'x': expected sizes of dimensions by name, .*
2 | run dynamic.mlir --input random --shape M=3 | dynamic.mlir: --shape: no dynamic dimension is called 'M'; there are 'N' and 'L'
2 | run dynamic.mlir --input random --shape x:2x4x3 --shape y:4 | dynamic.mlir: dimension L is 3 and, in input 'arg1', 4
2 | run dynamic.mlir --input random --shape L=3 --max L=2 | dynamic.mlir: dimension L is 3 in input 'arg0', and at most 2 by --max
2 | run dynamic.mlir --input random --max M=2 | dynamic.mlir: --max: no dynamic dimension is called 'M'; there are 'N' and 'L'
2 | run dynamic.mlir --input random --dynamic=M | dynamic.mlir: --dynamic: no dynamic dimension is called 'M'; there are 'N' and 'L'
2 | bench dynamic.mlir --sweep M=1 | dynamic.mlir: --sweep: no dynamic dimension is called 'M'; there are 'N' and 'L'
2 | run positions.onnx --input long.npy | positions.onnx: node 'positions' \\(Add\\): \\[1, 9, 4\\] and \\[8, 4\\] do not broadcast together; the model does not take these sizes or values
2 | run positions.onnx --input random --shape sequence=9 | positions.onnx: node 'positions' \\(Add\\): .* do not broadcast together; the model does not take these sizes or values
2 | run positions.onnx --input random --shape sequence=9 --static | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
2 | run positions.onnx --input random --shape sequence=9 --backend interpreter | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
2 | bench positions.onnx --shape sequence=9 | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
2 | compare positions.onnx --shape sequence=9 | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
2 | quantize positions.onnx --shape sequence=9 --calibration random -o out.onnx | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
2 | optimize positions.onnx --shape sequence=9 -o out.onnx | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
2 | convert positions.onnx --shape sequence=9 -o out.mlir | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
2 | inspect positions.onnx --shape sequence=9 | positions.onnx: node 'positions' \\(Add\\): .*; the model does not take these sizes or values
5 | run dynamic.mlir --input random --shape N=100000,L=100000 | dynamic.mlir: input 'arg0', .*, takes 160.0 GB; this machine has .* of memory
2 | compare good.onnx other.onnx | input 'x' is 2x3xf32 for good.onnx, but other.onnx takes f32 \\[2, 5\\].*
2 | compare good.onnx two.onnx | the models take different inputs: .*
# Names, types and values of inputs.
2 | run good.onnx | good.onnx: no input given for 'x' f32 \\[2, 3\\]; .*
2 | run good.onnx --input z=x.npy | good.onnx: --input: there is no input 'z'; there are 'x'
2 | run good.onnx --input x=x.npy --input x=x.npy | good.onnx: --input: 'x' is given twice
2 | run good.onnx --input x=x4.npy | x4.npy: input 'x': expected 2x3xf32, given 2x4xf32
2 | run good.onnx --input x=i64.npy | i64.npy: input 'x': expected 2x3xf32, given 2x3xi64
2 | run good.onnx --input x=x4.pb | x4.pb: input 'x': expected 2x3xf32, given 2x4xf32
2 | run good.onnx --input good.png | good.png: input 'x' \\(2x3xf32\\) cannot be an image: .*
2 | run good.onnx --input random:abc | good.onnx: --input 'random:abc': expected a number .*
2 | run good.onnx --input x=1,2,3 | .*--input 'x=1,2,3' is no 2x3xf32; .*
2 | run good.onnx --input random --bind z=1 | --bind 'z=1': the model has no input 'z'
2 | run good.onnx --input random --bind x | --bind 'x': expected an input's name and a file or values, .*
2 | run image.onnx --input good.png --mean a | --mean: 'a' is neither a number nor .*
2 | run image.onnx --input good.png --mean 1,2 | good.png: input 'x' \\(1x3x8x8xf32\\) cannot be an image: --mean takes 1 or 3 values
2 | run image.onnx --input good.png --std 0 | --std: '0' is neither a number other than 0 nor .*
2 | run image.onnx --input good.png --layout abc | --layout: 'abc' is none of nchw, nhwc; .*
# Data files.
5 | run good.onnx --input x=nothing.npy | cannot open 'nothing.npy': No such file or directory
2 | run good.onnx --input x=folder | good.onnx: --input 'folder': no sample is in this folder: .*
5 | run good.onnx --input x=cut.npy | .*cut.npy.*: 2x3xf32 needs more bytes than the file has
5 | run good.onnx --input x=words.npy | 'words.npy' is neither .npy.*
5 | run good.onnx --input x=words.txt | cannot open 'no array': No such file or directory; --skip-unreadable N skips such samples
5 | run good.onnx --input x=words.bin | 'words.bin' is neither .npy.*
5 | run good.onnx --input x=broken.pb | broken.pb: not an ONNX value: .*
5 | run image.onnx --input broken.png | 'broken.png': not a valid image: .*
5 | run image.onnx --input words.png | 'words.png' .*
5 | run image.onnx --input cut.jpg | 'cut.jpg': not a valid image: .*
5 | quantize image.onnx --calibration badclasses -o out.onnx | .*'badclasses/b/2.png' .*
5 | train image.onnx --data badclasses -o out.onnx | --data: 'badclasses/b/2.png': .* \\(--skip-unreadable N skips such images\\)
5 | run good.onnx --input random --labels nothing.txt | cannot open 'nothing.txt': No such file or directory
5 | quantize float.onnx --calibration nothing -o out.onnx | --calibration: there is no 'nothing'
2 | quantize float.onnx --calibration folder -o out.onnx | --calibration 'folder': no sample is in this folder: .*
2 | quantize float.onnx --calibration x.npy -o out.onnx | x.npy: input 'x': expected 1x16xf32, given 2x3xf32
5 | quantize float.onnx --profile profile.json -o out.onnx | --profile profile.json: it has no object "tensors"; --profile-out writes one
5 | quantize float.onnx --calibration random --truth nothing -o out.onnx | cannot open 'nothing': No such file or directory
5 | train net.onnx --data nothing.npz -o out.onnx | --data: there is no 'nothing.npz'
5 | train net.onnx --data broken.npz -o out.onnx | broken.npz: --data: not a sound .npz archive: .*
2 | train net.onnx --data one.npz -o out.onnx | --data 'one.npz': there is no array 'target'; it holds x
2 | train net.onnx --data counts.npz -o out.onnx | --data 'counts.npz': there are 6 samples and 5 targets
2 | train net.onnx --data width.npz -o out.onnx | --data 'width.npz': the array 'x' is a 6x2xf32; .*
2 | train net.onnx --data class9.npz -o out.onnx | --data 'class9.npz': the target has the label 9, and the model 4 classes, from 0 on \(--classes auto gives it those of the data\)
1 | train net.onnx --data infinite.npz -o out.onnx | net.onnx: the loss of step 1 is not a number: .*; nothing was written
5 | train image.onnx --data classes -o out.onnx --labels nothing | cannot open 'nothing': No such file or directory
5 | compare good.onnx --with nothing.npz | cannot open 'nothing.npz': No such file or directory
5 | compare good.onnx --with broken.npz | broken.npz: not a sound .npz archive: .*
2 | compare good.onnx --input x=x4.npy | x4.npy: input 'x': expected 2x3xf32, given 2x4xf32
# Folders and files for results.
2 | optimize good.onnx -o good.onnx | 'good.onnx' is the model 'good.onnx'; --force lets it be replaced
2 | convert good.onnx -o good.onnx | 'good.onnx' is the model 'good.onnx'; --force lets it be replaced
2 | optimize good.onnx -o out.mlir | 'out.mlir': `optimize` writes the format that it reads; .*
2 | convert good.onnx -o out | 'out': the extension says in which format to write: .*
2 | convert text.mlir -o out.mlir.bc --target-version 99.0.0 | artifacts are written for versions .*, not 99.0.0
2 | convert text.mlir -o out.mlir.bc --target-version abc | 'abc' is no version of StableHLO: .*
2 | quantize float.onnx --calibration random -o out.xyz | 'out.xyz': the extension says in which format to write: .*
2 | bench good.onnx --plot good.onnx | --plot: 'good.onnx' is the model itself
2 | reduce text.mlir -o text.mlir --command false | -o: 'text.mlir' is the model itself
5 | optimize good.onnx -o nothing/out.onnx | -o: cannot write 'nothing/out.onnx': No such file or directory
5 | train net.onnx --data data.npz -o nothing/out.onnx | -o: cannot write 'nothing/out.onnx': No such file or directory
5 | run good.onnx --input random --output-dir x.npy | --output-dir: cannot make the folder 'x.npy': Not a directory
5 | run good.onnx --input random --trace folder | --trace: 'folder' is a folder
5 | run good.onnx --input random --trace nothing/trace.json | --trace: cannot write 'nothing/trace.json': No such file or directory
5 | compare good.onnx --html folder | --html: 'folder' is a folder
"""


def rows():
    for line in MISTAKES.strip().splitlines():
        if not line.startswith("#"):
            code, command, message = line.split(" | ", 2)
            yield int(code), command.split(), message


class Mistakes(CommandTest):
    def setUp(self):
        super().setUp()
        self.work = self.path("work")
        MistakeFiles.write_all(self.work)

    def files(self):
        """All files with their contents' sizes and times."""
        found = {}
        for folder, _, names in os.walk(self.work):
            for name in names:
                path = os.path.join(folder, name)
                found[path] = (os.path.getsize(path), os.stat(path).st_mtime_ns)
        return found

    def sinter_here(self, command, **more):
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache"), "HOME": self.path("home")}
        return subprocess.run([SinterCommand.SINTER, *command], cwd=self.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=SinterCommand.TIMEOUT_S, **more)

    def check(self, done, code, message, command):
        self.assertEqual(done.returncode, code, f"{command}: {done.stderr}")
        for trace in ("Stack dump", "terminate called", "Assertion", "Sanitizer", "PLEASE submit", "#0 "):
            self.assertNotIn(trace, done.stderr)
        errors = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
        self.assertEqual(len(errors), 1, f"{command}: {done.stderr}")
        self.assertRegex(errors[0], f"^error: {message}$", f"{command}")

    def test_there_are_more_than_a_hundred(self):
        self.assertGreater(len(list(rows())), 130)

    def test_mistakes(self):
        before = self.files()
        for code, command, message in rows():
            with self.subTest(" ".join(command)):
                self.check(self.sinter_here(command), code, message, command)
                self.assertEqual(self.files(), before, "a file was left or changed")

    def test_another_machine(self):
        """What this machine lacks is refused, from the cache, too, and never left to the interpreter."""
        lines = self.sinter_here(["--version"]).stdout.splitlines()
        features = next(line for line in lines if line.startswith("features")).split()[-1].split(",")
        cpu, lacking = ("sapphirerapids", "avx512fp16") if any("x86_64" in line for line in lines) else ("neoverse-v2", "sve2")
        if lacking in features:
            self.skipTest("this machine has everything")
        for model in "good.onnx", "dynamic.mlir":
            for how in ([f"--features=+{lacking}"], *([["--cpu", cpu]] if cpu == "sapphirerapids" else [])):
                for _ in range(2):
                    command = ["run", model, "--input", "random", *how]
                    self.check(self.sinter_here(command), 4, rf"{model}: the program needs processor features that this machine does not have: .*", command)

    # What a disk, a permission and a signal do to commands that are right.

    WRITING = [["optimize", "good.onnx", "-o", "{}/out.onnx"], ["convert", "good.onnx", "-o", "{}/out.mlir"], ["convert", "good.onnx", "-o", "{}/out.mlir.bc"],
               ["convert", "good.onnx", "-o", "{}/out.pdmodel"], ["quantize", "float.onnx", "--calibration", "random", "-o", "{}/out.onnx"],
               ["quantize", "float.onnx", "--calibration", "random", "--profile-out", "{}/profile.json"], ["quantize", "float.onnx", "--calibration", "random", "--html", "{}/page.html"],
               ["train", "net.onnx", "--data", "data.npz", "-o", "{}/out.onnx"], ["train", "net.onnx", "--data", "data.npz", "--write-step", "{}/step.mlir"],
               ["run", "good.onnx", "--input", "random", "--output-dir", "{}/results"], ["run", "good.onnx", "--input", "random", "--trace", "{}/trace.json"],
               ["compare", "good.onnx", "--html", "{}/page.html"], ["inspect", "good.onnx", "--html", "{}/page.html"], ["bench", "good.onnx", "--seconds", "0.01", "--plot", "{}/plot.svg"]]

    def test_files_may_not_grow(self):
        """`ulimit -f`: what cannot be written whole is not there at all."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        os.mkdir(os.path.join(self.work, "out"))
        for command in self.WRITING:
            command = [word.format("out") for word in command]
            with self.subTest(" ".join(command)):
                done = self.sinter_here([*command, *(["--no-cache"] if command[0] in ("run", "bench", "train", "quantize") else [])], preexec_fn=limit)
                self.check(done, 5, r".*(File too large|cannot be written).*", command)
                self.assertEqual([name for _, _, names in os.walk(os.path.join(self.work, "out")) for name in names], [])

    def test_a_full_disk(self):
        """A file system without room, where this process may mount one."""
        full = os.path.join(self.work, "full")
        os.mkdir(full)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", full], capture_output=True).returncode:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        with open(os.path.join(full, "much"), "wb") as file:
            try:
                file.write(bytes(1 << 16))
                file.flush()
            except OSError:
                pass
        before = sorted(os.listdir(full))
        for command in self.WRITING:
            command = [word.format("full") for word in command]
            with self.subTest(" ".join(command)):
                self.check(self.sinter_here(command), 5, r".*No space left on device.*", command)
                for folder, _, names in os.walk(full):
                    self.assertEqual([name for name in names if name not in before], [])

    def test_permissions(self):
        """As another user, for whom root's files are closed."""
        if os.getuid() != 0:
            self.skipTest("only root becomes another user")
        os.chmod(self.folder, 0o755)
        closed = os.path.join(self.work, "closed")
        os.mkdir(closed)
        os.chmod(closed, 0o755)
        for name in "good.onnx", "x.npy":
            shutil.copy(os.path.join(self.work, name), os.path.join(self.work, "secret." + name))
            os.chmod(os.path.join(self.work, "secret." + name), 0)
        nobody = 65534
        if self.sinter_here(["--version"], user=nobody).returncode:
            self.skipTest("another user cannot run the command here")
        for command, message in [(["run", "secret.good.onnx"], "cannot open 'secret.good.onnx': Permission denied"),
                                 (["run", "good.onnx", "--no-cache", "--input", "secret.x.npy"], "cannot open 'secret.x.npy': Permission denied"),
                                 (["inspect", "secret.good.onnx"], "cannot open 'secret.good.onnx': Permission denied"),
                                 *[([word.format("closed") for word in each], ".*closed.*Permission denied") for each in self.WRITING]]:
            with self.subTest(" ".join(command)):
                self.check(self.sinter_here(command, user=nobody), 5, message, command)
                self.assertEqual(os.listdir(closed), [])

    def test_signals(self):
        """A signal ends a command as it ends any other, and leaves no part of a file."""
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            for command in (["bench", "good.onnx", "--seconds", "60", "--no-cache"], ["run", "good.onnx", "--input", "random", "--repeat", "1000000", "--backend", "interpreter", "--output-dir", "out", "--no-cache"]):
                with self.subTest(f"{number} {command[0]}"):
                    process = subprocess.Popen([SinterCommand.SINTER, *command], cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    time.sleep(0.5)
                    process.send_signal(number)
                    output, errors = process.communicate(timeout=30)
                    self.assertEqual((process.returncode, output, errors), (-number, "", ""))
                    self.assertEqual([name for _, _, names in os.walk(self.work) for name in names if ".tmp-" in name or name == "y.npy"], [])

    def test_standard_output_is_full(self):
        for command in ["run", "good.onnx", "--input", "random"], ["inspect", "good.onnx"], ["optimize", "good.onnx", "--stats"], ["help"], ["completion", "bash"], ["--version"]:
            with self.subTest(" ".join(command)), open("/dev/full", "w") as out:
                done = subprocess.run([SinterCommand.SINTER, *command], cwd=self.work, stdout=out, stderr=subprocess.PIPE, text=True, timeout=60)
                self.check(done, 5, "standard output cannot be written", command)


if __name__ == "__main__":
    main()
