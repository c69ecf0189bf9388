#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Help, the manual page and the completions have the same options: each has all, and no others."""
import re
import shutil
import subprocess

from harness import TALLY, equal, finish, report, skip

OWN = ("budget", "doctor", "export", "flamegraph")
PAGE = "docs/tally.1"


def text_of(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          check=False).stdout


def options_of_help(*words):
    """The options that begin a line of a help text: long ones, and short ones."""
    found = set()
    for line in text_of(TALLY[0], *words, "--help").splitlines():
        item = re.match(r" +(?:(-\w), +)?(--[\w-]+)", line)
        found |= set(filter(None, item.groups())) if item else set()
    return found


def options_of_page(text):
    """Those that have an item, as `.It Fl i , -input Ar file`."""
    found = set()
    for line in re.findall(r"^\.It Fl (.*)", text, re.M):
        for word in line.split():
            if word in ("Ar", "Ns", "Cm", "|"):
                break
            if word not in (",", "Fl"):
                found.add("-" + word)
    return found


def options_of_bash(*words):
    script = (". host/completion/tally.bash; COMP_WORDS=(tally \"$@\" -); COMP_CWORD=$(($# + 1)); "
              "_tally; printf '%s\\n' \"${COMPREPLY[@]}\"")
    return set(text_of("bash", "-c", script, "bash", *words).split())


with open(PAGE, encoding="utf-8") as file:
    page = file.read()
with open("host/completion/_tally", encoding="utf-8") as file:
    zsh = file.read()
general, own = page.split(".Ss Commands of its own")
sections = dict(re.findall(r"^\.It Cm (\w+)\n(.*?)(?=^\.It Cm \w+\n|^\.Sh )", own, re.M | re.S))

equal("tally's own commands: page", sorted(sections), sorted(OWN))
equal("tally's own commands: help", sorted(re.findall(r"^  (\w+)  +\w", text_of(TALLY[0], "--help"), re.M)),
      sorted(OWN))
for name in OWN:
    report(f"{name} is in the completion of zsh", f"\t{name})" in zsh, "zsh")

of_help = options_of_help()
report("help has options", len(of_help) > 10, of_help)
equal("page: general options", options_of_page(general), of_help)
equal("bash: general options", options_of_bash(), of_help)

of_pictures = options_of_help("export") | options_of_help("flamegraph")
equal("page: options of budget", options_of_page(sections["budget"]), options_of_help("budget"))
equal("page: options of export and flamegraph",
      options_of_page(sections["export"] + sections["flamegraph"]), of_pictures)
for name in OWN:
    equal(f"bash: options of {name}", options_of_bash(name) - {"--help"}, options_of_help(name))
of_all = of_help | of_pictures | options_of_help("budget")
specs = re.findall(r"'(?:\([^)]*\)|\*)?(--[\w-]+)=?\[|\{(-\w),(--[\w-]+)\}", zsh)
equal("zsh: options", {word for spec in specs for word in spec if word}, of_all)

# The page is well formed, and says nothing of what is not there.
if shutil.which("mandoc"):
    equal("mandoc has nothing to say", text_of("mandoc", "-T", "lint", "-W", "warning", PAGE), "")
elif shutil.which("groff"):
    done = subprocess.run(["groff", "-ww", "-mdoc", "-Tutf8", PAGE], capture_output=True, text=True, check=False)
    equal("groff has nothing to say", (done.returncode, done.stderr), (0, ""))
else:
    skip("the page's form", "neither mandoc nor groff is here")
finish()
