# SPDX-License-Identifier: BSD-2-Clause
"""What system tests share: running tally, with pipes or on a terminal, and reporting.

A system test is a program tests/system/*.py (this file excepted). It is called with the
folder of the project as its current folder and two variables: TALLY, the command with the option
that selects the kernel, and KERNEL, which is tally or linux. For each thing it tests it prints
one line, "ok NAME", "not ok NAME: WHY" or "skip NAME: WHY"; ./check counts these.
"""
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
import fcntl

TALLY = os.environ.get("TALLY", "build/host/host/tally").split()
TALLY[0] = os.path.abspath(TALLY[0])  # tests may go elsewhere
KERNEL = os.environ.get("KERNEL", "tally")
LIMIT = int(os.environ.get("LIMIT", "120"))  # seconds for one run of the guest

failed = 0


def report(name, good, why=""):
    """One result."""
    global failed
    failed += not good
    print(f"ok {name}" if good else f"not ok {name}: {' '.join(str(why).split())}", flush=True)


def skip(name, why):
    print(f"skip {name}: {why}", flush=True)


def equal(name, got, want):
    report(name, got == want, f"{got!r} instead of {want!r}")


def matches(name, text, pattern):
    report(name, re.search(pattern, text, re.S) is not None, f"{text!r} has no {pattern!r}")


def run(*words, stdin=b"", options=(), env=None, cwd=None):
    """Runs tally to its end; gives its status (negative: signal), standard output and error."""
    process = subprocess.Popen([*TALLY, "--timeout", str(LIMIT), *options, *words],
                               stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd)
    out, err = process.communicate(stdin, timeout=LIMIT + 30)
    return process.returncode, out, err.decode(errors="replace")


def finish():
    sys.exit(1 if failed else 0)


class Terminal:
    """tally on a terminal of its own, for typing into and reading from."""

    def __init__(self, *words, rows=30, columns=100, env=None, output=None):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.master, self.slave, self.text = master, slave, ""
        environment = dict(os.environ, TERM="xterm", **(env or {}))
        self.process = subprocess.Popen([*TALLY, "--timeout", str(LIMIT), *words],
                                        stdin=slave, stdout=output or slave, stderr=slave,
                                        env=environment,
                                        preexec_fn=self._take_terminal)

    def _take_terminal(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern, seconds=LIMIT):
        """Reads until the pattern has come; gives the match, and forgets all up to it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.text, re.S)
            if found:
                self.text = self.text[found.end():]
                return found
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    break
            elif self.process.poll() is not None:
                break
        return None

    def end(self, seconds=LIMIT):
        """Waits for the end; gives the status, and whether the terminal is as it was."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self.expect("\0never\0", 0.1)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            return None, False
        same = termios.tcgetattr(self.slave) == self.before
        os.close(self.slave)
        os.close(self.master)
        return self.process.returncode, same
