#!/usr/bin/env python3
"""Writes the tables of measurements from bench/figures/*.json: a page for each, and the summary in bench/README.md.

    bench/figures.py                      write bench/figures/*.md and the summary
    bench/figures.py --check              write nothing; exit code 1 if a page is not what the JSON gives
    bench/figures.py --add FILE --to zen4 --table f32 [--title TEXT] [--how TEXT] [--remark TEXT]

--add puts a measurement into bench/figures/NAME.json, in place of the table of that key or behind the others, and writes
the pages. FILE is what `race.py --json` wrote, or a Markdown table (`--markdown` of open_race.py, errors.py and
matrix_floors.py). A new NAME.json starts with the name and the text that --name and --machine give.

A JSON file has a name, a text about the machine, and tables. A table has a key, a title, how it was measured, perhaps a
remark, and either the summary of race.py or columns and rows. A column whose heading starts with "ratio" is a ratio of
times or of memory, Sinter's by the other's: each gets its geometric mean and its worst, and a line of the summary.
"""
import argparse
import difflib
import glob
import json
import os
import re
import sys
import textwrap

import race

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "figures")
README = os.path.join(HERE, "README.md")
BEGIN, END = "<!-- figures.py writes this table -->", "<!-- end of figures.py -->"


def three_digits(value):
    """With three significant digits, and no more than three behind the point."""
    whole = len(str(int(abs(value))))
    return f"{value:.{max(0, 3 - whole) if abs(value) >= 1 else 3}f}"


MS, RATIO, SHARE, COSINE, WHOLE = three_digits, "{:.2f}".format, "{:.0%}".format, "{:.5f}".format, "{:.0f}".format
# What race.py's summary may have of a model: the heading, the key, and how a figure is written.
COLUMNS = [("Sinter ms", "sinter", MS), ("ONNX Runtime ms", "onnxruntime", MS), ("ratio to ONNX Runtime", "onnxruntime_ratio", RATIO),
           ("spread of ratios", "onnxruntime_ratio_spread", SHARE), ("f32 ms", "baseline", MS), ("ratio to f32", "baseline_ratio", RATIO),
           ("spread of ratios to f32", "baseline_ratio_spread", SHARE), ("build before, ms", "before", MS),
           ("ratio to the build before", "before_ratio", RATIO), ("spread of ratios to the build before", "before_ratio_spread", SHARE),
           ("spread", "sinter_spread", SHARE), ("spread (ONNX Runtime)", "onnxruntime_spread", SHARE), ("cosine", "sinter_cosine", COSINE),
           ("cosine (ONNX Runtime)", "onnxruntime_cosine", COSINE), ("load + compile ms", "sinter_start_ms", WHOLE),
           ("load ms (ONNX Runtime)", "onnxruntime_start_ms", WHOLE), ("peak MB", "sinter_rss_mb", WHOLE),
           ("peak MB (ONNX Runtime)", "onnxruntime_rss_mb", WHOLE), ("peak MB (f32)", "baseline_rss_mb", WHOLE)]


def cells_of(table):
    """(headings, rows of text) of a table; columns of which no row has a figure are left out."""
    if "summary" not in table:
        return table["columns"], table["rows"]
    there = [column for column in COLUMNS if any(row.get(column[1]) is not None for row in table["summary"])]
    rows = [[row["model"]] + [write(row[key]) if row.get(key) is not None else "-" for _, key, write in there] for row in table["summary"]]
    return ["model"] + [heading for heading, _, _ in there], rows


def is_figure(text):
    return re.fullmatch(r"[-+]?[0-9][0-9.,]*( ?[%x]|e[-+]?[0-9]+)?", text) is not None


def ratios_of(table):
    """(heading, [(ratio, the row's first cells)]) of each column of ratios."""
    headings, rows = cells_of(table)
    for place, heading in enumerate(headings):
        if heading.startswith("ratio"):
            found = [(float(row[place]), row) for row in rows if is_figure(row[place])]
            if found:
                yield heading, found


def name_of(row):
    """The model, and, where that is not all, the sizes behind it."""
    return row[0] if is_figure(row[1]) or row[1] in ("", "-") else f"{row[0]}, {row[1]}"


def by_style(found):
    """The geometric mean of each style, where the models are MODEL.STYLE of several styles; else nothing."""
    styles = {}
    for ratio, row in found:
        styles.setdefault(row[0].rpartition(".")[2] if "." in row[0] else "", []).append(ratio)
    if len(styles) == 1 or "" in styles:
        return ""
    return " By style: " + ", ".join(f"{style} {race.geometric_mean(ratios):.2f} (to {max(ratios):.2f})" for style, ratios in sorted(styles.items())) + "."


