/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls QEMU; see machine.h. All that QEMU reads and writes besides the images is a descriptor
 * that it inherits, so that nothing is left on the disk however this ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "machine.h"
#include "say.h"

static const char program[] = MACHINE_QEMU;

enum { MAX_WORDS = 96 };

struct words {
	const char *at[MAX_WORDS + 1];
	size_t count;
};

static void add(struct words *words, const char *word)
{
	if (words->count == MAX_WORDS)
		abort();
	words->at[words->count++] = word;
}

static void add_pair(struct words *words, const char *option, const char *value)
{
	add(words, option);
	add(words, value);
}

static void add_board(struct words *words, const struct options *options)
{
	add_pair(words, "-M", "virt,gic-version=3,dtb-randomness=off");
	add_pair(words, "-cpu", options->pmu ? "neoverse-n1" : "neoverse-n1,pmu=off");
	add_pair(words, "-smp", textf("%u", options->cpus));
	add_pair(words, "-m", options->memory);
	add_pair(words, "-nic", "none");
	add_pair(words, "-global", "virtio-mmio.force-legacy=false");
	if (options->exact) {
		add_pair(words, "-accel", "tcg");
		add_pair(words, "-icount", "shift=0,sleep=off");
		add_pair(words, "-rtc", "base=2026-01-01T00:00:00,clock=vm");
	} else {
		add_pair(words, "-accel", "tcg,thread=multi");
	}
}

/*
 * QEMU drops what a virtconsole writes faster than it is read here; a virtserialport makes the
 * guest wait. Tally takes a port with the name "tty" for its terminal, Linux only a virtconsole.
 */
static void add_channels(struct words *words, const struct options *options, const int *fds)
{
	const char *const devices[CHANNELS] = {
		[CHANNEL_TTY] = options->linux_kernel ? "virtconsole,nr=0,chardev=c0"
						      : "virtserialport,nr=5,chardev=c0,name=tty",
		[CHANNEL_IN] = "virtserialport,nr=1,chardev=c1,name=stdin",
		[CHANNEL_OUT] = "virtserialport,nr=2,chardev=c2,name=stdout",
		[CHANNEL_ERR] = "virtserialport,nr=3,chardev=c3,name=stderr",
		[CHANNEL_RESULTS] = "virtserialport,nr=6,chardev=c4,name=results",
		[CHANNEL_CONTROL] = "virtserialport,nr=4,chardev=c5,name=control",
	};

	add_pair(words, "-device", "virtio-serial-device,max_ports=8");
	for (int i = 0; i < CHANNELS; i++) {
		if (i == CHANNEL_RESULTS && options->results < 0)
			continue;
		add_pair(words, "-chardev", textf("socket,id=c%d,fd=%d", i, fds[i]));
		add_pair(words, "-device", devices[i]);
	}
}

/* The folder as the user who runs QEMU sees it; docs/host.md says what the guest may do there. */
static void add_share(struct words *words, const char *folder)
{
	char *path = malloc(2 * strlen(folder) + 1), *to = path;

	if (!path)
		abort();
	for (const char *from = folder; *from; from++) {
		if (*from == ',')
			*to++ = ','; /* as QEMU wants a comma within a value */
		*to++ = *from;
	}
	*to = '\0';
	add_pair(words, "-fsdev",
		 textf("local,id=share,security_model=none,multidevs=remap,path=%s", path));
	add_pair(words, "-device", "virtio-9p-device,fsdev=share,mount_tag=" MACHINE_SHARE_TAG);
	free(path);
}

static int memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		die(EXIT_TALLY, "cannot make a file in memory: %s", strerror(errno));
	return fd;
}

/* Appends what is in one file to another, from its start. */
static void pour(int from, int to)
{
	off_t at = 0;
	ssize_t n;

	while ((n = sendfile(to, from, &at, 1 << 30)) > 0)
		;
	if (n < 0)
		die(EXIT_TALLY, "cannot put the ramdisk together: %s", strerror(errno));
}

/*
 * PID 1 unpacks the files that go along with a program of Debian's root. In another one they
 * follow the root in the ramdisk, and on Linux as well, which reads a firmware file one byte at a
 * time, and from its start for every page of it. Returns a descriptor of the two, in memory.
 */
static int join(int initrd, int files)
{
	int both = memory_file("tally-initrd");

	pour(initrd, both);
	pour(files, both);
	return both;
}

/* The descriptors that QEMU reads from, besides the channels; files may be -1. */
struct sources {
	int run, files, ramdisk;
};

