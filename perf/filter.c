/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c - which records of a tracepoint an event is about; see filter.h.
 *
 *	either  = both { "||" both }
 *	both    = single { "&&" single }
 *	single  = "!" single | "(" either ")" | field operator value
 *
 * operators on numbers are == != < <= > >= & (any bit in common), on strings == != and
 * ~ (a pattern with * and ?). A value is a number in C, a string in quotation
 * marks, or, for a string field, a word.
 *
 * A filter is a tree whose nodes have any number of children, so that it is no
 * deeper than its parentheses, which are bounded: judging a record walks it
 * with interrupts off.
 */
#include <linux/errno.h>

#include "filter.h"

enum { MAX_DEPTH = 16 };

enum kind { EITHER, BOTH, NOT, COMPARE };

enum operator { EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, BITS, MATCHES, NR_OPERATORS };

static const char *const operators[NR_OPERATORS] = {
	[EQUAL] = "==", [UNEQUAL] = "!=",      [LESS] = "<",  [LESS_EQUAL] = "<=",
	[GREATER] = ">", [GREATER_EQUAL] = ">=", [BITS] = "&", [MATCHES] = "~",
};

/* A part of the filter's text. */
struct word {
	const char *at;
	size_t length;
};

struct node {
	enum kind kind;
	struct node *children, *next; /* of EITHER, BOTH and NOT */
	const struct perf_trace_field *field;
	enum operator op;
	int64_t number;
	struct word string;
};

struct perf_filter {
	_Atomic uint32_t refs;
	struct node *root;
	unsigned int nr_nodes;
	char *text;
	struct node nodes[];
};

/* ------------------------------------------------------------------- words */

struct parser {
	struct perf_filter *filter;
	const struct perf_tracepoint *tracepoint;
	const char *at;
	unsigned int depth;
};

