#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real programs do on Tally's kernel what they do on Linux: the same output, the same status.

Each kernel runs all of them in one guest. What cannot be the same (times, process numbers, how
much work was done in a second) is taken out of both outputs; besides, each program's output must
have what shows that it worked.
"""
import re
import sys
import time

import harness
from harness import KERNEL, TALLY, equal, finish, report, run

harness.LIMIT *= 5  # all programs are in one run, and a set of packages is fetched first
PACKAGES = ["gcc", "libc6-dev", "make", "perl", "git", "sqlite3", "openssl", "stress-ng", "ripgrep", "fzf"]

PYTHON = r"""
import asyncio, concurrent.futures, multiprocessing, mmap, os, pty, queue, resource, select, signal
import socket, sqlite3, subprocess, sys, threading, time
from multiprocessing import shared_memory

def square(x): return x * x
def put(q): q.put('from the child')
def add(value, lock):
    for _ in range(50):
        with lock: value.value += 1
def say(*words): print(*words, flush=True)

def threads():
    q, lock = queue.Queue(), threading.Condition()
    many = [threading.Thread(target=lambda i=i: q.put(square(i))) for i in range(20)]
    [t.start() for t in many], [t.join() for t in many]
    say(sum(q.get() for _ in many), threading.Event().wait(0.01))
    with concurrent.futures.ThreadPoolExecutor(4) as pool: say(list(pool.map(square, range(5))))

def processes():
    say(subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 5'], capture_output=True))
    try: subprocess.run(['sleep', '5'], timeout=0.1)
    except subprocess.TimeoutExpired as e: say('too long', e.cmd)
    with multiprocessing.Pool(2) as pool: say(pool.map(square, range(5)))
    q = multiprocessing.Queue(); p = multiprocessing.Process(target=put, args=(q,)); p.start(); say(q.get()); p.join(); say(p.exitcode)
    value, lock = multiprocessing.Value('i', 0), multiprocessing.Lock()
    many = [multiprocessing.Process(target=add, args=(value, lock)) for _ in range(3)]
    [p.start() for p in many], [p.join() for p in many]
    say(value.value)
    one = shared_memory.SharedMemory(create=True, size=100); one.buf[:3] = b'abc'
    two = shared_memory.SharedMemory(name=one.name); say(bytes(two.buf[:3])); two.close(); one.close(); one.unlink()

async def tasks():
    p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=subprocess.PIPE)
    say(await p.communicate())
    server = await asyncio.start_unix_server(lambda r, w: (w.write(b'served'), w.close()), '/tmp/socket')
    r, w = await asyncio.open_unix_connection('/tmp/socket')
    say(await r.read()); server.close()

def kernel():
    signal.signal(signal.SIGALRM, lambda *a: say('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
    say(signal.sigtimedwait([signal.SIGUSR1], 0.01), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))
    pid, fd = pty.fork()
    if pid == 0: os.execvp('tty', ['tty'])
    say(os.waitpid(pid, 0)[1], os.read(fd, 100).rstrip()); os.close(fd)
    db = sqlite3.connect('/tmp/python.db'); say(db.execute('pragma journal_mode=wal').fetchone())
    db.execute('create table t(a)'); db.executemany('insert into t values(?)', [(i,) for i in range(100)]); db.commit()
    say(db.execute('select sum(a) from t').fetchone())
    a, b = socket.socketpair(); a.send(b'x'); say(select.select([b], [], [], 1)[0] == [b])
    say(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_STACK), len(os.getloadavg()))
    try: os.getxattr('/tmp', 'user.x')
    except OSError as e: say(e)
    p = os.posix_spawn('/bin/echo', ['echo', 'spawned'], os.environ); say(os.waitpid(p, 0)[1], os.pidfd_open(os.getpid()) > 2)

if __name__ == '__main__':
    threads(); processes(); asyncio.run(tasks()); kernel()
