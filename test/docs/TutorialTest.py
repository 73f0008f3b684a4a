#!/usr/bin/env python3
"""A tutorial runs as it is printed, in a new folder beside the sources.

    test/docs/TutorialTest.py BUILD PAGE
    test/docs/TutorialTest.py --self-test

Blocks run in the order of the page: ```sh by bash, ```python in one interpreter. A ```text block behind one is what it prints
on standard output, where `...` stands for any text. Other blocks, ```c say, are shown and not run. The folder has links to the
sources' examples/ and include/ and to the build, and `sinter` and the package are found as the page says.

It is skipped (77) where a package for Python is missing that the page's scripts need.
"""
import contextlib
import doctest
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
NEEDED = ("numpy", "onnx", "torch", "PIL")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
CHECKER = doctest.OutputChecker()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Wrong(Exception):
    pass


def blocks(page):
    """(line, language, text, expected output or None) of each block that runs."""
    found = []
    last_end = None
    for match in BLOCK.finditer(page):
        language, text = match[1], match[2]
        if language == "text":
            if not found or found[-1][3] is not None or page[last_end:match.start()].strip():
                raise Wrong(f"line {page.count(chr(10), 0, match.start()) + 1}: no block directly in front prints this")
            found[-1] = (*found[-1][:3], text)
        elif language in ("sh", "python"):
            found.append((page.count("\n", 0, match.start()) + 1, language, text, None))
        last_end = match.end()
    return found


def run_shell(text, environment):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise Wrong(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_python(text, names, where):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, where, "exec"), names)  # noqa: S102
    return printed.getvalue()


def run(page, name, environment):
    """Runs a page in the current folder; how many blocks ran."""
    names = {"__name__": "__main__"}
    every = blocks(page)
    for line, language, text, expected in every:
        where = f"{name}:{line}"
        try:
            printed = run_shell(text, environment) if language == "sh" else run_python("\n" * line + text, names, name)
        except Wrong as what:
            raise Wrong(f"{where}: {what}") from None
        if expected is not None and not CHECKER.check_output(expected, printed, FLAGS):
            example = doctest.Example(text, expected)
            raise Wrong(f"{where}: {CHECKER.output_difference(example, printed, FLAGS)}")
    return len(every)


def run_tutorial(build, page):
    missing = [each for each in NEEDED if not importlib.util.find_spec(each)]
    if missing:
        print(f"skipped: {', '.join(missing)} missing")
        return 77
    environment = {**os.environ, "PATH": f"{build / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(build / "python")}
    sys.path.insert(0, str(build / "python"))
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = environment["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        for name in ("examples", "include"):
            os.symlink(SOURCE / name, os.path.join(folder, name))
        os.symlink(build, os.path.join(folder, "build"))
        os.chdir(folder)
        try:
            count = run(page.read_text(encoding="utf-8"), page.name, environment)
        except Wrong as what:
            print(what)
            return 1
        finally:
            os.chdir(before)
    if count == 0:
        print(f"{page}: there is nothing to run")
        return 1
    print(f"{page.name}: {count} blocks run")
    return 0


def self_test():
    cases = [
        ("```sh\necho a\n```\n\n```text\na\n```\n", None),
        ("```sh\necho a 17 b\n```\n```text\na ... b\n```\n", None),
        ("```sh\necho a\n```\n```text\nb\n```\n", "Expected:\n    b"),
        ("```sh\nfalse\n```\n", "page.md:1: exit code 1"),
        ("```sh\nfalse | true\n```\n", "exit code 1"),
        ("text\n\n```python\nx = 2\n```\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n", None),
        ("```python\nprint(1)\n```\n```text\n2\n```\n", "Got:\n    1"),
        ("```sh\necho a\n```\nwords\n```text\na\n```\n", "no block directly in front"),
        ("```text\na\n```\n", "no block directly in front"),
        ("```c\nint main(void);\n```\n", None),
    ]
    wrong = 0
    for page, expected in cases:
        try:
            run(page, "page.md", os.environ)
            what = None
        except Wrong as error:
            what = str(error)
        if (what is None) != (expected is None) or expected and expected not in what:
            wrong += 1
            print(f"{page!r}: expected {expected!r}, found {what!r}")
    print("pages run as they should" if not wrong else f"{wrong} cases are wrong")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    return run_tutorial(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())


if __name__ == "__main__":
    sys.exit(main())