static size_t length_of(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static void skip_blanks(struct parser *parser)
{
	while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n')
		parser->at++;
}

static bool starts_with(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return *prefix == '\0';
}

static bool accept(struct parser *parser, const char *symbol)
{
	skip_blanks(parser);
	if (!starts_with(parser->at, symbol))
		return false;
	parser->at += length_of(symbol);
	return true;
}

static bool get_word(struct parser *parser, struct word *word)
{
	skip_blanks(parser);
	*word = (struct word){.at = parser->at};
	while (is_word_char(*parser->at))
		parser->at++;
	word->length = (size_t)(parser->at - word->at);
	return word->length > 0;
}

static bool is_named(const struct perf_trace_field *field, const struct word *word)
{
	return length_of(field->name) == word->length &&
	       __builtin_memcmp(field->name, word->at, word->length) == 0;
}

static const struct perf_trace_field *find_field(const struct perf_trace_field *field,
						 const struct word *word)
{
	while (field->name && !is_named(field, word))
		field++;
	return field->name ? field : NULL;
}

/* The longest operator there is. */
static bool get_operator(struct parser *parser, enum operator *op)
{
	size_t best = 0;

	skip_blanks(parser);
	for (unsigned int i = 0; i < NR_OPERATORS; i++) {
		size_t length = length_of(operators[i]);

		if (length > best && starts_with(parser->at, operators[i])) {
			*op = (enum operator)i;
			best = length;
		}
	}
	parser->at += best;
	return best > 0;
}

/* ------------------------------------------------------------------ values */

static int digit_of(char c, unsigned int base)
{
	int digit = -1;

	if (c >= '0' && c <= '9')
		digit = c - '0';
	else if (c >= 'a' && c <= 'f')
		digit = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		digit = c - 'A' + 10;
	return digit < (int)base ? digit : -1;
}

static bool get_number(struct parser *parser, int64_t *number)
{
	bool negative = accept(parser, "-");
	unsigned int base = 10;
	uint64_t value = 0;
	const char *begin;

	if (accept(parser, "0x") || accept(parser, "0X"))
		base = 16;
	else if (*parser->at == '0')
		base = 8;
	begin = parser->at;
	for (int digit; (digit = digit_of(*parser->at, base)) >= 0; parser->at++) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*number = negative ? (int64_t)(0 - value) : (int64_t)value;
	return parser->at > begin && !is_word_char(*parser->at);
}

static bool get_string(struct parser *parser, struct word *string)
{
	char quote;

	skip_blanks(parser);
	quote = *parser->at;
	if (quote != '"' && quote != '\'')
		return get_word(parser, string);
	string->at = ++parser->at;
	while (*parser->at && *parser->at != quote)
		parser->at++;
	string->length = (size_t)(parser->at - string->at);
	if (!*parser->at)
		return false;
	parser->at++;
	return true;
}

/* ------------------------------------------------------------------- nodes */

static struct node *new_node(struct parser *parser, enum kind kind)
{
	struct node *node = &parser->filter->nodes[parser->filter->nr_nodes++];

	node->kind = kind;
	return node;
}

static struct node *parse_compare(struct parser *parser)
{
	struct node *node = new_node(parser, COMPARE);
	struct word word;
	bool good;

	if (!get_word(parser, &word))
		return NULL;
	node->field = find_field(perf_trace_header_fields, &word);
	if (!node->field)
		node->field = find_field(parser->tracepoint->fields, &word);
	if (!node->field || !get_operator(parser, &node->op))
		return NULL;
	if (node->field->is_string) {
		good = node->op == EQUAL || node->op == UNEQUAL || node->op == MATCHES;
		return good && get_string(parser, &node->string) ? node : NULL;
	}
	good = node->op != MATCHES && node->field->length == 0;
	return good && get_number(parser, &node->number) ? node : NULL;
}

static struct node *parse_either(struct parser *parser);

static struct node *parse_single(struct parser *parser)
{
	struct node *node = NULL;

	if (++parser->depth > MAX_DEPTH)
		return NULL;
	if (accept(parser, "!")) {
		struct node *child = parse_single(parser);

		if (child) {
			node = new_node(parser, NOT);
			node->children = child;
		}
	} else if (accept(parser, "(")) {
		node = parse_either(parser);
		if (node && !accept(parser, ")"))
			node = NULL;
	} else {
		node = parse_compare(parser);
	}
	parser->depth--;
	return node;
}

/* One or more parts with a symbol between them; one alone stands for itself. */
static struct node *parse_list(struct parser *parser, enum kind kind, const char *symbol,
			       struct node *(*part)(struct parser *parser))
{
	struct node *first = part(parser), *last = first, *list;

	if (!first || !accept(parser, symbol))
		return first;
	list = new_node(parser, kind);
	list->children = first;
	do {
		last->next = part(parser);
		last = last->next;
	} while (last && accept(parser, symbol));
	return last ? list : NULL;
}

static struct node *parse_both(struct parser *parser)
{
	return parse_list(parser, BOTH, "&&", parse_single);
}

static struct node *parse_either(struct parser *parser)
{
	return parse_list(parser, EITHER, "||", parse_both);
}

/* Each node has a character of its own at least: an operator's, or that between the parts of a list. */
static size_t most_nodes(const char *text)
{
	size_t n = 1;

	for (; *text; text++) {
		for (const char *c = "!&|<>=~"; *c; c++)
			n += *text == *c;
	}
	return n;
}

int perf_filter_parse(const struct perf_tracepoint *tracepoint, const char *text,
		      struct perf_filter **result)
{
	size_t length = length_of(text);
	size_t size = sizeof(struct perf_filter) + most_nodes(text) * sizeof(struct node);
	struct perf_filter *filter = port_alloc(size + length + 1);
	struct parser parser = {.filter = filter, .tracepoint = tracepoint};

	if (!filter)
		return -ENOMEM;
	atomic_init(&filter->refs, 1);
	filter->text = (char *)filter + size;
	__builtin_memcpy(filter->text, text, length + 1);
	parser.at = filter->text;
	filter->root = parse_either(&parser);
	skip_blanks(&parser);
	if (!filter->root || *parser.at) {
		port_free(filter);
		return -EINVAL;
	}
	*result = filter;
	return 0;
}

void perf_filter_get(struct perf_filter *filter)
{
	if (filter)
		atomic_fetch_add_explicit(&filter->refs, 1, memory_order_relaxed);
}

void perf_filter_put(struct perf_filter *filter)
{
	if (filter &&
	    atomic_fetch_sub_explicit(&filter->refs, 1, memory_order_acq_rel) == 1)
		port_free(filter);
}

/* ----------------------------------------------------------------- judging */

static uint64_t load(const struct perf_trace_field *field, const void *record)
{
	const char *at = (const char *)record + field->offset;
	uint64_t value = 0;
	unsigned int unused;

	/* Little endian, as all of arm64 and x86. */
	__builtin_memcpy(&value, at, field->size <= 8 ? field->size : 8);
	unused = field->size < 8 ? 64U - 8U * field->size : 0;
	return field->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static bool compare_numbers(const struct node *node, uint64_t value)
{
	int64_t a = (int64_t)value, b = node->number;
	bool less = node->field->is_signed ? a < b : value < (uint64_t)b;

	switch (node->op) {
	case EQUAL:
		return a == b;
	case UNEQUAL:
		return a != b;
	case LESS:
		return less;
	case LESS_EQUAL:
		return less || a == b;
	case GREATER:
		return !less && a != b;
	case GREATER_EQUAL:
		return !less;
	default:
		return (a & b) != 0;
	}
}

/* Whether a string matches a pattern: at a mismatch the last * takes one character more. */
static bool matches(const char *s, size_t length, const struct word *pattern)
{
	size_t i = 0, p = 0, star = SIZE_MAX, resume = 0;

	while (i < length) {
		if (p < pattern->length && pattern->at[p] == '*') {
			star = p++;
			resume = i;
		} else if (p < pattern->length && (pattern->at[p] == '?' || pattern->at[p] == s[i])) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern->length && pattern->at[p] == '*')
		p++;
	return p == pattern->length;
}

static bool compare_strings(const struct node *node, const char *s)
{
	size_t length = 0;
	bool equal;

	while (length < node->field->size && s[length])
		length++;
	if (node->op == MATCHES)
		return matches(s, length, &node->string);
	equal = length == node->string.length &&
		__builtin_memcmp(s, node->string.at, length) == 0;
	return equal == (node->op == EQUAL);
}

static bool passes(const struct node *node, const void *record)
{
	const struct node *child;

	switch (node->kind) {
	case COMPARE:
		if (node->field->is_string)
			return compare_strings(node, (const char *)record + node->field->offset);
		return compare_numbers(node, load(node->field, record));
	case NOT:
		return !passes(node->children, record);
	default:
		for (child = node->children; child; child = child->next)
			if (passes(child, record) == (node->kind == EITHER))
				return node->kind == EITHER;
		return node->kind == BOTH;
	}
}

bool perf_filter_passes(const struct perf_filter *filter, const struct perf_trace_header *record)
{
	return !filter || passes(filter->root, record);
}
