/*
 * The guest's program: PID 1 of every guest that the lab boots.
 *
 * init.c brings the guest up and does what the kernel command line asks; zoo.c and creatures.c keep one process of
 * every kind; record.c writes down /proc; port.c talks to the host through QEMU's I/O ports.
 */
#ifndef KW_LAB_H
#define KW_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Send text to the host's control file. PID 1 only. */
void port_control(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * Keep the permission for the control port, or give it up. A kernel that was locked down meanwhile grants no new
 * one. It is inherited, so a child that shall not have it gives it up.
 */
void port_hold_control(bool hold);

/** Open the way for a command's output, waiting until its device is there. */
bool port_open_output(void);

/** Send len bytes to the host's output file, unchanged; on return they are there. */
bool port_output(const char *data, size_t len);

/** Stop both virtual CPUs at this very instruction. PID 1 only. */
void port_freeze(void);

struct zoo_entry {
	char name[40]; /* "" where nobody settled yet */
	pid_t pid, tid;
	int ready;
};

enum { ZOO_MAX = 256 };

/* Shared by PID 1 and every creature: who is where, seen from the first PID namespace. */
struct zoo_registry {
	int busy;		/* "busy" may burn a CPU */
	unsigned crowd_threads; /* as wished */
	unsigned count;
	struct zoo_entry entry[ZOO_MAX];
};

struct zoo_wish {
	unsigned threads;   /* of the creature "crowd"; 0 for no such creature */
	unsigned processes; /* to reach in the whole guest with idle ones; 0 for none */
	bool busy;	    /* let "busy" burn a CPU */
};

/**
 * Start every creature and wait until each has settled.
 * Returns the registry; a creature that did not settle has ready == 0 in it.
 */
struct zoo_registry *zoo_start(const struct zoo_wish *wish);

/** Let the creature "busy" burn a CPU from now on. */
void zoo_release_busy(void);

/** Run a creature that needs an exec: argv[2] is its role. Does not return. */
void zoo_role(int argc, char **argv) __attribute__((noreturn));

/** Set memory aside for an archive of this many processes and tell the host which pages it has. */
bool record_prepare(unsigned processes);

/** Write /proc into the archive: what changes most is read last. */
bool record_all(const struct zoo_registry *zoo);

/** Read a small file into buf, NUL-terminated. Returns its length or -1. */
ssize_t read_text(const char *path, char *buf, size_t size);

/** Write text to an existing file; says so on the console where that fails. */
bool write_text(const char *path, const char *text);

#endif
