#!/usr/bin/env python3
"""Documentation, help and pass descriptions use the field's words: those that someone who knows ONNX Runtime, MLIR, oneDNN
or XLA would search for. BANNED lists what to write instead of which words.

    test/Words.py              checks
    test/Words.py --self-test  proves that the check finds what it should

Read are README.md, CONTRIBUTING.md, CHANGELOG.md, the pages below docs/ and bench/ that are not generated, the descriptions
of options in src/driver, and those of passes. Code in a page (between backquotes, indented by four columns, or in fences) and
targets of links are left out. A line may keep a word with a reason behind it:

    the source calls it an anchor <!-- allowed: REASON -->
"""
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = re.compile(r"<!-- allowed: \S.*-->")

# A regular expression, and what to write instead. Between words any space counts, line ends too.
BANNED = [
    (r"open (?:size|dimension|shape|height|width|batch|row|image|length|program)s?", "dynamic dimension, shape-generic program"),
    (r"(?:size|dimension)s? (?:that )?(?:is|are|stay|stays) open", "dynamic dimension"),
    (r"closed programs?", "static program"),
    (r"sizes at hand", "given sizes, static shape"),
    (r"sizes? that (?:is|are) named|named sizes?|names? of sizes?", "symbolic dimension"),
    (r"numbers of (?:a|the) tensors?", "elements, values"),
    (r"quantised numbers?", "quantised values"),
    (r"bytes? products?|products? (?:of|by) bytes|bytes that are multiplied", "int8 matmul"),
    (r"words of (?:bytes|16 bits|32 bits)", "16-bit or 32-bit lanes"),
    (r"distance products?", "int8 matmul with run-time zero points"),
    (r"narrow (?:weights?|products?)", "low-bit weights, dequantise-in-kernel matmul"),
    (r"half weights?", "fp16 weights, bf16 weights"),
    (r"matrix products?", "matmul"),
    (r"bf16 parts|parts of bf16|cut into parts|lies? in parts", "bf16 split, split operand"),
    (r"tile products?|products? (?:on|of) tiles|tile kernels?", "AMX matmul, AMX micro-kernel"),
    (r"joints?(?! scale)", "concatenate"),
    (r"extremes?", "min and max, range"),
    (r"(?:the )?(?:least and the greatest|greatest and the least)", "min and max"),
    (r"tables? of functions? of bytes", "look-up table (LUT)"),
    (r"(?:is|are|be|was|were) told", "get, receive, take as an argument"),
    (r"who(?:ever)? reads|(?:what|that) nobody reads|nobody (?:else )?reads", "uses, users, consumers; dead code"),
    (r"put(?:s)? together what", "fuse"),
    (r"tak(?:e|es|ing) turns", "alternate, lock"),
    (r"elemental", "element-wise generator"),
    (r"anchors?", "root (of a fusion group)"),
    (r"channel by channel", "depthwise"),
    (r"pictures?", "image; diagram"),
    (r"plans? of memory", "memory plan, buffer assignment"),
    (r"host calls?", "runtime call, library call"),
    (r"grids? of processes", "communicator, processes"),
    (r"drafts? of (?:a )?kernels?", "kernel template"),
    (r"the house|rooms", "modules, layers"),
    (r"train(?:s|ed)? (?:it|a model|further) on\b(?! samples)", "fine-tune, continue training"),
    (r"spelt out", "spelled out"),
    (r"outlives? (?:a|the) run", "whose value stays from run to run, state"),
    (r"run so often", "run N times"),
    (r"(?:up to|run|by) so many", "N, by the name of the value"),
    (r"judged on", "evaluated on, compared on"),
    (r"results? so far", "by how much a result changes"),
    (r"(?:probability|share) that is spread|spread over all classes", "label smoothing"),
    (r"where do (?:two )?\w+ part", "the first tensor that differs"),
    (r"(?:tells?|told) of", "describe, report, get"),
    (r"as ever", "as usual"),
]
# Test code and what looks for the words in a diff know the oracle; pages for users do not.
IN_PAGES = [(r"oracle", "interpreter, reference interpreter")]

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
GENERATED = ("docs/affine-flow.md", "docs/c-reference.md", "docs/nn-gradients.md", "docs/onnx-operators.md", "docs/paddle-operators.md",
             "docs/python-reference.md", "docs/rescales.md", "docs/rewrites.md", "docs/stablehlo-status.md")

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
LITERALS = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")
# What describes an option is an argument of add_option and its like, or of a helper that is given the option's name.
OPTION = re.compile(r'\b(?:add_(?:option|flag)\w*|desc)\s*(?:<[^;()]*>)?\(|\b\w+\((?=\s*(?:\*?[\w.]+,\s*)?"--?[a-z][^" ]*")')
DESCRIPTION = re.compile(r"getDescription\(\) const[^{]*\{([^}]*)\}")
# A pass or a command in a table, with what describes it.
ROW = re.compile(rf'\{{"[a-z][-\w]*",\s*({LITERAL}(?:\s*{LITERAL})*)')
EXAMPLES = re.compile(r'R"\((.*?)\)"', re.DOTALL)


