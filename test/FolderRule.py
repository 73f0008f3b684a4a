#!/usr/bin/env python3
"""Checks that src/ keeps the rule of docs/architecture.md, "Who may include whom", and that no circle of files includes itself
below the folders of NO_CIRCLES, a header and its .cpp counting as one.

A row is about a folder of src/, or about one inside of it at any depth: `formats/import`, or `formats/NAME` for all that
have no row of their own. In such a folder only what the row names may be included of the outermost folder around it. Of
`formats/*`, the headers that lie directly there may be included, of `formats` all. Where one folder inside of another has
a row, all have.

    test/FolderRule.py [ROOT]       checks ROOT/src against the table in ROOT/docs/architecture.md
    test/FolderRule.py --self-test  proves that the check finds what it should
"""
import os
import re
import sys
import tempfile

HEADING = "| folder | may include |"
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')
SUFFIXES = (".h", ".cpp", ".inc", ".td")
NO_CIRCLES = ("backend",)
# A TableGen file says it without the hash.
TD_INCLUDE = re.compile(r'\s*include\s*"([^"]+)"')


def read_table(text):
    """{folder: set of folders it may include} of the Markdown table under HEADING."""
    lines = iter(text.splitlines())
    if not any(line.strip() == HEADING for line in lines):
        raise ValueError(f"no table '{HEADING}'")
    rules = {}
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if set(cells[0]) <= set("-: "):
            continue
        rules[cells[0]] = {name.strip() for name in cells[1].split(",") if name.strip()}
    named = {name.removesuffix("/*") for cell in rules.values() for name in cell}
    unknown = named - set(rules)
    if not rules or unknown:
        raise ValueError(f"the table is empty or names folders without a row: {sorted(unknown)}")
    return rules


def inner_row(inside, rules):
    """The name and the row of the innermost folder with a row that the path `inside` ("a/b/c.h") lies in, other than the
    outermost one; none: (None, None)."""
    parts = inside.split("/")
    for depth in range(len(parts) - 1, 1, -1):
        own = "/".join(parts[:depth])
        if own in rules:
            return own, rules[own]
    own = "/".join(parts[:2])
    return (own, rules[f"{parts[0]}/NAME"]) if len(parts) > 2 and f"{parts[0]}/NAME" in rules else (None, None)


def is_named(target, names):
    """Whether the header `target` ("a/b.h") lies in what one of `names` says."""
    return any(target.startswith(name[:-1]) and target.count("/") == name.count("/") if name.endswith("/*")
               else target.startswith(name + "/") for name in names)


def check_file(path, shown, folder, rules):
    """The complaints about one file, each with file and line."""
    inside = os.path.relpath(shown, "src")
    own, inner = inner_row(inside, rules)
    complaints = []
    if inner is None and inside.count("/") > 1 and any(name.startswith(folder + "/") for name in rules):
        complaints.append(f"{shown}: src/{os.path.dirname(inside)} has no row in the table of docs/architecture.md")
    pattern = TD_INCLUDE if path.endswith(".td") else INCLUDE
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = pattern.match(line)
            if not match:
                continue
            if match[1].startswith("."):
                complaints.append(f"{shown}:{number}: includes \"{match[1]}\"; includes are relative to src/")
                continue
            target = match[1].split("/")[0]
            if "/" not in match[1] or target not in rules:
                continue
            if target != folder:
                where, names = folder, rules[folder]
            elif inner is not None and not match[1].startswith(own + "/"):
                where, names = f"{own}, of {folder},", inner
            else:
                continue
            if not is_named(match[1], names):
                allowed = ", ".join(sorted(names)) or "nothing of ours"
                complaints.append(f'{shown}:{number}: includes "{match[1]}", but {where} may include only: {allowed}')
    return complaints


def includes_of_units(source, folder):
    """{unit: units that it includes} below SOURCE/FOLDER; a unit is a file's name without its ending."""
    units = {}
    for directory, _, names in os.walk(os.path.join(source, folder)):
        for name in names:
            if not name.endswith((".h", ".cpp")):
                continue
            path = os.path.join(directory, name)
            unit = os.path.splitext(os.path.relpath(path, source))[0]
            with open(path, encoding="utf-8") as file:
                found = {os.path.splitext(match[1])[0] for match in map(INCLUDE.match, file) if match}
            units.setdefault(unit, set()).update(found - {unit})
    return {unit: sorted(others & set(units)) for unit, others in units.items()}


def circles(units):
    """One circle of units for each that closes one, as a list; none if there is none."""
    done, found = set(), []
    for start in sorted(units):
        path, pending = [], [(start, False)]
        while pending:
            unit, left = pending.pop()
            if left:
                path.pop()
                done.add(unit)
            elif unit in path:
                found.append(path[path.index(unit):])
            elif unit not in done:
                path.append(unit)
                pending.append((unit, True))
                pending += [(other, False) for other in units[unit]]
    return found


