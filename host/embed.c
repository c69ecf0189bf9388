/* SPDX-License-Identifier: BSD-2-Clause */
/* embed NAME FILE...: writes C code with the files' contents, one after the other, as a text NAME. */
#include <stdio.h>

static int embed(const char *path)
{
	FILE *in = fopen(path, "r");
	int c, column = 0;

	if (!in) {
		perror(path);
		return -1;
	}
	while ((c = getc(in)) != EOF)
		printf("%d,%s", c, ++column % 24 ? "" : "\n");
	return fclose(in);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	printf("const char %s[] = {\n", argv[1]);
	for (int i = 2; i < argc; i++) {
		if (embed(argv[i]))
			return 1;
	}
	printf("0};\n");
	return fflush(stdout) ? 1 : 0;
}
