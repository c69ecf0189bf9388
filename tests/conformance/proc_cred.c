/* SPDX-License-Identifier: BSD-2-Clause */
/* Credentials, capabilities, limits, and other small properties of a process. */
#include "check.h"
#include <grp.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>

static int in_child(int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

#define STEP(condition)                         \
	do {                                    \
		if (!(condition))               \
			return __LINE__ & 0x7f; \
	} while (0)

static int become_user(void)
{
	uid_t r, e, s;

	STEP(setresgid(100, 100, 100) == 0);
	STEP(setresuid(1000, 1001, 1002) == 0);
	STEP(getresuid(&r, &e, &s) == 0 && r == 1000 && e == 1001 && s == 1002);
	STEP(seteuid(1002) == 0 && geteuid() == 1002);
	STEP(seteuid(1000) == 0);
	STEP(seteuid(0) == -1 && errno == EPERM);
	STEP(setuid(1003) == -1 && errno == EPERM);
	STEP(setreuid((uid_t)-1, 1002) == 0 && geteuid() == 1002);
	STEP(setgid(0) == -1 && errno == EPERM);
	STEP(setgroups(0, NULL) == -1 && errno == EPERM);
	STEP(syscall(SYS_setuid, -1) == -1 && errno == EINVAL);
	return 0;
}

static int drop_and_regain(void)
{
	STEP(seteuid(1000) == 0);
	STEP(getuid() == 0 && geteuid() == 1000);
	STEP(sethostname("x", 1) == -1 && errno == EPERM);
	STEP(seteuid(0) == 0);
	STEP(setfsuid(1000) == 0);
	STEP(setfsuid((uid_t)-1) == 1000);
	return 0;
}

TEST(user_ids, "")
{
	if (getuid())
		SKIP("not root");
	EXPECT_EQ(in_child(become_user), 0);
	EXPECT_EQ(in_child(drop_and_regain), 0);
}

static int groups(void)
{
	gid_t set[3] = {5, 6, 7}, get[8];

	STEP(setgroups(3, set) == 0);
	STEP(getgroups(0, NULL) == 3);
	STEP(getgroups(8, get) == 3 && get[0] == 5 && get[2] == 7);
	STEP(getgroups(2, get) == -1 && errno == EINVAL);
	return 0;
}

TEST(supplementary_groups, "")
{
	if (getuid())
		SKIP("not root");
	EXPECT_EQ(in_child(groups), 0);
}

static int capabilities(void)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];

	STEP(syscall(SYS_capget, &h, d) == 0);
	STEP(d[0].effective & (1u << CAP_KILL));
	d[0].effective &= ~(1u << CAP_SYS_ADMIN);
	d[0].permitted &= ~(1u << CAP_SYS_ADMIN);
	STEP(syscall(SYS_capset, &h, d) == 0);
	STEP(sethostname("x", 1) == -1 && errno == EPERM);
	d[0].permitted |= 1u << CAP_SYS_ADMIN;
	STEP(syscall(SYS_capset, &h, d) == -1 && errno == EPERM);
	STEP(prctl(PR_CAPBSET_READ, CAP_KILL) == 1);
	STEP(prctl(PR_CAPBSET_DROP, CAP_KILL) == 0);
	STEP(prctl(PR_CAPBSET_READ, CAP_KILL) == 0);
	STEP(prctl(PR_CAPBSET_READ, 99) == -1 && errno == EINVAL);
	h.version = 1;
	STEP(syscall(SYS_capget, &h, NULL) == 0 && h.version == _LINUX_CAPABILITY_VERSION_3);
	return 0;
}

TEST(capability_sets, "")
{
	if (getuid())
		SKIP("not root");
	EXPECT_EQ(in_child(capabilities), 0);
}

TEST(limits, "")
{
	struct rlimit rl, old;

	EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	rl = (struct rlimit){100, 200};
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &rl), 0);
	EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &rl), 0);
	EXPECT_EQ(rl.rlim_cur, 100);
	EXPECT_EQ(rl.rlim_max, 200);
	rl.rlim_cur = 300;
	EXPECT_ERRNO(setrlimit(RLIMIT_NOFILE, &rl), EINVAL);
	EXPECT_ERRNO(getrlimit((__rlimit_resource_t)99, &rl), EINVAL);
	EXPECT_ERRNO(prlimit(30000, RLIMIT_NOFILE, NULL, &rl), ESRCH);
	EXPECT_EQ(prlimit(getppid(), RLIMIT_NOFILE, NULL, &rl), 0);
	EXPECT_EQ(rl.rlim_cur, old.rlim_cur);
}

TEST(prctl_properties, "")
{
	int value;

	EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1);
	EXPECT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
	EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
	EXPECT_ERRNO(prctl(PR_SET_DUMPABLE, 7), EINVAL);
	EXPECT_EQ(prctl(PR_SET_PDEATHSIG, SIGUSR1), 0);
	EXPECT_EQ(prctl(PR_GET_PDEATHSIG, &value), 0);
	EXPECT_EQ(value, SIGUSR1);
	EXPECT_ERRNO(prctl(PR_SET_PDEATHSIG, 99), EINVAL);
	EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
	EXPECT_ERRNO(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), EINVAL);
	EXPECT_EQ(prctl(PR_SET_TIMERSLACK, 1000), 0);
	EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1000);
	EXPECT_ERRNO(prctl(12345), EINVAL);
}

TEST(system_properties, "")
{
	struct utsname u;
	struct sysinfo info;
	char a[32], b[32];
	unsigned cpu = 99, node = 99;

	EXPECT_EQ(uname(&u), 0);
	EXPECT(strcmp(u.sysname, "Linux") == 0);
	EXPECT(strcmp(u.machine, "aarch64") == 0);
	EXPECT_EQ(sysinfo(&info), 0);
	EXPECT(info.totalram * info.mem_unit > 100000000);
	EXPECT(info.freeram < info.totalram);
	EXPECT(info.procs > 1);
	EXPECT_EQ(getrandom(a, sizeof(a), 0), sizeof(a));
	EXPECT_EQ(getrandom(b, sizeof(b), GRND_NONBLOCK), sizeof(b));
	EXPECT(memcmp(a, b, sizeof(a)) != 0);
	EXPECT_ERRNO(getrandom(a, 1, 0x80), EINVAL);
	EXPECT_ERRNO(syscall(SYS_getrandom, 8, 1, 0), EFAULT);
	EXPECT_EQ(syscall(SYS_getcpu, &cpu, &node, NULL), 0);
	EXPECT(cpu < (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	EXPECT_EQ(node, 0);
	EXPECT_EQ(personality(0xffffffff), 0);
}
