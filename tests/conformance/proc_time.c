/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, sleeping, interval timers, POSIX timers, timerfd, CPU time. */
#include "check.h"
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>

#define MS 1000000L

static volatile sig_atomic_t count;
static volatile siginfo_t last;

static void on_signal(int sig, siginfo_t *info, void *uc)
{
	(void)sig;
	(void)uc;
	count++;
	last = *info;
}

static void catch (int sig)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	EXPECT_EQ(sigaction(sig, &sa, NULL), 0);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		FAIL("clock %d: %s", clock, strerror(errno));
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static struct timespec after(clockid_t clock, long ns)
{
	int64_t t = now_ns(clock) + ns;

	return (struct timespec){t / 1000000000, t % 1000000000};
}

static void burn(long ns)
{
	int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

TEST(clocks, "")
{
	static const clockid_t all[] = {CLOCK_REALTIME,
					CLOCK_MONOTONIC,
					CLOCK_MONOTONIC_RAW,
					CLOCK_REALTIME_COARSE,
					CLOCK_MONOTONIC_COARSE,
					CLOCK_BOOTTIME,
					CLOCK_TAI,
					CLOCK_PROCESS_CPUTIME_ID,
					CLOCK_THREAD_CPUTIME_ID};
	struct timespec ts;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		EXPECT_EQ(syscall(SYS_clock_gettime, all[i], &ts), 0);
		EXPECT_BETWEEN(ts.tv_nsec, 0, 999999999);
		EXPECT_EQ(syscall(SYS_clock_getres, all[i], &ts), 0);
		EXPECT_EQ(ts.tv_sec, 0);
		int64_t a = now_ns(all[i]), b = now_ns(all[i]);
		EXPECT(b >= a);
	}
	EXPECT(now_ns(CLOCK_REALTIME) > 1500000000LL * 1000000000LL);
	EXPECT_ERRNO(syscall(SYS_clock_gettime, 99, &ts), EINVAL);
	EXPECT_ERRNO(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, 8), EFAULT);
	EXPECT_ERRNO(clock_settime(CLOCK_MONOTONIC, &ts), EINVAL);
}

TEST(vdso_agrees, "")
{
	struct timespec ts;

	for (int i = 0; i < 100; i++) {
		int64_t a = now_ns(CLOCK_MONOTONIC);

		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
		int64_t b = ts.tv_sec * 1000000000LL + ts.tv_nsec, c = now_ns(CLOCK_MONOTONIC);
		EXPECT(a <= b && b <= c);
	}
	int64_t a = now_ns(CLOCK_REALTIME);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	int64_t b = ts.tv_sec * 1000000000LL + ts.tv_nsec;
	EXPECT(a <= b && b <= now_ns(CLOCK_REALTIME));
}

TEST(sleeping, "")
{
	struct timespec ts = {0, 10 * MS}, bad = {0, -1};
	int64_t from = now_ns(CLOCK_MONOTONIC);

	EXPECT_EQ(nanosleep(&ts, NULL), 0);
	EXPECT_BETWEEN(now_ns(CLOCK_MONOTONIC) - from, 10 * MS, 14 * MS);
	EXPECT_ERRNO(nanosleep(&bad, NULL), EINVAL);
	bad = (struct timespec){-1, 0};
	EXPECT_ERRNO(nanosleep(&bad, NULL), EINVAL);
	from = now_ns(CLOCK_MONOTONIC);
	ts = after(CLOCK_REALTIME, 10 * MS);
	EXPECT_EQ(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL), 0);
	EXPECT_BETWEEN(now_ns(CLOCK_MONOTONIC) - from, 9 * MS, 14 * MS);
	ts = after(CLOCK_MONOTONIC, -10 * MS);
	EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL), 0);
	EXPECT_EQ(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ts, NULL), EINVAL);
	EXPECT_EQ(clock_nanosleep(77, 0, &ts, NULL), EINVAL);
	ts = (struct timespec){0, 0};
	EXPECT_EQ(nanosleep(&ts, NULL), 0);
}

TEST(cpu_time, "")
{
	int64_t thread = now_ns(CLOCK_THREAD_CPUTIME_ID),
		process = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct timespec ts = {0, 30 * MS};
	struct rusage r;
	struct tms tms;

	burn(20 * MS);
	EXPECT_EQ(nanosleep(&ts, NULL), 0);
	EXPECT_BETWEEN(now_ns(CLOCK_THREAD_CPUTIME_ID) - thread, 20 * MS, 25 * MS);
	EXPECT_BETWEEN(now_ns(CLOCK_PROCESS_CPUTIME_ID) - process, 20 * MS, 25 * MS);
	EXPECT_EQ(getrusage(RUSAGE_SELF, &r), 0);
	EXPECT(r.ru_utime.tv_usec + r.ru_stime.tv_usec >= 20000 - 4000);
	EXPECT(r.ru_nvcsw > 0);
	EXPECT(times(&tms) > 0);
	EXPECT(tms.tms_utime + tms.tms_stime >= 1);
	clockid_t other;
	EXPECT_EQ(clock_getcpuclockid(getppid(), &other), 0);
	EXPECT(now_ns(other) > 0);
	EXPECT_EQ(clock_getcpuclockid(30000, &other), ESRCH);
}

