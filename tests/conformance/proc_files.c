/* SPDX-License-Identifier: BSD-2-Clause */
/* The format and the truth of the files in /proc (proc(5)): what perf, ps, glibc and others scan. */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>

static char text[1 << 20];

/* The whole file as a string; its length. */
static size_t read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t n = 0;
	ssize_t r;

	if (fd < 0)
		FAIL("%s cannot be opened: %s", path, strerrorname_np(errno));
	while ((r = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)r;
	if (r < 0)
		FAIL("%s cannot be read: %s", path, strerrorname_np(errno));
	text[n] = '\0';
	close(fd);
	return n;
}

static size_t read_pid_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return read_file(path);
}

/* The value behind "NAME:" at the start of a line of text. */
static const char *field(const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	FAIL("there is no line %s", name);
	return NULL;
}

static long number(const char *name)
{
	return strtol(field(name), NULL, 10);
}

TEST(self_is_the_process, "")
{
	char link[64] = "", want[64];

	EXPECT(readlink("/proc/self", link, sizeof(link) - 1) > 0);
	EXPECT_EQ(atoi(link), getpid());
	memset(link, 0, sizeof(link));
	EXPECT(readlink("/proc/thread-self", link, sizeof(link) - 1) > 0);
	snprintf(want, sizeof(want), "%d/task/%d", getpid(), getpid());
	EXPECT(strcmp(link, want) == 0);
}

TEST(maps_lines, "")
{
	unsigned long start, end, offset, inode, last = 0, here = (unsigned long)read_file;
	bool found_text = false, found_stack = false, found_anon = false;
	char *anon = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int local;

	mprotect(anon, 4096, PROT_NONE);
	read_file("/proc/self/maps");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char perms[5], path[256] = "";
		unsigned major, minor;
		int name_at = 0;
		int n = sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n%255[^\n]", &start, &end, perms,
			       &offset, &major, &minor, &inode, &name_at, path);

		EXPECT(n >= 7);
		EXPECT(start < end && start >= last);
		EXPECT(start % 4096 == 0 && end % 4096 == 0);
		last = end;
		EXPECT(strchr("r-", perms[0]) && strchr("w-", perms[1]) && strchr("x-", perms[2]) &&
		       strchr("ps", perms[3]));
		if (n == 8)
			EXPECT_EQ(name_at, 73);
		else
			EXPECT(line[strlen(line) - 1] == ' ');
		if (here >= start && here < end) {
			struct stat st;

			found_text = true;
			EXPECT(strcmp(perms, "r-xp") == 0);
			EXPECT_EQ(stat("/proc/self/exe", &st), 0);
			EXPECT_EQ(inode, st.st_ino);
			EXPECT_EQ(((unsigned long)major << 8 | minor), st.st_dev);
			EXPECT(path[0] == '/');
		}
		if ((unsigned long)&local >= start && (unsigned long)&local < end) {
			found_stack = true;
			EXPECT(strcmp(path, "[stack]") == 0);
		}
		if ((unsigned long)anon == start && strcmp(perms, "---p") == 0) {
			found_anon = true;
			EXPECT_EQ(end - start, 4096);
			EXPECT_EQ(inode, 0);
			EXPECT_EQ(offset, 0);
		}
	}
	EXPECT(found_text);
	EXPECT(found_stack);
	EXPECT(found_anon);
}

