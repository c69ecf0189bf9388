#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tracepoints through perf: trace, sched, record, stat. What perf trace says is the same as on Linux."""
import re

from harness import equal, finish, matches, report, run


def calls(kernel):
    """The system calls of a program, with arguments and results, without times and ids."""
    status, _, err = run("perf", "trace", "/bin/true", options=[f"--kernel={kernel}"])
    lines = [re.sub(r"^.*\): true/\d+ +", "", line) for line in err.splitlines() if "true/" in line]
    # The stack lies a little lower on Tally, the C library asks for rseq, which Tally has not got, and the
    # thread has an id of its own.
    lines = [re.sub(r"0xffffffff[0-9a-f]{4}\b", "STACK", line) for line in lines]
    return status, [re.sub(r"= \d+ \(true\)", "= TID", line) for line in lines if not line.startswith("rseq")]


tally, linux = calls("tally"), calls("linux")
equal("trace: the same as on Linux", tally, linux)
report("trace: all of it", len(tally[1]) > 15 and "exit_group" in tally[1][-1], tally)

out = run("perf", "trace", "-e", "openat,close", "/bin/true")[2]
names = re.findall(r"true/\d+ (\w+)\(", out)
report("trace -e: these and no others", len(names) >= 4 and set(names) == {"openat", "close"}, out)
matches("trace -s: a summary", run("perf", "trace", "-s", "ls", "/")[2], r"openat +\d+ +\d+ ")

status, out, err = run("sh", "-c", "perf sched record -q -o /tmp/s perf bench sched pipe -l 100 >/dev/null && "
                       "perf sched latency -i /tmp/s && perf sched timehist -s -i /tmp/s", options=["--smp", "2"])
text = out.decode()
matches("sched latency: a table", text, r"sched-pipe:\(2\)\s+\|[^|]*ms \|\s+\d+ \|")
switched = re.findall(r"sched-pipe\[\d+\]\s+\d+\s+(\d+) ", text)
report("sched timehist: both tasks were switched to", len(switched) == 2 and min(map(int, switched)) > 90, text)

out = run("perf", "stat", "-e", "raw_syscalls:sys_enter,syscalls:sys_enter_write,sched:sched_process_exec", "--",
          "sh", "-c", "echo a; echo b")[2]
matches("stat: writes", out, r"\b2 +syscalls:sys_enter_write")
matches("stat: programs", out, r"\b1 +sched:sched_process_exec")

out = run("sh", "-c", "perf record -q -g -e sched:sched_process_exec -o /tmp/r sh -c '/bin/true; /bin/ls / >/dev/null' "
          "&& perf script -i /tmp/r")[1].decode()
equal("record: each program", re.findall(r"filename=(\S+)", out)[-2:], ["/bin/true", "/bin/ls"])
matches("record: where in the kernel", out, r"sys_execve")

# What a program says itself.
out = run("sh", "-c", "perf list tracepoint >/dev/null; perf record -q -a -e ftrace:print -o /tmp/r "
          "sh -c 'echo here I am >/sys/kernel/tracing/trace_marker' && perf script -i /tmp/r")[1].decode()
matches("trace_marker", out, r"buf=here I am")
finish()
