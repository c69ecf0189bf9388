#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Wrong use is told in one plain sentence, at once, without starting a guest."""
import os
import subprocess
import tempfile

import harness
from harness import TALLY, equal, matches, run

for name, words, sentence in [
        ("no-command", [], "tally: what shall be run\\? See tally --help"),
        ("unknown-option", ["--bogus", "true"], "tally: there is no option --bogus; "),
        ("unknown-letter", ["-q", "true"], "tally: there is no option -q; "),
        ("value-missing", ["--mem"], "tally: --mem needs a value; "),
        ("value-not-taken", ["--no-exact=1", "true"], "tally: --no-exact=1 takes no value; "),
        ("smp-zero", ["--smp", "0", "true"], "tally: --smp takes a number from 1 to 64, not '0'"),
        ("smp-text", ["--smp", "4x", "true"], "tally: --smp takes a number from 1 to 64, not '4x'"),
        ("mem-bad", ["--mem", "2", "true"], "tally: --mem takes a size from 256M to 255G, not '2'"),
        ("kernel-bad", ["--kernel=bsd", "true"], "tally: --kernel is tally or linux, not 'bsd'"),
        ("env-bad", ["--env", "A", "true"], "tally: --env takes NAME=VALUE, not 'A'")]:
    process = subprocess.run([TALLY[0], *words], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=20)
    equal(f"{name}-status", process.returncode, 2)
    matches(f"{name}-message", process.stderr, f"^{sentence}[^\n]*\n$")
process = subprocess.run([TALLY[0], "--help"], capture_output=True, text=True, timeout=20)
equal("help-status", (process.returncode, process.stderr), (0, ""))
matches("help-text", process.stdout, "^Usage: tally \\[OPTIONS\\] CMD")
process = subprocess.run([TALLY[0], "--version"], capture_output=True, text=True, timeout=20)
matches("version", process.stdout, "^tally [0-9.]+\n$")

with tempfile.TemporaryDirectory() as folder:
    plain, native, missing = (os.path.join(folder, n) for n in ("plain", "native", "missing"))
    with open(plain, "w", encoding="ascii") as file:
        file.write("text\n")
    with open("/proc/self/exe", "rb") as program, open(native, "wb") as file:
        file.write(program.read())
    os.chmod(native, 0o755)
    for name, words, status, sentence in [
            ("not-executable", [plain], 126, f"tally: {plain}: permission denied"),
            ("a-folder", [folder], 126, f"tally: {folder}: is a directory"),
            ("not-arm64", [native], 126, f"tally: {native}: is not a program for arm64"),
            ("copy-nothing", ["--copy", "", "true"], 2, "tally: --copy takes PATH[:TO], not ''"),
            ("copy-missing", ["--copy", missing, "true"], 125,
             f"tally: cannot read {missing}: No such file or directory"),
            ("log-unwritable", ["--log", "/nowhere/log", "true"], 125,
             "tally: cannot write /nowhere/log: No such file or directory")]:
        if name == "not-arm64" and os.uname().machine == "aarch64":
            harness.skip(name, "this machine's programs are for arm64")
            continue
        got = run(*words)
        equal(f"{name}-status", got[0], status)
        equal(f"{name}-message", got[2], f"{sentence}\n")

    # A current folder that has been removed.
    got = subprocess.run(["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh",
                          os.path.abspath(TALLY[0]), *TALLY[1:],
                          "--timeout", str(harness.LIMIT), "pwd"],
                         cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    equal("removed-folder", (got.returncode, got.stdout), (0, b"/\n"))

    # QEMU missing, and QEMU that does not understand what it is told.
    got = run("true", env=dict(os.environ, PATH=folder))
    equal("no-qemu-status", got[0], 125)
    matches("no-qemu-message", got[2], "qemu-system-aarch64 is not installed")
    fake = os.path.join(folder, "qemu-system-aarch64")
    with open(fake, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho 'QEMU emulator version 4.2.1'\n"
                   "test \"$1\" = --version || { echo 'unsupported machine' >&2; exit 1; }\n")
    os.chmod(fake, 0o755)
    got = run("true", env=dict(os.environ, PATH=f"{folder}:/usr/bin:/bin"))
    equal("old-qemu-status", got[0], 125)
    matches("old-qemu-message", got[2], "unsupported machine.*QEMU 7.2 or later.*4.2")
harness.finish()
