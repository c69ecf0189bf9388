/* SPDX-License-Identifier: BSD-2-Clause */
/* execve(2), execveat(2): arguments, scripts, the auxiliary vector, and every way to be refused. */
#include "check.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUSYBOX "/bin/busybox"

extern char **environ;

static char folder[] = "/tmp/exec.XXXXXX";

/* A file in a new folder with these bytes and permissions; its path is in a static buffer. */
static const char *file(const char *name, const void *bytes, size_t n, mode_t mode)
{
	static char path[128];
	static bool made;
	int fd;

	if (!made && !mkdtemp(folder))
		return NULL;
	made = true;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || fchmod(fd, mode) || close(fd))
		return NULL;
	return path;
}

static const char *script(const char *name, const char *text)
{
	return file(name, text, strlen(text), 0755);
}

/* What the program writes to standard output, and its status. */
static char output[65536];
static int run(const char *path, char *const argv[], char *const envp[])
{
	int p[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(p))
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(p[1], 1);
		dup2(open("/dev/null", O_WRONLY), 2);
		close(p[0]);
		close(p[1]);
		execve(path, argv, envp);
		_exit(errno);
	}
	close(p[1]);
	while ((got = read(p[0], output + n, sizeof(output) - 1 - n)) > 0)
		n += (size_t)got;
	output[n] = '\0';
	close(p[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static char *none[] = {NULL};

TEST(arguments_and_environment_arrive, "")
{
	char *argv[] = {"sh", "-c", "echo \"$0|$1|$2|$A|$B\"", "zero", "", "two words", NULL};
	char *envp[] = {"A=1", "B=x y", NULL};

	EXPECT_EQ(run(BUSYBOX, argv, envp), 0);
	EXPECT(!strcmp(output, "zero||two words|1|x y\n"));
}

TEST(many_arguments, "")
{
	static char *argv[3003];
	static char words[3000][8];

	argv[0] = "echo";
	for (int i = 0; i < 3000; i++) {
		snprintf(words[i], sizeof(words[i]), "%d", i);
		argv[i + 1] = words[i];
	}
	EXPECT_EQ(run(BUSYBOX, argv, none), 0);
	EXPECT(!strncmp(output, "0 1 2 3 4 ", 10));
	EXPECT(!strcmp(output + strlen(output) - 11, " 2998 2999\n"));
}

TEST(long_argument, "")
{
	static char big[60000];
	char *argv[] = {"echo", big, NULL};

	memset(big, 'x', sizeof(big) - 1);
	EXPECT_EQ(run(BUSYBOX, argv, none), 0);
	EXPECT_EQ(strlen(output), sizeof(big));
	EXPECT_EQ(output[sizeof(big) - 2], 'x');
}

TEST(too_big, "")
{
	size_t n = 128 * 1024;
	char *big = malloc(n + 1), **argv = calloc(200, sizeof(*argv));

	memset(big, 'y', n);
	big[n] = '\0';
	argv[0] = "true";
	argv[1] = big; /* one string of 128 KiB with its NUL is too long */
	EXPECT_EQ(run(BUSYBOX, argv, none), E2BIG);
	big[n - 1] = '\0';
	EXPECT_EQ(run(BUSYBOX, argv, none), 0);
	for (int i = 1; i < 100; i++)
		argv[i] = big; /* together more than a quarter of the stack's limit */
	EXPECT_EQ(run(BUSYBOX, argv, none), E2BIG);
}

TEST(bad_addresses, "")
{
	char *argv[] = {"x", (char *)8, NULL};

	/* by number, or the compiler would see what is wrong */
	EXPECT_ERRNO(syscall(SYS_execve, 8, none, none), EFAULT);
	EXPECT_ERRNO(syscall(SYS_execve, BUSYBOX, 8, none), EFAULT);
	EXPECT_ERRNO(syscall(SYS_execve, BUSYBOX, argv, none), EFAULT);
	EXPECT_ERRNO(syscall(SYS_execve, BUSYBOX, none, 8), EFAULT);
}

TEST(refused_files, "")
{
	static char name[5000];
	char loop[160], *text = "just some text\n";

	EXPECT_ERRNO(execve("/no/such/file", none, none), ENOENT);
	EXPECT_ERRNO(execve("", none, none), ENOENT);
	EXPECT_ERRNO(execve("/bin/busybox/x", none, none), ENOTDIR);
	EXPECT_ERRNO(execve("/tmp", none, none), EACCES);
	EXPECT_ERRNO(execve("/dev/null", none, none), EACCES);
	EXPECT_ERRNO(execve(file("plain", text, strlen(text), 0644), none, none), EACCES);
	EXPECT_ERRNO(execve(script("text", text), none, none), ENOEXEC);
	EXPECT_ERRNO(execve(file("empty", "", 0, 0755), none, none), ENOEXEC);
	memset(name, 'a', sizeof(name) - 1);
	EXPECT_ERRNO(execve(name, none, none), ENAMETOOLONG);
	snprintf(loop, sizeof(loop), "%s/loop", folder);
	EXPECT(symlink("loop", loop) == 0);
	EXPECT_ERRNO(execve(loop, none, none), ELOOP);
}

TEST(running_programs_and_writing, "")
{
	static char bytes[4 << 20];
	int fd = open(BUSYBOX, O_RDONLY), p[2];
	ssize_t n = read(fd, bytes, sizeof(bytes));
	char path[160], *argv[] = {"cat", NULL};
	pid_t pid;

	EXPECT(n > 0 && pipe(p) == 0);
	snprintf(path, sizeof(path), "%s", file("busy", bytes, (size_t)n, 0755));
	fd = open(path, O_WRONLY);
	EXPECT(fd >= 0);
	EXPECT_ERRNO(execve(path, none, none), ETXTBSY);
	close(fd);
	fcntl(p[1], F_SETFD, FD_CLOEXEC);
	pid = fork();
	if (pid == 0) {
		dup2(p[0], 0);
		execve(path, argv, none);
		_exit(99);
	}
	/* it runs when its name has changed */
	for (char name[32] = ""; strcmp(name, "busy\n");) {
		char comm[64];
		int c;

		snprintf(comm, sizeof(comm), "/proc/%d/comm", pid);
		c = open(comm, O_RDONLY);
		name[read(c, name, sizeof(name) - 1)] = '\0';
		close(c);
	}
	EXPECT_ERRNO(open(path, O_WRONLY), ETXTBSY);
	close(p[1]);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	fd = open(path, O_WRONLY);
	EXPECT(fd >= 0);
}

/* The first bytes of busybox with one of them changed. */
static const char *damaged(size_t at, unsigned char value)
{
	unsigned char head[4096];
	int fd = open(BUSYBOX, O_RDONLY);

	if (read(fd, head, sizeof(head)) != (ssize_t)sizeof(head))
		return NULL;
	close(fd);
	head[at] = value;
	return file("damaged", head, sizeof(head), 0755);
}

TEST(refused_elf_files, "")
{
	EXPECT_ERRNO(execve(damaged(offsetof(Elf64_Ehdr, e_machine), EM_X86_64), none, none),
		     ENOEXEC);
	EXPECT_ERRNO(execve(damaged(offsetof(Elf64_Ehdr, e_type), ET_REL), none, none), ENOEXEC);
	EXPECT_ERRNO(execve(damaged(offsetof(Elf64_Ehdr, e_phentsize), 8), none, none), ENOEXEC);
	EXPECT_ERRNO(execve(damaged(0, 'x'), none, none), ENOEXEC);
	/* whole header, nothing behind */
	EXPECT_ERRNO(execve(file("short", "\177ELF\2\1\1", 7, 0755), none, none), ENOEXEC);
}

TEST(missing_interpreter, "")
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[2];
		char interp[32];
	} f = {
		.eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		       .e_type = ET_DYN,
		       .e_machine = EM_AARCH64,
		       .e_version = EV_CURRENT,
		       .e_phoff = sizeof(Elf64_Ehdr),
		       .e_ehsize = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 2},
		.ph = {{.p_type = PT_INTERP,
			.p_filesz = 8,
			.p_offset = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr)},
		       {.p_type = PT_LOAD,
			.p_flags = PF_R,
			.p_filesz = 200,
			.p_memsz = 200,
			.p_align = 4096}},
		.interp = "/no/way",
	};

	EXPECT_ERRNO(execve(file("nointerp", &f, sizeof(f), 0755), none, none), ENOENT);
	strcpy(f.interp, "/dev/xx");
	memcpy(f.interp, "/tmp", 5);
	f.ph[0].p_filesz = 5;
	EXPECT_ERRNO(execve(file("dirinterp", &f, sizeof(f), 0755), none, none), EACCES);
	f.interp[4] = 'x'; /* not ended by NUL */
	EXPECT_ERRNO(execve(file("openinterp", &f, sizeof(f), 0755), none, none), ENOEXEC);
}

