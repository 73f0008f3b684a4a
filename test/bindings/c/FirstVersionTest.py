#!/usr/bin/env python3
"""The library and its header still have all of version 1 of the header (first_version.h), as it was.

    test/bindings/c/FirstVersionTest.py LIBRARY PROGRAM [unittest options]

PROGRAM was built from first_version.c.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(HERE, "..", "..", "..", "include", "sinter.h")
LIBRARY = PROGRAM = ""


def declarations(text):
    """Functions, members of structs in their order, values of enumerations, and other types, each by its name."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("SINTER_API ", "").replace('extern "C" {', "")
    text = re.sub(r"\s+", " ", text).replace("( ", "(")
    structs, enums = {}, {}

    def take(match):
        kind, name, body = match.groups()
        if kind == "struct":
            structs[name] = [each.strip() for each in body.split(";") if each.strip()]
        else:
            enums[name] = dict(re.findall(r"(\w+) = (\d+)", body))
        return ""

    text = re.sub(r"typedef (struct|enum) (\w+)(?: SINTER_ENUM_TYPE)? \{(.*?)\} \2;", take, text)
    others = {}
    for each in text.split(";"):
        if match := re.search(r"\(\*(\w+)\)|(\w+)\(|typedef struct (\w+)", each):
            others[match[1] or match[2] or match[3]] = each.strip()
    return structs, enums, others


def changes(old, new):
    """What of OLD is not so in NEW."""
    found = []
    for name, members in old[0].items():
        if new[0].get(name, [])[:len(members)] != members:
            found.append(name)
    for name, values in old[1].items():
        found += [value for value, number in values.items() if new[1].get(name, {}).get(value) != number]
    return found + [name for name, text in old[2].items() if new[2].get(name) != text]


def read(path):
    with open(path) as file:
        return file.read()


def library_of(header, structs, folder):
    """A library with debug information that defines every function of the text HEADER. Structs begin with their size and
    may grow at their end: those that STRUCTS has, too, have no more members than there."""
    def cut(match):
        members = match[2].split(";")[:len(structs[match[1]])] if match[1] in structs else [match[2]]
        return f"typedef struct {match[1]} {{{';'.join(members)};}} {match[1]};"

    os.makedirs(folder)
    source, library = os.path.join(folder, "library.c"), os.path.join(folder, "libsinter.so")
    functions = [text for text in declarations(header)[2].values() if not text.startswith("typedef")]
    plain = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    with open(source, "w") as file:
        file.write(re.sub(r"typedef struct (\w+) \{(.*?)\} \1;", cut, plain, flags=re.DOTALL))
        file.writelines(f"{each} {{ {'' if each.startswith('void sinter') else 'return 0;'} }}\n" for each in functions)
    subprocess.run(["cc", "-g", "-fPIC", "-shared", source, "-o", library], check=True)
    return library


class FirstVersionTest(unittest.TestCase):
    def setUp(self):
        self.old = read(os.path.join(HERE, "first_version.h"))

    def test_the_header_still_has_all_of_it(self):
        old = declarations(self.old)
        self.assertEqual((len(old[0]), len(old[1]), len(old[1]["sinter_type"])), (2, 2, 25))
        self.assertEqual(len(old[2]), 75)
        self.assertEqual(changes(old, declarations(read(HEADER))), [])

    def test_what_counts_as_a_change(self):
        old = declarations(self.old)
        for before, after, expected in [
                ("int32_t rank;\n  const int64_t *shape;\n  const int64_t *strides;", "const int64_t *shape;\n  int32_t rank;\n  const int64_t *strides;", ["sinter_tensor"]),
                ("SINTER_I64 = 6", "SINTER_I64 = 60", ["SINTER_I64"]),
                ("sinter_options_set(sinter_options *options, const char *name,", "sinter_options_set(const char *name, sinter_options *options,", ["sinter_options_set"]),
                ("void *data;", "void *data;\n  int32_t device;", []),
                ("typedef struct sinter_files sinter_files;", "", ["sinter_files"]),
                ("void sinter_string_free(char *string);", "", ["sinter_string_free"])]:
            with self.subTest(before):
                self.assertIn(re.sub(r"\s+", " ", before), re.sub(r"\s+", " ", self.old))
                changed = re.sub(r"\s+", " ", re.sub(r"^#.*\n", "", self.old, flags=re.MULTILINE)).replace(re.sub(r"\s+", " ", before), after)
                self.assertEqual(changes(old, declarations(changed)), expected)

    @unittest.skipUnless(shutil.which("abidiff"), "there is no abidiff")
    def test_a_binary_still_fits(self):
        structs = declarations(self.old)[0]
        grown = self.old.replace("int32_t feeds_shapes;", "int32_t feeds_shapes; int32_t more;")
        self.assertNotEqual(grown, self.old)
        with tempfile.TemporaryDirectory() as folder:
            first = library_of(self.old, structs, os.path.join(folder, "first"))
            for name, text, expected in [("now", read(HEADER), 0), ("grown", grown, 0), ("changed", self.old.replace("int32_t rank;", "int64_t rank;"), 4),
                                         ("cut", self.old.replace("void sinter_string_free(char *string);", ""), 12)]:
                with self.subTest(name):
                    library = library_of(text, structs, os.path.join(folder, name))
                    done = subprocess.run(["abidiff", "--no-added-syms", first, library], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, expected, done.stdout + done.stderr)

    def test_the_library_exports_all_of_it(self):
        done = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
        functions = {name for name, text in declarations(self.old)[2].items() if not text.startswith("typedef")}
        self.assertEqual(functions - {line.split()[-1] for line in done.stdout.splitlines()}, set())

    def test_a_program_still_runs(self):
        self.assertEqual(subprocess.run([PROGRAM], timeout=300, check=False).returncode, 0)


if __name__ == "__main__":
    LIBRARY, PROGRAM = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
