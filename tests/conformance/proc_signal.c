/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals: handlers, masks, queues, waiting for them, alternate stacks, restarted system calls. */
#include "check.h"
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

static volatile sig_atomic_t count, last_signal, order[64], order_len;
static volatile siginfo_t last_info; /* raise() is a leaf function to the compiler */

static void on_signal(int sig, siginfo_t *info, void *uc)
{
	(void)uc;
	count++;
	last_signal = sig;
	last_info = *info;
	if (order_len < 64)
		order[order_len++] = sig;
}

static void catch (int sig, int flags)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	EXPECT_EQ(sigaction(sig, &sa, NULL), 0);
}

static sigset_t set_of(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	if (sig)
		sigaddset(&set, sig);
	return set;
}

static void block(int how, int sig)
{
	sigset_t set = set_of(sig);

	EXPECT_EQ(sigprocmask(how, &set, NULL), 0);
}

TEST(kill_self, "")
{
	catch (SIGUSR1, 0);
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(last_info.si_code, SI_USER);
	EXPECT_EQ(last_info.si_pid, getpid());
	EXPECT_EQ(last_info.si_uid, getuid());
	raise(SIGUSR1);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(last_info.si_code, SI_TKILL);
}

TEST(kill_errors, "")
{
	EXPECT_ERRNO(kill(getpid(), 65), EINVAL);
	EXPECT_ERRNO(kill(getpid(), -1), EINVAL);
	EXPECT_ERRNO(kill(30000, 0), ESRCH);
	EXPECT_ERRNO(kill(-30000, 0), ESRCH);
	EXPECT_EQ(kill(getpid(), 0), 0);
	EXPECT_ERRNO(syscall(SYS_tgkill, getpid(), 30000, SIGUSR1), ESRCH);
	EXPECT_ERRNO(syscall(SYS_tgkill, 1, getpid(), SIGUSR1), ESRCH);
	EXPECT_ERRNO(syscall(SYS_tgkill, 0, getpid(), SIGUSR1), EINVAL);
	EXPECT_ERRNO(syscall(SYS_tkill, -1, SIGUSR1), EINVAL);
}

TEST(sigaction_errors, "")
{
	struct sigaction sa = {.sa_handler = SIG_IGN};

	EXPECT_ERRNO(sigaction(SIGKILL, &sa, NULL), EINVAL);
	EXPECT_ERRNO(sigaction(SIGSTOP, &sa, NULL), EINVAL);
	EXPECT_EQ(sigaction(SIGKILL, NULL, &sa), 0);
	EXPECT_ERRNO(syscall(SYS_rt_sigaction, 65, NULL, NULL, 8), EINVAL);
	EXPECT_ERRNO(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 16), EINVAL);
	EXPECT_ERRNO(syscall(SYS_rt_sigaction, SIGUSR1, 8, NULL, 8), EFAULT);
	EXPECT_ERRNO(syscall(SYS_rt_sigprocmask, 5, &sa, NULL, 8), EINVAL);
}

TEST(mask_and_pending, "")
{
	sigset_t pending;

	catch (SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1);
	raise(SIGUSR1);
	raise(SIGUSR1);
	EXPECT_EQ(count, 0);
	sigpending(&pending);
	EXPECT(sigismember(&pending, SIGUSR1));
	EXPECT(!sigismember(&pending, SIGUSR2));
	block(SIG_UNBLOCK, SIGUSR1);
	EXPECT_EQ(count, 1); /* standard signals do not queue */
	sigpending(&pending);
	EXPECT(!sigismember(&pending, SIGUSR1));
}

TEST(realtime_signals_queue, "")
{
	union sigval v;

	catch (SIGRTMIN + 1, 0);
	catch (SIGRTMIN + 2, 0);
	block(SIG_BLOCK, SIGRTMIN + 1);
	block(SIG_BLOCK, SIGRTMIN + 2);
	for (int i = 0; i < 3; i++) {
		v.sival_int = i;
		EXPECT_EQ(sigqueue(getpid(), SIGRTMIN + 2, v), 0);
	}
	v.sival_int = 77;
	EXPECT_EQ(sigqueue(getpid(), SIGRTMIN + 1, v), 0);
	sigset_t none = set_of(0);
	sigset_t set = none;
	sigaddset(&set, SIGRTMIN + 1);
	sigaddset(&set, SIGRTMIN + 2);
	siginfo_t info;
	EXPECT_EQ(sigwaitinfo(&set, &info), SIGRTMIN + 1); /* the lowest first */
	EXPECT_EQ(info.si_value.sival_int, 77);
	EXPECT_EQ(info.si_code, SI_QUEUE);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(sigwaitinfo(&set, &info), SIGRTMIN + 2);
		EXPECT_EQ(info.si_value.sival_int, i);
	}
	struct timespec none_at_all = {0, 0}, soon = {0, 5000000};
	EXPECT_ERRNO(sigtimedwait(&set, &info, &none_at_all), EAGAIN);
	EXPECT_ERRNO(sigtimedwait(&set, &info, &soon), EAGAIN);
	EXPECT_EQ(count, 0);
}

