/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ways to get at values of every process of the kernel that this program runs on, each measured by live.c.
 *
 * A way is made ready once, then passes again and again over all processes. Apart from that it writes down what it
 * gets, so that the ways can be compared with each other: a line for each process, its PID and then the values, with
 * tabs between them, "-" for a value that there is none of.
 */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct totals {
	uint64_t rows;
	uint64_t values; /* of all rows added up, so that a compiler can't leave the work out */
};

struct way {
	const char *label;    /* in the output */
	const char *arg;      /* what the kind of way wants to know: columns, a command; "" for none */
	unsigned long passes; /* in each turn */
	const struct kind *kind;
	void *state; /* of the kind's own */
};

struct kind {
	const char *name;
	/* Make it ready. NULL, or why it can't run here: a text that stays. */
	const char *(*open)(struct way *way);
	struct totals (*pass)(struct way *way);
	/* Write the list down; NULL for a kind that has none to compare. */
	void (*list)(struct way *way, FILE *out);
};

extern const struct kind kwalk_mapped, kwalk_pread, kwalk_file;
extern const struct kind procfs_stat, procfs_six, procfs_statm_open, procfs_statm_lseek, procfs_system_stat;
extern const struct kind iterate_comm, iterate_all;
extern const struct kind run_program, ask_server;

/** Become the program of a way of kind run, with its output thrown away. */
void exec_program(const struct way *way) __attribute__((noreturn));

/** End the program with a reason. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** Nanoseconds of a clock that only goes forward. */
uint64_t now(void);

/** Call fn with every process ID in /proc, in the order of the directory. */
void each_process(void (*fn)(int pid, void *arg), void *arg);

/** Read a small file of /proc; buf is NUL-terminated. Returns its length, 0 when it cannot be read any more. */
size_t read_file(const char *path, char *buf, size_t size);

/** Write len bytes of text so that tabs, newlines and what is no ASCII do no harm: as \xHH. Ends at a NUL. */
void write_text(FILE *out, const char *text, size_t len);

#endif
