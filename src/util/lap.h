/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a walk along pointers goes round, as Brent finds it out: a mark moves up to where the walk is at each power of two
 * steps, so that a walk that goes round meets it within twice the length of the round.
 */
#ifndef UTIL_LAP_H
#define UTIL_LAP_H

#include <stdbool.h>
#include <stdint.h>

/** Begin with the mark where the walk begins, and no steps. */
struct kw_lap {
	uint64_t mark, steps;
};

/** Take a step to a place; true, and it is not counted, when that has been met before. */
static inline bool kw_lap_is_round(struct kw_lap *lap, uint64_t at)
{
	if (at == lap->mark)
		return true;
	lap->steps++;
	if (!(lap->steps & (lap->steps - 1)))
		lap->mark = at;
	return false;
}

#endif