TEST(itimer_real, "")
{
	struct itimerval set = {{0, 10000}, {0, 20000}}, get;

	catch (SIGALRM);
	EXPECT_EQ(setitimer(ITIMER_REAL, &set, NULL), 0);
	EXPECT_EQ(getitimer(ITIMER_REAL, &get), 0);
	EXPECT_BETWEEN(get.it_value.tv_usec, 15000, 20000);
	EXPECT_EQ(get.it_interval.tv_usec, 10000);
	int64_t from = now_ns(CLOCK_MONOTONIC);
	while (count < 3)
		pause();
	EXPECT_BETWEEN(now_ns(CLOCK_MONOTONIC) - from, 38 * MS, 46 * MS);
	memset(&set, 0, sizeof(set));
	EXPECT_EQ(setitimer(ITIMER_REAL, &set, &get), 0);
	EXPECT(get.it_value.tv_usec > 0);
	EXPECT_EQ(getitimer(ITIMER_REAL, &get), 0);
	EXPECT_EQ(get.it_value.tv_usec, 0);
	EXPECT_ERRNO(getitimer((__itimer_which_t)5, &get), EINVAL);
	set.it_value.tv_usec = 1000000;
	EXPECT_ERRNO(setitimer(ITIMER_REAL, &set, NULL), EINVAL);
}

TEST(itimer_while_running, "")
{
	struct itimerval set = {{0, 0}, {0, 10000}};

	catch (SIGALRM);
	EXPECT_EQ(setitimer(ITIMER_REAL, &set, NULL), 0);
	int64_t from = now_ns(CLOCK_MONOTONIC);
	while (!count)
		;
	EXPECT_BETWEEN(now_ns(CLOCK_MONOTONIC) - from, 8 * MS, 14 * MS);
}

TEST(itimer_cpu, "")
{
	struct itimerval set = {{0, 20000}, {0, 20000}};
	struct timespec ts = {0, 60 * MS};

	catch (SIGPROF);
	catch (SIGVTALRM);
	EXPECT_EQ(setitimer(ITIMER_PROF, &set, NULL), 0);
	EXPECT_EQ(nanosleep(&ts, NULL), 0); /* sleeping does not count */
	EXPECT_EQ(count, 0);
	burn(100 * MS);
	EXPECT_BETWEEN(count, 3, 5);
	memset(&set.it_interval, 0, sizeof(set.it_interval));
	struct itimerval off = {{0, 0}, {0, 0}};
	EXPECT_EQ(setitimer(ITIMER_PROF, &off, NULL), 0);
	count = 0;
	EXPECT_EQ(setitimer(ITIMER_VIRTUAL, &set, NULL), 0);
	for (volatile long i = 0; i < 20000000; i++)
		;
	EXPECT_EQ(count, 1);
}

TEST(alarm_survives_exec, "")
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct itimerval set = {{0, 0}, {0, 50000}};

		setitimer(ITIMER_REAL, &set, NULL);
		execl("/bin/sh", "sh", "-c", "sleep 5", NULL);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

TEST(posix_timer, "")
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec set = {{0, 10 * MS}, {0, 5 * MS}}, get;
	timer_t timer;

	ev.sigev_value.sival_int = 99;
	catch (SIGRTMIN);
	EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
	EXPECT_EQ(timer_gettime(timer, &get), 0);
	EXPECT_EQ(get.it_value.tv_nsec, 0);
	EXPECT_EQ(timer_settime(timer, 0, &set, NULL), 0);
	while (count < 3)
		pause();
	EXPECT_EQ(last.si_code, SI_TIMER);
	EXPECT_EQ(last.si_value.sival_int, 99);
	EXPECT_EQ(last.si_overrun, 0);
	EXPECT_EQ(timer_gettime(timer, &get), 0);
	EXPECT_BETWEEN(get.it_value.tv_nsec, 1, 10 * MS);
	EXPECT_EQ(timer_delete(timer), 0);
	EXPECT_ERRNO(timer_gettime(timer, &get), EINVAL);
	EXPECT_ERRNO(timer_create(99, &ev, &timer), EINVAL);
	ev.sigev_signo = 99;
	EXPECT_ERRNO(timer_create(CLOCK_MONOTONIC, &ev, &timer), EINVAL);
}

