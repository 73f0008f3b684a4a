#!/usr/bin/env python3
# Covers: driver Interrupt Progress TrainCommand
"""Progress on a terminal: never silent for long, erased at the end, and not on pipes; and training that is interrupted."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import SinterCommand
from SinterCommand import CommandTest, DONE, main
from TrainTest import Network, npz
from TrainTest import npy as npy_of

# The command shows something after a second, and then twice a second; the machine may be busy.
MOST_SILENT_S = 2.0
BAR = r"\[#*-*\]"


class Terminal:
    """A command with a terminal as standard error, and what it writes there, with times."""

    def __init__(self, *arguments, stdout=subprocess.DEVNULL):
        self.parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        self.process = subprocess.Popen([SinterCommand.SINTER, *arguments], stdout=child if stdout is None else stdout, stderr=child)
        os.close(child)
        self.begin = time.monotonic()
        self.chunks = []

    def read(self, until=None, seconds=60):
        """Reads up to the end, or until UNTIL occurs."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.parent], [], [], 0.1)[0]:
                if self.process.poll() is not None:
                    break
                continue
            try:
                chunk = os.read(self.parent, 65536)
            except OSError:
                break
            self.chunks.append((time.monotonic(), chunk))
            if until and re.search(until, self.text()):
                return self
        if until:
            raise AssertionError(f"{until} is not in {self.text()!r}")
        self.ended = time.monotonic()
        self.code = self.process.wait(timeout=300)
        os.close(self.parent)
        return self

    def text(self):
        return b"".join(chunk for _, chunk in self.chunks).decode(errors="replace")

    def silence(self):
        """The longest time without a sign."""
        times = [self.begin] + [moment for moment, _ in self.chunks] + [self.ended]
        return max(after - before for before, after in zip(times, times[1:]))

    def screen(self):
        """What is left on the screen."""
        lines = [""]
        for part in re.split(r"(\r\n|\r\x1b\[K)", self.text()):
            if part == "\r\n":
                lines.append("")
            elif part == "\r\x1b[K":
                lines[-1] = ""
            else:
                lines[-1] += part
        return [line for line in lines if line]


class Progress(CommandTest):
    def slow(self):
        """A loop that takes the interpreter seconds."""
        return self.write("slow.mlir", """
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %all:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<512x512xf32>
    cond {
      %most = stablehlo.constant dense<1000> : tensor<i32>
      %go = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %c = stablehlo.tanh %a : tensor<512x512xf32>
      stablehlo.return %next, %c : tensor<i32>, tensor<512x512xf32>
    }
  return %all#1 : tensor<512x512xf32>
}
""")

    def check(self, *arguments, shows, code=DONE):
        done = Terminal(*arguments).read()
        self.assertEqual(done.code, code, done.text())
        self.assertRegex(done.text(), shows)
        self.assertLess(done.silence(), MOST_SILENT_S)
        # Nothing of it stays.
        self.assertFalse([line for line in done.screen() if re.search(shows, line)], done.screen())
        return done

    def test_a_run_without_counts(self):
        self.check("run", self.slow(), "--input", "random", "--backend", "interpreter", shows=r"running \S+slow\.mlir, \d+ s")

    def test_compare(self):
        self.check("compare", self.slow(), shows=r"comparing \S+slow\.mlir, \d+ s")

    def test_bench(self):
        self.check("bench", self.good_model(), "--seconds", "3", "--no-cache", shows=rf"measuring \S+ \d of 3 seconds {BAR}")
        self.check("bench", self.good_model(), "--seconds", "3", "--streams", "2", "--threads", "2", "--no-cache", shows=rf"measuring 2 streams of \S+ \d of 3 seconds {BAR}")

    def test_runs_are_counted(self):
        self.check("run", self.slow(), "--input", "random", "--repeat", "100", "--no-cache",
                   shows=rf"running \S+ \d+ of 100 runs {BAR} [\d.]+(/s| s each), \d+ s left")

    def test_output_is_not_mixed(self):
        """On one terminal, output stands on lines of its own."""
        done = Terminal("bench", self.good_model(), "--seconds", "2", "--no-cache", stdout=None).read()
        self.assertEqual(done.code, DONE)
        self.assertRegex(done.text(), r"measuring \S+ 1 of 2 seconds")
        screen = done.screen()
        self.assertEqual([line for line in screen if "measuring" in line], [])
        self.assertTrue(any(line.startswith("latency") for line in screen), screen)

    def test_not_on_pipes(self):
        done = self.sinter("run", self.slow(), "--input", "random", "--backend", "interpreter")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))


class Interrupted(CommandTest):
    def train(self, *options, epochs=2000):
        data = self.write("data.npz", npz(x=npy_of([24, 3], [0.1 * i for i in range(72)]), target=npy_of([24], [i % 4 for i in range(24)], "i8")))
        return ["train", self.write("net.onnx", Network().onnx()), "--data", data, "--batch", "4", "--epochs", str(epochs), "-o", self.path("out.onnx"), *options]

    def interrupt(self, *options, signals=(signal.SIGINT,)):
        """Training that gets SIGNALS once it has shown a step."""
        terminal = Terminal(*self.train(*options, epochs=1000000)).read(until=rf"training \d+ of \d+ steps {BAR} \d+/s, .* left; epoch \d+ of 1000000: loss ")
        for number in signals:
            terminal.process.send_signal(number)
        return terminal.read()

    def test_nothing_was_kept(self):
        done = self.interrupt()
        self.assertEqual(done.code, -signal.SIGINT)
        self.assertRegex(done.screen()[-1], r"error: .*net\.onnx: interrupted after step \d+ of 6000000; nothing was kept: with --checkpoint-dir DIR")
        self.assertFalse(os.path.exists(self.path("out.onnx")))

    def test_what_was_kept(self):
        done = self.interrupt("--checkpoint-dir", self.path("kept"), signals=(signal.SIGTERM,))
        self.assertEqual(done.code, -signal.SIGTERM)
        said = re.search(r"interrupted after step (\d+) of 6000000; step (\d+) is kept in '(.*)': the same command with --resume goes on from it", done.screen()[-1])
        self.assertTrue(said, done.screen())
        self.assertEqual(said[1], said[2])
        self.assertEqual(said[3], self.path("kept"))

    def test_goes_on_where_it_was(self):
        """The same bits as a run that nobody interrupted."""
        whole = self.sinter(*self.train("--checkpoint-dir", self.path("whole"), epochs=200))
        self.assertEqual(whole.returncode, DONE, whole.stderr)
        with open(self.path("out.onnx"), "rb") as file:
            expected = file.read()
        os.remove(self.path("out.onnx"))
        command = self.train("--checkpoint-dir", self.path("kept"), epochs=200)
        process = subprocess.Popen([SinterCommand.SINTER, *command, "--log", self.path("log")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not os.path.exists(self.path("log")) or os.path.getsize(self.path("log")) < 2000:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, -signal.SIGINT, errors)
        self.assertIn("the same command with --resume", errors)
        resumed = self.sinter(*command, "--resume")
        self.assertEqual(resumed.returncode, DONE, resumed.stderr)
        with open(self.path("out.onnx"), "rb") as file:
            self.assertEqual(file.read(), expected)

    def test_before_the_first_step(self):
        """An interrupt before there is anything to keep ends the command at once."""
        process = subprocess.Popen([SinterCommand.SINTER, *self.train()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.wait(timeout=20), process.stderr.read()), (-signal.SIGINT, ""))


if __name__ == "__main__":
    main()
