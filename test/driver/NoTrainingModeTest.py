#!/usr/bin/env python3
"""No pass knows whether what it changes is trained or run: what differs stands in the graph. Goes through the passes that sinter-opt has, and their options.

    test/driver/NoTrainingModeTest.py build/bin/sinter-opt
"""
import re
import subprocess
import sys
import unittest

OPT = ""
PASS = re.compile(r"^ {6}--([\w-]+)\S* +- +(.*)$")
OPTION = re.compile(r"^ {8}--([\w-]+)\S* +- +(.*)$")
# In a name; in what is said of an option also "inference" as the noun that it is there ("shape inference" is no mode).
NAME = re.compile(r"train|infer(?!red|-dimensions)|eval|backward|mode\b")
TEXT = re.compile(r"\btrain|for inference|\binference mode|\bmode\b")


def passes():
    """For each pass what is said of it, and of its options by name."""
    text = subprocess.run([OPT, "--help"], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        if option := OPTION.match(line):
            found[name][1][option[1]] = option[2]
        elif each := PASS.match(line):
            name = each[1]
            found[name] = (each[2], {})
    return found


class NoTrainingModeTest(unittest.TestCase):
    def test_help_is_read(self):
        found = passes()
        self.assertGreater(len(found), 40)
        for name, option in ("differentiate", "arguments"), ("simplify", "disable-patterns"), ("cpu-assign-layouts", "precision"):
            self.assertIn(option, found[name][1])

    def test_no_option_says_so(self):
        for name, (said, options) in passes().items():
            with self.subTest(name):
                self.assertNotRegex(name, NAME)
                self.assertNotRegex(said, TEXT)
            for option, text in options.items():
                with self.subTest(name, option=option):
                    self.assertNotRegex(option, NAME)
                    self.assertNotRegex(text, TEXT)

    def test_would_be_seen(self):
        self.assertRegex("is-training", NAME)
        self.assertRegex("compile-mode", NAME)
        self.assertRegex("Lower norms for inference", TEXT)


if __name__ == "__main__":
    OPT = sys.argv.pop(1)
    unittest.main()
