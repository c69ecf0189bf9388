#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tally CMD behaves as CMD would here: words, environment, descriptors, and how it ended."""
import os
import signal
import subprocess
import tempfile
import time

import harness
from harness import TALLY, equal, matches, report, run

# How a command ends.
equal("exit-status", run("sh", "-c", "exit 42")[0], 42)
equal("signal-death", run("sh", "-c", "kill -SEGV $$")[0], -signal.SIGSEGV)
status, out, err = run("no-such-command")
equal("not-found-status", status, 127)
equal("not-found-message", err, "tally: no-such-command: command not found\n")
status, out, err = run("/etc/passwd")
equal("not-executable-status", status, 126)
matches("not-executable-message", err, "/etc/passwd: .*ermission denied")

# Words, environment, folder.
status, out, err = run("printf", "<%s>", "", "a b", "*", "$HOME", "--smp")
equal("words", out, b"<><a b><*><$HOME><--smp>")
status, out, err = run("env", options=["--env", "COLOUR=red = blue"])
equal("environment", sorted(out.decode().split("\n")),
      ["", "COLOUR=red = blue", "HOME=/root", "LANG=C.UTF-8",
       "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=dumb"])
equal("current-folder", run("pwd")[1].decode().rstrip("\n"), os.getcwd())

# Descriptors.
data = os.urandom(1 << 20)
equal("input-and-output", run("cat", stdin=data)[1] == data, True)
status, out, err = run("sh", "-c", "echo to-out; echo to-err >&2; cat", stdin=b"")
equal("output", out, b"to-out\n")
equal("error-output", err, "to-err\n")
equal("input-line-by-line", run("sh", "-c", "read a; read b; echo $b-$a", stdin=b"1\n2\n")[1], b"2-1\n")
equal("no-input", run("wc", "-c", stdin=None)[1], b"0\n")
both = subprocess.run([*TALLY, "sh", "-c", "echo 1; echo 2 >&2; echo 3; echo 4 >&2"],
                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
equal("output-and-error-in-order", both.stdout, b"1\n2\n3\n4\n")
reader = subprocess.Popen([*TALLY, "--timeout", "100", "yes"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE)
reader.stdout.readline()
reader.stdout.close()
equal("reader-gone", reader.wait(), -signal.SIGPIPE)


def looping(script):
    """A command that says "ready", and then runs for ever."""
    process = subprocess.Popen([*TALLY, "--timeout", str(harness.LIMIT), "sh", "-c",
                                f"{script}; echo ready; while :; do :; done"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    if process.stdout.readline() != b"ready\n":
        report(script, False, "it has not begun")
    return process


# Signals for tally are signals for the command.
process = looping("trap 'echo caught; exit 7' INT")
process.send_signal(signal.SIGINT)
equal("signal-caught", (process.stdout.read(), process.wait()), (b"caught\n", 7))

# What the host does by itself, whatever kernel there is.
if harness.KERNEL == "tally":
    process = looping("trap 'sleep 1; echo caught; exit 7' TERM")
    process.terminate()
    equal("SIGTERM-caught", (process.stdout.read(), process.wait()), (b"caught\n", 7))
    process = looping("trap '' INT")
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    equal("signal-twice-ends-the-guest", process.wait(), -signal.SIGINT)
    for number in (signal.SIGTERM, signal.SIGHUP):
        process = looping(f"trap '' {number.name[3:]}")
        process.send_signal(number)
        begin = time.monotonic()
        equal(f"{number.name}-ends-a-guest-that-hangs", process.wait(), -number)
        seconds = time.monotonic() - begin
        report(f"{number.name}-gives-three-seconds", 2.5 < seconds < 60, f"{seconds:.1f} s")
    early = subprocess.Popen([*TALLY, "sleep", "1000000"], stdin=subprocess.DEVNULL)
    time.sleep(0.2)
    early.terminate()
    equal("signal-before-start", early.wait(), -signal.SIGTERM)
    equal("timeout", run("sh", "-c", "while :; do :; done", options=["--timeout", "8"])[0], 124)

    # The image is whole.
    equal("no-dangling-links", run("find", "/", "-xdev", "-xtype", "l")[1], b"")
    binutils = ("addr2line", "nm", "objdump", "readelf")
    status, out, err = run("sh", "-c", "for i; do $i --version | head -n 1; done", "sh", *binutils)
    equal("binutils", [line.split()[1] for line in out.decode().splitlines()], list(binutils))

# Files.
with tempfile.TemporaryDirectory() as folder:
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\ncat \"$@\"\npwd\n")
    with open(os.path.join(folder, "data"), "w", encoding="ascii") as file:
        file.write("text\n")
    os.chmod(script, 0o755)
    harness.TALLY[0] = os.path.abspath(TALLY[0])
    equal("files-go-along", run("./script", "./data", cwd=folder)[1].decode(),
          f"text\n{os.path.realpath(folder)}\n")
    equal("copy-to", run("cat", "/srv/deep/er", options=["--copy", f"{folder}/data:/srv/deep/er"])[1],
          b"text\n")
    equal("copy-folder", run("cat", "/srv/x/data", options=["--copy", f"{folder}:/srv/x"])[1],
          b"text\n")
    equal("nothing-left", sorted(os.listdir(folder)), ["data", "script"])
harness.finish()
