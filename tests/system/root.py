#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A root file system of the user's own: a folder, an archive, or none [--root]."""
import glob
import io
import os
import shutil
import subprocess
import tarfile
import tempfile

from harness import TALLY, equal, finish, matches, report, run

TALLY[0] = os.path.abspath(TALLY[0])
PROGRAMS = os.path.abspath("build/arm64/tests/system/programs")
folder = tempfile.mkdtemp(prefix="tally root, ")

# A small root, made in the guest, where there are arm64 programs and one may do anything.
MAKE = r"""
set -e
mkdir /tmp/r; cd /tmp/r
mkdir -p usr/bin etc srv/a dev run
cp /usr/bin/busybox usr/bin/
ln -s usr/bin bin
for i in sh ls cat cmp stat id; do ln -s busybox usr/bin/$i; done
ln usr/bin/busybox usr/bin/hard
chmod 4755 usr/bin/busybox
echo one > srv/one; ln srv/one srv/two; ln -s /srv/one srv/absolute; ln -s ../srv/one srv/relative
chown 1000:1001 srv/one
mkfifo srv/fifo
mkdir -m 1777 srv/sticky
n=$(printf %0200d 7); mkdir -p srv/$n/$n; echo long > srv/$n/$n/$n
echo x > dev/left-out; echo x > run/left-out; echo '#!/bin/none' > init
tar -cf - -C /tmp/r .
"""
LOOK = ("stat -c '%n %a %u %g %h %F' /usr/bin/busybox /srv/one /srv/fifo /srv/sticky; "
        "cat /srv/absolute /srv/relative /srv/two /srv/0*/*/*; ls -d /dev/left-out /run/left-out 2>&1; "
        "ls -d /tmp /root /proc/1; pwd")


def path(name):
    return os.path.join(folder, name)


# A cache of its own, for the images made here; Debian's Linux is taken over from the usual one.
usual = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
OWN_CACHE = dict(os.environ, XDG_CACHE_HOME=path("cache"))


def own(root, *words, options=(), **how):
    how.setdefault("cwd", folder)
    status, out, err = run(*words, options=["--root", root, *options], env=OWN_CACHE, **how)
    return status, out.decode(errors="replace"), err


def check(name, root, user, group, options=()):
    status, out, err = own(root, "sh", "-c", LOOK, options=options)
    lines = out.splitlines()
    equal(f"{name}: modes and owners", lines[:4],
          ["/usr/bin/busybox 4755 0 0 2 regular file", f"/srv/one 644 {user} {group} 2 regular file",
           "/srv/fifo 644 0 0 1 fifo", "/srv/sticky 1777 0 0 2 directory"])
    equal(f"{name}: links and long names", lines[4:8], ["one", "one", "one", "long"])
    report(f"{name}: what is the kernel's is left out", out.count("No such file") == 2, out)
    equal(f"{name}: folders that are needed", lines[-4:-1], ["/proc/1", "/root", "/tmp"])
    equal(f"{name}: the current folder is shared", lines[-1:], [folder])
    report(f"{name}: it says what it does", "making an image of" in err, err)


def add(tar, name, text=None, target=None, kind=None):
    entry = tarfile.TarInfo(name)
    entry.mode = 0 if kind == tarfile.LNKTYPE else 0o755
    entry.type = kind or (tarfile.SYMTYPE if target else tarfile.REGTYPE if text else tarfile.DIRTYPE)
    entry.linkname = target or ""
    entry.size = len(text or "")
    tar.addfile(entry, io.BytesIO(text.encode()) if text else None)


def odd_tar(name):
    """What tar(1) unpacks well: paths through links, entries that come twice, folders that are missing."""
    shutil.copy(path("root.tar"), path(name))
    with tarfile.open(path(name), "a") as tar:
        add(tar, "/absolute/", kind=tarfile.DIRTYPE)
        add(tar, "through", target="/absolute")
        add(tar, "through/../through/./file", text="through a link")
        add(tar, "srv/up", target="../absolute")
        add(tar, "srv/up/file2", text="up")
        add(tar, "missing/folders/file", text="made")
        add(tar, "twice", text="first, and longer")
        add(tar, "hard", target="twice", kind=tarfile.LNKTYPE)
        add(tar, "second", text="old")
        add(tar, "second", text="new")
        add(tar, "turned", text="a file")
        add(tar, "turned/", kind=tarfile.DIRTYPE)
        add(tar, "turned/file", text="in a folder")
        add(tar, "device", kind=tarfile.CHRTYPE)
        add(tar, "dev", text="no folder")
        add(tar, "proc", target="/srv")
        add(tar, "n" * 255, text="a long name")


def refused(name, root, pattern, status=125, options=()):
    got, out, err = own(root, "true", options=options)
    equal(f"{name}: status", (got, out), (status, ""))
    matches(f"{name}: message", err, f"tally: [^\n]*{pattern}[^\n]*\n$")