def check(root):
    """Every complaint about ROOT/src."""
    with open(os.path.join(root, "docs", "architecture.md"), encoding="utf-8") as file:
        rules = read_table(file.read())
    source = os.path.join(root, "src")
    complaints = []
    for folder in sorted(entry.name for entry in os.scandir(source) if entry.is_dir()):
        if folder not in rules:
            complaints.append(f"src/{folder}: has no row in the table of docs/architecture.md")
            continue
        for directory, _, names in sorted(os.walk(os.path.join(source, folder))):
            for path in sorted(os.path.join(directory, name) for name in names if name.endswith(SUFFIXES)):
                complaints += check_file(path, os.path.relpath(path, root), folder, rules)
        if folder in NO_CIRCLES:
            complaints += [f"src/{circle[0]}: is part of a circle: {' -> '.join(circle + circle[:1])}"
                           for circle in circles(includes_of_units(source, folder))]
    return complaints


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def self_test():
    with tempfile.TemporaryDirectory() as root:
        table = f"# A\n\n{HEADING}\n|---|---|\n| low | |\n| high | low |\n\nAfter.\n"
        write(root, "docs/architecture.md", table)
        write(root, "src/Top.h", '#include "high/Good.h"\n')
        write(root, "src/high/Good.cpp", '#include "low/A.h"\n#include "high/B.h"\n#include <low>\n#include "mlir/IR/X.h"\n')
        assert check(root) == [], check(root)
        write(root, "src/low/Bad.h", '// "high/B.h"\n#include <vector>\n  #  include "high/B.h"\n')
        write(root, "src/low/Bad.td", 'include "high/B.td"\n')
        write(root, "src/low/Relative.cpp", '#include "../high/B.h"\n')
        found = [complaint.split(" ")[0] for complaint in check(root)]
        assert found == ["src/low/Bad.h:3:", "src/low/Bad.td:1:", "src/low/Relative.cpp:1:"], found
        rows = "| wide | low |\n| wide/core | |\n| wide/NAME | wide/*, wide/core |\n| top | wide/* |\n"
        write(root, "docs/architecture.md", table.replace("\nAfter.\n", rows))
        for name in ("low/Bad.h", "low/Bad.td", "low/Relative.cpp"):
            os.remove(os.path.join(root, "src", name))
        good = '#include "low/A.h"\n#include "wide/B.h"\n#include "wide/core/C.h"\n#include "wide/one/D.h"\n'
        write(root, "src/wide/one/Good.cpp", good)
        write(root, "src/wide/All.cpp", good + '#include "wide/two/E.h"\n')
        write(root, "src/top/Good.cpp", '#include "wide/B.h"\n')
        assert check(root) == [], check(root)
        write(root, "src/wide/two/Bad.cpp", good)
        write(root, "src/wide/core/Bad.cpp", '#include "low/A.h"\n#include "wide/B.h"\n#include "wide/core/C.h"\n')
        write(root, "src/top/Bad.cpp", '#include "wide/core/C.h"\n#include "low/A.h"\n')
        found = [complaint.split(" ")[0] for complaint in check(root)]
        assert found == ["src/top/Bad.cpp:1:", "src/top/Bad.cpp:2:", "src/wide/core/Bad.cpp:2:",
                         "src/wide/two/Bad.cpp:4:"], found
        write(root, "src/strange/A.h", "")
        assert any("src/strange" in complaint for complaint in check(root))
    with tempfile.TemporaryDirectory() as root:
        write(root, "docs/architecture.md", f"{HEADING}\n|---|---|\n| a | |\n| a/b/c | |\n| a/b/d | a/b/c |\n")
        write(root, "src/a/b/d/Good.cpp", '#include "a/b/c/A.h"\n')
        write(root, "src/a/b/d/deep/Good.cpp", '#include "a/b/c/A.h"\n#include "a/b/d/B.h"\n')
        assert check(root) == [], check(root)
        write(root, "src/a/b/c/Bad.cpp", '#include "a/b/d/B.h"\n')
        write(root, "src/a/b/Bad.cpp", "")
        found = sorted(complaint.split(" ")[0] for complaint in check(root))
        assert found == ["src/a/b/Bad.cpp:", "src/a/b/c/Bad.cpp:1:"], found
    chain = {"a": ["b", "c"], "b": ["c"], "c": []}
    assert circles(chain) == []
    assert circles({**chain, "c": ["a"]})
    with tempfile.TemporaryDirectory() as root:
        write(root, "docs/architecture.md", f"{HEADING}\n|---|---|\n| backend | |\n")
        write(root, "src/backend/A.h", '#include "backend/B.h"\n')
        write(root, "src/backend/B.cpp", '#include "backend/B.h"\n#include "backend/C.h"\n')
        write(root, "src/backend/C.h", "")
        assert check(root) == [], check(root)
        write(root, "src/backend/C.h", '#include "backend/A.h"\n')
        assert len(check(root)) == 1 and "is part of a circle" in check(root)[0], check(root)
    for bad in ("no table", f"{HEADING}\n|---|---|\n", f"{HEADING}\n|---|---|\n| a | b |\n"):
        try:
            read_table(bad)
        except ValueError:
            continue
        raise AssertionError(f"accepted: {bad}")
    print("the folder rule's self-test passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    complaints = check(root)
    print("\n".join(complaints) or "every include in src/ keeps the folder rule")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
