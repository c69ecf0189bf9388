#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""perf stat, as a person types it; and its figures against Linux where they must agree."""
import json
import os
import re

from harness import KERNEL, equal, finish, matches, report, run

LOOP = os.path.abspath("build/arm64/tests/system/programs/known_length")
BUSY = "while :; do :; done & p=$!; "


def stat(*words, options=()):
    """perf stat WORDS: its status and its table, without the workload's own output."""
    status, _, err = run("perf", "stat", *words, options=options, stdin=None)
    return status, err


def counts(text):
    """The lines of `perf stat -x,` as {event: count}; what is no number stays a word."""
    found = {}
    for line in text.splitlines():
        field = line.split(",")
        if len(field) > 5:
            value = field[0]
            found[field[2]] = int(value) if value.isdigit() else value
    return found


def count(events, *command, options=()):
    return counts(stat("-x,", "-e", events, "--", *command, options=options)[1])


def user(*command, options=()):
    return count("instructions:u", *command, options=options).get("instructions:u", -1)


def near(name, got, want, share):
    report(name, abs(got - want) <= want * share, f"{got} is not within {share:%} of {want}")


# The table.
status, table = stat("--", "/bin/true")
equal("status-of-perf-stat", status, 0)
for event in ("task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles", "instructions"):
    matches(f"counted-{event} (CTL-EXEC SLICE-IN SLICE-OUT)", table, rf"\n\s+[\d.,]+ (msec )?\s*{event}\b")
for event in ("branches", "branch-misses"):
    matches(f"not-supported-{event} (SLICE-NOPMU)", table, rf"<not supported>\s+{event}\b")
equal("status-of-the-command", stat("--", "sh", "-c", "exit 3")[0], 3)
matches("no-such-command", stat("--", "/no/such/command")[1], "not found|No such file")

# Filters, and names of events.
got = count("cycles:u,instructions:u,cycles:k,instructions:k", "/bin/true")
report("four-filters (SLICE-FILTER)",
       len(got) == 4 and all(isinstance(n, int) and n > 1000 for n in got.values()), got)
got = count("r8:u,armv8_pmuv3/inst_retired/u,instructions:u", "/bin/busybox", "true")
equal("three-names-of-one-event", len(got) == 3 and len(set(got.values())), 1)
listed = run("perf", "list")[1].decode()
for name in ("cycles", "instructions", "task-clock", "cpu_cycles", "inst_retired"):
    report(f"perf-list-{name}", name in listed, "it is not listed")

# Exact.
if KERNEL == "tally":
    figures = {tuple(count("instructions:u,instructions:k", "/bin/true").values()) for _ in range(10)}
    equal(f"ten-runs-one-figure {sorted(figures)}", len(figures), 1)
equal("known-length (SLICE-FILTER)", user(LOOP), 2 * 1000000 + 5)

# As on Linux.
if KERNEL == "tally":
    for command in (["/bin/busybox", "true"],
                    ["/bin/busybox", "sh", "-c", "i=0; while [ $i -lt 500 ]; do i=$((i+1)); done"],
                    ["python3", "-c", "print(sum(range(1000)))"],
                    ["perf", "--version"]):
        near("as-on-linux: " + " ".join(command), user(*command),
             user(*command, options=["--kernel=linux"]), 0.005)

# Ways to ask.
matches("repeated", stat("-r", "5", "-e", "instructions:u", "--", "/bin/true")[1], r"\( \+-\s+\d+\.\d+% \)")
lines = [json.loads(line) for line in stat("-j", "-e", "cycles,instructions:u", "--", "/bin/true")[1].splitlines()
         if line.startswith("{")]
equal("json", [line["event"] for line in lines], ["cycles", "instructions:u"])
table = stat("-I", "100", "-x,", "-e", "task-clock", "--", "/bin/busybox", "sh", "-c",
             "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")[1]
report("intervals (CTL-READ)", len(re.findall(",task-clock,", table)) >= 3, table)
for name, words in (("whole-system", ["-a"]), ("one-cpu", ["-C", "0"]), ("per-core", ["-a", "--per-core"]),
                    ("no-aggregation", ["-a", "-A"])):
    matches(f"{name} (CTL-SELF)", stat(*words, "-e", "cycles,context-switches", "--", "sleep", "0.1")[1],
            r"\d+\s+cycles")

# Tasks that run already, and children.
for name, words in (("process", "-p"), ("thread", "-t")):
    status, _, err = run("sh", "-c", BUSY + f"perf stat -x, -e instructions:u {words} $p -- sleep 0.2; kill $p")
    report(f"running-{name} (LIFE-SHARED CTL-SELF)", counts(err).get("instructions:u", 0) > 10000000, err)
err = run("sh", "-c", BUSY + "perf stat --per-thread -e instructions:u -p $p -- sleep 0.1; kill $p")[2]
matches("per-thread (CTL-SELF)", err, r"sh-\d+\s+[\d,]+\s+instructions:u")
err = run("sh", "-c", "sleep 0.3 & perf stat -x, -e task-clock -p $!")[2]
report("process-that-exits (LIFE-ONCE)", "task-clock" in err, err)
child = "/bin/busybox true; "
one, five = (user("/bin/busybox", "sh", "-c", child * n + ":") for n in (1, 5))
each = user("/bin/busybox", "true")
report("children-are-followed (INH-CLONE INH-COUNT)", five - one > 4 * each,
       f"four more children of {each} add {five - one}")

finish()
