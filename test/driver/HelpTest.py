#!/usr/bin/env python3
# Covers: driver ArgumentErrors Completion ExitCodes HelpText ManualPage OptionTable SubCommands VersionText
"""Help, manual pages, completions and --version: all of one table, and without marks of the parser."""
import os
import re
import shutil
import subprocess
import unittest

import SinterCommand
from SinterCommand import CommandTest, DONE, USAGE, main

COMMANDS = ["run", "bench", "optimize", "convert", "compile", "targets", "quantize", "evaluate", "train", "test", "compare", "inspect", "reduce"]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What CLI11 writes into its own help.
MARKS = re.compile(r"\{\*\}|\{0\}|\(\d+x\)|INT in \[|FLOAT in|NONNEGATIVE|POSITIVE|TEXT|REQUIRED|Excludes|Needs|:\{|\bUINT\b")


class Help(CommandTest):
    def help(self, command):
        done = self.sinter("help", command)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stdout

    def options(self, command):
        """The options of the help of COMMAND, by the group's title."""
        groups, title = {}, None
        for line in self.help(command).splitlines():
            if re.match(r"^[A-Z][\w ]+:$", line):
                title = line[:-1]
                groups[title] = []
            elif title and (found := re.match(r"^  ((?:-\w, )?--[\w-]+)", line)):
                groups[title].append(found[1].split()[-1])
        return groups

    def test_no_marks_of_the_parser(self):
        for command in COMMANDS:
            text = self.help(command)
            self.assertIsNone(MARKS.search(text), f"{command}: {MARKS.search(text)}")
            examples = [line for line in text.splitlines() if line.startswith("  sinter ")]
            for line in text.splitlines()[1:]:
                if line not in examples:
                    self.assertLessEqual(len(line), 80, line)

    def test_groups(self):
        """What most users need comes first, what one format needs last, and every option once."""
        for command in COMMANDS:
            groups = self.options(command)
            titles = list(groups)
            self.assertEqual(titles[0], "Usual options")
            self.assertEqual(groups[titles[0]][-1], "--help")
            if "Formats" in titles:
                self.assertEqual(titles[-1], "Formats")
            every = [name for names in groups.values() for name in names]
            self.assertEqual(len(every), len(set(every)), command)
        self.assertIn("--params", self.options("run")["Formats"])
        self.assertEqual(self.options("run")["Usual options"][:2], ["--input", "--output-dir"])

    def test_forms_of_values(self):
        text = " ".join(self.help("run").split())
        for form in ("-i, --input [NAME=]FILE", "-o, --output-dir DIR", "-t, --threads N", "-n, --repeat N", "--backend cpu|interpreter",
                     "--dynamic[=NAME,...]", "--random-parameters[=SEED]", "--verify-numerics[=each|passes]", "-h, --help"):
            self.assertIn(form.replace("each|passes", ""), text.replace("passes|each", "").replace("each|passes", ""))
        self.assertIn("(default: f32)", text)
        self.assertIn("needs --replicas", text)
        self.assertIn("not with --dynamic", text)

    def test_former_names_are_hidden(self):
        text = self.help("quantize")
        self.assertIn("--cpu CPU", text)
        self.assertIn("--html FILE", text)
        self.assertIsNone(re.search(r"--for\b", text))
        self.assertNotIn("--report", text)

    def test_short_forms(self):
        model = self.good_model()
        done = self.sinter("run", model, "-i", "random", "-o", self.path("out"), "-n", "2", "-t", "1", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertTrue(os.path.exists(self.path("out/y.npy")))
        done = self.sinter("optimize", model, "-o", self.path("o.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_threads_0_is_all_processors_everywhere(self):
        model = self.good_model()
        for command in (["run", model, "--input", "random"], ["bench", model, "--seconds", "0.01"], ["compare", model], ["inspect", model]):
            done = self.sinter(*command, "--threads", "0")
            self.assertEqual(done.returncode, DONE, done.stderr)
        for command in COMMANDS:
            text = " ".join(self.help(command).split())
            if "--threads" in text:
                self.assertIn("(default: 0, one for each processor)", text)

    def test_wraps_to_the_terminal(self):
        """On a terminal help is as wide as that, within limits."""
        import fcntl, pty, struct, termios
        for columns, most in ((70, 70), (300, 100), (20, 60)):
            parent, child = pty.openpty()
            fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            process = subprocess.Popen([SinterCommand.SINTER, "help", "convert"], stdout=child, stderr=child)
            os.close(child)
            text = b""
            try:
                while chunk := os.read(parent, 4096):
                    text += chunk
            except OSError:
                pass
            os.close(parent)
            self.assertEqual(process.wait(), DONE)
            lines = [line.rstrip("\r") for line in text.decode().split("\n") if not line.startswith("  sinter")]
            self.assertLessEqual(max(map(len, lines)), most)
            self.assertGreater(max(map(len, lines)), most - 16)


class Version(CommandTest):
    def test_version(self):
        done = self.sinter("--version", XDG_CACHE_HOME="/somewhere")
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^sinter \d+\.\d+\.\d+$")
        facts = {line.split()[0]: line.split(None, 1)[1] for line in lines[1:]}
        self.assertEqual(list(facts), ["commit", "LLVM", "CPU", "features", "cache"])
        self.assertRegex(facts["LLVM"], r"^19\.\d+\.\d+$")
        self.assertRegex(facts["CPU"], r"\((x86_64|aarch64)\), \d+ processors?$")
        self.assertEqual(facts["cache"], "/somewhere/sinter")
        if os.path.exists(os.path.join(ROOT, ".git")) and shutil.which("git"):
            self.assertRegex(facts["commit"], r"^[0-9a-f]{12,}(-dirty)?$")
        self.assertEqual(self.sinter("--version", XDG_CACHE_HOME="", HOME="").stdout.splitlines()[-1].split(None, 1)[1], "none: HOME is not set")


class Pages(CommandTest):
    def setUp(self):
        super().setUp()
        done = self.sinter("help", "--write", self.path("share"))
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_manual_pages(self):
        """A page for each command, with every option of its help, that roff takes without a warning."""
        folder = self.path("share/man/man1")
        self.assertEqual(sorted(os.listdir(folder)), sorted(["sinter.1"] + [f"sinter-{name}.1" for name in COMMANDS]))
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                text = file.read()
            for section in ("NAME", "SYNOPSIS", "OPTIONS", '"EXIT STATUS"', "ENVIRONMENT", '"SEE ALSO"'):
                self.assertIn(f".SH {section}\n", text)
            # Pages are the same wherever they are made.
            self.assertNotIn(os.path.expanduser("~") + "/", text)
            if name != "sinter.1":
                listed = set(re.findall(r"--[a-z][\w-]+", self.sinter("help", name[7:-2]).stdout))
                self.assertLessEqual(listed, set(re.findall(r"--[a-z][\w-]+", text.replace("\\-", "-"))))
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", os.path.join(folder, name)], capture_output=True, text=True)
                self.assertEqual(done.stderr, "")
                self.assertIn("EXIT STATUS", re.sub(r"\x1b\[\d+m|.\x08", "", done.stdout))

    def bash(self, *words):
        """What bash offers to complete the last of WORDS."""
        script = f"""source {self.path('share/bash-completion/completions/sinter')}
compopt() {{ :; }}
COMP_WORDS=({' '.join("'" + word + "'" for word in words)}); COMP_CWORD={len(words) - 1}
_sinter
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("sinter", "qu"), ["quantize"])
        self.assertEqual(set(self.bash("sinter", "")) & {"run", "help", "completion", "--version"}, {"run", "help", "completion", "--version"})
        self.assertEqual(self.bash("sinter", "run", "--back"), ["--backend"])
        self.assertEqual(self.bash("sinter", "run", "--backend", ""), ["cpu", "interpreter"])
        self.assertEqual(self.bash("sinter", "run", "--backend", "=", "i"), ["interpreter"])
        self.assertEqual(self.bash("sinter", "run", "--precision", "="), ["f32-exact", "f32", "bf16"])
        self.assertEqual(set(self.bash("sinter", "run", "--verify-numerics", "=")), {"passes", "each"})
        self.assertEqual(self.bash("sinter", "run", "--threads", ""), [])
        self.assertEqual(self.bash("sinter", "help", "ins"), ["inspect"])
        self.assertEqual(self.bash("sinter", "completion", ""), ["bash", "zsh"])
        self.write("net.onnx", "")
        os.mkdir(self.path("networks"))
        self.assertEqual(set(self.bash("sinter", "run", "net")), {"net.onnx", "networks"})
        self.assertEqual(self.bash("sinter", "run", "net.onnx", "--input", "x", "=", "net.o"), ["net.onnx"])
        # What takes no value is followed by anything.
        self.assertEqual(self.bash("sinter", "run", "--static", "net.o"), ["net.onnx"])
        # Former names are not offered.
        self.assertEqual(self.bash("sinter", "quantize", "--rep"), [])
        for command in COMMANDS:
            offered = set(self.bash("sinter", command, "--"))
            self.assertEqual(offered, set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", self.sinter("help", command).stdout, re.M)))

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh(self):
        """zsh parses the script and takes the arguments of each command."""
        path = self.path("share/zsh/vendor-completions/_sinter")
        done = subprocess.run(["zsh", "-n", path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # A terminal of its own, in which completion runs as it does for a user.
        script = f"""
zmodload zsh/zpty
zpty shell zsh -f -i
ask() {{ zpty -w shell "$1"; }}
ask 'PROMPT=; RPROMPT=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=({self.path('share/zsh/vendor-completions')} $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=1000; echo re''ady'
while zpty -r shell line; do [[ $line == *ready* ]] && break; done
zpty -w -n shell $'echo sinter >/dev/null; sinter quan\\t'
sleep 1
zpty -w -n shell $' --pro\\t\\t'
sleep 1
while zpty -r -t shell line; do print -r -- "$line"; done
zpty -d shell
"""
        done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, errors="replace", timeout=60)
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.stdout)
        self.assertIn("quantize", shown)
        self.assertIn("--profile", shown)

    def test_completion_as_a_command(self):
        for shell, file in (("bash", "bash-completion/completions/sinter"), ("zsh", "zsh/vendor-completions/_sinter")):
            with open(self.path("share/" + file)) as made:
                self.assertEqual(self.sinter("completion", shell).stdout, made.read())
        self.expect_error(USAGE, "completion", mentions=["bash or zsh"])
        self.expect_error(USAGE, "completion", "fish", mentions=["bash or zsh"])


if __name__ == "__main__":
    main()
