#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tally flamegraph and tally export: that pictures show what was recorded, and nothing else.

With chromium at hand the page is looked at as well: its picture is compared with one that is
computed here from the same data.
"""
import colorsys
import glob
import html
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

from harness import Terminal, equal, finish, matches, report, run, skip

WEIGHTS = os.path.abspath("build/arm64/tests/system/programs/weights")
HOSTILE = '</script><b onmouseover="alert(1)">&amp;'

# A function with a name like that, in a thread with such a name, that is half of the work.
SOURCE = """
#include <pthread.h>
#include <sys/prctl.h>
static volatile unsigned long sum;
__attribute__((noinline)) void hostile(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void harmless(int n) { for (int i = 0; i < n; i++) sum += i; }
static void *work(void *name) { prctl(PR_SET_NAME, name); hostile(100000); harmless(100000); sum++; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, "1/1 1.0: 1 <x>:"); pthread_join(t, 0); return 0; }
"""


def tally(*words, stdin=None, cwd=None):
    return run(*words, stdin=stdin, cwd=cwd)


def page_data(path):
    """The data of a page, and the page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1)), text


def stacks(data, event=0):
    """{(thread, function, ...): weight} of a page's data."""
    out = {}
    own = data["self"][event]
    for node, weight in zip(own[::2], own[1::2]):
        path = []
        while node:
            path.append(data["texts"][data["name"][data["frame"][node]]])
            node = data["parent"][node]
        path = tuple(reversed(path))
        out[path] = out.get(path, 0) + weight
    return out


def share(found, function):
    """What part of all was executed in a function, in percent."""
    return 100 * sum(w for path, w in found.items() if path[-1] == function) / max(sum(found.values()), 1)


def make_hostile():
    with open("hostile.c", "w", encoding="ascii") as file:
        file.write(SOURCE)
    subprocess.run(["aarch64-linux-gnu-gcc", "-O1", "-static", "-fno-optimize-sibling-calls", "-o", "hostile", "hostile.c"], check=True)
    subprocess.run(["aarch64-linux-gnu-objcopy", f"--redefine-sym=hostile={HOSTILE}", "hostile"], check=True)


def pixels(path):
    """A PNG of 8 bits a channel: width, and rows of (red, green, blue)."""
    with open(path, "rb") as file:
        file.read(8)
        data = b""
        while (head := file.read(8)):
            size, kind = struct.unpack(">I4s", head)
            chunk = file.read(size)
            file.read(4)
            if kind == b"IHDR":
                width, height, _, colour = struct.unpack(">IIBB", chunk[:10])
            elif kind == b"IDAT":
                data += chunk
    depth = {2: 3, 6: 4}[colour]
    raw, rows, line, before = zlib.decompress(data), [], width * depth, bytes(width * depth)
    for y in range(height):
        method, row = raw[y * (line + 1)], bytearray(raw[y * (line + 1) + 1:(y + 1) * (line + 1)])
        for i in range(line):
            left = row[i - depth] if i >= depth else 0
            up, corner = before[i], before[i - depth] if i >= depth else 0
            if method == 1:
                row[i] = (row[i] + left) & 255
            elif method == 2:
                row[i] = (row[i] + up) & 255
            elif method == 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            elif method == 4:
                nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))
                row[i] = (row[i] + nearest[2]) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, line, depth)])
        before = bytes(row)
    return rows


def kind_of(pixel):
    """Which kind of function has such a colour."""
    hue, light, strength = colorsys.rgb_to_hls(*(c / 255 for c in pixel))
    if light > 0.99:
        return "nothing"
    if strength < 0.1:
        return "program"
    return "kernel" if 0.5 < hue < 0.68 else "user" if hue < 0.17 else "?"


