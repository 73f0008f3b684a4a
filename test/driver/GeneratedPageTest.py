#!/usr/bin/env python3
"""Checks that a page is what its generator prints.

    test/driver/GeneratedPageTest.py GENERATOR PAGE [ARGUMENT...]
"""
import difflib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main(generator, page, *arguments):
    made = subprocess.run([generator, *arguments], check=True, capture_output=True, text=True).stdout
    kept = ""
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            kept = file.read()
    if made == kept:
        return 0
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), page, "generated", n=0))
    target, *command = (os.path.relpath(path, ROOT) for path in (page, generator, *arguments))
    shown = " ".join(command)
    print(f"{target} is not what the code says. Make it anew, from the root of the checkout:\n    {shown} > {target}")
    return 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
