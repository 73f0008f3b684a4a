#!/usr/bin/env python3
"""Checks that a class, struct, union or enumeration of src/ has one definition.

Two of one name in one namespace are one type to the linker, which takes the functions of either for both. It says nothing,
and the compiler only where both are seen in one translation unit. What is in an anonymous namespace is a file's own.

    test/OneDefinition.py [ROOT]       checks ROOT/src
    test/OneDefinition.py --self-test  proves that the check finds what it should
"""
import collections
import os
import re
import sys
import tempfile

OPENED = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{$")
CLOSED = re.compile(r"\} // namespace ?([\w:]*)$")
# Members of namespaces are not indented (clang-format), members of classes are. No specialisation: its name has arguments.
DEFINED = re.compile(r"(?:template <.*> )?(?:class|struct|union|enum|enum class) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: ?:[^:].*)?(?: \{.*)?$")


def definitions(lines):
    """(namespace, name) of what is defined, but for anonymous namespaces."""
    namespaces = []
    for line, after in zip(lines, lines[1:] + [""]):
        if opened := OPENED.match(line):
            namespaces.append(opened[1])
        elif CLOSED.match(line) and namespaces:
            namespaces.pop()
        elif "" not in namespaces and (defined := DEFINED.match(line)):
            # The base classes may be on the next line.
            if "{" in line or (not line.endswith(";") and "{" in after):
                yield "::".join(namespaces), defined[1]


def findings(root):
    places = collections.defaultdict(set)
    for folder, _, files in os.walk(os.path.join(root, "src")):
        for file in files:
            if not file.endswith((".h", ".cpp")):
                continue
            path = os.path.join(folder, file)
            with open(path) as source:
                for definition in definitions(source.read().splitlines()):
                    places[definition].add(os.path.relpath(path, root))
    return [f"{'::'.join(filter(None, name))} is defined in {' and in '.join(sorted(files))}"
            for name, files in sorted(places.items()) if len(files) > 1]


def self_test():
    first = "namespace a {\nclass Twice {\n};\nstruct Once : Base {};\nnamespace {\nstruct Own {};\n} // namespace\n} // namespace a\n"
    second = ("namespace a {\nstruct Own;\nclass Twice final\n    : public Base {\n};\nnamespace b {\nstruct Once {};\n} // namespace b\n"
              "namespace {\nstruct Own {};\n} // namespace\n} // namespace a\n")
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "src"))
        for name, text in (("first.h", first), ("second.cpp", second)):
            with open(os.path.join(root, "src", name), "w") as file:
                file.write(text)
        expected = [f"a::Twice is defined in {os.path.join('src', 'first.h')} and in {os.path.join('src', 'second.cpp')}"]
        if findings(root) != expected:
            print(f"found {findings(root)}, not {expected}")
            return 1
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    found = findings(root)
    print("\n".join(found) if found else "every type has one definition")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
