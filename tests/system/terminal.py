#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tally on a terminal: an interactive shell with line editing, job control, keys and sizes."""
import signal
import subprocess
import time

import harness
from harness import Terminal, equal, report

shell = Terminal("bash", "--norc", env={"LANG": "C"})
report("prompt", shell.expect(r"bash-5.*?# "), shell.text)
shell.type("echo $((6*7))-$TERM\r")
report("a-line", shell.expect("42-xterm"), shell.text)
shell.type("stty size; tty\r")
report("size", shell.expect("30 100"), shell.text)
report("tty-name", shell.expect("/dev/hvc0"), shell.text)
shell.resize(41, 132)
shell.type("sleep 0.1; stty size\r")
report("new-size", shell.expect("41 132"), shell.text)
shell.type("echo loo''ping; while :; do :; done\r")
report("loop-runs", shell.expect("looping"), shell.text)
time.sleep(0.5)
shell.type("\x03")
report("control-c", shell.expect("# "), shell.text)
shell.type("echo after=$?\r")
report("control-c-status", shell.expect("after=130"), shell.text)
shell.type("echo st''arts; cat\r")
report("cat-starts", shell.expect("starts"), shell.text)
time.sleep(0.5)
shell.type("said\r")
report("cat-runs", shell.expect("said\r\nsaid\r\n"), shell.text)
shell.type("\x1a")
report("control-z", shell.expect("Stopped"), shell.text)
shell.type("kill %1; wait; echo go''ne\r")
report("job-control", shell.expect("gone"), shell.text)
shell.type("ech\x08\x08\x08echo edi\tted\x7f\x7f\x7fted\r")
report("line-editing", shell.expect("\redited\r\n.*# "), shell.text)
shell.type("\x04")
status, same = shell.end()
equal("end-of-input", status, 0)
report("terminal-as-before", same, "its settings differ")

# The terminal is also put back when the guest is ended from outside.
cat = Terminal("sh", "-c", "echo ready; exec cat")
report("cat-ready", cat.expect("ready"), cat.text)
cat.type("\x1d\x1d\x1d")
status, same = cat.end()
equal("escape-key-status", status, 125)
report("escape-key-terminal", same, "its settings differ")

# Where standard output is no terminal the keys are not the guest's: they mean what they mean to
# any command in a pipeline.
piped = Terminal("sh", "-c", "test -t 0 || echo no-tty; cat; exit 3", output=subprocess.PIPE)
equal("piped-input", piped.process.stdout.readline(), b"no-tty\n")
piped.type("line\r")
equal("piped-line", piped.process.stdout.readline(), b"line\n")
piped.type("\x04")
equal("piped-end-of-file", piped.end(), (3, True))
piped = Terminal("sh", "-c", "echo ready; while :; do :; done", output=subprocess.PIPE)
equal("piped-ready", piped.process.stdout.readline(), b"ready\n")
piped.type("\x03")
equal("piped-control-c", piped.end(), (-signal.SIGINT, True))
harness.finish()
