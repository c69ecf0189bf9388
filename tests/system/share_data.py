#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Contents of the shared folder: much of it, mapped, locked, and when the host's side changes or is full."""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time

from harness import KERNEL, TALLY, equal, finish, matches, report, run, skip

TALLY[0] = os.path.abspath(TALLY[0])
folder = tempfile.mkdtemp(prefix="tally-share-")


def path(name):
    return os.path.join(folder, name)


def shell(script, where=folder, **how):
    status, out, err = run("sh", "-c", script, cwd=where, **how)
    return status, out.decode(errors="replace") + err


def python(script, where=folder):
    """A program in the guest, with the folder as its current one: what it says, errors included."""
    status, out, err = run("python3", "-c", "import ctypes, errno, fcntl, mmap, os, subprocess, sys, time\n"
                           "def say(*words): print(*words, flush=True)\n" + script, cwd=where)
    return out.decode(errors="replace").splitlines() + err.splitlines()


def put(name, data):
    with open(path(name), "wb") as file:
        file.write(data)


def get(name):
    with open(path(name), "rb") as file:
        return file.read()


def much():
    """200 MB there and back, to the byte."""
    size, block = 200 << 20, os.urandom(1 << 20)
    with open(path("big"), "wb") as file:
        for i in range(size >> 20):
            file.write(i.to_bytes(8, "little") + block[8:])
    begin = time.monotonic()
    status, out = shell("cat big > copy && stat -c '%s %b' copy && ls -s copy && du -k copy")
    seconds = time.monotonic() - begin
    same = subprocess.run(["cmp", path("big"), path("copy")], capture_output=True, text=True, check=False)
    equal("200-MB-to-the-byte", (status, same.stdout, same.returncode), (0, "", 0))
    print(f"# 200 MB read and written in {seconds:.1f} s, start of the guest included")
    report("200-MB-in-time", seconds < 60, f"{seconds:.1f} s")
    blocks = os.stat(path("copy")).st_blocks
    equal("blocks-are-told: stat ls du", out.split(),
          [str(size), str(blocks), str(blocks // 2), "copy", str(blocks // 2), "copy"])
    os.unlink(path("big"))
    os.unlink(path("copy"))


def many():
    """A folder with 10,000 files."""
    os.mkdir(path("many"))
    for i in range(10000):
        with open(path(f"many/{i:05}"), "w") as file:
            file.write("x" * (i % 7))
    begin = time.monotonic()
    out = shell("ls many | wc -l; ls -f many | sort -u | wc -l; ls -l many | awk '{ n += $5 } END { print NR, n }'; "
                "rm many/000*; ls many | wc -l")[1]
    seconds = time.monotonic() - begin
    equal("10000-files", out.split(), ["10000", "10002", "10001", str(sum(i % 7 for i in range(10000))), "9900"])
    equal("10000-files-on-the-host", len(os.listdir(path("many"))), 9900)
    print(f"# 10,000 files listed, with all their attributes, in {seconds:.1f} s")
    shutil.rmtree(path("many"))


def mapped():
    """mmap(2) of files here: what is written through a mapping is there for all, in the guest and here."""
    put("m", bytes(range(256)) * 64)
    out = python("f = open('m', 'r+b'); m = mmap.mmap(f.fileno(), 0)\n"
                 "m[0:5] = b'HELLO'; m[8190:8196] = b'across'\n"
                 "say(os.pread(f.fileno(), 5, 0), open('m', 'rb').read()[8190:8196])\n"   # read(2) sees it
                 "os.pwrite(f.fileno(), b'by write', 4090); say(m[4090:4098])\n"         # and the other way
                 "m[4100:4103] = b'xyz'; m.flush(); say(subprocess.run(['cut', '-b1-5', 'm'], capture_output=True).stdout[:5])\n"
                 "say(os.stat('m').st_size)\n"
                 "g = os.open('m', os.O_RDONLY)\n"
                 "try: mmap.mmap(g, 0, prot=mmap.PROT_READ | mmap.PROT_WRITE)\n"
                 "except PermissionError as e: say(errno.errorcode[e.errno])\n"
                 "p = mmap.mmap(g, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE); p[0] = 0; say(m[0])\n")
    equal("mapping-and-file-are-one", out, ["b'HELLO' b'across'", "b'by write'", "b'HELLO'", "16384", "EACCES", "72"])
    data = get("m")
    equal("mapping-reaches-the-host", (data[:5], data[8190:8196], data[4090:4103], len(data)),
          (b"HELLO", b"across", b"by write\x02\x03xyz", 16384))
    # Without any msync: at the end of the mapping, of the process, and at sync(2).
    put("m", bytes(40960))
    out = python("f = open('m', 'r+b'); m = mmap.mmap(f.fileno(), 0)\n"
                 "m[0] = 65; m.close(); say(open('m', 'rb').read(1))\n"
                 "m = mmap.mmap(f.fileno(), 0); f.close(); m[4096] = 66; os.sync()\n"
                 "if os.fork() == 0:\n"
                 "    m[8192] = 67; os._exit(0)\n"
                 "os.wait(); m[12288] = 68; os.rename('m', 'renamed'); m[16384] = 69; m[40959] = 70\n")
    equal("mapping-says-nothing-wrong", out, ["b'A'"])
    data = get("renamed")
    equal("mapping-is-kept-at-its-end", bytes(data[i] for i in (0, 4096, 8192, 12288, 16384, 40959)), b"ABCDEF")
    equal("mapping-does-not-make-it-longer", len(data), 40960)
    # Longer, shorter, gone.
    put("m", b"x" * 5000)
    out = python("import signal\n"
                 "f = open('m', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[4999] = 89\n"
                 "os.ftruncate(f.fileno(), 6000); say(m[4999], m[0])\n"
                 "os.ftruncate(f.fileno(), 100)\n"
                 "if os.fork() == 0:\n"
                 "    m[4500]\n"
                 "    os._exit(0)\n"
                 "say(os.wait()[1] == signal.SIGBUS)\n"
                 "os.unlink('m'); m[5] = 65; say(m[5], os.fstat(f.fileno()).st_nlink, os.pread(f.fileno(), 9, 0))\n")
    equal("mapping-of-a-file-that-shrinks", out, ["89 120", "True", "65 0 b'xxxxxAxxx'"])
    # A megabyte of scattered pages, by two processes; sqlite's log in shared memory.
    put("m", bytes(4 << 20))
    out = python("f = open('m', 'r+b'); m = mmap.mmap(f.fileno(), 0)\n"
                 "child = os.fork()\n"
                 "for i in range(child == 0, 1024, 2): m[i * 4096 + i] = 1 + (child == 0)\n"
                 "if child == 0: os._exit(0)\n"
                 "os.wait()\n"
                 "import sqlite3\n"
                 "db = sqlite3.connect('d.db'); say(db.execute('pragma journal_mode=wal').fetchone()[0])\n"
                 "db.execute('create table t(a)'); db.executemany('insert into t values(?)', [(i,) for i in range(1000)]); db.commit()\n"
                 "other = sqlite3.connect('d.db'); say(other.execute('select sum(a) from t').fetchone()[0]); say(os.path.exists('d.db-shm'))\n"
                 "other.close(); db.close()\n")
    data = get("m")
    equal("two-processes-one-mapping", [data[i * 4096 + i] for i in range(1024)], [1, 2] * 512)
    equal("sqlite-with-a-log", out, ["wal", "499500", "True"])
    import sqlite3
    with sqlite3.connect(path("d.db")) as db:
        equal("sqlite-on-the-host", db.execute("select count(*) from t").fetchone()[0], 1000)


def locks():
    """flock and fcntl locks are among the processes of a guest."""
    out = python("def child(script): return subprocess.run([sys.executable, '-c', 'import fcntl, os\\n' + script], capture_output=True, text=True).stdout.strip()\n"
                 "f = open('lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX)\n"
                 "ask = '''\ntry: fcntl.%s(open('lock', 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB); print('free')\nexcept BlockingIOError: print('taken')'''\n"
                 "say(child(ask % 'flock')); fcntl.flock(f, fcntl.LOCK_UN); say(child(ask % 'flock'))\n"
                 "fcntl.lockf(f, fcntl.LOCK_EX); say(child(ask % 'lockf')); fcntl.lockf(f, fcntl.LOCK_UN); say(child(ask % 'lockf'))\n"
                 "os.fsync(f.fileno()); os.fdatasync(f.fileno())\n"
                 "d = os.open('.', os.O_RDONLY); os.fsync(d)\n")
    equal("locks-and-fsync", out, ["taken", "free", "taken", "free"])


class Waiting:
    """A program in the guest that stops at each line with "?", while the host does something."""

    def __init__(self, script):
        self.process = subprocess.Popen([*TALLY, "--timeout", "100", "python3", "-c",
                                         "import errno, mmap, os, sys, signal\ndef say(*words): print(*words, flush=True)\n"
                                         "def host(): say('?'); sys.stdin.readline()\n"
                                         "def failure(f):\n"
                                         "    try: return f()\n"
                                         "    except OSError as e: return errno.errorcode[e.errno]\n" + script],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, cwd=folder)

    def until_question(self):
        lines = []
        for line in self.process.stdout:
            if line == "?\n":
                break
            lines.append(line.rstrip("\n"))
        return lines

    def answer(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        lines = [line.rstrip("\n") for line in self.process.stdout]
        self.process.stdin.close()
        self.process.wait()
        return lines


def changes():
    """The host removes, replaces, cuts and changes files that the guest has open or mapped."""
    for name in ("gone", "replaced", "cut", "changed", "folder"):
        put(name, b"before" + bytes(20000)) if name != "folder" else os.mkdir(path(name))
    guest = Waiting("gone, replaced, cut, changed = (open(n, 'r+b') for n in ('gone', 'replaced', 'cut', 'changed'))\n"
                    "maps = [mmap.mmap(f.fileno(), 0) for f in (gone, replaced, cut, changed)]\n"
                    "say(*(m[0:6] for m in maps)); os.chdir('folder'); host()\n"
                    "say(failure(lambda: os.listdir('.')), failure(lambda: open('new', 'w')), failure(lambda: os.stat('..').st_nlink > 0)); os.chdir(%r)\n"
                    "say(failure(lambda: os.stat('gone')), failure(lambda: open('gone')), failure(lambda: os.unlink('gone')), failure(lambda: os.rename('gone', 'x')))\n"
                    "say(os.pread(gone.fileno(), 6, 0), maps[0][0:6], maps[0][9000], os.fstat(gone.fileno()).st_size)\n"
                    "say(open('replaced').read(), os.pread(replaced.fileno(), 6, 0), maps[1][0:6], maps[1][9000])\n"
                    "say(failure(lambda: os.ftruncate(replaced.fileno(), 1)), open('replaced').read())\n"
                    "say(os.stat('cut').st_size, os.pread(cut.fileno(), 10, 0))\n"
                    "if os.fork() == 0: maps[2][9000]; os._exit(0)\n"
                    "say(os.wait()[1] == signal.SIGBUS)\n"
                    "say(os.stat('changed').st_size, maps[3][0:6], open('changed').read(6))\n" % folder)
    equal("files-before", guest.until_question(), ["b'before' b'before' b'before' b'before'"])
    os.unlink(path("gone"))
    os.rmdir(path("folder"))
    put("new", b"another")
    os.rename(path("new"), path("replaced"))
    os.truncate(path("cut"), 3)
    with open(path("changed"), "r+b") as file:
        file.write(b"after!")
    os.utime(path("changed"), (1, 1))
    guest.answer()
    equal("file-gone replaced cut changed", guest.end(),
          ["ENOENT ENOENT True", "ENOENT ENOENT ENOENT ENOENT", "b'before' b'before' 0 20006",
           "another b'before' b'before' 0", "ENOENT another", "3 b'bef'", "True", "20006 b'after!' after!"])
    equal("what-replaced-it-is-whole", get("replaced"), b"another")


def full():
    """A full disk is ENOSPC, for write, for truncation's blocks, and for what a mapping has to bring back."""
    disk = path("disk")
    os.mkdir(disk)
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=20", "tmpfs", disk],
                                          capture_output=True, check=False).returncode:
        skip("disk-full", "only root can mount a small disk here")
        return
    try:
        out = python("def failure(f):\n"
                     "    try: return f()\n"
                     "    except OSError as e: return errno.errorcode[e.errno]\n"
                     "s = os.open('sparse', os.O_RDWR | os.O_CREAT); os.ftruncate(s, 4 << 20)\n"
                     "f = os.open('fill', os.O_WRONLY | os.O_CREAT); n = 0\n"
                     "while True:\n"
                     "    r = failure(lambda: os.write(f, bytes(100000)))\n"
                     "    if isinstance(r, str): break\n"
                     "    n += r\n"
                     "say(r, 900000 < n <= 1 << 20, n <= os.stat('fill').st_size, os.statvfs('.').f_bfree)\n"
                     "m = mmap.mmap(s, 0); m[0] = 1; m[2 << 20] = 2; say(failure(m.flush), failure(lambda: os.fsync(s)))\n"
                     "i = 0\n"
                     "while not isinstance(r := failure(lambda: os.close(os.open(f'empty{i}', os.O_CREAT | os.O_WRONLY))), str): i += 1\n"
                     "say(r, 5 < i < 20, failure(lambda: os.mkdir('d')), failure(lambda: os.symlink('a', 'b')))\n"
                     "os.unlink('fill'); os.close(f); say(failure(lambda: os.write(s, b'again')))\n", where=disk)
        equal("disk-full", out, ["ENOSPC True True 0", "ENOSPC None", "ENOSPC True ENOSPC ENOSPC", "5"])
        status, out = shell("dd if=/dev/zero of=x bs=64k 2>&1; echo $?; rm x; echo back > y; cat y", where=disk)
        matches("disk-full-is-told", out, "No space left on device.*\n1\nback\n$")
    finally:
        subprocess.run(["umount", disk], check=False)


def leaks():
    """The host's file ids that the guest holds when it goes off: as many however much it did."""
    if KERNEL != "tally":
        skip("no-fids-are-left", "only Tally's kernel tells")
        return
    work = ("for i in 1 2 3 4 5 6 7 8; do echo x > a; cat a b c 2> /dev/null; ln a b; ln -s a l; readlink l; mv a c; "
            "mkdir d; ls -lR . > /dev/null; rmdir d; rm b c l; "
            "python3 -c 'import mmap; f = open(\"z\", \"w+b\"); f.truncate(9999); mmap.mmap(f.fileno(), 0)[9] = 1'; done; ")
    left = []
    for rounds in (1, 3):
        with tempfile.NamedTemporaryFile("r") as log:
            status = run("sh", "-c", work * rounds, cwd=folder, options=["--log", log.name])[0]
            numbers = re.search(r"kmalloc (\d+) .*9p fids (\d+)", log.read())
        left.append((status, numbers and int(numbers.group(2))))
    equal("no-fids-are-left", left, [(0, 1)] * 2)


try:
    much()
    many()
    mapped()
    locks()
    changes()
    full()
    leaks()
finally:
    shutil.rmtree(folder)
finish()
