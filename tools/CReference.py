#!/usr/bin/env python3
"""Prints docs/c-reference.md: every function, type and constant of include/sinter.h, as the header describes them.

    tools/CReference.py include/sinter.h

A comment /** ... */ describes what follows it, up to the next empty line or comment: declarations without one between
them make one entry. A parameter is in capitals there. What begins with "Errors:" ends a comment and lists statuses. A
header with anything that this does not understand, or with a function that no comment describes, is an error.
"""
import re
import sys
from pathlib import Path
from typing import NamedTuple

SECTION = re.compile(r"/\*===- (?P<name>[^-]+?) -+===\*/\n")
COMMENT = re.compile(r"/\*\*(?P<text>.*?)\*/\n", re.S)
DECLARATIONS = {
    "function": re.compile(r"SINTER_API (?P<result>[\w ]+?[\s*]+)(?P<name>sinter_\w+)\((?P<parameters>[^;]*)\);\n"),
    "callback": re.compile(r"typedef (?P<result>\w+[ *]+)\(\*(?P<name>sinter_\w+)\)\((?P<parameters>[^;]*)\);\n"),
    "enumeration": re.compile(r"typedef enum (?P<name>sinter_\w+) SINTER_ENUM_TYPE \{[^}]*\} (?P=name);\n"),
    "structure": re.compile(r"typedef struct (?P<name>sinter_\w+) \{[^}]*\} (?P=name);\n"),
    "object": re.compile(r"typedef struct (?P<name>sinter_\w+) (?P=name);\n"),
    "constant": re.compile(r"#define (?P<name>SINTER_\w+) (?P<value>\w+)\n"),
}


class Declaration(NamedTuple):
    kind: str
    name: str
    #: As C has it, in lines of a page.
    code: str
    #: (type, name) of each parameter.
    parameters: list


class Entry(NamedTuple):
    """What one comment describes."""
    text: str
    declarations: list


class Section(NamedTuple):
    name: str
    entries: list


class Unreadable(Exception):
    pass


def words(text):
    """Text of a comment in one line for each paragraph."""
    return " ".join(re.sub(r"^ *\*? ?", "", line) for line in text.strip().split("\n")).strip()


def code_of(text):
    """A declaration that fits a page."""
    flat = re.sub(r"\* (?=\w+\()", "*", " ".join(text.replace("SINTER_API ", "").split()).replace("( ", "("))
    if len(flat) <= 110 or "(" not in flat:
        return flat
    head, rest = flat.split("(", 1) if "(*" not in flat else flat.split(")(", 1)
    head += ")(" if "(*" in flat else "("
    lines, line = [], head
    for part in re.split(r"(?<=,) ", rest):
        if len(line) + len(part) > 108:
            lines.append(line.rstrip())
            line = " " * 4
        line += part + " "
    return "\n".join([*lines, line.rstrip()])


def parameters_of(text):
    """"const char *path, size_t n" as [("const char *", "path"), ("size_t", "n")]."""
    found = []
    for each in " ".join(text.split()).split(", "):
        if each == "void":
            continue
        match = re.fullmatch(r"(?P<type>.*?[ *])(?P<name>\w+)", each)
        if not match:
            raise Unreadable(f"'{each}' is no parameter")
        found.append((match["type"].strip(), match["name"]))
    return found


def declaration(text, offset):
    """What is declared at OFFSET, and where it ends."""
    for kind, pattern in DECLARATIONS.items():
        match = pattern.match(text, offset)
        if match:
            # Structures and enumerations have comments of their own inside.
            code = match[0].strip().replace(" SINTER_ENUM_TYPE", "") if kind in ("structure", "enumeration") else code_of(match[0])
            return Declaration(kind, match["name"], code, parameters_of(match.groupdict().get("parameters") or "void")), match.end()
    return None, offset


def sections(text):
    """The sections of a header, in order."""
    begin = text.index("#define SINTER_API_VERSION")
    begin = text.rindex("/**", 0, begin)
    end = text.index("#ifdef __cplusplus\n}")
    found, entry, offset = [Section("Version", [])], None, begin
    while offset < end:
        if text[offset] == "\n":
            entry, offset = None, offset + 1
        elif match := SECTION.match(text, offset):
            found.append(Section(match["name"], []))
            entry, offset = None, match.end()
        elif match := COMMENT.match(text, offset):
            entry, offset = Entry(words(match["text"]), []), match.end()
            found[-1].entries.append(entry)
        else:
            declared, behind = declaration(text, offset)
            line = text.count("\n", 0, offset) + 1
            if not declared:
                raise Unreadable(f"line {line}: '{text[offset:].splitlines()[0]}' is no declaration")
            if not entry:
                raise Unreadable(f"line {line}: no comment describes {declared.name}")
            if declared.kind not in ("function", "callback") and entry.declarations:
                raise Unreadable(f"line {line}: {declared.name} needs a comment of its own")
            entry.declarations.append(declared)
            offset = behind
    for section in found:
        for entry in section.entries:
            if not entry.declarations:
                raise Unreadable(f"nothing follows the comment '{entry.text}'")
    return found


