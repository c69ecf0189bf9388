#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Several tally at once count what each counts alone, and folders do not matter [several at once]."""
import os
import re
import shutil
import subprocess
import tempfile

from harness import LIMIT, TALLY, equal, finish, report, run

TALLY[0] = os.path.abspath(TALLY[0])
PROGRAMS = os.path.abspath("build/arm64/tests/system/programs")
AT_ONCE = 4
folder = tempfile.mkdtemp(prefix="tally")

# instructions of user and kernel mode, of programs that have no host's file to wait for
COMMANDS = [["true"], ["python3", "-c", "print(sum(range(1000)))"], ["sh", "-c", "for i in 1 2 3; do ls /; done"],
            ["dd", "if=/dev/zero", "of=/tmp/x", "bs=4k", "count=100"]]


def start(words, **how):
    return subprocess.Popen([*TALLY, "--timeout", str(LIMIT), *words], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def counts(text):
    """The values of perf stat -x, in order."""
    return [line.split(",")[0] for line in text.splitlines() if re.match(r"[0-9<].*,", line)]


def stat(words):
    return ["perf", "stat", "-x,", "-e", "instructions:u,instructions:k", "--", *words]


try:
    # Alone, one after the other; and then all of them together, several times over.
    quiet = ["sh", "-c", '"$@" > /dev/null 2>&1', "sh"]
    alone = []
    for words in COMMANDS:
        status, out, err = run(*stat(quiet + words), options=["--no-share"], stdin=None)
        alone.append(counts(err))
    report("alone: all counted", all(len(c) == 2 and c[0].isdigit() and c[1].isdigit() for c in alone), alone)
    together = [start(["--no-share", *stat(quiet + words)]) for words in COMMANDS[:AT_ONCE]]
    for words, process, expected in zip(COMMANDS, together, alone):
        out, err = process.communicate(timeout=LIMIT + 30)
        equal(f"together as alone: {words[0]}", (process.returncode, counts(err)), (0, expected))

    # In folders whose names have other lengths, through a shell, which has PWD in its environment.
    script = "for i; do perf stat -x, -e instructions:u -- $i 2>&1 >/dev/null; done"
    programs = ["./weights-dynamic alone 20", "/bin/true", "sort file", "grep 1 file", "seq 1000", "gzip -c file"]
    running = []
    for name in ("a", "a" * 37, "b/" * 20 + "ccc"):
        place = os.path.join(folder, name)
        os.makedirs(place)
        shutil.copy(os.path.join(PROGRAMS, "weights-dynamic"), place)
        with open(os.path.join(place, "file"), "w", encoding="ascii") as file:
            file.write("1\n2\n1\n")
        running.append(start(["bash", "-c", script, "bash", *programs], cwd=place))
    found = []
    for process in running:
        out, err = process.communicate(timeout=LIMIT + 30)
        found.append([line.split(",")[0] for line in out.splitlines() if ",instructions:u," in line])
        equal("in a folder: it runs", (process.returncode, err), (0, ""))
    for number, program in enumerate(programs):
        values = {tuple(f[number:number + 1]) for f in found}
        equal(f"instructions:u in three folders: {program}", (len(values), len(min(values))), (1, 1))
    report("folders: they are counts", len(found[0]) == len(programs) and all(value.isdigit() and int(value) > 1000 for value in found[0]), found)

    # At the first use, one makes what is missing, and the others wait for it.
    cache = os.path.join(folder, "cache")
    os.makedirs(os.path.join(cache, "tally"))
    usual = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tally")
    for image in os.listdir(usual):
        if image.startswith("root-") and os.path.getsize(os.path.join(usual, image)) < 10 ** 9:
            os.link(os.path.join(usual, image), os.path.join(cache, "tally", image))
    environment = dict(os.environ, XDG_CACHE_HOME=cache)
    first = [start(["--no-share", *stat(quiet + COMMANDS[0])], env=environment) for i in range(AT_ONCE)]
    results = [(p.communicate(timeout=LIMIT + 30), p.returncode) for p in first]
    equal("first use: all run, with the same counts", [(status, counts(err)) for (out, err), status in results],
          [(0, alone[0])] * AT_ONCE)
    left = sorted(os.listdir(os.path.join(cache, "tally")))
    equal("first use: the image is made once, and nothing else is left",
          [re.sub("[0-9a-f]{16}", "KEY", name) for name in left if not name.startswith("root-")],
          ["initrd-KEY.cpio", "lock"])

    # Few of them are kept, and one that is in use is not needed any more.
    running = start(["--no-share", "sh", "-c", "echo ready; sleep 1; cat /etc/hostname"], env=environment)
    running.stdout.readline()
    for number in range(9):
        name = os.path.join(cache, "tally", f"initrd-{number:016x}.cpio")
        with open(name, "w", encoding="ascii") as file:
            file.write("old\n")
        os.utime(name, (1e9 + number, 1e9 + number))
    os.remove(os.path.join(cache, "tally", left[0]))
    for number in range(9, 16):
        name = os.path.join(cache, "tally", f"initrd-{number:016x}.cpio")
        with open(name, "w", encoding="ascii") as file:
            file.write("new\n")
    with open(os.path.join(cache, "tally", "root-0000000000000000.cpio.new"), "w", encoding="ascii") as file:
        file.write("unfinished\n")
    again = start(["--no-share", "true"], env=environment)
    equal("an image that has been removed is made again", (again.communicate()[1], again.returncode), ("", 0))
    equal("who used it goes on", (running.communicate()[0], running.returncode), ("tally\n", 0))
    names = [n for n in os.listdir(os.path.join(cache, "tally")) if n.startswith("initrd")]
    equal("six initrds are kept, and the new one", len(names), 7)
    report("what was left unfinished is removed",
           not [n for n in os.listdir(os.path.join(cache, "tally")) if n.endswith(".new")], "it is there")
finally:
    shutil.rmtree(folder)

finish()
