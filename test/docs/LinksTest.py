#!/usr/bin/env python3
"""Every relative link in a page leads to a file, and to a heading of it.

    test/docs/LinksTest.py              checks README.md and the others at the top, docs/, bench/ and examples/
    test/docs/LinksTest.py --self-test  proves that the check finds what it should
"""
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()\s]*\))?)\)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")


def pages(root):
    found = sorted(root.glob("*.md"))
    for folder in ("docs", "bench", "examples"):
        found += [each for each in sorted((root / folder).rglob("*.md")) if "node_modules" not in each.parts]
    return found


def anchors(text):
    """The addresses of the headings of a page, as GitHub makes them."""
    found, times = set(), {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", FENCE.sub("", text), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.add(f"{name}-{times[name]}" if times.get(name) else name)
        times[name] = times.get(name, 0) + 1
    return found


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def check(root):
    """A line for each link that leads nowhere."""
    complaints = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        for match in LINK.finditer(CODE.sub(blank, FENCE.sub(blank, text))):
            target = match[1]
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            where = f"{page.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
            if not file.exists():
                complaints.append(f"{where}: {target}: there is no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
                complaints.append(f"{where}: {target}: there is no such heading")
    return complaints


def self_test():
    other = "# Other `page`\n\n## A part, two\n\n## A part, two\n\n```\n# no heading\n```\n"
    cases = [("[a](docs/other.md)", 0), ("[a](docs/none.md)", 1), ("[a](docs/other.md#other-page)", 0), ("[a](docs/other.md#a-part-two)", 0),
             ("[a](docs/other.md#a-part-two-1)", 0), ("[a](docs/other.md#a-part-two-2)", 1), ("[a](docs/other.md#no-heading)", 1),
             ("# Here\n[a](#here) [b](#there)", 1), ("[a](https://example.org/none)", 0), ("`[a](none.md)`", 0), ("```\n[a](none.md)\n```", 0),
             ("[a [b]](none.md)", 1), ("text\n[a\nb](none.md)", 1), ("[a](docs)", 0)]
    wrong = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "docs").mkdir()
            (root / "docs" / "other.md").write_text(other, encoding="utf-8")
            (root / "README.md").write_text(text, encoding="utf-8")
            found = check(root)
            if len(found) != expected:
                wrong += 1
                print(f"{text!r}: expected {expected}, found {found}")
    print("the check finds what it should" if not wrong else f"{wrong} cases are wrong")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    complaints = check(ROOT)
    for complaint in complaints:
        print(complaint)
    if not complaints:
        print("every link leads somewhere")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
