/* SPDX-License-Identifier: BSD-2-Clause */
/* Words as one line of text, quoted as a shell wants them. */
#ifndef HOST_WORDS_H
#define HOST_WORDS_H

/*
 * The words (ended by NULL) as one line that a shell would take apart into the same words. A word
 * with control characters is quoted as $'...'. The caller frees it.
 */
char *words_join(char *const *words);

/*
 * Takes a line apart as a shell does, with quotes and backslashes, and expands nothing. Returns an
 * array ended by NULL, which words_free() frees, or NULL if a quote is not closed or a $'...' has an
 * escape other than \n \t \r \\ \' \xHH.
 */
char **words_split(const char *line);

void words_free(char **words);

/*
 * Cuts a command line in two at its first "--". Returns the words after it, or NULL if there is none;
 * *argc is the number of those before.
 */
char **words_cut(char **argv, int *argc);

#endif
