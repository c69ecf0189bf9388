#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tally doctor: what is missing on this machine, and what to do about it."""
import os
import shutil
import subprocess
import tempfile

from harness import TALLY, equal, finish, matches, report, run


def doctor(*words, path=None, **variables):
    environment = dict(os.environ, **variables)
    if path:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    done = subprocess.run([TALLY[0], "doctor", *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def program(folder, name, script):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(os.path.join(folder, name), 0o755)


run("true")  # the image is there after that
status, out, err = doctor()
equal("well: status", (status, err), (0, ""))
matches("well: a guest was run", out, "\nok +a guest starts, runs a command and ends, in [0-9.]+ s\nAll is well.\n$")
report("well: each line has a state", all(line.split()[0] in ("ok", "note", "All")
                                          for line in out.splitlines()), out)

folder = tempfile.mkdtemp(prefix="tally doctor ")
try:
    fakes = os.path.join(folder, "fakes")
    os.mkdir(fakes)

    program(fakes, "dpkg-query", "/usr/bin/dpkg-query \"$@\" | grep -v '^ninja-build '")
    status, out, err = doctor(path=fakes)
    equal("a package is missing: status", status, 1)
    matches("a package is missing: what to do", out, "MISSING +Debian packages: ninja-build\n"
            " +install them: .*apt-get install --no-install-recommends ninja-build\n")
    os.remove(os.path.join(fakes, "dpkg-query"))

    program(fakes, "qemu-system-aarch64", "echo QEMU emulator version 6.1.0")
    status, out, err = doctor(path=fakes)
    equal("an old QEMU: status", status, 1)
    matches("an old QEMU: what to do", out, "WRONG +QEMU 6.1 is too old; 7.2 or later")
    report("an old QEMU: no guest is started", "a guest" not in out, out)

    program(fakes, "qemu-system-aarch64", "test \"$1\" = --version && echo QEMU emulator version 8.0.1 && "
            "exit; echo machine: it broke >&2; exit 1")
    status, out, err = doctor(path=fakes)
    equal("a QEMU that breaks: status", status, 1)
    matches("a QEMU that breaks: its words", out, "WRONG +a guest does not run.*it broke")
    os.remove(os.path.join(fakes, "qemu-system-aarch64"))

    # A cache that is not there is made later; nothing is changed now.
    cache = os.path.join(folder, "cache")
    status, out, err = doctor(XDG_CACHE_HOME=cache)
    equal("no cache yet: status", status, 0)
    matches("no cache yet: what comes", out, "note +the root image is not there; the first command makes it")
    report("nothing is changed", not os.path.exists(cache), "the cache was made")
    status, out, err = doctor(XDG_CACHE_HOME="/etc/passwd")
    equal("no place for a cache: status", status, 1)
    matches("no place for a cache: what to do", out, "WRONG.*XDG_CACHE_HOME can name another")
finally:
    shutil.rmtree(folder)

status, out, err = doctor("--help")
equal("help", (status, out[:19], err), (0, "Usage: tally doctor", ""))
status, out, err = doctor("nurse")
equal("a word too many", (status, err), (2, "tally: doctor takes no 'nurse'; see tally doctor --help\n"))
status, out, err = run("--", "doctor")
equal("a program of that name", (status, err), (127, "tally: doctor: command not found\n"))
finish()