TEST(stat_fields, "")
{
	char comm[32], state, *p;
	long v[60];
	int n = 0, pid, ppid;

	prctl(PR_SET_NAME, "a b) c");
	read_file("/proc/self/stat");
	EXPECT_EQ(sscanf(text, "%d (", &pid), 1);
	EXPECT_EQ(pid, getpid());
	p = strrchr(text, ')');
	EXPECT(p != NULL);
	snprintf(comm, sizeof(comm), "%.*s", (int)(p - strchr(text, '(') - 1), strchr(text, '(') + 1);
	EXPECT(strcmp(comm, "a b) c") == 0);
	EXPECT_EQ(sscanf(p + 2, "%c %d", &state, &ppid), 2);
	EXPECT_EQ(state, 'R');
	EXPECT_EQ(ppid, getppid());
	for (p = strtok(p + 4, " \n"); p; p = strtok(NULL, " \n"))
		v[n++] = strtol(p, NULL, 10);
	/* fields 4 to 52 */
	EXPECT_EQ(n, 49);
	EXPECT_EQ(v[1], getpgrp());
	EXPECT_EQ(v[2], getsid(0));
	EXPECT(v[6] > 0); /* minflt */
	EXPECT_EQ(v[14], 20);
	EXPECT_EQ(v[15], 0);
	EXPECT_EQ(v[16], 1); /* threads */
	EXPECT(v[19] > 0 && v[19] % 4096 == 0); /* vsize */
	EXPECT(v[20] > 0);
	EXPECT(v[22] && v[22] <= (long)read_file && v[23] > (long)read_file);
	EXPECT_EQ(v[34], SIGCHLD); /* exit_signal */
	EXPECT_EQ(v[35], sched_getcpu());
}

TEST(status_fields, "")
{
	sigset_t set;
	long rss;

	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR2);
	umask(027);
	read_file("/proc/self/status");
	EXPECT(strncmp(field("State"), "R (running)\n", 12) == 0);
	EXPECT(strncmp(field("Umask"), "0027\n", 5) == 0);
	EXPECT_EQ(number("Tgid"), getpid());
	EXPECT_EQ(number("Pid"), getpid());
	EXPECT_EQ(number("PPid"), getppid());
	EXPECT_EQ(number("TracerPid"), 0);
	EXPECT_EQ(number("Threads"), 1);
	EXPECT_EQ(number("Uid"), getuid());
	EXPECT_EQ(number("Gid"), getgid());
	EXPECT_EQ(strtoul(field("SigBlk"), NULL, 16), 1ul << (SIGUSR2 - 1));
	EXPECT_EQ(strtoul(field("SigPnd"), NULL, 16), 1ul << (SIGUSR2 - 1));
	EXPECT(strtoul(field("SigIgn"), NULL, 16) & 1ul << (SIGUSR1 - 1));
	EXPECT_EQ(strtoul(field("CapEff"), NULL, 16) >> 41, 0);
	EXPECT(strstr(field("VmSize"), " kB\n") != NULL);
	rss = number("VmRSS");
	EXPECT(rss > 0);
	EXPECT_EQ(number("RssAnon") + number("RssFile") + number("RssShmem"), rss);
	EXPECT(number("VmStk") > 0);
	EXPECT(number("voluntary_ctxt_switches") >= 0);
	EXPECT(number("nonvoluntary_ctxt_switches") >= 0);
}

TEST(resident_pages_are_counted, "")
{
	/* Linux counts in steps of 64 pages for each of its kinds */
	enum { PAGES = 1000, SLACK = 130 * 4 };
	long before, after;
	char *mem = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(text, 0, sizeof(text));
	read_file("/proc/self/status");
	before = number("RssAnon");
	memset(mem, 1, PAGES * 4096);
	read_file("/proc/self/status");
	after = number("RssAnon");
	EXPECT_BETWEEN(after - before, PAGES * 4 - SLACK, PAGES * 4 + SLACK);
	munmap(mem, PAGES * 4096);
	read_file("/proc/self/status");
	EXPECT_BETWEEN(number("RssAnon") - before, -SLACK, SLACK);
}

TEST(statm_fields, "")
{
	long size, resident, shared, code, lib, data, dt;

	read_file("/proc/self/statm");
	EXPECT_EQ(sscanf(text, "%ld %ld %ld %ld %ld %ld %ld", &size, &resident, &shared, &code, &lib,
			 &data, &dt), 7);
	EXPECT(size >= resident && resident >= shared && code > 0 && data > 0);
	EXPECT_EQ(lib, 0);
	EXPECT_EQ(dt, 0);
}

TEST(own_command_line, "")
{
	size_t n = read_file("/proc/self/cmdline");

	/* the name as it was called, ended by NUL */
	EXPECT(n > 0 && text[n - 1] == '\0');
	EXPECT(strcmp(text, program_invocation_name) == 0);
}

