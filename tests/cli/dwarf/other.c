/* What sample.c only declares. */
#include "sample.h"

#include <stdio.h>

struct elsewhere {
	u32 before, here;
};

struct elsewhere everywhere;
static short twice __attribute__((used));

void other(void)
{
	printf("size struct elsewhere %zu\n", sizeof(struct elsewhere));
	printf("member struct elsewhere here %zu 0\n", 8 * offsetof(struct elsewhere, here));
	printf("variable everywhere %zu struct elsewhere\n", sizeof(everywhere));
}
