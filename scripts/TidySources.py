#!/usr/bin/env python3
"""Which sources to check for files that changed: prints those, one a line.

    scripts/TidySources.py FILE...

The files are paths from the root of the project, the most urgent first. A source stands for itself. A header is looked at
where it is included: by one of these, or else by the source of its own name, or by one that includes most of the headers
that are left. The sources that headers need come first: what is wrong in a header shows in all that include it.
"""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(rb'^#include "([^"]+)"', re.MULTILINE)


def included(file):
    """The files of the project that a file includes itself."""
    with open(file, "rb") as text:
        names = [name.decode() for name in INCLUDE.findall(text.read())]
    places = [os.path.join(root, name) for name in names for root in ("src", "test", os.path.dirname(file))]
    return {os.path.normpath(place) for place in places if os.path.isfile(place)}


class Sources:
    """What each file of the project includes, by way of others, too."""

    def __init__(self):
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "src/*.cpp",
                                 "src/*.h", "test/*.cpp", "test/*.h"], stdout=subprocess.PIPE, text=True, check=True)
        self.files = [file for file in listed.stdout.splitlines() if os.path.isfile(file)]
        self.direct = {file: included(file) for file in self.files}
        self.reached = {}

    def reach(self, file):
        if file not in self.reached:
            seen, waiting = set(), [file]
            while waiting:
                for each in self.direct.get(waiting.pop(), ()):
                    if each not in seen:
                        seen.add(each)
                        waiting.append(each)
            self.reached[file] = seen
        return self.reached[file]

    def source_for(self, header, left):
        """The source that shows the header, and others of `left`; None if nothing includes it."""
        readers = [file for file in self.files if file.endswith(".cpp") and header in self.reach(file)]
        own = header[: -len("h")] + "cpp"
        return max(readers, key=lambda file: (file == own, len(left & self.reach(file))), default=None)


def chosen(changed):
    sources = Sources()
    own = [file for file in changed if file.endswith(".cpp")]
    left = {file for file in changed if file.endswith(".h")}.difference(*map(sources.reach, own))
    added = []
    while left:
        header = min(left, key=changed.index)
        found = sources.source_for(header, left)
        left -= {header} | (sources.reach(found) if found else set())
        if found:
            added.append(found)
    return added + own


if __name__ == "__main__":
    for name in chosen([os.path.normpath(each) for each in sys.argv[1:]]):
        print(name)