static void add_guest(struct words *words, const struct options *options,
		      const struct images *images, const struct sources *sources)
{
	add_pair(words, "-kernel", images->kernel);
	add_pair(words, "-initrd", textf("/proc/self/fd/%d", sources->ramdisk));
	if (options->linux_kernel)
		add_pair(words, "-append",
			 "console=ttyAMA0 quiet rdinit=/init norandmaps nokaslr panic=-1");
	else
		add_pair(words, "-semihosting-config", "enable=on,target=native");
	if (!options->linux_kernel && options->exact && options->cpus > 1)
		add_pair(words, "-append", "turns");
	add_pair(words, "-fw_cfg", textf("name=opt/tally/run,file=/proc/self/fd/%d", sources->run));
	if (sources->files >= 0)
		add_pair(words, "-fw_cfg",
			 textf("name=opt/tally/files,file=/proc/self/fd/%d", sources->files));
}

static void tell(const struct words *words)
{
	fprintf(stderr, "tally: running");
	for (size_t i = 0; i < words->count; i++)
		fprintf(stderr, " %s", words->at[i]);
	fprintf(stderr, "\n");
}

static void keep_over_exec(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

/* In the child: becomes QEMU. */
static void become_qemu(struct machine *machine, struct words *words, const int *theirs,
			const struct sources *sources, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_TALLY);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < CHANNELS; i++)
		keep_over_exec(theirs[i]);
	keep_over_exec(machine->console);
	keep_over_exec(sources->run);
	keep_over_exec(sources->files);
	keep_over_exec(sources->ramdisk);
	dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
	dup2(machine->errors, STDOUT_FILENO);
	dup2(machine->errors, STDERR_FILENO);
	execvp(program, (char **)words->at);
	if (errno == ENOENT)
		dprintf(STDERR_FILENO, "%s is not installed (Debian package qemu-system-arm)\n",
			program);
	else
		dprintf(STDERR_FILENO, "cannot run %s: %s\n", program, strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

static int open_console(const char *log)
{
	int fd;

	if (!log)
		return memory_file("tally-console");
	fd = open(log, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		die(EXIT_TALLY, "cannot write %s: %s", log, strerror(errno));
	return fd;
}

/* QEMU 7.2 is the first that has all that is asked of it (dtb-randomness). */
int machine_version(int *major, int *minor)
{
	FILE *out = popen(MACHINE_QEMU " --version 2>/dev/null", "r");
	int found;

	if (!out)
		return -1;
	found = fscanf(out, "QEMU emulator version %d.%d", major, minor);
	pclose(out);
	if (found != 2)
		return -1;
	return *major > 7 || (*major == 7 && *minor >= 2);
}

void machine_start(struct machine *machine, const struct options *options,
		   const struct images *images, const struct inputs *inputs)
{
	struct words words = {.count = 0};
	struct sources sources = {inputs->run, inputs->files, images->initrd};
	int theirs[CHANNELS];
	pid_t parent = getpid();

	machine->console = open_console(options->log);
	machine->errors = memory_file("tally-qemu");
	for (int i = 0; i < CHANNELS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
			die(EXIT_TALLY, "cannot make a socket: %s", strerror(errno));
		machine->socket[i] = pair[0];
		theirs[i] = pair[1];
		fcntl(pair[0], F_SETFL, O_NONBLOCK);
	}
	add(&words, program);
	add(&words, "-nodefaults");
	add(&words, "-no-user-config");
	add(&words, "-no-reboot");
	add_pair(&words, "-display", "none");
	add_pair(&words, "-chardev",
		 textf("file,id=console,path=/proc/self/fd/%d", machine->console));
	add_pair(&words, "-serial", "chardev:console");
	add_board(&words, options);
	/* Linux numbers virtio devices from the last to the first; the ports belong to number 0. */
	if (inputs->shared)
		add_share(&words, inputs->shared);
	add_channels(&words, options, theirs);
	if ((options->linux_kernel || options->root) && inputs->files >= 0) {
		sources.ramdisk = join(images->initrd, inputs->files);
		sources.files = -1;
	}
	add_guest(&words, options, images, &sources);
	if (say_verbose)
		tell(&words);
	machine->pid = fork();
	if (machine->pid == 0)
		become_qemu(machine, &words, theirs, &sources, parent);
	if (machine->pid < 0)
		die(EXIT_TALLY, "cannot start QEMU: %s", strerror(errno));
	for (int i = 0; i < CHANNELS; i++)
		close(theirs[i]);
}