def use_of(kind, name, entry):
    """How a parameter is used, by its type and the comment."""
    if kind.startswith("const") or not kind.endswith("*") or kind == "void *":
        use = "in"
    elif kind.endswith("**") or not kind.startswith("sinter_"):
        use = "out"
    else:
        use = "in, out"
    may_be_null = re.search(rf"\b{name.upper()}\b \(?(?:which )?may be NULL|\b{name.upper()}\b[^.]*; NULL(?: and 0)?:", entry.text)
    return use + (", may be `NULL`" if may_be_null else "")


def prose(text, declarations):
    """A comment as text of a page: names of parameters and of what the header declares as code."""
    names = {name.upper(): name for each in declarations for kind, name in each.parameters if kind != "sinter_error **"}
    text = re.sub(r"[<>|]", lambda match: {"<": "&lt;", ">": "&gt;", "|": "\\|"}[match[0]], text)
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"\b[A-Z][A-Z_]+\b", lambda match: f"`{names[match[0]]}`" if match[0] in names else match[0], parts[i])
        parts[i] = re.sub(r"(?<!`)\b((?:sinter|SINTER)_\w+(?:\.h)?)\b(?!`)", r"`\1`", parts[i])
        parts[i] = re.sub(r"(?<!`)\bNULL\b(?!`)", "`NULL`", parts[i])
    return "".join(parts)


def wrapped(text, width=120):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def anchor(heading):
    """The address of a heading within a page, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def heading_of(entry):
    return ", ".join(each.name for each in entry.declarations)


def entry_text(entry):
    lines = [f"### {heading_of(entry)}", ""]
    lines += ["```c", *(each.code for each in entry.declarations), "```", ""]
    described, _, errors = entry.text.partition("Errors: ")
    lines += [wrapped(prose(described.strip(), entry.declarations)), ""]
    seen = set()
    rows = []
    for each in entry.declarations:
        for kind, name in each.parameters:
            # Every call has it, and the page says once what it is.
            if kind == "sinter_error **" or name in seen:
                continue
            seen.add(name)
            rows.append(f"| `{name}` | `{kind}` | {use_of(kind, name, entry)} |")
    if rows:
        lines += ["| parameter | type | |", "|---|---|---|", *rows, ""]
    if errors:
        lines += [wrapped("**Errors.** " + prose(errors[0].upper() + errors[1:], entry.declarations)), ""]
    return lines


INTRODUCTION = """# Reference of the C interface

Made from [include/sinter.h](../include/sinter.h) by `tools/CReference.py`; `cmake --build build --target pages` writes it
anew. [c-api.md](c-api.md) shows how the functions work together.

**Errors.** A function that returns a `sinter_status` gives `SINTER_OK` or says through its last parameter,
`sinter_error **error`, what is wrong; that parameter may be `NULL`, and is left out of the tables below. Every such
function fails with `SINTER_USAGE` for a `NULL` that may not be one, for an object that was freed, and in a child of
`fork`; with `SINTER_SYSTEM` for lack of memory. "Errors" below lists what else a function fails with.

**Parameters.** "in" is read, "out" is written by a call that succeeds, "in, out" is an object that the call may change,
or a struct whose `struct_size` the caller sets. Functions of another result than `sinter_status` give 0 or `NULL` for
what is none.
"""


def page(text):
    found = sections(text)
    lines = [INTRODUCTION]
    for section in found:
        links = [f"[{each.name}](#{anchor(heading_of(entry))})" for entry in section.entries for each in entry.declarations]
        lines += [f"- [{section.name}](#{anchor(section.name)}): " + ",\n  ".join(links)]
    lines += [""]
    for section in found:
        lines += [f"## {section.name}", ""]
        for entry in section.entries:
            lines += entry_text(entry)
    return "\n".join(lines).rstrip() + "\n"


def main(path):
    try:
        print(page(Path(path).read_text(encoding="utf-8")), end="")
    except Unreadable as what:
        print(f"{path}: {what}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
