#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Debian packages added to the root [--package]. Needs a mirror of Debian's, as the first use does."""
import os
import shutil
import tempfile

from harness import equal, finish, matches, report, run

cache = tempfile.mkdtemp(prefix="tally-cache")
environment = dict(os.environ, XDG_CACHE_HOME=cache)


def with_packages(names, *words):
    options = [word for name in names for word in ("--package", name)]
    status, out, err = run(*words, options=options, env=environment)
    return status, out.decode(errors="replace"), err


try:
    # A package with alternatives, one with a library of its own, and what the base image trims.
    names = ["vim-tiny", "sqlite3", "sqlite3"]
    status, out, err = with_packages(names, "sh", "-c", "readlink -f /usr/bin/vi; vi --version | head -n 1; "
                                     "sqlite3 :memory: 'select 6 * 7'; readlink -f /usr/bin/awk; "
                                     "iconv -f latin1 -t utf8 < /dev/null && perf --version")
    lines = out.splitlines()
    equal("status", status, 0)
    equal("alternatives", (lines[:1], lines[3:4]), (["/usr/bin/vim.tiny"], ["/usr/bin/mawk"]))
    matches("a program", out, "VIM - Vi IMproved")
    equal("a program with a library", lines[2:3], ["42"])
    matches("what is there anyway", lines[-1] if lines else "", "perf version")
    matches("progress", err, "making a root image with the packages.*downloading packages")

    status, out, err = with_packages(["sqlite3", "vim-tiny"], "true")
    equal("the same set, in another order", (status, err), (0, ""))

    status, out, err = with_packages(["sqlite3", "no-such-package"], "true")
    equal("unknown: status", (status, out), (125, ""))
    matches("unknown: message", err, "\ntally: there is no package no-such-package for arm64 in Debian "
            "[a-z]+\n$")
    for name in ("a b", "-y", "a,b", "~x", "A"):
        status, out, err = with_packages([name], "true")
        equal(f"no name: {name}", (status, err),
              (2, f"tally: --package takes the name of a Debian package, not '{name}'\n"))
    report("nothing unfinished is left", not [n for n in os.listdir(cache + "/tally") if ".new" in n],
           os.listdir(cache + "/tally"))
finally:
    shutil.rmtree(cache)

finish()