TEST(posix_timer_overrun, "")
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec set = {{0, 10 * MS}, {0, 10 * MS}};
	struct timespec ts = {0, 55 * MS};
	sigset_t mask;
	siginfo_t info;
	timer_t timer;

	sigemptyset(&mask);
	sigaddset(&mask, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	EXPECT_EQ(timer_create(CLOCK_REALTIME, &ev, &timer), 0);
	EXPECT_EQ(timer_settime(timer, 0, &set, NULL), 0);
	nanosleep(&ts, NULL);
	EXPECT_EQ(sigwaitinfo(&mask, &info), SIGRTMIN);
	EXPECT_EQ(info.si_overrun, 4); /* 10, then 20, 30, 40, 50 */
	EXPECT_EQ(timer_getoverrun(timer), 4);
	EXPECT_EQ(sigwaitinfo(&mask, &info), SIGRTMIN);
	EXPECT_EQ(info.si_overrun, 0);
	memset(&set, 0, sizeof(set));
	EXPECT_EQ(timer_settime(timer, 0, &set, NULL), 0);
}

TEST(posix_timer_absolute_and_cpu, "")
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec set = {{0, 0}, {0, 0}};
	timer_t timer;

	catch (SIGUSR1);
	EXPECT_EQ(timer_create(CLOCK_REALTIME, &ev, &timer), 0);
	set.it_value = after(CLOCK_REALTIME, 10 * MS);
	EXPECT_EQ(timer_settime(timer, TIMER_ABSTIME, &set, NULL), 0);
	while (!count)
		pause();
	EXPECT(now_ns(CLOCK_REALTIME) >= set.it_value.tv_sec * 1000000000LL + set.it_value.tv_nsec);
	count = 0;
	EXPECT_EQ(timer_create(CLOCK_PROCESS_CPUTIME_ID, &ev, &timer), 0);
	set.it_value = (struct timespec){0, 20 * MS};
	EXPECT_EQ(timer_settime(timer, 0, &set, NULL), 0);
	burn(15 * MS);
	EXPECT_EQ(count, 0);
	burn(30 * MS);
	EXPECT_EQ(count, 1);
}

TEST(timerfd, "")
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct itimerspec set = {{0, 10 * MS}, {0, 5 * MS}}, get;
	struct timespec ts = {0, 37 * MS};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t ticks;

	EXPECT(fd >= 0);
	EXPECT_EQ(poll(&p, 1, 0), 0);
	EXPECT_EQ(timerfd_settime(fd, 0, &set, NULL), 0);
	EXPECT_EQ(timerfd_gettime(fd, &get), 0);
	EXPECT_BETWEEN(get.it_value.tv_nsec, 3 * MS, 5 * MS);
	EXPECT_EQ(poll(&p, 1, 100), 1);
	EXPECT_EQ(read(fd, &ticks, sizeof(ticks)), 8);
	EXPECT_EQ(ticks, 1);
	EXPECT_EQ(read(fd, &ticks, sizeof(ticks)), 8); /* waits */
	EXPECT_EQ(ticks, 1);
	nanosleep(&ts, NULL);
	EXPECT_EQ(read(fd, &ticks, sizeof(ticks)), 8);
	EXPECT_EQ(ticks, 3);
	EXPECT_ERRNO(read(fd, &ticks, 4), EINVAL);
	memset(&set, 0, sizeof(set));
	EXPECT_EQ(timerfd_settime(fd, 0, &set, &get), 0);
	EXPECT_EQ(get.it_interval.tv_nsec, 10 * MS);
	EXPECT_EQ(poll(&p, 1, 20), 0);
	close(fd);
	fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	EXPECT_ERRNO(read(fd, &ticks, 8), EAGAIN);
	set.it_value = after(CLOCK_REALTIME, 5 * MS);
	EXPECT_EQ(timerfd_settime(fd, TFD_TIMER_ABSTIME, &set, NULL), 0);
	p.fd = fd;
	EXPECT_EQ(poll(&p, 1, 100), 1);
	EXPECT_EQ(read(fd, &ticks, sizeof(ticks)), 8);
	EXPECT_EQ(ticks, 1);
	EXPECT_ERRNO(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0), EINVAL);
	EXPECT_ERRNO(timerfd_create(CLOCK_MONOTONIC, 1), EINVAL);
	EXPECT_ERRNO(timerfd_settime(0, 0, &set, NULL), EINVAL);
	EXPECT_ERRNO(timerfd_settime(999, 0, &set, NULL), EBADF);
}

TEST(cpu_limit, "")
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit rl = {1, 3};

		setrlimit(RLIMIT_CPU, &rl);
		catch (SIGXCPU);
		while (!count)
			;
		signal(SIGXCPU, SIG_DFL);
		for (;;)
			;
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
}
