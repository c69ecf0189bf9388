/* SPDX-License-Identifier: BSD-2-Clause */
/* perf script's text becomes a profile; see script.h. */
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "script.h"

enum {
	MAX_FRAMES = 4096,
	COMM_END = 24 /* the ids begin before: a name has 15 bytes, and both are padded */
};

const char script_fields[] = "comm,pid,tid,time,event,period,ip,sym,dso";

/* What stands between a sample's command and its event. */
struct header {
	int pid, tid;
	uint64_t time, period;
	const char *event; /* what follows */
};

void script_begin(struct script *script, struct profile *profile)
{
	*script = (struct script){.profile = profile};
	script->frame = calloc(MAX_FRAMES, sizeof(*script->frame));
	if (!script->frame)
		abort();
}

static const char *skip(const char *text, const char *set)
{
	return text + strspn(text, set);
}

/* Reads digits; NULL if there are none, or too many for a number. */
static const char *digits(const char *text, uint64_t *value)
{
	const char *end = skip(text, "0123456789");

	if (end == text || end - text > 20)
		return NULL;
	*value = strtoull(text, NULL, 10);
	return end;
}

static const char *read_id(const char *text, int *id)
{
	bool negative = *text == '-';
	const char *end;
	uint64_t value;

	end = digits(text + negative, &value);
	*id = negative ? -(int)value : (int)value;
	return end;
}

/* "SECONDS.FRACTION:", with a fraction of up to nine digits. */
static const char *read_time(const char *text, uint64_t *time)
{
	uint64_t seconds, fraction;
	const char *point = digits(text, &seconds), *end;

	if (!point || *point != '.')
		return NULL;
	end = digits(point + 1, &fraction);
	if (!end || *end != ':' || end - point > 10)
		return NULL;
	for (ptrdiff_t i = end - point; i <= 9; i++)
		fraction *= 10;
	*time = seconds * 1000000000 + fraction;
	return end + 1;
}

/* "PID/TID TIME: PERIOD ", which a text must begin with. */
static bool read_header(const char *text, struct header *header)
{
	const char *at = read_id(text, &header->pid);

	if (!at || *at != '/')
		return false;
	at = read_id(at + 1, &header->tid);
	if (!at || *at != ' ')
		return false;
	at = read_time(skip(at, " "), &header->time);
	if (!at || *at != ' ')
		return false;
	at = digits(skip(at, " "), &header->period);
	if (!at || *at != ' ')
		return false;
	header->event = skip(at, " ");
	return *header->event != '\0';
}

/*
 * Where the ids are. A command's name may look like them, and so may a function's: the last place is
 * taken that is not farther than names can reach. Returns the end of the command's name, or NULL.
 */
static char *find_header(char *line, struct header *header)
{
	char *end = NULL;

	for (char *at = line; *at && (at - line < COMM_END || !end); at++) {
		struct header candidate;

		if ((at == line || at[-1] == ' ') && read_header(at, &candidate)) {
			*header = candidate;
			end = at;
		}
	}
	while (end && end > line && end[-1] == ' ')
		end--;
	return end;
}

/* The start of the file's name in "SYMBOL (FILE)": of the last pair of parentheses. */
static char *find_object(char *text)
{
	size_t length = strlen(text);
	char *at = text + length;
	int depth = 0;

	if (length < 2 || at[-1] != ')')
		return NULL;
	while (at-- > text) {
		if (*at == ')')
			depth++;
		else if (*at == '(' && --depth == 0)
			return at > text && at[-1] == ' ' ? at + 1 : NULL;
	}
	at = strrchr(text, '(');
	return at && at > text && at[-1] == ' ' ? at + 1 : NULL;
}

static uint32_t intern(struct script *script, const char *text)
{
	return profile_text(script->profile, text, strlen(text));
}

/* The name of code without a symbol: of its file, at least, if that is known. */
static uint32_t name_of_unknown(struct script *script, const char *object)
{
	const char *slash = strrchr(object, '/');
	char *name;
	uint32_t id;

	if (*object == '[')
		return intern(script, "[unknown]");
	name = textf("[%s]", slash ? slash + 1 : object);
	id = intern(script, name);
	free(name);
	return id;
}

/* "ADDRESS SYMBOL (FILE)" or "ADDRESS SYMBOL (inlined)". */
static bool take_frame(struct script *script, char *text)
{
	struct profile_frame frame = {.kind = PROFILE_USER};
	char *symbol, *found;
	const char *object = "";
	uint64_t address;

	text += strspn(text, " \t");
	address = strtoull(text, &symbol, 16);
	if (symbol == text || symbol - text > 16 || *symbol != ' ')
		return false;
	symbol++;
	found = find_object(symbol);
	if (found) {
		found[-2] = '\0';
		found[strlen(found) - 1] = '\0';
		object = found;
	}
	if (address >> 63) {
		frame.kind = PROFILE_KERNEL;
	} else if (strcmp(object, "inlined") == 0) {
		frame.kind = PROFILE_INLINED;
		object = "";
	}
	frame.object = intern(script, object);
	frame.name = strcmp(symbol, "[unknown]") == 0 ? name_of_unknown(script, object)
						      : intern(script, symbol);
	if (script->frames < MAX_FRAMES)
		script->frame[script->frames++] = profile_frame(script->profile, frame);
	return true;
}

static void end_sample(struct script *script)
{
	struct profile *profile = script->profile;
	struct profile_frame thread = {PROFILE_THREAD, script->comm, intern(script, "")};

	if (!script->in_sample)
		return;
	script->in_sample = false;
	script->sample.node = profile_node(profile, PROFILE_NONE, profile_frame(profile, thread));
	while (script->frames)
		script->sample.node =
			profile_node(profile, script->sample.node, script->frame[--script->frames]);
	profile_add(profile, &script->sample);
}

/* The event's name ends at a colon with nothing or a blank behind it. */
static char *end_of_event(char *event)
{
	char *colon = event;

	while ((colon = strchr(colon, ':')) && colon[1] && colon[1] != ' ')
		colon++;
	return colon;
}

static bool begin_sample(struct script *script, char *line)
{
	struct profile *profile = script->profile;
	struct header header = {.event = NULL};
	char *comm_end = find_header(line, &header), *event, *event_end;

	if (!comm_end)
		return false;
	event = line + (header.event - line);
	event_end = end_of_event(event);
	if (!event_end)
		return false;
	end_sample(script);
	line += strspn(line, " ");
	script->comm = profile_text(profile, line, comm_end > line ? (size_t)(comm_end - line) : 0);
	script->sample = (struct profile_sample){
		.time = header.time,
		.weight = header.period,
		.event = profile_event(profile,
				       profile_text(profile, event, (size_t)(event_end - event))),
		.thread = profile_thread(
			profile, (struct profile_thread){header.pid, header.tid, script->comm}),
	};
	script->in_sample = true;
	script->frames = 0;
	take_frame(script, event_end + 1);
	return true;
}

void script_line(struct script *script, char *line)
{
	if (!*line)
		end_sample(script);
	else if (script->in_sample && *line == '\t' && take_frame(script, line))
		return;
	else if (!begin_sample(script, line))
		script->strange++;
}

void script_end(struct script *script)
{
	end_sample(script);
	free(script->frame);
	script->frame = NULL;
}
