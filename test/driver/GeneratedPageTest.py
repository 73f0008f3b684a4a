#!/usr/bin/env python3
"""Checks that a page is what its generator prints, or writes it so.

    test/driver/GeneratedPageTest.py GENERATOR PAGE [ARGUMENT...] [--write]

The generator is a program, or a script of Python (NAME.py).
"""
import difflib
import os
import subprocess
import sys


def main(generator, page, *arguments, writes):
    command = [sys.executable, generator] if generator.endswith(".py") else [generator]
    done = subprocess.run([*command, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"{generator} ended with {done.returncode}: {page} stays as it is")
        return 1
    kept = ""
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            kept = file.read()
    if done.stdout == kept:
        return 0
    if writes:
        with open(page, "w", encoding="utf-8") as file:
            file.write(done.stdout)
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(kept.splitlines(True), done.stdout.splitlines(True), page, "generated", n=0))
    print(f"{page} is not what the code says; `cmake --build build --target pages` writes it")
    return 1


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if each != "--write"]
    if len(given) < 2:
        sys.exit(__doc__)
    sys.exit(main(*given, writes="--write" in sys.argv))
