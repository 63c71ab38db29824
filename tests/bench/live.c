/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bench: ways to the values of every process of the kernel this runs on, in turn. Run as root, mostly in a guest.
 *
 *     bench_live ROUNDS LABEL:PASSES:KIND[:ARG]...
 *     bench_live share SAMPLES SECONDS LABEL:PASSES:KIND[:ARG]...
 *
 * The first form prints, for each way: the line "none LABEL WHY" when it can't run here; else "list LABEL", what it gets of each
 * process, and "end LABEL" (see live.h); then, after a pass to warm up, ROUNDS times one line
 * "time LABEL ROWS NS NS NS..." with the nanoseconds of PASSES passes. The ways take turns, so that drift hits all.
 * PASSES 0: only the list.
 *
 * The second form lets each way by itself take a sample every SECONDS in a process of its own, and prints
 * "share LABEL NS NS NS...": the CPU time that this process used for each. A program that is run (KIND run) is one that
 * takes its samples by itself.
 */
#include "live.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WAYS = 32, MAX_PASSES = 100000, MAX_ROUNDS = 1000 };

static const struct kind *const kinds[] = {
	&kwalk_mapped,	    &kwalk_pread,	 &procfs_stat,	      &procfs_six,
	&procfs_statm_open, &procfs_statm_lseek, &procfs_system_stat, &iterate_comm,
	&iterate_all,	    &run_program,	 &ask_server,	      &kwalk_file,
};

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bench_live: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void each_process(void (*fn)(int pid, void *arg), void *arg)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		die("/proc: %s", strerror(errno));
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			fn(atoi(entry->d_name), arg);
	closedir(proc);
}

size_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	if (got < 0)
		got = 0;
	buf[got] = 0;
	return (size_t)got;
}

void write_text(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len && text[i]; i++)
		if (isgraph((unsigned char)text[i]) && text[i] != '\\')
			fputc(text[i], out);
		else
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	die("%s: no such kind of way", name);
}

/* Takes LABEL:PASSES:KIND[:ARG] to pieces; text is changed, and kept. */
static void parse_way(struct way *way, char *text)
{
	char *passes = strchr(text, ':'), *kind = passes ? strchr(passes + 1, ':') : NULL, *arg, *end;

	if (!kind)
		die("%s: not of the form LABEL:PASSES:KIND[:ARG]", text);
	*passes++ = 0;
	*kind++ = 0;
	arg = strchr(kind, ':');
	if (arg)
		*arg++ = 0;
	way->label = text;
	way->passes = strtoul(passes, &end, 10);
	if (*end || way->passes > MAX_PASSES)
		die("%s: %s is no number of passes", text, passes);
	way->kind = find_kind(kind);
	way->arg = arg ? arg : "";
}

static void list(struct way *way)
{
	if (!way->kind->list)
		return;
	printf("list %s\n", way->label);
	way->kind->list(way, stdout);
	printf("end %s\n", way->label);
	fflush(stdout);
}

static void measure(struct way *way, uint64_t *ns)
{
	struct totals totals = { 0 };

	for (unsigned long i = 0; i < way->passes; i++) {
		uint64_t start = now();

		totals = way->kind->pass(way);
		ns[i] = now() - start;
		__asm__ volatile("" : : "r"(totals.values));
	}
	printf("time %s %llu", way->label, (unsigned long long)totals.rows);
	for (unsigned long i = 0; i < way->passes; i++)
		printf(" %llu", (unsigned long long)ns[i]);
	printf("\n");
	fflush(stdout);
}

/* The ways that can run here move to the front; returns how many. */
static size_t open_all(struct way *ways, size_t nr)
{
	size_t ready = 0;

	for (size_t i = 0; i < nr; i++) {
		const char *why = ways[i].kind->open(&ways[i]);

		if (why)
			printf("none %s %s\n", ways[i].label, why);
		else
			ways[ready++] = ways[i];
	}
	fflush(stdout);
	return ready;
}

/* Samples until the parent has seen enough. */
static void sample(struct way *way, unsigned int seconds, int ready)
{
	struct timespec next;
	const char *why = way->kind->open(way);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (why)
		printf("none %s %s\n", way->label, why);
	fflush(stdout);
	if (why || write(ready, "", 1) != 1)
		_exit(0);
	if (way->kind == &run_program)
		exec_program(way);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;; next.tv_sec += seconds) {
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
			;
		way->kind->pass(way);
	}
}

/* CPU time of a process so far, in nanoseconds; 0 when it has ended. */
static unsigned long long cpu_time_of(pid_t pid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	read_file(path, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* The first samples are left out: a program starts in them, and gets its pages. */
static void print_shares(const struct way *way, pid_t pid, unsigned long samples, unsigned int seconds)
{
	unsigned long long last, next;

	sleep(seconds + 3);
	if (waitpid(pid, NULL, WNOHANG) == pid) {
		printf("none %s it ended by itself\n", way->label);
		return;
	}
	printf("share %s", way->label);
	last = cpu_time_of(pid);
	for (unsigned long i = 0; i < samples; i++, last = next) {
		sleep(seconds);
		next = cpu_time_of(pid);
		printf(" %llu", next - last);
	}
	printf("\n");
	fflush(stdout);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void watch(struct way *way, unsigned long samples, unsigned int seconds)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		die("pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ready[0]);
		sample(way, seconds, ready[1]);
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &byte, 1) == 1)
		print_shares(way, pid, samples, seconds);
	else
		waitpid(pid, NULL, 0);
	close(ready[0]);
}

static int share(int argc, char **argv)
{
	unsigned long samples = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long seconds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (!samples || samples > MAX_ROUNDS || !seconds || seconds > MAX_ROUNDS || argc < 4)
		die("share SAMPLES SECONDS LABEL:PASSES:KIND[:ARG]...");
	for (int i = 3; i < argc; i++) {
		struct way way = { 0 };

		parse_way(&way, argv[i]);
		watch(&way, samples, (unsigned int)seconds);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct way ways[MAX_WAYS];
	static uint64_t ns[MAX_PASSES];
	unsigned long rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	size_t nr = (size_t)(argc > 2 ? argc - 2 : 0);

	if (argc > 1 && strcmp(argv[1], "share") == 0)
		return share(argc - 1, argv + 1);
	if (!nr || nr > MAX_WAYS || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: bench_live ROUNDS LABEL:PASSES:KIND[:ARG]...\n");
		return 2;
	}
	for (size_t i = 0; i < nr; i++)
		parse_way(&ways[i], argv[i + 2]);
	nr = open_all(ways, nr);
	for (size_t i = 0; i < nr; i++)
		list(&ways[i]);
	for (size_t i = 0; i < nr && rounds; i++)
		if (ways[i].passes)
			ways[i].kind->pass(&ways[i]);
	for (unsigned long round = 0; round < rounds; round++)
		for (size_t i = 0; i < nr; i++)
			if (ways[i].passes)
				measure(&ways[i], ns);
	return 0;
}
