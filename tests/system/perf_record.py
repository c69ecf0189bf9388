#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""perf record and what reads its files, as a person types it."""
import os
import re

from harness import equal, finish, matches, report, run

WEIGHTS = os.path.abspath("build/arm64/tests/system/programs/weights")
BY_SYMBOL = "perf report -i p.data --stdio --no-children -g none --sort symbol 2>/dev/null"


def shell(script, options=(), stdin=b""):
    """A script in /tmp of the guest, where `weights` is at hand: its output, errors included."""
    status, out, err = run("sh", "-c", "exec 2>&1; cd /tmp; " + script, options=["--copy", WEIGHTS + ":/tmp/weights", "--copy", WEIGHTS + "-dynamic:/tmp/weights-dynamic", *options],
                           stdin=stdin)
    return status, out.decode(errors="replace") + err


def shares(text):
    """{symbol: percent} of a report sorted by symbol."""
    return {name: float(percent) for percent, name in re.findall(r"^\s+([\d.]+)%\s+(?:[\d.]+%\s+)?\[.\] (\w+)", text, re.M)}


def samples(text):
    found = re.search(r"\((\d+) samples\)", text)
    return int(found.group(1)) if found else 0


def true_profile(name, text, within=1.0):
    got = shares(text)
    report(name, all(abs(got.get(function, 0) - share) <= within for function, share in
                     (("fifty", 50), ("thirty", 30), ("twenty", 20))), got or text)


# A true profile, however it is taken.
for how, options in (("cycles", "-e cycles:u -c 43013"),
                     ("instructions", "-e instructions:u -c 43013"),
                     ("frequency", "-F 2000"),
                     ("task-clock", "-e task-clock -c 100003"),
                     ("group", "-e '{cycles:u,instructions:u}:S' -c 43013")):
    status, out = shell(f"perf record {options} -o p.data ./weights alone 2000; {BY_SYMBOL}")
    true_profile(f"profile-by-{how} (SAMPLE-PERIOD SLICE-SAMPLE)", out, 2.0 if how == "frequency" else 1.0)
for how in ("fork", "threads", "beside"):
    status, out = shell(f"perf record -e instructions:u -c 43013 -o p.data {'--no-inherit' if how == 'beside' else ''} "
                        f"./weights {how} 2000; {BY_SYMBOL}")
    true_profile(f"profile-{how} (SAMPLE-OWNER INH-RING)", out)
    if how == "beside":
        report("stranger-is-not-there (SLICE-SAMPLE)", "stranger" not in out, out)

# The number of samples, and the same bytes every time.
script = ("perf record -e instructions:u -c 87011 -o p.data ./weights alone 2000; perf script -i p.data | sha256sum; "
          "perf stat -x, -e instructions:u ./weights alone 2000")
# Times are in it: so without a shared folder and a standard input, which answer when the host does.
first, second = (shell(script, ["--no-share"], None)[1] for _ in range(2))
counted = int((re.findall(r"^(\d+),,instructions:u", first, re.M) or ["0"])[0])
report("samples-times-period (SLICE-PERIOD)", counted and abs(samples(first) * 87011 - counted) <= 2 * 87011,
       f"{samples(first)} samples of {counted}")
hashes = [re.search(r"^\w{64}", text, re.M).group() for text in (first, second)]
equal("the-same-every-time", hashes[0], hashes[1])

# The rate that was asked for.
for how, rounds in (("steady", 5000), ("bursts", 5000)):
    status, out = shell(f"perf record -F 1000 -e cycles:u -o p.data ./weights {how} {rounds}")
    report(f"rate-{how} (SAMPLE-FREQ)", abs(samples(out) - 1000) <= 50, f"{samples(out)} samples in a second of work")

# Call chains.
status, out = shell("perf record -g -e cycles:u -c 100003 -o p.data ./weights alone 500; "
                    "perf script -i p.data -F ip,sym | head -60")
matches("frame-pointer-chain (SAMPLE-FIELDS)", out, r"\w+ (fifty|thirty|twenty)\n(\s+\w+ a_round\n)+\s+\w+ work\n\s+\w+ main\n")
status, out = shell("perf record --call-graph dwarf -e cycles:u -c 1000003 -o p.data ./weights-dynamic alone 50; "
                    "perf script -i p.data -F ip,sym --no-inline | head -60")
matches("dwarf-chain (SAMPLE-FIELDS)", out, r"\w+ (fifty|thirty|twenty)\n(\s+\w+ a_round\n)+\s+\w+ work\n\s+\w+ main\n")

# The kernel's own share has names, and instructions.
status, out = shell(f"perf record -e instructions:k -c 5003 -o p.data perf bench sched pipe -l 1000 >/dev/null; {BY_SYMBOL} | head -40; "
                    "perf annotate -i p.data --stdio -s pipe_read 2>/dev/null | head -40")
matches("kernel-functions", out, r"\[k\] (pipe_\w+|schedule\w*|syscall_dispatch)")

# A ring too small.
status, out = shell("perf record -m 1 -e cycles:u -c 20011 --no-buffering -o p.data ./weights alone 200; "
                    "perf record -m 1 -e cycles -c 15013 -g --call-graph dwarf,16384 -o p.data ./weights alone 200; perf report -i p.data --stats 2>&1")
matches("small-ring-loses-and-says-so (RING-FULL)", out, r"LOST\s+events:\s+[1-9]|SAMPLE events:\s+[1-9]")

# Everything that reads a recording.
status, out = shell("perf record -e cycles:u -e instructions:u -c 100003 -o p.data ./weights alone 300; cp p.data q.data; "
                    "for c in 'report --stdio' 'script' 'annotate --stdio' 'report --stdio --sort comm,dso,symbol' "
                    "'report --header-only' 'evlist -v' 'buildid-list'; do "
                    "perf $c -i p.data >out 2>err </dev/null && test -s out && echo works: $c; done; "
                    "perf diff p.data q.data >out 2>err && test -s out && echo works: diff; "
                    "perf record -e cycles:u -c 100003 -o - ./weights alone 300 2>/dev/null | perf report --stdio -i - | grep -q fifty && echo works: pipe")
for what in ("report --stdio", "script", "annotate --stdio", "report --stdio --sort comm,dso,symbol", "report --header-only",
             "evlist -v", "buildid-list", "diff", "pipe"):
    report(f"reads: {what}", f"works: {what}\n" in out, out)

# Ways to record.
for name, words in (("whole-system", "-a -c 100003 -- sleep 0.1"), ("one-cpu", "-C 0 -c 100003 -- sleep 0.1"),
                    ("switch-events", "--switch-events -c 100003 ./weights bursts 100"),
                    ("overwrite", "--overwrite -c 100003 ./weights alone 100"),
                    ("no-inherit", "--no-inherit -c 100003 ./weights alone 100"),
                    ("page-faults", "-e page-faults -c 1 -d ./weights alone 1"),
                    ("context-switches", "-e context-switches -c 1 -g ./weights bursts 100")):
    status, out = shell(f"perf record -o p.data {words} && perf script -i p.data | head -5")
    report(f"record-{name}", status == 0 and samples(out) > 0, out)
status, out = shell("./weights alone 5000 & perf record -e cycles:u -c 100003 -o p.data -p $! -- sleep 0.2; kill $!; " + BY_SYMBOL)
report("record-a-running-process (LIFE-SHARED)", "fifty" in shares(out), out)

finish()
