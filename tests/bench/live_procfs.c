/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc, read as monitors do. */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_SIZE = 8192, STATM_FIELDS = 7 };

static const char *const six_files[] = { "stat", "statm", "status", "io", "schedstat", "cpuset" };

static const char *open_nothing(struct way *way)
{
	(void)way;
	return access("/proc/1/stat", R_OK) == 0 ? NULL : "/proc is not mounted";
}

static size_t read_of(int pid, const char *name, char *buf)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return read_file(path, buf, FILE_SIZE);
}

/* PID and comm from /proc/PID/stat; the name may hold anything, so it ends at the last parenthesis. */

static const char *comm_in(char *stat, size_t *len)
{
	char *from = strchr(stat, '('), *to = strrchr(stat, ')');

	if (!from || !to || to < from)
		return NULL;
	*len = (size_t)(to - from - 1);
	return from + 1;
}

static void add_stat(int pid, void *arg)
{
	struct totals *totals = arg;
	char buf[FILE_SIZE];
	size_t len;
	const char *comm;

	if (!read_of(pid, "stat", buf) || !(comm = comm_in(buf, &len)))
		return;
	totals->rows++;
	totals->values += strtoul(buf, NULL, 10) + (len ? (unsigned char)comm[0] : 0);
}

static struct totals pass_stat(struct way *way)
{
	struct totals totals = { 0 };

	(void)way;
	each_process(add_stat, &totals);
	return totals;
}

static void write_stat(int pid, void *arg)
{
	char buf[FILE_SIZE];
	size_t len;
	const char *comm;

	if (!read_of(pid, "stat", buf) || !(comm = comm_in(buf, &len)))
		return;
	fprintf(arg, "%d\t%d\t", pid, pid);
	write_text(arg, comm, len);
	fputc('\n', arg);
}

static void list_stat(struct way *way, FILE *out)
{
	(void)way;
	each_process(write_stat, out);
}

/* The six files of "/proc/all", opened, read and closed. */

static void add_six(int pid, void *arg)
{
	struct totals *totals = arg;
	char buf[FILE_SIZE];

	totals->rows++;
	for (size_t i = 0; i < sizeof(six_files) / sizeof(*six_files); i++)
		totals->values += read_of(pid, six_files[i], buf);
}

static struct totals pass_six(struct way *way)
{
	struct totals totals = { 0 };

	(void)way;
	each_process(add_six, &totals);
	return totals;
}

struct sample {
	FILE *out;
	int every, seen;
};

/* Their texts as they are, for some of the processes: the first thousand PIDs and then every 50th process. */
static void write_six(int pid, void *arg)
{
	struct sample *sample = arg;
	char buf[FILE_SIZE];

	if (pid > 1000 && sample->seen++ % 50)
		return;
	fprintf(sample->out, "%d", pid);
	for (size_t i = 0; i < sizeof(six_files) / sizeof(*six_files); i++) {
		size_t len = read_of(pid, six_files[i], buf);

		fputc('\t', sample->out);
		write_text(sample->out, buf, len);
	}
	fputc('\n', sample->out);
}

static void list_six(struct way *way, FILE *out)
{
	struct sample sample = { .out = out };

	(void)way;
	each_process(write_six, &sample);
}

/* The seven fields of /proc/PID/statm, for a list of processes that is made once. */

struct statm {
	size_t nr, room;
	int *pid, *fd;
	char label[64];
};

static void add_pid(int pid, void *arg)
{
	struct statm *s = arg;

	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->pid = realloc(s->pid, s->room * sizeof(*s->pid));
		s->fd = realloc(s->fd, s->room * sizeof(*s->fd));
		if (!s->pid || !s->fd)
			die("out of memory");
	}
	s->pid[s->nr++] = pid;
}

static const char *open_statm(struct way *way)
{
	struct statm *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	each_process(add_pid, s);
	way->state = s;
	return NULL;
}

static int scan_statm(const char *text, unsigned long *v)
{
	return sscanf(text, "%lu %lu %lu %lu %lu %lu %lu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]);
}

static struct totals pass_statm_open(struct way *way)
{
	struct statm *s = way->state;
	struct totals totals = { 0 };
	unsigned long v[STATM_FIELDS];
	char buf[FILE_SIZE];

	for (size_t i = 0; i < s->nr; i++) {
		if (!read_of(s->pid[i], "statm", buf) || scan_statm(buf, v) != STATM_FIELDS)
			continue;
		totals.rows++;
		for (int f = 0; f < STATM_FIELDS; f++)
			totals.values += v[f];
	}
	return totals;
}

static void list_statm(struct way *way, FILE *out)
{
	struct statm *s = way->state;
	unsigned long v[STATM_FIELDS];
	char buf[FILE_SIZE];

	for (size_t i = 0; i < s->nr; i++) {
		if (!read_of(s->pid[i], "statm", buf) || scan_statm(buf, v) != STATM_FIELDS)
			continue;
		fprintf(out, "%d", s->pid[i]);
		for (int f = 0; f < STATM_FIELDS; f++)
			fprintf(out, "\t%lu", v[f]);
		fputc('\n', out);
	}
}

static const char *open_statm_once(struct way *way)
{
	struct statm *s;
	char path[64];

	open_statm(way);
	s = way->state;
	for (size_t i = 0; i < s->nr; i++) {
		snprintf(path, sizeof(path), "/proc/%d/statm", s->pid[i]);
		s->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (s->fd[i] < 0 && errno == EMFILE)
			return "more processes than a process may have open files";
	}
	return NULL;
}

/* As nproc's author measured it: lseek and read, the text is not looked at. */
static struct totals pass_statm_lseek(struct way *way)
{
	struct statm *s = way->state;
	struct totals totals = { 0 };
	char buf[FILE_SIZE];

	for (size_t i = 0; i < s->nr; i++) {
		ssize_t got = lseek(s->fd[i], 0, SEEK_SET) == 0 ? read(s->fd[i], buf, sizeof(buf)) : -1;

		totals.rows += got > 0;
		totals.values += got > 0 ? (uint64_t)got : 0;
	}
	return totals;
}

/* /proc/stat: one row. */

static struct totals pass_system_stat(struct way *way)
{
	static char buf[1 << 20];

	(void)way;
	return (struct totals){ 1, read_file("/proc/stat", buf, sizeof(buf)) };
}

/* As row 0, a cell for each line. */
static void list_system_stat(struct way *way, FILE *out)
{
	static char buf[1 << 20];

	(void)way;
	read_file("/proc/stat", buf, sizeof(buf));
	fputc('0', out);
	for (char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n")) {
		fputc('\t', out);
		write_text(out, line, strlen(line));
	}
	fputc('\n', out);
}

const struct kind procfs_stat = { "procfs-stat", open_nothing, pass_stat, list_stat };
const struct kind procfs_six = { "procfs-six", open_nothing, pass_six, list_six };
const struct kind procfs_statm_open = { "procfs-statm-open", open_statm, pass_statm_open, list_statm };
const struct kind procfs_statm_lseek = { "procfs-statm-lseek", open_statm_once, pass_statm_lseek,
					 list_statm };
const struct kind procfs_system_stat = { "procfs-system-stat", open_nothing, pass_system_stat,
					 list_system_stat };