TEST(environment_of_another_program, "")
{
	int in[2], out[2];
	pid_t pid;
	size_t n;

	EXPECT_EQ(pipe(in) | pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		char *argv[] = { "cat", "-", "", NULL };
		char *envp[] = { "A=1", "BC=2", NULL };

		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(open("/dev/null", O_WRONLY), 2);
		close(in[1]);
		execve("/bin/cat", argv, envp);
		_exit(9);
	}
	/* when it answers, it has begun */
	EXPECT_EQ(write(in[1], "x", 1), 1);
	EXPECT_EQ(read(out[0], text, 1), 1);
	n = read_pid_file(pid, "cmdline");
	EXPECT_EQ(n, sizeof("cat\0-\0"));
	EXPECT(memcmp(text, "cat\0-\0", n) == 0);
	n = read_pid_file(pid, "environ");
	EXPECT_EQ(n, sizeof("A=1\0BC=2"));
	EXPECT(memcmp(text, "A=1\0BC=2", n) == 0);
	EXPECT_EQ(read_pid_file(pid, "comm"), 4);
	EXPECT(strcmp(text, "cat\n") == 0);
	do
		read_pid_file(pid, "status");
	while (strncmp(field("State"), "S (sleeping)", 12) != 0);
	EXPECT_EQ(number("PPid"), getpid());
	close(in[1]);
	close(in[0]);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

TEST(auxv_is_getauxval, "")
{
	size_t n = read_file("/proc/self/auxv");
	unsigned long *v = (void *)text;
	bool entry = false, hwcap = false;

	EXPECT(n >= 32 && n % 16 == 0);
	EXPECT_EQ(v[n / 8 - 2], AT_NULL);
	for (size_t i = 0; v[i] != AT_NULL; i += 2) {
		entry |= v[i] == AT_ENTRY && v[i + 1] == getauxval(AT_ENTRY);
		hwcap |= v[i] == AT_HWCAP && v[i + 1] == getauxval(AT_HWCAP);
	}
	EXPECT(entry && hwcap);
}

TEST(comm_can_be_written, "")
{
	int fd = open("/proc/self/comm", O_RDWR);
	char name[17] = "";

	EXPECT(fd >= 0);
	EXPECT_EQ(write(fd, "a very long name indeed", 23), 23);
	prctl(PR_GET_NAME, name);
	EXPECT(strcmp(name, "a very long nam") == 0);
	read_file("/proc/self/comm");
	EXPECT(strcmp(text, "a very long nam\n") == 0);
}

TEST(comm_of_others_cannot, "")
{
	int fd = open("/proc/1/comm", O_WRONLY);

	if (fd < 0)
		SKIP("not allowed to open it");
	EXPECT_ERRNO(write(fd, "x", 1), EINVAL);
}

TEST(links, "")
{
	char path[256] = "", cwd[256], want[64];
	struct stat a, b;
	int fds[2];

	EXPECT_EQ(chdir("/usr"), 0);
	EXPECT(readlink("/proc/self/cwd", path, sizeof(path)) == 4);
	EXPECT(strcmp(path, getcwd(cwd, sizeof(cwd))) == 0);
	EXPECT_EQ(stat("/proc/self/root", &a) | stat("/", &b), 0);
	EXPECT_EQ(a.st_ino, b.st_ino);
	EXPECT_EQ(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	memset(cwd, 0, sizeof(cwd));
	EXPECT(readlink(path, cwd, sizeof(cwd)) > 0);
	EXPECT_EQ(fstat(fds[0], &a), 0);
	snprintf(want, sizeof(want), "pipe:[%lu]", (unsigned long)a.st_ino);
	EXPECT(strcmp(cwd, want) == 0);
	EXPECT_EQ(lstat(path, &a), 0);
	EXPECT_EQ(a.st_mode, S_IFLNK | 0500);
	EXPECT_ERRNO(lstat("/proc/self/fd/999", &a), ENOENT);
}

TEST(deleted_file, "")
{
	char path[64], link[128] = "";
	int fd = open("/tmp/check-deleted", O_CREAT | O_RDWR, 0600);

	EXPECT(fd >= 0);
	EXPECT_EQ(write(fd, "abc", 3), 3);
	EXPECT_EQ(unlink("/tmp/check-deleted"), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EXPECT(readlink(path, link, sizeof(link)) > 0);
	EXPECT(strcmp(link, "/tmp/check-deleted (deleted)") == 0);
	/* it can still be opened through the link */
	fd = open(path, O_RDONLY);
	EXPECT(fd >= 0);
	EXPECT_EQ(read(fd, link, sizeof(link)), 3);
}

TEST(descriptors_are_listed, "")
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0, mine = 0;
	struct dirent *e;

	EXPECT(d != NULL);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		mine += atoi(e->d_name) == dirfd(d);
		EXPECT(fcntl(atoi(e->d_name), F_GETFD) >= 0);
	}
	EXPECT_EQ(mine, 1);
	EXPECT(n >= 4);
}

TEST(fdinfo, "")
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char path[64];

	EXPECT(fd >= 0);
	EXPECT_EQ(lseek(fd, 1234, SEEK_SET), 1234);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_file(path);
	EXPECT_EQ(number("pos"), 1234);
	EXPECT((strtol(field("flags"), NULL, 8) & (O_CLOEXEC | O_ACCMODE)) == (O_CLOEXEC | O_RDONLY));
	EXPECT(number("mnt_id") > 0);
}