TEST(scripts, "")
{
	char *argv[] = {"ignored", "one", "two", NULL}, want[256];
	const char *path;

	path = script("s1", "#!/bin/busybox echo\n");
	snprintf(want, sizeof(want), "%s one two\n", path);
	EXPECT_EQ(run(path, argv, none), 0);
	EXPECT(!strcmp(output, want));
	path = script("s2", "#! \t/bin/busybox \t echo -n a  b \t \nrest");
	snprintf(want, sizeof(want), "applet");
	/* one argument, inner blanks kept, outer ones not: busybox has no such applet */
	EXPECT_EQ(run(path, argv, none), 127);
	path = script("s3", "#!/bin/busybox sh\necho \"$0 $1 $#\"\nexit 7\n");
	snprintf(want, sizeof(want), "%s one 2\n", path);
	EXPECT_EQ(run(path, argv, none), 7);
	EXPECT(!strcmp(output, want));
	EXPECT_EQ(run(script("s4", "#!/bin/busybox true"), argv, none), 0); /* no newline */
	EXPECT_ERRNO(execve(script("s5", "#!/no/such/interpreter\n"), argv, none), ENOENT);
	EXPECT_ERRNO(execve(script("s6", "#!\n"), argv, none), ENOEXEC);
	EXPECT_ERRNO(execve(script("s7", "#!   \n"), argv, none), ENOEXEC);
	EXPECT_ERRNO(execve(script("s8", "#!/tmp\n"), argv, none), EACCES);
}

