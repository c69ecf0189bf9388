#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tally as one command among others: under timeout, xargs and make, several at once, and what is left after it."""
import os
import signal
import subprocess
import tempfile
import time

import harness
from harness import TALLY, equal, finish, matches, report

TALLY[0] = os.path.abspath(TALLY[0])
COMMAND = [*TALLY, "--no-share", "--timeout", str(harness.LIMIT)]
LOOP = ["sh", "-c", "echo ready; while :; do :; done"]


def descendants(pid):
    """Process numbers of all that a process has started, as far as they have not been left to init."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                parents[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found, more = set(), {pid}
    while more:
        more = {child for child, parent in parents.items() if parent in more} - found
        found |= more
    return found


def is_qemu(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"qemu-system-aarch64" in file.read().split(b"\0")[0]
    except OSError:
        return False


def gone(pids, seconds=10):
    """Whether the processes end within a time."""
    end = time.monotonic() + seconds
    while any(os.path.exists(f"/proc/{pid}/exe") and is_qemu(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def ended_by_timeout(name, options, status):
    """A guest that would run for ever, under timeout(1), which ends it some time after it has begun."""
    process = subprocess.Popen(["timeout", *options, *COMMAND, *LOOP], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    qemu, first = set(), process.stdout.readline()
    qemu = {pid for pid in descendants(process.pid) if is_qemu(pid)}
    rest = process.stdout.read()
    equal(f"{name}: status", process.wait(), status)
    equal(f"{name}: output", (first, rest), (b"ready\n", b""))
    report(f"{name}: QEMU was there, and is gone", len(qemu) == 1 and gone(qemu), qemu)


ended_by_timeout("timeout", ["10"], 124)
ended_by_timeout("timeout --preserve-status", ["--preserve-status", "-s", "INT", "10"], 128 + signal.SIGINT)
ended_by_timeout("timeout -s KILL", ["-s", "KILL", "10"], -signal.SIGKILL)
equal("timeout of what ends", subprocess.run(["timeout", "100", *COMMAND, "sh", "-c", "sleep 50; exit 3"], check=False).returncode, 3)

words = " ".join(f"'{word}'" for word in COMMAND)
with tempfile.TemporaryDirectory() as folder:
    def host(script, **how):
        return subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, timeout=5 * harness.LIMIT, check=False, **how)

    done = host(f"seq 6 | xargs -P4 -I@ {words} sh -c 'seq @ 2000 | tail -n 300; echo end @'")
    lines = done.stdout.decode().splitlines()
    equal("xargs -P4", (done.returncode, sorted(line for line in lines if "end" in line), len(lines)),
          (0, [f"end {i}" for i in range(1, 7)], 6 * 301))
    equal("xargs: a command that fails", host(f"echo 1 2 | xargs -n1 -P2 {words} sh -c 'exit $0'").returncode, 123)

    with open(os.path.join(folder, "Makefile"), "w", encoding="ascii") as file:
        file.write(f"TALLY = {words}\n"
                   "all: a b c d e\n"
                   "a b c: ; +@$(TALLY) sh -c 'seq 20000; echo $@' > $@.out && echo made $@\n"
                   "d e: ; @$(TALLY) sh -c 'cat; seq 20000; echo $@' < Makefile > $@.out && echo made $@\n"
                   "bad: one two\n"
                   "one: ; @$(TALLY) sh -c 'exit 3'\n"
                   "two: ; @$(TALLY) true\n")
    done = host("make -j4")
    equal("make -j4", (done.returncode, sorted(done.stdout.decode().splitlines()), done.stderr),
          (0, [f"made {name}" for name in "abcde"], b""))
    sizes = {name: os.path.getsize(os.path.join(folder, name + ".out")) for name in "abcde"}
    body = len("".join(f"{i}\n" for i in range(1, 20001))) + 2
    size = os.path.getsize(os.path.join(folder, "Makefile"))
    equal("make: whole output", sizes, {name: body + (size if name in "de" else 0) for name in "abcde"})
    done = host("make -j4 bad")
    equal("make: a recipe that fails", done.returncode, 2)
    matches("make: its status is told", done.stderr.decode(), r"one\] Error 3")

    # A filter in a pipeline, with bytes of all kinds; one that does not read all.
    with open(os.path.join(folder, "data"), "wb") as file:
        file.write(os.urandom(8 << 20))
    equal("pipeline", host(f"cat data | {words} cat | {words} cat > out && cmp data out").returncode, 0)
    done = host(f"cat data | {words} head -c 1000 | cmp -n 1000 data - && echo same")
    equal("pipeline that ends early", done.stdout, b"same\n")

    # Alone, and beside others: the same counts, of the kernel's instructions, too.
    measure = f"{words} perf stat -x, -e instructions -- sh -c 'for i in 1 2 3; do /bin/true; done' 2>&1 < /dev/null"
    alone = host(measure).stdout
    together = host(f"for i in 1 2 3; do {measure} & done; wait").stdout
    equal("several at once count as one alone", (set(together.splitlines()), len(together.splitlines())), ({alone.strip()}, 3))

# tally is killed while its guest runs, or with all of its process group: nothing stays.
for name, kill in (("killed", lambda p: p.kill()), ("killed with its group", lambda p: os.killpg(p.pid, signal.SIGKILL))):
    process = subprocess.Popen([*COMMAND, *LOOP], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    process.stdout.readline()
    qemu = {pid for pid in descendants(process.pid) if is_qemu(pid)}
    kill(process)
    process.wait()
    report(f"{name}: QEMU is gone", len(qemu) == 1 and gone(qemu), qemu)

finish()