static pthread_barrier_t barrier;
static pid_t thread_id;

static void *thread(void *arg)
{
	char link[64] = "", want[64];

	(void)arg;
	thread_id = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_NAME, "worker");
	EXPECT(readlink("/proc/thread-self", link, sizeof(link) - 1) > 0);
	snprintf(want, sizeof(want), "%d/task/%d", getpid(), thread_id);
	EXPECT(strcmp(link, want) == 0);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

TEST(threads_are_listed, "")
{
	char path[64];
	pthread_t t;
	DIR *d;
	int n = 0;

	pthread_barrier_init(&barrier, NULL, 2);
	EXPECT_EQ(pthread_create(&t, NULL, thread, NULL), 0);
	pthread_barrier_wait(&barrier);
	d = opendir("/proc/self/task");
	EXPECT(d != NULL);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	EXPECT_EQ(n, 2);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", thread_id);
	read_file(path);
	EXPECT(strcmp(text, "worker\n") == 0);
	read_file("/proc/self/status");
	EXPECT_EQ(number("Threads"), 2);
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", thread_id);
	read_file(path);
	EXPECT_EQ(number("Tgid"), getpid());
	EXPECT_EQ(number("Pid"), thread_id);
	/* a thread's id leads to its directory, too, though it is not listed */
	snprintf(path, sizeof(path), "/proc/%d/status", thread_id);
	read_file(path);
	EXPECT_EQ(number("Pid"), thread_id);
	pthread_barrier_wait(&barrier);
	pthread_join(t, NULL);
	snprintf(path, sizeof(path), "/proc/self/task/%d", thread_id);
	/* it may take its time to go after it has woken us */
	while (access(path, F_OK) == 0)
		;
	EXPECT_ERRNO(access(path, F_OK), ENOENT);
}

TEST(process_that_has_gone, "")
{
	char path[64], c;
	int fd, dir;
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d", pid);
	dir = open(path, O_RDONLY | O_DIRECTORY);
	fd = openat(dir, "stat", O_RDONLY);
	EXPECT(dir >= 0 && fd >= 0);
	kill(pid, SIGKILL);
	/* a zombie still has most of it */
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	read_pid_file(pid, "stat");
	EXPECT(strstr(text, ") Z ") != NULL);
	EXPECT_EQ(read_pid_file(pid, "cmdline"), 0);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_ERRNO(read(fd, &c, 1), ESRCH);
	EXPECT_ERRNO(openat(dir, "stat", O_RDONLY), ESRCH);
	EXPECT_ERRNO(open(path, O_RDONLY), ENOENT);
}

