/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tmpfs and the root image on the host, under the sanitizers: archives good and
 * bad, and the contents of a file against a model that is an array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/tmpfs.h"
#include "mm/vm.h"
#include <linux/falloc.h>

char *strstr(const char *s, const char *part);

#define RAM_PAGES   8192
#define RAM_SIZE    (RAM_PAGES * PAGE_SIZE)
#define IMAGE_SIZE  (256 * PAGE_SIZE)
#define IMAGE_START (16 * PAGE_SIZE)

static char ram[RAM_SIZE] __aligned(1 << 22);
static char *const image = ram + IMAGE_START;
static char zero_bytes[PAGE_SIZE] __aligned(4096);

/* ---- what the code under test calls ---- */

static struct process the_process;
static struct task the_task = {.proc = &the_process};
struct task *fake_task = &the_task;
const struct file_ops fifo_ops;
static char log_text[4096];
static u64 now = 1;

void panic(const char *fmt, ...)
{
	print_message("panic: %s\n", fmt);
	fail();
	__builtin_trap();
}
void printk(const char *fmt, ...)
{
	size_t n = strlen(log_text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(log_text + n, sizeof(log_text) - n, fmt, ap);
	va_end(ap);
}
bool capable(int cap)
{
	(void)cap;
	return true;
}
bool in_group(gid_t gid)
{
	return gid == 0;
}
int send_signal_task(struct task *t, int sig, const siginfo_t *info)
{
	(void)t, (void)sig, (void)info;
	return 0;
}
u64 clock_ns(void)
{
	return now++;
}

/* Nothing sleeps here, so that nobody waits for a name (dentry_claim()). */
void wait_add(struct waitq *wq, struct waiter *w)
{
	(void)wq, (void)w;
	panic("a wait");
}
void wait_remove(struct waiter *w)
{
	(void)w;
}
void set_current_state(enum task_state s)
{
	(void)s;
}
void schedule_until(u64 deadline)
{
	(void)deadline;
	panic("a sleep");
}
void wake_up(struct waitq *wq)
{
	(void)wq;
}
u64 boot_epoch_ns(void)
{
	return 1000000000ULL * 1000000000ULL;
}
int copy_from_user(void *dst, const void *usrc, size_t n)
{
	memcpy(dst, usrc, n);
	return 0;
}
int copy_to_user(void *udst, const void *src, size_t n)
{
	memcpy(udst, src, n);
	return 0;
}
int clear_user(void *udst, size_t n)
{
	memset(udst, 0, n);
	return 0;
}
void vm_unmap_file(const struct inode *ino, u64 first, u64 last)
{
	(void)ino, (void)first, (void)last;
}
void fs_type_register(struct fs_type *t)
{
	(void)t;
}
bool dir_emit_dots(struct file *f, struct dir_sink *s)
{
	(void)f, (void)s;
	return true;
}
struct file *file_alloc(struct dentry *d, const struct file_ops *ops, u32 flags)
{
	(void)d, (void)ops, (void)flags;
	return NULL;
}

static int set_up(void **state)
{
	paddr_t base = virt_to_phys(ram), zeros = virt_to_phys(zero_bytes);

	(void)state;
	for (unsigned i = 0; i < RLIM_NLIMITS; i++)
		the_process.rlim[i].rlim_cur = RLIM64_INFINITY;
	page_add_ram(base, base + RAM_SIZE);
	page_reserve(base + IMAGE_START, base + IMAGE_START + IMAGE_SIZE);
	page_add_ram(zeros, zeros + PAGE_SIZE);
	page_reserve(zeros, zeros + PAGE_SIZE);
	page_init();
	vfs_init();
	return 0;
}

/* ---- archives ---- */

static size_t used; /* of the image */

struct item {
	const char *name;
	u32 mode, nlink, ino;
	const char *data;
	size_t size;
	bool aligned; /* data on a page */
};

static void put(const void *p, size_t n)
{
	assert_true(used + n <= IMAGE_SIZE);
	memcpy(image + used, p, n);
	used += n;
}

static void pad_to(size_t align)
{
	while (used % align)
		put("", 1);
}

static void add(const struct item *it)
{
	size_t namesize = strlen(it->name) + 1;
	char header[111];

	if (it->aligned)
		namesize = ALIGN_UP(used + 110 + namesize, PAGE_SIZE) - used - 110;
	snprintf(header, sizeof(header),
		 "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", it->ino, it->mode,
		 7u, 8u, it->nlink, 1234u, (unsigned)it->size, 0u, 0u, 5u, 1u, (unsigned)namesize,
		 0u);
	put(header, 110);
	put(it->name, strlen(it->name) + 1);
	for (size_t i = strlen(it->name) + 1; i < namesize; i++)
		put("", 1);
	pad_to(4);
	put(it->data, it->size);
	pad_to(4);
}

static void add_simple(const char *name, u32 mode, const char *data)
{
	add(&(struct item){name, mode, 1, 0, data, strlen(data), false});
}

static void add_end(void)
{
	add_simple("TRAILER!!!", 0, "");
}

static int populate(void)
{
	log_text[0] = '\0';
	return cpio_populate(image, used);
}

/* The inode of a path below the root, NULL when there is none. */
static struct inode *find(const char *path)
{
	struct dentry *d = root_dentry(), *next;

	while (*path) {
		size_t n = strchr(path, '/') ? (size_t)(strchr(path, '/') - path) : strlen(path);

		next = dentry_find(d, path, n);
		if (!next)
			return NULL;
		next->refs--;
		d = next;
		path += n + (path[n] == '/');
	}
	return d->inode;
}

static ssize_t rw(struct inode *ino, void *buf, size_t n, loff_t pos, bool write)
{
	struct file f = {.inode = ino, .flags = O_RDWR};

	return write ? tmpfs_file_ops.write(&f, buf, n, &pos)
		     : tmpfs_file_ops.read(&f, buf, n, &pos);
}

static void an_image_becomes_a_tree(void **state)
{
	static char big[10000];
	struct inode *a, *b;
	char buf[64];

	(void)state;
	memset(big, 'B', sizeof(big));
	used = 0;
	add_simple(".", S_IFDIR | 0711, "");
	add_simple("./usr", S_IFDIR | 0755, "");
	add_simple("usr/bin/", S_IFDIR | 0755, "");
	add_simple("usr/bin/tool", S_IFREG | 04755, "text");
	add(&(struct item){"usr/bin/one", S_IFREG | 0644, 2, 77, "", 0, false});
	add_simple("usr/lib", S_IFDIR | 0755, "");
	add(&(struct item){"usr/lib/two", S_IFREG | 0644, 2, 77, "shared", 6, false});
	add_simple("bin", S_IFLNK | 0777, "usr/bin");
	add_simple("null", S_IFCHR | 0666, "");
	add(&(struct item){"big", S_IFREG | 0600, 1, 0, big, sizeof(big), true});
	add_end();
	pad_to(512);
	/* a second archive: adds to the first, and replaces a file */
	add_simple("usr", S_IFDIR | 0700, "");
	add_simple("usr/bin/tool", S_IFREG | 0755, "new");
	add_end();
	assert_int_equal(populate(), 0);
	assert_string_equal(log_text, "");
	assert_int_equal(root_dentry()->inode->mode, S_IFDIR | 0711);
	assert_int_equal(find("usr")->mode, S_IFDIR | 0700);
	assert_int_equal(find("usr")->nlink, 4);
	a = find("usr/bin/tool");
	assert_int_equal(rw(a, buf, 64, 0, false), 3);
	assert_memory_equal(buf, "new", 3);
	assert_int_equal(a->uid, 7);
	assert_int_equal(a->gid, 8);
	assert_int_equal(a->mtime_ns, 1234 * NSEC_PER_SEC);
	a = find("usr/bin/one");
	b = find("usr/lib/two");
	assert_ptr_equal(a, b);
	assert_int_equal(a->nlink, 2);
	assert_int_equal(rw(a, buf, 64, 0, false), 6);
	assert_int_equal(find("bin")->ops->readlink(find("bin"), buf, 64), 7);
	assert_memory_equal(buf, "usr/bin", 7);
	assert_int_equal(find("null")->rdev, MKDEV(5, 1));
	assert_int_equal(find("big")->size, 10000);
}

/* Whole pages that lie on pages of the image are used where they are, the last one is copied. */
static void pages_are_used_in_place(void **state)
{
	struct inode *ino = find("big");
	struct page *pg;

	(void)state;
	assert_int_equal(tmpfs_get_page(ino, 1, false, &pg), 0);
	assert_true((char *)page_addr(pg) > image && (char *)page_addr(pg) < image + IMAGE_SIZE);
	assert_int_equal(*(char *)page_addr(pg), 'B');
	page_put(pg);
	assert_int_equal(tmpfs_get_page(ino, 2, false, &pg), 0);
	assert_false((char *)page_addr(pg) >= image && (char *)page_addr(pg) < image + IMAGE_SIZE);
	assert_int_equal(((char *)page_addr(pg))[10000 - 8192 - 1], 'B');
	assert_int_equal(((char *)page_addr(pg))[10000 - 8192], 0);
	page_put(pg);
	assert_int_equal(tmpfs_get_page(ino, 3, false, &pg), -ERANGE);
}

/* Each kind of damage is refused, and the message names the entry and what is wrong. */
static void damage_is_named(void **state)
{
	static const struct {
		const char *what, *message;
	} cases[] = {
		{"magic", "not a newc header"},
		{"number", "not a hexadecimal number"},
		{"name", "the name is cut off"},
		{"data", "\"victim\" at byte 0: the data is cut off"},
		{"header", "the header is cut off"},
		{"end", "the end is missing"},
		{"parent", "\"no/such/dir\" at byte 0: its directory is not in the image"},
		{"type", "\"victim\" at byte 0: not a type of file"},
		{"link", "\"victim\" at byte 0: a symbolic link without a target"},
		{"dots", "a name with dots"},
		{"empty", "it is empty"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *what = cases[i].what;

		used = 0;
		if (!strcmp(what, "parent"))
			add_simple("no/such/dir", S_IFREG | 0644, "");
		else if (!strcmp(what, "dots"))
			add_simple("..", S_IFREG | 0644, "");
		else
			add_simple("victim",
				   !strcmp(what, "type")   ? 0644
				   : !strcmp(what, "link") ? S_IFLNK | 0777
							   : S_IFREG | 0644,
				   !strcmp(what, "link") ? "" : "contents");
		if (!strcmp(what, "magic"))
			image[5] = '7';
		else if (!strcmp(what, "number"))
			image[20] = 'g';
		else if (!strcmp(what, "name"))
			image[110 + 6] = 'x';
		else if (!strcmp(what, "data"))
			used -= 4;
		else if (!strcmp(what, "header"))
			used = 60;
		else if (!strcmp(what, "empty"))
			used = 0;
		assert_int_equal(populate(), -EINVAL);
		if (!strstr(log_text, cases[i].message))
			fail_msg("%s: the log says: %s", what, log_text);
	}
}

/* Any byte of a good image may be wrong: an error or another tree, but no bad access. */
static void random_damage_is_survived(void **state)
{
	static char good[8192];
	u32 seed = 1;

	(void)state;
	used = 0;
	add_simple("d", S_IFDIR | 0755, "");
	add_simple("d/file", S_IFREG | 0644, "some text");
	add_simple("d/e", S_IFDIR | 0755, "");
	add_simple("d/e/link", S_IFLNK | 0777, "target");
	add(&(struct item){"d/two", S_IFREG | 0644, 2, 5, "x", 1, false});
	add(&(struct item){"d/three", S_IFREG | 0644, 2, 5, "", 0, false});
	add_end();
	memcpy(good, image, used);
	for (size_t size = used, i = 0; i < 20000; i++) {
		memcpy(image, good, size);
		for (unsigned k = 0; k <= i % 3; k++) {
			seed = seed * 1664525 + 1013904223;
			image[(seed >> 8) % size] ^= (char)(1 << (seed >> 28 & 7));
		}
		used = i % 7 ? size : (seed >> 8) % size;
		if (populate())
			assert_string_not_equal(log_text, "");
	}
}

/* ---- contents ---- */

#define MODEL_SIZE (40 * PAGE_SIZE)

static u64 seed = 42;

static u64 random_below(u64 n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static void step(struct inode *ino, u8 *model, size_t *size)
{
	static u8 buf[MODEL_SIZE];
	size_t at = random_below(MODEL_SIZE), n = random_below(3 * PAGE_SIZE);

	if (random_below(3) == 0)
		at = ALIGN_DOWN(at, PAGE_SIZE);
	n = MIN(n, MODEL_SIZE - at);
	switch (random_below(6)) {
	case 0:
	case 1:
		memset(buf, (int)random_below(255) + 1, n);
		assert_int_equal(rw(ino, buf, n, (loff_t)at, true), n);
		memcpy(model + at, buf, n);
		if (n)
			*size = MAX(*size, at + n);
		break;
	case 2:
		assert_int_equal(tmpfs_truncate(ino, (loff_t)at), 0);
		if (at < *size)
			memset(model + at, 0, *size - at);
		*size = at;
		break;
	case 3:
		if (!n)
			break;
		assert_int_equal(tmpfs_fallocate(ino, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
						 (loff_t)at, (loff_t)n),
				 0);
		memset(model + at, 0, n);
		break;
	default:
		n = at < *size ? MIN(n, *size - at) : 0;
		assert_int_equal(rw(ino, buf, n, (loff_t)at, false), n);
		assert_memory_equal(buf, model + at, n);
	}
	assert_int_equal(ino->size, *size);
}

static void contents_follow_the_model(void **state)
{
	static u8 model[MODEL_SIZE], buf[MODEL_SIZE];
	u64 total, before, after;
	struct inode *ino;
	size_t size;

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		bool from_image = round % 2;

		page_stats(&total, &before);
		ino = tmpfs_inode(root_dentry()->sb, S_IFREG | 0600, 0);
		memset(model, 0, sizeof(model));
		size = 0;
		if (from_image) {
			/* aligned and not: pages in place, or copied when they are needed */
			size = 5 * PAGE_SIZE + 1000 * (round % 4);
			memset(image, 'i', 8 * PAGE_SIZE);
			memset(model, 'i', size);
			tmpfs_set_image(ino, image + (round % 4 == 3 ? 16 : 0), size);
		}
		for (unsigned i = 0; i < 400; i++)
			step(ino, model, &size);
		assert_int_equal(rw(ino, buf, MODEL_SIZE, 0, false), size);
		assert_memory_equal(buf, model, size);
		inode_put(ino);
		page_stats(&total, &after);
		assert_in_range(after + 8, before, before + 16); /* but for what the heap keeps */
	}
	assert_int_equal(tmpfs_super(root_dentry()->sb)->pages, 1); /* the end of "big" */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_becomes_a_tree),
		cmocka_unit_test(pages_are_used_in_place),
		cmocka_unit_test(contents_follow_the_model),
		cmocka_unit_test(damage_is_named),
		cmocka_unit_test(random_damage_is_survived),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
