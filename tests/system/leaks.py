#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is left of events, processes and memory when the machine goes off.

The kernel ends QEMU with an error, and tally with status 125, if an event has outlived the last
descriptor: so every other test looks for that, too. Here memory is compared.
"""
import re
import tempfile

from harness import KERNEL, equal, finish, report, run, skip

ROUND = ("perf stat -e cycles,instructions,task-clock,page-faults -- sh -c '/bin/true; /bin/true' 2>/dev/null; "
         "perf record -q -g -c 100003 -o /tmp/p.data -- /bin/busybox true 2>/dev/null; "
         "perf stat -a -e cycles -- /bin/busybox true 2>/dev/null; "
         "sleep 1000 & perf stat -e cycles,context-switches -p $! -- /bin/busybox true 2>/dev/null; kill $!; wait; ")


def left(rounds, options=()):
    """The kernel's last line after so many rounds, as {what: number}."""
    with tempfile.NamedTemporaryFile("r") as log:
        status, out, err = run("sh", "-c", ROUND * rounds + "exit 7", options=["--log", log.name, *options])
        line = re.search(r"in use at the end: (.*)", log.read())
    equal(f"status-after-{rounds}-rounds {' '.join(options)}", status, 7)
    numbers = re.findall(r"([a-z]+(?: events)?) (\d+)", line.group(1) if line else "")
    return {what: int(number) for what, number in numbers}


if KERNEL != "tally":
    skip("leaks", "only Tally's kernel tells")
    finish()
for options in ([], ["--smp", "2"]):
    few, many = left(2, options), left(12, options)
    for what in ("perf events", "task events"):
        equal(f"no {what} (LIFE-ACTIVE LIFE-ONCE) {' '.join(options)}", many.get(what), 0)
    equal(f"only init and the worker {' '.join(options)}", many.get("processes"), few.get("processes"))
    grown = many.get("kmalloc", 1 << 30) - few.get("kmalloc", 0)
    report(f"memory-does-not-grow {' '.join(options)}", grown < 16384, f"{few} {many}")
finish()