def compiled(rules):
    """(pattern, what to write instead) of each rule; neither letters nor hyphens may be beside it."""
    return [(re.compile(r"(?<![-\w])(?:" + words.replace(" ", r"\s+") + r")(?![-\w])", re.IGNORECASE), instead) for words, instead in rules]


def blank(match):
    """As many line ends and columns as what matched, of nothing."""
    return re.sub(r"[^\n]", " ", match[0])


def prose(page):
    """The page without its code, links' targets and comments, every word where it was."""
    text = re.sub(r"^```.*?^```", blank, page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(?:(?<=\n\n)|\A)(?: {4}[^\n]*\n|\n(?= {4}))+", indented_code, text)
    text = re.sub(r"`[^`]*`", blank, text)
    text = re.sub(r"\]\([^)]*\)", blank, text)
    return re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)


def indented_code(match):
    """Code is indented by four columns; what goes on an item of a list is indented, too, and begins in the middle of a sentence."""
    return match[0] if re.match(r" {4}[-*] ", match[0]) else blank(match)


def arguments(text, begin):
    """What stands between the parenthesis before `begin` and its other half."""
    depth = 1
    for token in re.finditer(rf"{LITERAL}|'(?:[^'\\]|\\.)'|[()]", text[begin:]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return text[begin:begin + token.start()]
    return text[begin:]


def descriptions(text):
    """(offset, text) of what describes options and passes in a source."""
    found = []
    for call in OPTION.finditer(text):
        found.append((call.end(), arguments(text, call.end())))
    found += [(match.start(1), match[1]) for match in DESCRIPTION.finditer(text)]
    found += [(match.start(1), match[1]) for match in ROW.finditer(text)]
    for offset, part in found:
        for match in LITERALS.finditer(part):
            yield offset + match.start(), "".join(each[1:-1] for each in re.findall(LITERAL, match[0]))
    for match in EXAMPLES.finditer(text):
        yield match.start(1), match[1]


def complaints_of(name, offset, text, rules, whole, lines=None):
    """A line for each word that BANNED has, unless its line is allowed."""
    for pattern, instead in rules:
        for match in pattern.finditer(text):
            line = whole.count("\n", 0, offset + (match.start() if lines else 0))
            if lines and ALLOWED.search(lines[line]):
                continue
            yield f"{name}:{line + 1}: '{' '.join(match[0].split())}': write {instead}"


def check(root):
    complaints = []
    pages = [root / page for page in PAGES] + sorted((root / "docs").glob("**/*.md")) + sorted((root / "bench").glob("**/*.md"))
    for page in pages:
        name = page.relative_to(root).as_posix()
        if name in GENERATED or "node_modules" in name or not page.exists():
            continue
        text = page.read_text(encoding="utf-8")
        if name.startswith("bench/figures/") and text.startswith("<!--"):
            continue
        complaints += complaints_of(name, 0, prose(text), compiled(BANNED + IN_PAGES), text, text.split("\n"))
    sources = sorted((root / "src" / "driver").glob("*.cpp")) + sorted((root / "src" / "passes").glob("*.cpp")) + \
        sorted((root / "src" / "autodiff").glob("*.cpp")) + sorted((root / "src" / "backend" / "cpu").rglob("Passes.cpp"))
    for source in sources:
        whole = source.read_text(encoding="utf-8")
        for offset, text in descriptions(whole):
            complaints += complaints_of(source.relative_to(root).as_posix(), offset, text, compiled(BANNED), whole)
    return complaints


def self_test():
    cases = [
        ("README.md", "A program of open\nsizes.", 1),
        ("README.md", "Code `open sizes` and [text](open-sizes.md#open) and cpu-split-concatenates.", 0),
        ("README.md", "Text:\n\n    open sizes\n\n```\npicture\n```\n", 0),
        ("README.md", "- an item\n  goes on with a picture\n", 1),
        ("README.md", "The source says picture. <!-- allowed: a name -->\n", 0),
        ("README.md", "A picture. <!-- allowed: -->\n", 1),
        ("docs/deep/page.md", "the oracle", 1),
        ("docs/rewrites.md", "Made of pictures.", 0),
        ("bench/figures/zen4.md", "<!-- made -->\npicture\n", 0),
        ("src/driver/A.cpp", 'app.add_option("--x", x, "how pictures "\n  "lie")->type_name("picture");', 1),
        ("src/driver/A.cpp", 'fail("no picture");', 0),
        ("src/driver/A.cpp", 'number(app, "--x", x, "a picture");', 1),
        ("src/driver/A.cpp", '{"draw", "draw a picture",\n R"(  draw a picture)"},', 2),
        ("src/backend/cpu/pipeline/Passes.cpp", '{"cpu-x", "Find the "\n "extremes", f},', 1),
        ("src/passes/A.cpp", 'StringRef getDescription() const final {\n return "Put together what\\n"; }', 1),
    ]
    wrong = 0
    for name, text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            found = check(Path(folder))
            if len(found) != expected:
                wrong += 1
                print(f"{name}: {text!r}: expected {expected}, found {found}")
    print("the check finds what it should" if not wrong else f"{wrong} cases are wrong")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    complaints = check(ROOT)
    for complaint in complaints:
        print(complaint)
    if not complaints:
        print("pages, help and descriptions use the field's words")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
