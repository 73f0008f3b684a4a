#!/usr/bin/env python3
"""Checks that src/ keeps the rule of docs/architecture.md, "Who may include whom".

A row is about a folder of src/, or about one inside of it: `formats/import`, or `formats/NAME` for all that have no row of
their own. In such a folder only what the row names may be included of the folder around it. Of `formats/*`, the headers
that lie directly there may be included, of `formats` all.

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
    """The name and the row of the folder inside of another that the path `inside` ("a/b/c.h") lies in; none: (None, None)."""
    parts = inside.split("/")
    if len(parts) < 3:
        return None, None
    own = "/".join(parts[:2])
    return own, rules.get(own, rules.get(f"{parts[0]}/NAME"))


def is_named(target, names):
    """Whether the header `target` ("a/b.h") lies in what one of `names` says."""
    return any(target.startswith(name[:-1]) and target.count("/") == name.count("/") if name.endswith("/*")
               else target.startswith(name + "/") for name in names)


def check_file(path, shown, folder, rules):
    """The complaints about one file, each with file and line."""
    own, inner = inner_row(os.path.relpath(shown, "src"), rules)
    complaints = []
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
