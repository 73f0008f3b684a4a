#!/usr/bin/env python3
"""Every source in src/ has a test: one of its own name in the mirrored folder, or one that says so in a comment,

    // Covers: backend/cpu Flatten Prepare

with the folder below src/ and the names of sources there (`*`: all). A source without a test says why,

    // Without a test: REASON

    test/TestedBy.py              checks
    test/TestedBy.py NAME ...     prints the tests of these sources, given as backend/cpu/legalize/Flatten
    test/TestedBy.py --self-test  proves that the check finds what it should
"""
import collections
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COVERS = re.compile(r"(?://|#) Covers: (\S+) (.+)")
EXCUSE = re.compile(r"// Without a test: \S")


def kebab(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def own_test(root, folder, name):
    """The test that has the name of the source, if there is one."""
    plain = name.removesuffix("Command")
    for file in (f"{name}Test.cpp", f"{name}Test.py", f"{plain}Test.py", f"{kebab(name)}.mlir"):
        if (root / "test" / folder / file).exists():
            return os.path.join(folder, file)
    return None


def covered(root):
    """{(folder, name): tests} as the tests say."""
    found = collections.defaultdict(list)
    for path in sorted((root / "test").rglob("*")):
        if path.suffix not in (".cpp", ".h", ".py", ".mlir") or path == Path(__file__).resolve():
            continue
        for line in path.read_text(errors="replace").splitlines():
            if match := COVERS.fullmatch(line.strip()):
                for name in match[2].split():
                    found[match[1], name].append(os.path.relpath(path, root / "test"))
    return found


def sources(root):
    return {(os.path.relpath(path.parent, root / "src"), path.stem): path for path in sorted((root / "src").rglob("*.cpp"))}


def problems(root):
    tests, all_sources = covered(root), sources(root)
    folders = {folder for folder, _ in all_sources}
    for (folder, name), path in all_sources.items():
        own = own_test(root, folder, name)
        told = tests.get((folder, name), []) + tests.get((folder, "*"), [])
        excused = any(EXCUSE.match(line) for line in path.read_text().splitlines()[:20])
        if not own and not told and not excused:
            yield f"src/{folder}/{name}.cpp has no test of its name, and no test covers it"
        if excused and (own or told):
            yield f"src/{folder}/{name}.cpp has a test: {own or told[0]}"
    for (folder, name), files in tests.items():
        if name != "*" and (folder, name) not in all_sources or folder not in folders:
            yield f"test/{files[0]} covers src/{folder}/{name}.cpp, which is not there"


def self_test():
    files = {"src/a/One.cpp": "", "src/a/Two.cpp": "", "src/a/Three.cpp": "", "src/a/Four.cpp": "// Without a test: data only\n",
             "test/a/OneTest.cpp": "// Covers: a Two Gone\n"}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = list(problems(root))
    expected = ["src/a/Three.cpp has no test of its name, and no test covers it", "test/a/OneTest.cpp covers src/a/Gone.cpp, which is not there"]
    if found != expected:
        print(f"found {found}, not {expected}")
    return found != expected


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        tests = covered(ROOT)
        for source in sys.argv[1:]:
            folder, name = os.path.split(source.removeprefix("src/").removesuffix(".cpp"))
            own = own_test(ROOT, folder, name)
            print(f"{source}: {' '.join(([own] if own else []) + tests.get((folder, name), []) + tests.get((folder, '*'), []))}")
        return 0
    found = list(problems(ROOT))
    print("\n".join(found) or f"{len(sources(ROOT))} sources, each with a test")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
