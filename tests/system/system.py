# SPDX-License-Identifier: BSD-2-Clause
"""What the system tests share: running ./tally as a person would, and telling the outcome.

A test file is a program:

    from system import *

    @test("CTL-EXEC")
    def exit_status_is_the_commands(t):
        r = t.tally("sh", "-c", "exit 7")
        t.equal(r.status, 7)

    main()

It prints the same lines as a conformance test (`ok FILE.TEST (ROWS)`, `not ok ...: why`,
`skip ...: why`) and ends with status 0 when none failed. `FILE NAME` runs only the tests whose
name contains NAME. Every run of tally has a time limit.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TALLY = os.path.join(ROOT, "tally")
PROGRAMS = os.path.join(ROOT, "build", "arm64", "tests", "conformance")
TIME_LIMIT = 180  # seconds for one run of tally

_tests = []


class Failure(Exception):
    pass


class Skip(Exception):
    pass


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return "status %s, out %r, err %r" % (self.status, self.out[-600:], self.err[-600:])


class Tools:
    """What a test is given. Checks raise Failure with words that say what was wrong."""

    def tally(self, *command, options=(), kernel=None, stdin=b"", env=None, cwd=None, text=True):
        """Runs ./tally OPTIONS COMMAND; stdin is bytes, or None for none at all."""
        args = [TALLY, *options]
        if kernel:
            args.append("--kernel=" + kernel)
        try:
            p = subprocess.run(args + list(command), input=stdin, capture_output=True, cwd=cwd,
                               timeout=TIME_LIMIT, env=dict(os.environ, **(env or {})))
        except subprocess.TimeoutExpired:
            raise Failure("no end within %d s: %s" % (TIME_LIMIT, " ".join(command)))
        out, err = p.stdout, p.stderr
        if text:
            out, err = out.decode(errors="replace"), err.decode(errors="replace")
        return Result(p.returncode, out, err)

    def ok(self, *command, **how):
        """Like tally(), and the command must succeed."""
        r = self.tally(*command, **how)
        if r.status != 0:
            raise Failure("%s: %s" % (" ".join(command), r))
        return r

    def equal(self, got, want, what="it"):
        if got != want:
            raise Failure("%s is %r, not %r" % (what, got, want))

    def near(self, got, want, tolerance, what="it"):
        """Within a share of what is wanted: near(x, 100, 0.05)."""
        if abs(got - want) > abs(want) * tolerance:
            raise Failure("%s is %r, not within %g %% of %r" % (what, got, tolerance * 100, want))

    def true(self, condition, what):
        if not condition:
            raise Failure(what)

    def match(self, pattern, text):
        m = re.search(pattern, text, re.MULTILINE)
        if not m:
            raise Failure("nothing like %r in %r" % (pattern, text[-800:]))
        return m

    def skip(self, why):
        raise Skip(why)


def test(rows=""):
    def add(fn):
        _tests.append((fn, rows))
        return fn
    return add


def perf_csv(text):
    """The lines of `perf stat -x,` as {event: count}; a count is an int, a float, or a word."""
    counts = {}
    for line in text.splitlines():
        field = line.split(",")
        if len(field) < 3 or line.startswith("#"):
            continue
        value = field[0]
        if re.fullmatch(r"\d+", value):
            value = int(value)
        elif re.fullmatch(r"\d+\.\d+", value):
            value = float(value)
        counts[field[2]] = value
    return counts


def main():
    program = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    failed = 0
    for fn, rows in _tests:
        if len(sys.argv) > 1 and sys.argv[1] not in fn.__name__:
            continue
        name = "%s.%s (%s)" % (program, fn.__name__, rows)
        began = time.monotonic()
        try:
            fn(Tools())
            print("ok %s  [%.1f s]" % (name, time.monotonic() - began), flush=True)
        except Skip as why:
            print("skip %s: %s" % (name, why), flush=True)
        except Failure as why:
            failed += 1
            print("not ok %s: %s" % (name, str(why).replace("\n", "\\n")), flush=True)
    sys.exit(1 if failed else 0)
