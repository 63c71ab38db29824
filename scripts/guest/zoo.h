/*
 * What a creature of the zoo may use. See zoo.c.
 */
#ifndef KW_LAB_ZOO_H
#define KW_LAB_ZOO_H

#include "lab.h"

struct creature {
	const char *name; /* the last name that live() settles under */
	void (*live)(void);
};

struct role {
	const char *name;
	void (*live)(int argc, char **argv);
};

/** The creatures in the order of their start, ended by one without a name. */
extern const struct creature zoo_creatures[];

/** What a creature becomes by exec, ended by one without a name. */
extern const struct role zoo_roles[];

/** Enter the calling thread into the registry under name. */
void settle(const char *name);

/** Settle, then sleep for ever. */
void rest(const char *name) __attribute__((noreturn));

/** Sleep for ever. */
void doze(void) __attribute__((noreturn));

/** True from the moment on when "busy" may burn a CPU. */
bool may_be_busy(void);

/** How many threads the creature "crowd" shall have. */
unsigned crowd_threads(void);

#endif
