/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls on files with arguments drawn at random, mostly from what is
 * nearly right: whatever they answer, the kernel goes on and the process can
 * still do what it could before.
 */
#include "check.h"
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

static uint64_t seed;

static uint64_t any(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

static const long calls[] = {
	SYS_openat,	 SYS_openat2,	  SYS_close,	       SYS_close_range,	 SYS_read,
	SYS_write,	 SYS_readv,	  SYS_writev,	       SYS_pread64,	 SYS_pwrite64,
	SYS_preadv,	 SYS_pwritev,	  SYS_preadv2,	       SYS_pwritev2,	 SYS_lseek,
	SYS_getdents64,	 SYS_newfstatat,  SYS_fstat,	       SYS_statx,	 SYS_statfs,
	SYS_fstatfs,	 SYS_faccessat,	  SYS_readlinkat,      SYS_mkdirat,	 SYS_mknodat,
	SYS_unlinkat,	 SYS_symlinkat,	  SYS_linkat,	       SYS_renameat2,	 SYS_fchmod,
	SYS_fchmodat,	 SYS_fchown,	  SYS_fchownat,	       SYS_utimensat,	 SYS_truncate,
	SYS_ftruncate,	 SYS_fallocate,	  SYS_chdir,	       SYS_fchdir,	 SYS_getcwd,
	SYS_dup,	 SYS_dup3,	  SYS_fcntl,	       SYS_flock,	 SYS_ioctl,
	SYS_fsync,	 SYS_sendfile,	  SYS_copy_file_range, SYS_splice,	 SYS_tee,
	SYS_vmsplice,	 SYS_pipe2,	  SYS_ppoll,	       SYS_pselect6,	 SYS_epoll_create1,
	SYS_epoll_ctl,	 SYS_epoll_pwait, SYS_eventfd2,	       SYS_memfd_create, SYS_socket,
	SYS_socketpair,	 SYS_bind,	  SYS_listen,	       SYS_accept4,	 SYS_connect,
	SYS_getsockname, SYS_sendto,	  SYS_recvfrom,	       SYS_sendmsg,	 SYS_recvmsg,
	SYS_setsockopt,	 SYS_getsockopt,  SYS_shutdown,	       SYS_mmap,	 SYS_munmap,
	SYS_fgetxattr,	 SYS_fadvise64,	  SYS_umask,
};

static char *area; /* 64 KiB that may be read and written, with nothing behind */

static long argument(void)
{
	static const char *const names[] = {"a", "b",  "d", "d/e", "l",	 "f",
					    ".", "..", "",  "/",   "d/", "x/y"};
	static const long zero[2];

	switch (any(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return (long)any(24); /* a descriptor, a command, a size */
	case 4:
		return (long)names[any(sizeof(names) / sizeof(*names))];
	case 5:
		return (long)(area + any(65536)); /* may run over the end */
	case 6:
		return (long)(area + 256 * any(16));
	case 7:
		return (long)any(2) ? AT_FDCWD : -1;
	case 8:
		return 1L << any(63);
	case 9:
		return (long)zero; /* also a timeout that is over at once */
	case 10:
		return (long)any(65536);
	default:
		return (long)(seed * 31);
	}
}

static void fill_area(void)
{
	for (int i = 0; i < 512; i++)
		((long *)area)[any(8192)] = argument();
}

static void storm(uint64_t start, int rounds)
{
	struct rlimit fds = {24, 24}, size = {1 << 22, 1 << 22};

	for (int fd = 0; fd < 3; fd++)
		dup2(3, fd); /* /dev/null */
	seed = start;
	area = mmap(NULL, 65536 + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(area + 65536, 4096, PROT_NONE);
	setrlimit(RLIMIT_NOFILE, &fds);
	setrlimit(RLIMIT_FSIZE, &size);
	for (int sig = 1; sig < 32; sig++)
		if (sig != SIGALRM && sig != SIGSEGV && sig != SIGBUS)
			signal(sig, SIG_IGN);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 50000}},
		  NULL); /* some calls wait for ever */
	for (int i = 0; i < rounds; i++) {
		long nr = calls[any(sizeof(calls) / sizeof(*calls))];

		if (i % 16 == 0)
			fill_area();
		syscall(nr, argument(), argument(), argument(), argument(), argument(), argument());
	}
	_exit(0);
}

static void still_works(void)
{
	char buf[8];
	int p[2], fd;

	EXPECT(pipe(p) == 0 && write(p[1], "12345678", 8) == 8 && read(p[0], buf, 8) == 8);
	fd = open("/tmp/after-the-storm", O_CREAT | O_RDWR, 0600);
	EXPECT(fd >= 0 && write(fd, buf, 8) == 8 && pread(fd, buf, 8, 0) == 8);
	EXPECT(unlink("/tmp/after-the-storm") == 0);
	close(fd);
	close(p[0]);
	close(p[1]);
}

static void storms(uint64_t first, int n)
{
	char dir[] = "/tmp/stormXXXXXX";

	EXPECT(mkdtemp(dir) && chdir(dir) == 0);
	/* without rights, and in a root of their own: the system stays as it is */
	EXPECT(chown(dir, 1234, 1234) == 0);
	for (int i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			int null = open("/dev/null", O_RDWR);

			dup2(null, 3);
			if (chroot(".") || setgid(1234) || setuid(1234))
				_exit(1);
			storm(first + (uint64_t)i, 3000);
		}
		EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid);
		still_works();
	}
}

TEST(storm_of_calls, "bad input is an error")
{
	const char *n = getenv("STORMS");

	storms(1, n ? atoi(n) : 40);
}
