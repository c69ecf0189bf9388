#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Starting: a progress line on a terminal, and a second start that takes no time to speak of."""
import glob
import os
import pty
import shutil
import subprocess
import tempfile
import time

from harness import TALLY, Terminal, equal, finish, matches, report, run

TALLY[0] = os.path.abspath(TALLY[0])
PROGRAMS = os.path.abspath("build/arm64/tests/system/programs")
folder = tempfile.mkdtemp(prefix="tally-start")


def on_terminal(*words):
    """Runs a command with standard error on a terminal; gives its status and what it wrote there."""
    master, slave = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                               env=dict(os.environ, TERM="xterm"))
    os.close(slave)
    text = b""
    while True:
        try:
            text += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    return process.wait(), text.decode(errors="replace")


try:
    # An image that is made, on a terminal: one line, which is gone in the end.
    root = os.path.join(folder, "root")
    os.makedirs(os.path.join(root, "bin"))
    shutil.copy(os.path.join(PROGRAMS, "weights"), os.path.join(root, "bin"))
    terminal = Terminal("--root", root, "weights", "alone", "1", env={"XDG_CACHE_HOME": folder})
    report("a line of progress", terminal.expect("\r\x1b\\[Ktally: making an image of [^\n]*: reading, 0 s"),
           repr(terminal.text))
    report("it is gone in the end", terminal.expect("^[^\n]*\r\x1b\\[K"), repr(terminal.text))
    equal("the program has run", terminal.end(), (0, True))

    # An image that a disk has lost the end of.
    for image in glob.glob(os.path.join(folder, "tally", "initrd-*")):
        os.truncate(image, 8192)
    status, _, err = run("--root", root, "weights", "alone", "1", env=dict(os.environ, XDG_CACHE_HOME=folder))
    equal("a damaged image: status", status, 125)
    matches("a damaged image: what to do", err, f"an image in {folder}/tally is damaged; remove the folder")

    # What the scripts do: the last line of a log.
    log = os.path.join(folder, "log")
    script = ". host/progress.sh; progress \"$0\" sh -c 'echo \"[1/2] half\"; sleep 1.5; exit 3'"
    status, text = on_terminal("sh", "-c", script, log)
    equal("a script's progress: status", status, 3)
    matches("a script's progress: a line", text, "^\r\x1b\\[K  0 s: .*\r\x1b\\[K  1 s: \\[1/2\\] half.*\r\x1b\\[K$")
    done = subprocess.run(["sh", "-c", script, log], capture_output=True, text=True, check=False)
    equal("a script's progress elsewhere", (done.returncode, done.stdout, done.stderr), (3, "", ""))

    # The second start, up to where QEMU is called, and all of it.
    fake = os.path.join(folder, "qemu-system-aarch64")
    with open(fake, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\ndate +%s.%N >&2\n")
    os.chmod(fake, 0o755)
    times = []
    for _ in range(3):
        begin = time.time()
        done = subprocess.run([*TALLY, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"), check=False)
        stamp = [line for line in done.stderr.splitlines() if line[:1].isdigit()]
        times.append(float(stamp[0]) - begin if stamp else 1e9)
    report("to QEMU within half a second", min(times) < 0.5, times)
    times = []
    for _ in range(3):
        begin = time.time()
        subprocess.run([*TALLY, "true"], stdin=subprocess.DEVNULL, check=True)
        times.append(time.time() - begin)
    report("all of it within three seconds, on a busy machine", min(times) < 3, times)
finally:
    shutil.rmtree(folder)

finish()