TEST(script_of_scripts, "")
{
	char text[256], *argv[] = {"x", NULL};
	const char *path = script("n0", "#!/bin/busybox echo\n");

	for (int i = 1; i <= 6; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		snprintf(text, sizeof(text), "#!%s\n", path);
		path = script(name, text);
		if (i < 5) {
			EXPECT_EQ(run(path, argv, none), 0);
			EXPECT(strstr(output, name) != NULL);
		}
	}
	EXPECT_ERRNO(execve(path, argv, none), ELOOP);
}

TEST(long_script_lines, "")
{
	char text[600] = "#!/bin/echo ", *argv[] = {"x", NULL};

	/* the argument may be cut off, the name may not */
	memset(text + strlen(text), 'b', 400);
	EXPECT_EQ(run(script("l1", text), argv, none), 0);
	EXPECT_EQ(strspn(output, "b"), 255 - strlen("#!/bin/echo "));
	memset(text, 'a', 500);
	memcpy(text, "#!/bin/", 7);
	EXPECT_ERRNO(execve(script("l2", text), argv, none), ENOEXEC);
}

TEST(execveat_by_descriptor, "")
{
	int fd = open(BUSYBOX, O_RDONLY | O_CLOEXEC), dir = open("/bin", O_PATH | O_DIRECTORY),
	    status;
	char *argv[] = {"true", NULL}, link[160];

	if (fork() == 0) {
		syscall(SYS_execveat, fd, "", argv, none, AT_EMPTY_PATH);
		_exit(99);
	}
	wait(&status);
	EXPECT_EQ(status, 0);
	if (fork() == 0) {
		syscall(SYS_execveat, dir, "busybox", argv, none, 0);
		_exit(99);
	}
	wait(&status);
	EXPECT_EQ(status, 0);
	EXPECT_ERRNO(syscall(SYS_execveat, fd, "", argv, none, 0), ENOENT);
	EXPECT_ERRNO(syscall(SYS_execveat, 999, "busybox", argv, none, 0), EBADF);
	EXPECT_ERRNO(syscall(SYS_execveat, fd, "busybox", argv, none, 0), ENOTDIR);
	EXPECT_ERRNO(syscall(SYS_execveat, dir, "busybox", argv, none, 1), EINVAL);
	EXPECT(script("there", "#!/bin/busybox true\n"));
	snprintf(link, sizeof(link), "%s/link", folder);
	EXPECT(symlink(BUSYBOX, link) == 0);
	EXPECT_ERRNO(syscall(SYS_execveat, AT_FDCWD, link, argv, none, AT_SYMLINK_NOFOLLOW), ELOOP);
	/* the interpreter could not open a script that is closed by then */
	fd = open(script("hidden", "#!/bin/busybox true\n"), O_RDONLY | O_CLOEXEC);
	EXPECT_ERRNO(syscall(SYS_execveat, fd, "", argv, none, AT_EMPTY_PATH), ENOENT);
}