TEST(processes_are_listed, "")
{
	DIR *d = opendir("/proc");
	bool one = false, me = false;

	EXPECT(d != NULL);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		one |= strcmp(e->d_name, "1") == 0;
		me |= atoi(e->d_name) == getpid();
	}
	EXPECT(one && me);
}

TEST(limits, "")
{
	struct rlimit r = { 77, 99 };
	char *line;

	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &r), 0);
	read_file("/proc/self/limits");
	EXPECT(strncmp(text, "Limit                     Soft Limit           Hard Limit           Units     \n",
		       79) == 0);
	line = strstr(text, "\nMax open files");
	EXPECT(line != NULL);
	EXPECT(strncmp(line, "\nMax open files            77                   99                   files     \n",
		       80) == 0);
}

TEST(rereading_from_the_start_is_fresh, "")
{
	int fd = open("/proc/self/comm", O_RDONLY);
	char buf[32] = "";

	EXPECT(fd >= 0);
	prctl(PR_SET_NAME, "one");
	EXPECT_EQ(read(fd, buf, sizeof(buf)), 4);
	EXPECT_EQ(read(fd, buf, sizeof(buf)), 0);
	prctl(PR_SET_NAME, "three");
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, buf, 2), 2);
	EXPECT_EQ(read(fd, buf + 2, sizeof(buf) - 2), 4);
	EXPECT(memcmp(buf, "three\n", 6) == 0);
	EXPECT_EQ(pread(fd, buf, 3, 1), 3);
	EXPECT(memcmp(buf, "hre", 3) == 0);
}

TEST(cpu_time_advances, "")
{
	unsigned long user[2], nice[2], sys[2], idle[2];

	for (int i = 0; i < 2; i++) {
		read_file("/proc/stat");
		EXPECT_EQ(sscanf(text, "cpu  %lu %lu %lu %lu", &user[i], &nice[i], &sys[i], &idle[i]), 4);
		for (clock_t end = clock() + CLOCKS_PER_SEC / 5; i == 0 && clock() < end;)
			;
	}
	EXPECT(user[1] + nice[1] + sys[1] > user[0] + nice[0] + sys[0]);
	EXPECT_BETWEEN(user[1] + nice[1] + sys[1] - user[0] - nice[0] - sys[0], 10, 60);
	EXPECT(strstr(text, "\ncpu0 ") && strstr(text, "\nctxt ") && strstr(text, "\nbtime ") &&
	       strstr(text, "\nprocesses ") && strstr(text, "\nprocs_running "));
}

TEST(uptime_and_load, "")
{
	struct timespec now;
	double up, idle, load;
	int running, total, last;

	read_file("/proc/uptime");
	clock_gettime(CLOCK_BOOTTIME, &now);
	EXPECT_EQ(sscanf(text, "%lf %lf\n", &up, &idle), 2);
	EXPECT_BETWEEN((now.tv_sec + now.tv_nsec / 1e9 - up) * 1000, -20, 200);
	read_file("/proc/loadavg");
	EXPECT_EQ(sscanf(text, "%lf %lf %lf %d/%d %d\n", &load, &load, &load, &running, &total, &last), 6);
	EXPECT(running >= 1 && total >= 2);
	EXPECT(last >= getpid());
}

/* Who waits for a vfork() counts as active, and takes no time here while all sleep. */
TEST(load_averages, "")
{
	double before, load, five, fifteen;
	struct sysinfo si;
	pid_t pid;

	read_file("/proc/loadavg");
	EXPECT_EQ(sscanf(text, "%lf", &before), 1);
	pid = vfork();
	if (pid == 0) {
		sleep(40);
		_exit(0);
	}
	read_file("/proc/loadavg");
	EXPECT_EQ(sscanf(text, "%lf %lf %lf", &load, &five, &fifteen), 3);
	/* 1 - e^(-40/60) of the way to 1, give or take one sample; more if others were active, too */
	EXPECT_BETWEEN(load, before * 0.5 + 0.42, before + 0.75);
	EXPECT(five > 0.08 && five < load && fifteen > 0.02 && fifteen < five);
	EXPECT_EQ(sysinfo(&si), 0);
	EXPECT_BETWEEN(si.loads[0] / 65536.0, load - 0.02, load + 0.02);
	EXPECT_BETWEEN(si.loads[2] / 65536.0, fifteen - 0.02, fifteen + 0.02);
}