def markdown(headings, rows):
    numeric = [any(is_figure(row[place]) for row in rows) and place > 0 for place in range(len(headings))]
    lines = ["| " + " | ".join(headings) + " |", "|" + "|".join("---:" if each else "---" for each in numeric) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def paragraph(text):
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def page_of(machine):
    lines = ["<!-- bench/figures.py writes this page from the JSON file of the same name. -->", "", f"# {machine['name']}", "", paragraph(machine["machine"])]
    for table in machine["tables"]:
        lines += ["", f"## {table['title']}", "", paragraph(f"How: {table['how']}.")]
        lines += ["", paragraph(table["remark"])] if "remark" in table else []
        lines += ["", *markdown(*cells_of(table))]
        means = [f"{heading[0].upper()}{heading[1:]}: geometric mean {race.geometric_mean([each for each, _ in found]):.2f} of {len(found)} rows, "
                 f"worst {max(found)[0]:.2f} ({name_of(max(found)[1])})." + by_style(found) for heading, found in ratios_of(table)]
        for mean in means:
            lines += ["", paragraph(mean)]
    return "\n".join(lines) + "\n"


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def summary_of(machines):
    rows = []
    for name, machine in machines.items():
        for table in machine["tables"]:
            for heading, found in ratios_of(table):
                link = f"[{table['title']}](figures/{name}.md#{anchor(table['title'])})"
                rows.append([machine["name"], link, re.sub("^ratio (to )?", "", heading), str(len(found)),
                             f"{race.geometric_mean([each for each, _ in found]):.2f}", f"{max(found)[0]:.2f}", name_of(max(found)[1])])
    return markdown(["machine", "measurement", "ratio to", "rows", "geometric mean", "worst", "of"], rows)


def pages():
    """{path: what is to be in it} of all pages."""
    machines = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        with open(path, encoding="utf-8") as file:
            machines[os.path.basename(path)[:-len(".json")]] = json.load(file)
    made = {os.path.join(FOLDER, f"{name}.md"): page_of(machine) for name, machine in machines.items()}
    with open(README, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"figures.py: {README} needs the lines '{BEGIN}' and '{END}' once each")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    made[README] = "\n".join([before + BEGIN, "", *summary_of(machines), "", END]) + after
    return made


def check():
    made = pages()
    stray = set(glob.glob(os.path.join(FOLDER, "*.md"))) - set(made)
    for path in stray:
        print(f"{os.path.relpath(path)}: there is no JSON file of that name")
    failed = bool(stray)
    for path, text in made.items():
        kept = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                kept = file.read()
        if kept != text:
            failed = True
            sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), text.splitlines(True), os.path.relpath(path), "by the JSON", n=0))
    if failed:
        print("Write the pages anew: bench/figures.py")
    return failed


def read_measurement(path):
    """What a measurement adds to a table: race.py's summary, or the columns and rows of the first Markdown table."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        told = json.loads(text)
        how = f"`race.py --threads {told['threads']} --rounds {told['rounds']} --seconds {told['seconds']:g}`, {told['statistic']} of each round, {told['date']}"
        rows = [{key: round(value, 5) if isinstance(value, float) else value for key, value in row.items() if value is not None and key != "errors"}
                for row in told["summary"]]
        return {"how": how, "summary": rows}
    lines = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in text.splitlines() if line.startswith("|")]
    if len(lines) < 3:
        sys.exit(f"figures.py: there is no table in {path}")
    return {"columns": lines[0], "rows": lines[2:]}


def dump(value, indent=0):
    """JSON with a row of a table on a line."""
    def is_nested(each):
        return isinstance(each, list) and each and isinstance(each[0], (dict, list))

    space = " " * indent
    if isinstance(value, dict) and any(map(is_nested, value.values())):
        return "{\n" + ",\n".join(f"{space} {json.dumps(key)}: {dump(each, indent + 1)}" for key, each in value.items()) + f"\n{space}}}"
    if is_nested(value):
        return "[\n" + ",\n".join(f"{space} {dump(each, indent + 1)}" for each in value) + f"\n{space}]"
    return json.dumps(value, ensure_ascii=False)


def add(options):
    path = os.path.join(FOLDER, f"{options.to}.json")
    machine = {"name": options.name or options.to, "machine": options.machine or race.cpu_name(), "tables": []}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            machine = json.load(file)
    places = [place for place, table in enumerate(machine["tables"]) if table["key"] == options.table]
    kept = machine["tables"][places[0]] if places else {}
    measured = read_measurement(options.add)
    table = {"key": options.table, "title": options.title or kept.get("title", options.table)}
    table["how"] = options.how or measured.get("how") or kept.get("how", "")
    if options.remark:
        table["remark"] = options.remark
    table.update((key, measured[key]) for key in ("columns", "rows", "summary") if key in measured)
    if places:
        machine["tables"][places[0]] = table
    else:
        machine["tables"].append(table)
    with open(path, "w", encoding="utf-8") as file:
        file.write(dump(machine) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare the pages with the JSON")
    parser.add_argument("--add", metavar="FILE", help="a measurement: race.py's JSON, or a Markdown table")
    parser.add_argument("--to", metavar="NAME", help="the JSON file in bench/figures, without .json")
    parser.add_argument("--table", metavar="KEY", help="the key of the table there")
    for text in ("title", "how", "remark", "name", "machine"):
        parser.add_argument(f"--{text}", metavar="TEXT")
    options = parser.parse_args()
    if options.add and not (options.to and options.table):
        parser.error("--add needs --to and --table")
    if options.check:
        return 1 if check() else 0
    if options.add:
        add(options)
    for path, text in pages().items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
