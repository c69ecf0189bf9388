#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""perf on a machine with four CPUs, in exact and in parallel mode, and on one without a PMU."""
import os
import re

from harness import equal, finish, matches, report, run

SMP = ["--smp", "4"]
WEIGHTS = os.path.abspath("build/arm64/tests/system/programs/weights")
GROUPS = "{cycles,instructions},{cycles:u,instructions:u},r11,r8"


def perf(*words, options=()):
    status, out, err = run("perf", *words, options=options)
    return status, out.decode(errors="replace") + err


def column(text):
    """{event: count} of `perf stat -x,`."""
    rows = [line.split(",") for line in text.splitlines() if line.count(",") > 4]
    return [(row[2], int(row[0])) for row in rows if row[0].isdigit()]


# The whole system, by CPU and by core.
for mode, extra, event in (("exact", [], "instructions"), ("parallel", ["--no-exact"], "cycles")):
    options = SMP + extra
    out = perf("stat", "-a", "-A", "-x,", "-e", event, "--", "sleep", "0.1", options=options)[1]
    equal(f"{mode}: each CPU (CTL-SELF)", re.findall(r"^CPU(\d),", out, re.M), ["0", "1", "2", "3"])
    for how in (["-a"], ["-C", "1,3"], ["-a", "--per-core"], ["-a", "--per-socket"]):
        matches(f"{mode}: {' '.join(how)} (CTL-SELF)", perf("stat", *how, "-e", "cycles", "--", "sleep", "0.1",
                                                            options=options)[1], r"\d[\d,]{3,}\s+cycles")
    status, out = perf("record", "-a", "-e", "cycles", "-c", "300007", "-o", "/tmp/p.data", "--", "sh", "-c",
                       "perf bench sched messaging -g 1 -l 50 >/dev/null", options=options)
    report(f"{mode}: a ring for each CPU", status == 0 and re.search(r"\(\d+ samples\)", out), out)
    status, out, err = run("sh", "-c", "perf bench sched messaging -g 2 -l 20 && perf bench sched pipe -l 500 && "
                           "perf bench futex hash -r 1 -t 4", options=options)
    equal(f"{mode}: benchmarks end well", (status, err if status else ""), (0, ""))

# Exact among others, on one CPU and on four that are all busy, and with input that comes meanwhile.
measured = f"perf stat -x, -e instructions:u {WEIGHTS} alone 50"
alone = run("sh", "-c", f"{measured}; :")[2]
report("alone: as many as the loops have", 10_000_000 < dict(column(alone)).get("instructions:u", 0) < 10_100_000, alone)
for options in ([], SMP):
    beside = run("sh", "-c", "for i in 1 2 3 4 5; do while :; do :; done & done; (while sleep 0.001; do :; done) & "
                 f"{measured}; :", options=options)[2]
    equal(f"the same among others {' '.join(options)} (SLICE-IN SLICE-OUT)", column(beside), column(alone))
out = run("sh", "-c", f"while :; do :; done & cat >/dev/null & {measured}; :", stdin=b"x" * 100000, options=SMP)[2]
equal("the same while input comes (SLICE-IN SLICE-OUT)", column(out), column(alone))
# CPUs share QEMU's thread fairly: four loops execute the same, to a hundredth or two turns.
out = run("sh", "-c", "for i in 0 1 2 3; do taskset -c $i sh -c 'while :; do :; done' & done; "
          "perf stat -a -A -x, -e instructions:u -- sleep 0.2", options=SMP)[2]
counts = [int(n) for n in re.findall(r"^CPU\d,(\d+),,instructions:u", out, re.M)]
report("four busy CPUs execute the same", len(counts) == 4 and min(counts) > 0.95 * max(counts) > 4e7, counts or out)

# Eighty processes on four CPUs do the same twice, to the last digit, in the kernel as well.
twice = [run("sh", "-c", "perf stat -x, -e instructions:u,instructions:k,context-switches,cpu-migrations "
             "perf bench sched messaging -g 2 -l 20 2>&1 >/dev/null", options=[*SMP, "--no-share"], stdin=None)[1]
         for _ in range(2)]
equal("the same twice on four CPUs", *twice)
report("and on all of them", int(re.search(r"(\d+),,cpu-migrations", twice[0].decode()).group(1)) > 10, twice[0])

# Groups and single events at once: the same shape as on Linux, and counts that agree.
tables = [column(perf("stat", "-x,", "-e", GROUPS, "--", "/bin/busybox", "true", options=[kernel])[1])
          for kernel in ("--kernel=tally", "--kernel=linux")]
equal("groups: shape (SLICE-GROUP)", [name for name, _ in tables[0]], [name for name, _ in tables[1]])
tally, linux = (dict(table) for table in tables)
report("groups: user counts (SLICE-GROUP)", abs(tally["instructions:u"] - linux["instructions:u"]) < 0.005 * linux["instructions:u"],
       (tally, linux))
report("groups: agree with one another", abs(tally["cycles"] - tally["r11"]) < 0.01 * tally["r11"] and
       abs(tally["instructions"] - tally["r8"]) < 0.01 * tally["r8"], tally)

# More than there are counters: scaled, and told so.
out = perf("stat", "-e", ",".join(["instructions:u"] * 5 + ["r8", "r8:u", "cycles:u", "cycles:k", "r11"]), "--", WEIGHTS, "alone", "500")[1]
shares = [float(share) for share in re.findall(r"\(([\d.]+)%\)", out)]
report("more events than counters (SLICE-MUX)", len(shares) >= 9 and all(30 < share < 100 for share in shares), out)
counts = [int(n.replace(",", "")) for n in re.findall(r"^\s+([\d,]+)\s+instructions:u", out, re.M)]
report("scaled counts agree (SLICE-MUX)", len(counts) == 5 and max(counts) < 1.02 * min(counts), counts)

# Without a PMU hardware events are refused, and all else works.
status, out = perf("stat", "-e", "cycles,task-clock,page-faults", "--", "/bin/true", options=["--no-pmu"])
report("no PMU: said so (SLICE-NOPMU)", "<not supported>" in out and re.search(r"[\d.]+ msec task-clock", out), out)
status, out = perf("record", "-c", "100000", "-e", "task-clock", "-o", "/tmp/p.data", "--", WEIGHTS, "alone", "50", options=["--no-pmu"])
report("no PMU: task-clock is sampled (SLICE-NOPMU)", re.search(r"\(\d+ samples\)", out), out)

finish()
