/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracefs, for /sys/kernel/tracing: the tracepoints that perf_event_open(2) takes,
 * by system and name, with their numbers and the layout of their records
 * (Documentation/trace/events), and trace_marker, by which a program says something
 * itself. Tracing into the kernel's own buffers is not to be had; header_page and
 * header_event describe those, because perf record wants to copy them.
 */
#include "fs/fs.h"
#include "fs/pseudo.h"
#include "fs/sysfs.h"
#include "trace/trace.h"
#include <linux/magic.h>

static struct pseudo_fs tracefs;

/* ------------------------------------------------------------- format files */

static void show_field(struct seq *s, const struct perf_trace_field *field)
{
	char length[16] = "";

	if (field->length)
		snprintf(length, sizeof(length), "[%u]", field->length);
	seq_printf(s, "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", field->type,
		   field->name, length, field->offset, field->size, field->is_signed);
}

static void show_fields(struct seq *s, const struct perf_trace_field *fields)
{
	for (; fields->name; fields++)
		show_field(s, fields);
}

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_data_loc(const struct perf_trace_field *field)
{
	return begins_with(field->type, "__data_loc");
}

/* How a field is printed: each as name=value. Arguments of system calls fill a register whatever their type is. */
static const char *conversion(const struct perf_trace_field *field)
{
	if (field->is_string || is_data_loc(field))
		return "%s";
	if (strchr(field->type, '*') || begins_with(field->type, "unsigned long"))
		return "0x%lx";
	if (field->is_signed || begins_with(field->type, "int") || begins_with(field->type, "pid_t"))
		return field->size == 8 ? "%ld" : "%d";
	return "%lu";
}

static void show_print(struct seq *s, const struct perf_trace_field *fields)
{
	const char *blank = "";

	seq_printf(s, "\nprint fmt: \"");
	for (const struct perf_trace_field *f = fields; f->name; f++) {
		if (f->length && !f->is_string)
			continue;
		seq_printf(s, "%s%s=%s", blank, f->name, conversion(f));
		blank = " ";
	}
	seq_printf(s, "\"");
	for (const struct perf_trace_field *f = fields; f->name; f++) {
		if (f->length && !f->is_string)
			continue;
		seq_printf(s, is_data_loc(f) ? ", __get_str(%s)" : ", REC->%s", f->name);
	}
	seq_printf(s, "\n");
}

static int show_format(struct seq *s, void *arg)
{
	const struct perf_tracepoint *point = arg;

	seq_printf(s, "name: %s\nID: %u\nformat:\n", point->name, point->id);
	show_fields(s, perf_trace_header_fields);
	seq_printf(s, "\n");
	show_fields(s, point->fields);
	if (point->print)
		seq_printf(s, "\nprint fmt: %s\n", point->print);
	else
		show_print(s, point->fields);
	return 0;
}

static int show_id(struct seq *s, void *arg)
{
	const struct perf_tracepoint *point = arg;

	seq_printf(s, "%u\n", point->id);
	return 0;
}

/* ----------------------------------------------------------------- the rest */

static int show_available(struct seq *s, void *arg)
{
	for (struct perf_tracepoint *p = perf_tracepoint_next(NULL); p; p = perf_tracepoint_next(p))
		seq_printf(s, "%s:%s\n", p->system, p->name);
	return 0;
}

/* --------------------------------------------------------------- trace_marker */

/* What programs write into trace_marker, as the tracepoint ftrace:print. */
struct print_record {
	struct perf_trace_header header;
	u64 ip; /* 0: it comes from no place in the kernel */
	char buf[512];
};

static const struct perf_trace_field print_fields[] = {
	{"unsigned long", "ip", offsetof(struct print_record, ip), 8, 0, false, false},
	{"char", "buf", offsetof(struct print_record, buf), sizeof(((struct print_record *)0)->buf),
	 sizeof(((struct print_record *)0)->buf), false, true},
	{0},
};

static struct perf_tracepoint print_point = {
	.system = "ftrace", .name = "print", .fields = print_fields, .harmless = true};

static int store_marker(const char *text, size_t n, void *arg)
{
	struct print_record r = {.ip = 0};

	strscpy(r.buf, text, sizeof(r.buf));
	if (perf_traced(&print_point))
		perf_trace(&print_point, &r.header, sizeof(r), 1);
	return 0;
}

/* -------------------------------------------------------------- the header files */

/* The layout of a page of a tracing buffer, of which there are none: a time, a size, and data. */
static int show_header_page(struct seq *s, void *arg)
{
	seq_printf(s, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n");
	return 0;
}

static int show_header_event(struct seq *s, void *arg)
{
	seq_printf(s, "\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n");
	return 0;
}

static int add_point(struct perf_tracepoint *point)
{
	char dir[128];
	int err;

	snprintf(dir, sizeof(dir), "events/%s/%s", point->system, point->name);
	err = pseudo_add(&tracefs, dir, &(struct pseudo_file){.name = "id", .mode = 0444,
							      .show = show_id, .arg = point});
	if (!err)
		err = pseudo_add(&tracefs, dir,
				 &(struct pseudo_file){.name = "format", .mode = 0444,
						       .show = show_format, .arg = point});
	return err;
}

static int fill(void)
{
	const struct pseudo_file files[] = {
		{.name = "header_page", .mode = 0444, .show = show_header_page},
		{.name = "header_event", .mode = 0444, .show = show_header_event},
	};
	const struct pseudo_file top[] = {
		{.name = "available_events", .mode = 0444, .show = show_available},
		{.name = "trace_marker", .mode = 0222, .store = store_marker},
	};
	int err = perf_tracepoint_register(&print_point);

	if (!err)
		err = trace_sched_register();

	if (!err)
		err = trace_syscalls_register();
	for (size_t i = 0; i < ARRAY_SIZE(files) && !err; i++)
		err = pseudo_add(&tracefs, "events", &files[i]);
	for (size_t i = 0; i < ARRAY_SIZE(top) && !err; i++)
		err = pseudo_add(&tracefs, "", &top[i]);
	for (struct perf_tracepoint *p = NULL; !err && (p = perf_tracepoint_next(p));)
		err = add_point(p);
	return err;
}

static struct super *tracefs_get(const char *source, const char *options)
{
	static bool filled;
	static int err;

	(void)source, (void)options;
	if (!filled) {
		filled = true;
		err = fill();
	}
	return err ? ERR_PTR(err) : &tracefs.sb;
}

void tracefs_init(void)
{
	static struct fs_type type = {.name = "tracefs", .get = tracefs_get};

	if (pseudo_setup(&tracefs, "tracefs", "tracefs", TRACEFS_MAGIC, NULL, NULL) ||
	    sysfs_mkdir("kernel/tracing"))
		panic("no memory for tracefs");
	fs_type_register(&type);
}
