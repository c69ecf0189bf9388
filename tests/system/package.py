#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Debian packages added to the root [--package]. Needs a mirror of Debian's, as the first use does."""
import os
import shutil
import subprocess
import sys
import tempfile

from harness import LIMIT, TALLY, equal, finish, matches, report, skip

cache = tempfile.mkdtemp(prefix="tally-cache")
environment = dict(os.environ, XDG_CACHE_HOME=cache)


def words(names, *command):
    options = [word for name in names for word in ("--package", name)]
    return [*TALLY, "--timeout", str(LIMIT), *options, *command]


def with_packages(names, *command):
    done = subprocess.run(words(names, *command), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=environment, timeout=LIMIT + 60, check=False)
    return done.returncode, done.stdout, done.stderr


LOOK = ("readlink -f /usr/bin/vi; vi --version | head -n 1; sqlite3 :memory: 'select 6 * 7'; "
        "readlink -f /usr/bin/awk; iconv -f latin1 -t utf8 < /dev/null && perf --version")

try:
    # Packages with alternatives and with a library, and what the base image lacks. Two at once, with
    # an empty cache: one makes the image.
    both = [subprocess.Popen(words(names, "sh", "-c", LOOK), stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
            for names in (["vim-tiny", "sqlite3", "sqlite3"], ["sqlite3", "vim-tiny"])]
    results = [(*process.communicate(timeout=300), process.returncode) for process in both]
    if any("is there a network?" in result[1] for result in results):
        skip("packages", "they cannot be fetched: " + " ".join(results[0][1].split()[-40:]))
        sys.exit(0)
    out = results[0][0]
    lines = out.splitlines()
    equal("status", [result[2] for result in results], [0, 0])
    equal("alternatives", (lines[:1], lines[3:4]), (["/usr/bin/vim.tiny"], ["/usr/bin/mawk"]))
    matches("a program", out, "VIM - Vi IMproved")
    equal("a program with a library", lines[2:3], ["42"])
    matches("what is there anyway", lines[-1] if lines else "", "perf version")
    equal("two at once have the same", results[0][0], results[1][0])
    said = sorted((result[1] for result in results), key=len)
    equal("one waits", said[0], "tally: waiting for another tally, which is making the images\n")
    matches("the other one says what it does", said[1],
            "making a root image with the packages.*downloading packages")
    equal("the same set, once more", with_packages(["sqlite3", "vim-tiny"], "true"), (0, "", ""))

    status, out, err = with_packages(["sqlite3", "no-such-package"], "true")
    equal("unknown: status", (status, out), (125, ""))
    matches("unknown: message", err, "\ntally: there is no package no-such-package for arm64 in Debian "
            "[a-z]+\n$")
    matches("no pattern", with_packages(["sqlite.-tools"], "true")[2],
            "\ntally: there is no package sqlite.-tools for arm64 in Debian [a-z]+\n$")
    for name in ("a b", "-y", "a,b", "~x", "A", "bash-"):
        status, out, err = with_packages([name], "true")
        equal(f"no name: {name}", (status, err),
              (2, f"tally: --package takes the name of a Debian package, not '{name}'\n"))
    report("nothing unfinished is left", not [n for n in os.listdir(cache + "/tally") if ".new" in n],
           os.listdir(cache + "/tally"))
finally:
    shutil.rmtree(cache)

finish()
