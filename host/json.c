/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts for JSON and HTML; see json.h. */
#include <stdint.h>
#include <string.h>

#include "json.h"

enum { REPLACEMENT = 0xfffd };

/*
 * Takes one character of UTF-8 (RFC 3629) off a text; U+FFFD and one byte for what is none.
 */
static uint32_t take_character(const unsigned char **text)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *at = *text;
	int length = *at < 0x80	  ? 1
		     : *at < 0xc2 ? 0
		     : *at < 0xe0 ? 2
		     : *at < 0xf0 ? 3
		     : *at < 0xf5 ? 4
				  : 0;
	uint32_t c = length == 1 ? *at : *at & (0x7f >> length);

	for (int i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			length = 0;
		else
			c = c << 6 | (at[i] & 0x3f);
	}
	if (!length || c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		*text += 1;
		return REPLACEMENT;
	}
	*text += length;
	return c;
}

void json_text(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		uint32_t c = take_character(&at);

		if (c >= 0x10000)
			fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
				0xdc00 + (c & 0x3ff));
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (int)c);
		else if (c < ' ' || c >= 0x7f || c == '<' || c == '>' || c == '&')
			fprintf(out, "\\u%04x", c);
		else
			fputc((int)c, out);
	}
	fputc('"', out);
}

void html_text(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		uint32_t c = take_character(&at);

		if (c < ' ' || c == 0x7f)
			c = REPLACEMENT;
		if (c >= 0x7f || strchr("<>&\"'", (int)c))
			fprintf(out, "&#%u;", c);
		else
			fputc((int)c, out);
	}
}