TEST(sigqueue_limit, "")
{
	union sigval v = {0};
	int n = 0;

	block(SIG_BLOCK, SIGRTMIN);
	while (n < 1000000 && sigqueue(getpid(), SIGRTMIN, v) == 0)
		n++;
	EXPECT_ERRNO(sigqueue(getpid(), SIGRTMIN, v), EAGAIN);
	EXPECT(n > 100);
	EXPECT_EQ(kill(getpid(), SIGRTMIN), 0); /* kill does not fail for that */
}

TEST(handler_blocks_its_signal, "")
{
	catch (SIGUSR1, 0);
	catch (SIGUSR2, SA_NODEFER);
	block(SIG_BLOCK, SIGUSR1);
	block(SIG_BLOCK, SIGUSR2);
	raise(SIGUSR2);
	raise(SIGUSR1);
	sigset_t none = set_of(0);
	EXPECT_EQ(sigprocmask(SIG_SETMASK, &none, NULL), 0);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(order_len, 2);
	sigset_t now;
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT(!sigismember(&now, SIGUSR1));
}

static volatile sig_atomic_t depth, max_depth, blocked_inside;

static void nest(int sig)
{
	sigset_t now;

	depth++;
	if (depth > max_depth)
		max_depth = depth;
	sigprocmask(SIG_SETMASK, NULL, &now);
	blocked_inside = sigismember(&now, SIGUSR2);
	if (depth < 3)
		raise(sig);
	depth--;
}

TEST(nodefer_and_mask, "")
{
	struct sigaction sa = {.sa_handler = nest, .sa_flags = SA_NODEFER};

	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	EXPECT_EQ(max_depth, 3);
	EXPECT(blocked_inside);
}

TEST(resethand, "")
{
	struct sigaction now;

	catch (SIGUSR1, SA_RESETHAND);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &now);
	EXPECT(now.sa_handler == SIG_DFL);
}

TEST(ignored_is_discarded, "")
{
	sigset_t pending;

	catch (SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_IGN);
	sigpending(&pending);
	EXPECT(!sigismember(&pending, SIGUSR1));
}

static void *volatile altstack_sp;

static void note_sp(int sig)
{
	(void)sig;
	altstack_sp = __builtin_frame_address(0);
}

TEST(altstack, "")
{
	static char stack[65536];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)}, old;
	struct sigaction sa = {.sa_handler = note_sp, .sa_flags = SA_ONSTACK};

	EXPECT_EQ(sigaltstack(NULL, &old), 0);
	EXPECT_EQ(old.ss_flags, SS_DISABLE);
	EXPECT_EQ(sigaltstack(&ss, NULL), 0);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	EXPECT((char *)altstack_sp > stack && (char *)altstack_sp < stack + sizeof(stack));
	EXPECT_EQ(sigaltstack(NULL, &old), 0);
	EXPECT_EQ(old.ss_flags, 0);
	EXPECT(old.ss_sp == stack);
	ss.ss_size = 1000;
	EXPECT_ERRNO(sigaltstack(&ss, NULL), ENOMEM);
	ss.ss_flags = 99;
	EXPECT_ERRNO(sigaltstack(&ss, NULL), EINVAL);
}

static void fault_handler(int sig, siginfo_t *info, void *uc)
{
	ucontext_t *c = uc;

	last_signal = sig;
	last_info = *info;
	c->uc_mcontext.pc += 4; /* goes on behind the faulting instruction */
	count++;
}