"""

# name: (script, a pattern that its output has, [(pattern, replacement) for both outputs])
PROCESSES = [(r"(line \d+:|process) +\d+ *", r"\1 N ")]
NUMBERS = [(r"[\d.]+", "N"), (r"[ \t]+", " "), (r"(?m) $", "")]
PROGRAMS = {
    "coreutils": ("cd /usr/share; ls -la /usr/bin/perf /root; sort -R --random-source=/bin/bash /etc/services 2>/dev/null | md5sum; "
                  "seq 1 20000 | sort -rn | tail -2; split -n 3 /bin/bash /tmp/part; cat /tmp/part?? | cmp - /bin/bash && wc -c /tmp/part??; "
                  "cp -a /etc /tmp/copy && diff -r /etc /tmp/copy; df / | wc -l; stat -c '%F %a %s' /bin/bash /dev/null /tmp; "
                  "truncate -s 1M /tmp/t; shred -n 1 -u /tmp/t; ls /tmp/t; tac /etc/passwd; factor 1000000007000000049; nproc; "
                  "date -u -d @86399 +%T; touch -d 2001-02-03 /tmp/u; find /tmp/u -newermt 2000-01-01; mkfifo /tmp/f; (echo pipe > /tmp/f &); cat /tmp/f; "
                  "tee /tmp/1 /tmp/2 < /etc/hostname; paste /tmp/1 /tmp/2; od -c /tmp/1; nice -n 5 nice; readlink -f /bin/sh; echo $((RANDOM < 32768))",
                  r"pipe\ntally", []),
    "bash": ("f() { local IFS=,; echo \"$*\"; }; f a b c; declare -A m=([x]=1 [y]=2); echo ${m[y]} ${#m[@]}; diff <(seq 3) <(seq 4); "
             "coproc cat; echo there >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x; exec {COPROC[1]}>&-; wait; trap 'echo bye' EXIT; "
             "(kill -TERM $BASHPID); echo $?; sleep 100 & kill %1; wait %1; echo $?; ulimit -n 64; ulimit -n; printf -v y %q 'a b'; echo $y; "
             "read -t 0.05 z < <(sleep 1); echo $?; set -o pipefail; true | false | true; echo $? ${PIPESTATUS[*]}; ulimit -c; mapfile -t l < /etc/hosts; echo ${#l[@]}",
             r"there.*143.*bye", PROCESSES),
    "timeout xargs make": ("timeout 0.2 sleep 10; echo $?; timeout -s KILL 0.2 sleep 10; echo $?; timeout -k 0.1 0.1 sh -c 'trap \"\" TERM; sleep 10'; echo $?; "
                           "seq 20 | xargs -P4 -n1 sh -c 'sleep 0.0$0; echo $0' | sort -n | tr '\\n' ' '; mkdir /tmp/m; cd /tmp/m; "
                           "printf 'all: a b c d e f\\n%%: ; @sleep 0.1; echo $@ > $@.out; echo done $@\\nbad: ; exit 3\\n' > Makefile; "
                           "make -j4 | sort; ls *.out; make -j2 bad; echo $?",
                           r"124\n.*137\n.*18 19 20.*done f.*\n2\n$", PROCESSES),
    "python3": (f"cat > /tmp/p.py <<'END'\n{PYTHON}\nEND\npython3 /tmp/p.py", r"\[0, 1, 4, 9, 16\].*150.*served.*spawned", []),
    "perl": ("perl -MPOSIX -MList::Util=sum -MSocket -e 'print sum(1..100), strftime(q( %Y), gmtime(0)), qq(\\n); for (1..3) { my $p = fork(); exit $_ if !$p; "
             "waitpid($p, 0); print $? >> 8, qq(\\n) } socketpair(A, B, AF_UNIX, SOCK_STREAM, 0); syswrite(A, q(x)); sysread(B, $b, 1); print $b, qq(\\n); "
             "$SIG{ALRM} = sub { print qq(alarm\\n) }; alarm 1; sleep 5; open(P, q(-|), q(ls /etc/passwd)); print <P>; print join(q( ), sort { $a <=> $b } map { $_ * $_ } 1..5), qq(\\n)'",
             r"5050 1970\n1\n2\n3\nx\nalarm", []),
    "sqlite3": ("cd /tmp; sqlite3 s.db 'pragma journal_mode=wal; create table t(a, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) "
                "insert into t select i, hex(i * i) from n; create index x on t(b); select count(*), max(b), sum(a) from t; vacuum; pragma integrity_check;' && ls s.db*; "
                "sqlite3 s.db .schema; sqlite3 s.db 'select * from missing'; echo $?", r"wal\n5000\|.*ok\n.*no such table.*1\n$", []),
    "gcc": ("cd /tmp; printf '#include <stdio.h>\\n#include <pthread.h>\\nstatic void *f(void *p) { return p; }\\nint main(void) { pthread_t t; void *r; "
            "pthread_create(&t, 0, f, \"thread\"); pthread_join(t, &r); puts(r); return 3; }\\n' > c.c; gcc -O2 -g -Wall c.c -o c && ./c; echo $?; "
            "gcc -static c.c -o s && ./s; echo $?; md5sum c s; echo 'int x = \"a\" + ;' | gcc -xc -c -; echo $?; gcc -shared -fPIC c.c -o libc.so && nm -D libc.so | grep -c main",
            r"thread\n3\nthread\n3\n.*error.*1\n1\n$", []),
    "git": ("cd /tmp; export HOME=/tmp GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z; git config --global user.email a@b; "
            "git config --global user.name N; git config --global init.defaultBranch main; git init -q r; cd r; cp /etc/passwd f; git add .; git commit -q -m one; echo 2 >> f; "
            "git commit -qam two; git log --format='%H %s'; git status; git diff HEAD~1; cd ..; git clone r r2; cd r2; git checkout -q -b x; git mv f g; git commit -qm three; "
            "git push -q origin x; git fsck; git gc -q; git rev-parse HEAD; git merge-base x origin/main; cd ../r; git branch -v; git checkout -q nothing; echo $?",
            r"two\n.*nothing to commit.*three", []),
    "openssl": ("echo x | openssl enc -aes-256-cbc -pbkdf2 -k p -S 0102030405060708 | md5sum; openssl dgst -sha256 /etc/passwd; "
                "openssl genpkey -algorithm ed25519 -out /tmp/k && openssl pkey -in /tmp/k -pubout | openssl pkey -pubin -noout -text | head -1; "
                "openssl speed -seconds 1 -bytes 1024 sha256 2>&1 | grep -v -e built -e options -e CPUINFO",
                r"ED25519.*sha256 ", [(r"\d+ sha256's in [\d.]+s", "done"), (r"sha256 +[\d.]+k", "sha256 speed")]),
    "stress-ng": ("cd /tmp; for s in 'cpu 1 --cpu-ops 2 --cpu-method fibonacci' 'vm 1 --vm-ops 200 --vm-bytes 8m' 'pipe 1 --pipe-ops 2000' 'fork 1 --fork-ops 50' 'switch 1 --switch-ops 2000' "
                  "'futex 1 --futex-ops 50' 'signal 1 --signal-ops 2000'; do stress-ng --$s --perf --timeout 60 2>&1; echo status $?; done",
                  r"(?:Instructions.*successful run completed.*status 0\n.*){6}",
                  [(r"stress-ng: (\w+): +\[\d+\]", r"\1"), (r"[ \t]*[\d.]+ ([A-Z]/sec.*|/sec)", ""), *NUMBERS]),
    "PAPI": ("sysctl -q kernel.perf_event_paranoid=-1; for c in papi_avail papi_native_avail papi_component_avail 'papi_command_line INST_RETIRED' 'papi_command_line PAPI_TOT_CYC' "
             "papi_cost papi_multiplex_cost; do echo \"== $c\"; (cd /tmp; $c 2>&1); echo status $?; done; sysctl -q kernel.perf_event_paranoid=3",
             r"Number Hardware Counters : 6.*INST_RETIRED : \t\d{6,}.*status 0", [(r"Operating system.*", "")]),
    "Go and Rust": ("printf 'apple\\nbanana\\navocado\\n' | fzf -f av; fzf --version > /dev/null; echo $?; rg --sort path -c root /etc/passwd /etc/group; rg -j4 --files /etc | sort | head -3; "
                    "rg nothing-like-this /etc; echo $?", r"avocado\n0\n/etc/passwd:1", []),
}


def results(kernel):
    """{program: (status, output)} on one kernel."""
    script = "exec 2>&1\n"
    for name, (text, _, _) in PROGRAMS.items():
        script += f"echo '@@ {name}'\n(\n{text}\n) < /dev/null\necho \"@@ $?\"\n"
    options = [f"--kernel={kernel}", "--no-share"]
    for package in PACKAGES:
        options += ["--package", package]
    begin = time.monotonic()
    status, out, err = run("bash", "-c", script, stdin=None, options=options)
    equal(f"all-ran on {kernel}", (status, [line for line in err.splitlines() if not line.startswith("tally: ")]), (0, []))
    found = re.findall(r"^@@ ([^\n]+)\n(.*?)^@@ (\d+)$", out.decode(errors="replace"), re.M | re.S)
    print(f"# {kernel}: {time.monotonic() - begin:.0f} s")
    return {name: (int(number), text) for name, text, number in found}


def without(text, replacements):
    for pattern, replacement in replacements:
        text = re.sub(pattern, replacement, text)
    return text


def first_difference(a, b):
    a, b = a.splitlines() + ["(end)"], b.splitlines() + ["(end)"]
    return next((f"{x!r} and on Linux {y!r}" for x, y in zip(a, b) if x != y), "")


if KERNEL == "tally":
    TALLY[:] = TALLY[:1]
here, there = results("tally"), results("linux")
for name, (_, pattern, replacements) in PROGRAMS.items():
    mine, theirs = here.get(name, (None, "")), there.get(name, (None, ""))
    report(f"{name}: works", re.search(pattern, mine[1], re.S) is not None, mine[1][-1500:])
    same = without(mine[1], replacements) == without(theirs[1], replacements)
    report(f"{name}: as on Linux", same and mine[0] == theirs[0],
           f"status {mine[0]} and {theirs[0]}; " + first_difference(*(without(t, replacements) for t in (mine[1], theirs[1]))))
    if "-v" in sys.argv:
        print(f"{mine[1]}\n-----\n{theirs[1]}")
finish()