try:
    os.makedirs(path("cache/tally"))
    for image in glob.glob(f"{usual}/tally/linux-*"):
        os.link(image, path("cache/tally/" + os.path.basename(image)))
    status, out, err = run("sh", stdin=MAKE.encode(), options=["--no-share"])
    with open(path("root.tar"), "wb") as file:
        file.write(out)
    equal("a root is made", (status, err), (0, ""))

    check("tar", "root.tar", 1000, 1001)
    equal("the second time it is there", own("root.tar", "sh", "-c", ":"), (0, "", ""))
    odd_tar("odd.tar")
    odd = "cd /; for f in absolute/file absolute/file2 missing/folders/file hard second turned/file; do cat $f; echo; done; ls device"
    expected = "through a link\nup\nmade\nfirst, and longer\nnew\nin a folder\n"
    status, out, err = own("odd.tar", "sh", "-c", odd)
    equal("an odd tar", out, expected)
    matches("devices are left out", err, "device: No such file")
    equal("an odd tar on Linux", own("odd.tar", "sh", "-c", odd, options=["--kernel=linux"])[1], expected)
    check("tar on Linux", "root.tar", 1000, 1001, ["--kernel=linux"])

    # None: PID 1 and the program.
    for program in ("weights", "weights-dynamic"):
        shutil.copy(os.path.join(PROGRAMS, program), path(program))
    equal("none", own("none", "./weights", "alone", "1")[0], 0)
    equal("none, from elsewhere", own("none", path("weights"), "alone", "1", cwd="/")[0], 0)
    status, out, err = own("none", "./weights-dynamic", "alone", "1")
    equal("none, not static: status", status, 127)
    matches("none, not static: message", err, "--root none is for static programs")
    status, out, err = own("none", "perf", "stat", "./weights")
    matches("none has no perf", err, "--root none has no programs; without it")
    equal("nothing is left", sorted(name for name in os.listdir(folder) if "perf" in name), [])

    for tool, name in (("xz", "root.tar.xz"), ("gzip", "root.tar.gz")):
        with open(path(name), "wb") as file:
            subprocess.run([tool, "-1", "-c", path("root.tar")], stdout=file, check=True)
        equal(name, own(name, "cat", "/srv/relative")[:2], (0, "one\n"))

    # A folder: what is ours is root's, and any change of it is seen.
    os.mkdir(path("dir"))
    subprocess.run(["tar", "-xf", path("root.tar"), "-C", path("dir")], check=True)
    expected = (1000, 1001) if os.getuid() == 0 else (0, 0)
    check("folder", "dir", *expected)
    with open(path("dir/srv/two"), "w", encoding="ascii") as file:
        file.write("changed\n")
    os.utime(path("dir/srv/two"), (0, 0))
    equal("a change is seen", own("dir", "cat", "/srv/one")[1], "changed\n")
    status, out, err = own("dir", "sh", "-c", "cmp /srv/deep/er root.tar && ls -d /srv/deep",
                           options=["--copy", "root.tar:/srv/deep/er"])
    equal("files go along", (status, out), (0, "/srv/deep\n"))
    status, out, err = own("dir", "perf", "stat", "true")
    equal("perf is missing: status", status, 127)
    matches("perf is missing: message", err, "perf has to be installed in the root dir")

    # What is no root.
    refused("not there", "nowhere", "cannot read --root nowhere: No such file")
    with open(path("text"), "w", encoding="ascii") as file:
        file.write("text\n" * 1000)
    refused("not a tar", "text", "--root text: it is neither a folder nor a tar archive")
    with open(path("root.tar.gz"), "rb") as file, open(path("half.tar.gz"), "wb") as half:
        half.write(file.read()[:100000])
    with tarfile.open(path("bad.tar"), "w") as tar:
        add(tar, "link", target="link2", kind=tarfile.LNKTYPE)
    refused("a hard link to nowhere", "bad.tar", "/link is a link to /link2, which is not there")
    with tarfile.open(path("long.tar"), "w") as tar:
        add(tar, "n" * 256, text="too long a name")
    refused("a name of 256 bytes", "long.tar", "cannot be put in place: too long a path")
    refused("half a tar", "half.tar.gz", "--root half.tar.gz: ")
    refused("a device", "/dev/null", "neither a folder nor a file")
    os.mkdir(path("empty"))
    refused("an empty folder", "empty", "there is no program for arm64 in it")
    os.mkdir(path("other"))
    shutil.copy("/bin/true", path("other/true"))
    if os.uname().machine == "x86_64":
        refused("another machine", "other", "its programs are for x86-64, not for arm64")
    with tarfile.open(path("layers.tar"), "w") as tar:
        tar.add(path("text"), "manifest.json")
    refused("docker save", "layers.tar", "docker export")
    with open(path("dir/large"), "wb") as file:
        file.truncate(300 << 20)
    refused("no room", "dir", "larger than the guest's memory; see --mem", options=["--mem", "256M"])
    os.remove(path("dir/large"))
    with open(path("dir/large"), "wb") as file:
        file.truncate(150 << 20)
    refused("little room", "dir", "takes up [0-9]+ MB, for which --mem 256M is too little; try --mem 512M",
            options=["--mem", "256M"])
    refused("with --package", "dir", "--package adds to Debian's root", 2, ["--package", "sl"])
finally:
    shutil.rmtree(folder)

finish()
