#!/usr/bin/env python3
"""Every source in src/ has a test: one of its own name in the mirrored folder, or one that test/tested-by.txt names.
`*` there is every source of the folder.

Prints what has none, what is listed though it has its own, and what the list names that is not there; exits with 1 if
there is any."""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "test" / "tested-by.txt"


def kebab(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def own_test(folder, name):
    """The test that has the name of the source, if there is one."""
    plain = name.removesuffix("Command")
    for file in (f"{name}Test.cpp", f"{name}Test.py", f"{plain}Test.py", f"{kebab(name)}.mlir"):
        if (ROOT / "test" / folder / file).exists():
            return file
    return None


def listed(lines):
    """{(folder, name): (line number, tests or None)} of the list; None stands for `none: reason`."""
    rows = {}
    for number, line in enumerate(lines, 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        left, arrow, right = line.partition(" <- ")
        folder, *names = left.split()
        reasoned = right.startswith("none: ") and len(right) > len("none: ")
        if not arrow or not names or not (reasoned or right and not right.startswith("none")):
            sys.exit(f"{LIST.name}:{number}: a line is: FOLDER FILE... <- TEST... (or none: REASON)")
        for name in names:
            if (folder, name) in rows:
                sys.exit(f"{LIST.name}:{number}: {folder}/{name} stands there twice")
            rows[folder, name] = (number, None if reasoned else right.split())
    return rows


def main():
    rows = listed(LIST.read_text().splitlines())
    problems = []
    sources = set()
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        folder = os.path.relpath(path.parent, ROOT / "src")
        key = (folder, path.stem)
        sources.add(key)
        own = own_test(folder, path.stem)
        if not own and key not in rows and (folder, "*") not in rows:
            problems.append(f"{folder}/{path.name} has no test of its name, and {LIST.name} names none")
        if own and key in rows:
            problems.append(f"{LIST.name}:{rows[key][0]}: {folder}/{path.name} has its own, {own}")
    for (folder, name), (number, tests) in rows.items():
        if name == "*" and not any(each == folder for each, _ in sources):
            problems.append(f"{LIST.name}:{number}: there is nothing in {folder}")
        elif name != "*" and (folder, name) not in sources:
            problems.append(f"{LIST.name}:{number}: there is no {folder}/{name}.cpp")
        for test in tests or ():
            if not (ROOT / "test" / test).exists():
                problems.append(f"{LIST.name}:{number}: there is no test/{test}")
    print("\n".join(problems) or f"{len(sources)} sources, each with a test")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
