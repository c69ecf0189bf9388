/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON texts (RFC 8259) of names that programs chose. */
#ifndef HOST_JSON_H
#define HOST_JSON_H

#include <stdio.h>

/*
 * Writes a text as a JSON string that is ASCII only, and has neither '<', '>' nor '&', so that it can
 * stand in a <script> of HTML. What is not UTF-8 becomes U+FFFD.
 */
void json_text(FILE *out, const char *text);

/* Writes a text for HTML, between tags or in an attribute's quotes. The same for what is not UTF-8. */
void html_text(FILE *out, const char *text);

#endif