TEST(auxiliary_vector, "")
{
	const ElfW(Phdr) *ph = (const void *)getauxval(AT_PHDR);
	const unsigned char *random = (const void *)getauxval(AT_RANDOM);

	EXPECT_EQ(getauxval(AT_PAGESZ), 4096);
	EXPECT_EQ(getauxval(AT_CLKTCK), 100);
	EXPECT_EQ(getauxval(AT_PHENT), sizeof(*ph));
	EXPECT(getauxval(AT_PHNUM) >= 2 && ph[0].p_type != PT_NULL);
	EXPECT_EQ(getauxval(AT_UID), getuid());
	EXPECT_EQ(getauxval(AT_EGID), getegid());
	EXPECT_EQ(getauxval(AT_SECURE), 0);
	EXPECT_EQ(getauxval(AT_BASE), 0); /* static */
	EXPECT(!strcmp((char *)getauxval(AT_PLATFORM), "aarch64"));
	EXPECT(strstr((char *)getauxval(AT_EXECFN), "exec") != NULL);
	EXPECT(random[0] | random[1] | random[2] | random[3] | random[4] | random[5]);
	EXPECT(getauxval(AT_MINSIGSTKSZ) >= 4720);
	EXPECT((getauxval(AT_HWCAP) & 3) == 3); /* FP and ASIMD */
}

TEST(vdso_is_an_elf_file, "")
{
	const ElfW(Ehdr) *eh = (const void *)getauxval(AT_SYSINFO_EHDR);

	EXPECT(eh != NULL);
	EXPECT(!memcmp(eh->e_ident, ELFMAG, SELFMAG));
	EXPECT_EQ(eh->e_type, ET_DYN);
	EXPECT_EQ(eh->e_machine, EM_AARCH64);
}

TEST(setuid_program, "")
{
	char path[160], *argv[] = {"sh", "-c", "id -u; id -ru", NULL};
	static char bytes[4 << 20];
	int fd = open(BUSYBOX, O_RDONLY), p[2];
	ssize_t n = read(fd, bytes, sizeof(bytes));
	char text[64] = "";

	if (getuid() != 0)
		SKIP("not root");
	EXPECT(n > 0 && pipe(p) == 0);
	snprintf(path, sizeof(path), "%s", file("suid", bytes, (size_t)n, 0755));
	EXPECT(chmod(folder, 0755) == 0 && chown(path, 1234, 0) == 0 && chmod(path, 04755) == 0);
	if (fork() == 0) {
		dup2(p[1], 1);
		execve(path, (char *[]){"id", "-u", NULL}, none);
		_exit(99);
	}
	wait(NULL);
	EXPECT_EQ(read(p[0], text, sizeof(text)), 5);
	EXPECT(!strcmp(text, "1234\n"));
	(void)argv;
}

static void *exec_in_thread(void *arg)
{
	char *argv[] = {"sh", "-c", "echo $PPID $$", NULL};

	(void)arg;
	execve(BUSYBOX, argv, none);
	_exit(98);
}

static void *sleep_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

TEST(exec_in_a_thread_keeps_the_process, "")
{
	char text[64] = "", want[64];
	int p[2], status;
	pid_t pid;

	EXPECT(pipe(p) == 0);
	pid = fork();
	if (pid == 0) {
		pthread_t t;

		dup2(p[1], 1);
		for (int i = 0; i < 5; i++)
			pthread_create(&t, NULL, sleep_forever, NULL);
		pthread_create(&t, NULL, exec_in_thread, NULL);
		sleep_forever(NULL);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	snprintf(want, sizeof(want), "%d %d\n", getpid(), pid);
	EXPECT(read(p[0], text, sizeof(text)) > 0);
	EXPECT(!strcmp(text, want));
}

TEST(proc_self_exe_and_cmdline, "")
{
	char *argv[] = {
		"sh", "-c",
		"readlink /proc/$$/exe; cat /proc/$$/comm; tr '\\0' + </proc/$$/cmdline; true",
		NULL};

	EXPECT_EQ(run(BUSYBOX, argv, environ), 0);
	EXPECT(strstr(output, "busybox\nbusybox\nsh+-c+readlink") != NULL);
}

TEST(failed_exec_changes_nothing, "")
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char *memory = malloc(100000);

	memset(memory, 9, 100000);
	for (int i = 0; i < 20; i++)
		EXPECT_ERRNO(execve(script("bad", "text"), none, none), ENOEXEC);
	EXPECT_EQ(memory[99999], 9);
	EXPECT(fcntl(fd, F_GETFD) == FD_CLOEXEC);
}
