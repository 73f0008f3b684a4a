#!/usr/bin/env python3
"""Builds with a bar, the time that it took and the time left; what fails is printed whole.

    scripts/build_bar.py FOLDER TARGET...

On a pipe, a line for each tenth of the steps.
"""
import os
import re
import subprocess
import sys
import time

# Measured from an empty ccache on a processor of the Zen 4 class: seconds of one of its threads for a step.
SECONDS_A_STEP = 2.8
CELLS = 30


def duration(seconds):
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def line(done, total, passed):
    full = CELLS * done // total
    text = f"{done} of {total} steps [{'#' * full}{'-' * (CELLS - full)}] {duration(passed)}"
    # The first steps are small ones: before that the average means nothing.
    return text + (f", {duration(passed / done * (total - done))} left" if 20 <= done < total else "")


def main(folder, *targets):
    planned = subprocess.run(["ninja", "-C", folder, "-n", *targets], capture_output=True, text=True).stdout
    counts = re.findall(r"^\[\d+/(\d+)\]", planned, re.M)
    if counts:
        threads = len(os.sched_getaffinity(0))
        print(f"{counts[-1]} steps: about {duration(int(counts[-1]) * SECONDS_A_STEP / threads)} with {threads} processor{'s' * (threads > 1)} "
              "if nothing is in ccache", flush=True)
    is_terminal = sys.stdout.isatty()
    begin, tenth, output = time.monotonic(), 0, []
    process = subprocess.Popen(["ninja", "-C", folder, *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env={**os.environ, "NINJA_STATUS": "[%f/%t] "})
    for text in process.stdout:
        step = re.match(r"\[(\d+)/(\d+)\]", text)
        if not step:
            output.append(text)
            continue
        done, total = int(step[1]), int(step[2])
        shown = line(done, total, time.monotonic() - begin)
        if is_terminal:
            print(f"\r\033[K{shown}", end="\n" if done == total else "", flush=True)
        elif done * 10 // total > tenth:
            tenth = done * 10 // total
            print(shown, flush=True)
    code = process.wait()
    if code:
        sys.stderr.write(("\n" if is_terminal else "") + "".join(output))
    return code


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