TEST(fault_info, "")
{
	struct sigaction sa = {.sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO};
	char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGTRAP, &sa, NULL);
	__asm__ volatile("str wzr, [%0]" ::"r"(16L) : "memory");
	EXPECT_EQ(last_signal, SIGSEGV);
	EXPECT_EQ(last_info.si_code, SEGV_MAPERR);
	EXPECT_EQ((long)last_info.si_addr, 16);
	__asm__ volatile("str wzr, [%0]" ::"r"(none) : "memory");
	EXPECT_EQ(last_info.si_code, SEGV_ACCERR);
	EXPECT(last_info.si_addr == none);
	__asm__ volatile(".inst 0" ::: "memory");
	EXPECT_EQ(last_signal, SIGILL);
	__asm__ volatile("brk #1" ::: "memory");
	EXPECT_EQ(last_signal, SIGTRAP);
	EXPECT_EQ(last_info.si_code, TRAP_BRKPT);
	EXPECT_EQ(count, 4);
}

TEST(registers_survive, "")
{
	double d0 = 1.25, got_d;
	long x = 0x1122334455667788, got_x;

	catch (SIGUSR1, 0);
	long pid = getpid(); /* calls would take the registers below */
	register long x8 __asm__("x8") = SYS_tgkill;
	register long r0 __asm__("x0") = pid;
	register long r1 __asm__("x1") = pid;
	register long r2 __asm__("x2") = SIGUSR1;
	__asm__ volatile("fmov d8, %d[d]\n\t"
			 "fmov d20, %d[d]\n\t"
			 "mov x19, %[x]\n\t"
			 "mov x9, %[x]\n\t"
			 "cmp xzr, xzr\n\t"
			 "svc #0\n\t"
			 "cset x10, eq\n\t"
			 "add %[gx], x19, x10\n\t"
			 "sub %[gx], %[gx], x9\n\t"
			 "fadd %d[gd], d8, d20"
			 : [gd] "=w"(got_d), [gx] "=&r"(got_x), "+r"(r0)
			 : [d] "w"(d0), [x] "r"(x), "r"(x8), "r"(r1), "r"(r2)
			 : "x9", "x10", "x19", "d8", "d20", "cc", "memory");
	long result = r0; /* before a call takes the register */
	EXPECT_EQ(result, 0);
	EXPECT_EQ(got_x, 1);
	EXPECT(got_d == 2.5);
	EXPECT_EQ(count, 1);
}

/* A child that sends the parent a signal after a moment. */
static pid_t signal_later(int sig, int ms)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};

		nanosleep(&ts, NULL);
		kill(parent, sig);
		_exit(0);
	}
	return pid;
}

TEST(read_interrupted, "")
{
	int fd[2];
	char c;

	EXPECT_EQ(pipe(fd), 0);
	catch (SIGUSR1, 0);
	signal_later(SIGUSR1, 10);
	EXPECT_ERRNO(read(fd[0], &c, 1), EINTR);
	EXPECT_EQ(count, 1);
}

TEST(read_restarted, "")
{
	int fd[2];
	char c = 0;

	EXPECT_EQ(pipe(fd), 0);
	catch (SIGUSR1, SA_RESTART);
	signal_later(SIGUSR1, 10);
	if (fork() == 0) {
		usleep(50000);
		_exit(write(fd[1], "x", 1) != 1);
	}
	EXPECT_EQ(read(fd[0], &c, 1), 1);
	EXPECT_EQ(c, 'x');
	EXPECT_EQ(count, 1);
}

TEST(ignored_does_not_interrupt, "")
{
	struct timespec ts = {0, 60000000}, rem = {9, 9};

	signal(SIGUSR1, SIG_IGN);
	signal_later(SIGUSR1, 10);
	EXPECT_EQ(nanosleep(&ts, &rem), 0);
}

TEST(nanosleep_interrupted, "")
{
	struct timespec ts = {1, 0}, rem = {0, 0};

	catch (SIGUSR1, SA_RESTART); /* never restarted, whatever the flag says */
	signal_later(SIGUSR1, 50);
	EXPECT_ERRNO(nanosleep(&ts, &rem), EINTR);
	EXPECT_BETWEEN(rem.tv_nsec, 900000000, 960000000);
	EXPECT_EQ(rem.tv_sec, 0);
}

TEST(sleep_over_a_stop, "")
{
	struct timespec from, to;
	pid_t pid = fork();
	int status;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (pid == 0) {
		struct timespec ts = {0, 100000000};

		_exit(nanosleep(&ts, NULL) != 0);
	}
	usleep(20000);
	kill(pid, SIGSTOP);
	usleep(20000);
	kill(pid, SIGCONT);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	long ms = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
	EXPECT_BETWEEN(ms, 99, 135); /* to the first deadline, not a new one */
}

