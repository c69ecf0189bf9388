#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The current folder, shared with the guest."""
import hashlib
import os
import shutil
import tempfile

from harness import KERNEL, TALLY, equal, finish, matches, report, run

TALLY[0] = os.path.abspath(TALLY[0])
PROGRAMS = os.path.abspath("build/arm64/tests/system/programs")
folder = tempfile.mkdtemp(prefix="tally share, ")  # a space and a comma, as people have them


def path(name):
    return os.path.join(folder, name)


def shell(script, **how):
    status, out, err = run("sh", "-c", script, cwd=folder, **how)
    return status, out.decode(errors="replace") + err


def digest(name):
    with open(path(name), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


try:
    # Contents, both ways, to the byte.
    with open(path("in"), "wb") as file:
        file.write(os.urandom(20 * 1024 * 1024 + 7))
    out = shell("sha256sum < in; cp in out; printf more >> out; dd if=out of=out bs=1 count=3 skip=5 seek=9 conv=notrunc 2>/dev/null; sha256sum out")[1]
    with open(path("in"), "rb") as file:
        expected = bytearray(file.read() + b"more")
    expected[9:12] = expected[5:8]
    equal("reads-to-the-byte", out.split()[0], digest("in"))
    equal("writes-to-the-byte", digest("out"), hashlib.sha256(expected).hexdigest())
    equal("what-the-guest-sees-of-it", out.split()[2], digest("out"))

    # A program of the user's, its files, and perf's file comes back.
    shutil.copy(os.path.join(PROGRAMS, "weights"), path("weights"))
    equal("own-program", run("./weights", "alone", "1", cwd=folder)[0], 0)
    out = shell("perf record -e cycles:u -c 100003 ./weights alone 200 && perf report --stdio -n 2>/dev/null | head -20")[1]
    matches("record-and-report-here", out, "fifty")
    report("perf.data-is-here", os.path.exists(path("perf.data")) and os.path.getsize(path("perf.data")) > 1000, os.listdir(folder))

    # Names.
    status, out = shell("set -e; mkdir -p a/b; echo 1 > a/b/f; mv a/b/f a/g; ln -s g a/link; ln a/g a/hard; cat a/link; "
                        "chmod 640 a/g; touch -d '2020-02-03 04:05:06 UTC' a/g; stat -c '%a %h %Y %U' a/g; rmdir a/b; rm a/hard; ls a")
    equal("names-and-attributes", out.split(), ["1", "640", "2", "1580702706", "root", "g", "link"])
    equal("on-the-host", (sorted(os.listdir(path("a"))), os.readlink(path("a/link")), oct(os.stat(path("a/g")).st_mode & 0o777),
                          int(os.stat(path("a/g")).st_mtime)), (["g", "link"], "g", "0o640", 1580702706))
    equal("belongs-to-who-ran-it", os.stat(path("a/g")).st_uid, os.getuid())
    status, out = shell("rmdir a; rm nothing; cat a; mkdir a; mv in nowhere/x; ls -d nothing")
    for words in ("not empty", "No such file", "Is a directory", "File exists"):
        report(f"errors-are-told: {words}", words.lower() in out.lower(), out)
    status, out = shell("echo é > 'ü ß, x'; ls; cat 'ü ß, x'")
    report("names-with-anything", os.path.exists(path("ü ß, x")) and "é" in out, out)

    # Many files.
    os.mkdir(path("many"))
    for i in range(3000):
        with open(path(f"many/{i:05}"), "w") as file:
            file.write(str(i))
    equal("many-files", shell("ls many | wc -l; ls -f many | sort -u | wc -l; cat many/02999")[1].split(), ["3000", "3002", "2999"])
    equal("many-removed", (shell("rm -r many; ls -d many 2>/dev/null")[1], os.path.exists(path("many"))), ("", False))

    # What the host does meanwhile is seen; locks, append, sync, truncation.
    status, out = shell("python3 -c \"\n"
                        "import os, fcntl, mmap\n"
                        "f = open('log', 'a+b'); f.write(b'x' * 5000); f.flush(); os.fsync(f.fileno())\n"
                        "fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)\n"
                        "m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); print(len(m), m[4999:])\n"
                        "os.ftruncate(f.fileno(), 10); print(os.fstat(f.fileno()).st_size)\n"
                        "f.write(b'end'); f.flush(); print(open('log', 'rb').read())\n\"")
    equal("python-on-it", out.splitlines(), ["5000 b'x'", "10", "b'xxxxxxxxxxend'"])

    # Not shared when it is not wanted, nor when it would hide the guest's own.
    equal("no-share", shell("ls -A", options=["--no-share"])[1], "")
    equal("system-folder", run("sh", "-c", "test -e /etc/os-release && cd / && ls -d usr", cwd="/usr/lib")[1], b"usr\n")
    status, out, err = run("true", cwd=folder, options=["--copy", f"/etc/hostname:{folder}/x"])
    equal("copy-into-the-shared-folder", (status, "shared folder" in err), (2, True))

    # Several processes at the same names, which only the host knows: on one CPU and on four.
    for cpus in ("1", "4"):
        out = shell("mkdir race && cd race && for i in $(seq 100); do echo >f$i; done; "
                    "for p in 1 2 3 4; do (for i in $(seq 100); do : <f$i; done) & done; wait; "
                    "for p in 1 2 3 4; do (for i in $(seq 50); do printf x >>l$i; done) & done; wait; cat l* | wc -c; "
                    "for p in 1 2 3 4; do (for i in $(seq 20); do mkdir d$i 2>/dev/null && echo made; done) & done | wc -l; wait",
                    options=["--smp", cpus])[1].split()
        equal(f"several at the same names, {cpus} CPUs", out, ["200", "20"])
        shutil.rmtree(path("race"))

    # Exact all the same.
    if KERNEL == "tally":
        command = ["perf", "stat", "-x,", "-e", "instructions:u", "./weights", "alone", "20"]
        equal("exact", len({run(*command, cwd=folder)[2] .split(",")[0] for _ in range(3)}), 1)

    os.chmod(folder, 0o555)
    if os.getuid() != 0:
        report("read-only-folder", "denied" in shell("echo > new")[1], "it was written")
finally:
    os.chmod(folder, 0o755)
    shutil.rmtree(folder)

finish()
