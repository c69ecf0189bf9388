#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tally budget, as a developer and a CI job use it: recorded once, compared ever after."""
import os
import re
import signal
import subprocess
import tempfile

from harness import TALLY, Terminal, equal, finish, matches, report, run, skip

try:
    import yaml
except ImportError:
    yaml = None

PROJECT = os.getcwd()


def program(name, instructions):
    """An arm64 program that executes so many instructions, three of which end it."""
    text = f".globl _start\n_start:\n.rept {instructions - 3}\nnop\n.endr\nmov x0, #0\nmov x8, #93\nsvc #0\n"
    subprocess.run(["aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-x", "assembler", "-", "-o", name],
                   input=text.encode(), check=True)


def budget(*words, stdin=None, options=()):
    return run("budget", *words, stdin=stdin, options=options)


def text_of(path="b.txt"):
    with open(path, encoding="utf-8") as file:
        return file.read()


def replace(old, new):
    text = text_of()
    assert old in text
    with open("b.txt", "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
program("grows", 1000)

# Record, and compare.
got = budget("b.txt", "--", "./grows")
equal("no-file (BUDGET-CLI)", (got[0], got[2]), (2, "tally: there is no b.txt; to record the counts, use --update\n"))
got = budget("--update", "b.txt", "--", "./grows")
equal("record", (got[0], got[1]), (0, b""))
matches("recorded", text_of(), r"^#.*\nformat = 1\n\n\[grows\]\ncommand = \./grows\ncount instructions:u = 1000\n$")
got = budget("b.txt", "--", "./grows")
equal("unchanged", (got[0], got[2]), (0, "tally: grows: instructions:u 1000, as recorded\n"))

# One instruction more, one less, and a tolerance.
program("grows", 1001)
got = budget("b.txt")
equal("one-more-status", got[0], 100)
matches("one-more-difference", got[2], r"grows: counts have changed \(b.txt, line 4; tolerance 0%\)\n.*recorded.*now.*\n"
        r"  instructions:u +1,000 +1,001 +\+1 +\+0.1%\n.*tally budget --update b.txt")
matches("compare-keeps-the-file", text_of(), r"= 1000\n")
replace("\ncount", "\ntolerance = 0.1%\ncount")
got = budget("b.txt")
equal("tolerated-status", got[0], 0)
matches("tolerated-difference", got[2], r"changed a little .*\+1 ")
program("grows", 998)
equal("less-than-tolerated", budget("b.txt")[0], 100)
os.chmod("b.txt", 0o640)
replace("# ", "# Mine. ")
got = budget("-u", "b.txt")
equal("update", (got[0], got[2]), (0, "tally: grows: instructions:u 998, before 1000\n"))
report("update-keeps-the-rest", "# Mine. " in text_of() and "tolerance = 0.1%\n" in text_of() and
       os.stat("b.txt").st_mode & 0o777 == 0o640, text_of())

# Where it runs makes no difference to the program: folder, terminal, environment.
with open("numbers.txt", "w", encoding="utf-8") as numbers:
    numbers.write("".join(f"{i * 7919 % 1000}\n" for i in range(500)))
got = budget("-u", "b.txt", "-e", "instructions:u,page-faults", "-n", "sort", "--", "sh", "-c", "pwd >&2; sort -n numbers.txt")
count = re.search(r"\[sort\](?s:.)*count instructions:u = (\d+)", text_of()).group(1)
equal("standard-output", (got[0], got[1].split()), (0, [str(i).encode() for i in sorted(i * 7919 % 1000 for i in range(500))]))
os.makedirs("another/folder/with a name")
for name in ("b.txt", "numbers.txt"):
    os.link(name, f"another/folder/with a name/{name}")
got = run("budget", "b.txt", "sort", cwd="another/folder/with a name", stdin=None, env=dict(os.environ, TERM="xterm-256color", PWD="/x"))
matches("another-folder (BUDGET-EXACT)", got[2], f"sort: instructions:u {count}, as recorded")
terminal = Terminal("budget", "b.txt", "sort")
report("on-a-terminal (BUDGET-EXACT)", terminal.expect(f"sort: instructions:u {count}, as recorded"), terminal.text)
terminal.end()

os.chdir("another/folder")
equal("outside-the-folder", budget("-u", "b.txt", "-n", "outside", "--", "../../grows")[0], 0)
got = budget("-u", "b.txt", "-n", "absolute", "--", os.path.abspath("../../grows"))
equal("an-absolute-path", got[0], 0)
os.remove("b.txt")
os.chdir(folder.name)

# Failures are the command's own, and change nothing.
before = text_of()
got = budget("-u", "-n", "fails", "b.txt", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
equal("failure", (got[0], got[1]), (3, b"out\n"))
matches("failure-errors", got[2], "^err\ntally: fails: the command has failed with status 3, so nothing is recorded\n")
got = budget("-u", "-n", "dies", "b.txt", "--", "sh", "-c", "kill -SEGV $$")
equal("a-signal", got[0], 128 + 11)
matches("a-signal-is-told", got[2], r"dies: signal 11 \(Segmentation fault\) has ended the command")
got = budget("-u", "-n", "none", "b.txt", "--", "./not-there")
report("no-command", got[0] not in (0, 100) and "No such file" in got[2], got)
got = budget("-u", "-e", "nonsense", "-n", "none", "b.txt", "--", "true")
report("no-event", got[0] not in (0, 100) and "nonsense" in got[2], got)
equal("a command that is not there", budget("-u", "b.txt", "--", "./nothing")[0], 127)
equal("an event that does not exist", budget("-u", "b.txt", "-e", "nonsense", "--", "./grows")[0], 2)
equal("failures-keep-the-file", text_of(), before)

# Input is a file's, output is binary, options are kept.
with open("bytes", "wb") as data:
    data.write(bytes(range(256)) * 300)
got = budget("-u", "-n", "cat", "-i", "bytes", "b.txt", "--", "cat", stdin=b"not this",
             options=["--smp", "2", "--env=GREETING=hello you"])
equal("input-and-binary-output", (got[0], got[1]), (0, bytes(range(256)) * 300))
matches("kept-options", text_of(), r"\[cat\]\ncommand = cat\noptions = --smp=2 '--env=GREETING=hello you'\ninput = bytes\n")
got = budget("b.txt", "cat")
matches("again-with-options", got[2], "cat: instructions:u [0-9]+, as recorded")
got = budget("b.txt", "-n", "cat", "--", "cat")
report("other-options-are-told", got[0] == 2 and "[cat] has the options '--smp=2" in got[2], got)
got = budget("b.txt", "--", "./grows", "now", "otherwise")
report("another-command-is-told", got[0] == 2 and "has the command './grows', and not './grows now otherwise'" in got[2], got)

# All of them; the worst status is the whole's.
replace("[cat]\ncommand = cat", "[cat]\ncommand = sh -c 'cat >&2; exit 7'")
replace("= 998", "= 900")
got = budget("b.txt")
equal("all-of-a-file", got[0], 7)
matches("all-are-run", got[2], r"grows: counts have changed.*sort: instructions:u.*cat: the command has failed with status 7")

# What is wrong with a file, and with words.
before = text_of()
replace("options = --smp=2", "options = --bogus")
got = budget("b.txt", "cat")
equal("broken-options", (got[0], got[2]), (2, "tally: [cat]: there is no option --bogus; see tally --help\n"))
with open("b.txt", "w", encoding="utf-8") as file:
    file.write(before.replace("input = bytes", "input = gone"))
got = budget("b.txt", "cat")
equal("no-input", (got[0], got[2]), (125, "tally: [cat]: cannot read the input gone: No such file or directory\n"))
replace("input = gone", "input = /dev/zero")
equal("no-file-as-input", budget("b.txt", "cat")[2], "tally: [cat]: the input /dev/zero is no regular file\n")
replace("count page-faults", "count page-faults\ncount")
got = budget("b.txt")
report("broken-file", got[0] == 2 and re.fullmatch(r"tally: b.txt, line \d+: .* is neither .*\n", got[2]), got)
for name, words, sentence in (("no-file-named", [], "budget needs the name of its file"),
                              ("bad-tolerance", ["-t", "much", "b.txt", "--", "true"], "--tolerance takes a percentage"),
                              ("no-words", ["b.txt", "--"], "there is no command after --"),
                              ("bad-option", ["--bogus", "b.txt"], "budget has no option --bogus"),
                              ("options-without-command", ["-e", "cycles", "b.txt"], "go with a command")):
    got = budget(*words)
    report(name, got[0] == 2 and sentence in got[2], got)
equal("help", budget("--help")[0], 0)

got = budget("-u", "nowhere/b.txt", "--", "sh", "-c", "echo begun")
equal("told-before-recording", got, (125, b"", "tally: cannot write nowhere/b.txt: No such file or directory\n"))

# A file that comes through a pipe, with bytes that are no UTF-8. It can be compared.
piped = b"format = 1\n# \xff\n[grows]\ncommand = ./grows\ncount instructions:u = 998\n"
got = budget("/dev/stdin", stdin=piped)
equal("through-a-pipe", (got[0], got[2]), (0, "tally: grows: instructions:u 998, as recorded\n"))
got = budget("-u", "/dev/stdin", stdin=piped)
equal("pipes-are-not-updated", (got[0], got[2]), (2, "tally: /dev/stdin is no file that can be written anew\n"))
equal("endless-file", budget("/dev/zero")[0], 2)

# Two at once, in one file: both are there.
both = [subprocess.Popen([*TALLY, "budget", "-u", "both.txt", "-n", name, "--", "./grows"], stderr=subprocess.DEVNULL)
        for name in ("one", "two")]
equal("two-at-once", [process.wait() for process in both], [0, 0])
equal("two-at-once-file", sorted(re.findall(r"^\[(.*)\]$", text_of("both.txt"), re.M)), ["one", "two"])
os.remove("both.txt")

# Ctrl-C, and a command that takes it well: its counts are of half its work, and are not recorded.
script = "trap 'exit 0' INT; echo begun; while :; do :; done"
process = subprocess.Popen([*TALLY, "budget", "-u", "half.txt", "--", "sh", "-c", script], start_new_session=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
equal("interrupted-began", process.stdout.readline(), b"begun\n")
os.killpg(process.pid, signal.SIGINT)
equal("interrupted", (process.wait(), os.path.exists("half.txt")), (-signal.SIGINT, False))

# The examples of docs/ci: YAML, and the shell's lines in it.
for name in ("github", "gitlab"):
    example = f"{PROJECT}/docs/ci/{name}.yml"
    with open(example, encoding="utf-8") as file:
        text = file.read()
    lines = re.findall(r"^\s+(?:run: |- )((?:apt-get|make|tools/|if ).*)$|^          (apt-get.*)$", text, re.M)
    lines = [a or b for a, b in lines]
    checked = subprocess.run(["sh", "-n", "-c", "\n".join(lines)], capture_output=True, check=False)
    report(f"{name}-example-shell", len(lines) >= 4 and checked.returncode == 0 and "\t" not in text, (lines, checked.stderr))
    if yaml:
        jobs = yaml.safe_load(text)
        report(f"{name}-example-yaml", "budget" in jobs.get("jobs", jobs), jobs)
    else:
        skip(f"{name}-example-yaml", "there is no YAML reader here (Debian package python3-yaml)")

# The name is taken, but not from the guest.
got = run("--", "budget", stdin=None)
report("a-guest's-program (SUB-GUEST)", got[0] == 127 and "budget: command not found" in got[2], got)
equal("nothing-is-left", sorted(os.listdir(".")), ["another", "b.txt", "bytes", "grows", "numbers.txt"])
os.chdir("/")
finish()
