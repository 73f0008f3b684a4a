#!/usr/bin/env python3
"""Checks that a class, struct, union or enumeration of src/ has one definition, and that files of a folder share no name.

Two types of one name in one namespace are one type to the linker, which takes the functions of either for both. It says
nothing, and the compiler only where both are seen in one translation unit. What is in an anonymous namespace is a file's own.

But sources of one folder, and tests of one folder, are compiled several together (sinter_merge_sources), in groups that change
as files come and go. So even what is static or in an anonymous namespace has a name that no other file of the folder has:
types, aliases of different types, variables, and functions with the same types of parameters. What macros define is not seen.

    test/OneDefinition.py [ROOT]       checks ROOT/src and ROOT/test
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


def types_defined_twice(root):
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


# ---- Names that files of one folder share ----

# Where nothing is a declaration, or a bracket of one: literals, comments, attributes and the preprocessor's lines.
LITERAL = r"""R"(\w*)\([\s\S]*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'"""
NO_CODE = re.compile(LITERAL + r"|//[^\n]*|/\*[\s\S]*?\*/|^ *\#(?:\\\n|[^\n])*|\[\[\w+\]\]", re.MULTILINE)
SPECIFIERS = re.compile(r"(?:(?:static|inline|constexpr|thread_local) |alignas\(\w+\) )*")
TYPE = re.compile(r"\b(?:class|struct|union|enum|enum class) (?:alignas\(\w+\) )?(\w+)(?: final)?(?: ?:[^:].*)?$")
ALIAS = re.compile(r"using (\w+) = (.*)$")
NO_NAME = re.compile(r"(?:class|struct|union|enum|using|namespace|static_assert|extern|typedef)\b")


def end_of(text, start, brackets="()[]{}"):
    """Where the bracket at start is closed."""
    depth = 0
    for bracket in re.compile(f"[{re.escape(brackets)}]").finditer(text, start):
        depth += 1 if bracket[0] in "([{<" else -1
        if depth == 0:
            return bracket.start()
    return len(text)


def without_groups(text):
    """Without what is in brackets, those of templates as well."""
    before = None
    while before != text:
        before, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|<[^<>()]*>", "", text)
    return text


def type_of(parameter):
    """The type of a parameter, without its name and what it is by default."""
    text = re.sub(r"(?<=[\s*&.(])\w+(?=[)\[\]\w]*$)", "", parameter.split("=")[0].strip()).strip()
    return text if re.search("[*&]", text) else text.removeprefix("const ")


def types_of(parameters):
    types, start, at = [], 0, 0
    while at < len(parameters):
        if parameters[at] in "([{<":
            at = end_of(parameters, at, "()[]{}<>")
        elif parameters[at] == ",":
            types.append(type_of(parameters[start:at]))
            start = at + 1
        at += 1
    return ", ".join(types + [type_of(parameters[start:])])


def names_of(declaration, has_body):
    """(name, its kind) of what a declaration declares; the kind is "" of a type or a variable, what stands behind it of an
    alias and the types of parameters of a function. has_body: a body follows."""
    declaration = re.sub(r"\s+", " ", declaration).strip().replace("->", "")
    while declaration.startswith("template <"):
        declaration = declaration[end_of(declaration, len("template "), "()<>") + 1:].strip()
    declaration = declaration[SPECIFIERS.match(declaration).end():]
    if has_body and (defined := TYPE.match(declaration)):
        yield defined[1], ""
    elif alias := ALIAS.match(declaration):
        yield alias[1], "= " + alias[2]
    elif NO_NAME.match(declaration):
        return
    elif has_body:
        at = 0
        while at < len(declaration) and declaration[at] != "(":
            at = (end_of(declaration, at, "()<>") if declaration[at] == "<" else at) + 1
        # Without a type it is a macro; a member of a class or a namespace is declared elsewhere.
        if function := re.match(r".*[\w>*&] ?[ *&](\w+|operator\W+)$", declaration[:at]):
            yield function[1], f"({types_of(declaration[at + 1:end_of(declaration, at)])})"
    elif "=" in (text := without_groups(declaration)) or declaration.endswith("}") or "(" not in declaration:
        variables = [each.split("=")[0].strip() for each in text.split(",")]
        if re.search(r"[\w>*&] ?[ *&]\w+$", variables[0]):
            for variable in variables:
                if name := re.search(r"(?:^|[\s*&])(\w+)$", variable):
                    yield name[1], ""