def boxes(data):
    """The picture as it should be: [(depth, from, to, kind)], places as parts of the width."""
    count = len(data["parent"])
    total, callees, out = [0] * count, [[] for _ in range(count)], []
    for node, weight in zip(data["self"][0][::2], data["self"][0][1::2]):
        while node >= 0:
            total[node] += weight
            node = data["parent"][node]
    for node in range(1, count):
        callees[data["parent"][node]].append(node)

    def place(node, depth, at):
        kind = ["program", "user", "kernel", "user"][data["kind"][data["frame"][node]]]
        out.append((depth, at / total[0], (at + total[node]) / total[0], kind))
        for callee in sorted(callees[node], key=lambda n: (data["texts"][data["name"][data["frame"][n]]], n)):
            place(callee, depth + 1, at)
            at += total[callee]
    place(0, 0, 0)
    return out


def look(path, data):
    """Compares a browser's picture of a page with boxes(): how many points are as they should be."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=640,520",
               "--virtual-time-budget=3000", f"--screenshot={os.path.abspath('look.png')}", f"file://{os.path.abspath(path)}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
                          env=dict(os.environ, HOME=os.path.abspath(".")))
    if not os.path.exists("look.png"):
        report("looks-as-computed (PIC-LOOK)", False, done.stderr[-500:])
        return
    rows = pixels("look.png")
    grey = [y for y, row in enumerate(rows) if sum(kind_of(p) == "program" and p == row[320] for p in row) > 560]
    if not grey:
        report("looks-as-computed (PIC-LOOK)", False, "there is no lowest box")
        return
    bottom = max(grey)
    left, right = (f(x for x, p in enumerate(rows[bottom]) if p == rows[bottom][320]) for f in (min, max))
    good = bad = 0
    wrong = []
    for depth, start, end, kind in boxes(data):
        x, y = left + (right + 1 - left) * end - 3, bottom - 18 * depth - 15
        if (end - start) * (right - left) < 8:
            continue
        if kind_of(rows[y][round(x)]) == kind:
            good += 1
        else:
            bad += 1
            wrong.append((depth, kind, rows[y][round(x)]))
    report("looks-as-computed (PIC-LOOK)", good > 10 and bad == 0, f"{good} boxes are as they should be, {bad} are not: {wrong[:5]}")
    deepest = max(depth for depth, *_ in boxes(data))
    report("nothing-above (PIC-LOOK)", kind_of(rows[bottom - 18 * (deepest + 1) - 12][320]) == "nothing", "")


folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
shutil.copy(WEIGHTS, "weights")
make_hostile()
os.mkdir("elsewhere")

# From a command to a page, in one step.
got = tally("flamegraph", "-o", "weights.html", "--", "./weights", "alone", "200")
report("one-step (PIC-ONE)", got[0] == 0 and got[1] == b"" and "open it in a browser" in got[2], got)
data, page = page_data("weights.html")
found = stacks(data)
for function, percent in (("fifty", 50), ("thirty", 30), ("twenty", 20)):
    got = 100 * share(found, function) / max(sum(share(found, f) for f in ("fifty", "thirty", "twenty")), 1)
    report(f"true-shares-{function} (PIC-TRUE)", abs(got - percent) < 2, got)
report("chain (PIC-TRUE)", any(path[0] == "weights" and path[-5:-1] == ("main", "work", "a_round", "a_round") for path in found), list(found)[:3])
report("kernel-and-user (PIC-TRUE)", {1, 2} <= set(data["kind"]), set(data["kind"]))
report("self-contained (PIC-FILE)", not re.search(r"""(?:src|href|url)\s*[=(]|https?:|@import""", page), "")

# Names that would be more than names.
got = tally("perf", "record", "-q", "-g", "-e", "instructions:u", "-c", "20011", "--", "./hostile")
equal("record", got[0], 0)
got = tally("flamegraph", "-o", "hostile.html")
matches("title-of-a-recording", page_data("hostile.html")[1], r"<title>perf record [^<]*\./hostile</title>")
got = tally("flamegraph", "--title", HOSTILE, "-o", "hostile.html")
data, page = page_data("hostile.html")
found = stacks(data)
report("hostile-names (PIC-ESCAPE)", abs(share(found, HOSTILE) - 50) < 3 and ("1/1 1.0: 1 <x>:" in {path[0] for path in found}), found)
report("hostile-names-are-text (PIC-ESCAPE)", page.count("<script") == 2 and "<b on" not in page, page[:300])
matches("title (PIC-ESCAPE)", html.unescape(page), re.escape(f"<title>{HOSTILE}</title>"))

# The same recording in the other formats: all weights are there, wherever tally is called.
got = tally("export", "--collapsed", "-o", "-", cwd=None)
lines = dict(line.rsplit(" ", 1) for line in got[1].decode().splitlines())
total = sum(map(int, lines.values()))
equal("collapsed (PIC-WEIGHT)", total, sum(found.values()))
got = tally("export", "--speedscope", "-i", "../perf.data", cwd="elsewhere")
equal("from-elsewhere", (got[0], os.listdir("elsewhere")), (0, ["speedscope.json"]))
with open("elsewhere/speedscope.json", encoding="ascii") as file:
    speedscope = json.load(file)
weights = sum(sum(profile["weights"]) for profile in speedscope["profiles"])
names = {speedscope["shared"]["frames"][f]["name"] for p in speedscope["profiles"] for stack in p["samples"] for f in stack}
report("speedscope (PIC-WEIGHT)", weights == total and HOSTILE in names and
       all(len(p["samples"]) == len(p["weights"]) and p["endValue"] == sum(p["weights"]) and p["unit"] == "none" for p in speedscope["profiles"]) and
       speedscope["$schema"] == "https://www.speedscope.app/file-format-schema.json", (weights, total, names))
with open("perf.data", "rb") as recording:
    got = tally("export", "--firefox", "-i", "-", "-o", "-", stdin=recording.read())
firefox = json.loads(got[1])
# What the Profiler's own code looks at in a file of version 48, when it brings that up to date.
COLUMNS = {"frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID implementation line column",
           "funcTable": "name isJS relevantForJS resource fileName lineNumber columnNumber", "resourceTable": "type lib name host",
           "nativeSymbols": "libIndex address name functionSize", "stackTable": "frame prefix category subcategory",
           "markers": "data name startTime endTime phase category", "samples": "stack time weight weightType"}
weights, good = 0, firefox["meta"]["preprocessedProfileVersion"] == 48 and firefox["meta"]["markerSchema"] == []
for thread in firefox["threads"]:
    weights += sum(thread["samples"]["weight"])
    good = good and all(set(thread[table]) == {"length", *columns.split()} for table, columns in COLUMNS.items())
    good = good and max(thread["funcTable"]["name"]) < len(thread["stringArray"]) and isinstance(thread["pid"], str)
    for table in ("frameTable", "funcTable", "stackTable", "resourceTable", "samples"):
        columns = [c for c in thread[table].values() if isinstance(c, list)]
        good = good and all(len(c) == thread[table]["length"] for c in columns)
    good = good and all(p is None or p < i for i, p in enumerate(thread["stackTable"]["prefix"]))
    good = good and thread["samples"]["time"] == sorted(thread["samples"]["time"])
report("firefox (PIC-WEIGHT)", good and weights == total, (good, weights, total))

# What else reads recordings, where it is installed.
if shutil.which("perf"):
    done = subprocess.run(["perf", "report", "-i", "perf.data", "--stdio", "--no-children", "-g", "none", "--sort", "symbol"],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    theirs = dict((name, float(part)) for part, name in re.findall(r"^\s+([\d.]+)%\s+\[.\] (.*?)(?:\s+-\s+-)?\s*$", done.stdout.decode(), re.M))
    report("host's-perf (PIC-OTHERS)", abs(theirs.get("harmless", 0) - share(found, "harmless")) < 1 and HOSTILE in theirs, theirs or done.stderr)
else:
    skip("host's-perf (PIC-OTHERS)", "there is no perf here (Debian package linux-perf)")
parser = next(iter(glob.glob("/usr/lib/*/libexec/hotspot-perfparser")), None)
if parser:
    done = subprocess.run([parser, "--input", "perf.data", "--output", "out", "--sysroot", "elsewhere", "--app", "."],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, env=dict(os.environ, QT_QPA_PLATFORM="offscreen"))
    with open("out", "rb") as out:
        names = out.read()
    report("hotspot (PIC-OTHERS)", done.returncode == 0 and b"harmless" in names and HOSTILE.encode() in names, done)
else:
    skip("hotspot (PIC-OTHERS)", "there is no hotspot here (Debian package hotspot)")

# What cannot be drawn is told, and no file is touched.
before = page
size = os.path.getsize("perf.data")
with open("perf.data", "rb") as whole, open("short.data", "wb") as short, open("wrong.data", "wb") as wrong:
    short.write(whole.read(size // 2))
    wrong.write(b"This is no recording. " * 100)
tally("perf", "record", "-q", "-e", "instructions:u", "-c", "1000000000", "-o", "empty.data", "--", "true")
for name, words in (("empty", "there are no samples in empty.data"), ("short", "cannot read short.data"),
                    ("wrong", "cannot read wrong.data"), ("missing", "cannot read missing.data")):
    got = tally("flamegraph", "-i", f"{name}.data", "-o", "hostile.html")
    report(f"{name}-recording (PIC-BAD)", got[0] == 125 and words in got[2], got)
    if name in ("short", "wrong"):
        report(f"{name}-recording-in-perf's-words (PIC-BAD)", len(got[2].splitlines()) > 1, got)
equal("bad-recordings-touch-nothing (PIC-BAD)", page_data("hostile.html")[1], before)
before = sorted(os.listdir("."))
got = tally("export", "--collapsed", "-e", "nonsense")
report("no-such-event", got[0] == 2 and "there is no event nonsense in the recording" in got[2], got)
equal("no-such-event-leaves-nothing (PIC-BAD)", sorted(os.listdir(".")), before)
got = tally("flamegraph", "-o", "nowhere/page.html", "--", "sh", "-c", "echo begun")
equal("told-before-recording (PIC-BAD)", got, (125, b"", "tally: cannot write nowhere/page.html: No such file or directory\n"))
got = tally("flamegraph", "-o", "failed.html", "--", "sh", "-c", "./weights alone 20; exit 3")
report("failing-command (PIC-ONE)", got[0] == 3 and share(stacks(page_data("failed.html")[0]), "fifty") > 10, got)
got = tally("flamegraph", "--", "not-there")
report("no-command (PIC-ONE)", got[0] == 127 and "not-there: not found" in got[2], got)
few, many = (tally("export", "--collapsed", "-o", "-", "-e", "instructions:u", "-c", count, "--", "./weights", "alone", "20")
             for count in ("20011", "1009"))
few_total, many_total = (sum(int(line.split()[-1]) for line in got[1].splitlines()) for got in (few, many))
report("many-samples-are-all-there (PIC-WEIGHT)", abs(few_total - many_total) < few_total // 20 and not many[2],
       (few_total, many_total, many[2]))
got = tally("flamegraph", "-o", "left-out.html", "-c", "1", "--", "true")
report("samples-left-out-are-told (PIC-WEIGHT)", got[0] == 0 and "samples were left out" in got[2], got)
terminal = Terminal("flamegraph", "-o", "ended.html", "--", "sh", "-c", "echo begun; while :; do :; done")
terminal.expect("begun")
terminal.type("\x03")
report("ctrl-c-ends-and-draws (PIC-ONE)", terminal.expect("ended.html: .*open it in a browser"), terminal.text)
terminal.end()
for name, words, sentence in (("no-format", ["export"], "export needs --speedscope"), ("two-formats", ["export", "--firefox", "--collapsed"], "one format at a time"),
                              ("stray-word", ["flamegraph", "perf.data"], "a recording is named with -i"),
                              ("no-number", ["flamegraph", "-c", "0", "--", "true"], "--count takes a number from 1, not '0'"),
                              ("format-of-export", ["flamegraph", "--firefox"], "flamegraph has no option --firefox")):
    got = tally(*words)
    report(f"usage-{name}", got[0] == 2 and sentence in got[2], got)
equal("help", (tally("flamegraph", "--help")[0], tally("export", "--help")[0]), (0, 0))

if shutil.which("chromium") or shutil.which("google-chrome"):
    look("weights.html", page_data("weights.html")[0])
else:
    skip("looks-as-computed (PIC-LOOK)", "there is no chromium here (Debian package chromium)")
os.chdir("/")
finish()
