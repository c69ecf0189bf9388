#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""perf stat, as a person types it, on Tally; and against Linux where the figures must agree."""
from system import *

COUNTS = r"^\s+[\d.,]+\s+(?:msec )?%s\b"


@test("CTL-EXEC SLICE-IN SLICE-OUT")
def default_events(t):
    r = t.ok("perf", "stat", "--", "/bin/true")
    for event in ("task-clock", "context-switches", "cpu-migrations", "page-faults",
                  "cycles", "instructions"):
        t.match(COUNTS % event, r.err)
    for event in ("branches", "branch-misses"):
        t.match(r"<not supported>\s+%s\b" % event, r.err)


@test("SLICE-FILTER")
def four_filters(t):
    c = perf_csv(t.ok("perf", "stat", "-x,", "-e",
                      "cycles:u,instructions:u,cycles:k,instructions:k", "--", "/bin/true").err)
    for event in ("cycles:u", "instructions:u", "cycles:k", "instructions:k"):
        t.true(isinstance(c.get(event), int) and c[event] > 1000, "%s: %r" % (event, c))


@test("CTL-EXEC")
def ten_runs_give_one_figure(t):
    figures = set()
    for _ in range(10):
        c = perf_csv(t.ok("perf", "stat", "-x,", "-e", "instructions:u,instructions:k",
                          "--", "/bin/true").err)
        figures.add((c["instructions:u"], c["instructions:k"]))
    t.equal(len(figures), 1, "the number of different figures %r" % figures)


def user_count(t, kernel, *command):
    c = perf_csv(t.ok("perf", "stat", "-x,", "-e", "instructions:u", "--", *command,
                      kernel=kernel).err)
    return c["instructions:u"]


@test("SLICE-FILTER")
def known_length_is_exact(t):
    loop = os.path.join(PROGRAMS, "loop")
    t.equal(user_count(t, "tally", loop), 2 * 1000000 + 5, "instructions:u of the loop")
    t.equal(user_count(t, "linux", loop), 2 * 1000000 + 5, "the same on Linux")


@test("SLICE-FILTER")
def real_programs_as_on_linux(t):
    for command in (["/bin/busybox", "true"], ["/bin/busybox", "sh", "-c", "i=0; while [ $i -lt 500 ]; do i=$((i+1)); done"],
                    ["python3", "-c", "print(sum(range(1000)))"], ["perf", "--version"]):
        tally, linux = (user_count(t, kernel, *command) for kernel in ("tally", "linux"))
        t.near(tally, linux, 0.005, "instructions:u of " + " ".join(command))


@test("CTL-READ")
def repeated_runs(t):
    r = t.ok("perf", "stat", "-r", "5", "-e", "instructions:u", "--", "/bin/true")
    t.match(r"\( \+-\s+0\.\d+% \)", r.err)


@test("CTL-READ")
def json_lines(t):
    import json
    lines = [json.loads(l) for l in
             t.ok("perf", "stat", "-j", "-e", "cycles,instructions:u", "--", "/bin/true").err.splitlines()
             if l.startswith("{")]
    t.equal([l["event"] for l in lines], ["cycles", "instructions:u"], "the events")


@test("CTL-READ SLICE-OUT")
def intervals(t):
    r = t.ok("perf", "stat", "-I", "100", "-x,", "-e", "task-clock", "--", "sh", "-c",
             "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
    lines = [l for l in r.err.splitlines() if ",task-clock," in l]
    t.true(len(lines) >= 2, "only %d intervals: %r" % (len(lines), r.err))


@test("LIFE-SHARED CTL-SELF")
def a_running_process(t):
    r = t.ok("sh", "-c", "sleep 1000 & while :; do :; done & p=$!; "
             "perf stat -x, -e instructions:u,task-clock -p $p -- sleep 0.2; s=$?; kill $p %1; exit $s")
    c = perf_csv(r.err)
    t.true(c["instructions:u"] > 10000000, "counted %r" % c)


@test("CTL-SELF")
def a_thread(t):
    r = t.ok("sh", "-c", "while :; do :; done & p=$!; "
             "perf stat -x, -e instructions:u -t $p -- sleep 0.1; kill $p")
    t.true(perf_csv(r.err)["instructions:u"] > 10000000, "counted " + r.err)


@test("CTL-SELF")
def the_whole_system(t):
    for where in (["-a"], ["-C", "0"], ["-a", "--per-core"], ["-a", "-A"]):
        r = t.ok("perf", "stat", *where, "-e", "cycles,context-switches", "--", "sleep", "0.1")
        t.match(r"[\d,]+\s+cycles", r.err)


@test("CTL-SELF")
def per_thread(t):
    r = t.ok("sh", "-c", "while :; do :; done & p=$!; "
             "perf stat --per-thread -e instructions:u -p $p -- sleep 0.1; kill $p")
    t.match(r"sh-\d+\s+[\d,]+\s+instructions:u", r.err)


@test("SLICE-NOPMU")
def raw_and_named_events(t):
    c = perf_csv(t.ok("perf", "stat", "-x,", "-e", "r8:u,armv8_pmuv3/inst_retired/u,instructions:u",
                      "--", "/bin/true").err)
    t.equal(len(set(c.values())), 1, "three names of one event give %r" % c)


@test("")
def list_of_events(t):
    out = t.ok("perf", "list").out
    for name in ("cycles", "instructions", "task-clock", "armv8_pmuv3/cpu_cycles/"):
        t.true(name in out, "%s is not in perf list" % name)


@test("INH-CLONE INH-COUNT")
def children_are_followed(t):
    one = user_count(t, "tally", "sh", "-c", "/bin/busybox true; :")
    five = user_count(t, "tally", "sh", "-c",
                      "/bin/busybox true; /bin/busybox true; /bin/busybox true; /bin/busybox true; /bin/busybox true; :")
    true = user_count(t, "tally", "/bin/busybox", "true")
    t.true(five - one > 4 * true, "four more children of %d add %d" % (true, five - one))


@test("CTL-EXEC")
def status_of_the_command(t):
    t.equal(t.tally("perf", "stat", "--", "sh", "-c", "exit 3").status, 3)
    t.match("not found|No such file", t.tally("perf", "stat", "--", "/no/such/command").err)


main()
