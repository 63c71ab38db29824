/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asking for queries on a terminal: kwalk query without one. */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include "cli/cli.h"

/** Open the target and answer until the input ends. Returns the exit code. */
int prompt_run(struct cli *cli);

#endif
