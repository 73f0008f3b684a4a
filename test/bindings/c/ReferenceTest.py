#!/usr/bin/env python3
"""docs/c-reference.md describes each function that libsinter.so exports, and what makes it refuses headers that it would
describe wrongly.

    test/bindings/c/ReferenceTest.py LIBSINTER
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

LIBRARY = ""
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
HEADER = """/*===- sinter.h ---===*/
/** The version. */
#define SINTER_API_VERSION 1
%s
#ifdef __cplusplus
}
#endif
"""
GOOD = """
/*===- Things -------===*/

/** A thing. */
typedef struct sinter_thing sinter_thing;
/** Makes THING of COUNT parts; NAME (may be NULL) is what it is called. Errors:
    SINTER_USAGE for a COUNT of 0. */
SINTER_API sinter_status
sinter_thing_new(size_t count, const char *name, sinter_thing **thing, sinter_error **error);
/** Its size and its weight. */
SINTER_API size_t sinter_thing_size(const sinter_thing *thing);
SINTER_API double sinter_thing_weight(const sinter_thing *thing);
"""


def page(declarations):
    """The generator's run on a header."""
    with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
        file.write(HEADER % declarations)
        file.flush()
        return subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "CReference.py"), file.name], capture_output=True, text=True)


class Reference(unittest.TestCase):
    def test_it_has_what_the_library_exports(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        exported = set(re.findall(r" T (sinter_\w+)$", symbols, re.M))
        self.assertGreater(len(exported), 50)
        with open(os.path.join(SOURCE, "docs", "c-reference.md")) as file:
            text = file.read()
        code = "\n".join(re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S))
        described = set(re.findall(r"^(?:const )?\w+ \*?\*?(sinter_\w+)\(", code, re.M))
        self.assertEqual(described, exported)

    def test_links_lead_to_headings(self):
        with open(os.path.join(SOURCE, "docs", "c-reference.md")) as file:
            text = file.read()
        headings = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in re.findall(r"^#+ (.*)$", text, re.M)}
        links = re.findall(r"\]\(#([^)]*)\)", text)
        self.assertGreater(len(links), 100)
        self.assertEqual(set(links) - headings, set())

    def test_an_entry(self):
        done = page(GOOD)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("## Things",
                     "sinter_status sinter_thing_new(size_t count, const char *name, sinter_thing **thing, sinter_error **error);",
                     "Makes `thing` of `count` parts; `name` (may be `NULL`) is what it is called.",
                     "| `count` | `size_t` | in |", "| `name` | `const char *` | in, may be `NULL` |", "| `thing` | `sinter_thing **` | out |",
                     "**Errors.** `SINTER_USAGE` for a `count` of 0.",
                     "### sinter_thing_size, sinter_thing_weight"):
            self.assertIn(line + "\n", done.stdout)
        self.assertNotIn("| `error` |", done.stdout)

    def test_what_it_refuses(self):
        for declarations, what in ((GOOD.replace("/** Its size and its weight. */\n", "\n"), "no comment describes sinter_thing_size"),
                                   (GOOD.replace("/** Makes", "\nextern int sinter_count;\n/** Makes"), "'extern int sinter_count;' is no declaration"),
                                   (GOOD.replace("size_t count", "size_t"), "'size_t' is no parameter"),
                                   (GOOD + "\n/** Lost. */\n\n", "nothing follows the comment 'Lost.'"),
                                   (GOOD + "typedef struct sinter_other sinter_other;\n", "sinter_other needs a comment of its own")):
            done = page(declarations)
            self.assertEqual(done.returncode, 1, declarations)
            self.assertIn(what, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    LIBRARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