TEST(memory, "")
{
	struct sysinfo si;

	read_file("/proc/meminfo");
	EXPECT_EQ(sysinfo(&si), 0);
	EXPECT_EQ(number("MemTotal"), si.totalram * si.mem_unit / 1024);
	EXPECT(number("MemFree") > 0 && number("MemFree") < number("MemTotal"));
	EXPECT(number("MemAvailable") > 0);
	EXPECT_EQ(number("SwapTotal"), 0);
	EXPECT(number("Shmem") > 0);
}

TEST(kernel_symbols, "")
{
	unsigned long addr;
	char type, name[256];
	int n = 0;

	read_file("/proc/kallsyms");
	for (char *line = strtok(text, "\n"); line && n < 1000; line = strtok(NULL, "\n"), n++) {
		EXPECT_EQ(sscanf(line, "%16lx %c %255s", &addr, &type, name), 3);
		EXPECT(line[16] == ' ' && line[18] == ' ');
		if (type == 't' || type == 'T')
			EXPECT(geteuid() || addr >> 48 == 0xffff);
	}
	EXPECT_EQ(n, 1000);
}

TEST(names_of_the_system, "")
{
	struct utsname u;
	char want[600];

	EXPECT_EQ(uname(&u), 0);
	read_file("/proc/sys/kernel/osrelease");
	EXPECT_EQ(strlen(text), strlen(u.release) + 1);
	EXPECT(strncmp(text, u.release, strlen(u.release)) == 0);
	read_file("/proc/version");
	snprintf(want, sizeof(want), "%s version %s ", u.sysname, u.release);
	EXPECT(strncmp(text, want, strlen(want)) == 0);
	read_file("/proc/sys/kernel/hostname");
	EXPECT(strncmp(text, u.nodename, strlen(u.nodename)) == 0);
}

TEST(mounts, "")
{
	char source[256], target[256], type[256], options[256];
	bool root = false, proc = false, sys = false, dev = false;

	read_file("/proc/mounts");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		int a, b;

		EXPECT_EQ(sscanf(line, "%255s %255s %255s %255s %d %d", source, target, type, options, &a,
				 &b), 6);
		root |= strcmp(target, "/") == 0;
		proc |= strcmp(target, "/proc") == 0 && strcmp(type, "proc") == 0;
		sys |= strcmp(target, "/sys") == 0 && strcmp(type, "sysfs") == 0;
		dev |= strcmp(target, "/dev") == 0 && strcmp(type, "devtmpfs") == 0;
	}
	EXPECT(root && proc && sys && dev);
}

TEST(cpus, "")
{
	char want[64];
	int n = 0;

	read_file("/proc/cpuinfo");
	for (char *p = text; (p = strstr(p, "processor\t: ")) != NULL; p++)
		n++;
	EXPECT_EQ(n, get_nprocs());
	EXPECT(strstr(text, "CPU implementer\t: 0x") && strstr(text, "CPU part\t: 0x") &&
	       strstr(text, "\nFeatures\t: fp asimd "));
	read_file("/sys/devices/system/cpu/online");
	snprintf(want, sizeof(want), n > 1 ? "0-%d\n" : "%d\n", n - 1);
	EXPECT(strcmp(text, want) == 0);
	read_file("/sys/devices/system/cpu/cpu0/topology/core_id");
	EXPECT_EQ(atoi(text), 0);
	read_file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
	EXPECT(strlen(text) == 19 && strncmp(text, "0x", 2) == 0);
}

TEST(nothing_can_be_made_in_proc, "")
{
	EXPECT(open("/proc/new", O_CREAT | O_WRONLY, 0600) == -1);
	EXPECT(mkdir("/proc/new", 0700) == -1);
	EXPECT_ERRNO(unlink("/proc/version"), EPERM);
	EXPECT_ERRNO(open("/proc/99999999", O_RDONLY), ENOENT);
	EXPECT_ERRNO(open("/proc/01", O_RDONLY), ENOENT);
}
