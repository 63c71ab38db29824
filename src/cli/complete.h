/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Completing words of the query language. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/cli.h"

/** The words that a text can go on with, sorted, each once. */
struct completion {
	char **words;
	size_t nr, cap;
	char *insert; /* what goes behind the text: as much as all words have in common; NULL without words */
};

/**
 * Complete the last word of a text.
 *
 * @param text  what has been typed of a statement
 * @param ret  to be freed with completion_free()
 */
void complete_text(struct cli *cli, const char *text, struct completion *ret);

void completion_free(struct completion *c);

#endif