TEST(sigsuspend_waits, "")
{
	sigset_t none = set_of(0), now;

	catch (SIGUSR1, SA_RESTART);
	block(SIG_BLOCK, SIGUSR1);
	raise(SIGUSR1);
	EXPECT_EQ(count, 0);
	EXPECT_ERRNO(sigsuspend(&none), EINTR);
	EXPECT_EQ(count, 1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT(sigismember(&now, SIGUSR1));
	signal_later(SIGUSR1, 10);
	EXPECT_ERRNO(sigsuspend(&none), EINTR);
	EXPECT_EQ(count, 2);
}

TEST(ppoll_mask, "")
{
	sigset_t none = set_of(0);
	struct timespec ts = {1, 0};

	catch (SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1);
	raise(SIGUSR1);
	EXPECT_ERRNO(ppoll(NULL, 0, &ts, &none), EINTR);
	EXPECT_EQ(count, 1);
	sigset_t now;
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT(sigismember(&now, SIGUSR1));
}

TEST(signalfd_reads, "")
{
	sigset_t set = set_of(SIGUSR1);
	struct signalfd_siginfo si;
	union sigval v = {.sival_int = 42};
	int fd;

	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	EXPECT(fd >= 0);
	EXPECT_ERRNO(read(fd, &si, sizeof(si)), EAGAIN);
	EXPECT_ERRNO(read(fd, &si, 4), EINVAL);
	sigqueue(getpid(), SIGUSR2, v);
	kill(getpid(), SIGUSR1);
	EXPECT_EQ(read(fd, &si, sizeof(si)), sizeof(si));
	EXPECT_EQ(si.ssi_signo, SIGUSR1);
	EXPECT_EQ(si.ssi_pid, getpid());
	EXPECT_EQ(read(fd, &si, sizeof(si)), sizeof(si));
	EXPECT_EQ(si.ssi_signo, SIGUSR2);
	EXPECT_EQ(si.ssi_int, 42);
	EXPECT_EQ(si.ssi_code, SI_QUEUE);
	int ep = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN};
	EXPECT_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	EXPECT_EQ(epoll_wait(ep, &ev, 1, 0), 0);
	signal_later(SIGUSR1, 10);
	EXPECT_EQ(epoll_wait(ep, &ev, 1, 1000), 1);
}

static volatile int thread_ready, thread_signals;
static pthread_t thread;

static void thread_handler(int sig)
{
	(void)sig;
	if (pthread_self() == thread)
		thread_signals++;
}

static void *wait_for_signal(void *arg)
{
	thread_ready = 1;
	while (!thread_signals)
		usleep(1000);
	return arg;
}

TEST(process_signal_goes_to_a_thread_that_wants_it, "")
{
	signal(SIGUSR1, thread_handler);
	EXPECT_EQ(pthread_create(&thread, NULL, wait_for_signal, NULL), 0);
	while (!thread_ready)
		usleep(1000);
	block(SIG_BLOCK, SIGUSR1); /* the main thread does not */
	kill(getpid(), SIGUSR1);
	pthread_join(thread, NULL);
	EXPECT_EQ(thread_signals, 1);
}

TEST(thread_directed, "")
{
	signal(SIGUSR1, thread_handler);
	EXPECT_EQ(pthread_create(&thread, NULL, wait_for_signal, NULL), 0);
	while (!thread_ready)
		usleep(1000);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	EXPECT_EQ(thread_signals, 1);
}

TEST(default_actions, "")
{
	static const int deadly[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,	 SIGTRAP, SIGABRT,
				     SIGBUS,  SIGFPE,  SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2,
				     SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGVTALRM,
				     SIGPROF, SIGIO,   SIGPWR,	SIGSYS,	 34,	  64};
	static const int harmless[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT};
	int status;

	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (;;)
				pause();
		}
		kill(pid, deadly[i]);
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT(WIFSIGNALED(status));
		EXPECT_EQ(WTERMSIG(status), deadly[i]);
	}
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		EXPECT_EQ(raise(harmless[i]), 0);
}

TEST(exec_resets_handlers, "")
{
	int status;
	pid_t pid;

	catch (SIGUSR1, 0);
	signal(SIGUSR2, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "kill -USR2 $$; kill -USR1 $$; exit 5", NULL);
		_exit(9);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
}

TEST(permission, "")
{
	int status;
	pid_t pid;

	if (getuid())
		SKIP("not root");
	pid = fork();
	if (pid == 0) {
		pid_t parent = getppid();

		if (setuid(1000))
			_exit(1);
		_exit(kill(parent, SIGUSR1) == 0 || errno != EPERM);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}
