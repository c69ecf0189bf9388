/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally [OPTIONS] CMD ARGS...: runs an arm64 command on Tally's kernel, or on Linux, in QEMU, as
 * if it were local; or CMD is one of tally's own. See docs/host.md.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "guest.h"
#include "options.h"
#include "subcommand.h"

/* Nothing that is opened later shall become a standard descriptor by chance. */
static void open_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct subcommand *own;
	struct options options;

	open_standard_descriptors();
	options_parse(&options, argc, argv);
	own = subcommand_find(&options);
	if (own)
		exit(own->run(&options));
	guest_run(&options);
}
