#!/usr/bin/env bash
# Compiles each source by itself, without code: what depends on the sources that it is merged with (cmake/Sinter.cmake)
# is an error here. The last line is `N passed, N failed`.
#
#   scripts/syntax.sh [TEXT]     sources with TEXT in their path
#
# SINTER_SYNTAX_SHARE=I/N: every Nth source, from number I on, and those that the last commit changed.
# How a file is compiled by itself is known from build-debug/, where only headers are made for this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cmake --preset debug >/dev/null
cmake --build build-debug --target sinter_pch sinter_backend_tablegen sinter_onnx_schema sinter_paddle_schema \
  src/driver/CMakeFiles/sinter.dir/cmake_pch.hxx.pch >/dev/null
exec python3 - "${1-}" <<'PYTHON'
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

with open("build-debug/compile_commands.json") as file:
    entries = json.load(file)
root = os.getcwd()
# Generated sources are compiled by themselves anyway.
own = [each for each in entries if re.match(re.escape(root) + "/(src|test|tools|bench)/", each["file"]) and sys.argv[1] in each["file"]]
first, step = map(int, os.environ.get("SINTER_SYNTAX_SHARE", "0/1").split("/"))
changed = subprocess.run(["git", "diff", "--name-only", "HEAD~1"], capture_output=True, text=True).stdout.split()
own = [each for i, each in enumerate(own) if i % step == first or os.path.relpath(each["file"], root) in changed]


def check(entry):
    words = shlex.split(entry["command"])
    # What stands before the compiler is ccache's.
    first = next(i for i, word in enumerate(words) if os.path.basename(word).startswith("clang"))
    words = words[first:words.index("-o")] + ["-fsyntax-only", entry["file"]]
    done = subprocess.run(words, cwd=entry["directory"], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"{os.path.relpath(entry['file'], root)} does not compile by itself:\n{done.stderr}", flush=True)
    return done.returncode == 0


with ThreadPoolExecutor(os.cpu_count()) as pool:
    good = sum(pool.map(check, own))
print(f"{good} passed, {len(own) - good} failed")
sys.exit(good != len(own) or not own)
PYTHON
