/* SPDX-License-Identifier: BSD-2-Clause */
/* The images as another reader sees them: libarchive reads what newc.c wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "newc.h"

static struct newc out;

static int new_archive(void)
{
	int fd = memfd_create("archive", 0);

	assert_true(fd >= 0);
	newc_open(&out, fd);
	return fd;
}

static unsigned char *contents(int fd, size_t *size)
{
	struct stat st;
	unsigned char *data;

	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	return data;
}

/* File number n has a name and a size of its own and is filled with its number. */
static size_t size_of(unsigned int n)
{
	return n % 3 == 0 ? n * 7 : 4096 + n * 513;
}

static void name_of(unsigned int n, char *name)
{
	memset(name, 'a' + (int)(n % 26), 1900);
	sprintf(name + n * 5 % 1900, "-%u", n);
}

enum { FILES = 400 };

static void write_files(void)
{
	static unsigned char data[1 << 20];
	char name[2048];

	for (unsigned int n = 0; n < FILES; n++) {
		name_of(n, name);
		memset(data, (int)n, size_of(n));
		newc_file(&out, name, 0644, n, data, size_of(n));
	}
	newc_symlink(&out, "link", "target", 7);
	newc_directory(&out, "folder", 0750, 8);
}

static void check_file(struct archive *in, struct archive_entry *entry, unsigned int n)
{
	static unsigned char data[1 << 20];
	char name[2048];

	name_of(n, name);
	assert_string_equal(archive_entry_pathname(entry), name);
	assert_int_equal(archive_entry_size(entry), size_of(n));
	assert_int_equal(archive_entry_mtime(entry), n);
	assert_int_equal(archive_entry_mode(entry), S_IFREG | 0644);
	assert_int_equal(archive_read_data(in, data, sizeof(data)), size_of(n));
	for (size_t i = 0; i < size_of(n); i++)
		assert_int_equal(data[i], n & 0xff);
}

/* Skips the entries that are there only to take up room. */
static struct archive_entry *next(struct archive *in)
{
	struct archive_entry *entry;

	do {
		if (archive_read_next_header(in, &entry) != ARCHIVE_OK)
			return NULL;
	} while (strcmp(archive_entry_pathname(entry), ".") == 0);
	return entry;
}

static void test_reads_back(void **state)
{
	struct archive *in = archive_read_new();
	struct archive_entry *entry;
	int fd = new_archive();

	(void)state;
	write_files();
	assert_int_equal(newc_close(&out), 0);
	lseek(fd, 0, SEEK_SET);
	archive_read_support_format_cpio(in);
	assert_int_equal(archive_read_open_fd(in, fd, 4096), ARCHIVE_OK);
	for (unsigned int n = 0; n < FILES; n++) {
		entry = next(in);
		assert_non_null(entry);
		check_file(in, entry, n);
	}
	entry = next(in);
	assert_string_equal(archive_entry_symlink(entry), "target");
	entry = next(in);
	assert_int_equal(archive_entry_mode(entry), S_IFDIR | 0750);
	assert_null(next(in));
	archive_read_free(in);
	close(fd);
}

static unsigned long field(const unsigned char *header, int number)
{
	char text[9] = "";

	memcpy(text, header + 6 + 8 * number, 8);
	return strtoul(text, NULL, 16);
}

/* Walks the archive as a kernel does, and looks at where each file's data lies. */
static void test_data_is_aligned(void **state)
{
	int fd = new_archive();
	size_t size, at = 0, large = 0;
	unsigned char *data;
	bool end = false;

	(void)state;
	write_files();
	assert_int_equal(newc_close(&out), 0);
	data = contents(fd, &size);
	assert_int_equal(size % NEWC_ALIGN, 0);
	while (!end) {
		size_t length = field(data + at, 6), name = field(data + at, 11);
		size_t start = (at + 110 + name + 3) & ~(size_t)3;

		assert_true(at + 110 <= size);
		assert_memory_equal(data + at, "070701", 6);
		assert_in_range(name, 1, 4096);
		assert_int_equal(data[at + 110 + name - 1], 0);
		if (S_ISREG(field(data + at, 1)) && length >= NEWC_ALIGN) {
			assert_int_equal(start % NEWC_ALIGN, 0);
			large++;
		}
		end = strcmp((char *)data + at + 110, "TRAILER!!!") == 0;
		at = (start + length + 3) & ~(size_t)3;
	}
	assert_true(large > FILES / 2);
	munmap(data, size);
	close(fd);
}

/* Two names of one file have its numbers, whichever has the data. */
static void test_links(void **state)
{
	struct newc_entry entry = {.path = "a", .mode = S_IFREG | 0644, .uid = 7, .gid = 8, .size = 3};
	int fd = new_archive();
	unsigned char *data;
	uint64_t first, second;
	size_t size;

	(void)state;
	newc_file(&out, "before", 0644, 0, "x", 1);
	newc_entry(&out, &entry);
	first = out.entry;
	newc_data(&out, "abc", 3);
	entry = (struct newc_entry){.path = "b", .mode = S_IFREG | 0644, .inode = out.inode};
	newc_entry(&out, &entry);
	second = out.entry;
	assert_int_equal(newc_is_linked(&out, first), 0);
	assert_int_equal(newc_close(&out), 0);
	data = contents(fd, &size);
	assert_string_equal(data + first + 110, "a");
	assert_int_equal(field(data + first, 2), 7);
	assert_int_equal(field(data + first, 3), 8);
	assert_int_equal(field(data + first, 4), 2);
	assert_string_equal(data + second + 110, "b");
	assert_int_equal(field(data + second, 0), entry.inode);
	assert_int_equal(field(data + second, 4), 2);
	assert_int_equal(field(data + second, 6), 0);
	munmap(data, size);
	close(fd);
}

/* Whatever came before, what follows newc_align() begins at a multiple. */
static void test_align(void **state)
{
	(void)state;
	for (size_t size = 0; size < 4200; size += 37) {
		static const char data[4200];
		int fd = new_archive();

		newc_file(&out, "f", 0644, 0, data, size);
		newc_align(&out);
		assert_int_equal(newc_flush(&out), 0);
		assert_int_equal(out.size % NEWC_ALIGN, 0);
		assert_int_equal(lseek(fd, 0, SEEK_END), (off_t)out.size);
		close(fd);
	}
}

static void test_errors(void **state)
{
	const struct newc_entry huge = {
		.path = "huge", .mode = S_IFREG | 0644, .size = (uint64_t)1 << 32};
	char name[4096];
	int closed;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	close(new_archive());
	newc_directory(&out, name, 0755, 0);
	assert_int_equal(newc_close(&out), -ENAMETOOLONG);
	close(new_archive());
	newc_entry(&out, &huge);
	assert_int_equal(newc_close(&out), -EFBIG);
	closed = new_archive();
	newc_directory(&out, "a", 0755, 0);
	close(closed);
	assert_int_equal(newc_close(&out), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_back),
		cmocka_unit_test(test_data_is_aligned),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_align),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("newc", tests, NULL, NULL);
}
