#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests that are built, for ./check; see there.

Every test prints lines "ok NAME", "not ok NAME: WHY" and "skip NAME: WHY" (unit tests: TAP). They
are run in jobs, one for each processor at a time. A job that prints no result, ends with a status
that its lines do not explain, or runs out of time has failed once more. All that the jobs print is
in build/check.log.
"""
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TALLY = "build/host/host/tally"
JOB_LIMIT = 1500  # seconds, for a machine that has other work to do

# System tests that are also run on Linux: what they say of Tally is true there as well.
ON_LINUX = ["command.py", "terminal.py"]

# Conformance programs that are run once more with several CPUs, and on which machines.
WITH_CPUS = ["perf_smp", "perf_storm", "perf_user"]
MACHINES = {
    "linux, 2 CPUs": ["--kernel=linux", "--smp", "2"],
    "tally, 4 CPUs": ["--smp", "4"],
    "tally, 4 CPUs in parallel": ["--smp", "4", "--no-exact"],
}
FULL_LIMIT = 3600


class Result:
    def __init__(self, name, text, problem=None, seconds=0.0):
        self.name, self.text, self.seconds = name, text, seconds
        self.passed = re.findall(r"^ok\b.*", text, re.M)
        self.failed = re.findall(r"^not ok\b.*", text, re.M)
        self.skipped = re.findall(r"^skip\b.*", text, re.M)
        if problem:
            self.failed.append(f"not ok {name}: {problem}")
        elif not self.passed and not self.failed and not self.skipped:
            self.failed.append(f"not ok {name}: it gave no result")


def run(name, words, limit, env=None):
    """One job: a command whose output has the lines of results."""
    begin = time.monotonic()
    try:
        done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=limit, check=False,
                              env=dict(os.environ, **(env or {})))
        text, status = done.stdout.decode(errors="replace"), done.returncode
        explained = status == 0 or (status == 1 and re.search(r"^not ok", text, re.M))
        problem = None if explained else f"exit status {status}: {' '.join(text.split()[-60:])}"
    except subprocess.TimeoutExpired as error:
        text, problem = (error.stdout or b"").decode(errors="replace"), f"not done after {limit} s"
    return Result(name, text, problem, time.monotonic() - begin)


def unit():
    """Meson's test log has one object in each line, with what the test printed."""
    begin = time.monotonic()
    log = ROOT / "build/host/meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    meson = subprocess.run(["meson", "test", "-C", "build/host", "--no-rebuild"], cwd=ROOT,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False)
    lines = []
    for line in log.read_text().splitlines() if log.exists() else []:
        test = json.loads(line)
        results = re.findall(r"^(?:not )?ok\b.*", test.get("stdout", ""), re.M)
        lines += [re.sub(r"ok \d+ - ", f"ok {test['name']}: ", result) for result in results]
        good = test["result"] in ("OK", "EXPECTEDFAIL")
        if not good and not any(result.startswith("not") for result in results):
            lines.append(f"not ok {test['name']}: {test['result']} {test.get('stderr', '')[-2000:]}")
        elif good and not results:
            lines.append(f"ok {test['name']}")
    text = "\n".join(lines) + "\n"
    problem = None
    if meson.returncode and "not ok" not in text:
        problem = meson.stdout.decode(errors="replace")[-2000:]
    return Result("unit", text, problem, time.monotonic() - begin)


def conformance(machine, options, names, limit=JOB_LIMIT):
    """All conformance programs, or those named, in one boot."""
    folder = ROOT / "build/arm64/tests/conformance"
    programs = [p for p in sorted(folder.iterdir()) if p.is_file() and os.access(p, os.X_OK)]
    words = [TALLY, "--no-share", "--timeout", str(limit - 30), *options]
    for program in programs:
        if not names or program.name in names:
            words += ["--copy", f"{program}:/conformance/{program.name}"]
    words += [str(folder / "run-all"), "/conformance", *names]
    return run(f"conformance on {machine}", words, limit)


def full(machine):
    """As much of everything as there is patience for."""
    return conformance(f"{machine}, in full", [*MACHINES[machine], "--env", "PERF_SMP_FULL=1"],
                       WITH_CPUS, FULL_LIMIT)


def system(path, kernel):
    return run(f"{path.stem} on {kernel}", [sys.executable, str(path)], JOB_LIMIT,
               {"TALLY": f"{TALLY} --kernel={kernel}", "KERNEL": kernel})


def system_programs():
    return [p for p in sorted((ROOT / "tests/system").glob("*.py")) if p.name != "harness.py"]


def choose(words):
    """The jobs that the words of the command line name; without words, all."""
    named = [w for w in words if w not in ("unit", "conformance", "system", "full")]
    programs = {p.name for p in (ROOT / "tests/conformance").glob("*.c")}
    conforming = [w for w in named if w + ".c" in programs]
    systems = [p for p in system_programs() if p.stem in named or p.name in named]
    unknown = set(named) - set(conforming) - {p.stem for p in systems} - {p.name for p in systems}
    if unknown:
        sys.exit(f"check: there is no test {' '.join(sorted(unknown))}")
    jobs = []
    if not words or "conformance" in words or conforming:
        names = [] if not words or "conformance" in words else conforming
        jobs += [lambda k=k: conformance(k, [f"--kernel={k}"], names) for k in ("linux", "tally")]
        several = [name for name in WITH_CPUS if not names or name in names]
        if several:
            jobs += [lambda m=m: conformance(m, MACHINES[m], several) for m in MACHINES]
    if "full" in words:
        jobs += [lambda m=m: full(m) for m in MACHINES if m.startswith("tally")]
    if not words or "system" in words:
        systems = system_programs()
    for path in systems:
        jobs.append(lambda p=path: system(p, "tally"))
        if path.name in ON_LINUX:
            jobs.append(lambda p=path: system(p, "linux"))
    return jobs, not words or "unit" in words


def make_images():
    """The images are made before the jobs begin, so that no job's time has the downloads in it."""
    for kernel in ("linux", "tally"):
        subprocess.run([TALLY, f"--kernel={kernel}", "--timeout", "60", "true"], cwd=ROOT,
                       stdin=subprocess.DEVNULL, check=False)


def main():
    words = sys.argv[1:]
    if words[:1] == ["--look"]:
        choose(words[1:])
        return 0
    jobs, with_units = choose(words)
    passed = failed = skipped = 0
    with open(ROOT / "build/check.log", "w", encoding="utf-8") as log:
        def tell(result):
            nonlocal passed, failed, skipped
            passed += len(result.passed)
            failed += len(result.failed)
            skipped += len(result.skipped)
            log.write(f"== {result.name}\n{result.text}\n")
            print(f"{result.name}: {len(result.passed)} ok, {len(result.failed)} not ok, "
                  f"{len(result.skipped)} skipped, {result.seconds:.0f} s")
            for line in result.failed + result.skipped:
                print(f"  {line}")
            sys.stdout.flush()

        if with_units:
            print("check: unit tests; half a minute", flush=True)
            tell(unit())
        if jobs:
            make_images()
            print(f"check: {len(jobs)} jobs, {os.cpu_count()} at a time" if len(jobs) > 1 else "check: one job", flush=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for future in as_completed([pool.submit(job) for job in jobs]):
                tell(future.result())
    print(f"{skipped} skipped; all output is in build/check.log")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