def names_defined(text):
    """(namespaces, name, its kind) of what is defined outside of classes and functions."""
    text = NO_CODE.sub(lambda match: "" if match[0].lstrip()[0] in "/#[" else '""', text)
    namespaces, start, at = [], 0, 0
    while bracket := re.compile(r"[(\[{};]").search(text, at):
        at = bracket.end()
        declaration, names = text[start:bracket.start()], []
        if bracket[0] in "([":
            at = end_of(text, bracket.start()) + 1
            # A macro on lines of its own needs no semicolon.
            if re.match(r"\s*[A-Z_]+$", declaration) and re.match(r" *\n", text[at:at + 80]):
                start = at
            continue
        if bracket[0] == ";":
            names = names_of(declaration, False)
        elif bracket[0] == "}":
            namespaces[-1:] = []
        elif opened := re.match(r'\s*(?:(?:inline )?namespace ?([\w:]*)|extern "") ?$', declaration):
            namespaces.append(opened[1])
        else:
            at = end_of(text, bracket.start()) + 1
            isFunction = "(" in declaration and "=" not in re.sub(r"operator\W+", "", without_groups(declaration))
            if not isFunction and not TYPE.search(re.sub(r"\s+", " ", declaration).strip()):
                continue  # What a variable begins with.
            names = names_of(declaration, True)
        for name in names:
            yield ("::".join(filter(None, namespaces)), *name)
        start = at


# Which files of a folder are compiled together, here and below.
MERGED = (("src", ".cpp"), ("test", "Test.cpp"))


def names_shared(root):
    places = collections.defaultdict(lambda: collections.defaultdict(set))
    for top, ending in MERGED:
        for folder, _, files in os.walk(os.path.join(root, top)):
            for file in files:
                if file.endswith(ending):
                    with open(os.path.join(folder, file)) as source:
                        for namespace, name, kind in names_defined(source.read()):
                            if name != "main":
                                places[os.path.relpath(folder, root), namespace, name][kind].add(file)
    found = []
    for (folder, namespace, name), kinds in sorted(places.items()):
        functions = {name + kind: files for kind, files in kinds.items() if kind.startswith("(")}
        others = {kind: files for kind, files in kinds.items() if not kind.startswith("(")}
        # One type may have one alias twice. A function hides a type, and is no variable.
        if len(others) > 1 or "" in others or (others and functions):
            functions[name] = set().union(*others.values(), *functions.values())
        found += [f"{folder}: {'::'.join(filter(None, (namespace, each)))} is in {' and in '.join(sorted(files))}"
                  for each, files in sorted(functions.items()) if len(files) > 1]
    return found


def findings(root):
    return types_defined_twice(root) + names_shared(root)


def self_test():
    first = "namespace a {\nclass Twice {\n};\nstruct Once : Base {};\nnamespace {\nstruct Own {};\n} // namespace\n} // namespace a\n"
    second = ("namespace a {\nstruct Own;\nclass Twice final\n    : public Base {\n};\nnamespace b {\nstruct Once {};\n} // namespace b\n"
              "namespace {\nstruct Own {};\n} // namespace\n} // namespace a\n")
    # They share Case, Text, most, names, sum, twice and empty: all else is local, a member, of another type or elsewhere.
    third = r"""#include "a.h"
namespace a {
static int sum(const std::map<int, int> &of, bool all = f(1, 2)) {
  static const char text[] = "{";
  return '{';
}
static double half(double x) { return x / 2; }
namespace {
template <typename T> struct Case final : Base<T> {};
using Text = std::string;
using Same = std::vector<int>;
} // namespace
constexpr int scale = 3, most = (1 << 4), least{0};
static const char *names[] = {"a", "b"};
MACRO(m, { return 0; })

static T twice(T x) { return x + x; }
} // namespace a
int own;
static void empty() {}
"""
    fourth = r"""// struct Least {
namespace a {
namespace {
int sum(const std::map<int, int> &numbers,
        const bool all) {
  return 0;
}
float half(float x);
int half(int x) { return x / 2; }
struct Text {
  int least = 0, own;
  int half(double x) { return 0; }
};
using Same = std::vector<int>;
constexpr auto names = [](int least) { return R"(
int least = 3;
struct Other {
)"; };
} // namespace
template <typename T> class Case;
template <typename T>
class Case {};
static int most{3};
T twice(T value) { return 2 * value; }
int A::half(double x) { return 0; }
namespace own {
double scale;
int least;
} // namespace own
using Twice = C;
} // namespace a
TEST(A, B) { int least; }
int scale;
bool empty;
"""
    with tempfile.TemporaryDirectory() as root:
        for name, text in (("src/first.h", first), ("src/second.cpp", second), ("src/b/third.cpp", third), ("src/b/fourth.cpp", fourth),
                           ("test/c/ThirdTest.cpp", "int a;"), ("test/c/FourthTest.cpp", "static double a;"),
                           ("test/c/Fifth.cpp", "double a, scale;")):
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        expected = ["a::Twice is defined in src/first.h and in src/second.cpp"]
        expected += [f"src/b: {name} is in fourth.cpp and in third.cpp"
                     for name in ("empty", "a::Case", "a::Text", "a::most", "a::names", "a::sum(const std::map<int, int> &, bool)",
                                  "a::twice(T)")]
        expected += ["test/c: a is in FourthTest.cpp and in ThirdTest.cpp"]
        if findings(root) != expected:
            print("\n".join(["found"] + findings(root) + ["and not"] + expected))
            return 1
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    found = findings(root)
    print("\n".join(found) if found else "every type has one definition, and every name is one file's of its folder")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
