/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BPF task iterators of task_iter.bpf.c: loaded once, then read from start to end on each pass.
 *
 * ARG is the path of the compiled program, for all fields then a colon and the columns to list, under kwalk's names. A
 * pass takes whatever the program writes and makes processes of it, as a monitor would that shows all of it.
 */
#include "live.h"
#include "task_iter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBBPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

enum { PAGE = 4096, PID_LIMIT = 1 << 22, BUFFER = 1 << 18 };

struct iterator {
	struct bpf_link *link;
	char buf[BUFFER];
	/* For all fields: the processes of this pass, and where each is (0: nowhere), by its PID. */
	struct process_record *process;
	size_t nr, room;
	uint32_t *place;
	char *columns;
};

static const char *open_iterator(struct way *way, const char *name)
{
	static char why[256];
	struct iterator *it = calloc(1, sizeof(*it));
	char *path = strdup(way->arg);
	struct bpf_object *object;
	struct bpf_program *program;

	if (!it || !path)
		die("out of memory");
	it->columns = strchr(path, ':');
	if (it->columns)
		*it->columns++ = 0;
	object = bpf_object__open_file(path, NULL);
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, strcmp(bpf_program__name(program), name) == 0);
	if (!object || bpf_object__load(object)) {
		snprintf(why, sizeof(why), "%s: cannot be loaded: %s", path, strerror(errno));
		return why;
	}
	program = bpf_object__find_program_by_name(object, name);
	it->link = program ? bpf_program__attach_iter(program, NULL) : NULL;
	if (!it->link) {
		snprintf(why, sizeof(why), "%s: %s", name, strerror(errno));
		return why;
	}
	way->state = it;
	return NULL;
}

/* Called with what one read() gave: whole records. */
typedef void (*chunk_fn)(struct iterator *it, const char *data, size_t len, void *arg);

static void iterate(struct iterator *it, chunk_fn fn, void *arg)
{
	int fd = bpf_iter_create(bpf_link__fd(it->link));
	ssize_t got;

	if (fd < 0)
		die("the iterator cannot be started: %s", strerror(errno));
	while ((got = read(fd, it->buf, sizeof(it->buf))) > 0)
		fn(it, it->buf, (size_t)got, arg);
	if (got < 0)
		die("the iterator cannot be read: %s", strerror(errno));
	close(fd);
}

/* PID and comm. */

static const char *open_comm(struct way *way)
{
	return open_iterator(way, "comm_of_processes");
}

static void add_comm(struct iterator *it, const char *data, size_t len, void *arg)
{
	const struct comm_record *record = (const void *)data;
	struct totals *totals = arg;

	(void)it;
	for (size_t i = 0; i < len / sizeof(*record); i++) {
		totals->rows++;
		totals->values += record[i].pid + (unsigned char)record[i].comm[0];
	}
}

static struct totals pass_comm(struct way *way)
{
	struct totals totals = { 0 };

	iterate(way->state, add_comm, &totals);
	return totals;
}

static void write_comm(struct iterator *it, const char *data, size_t len, void *arg)
{
	const struct comm_record *record = (const void *)data;

	(void)it;
	for (size_t i = 0; i < len / sizeof(*record); i++) {
		fprintf(arg, "%u\t%u\t", record[i].pid, record[i].pid);
		write_text(arg, record[i].comm, sizeof(record[i].comm));
		fputc('\n', arg);
	}
}

static void list_comm(struct way *way, FILE *out)
{
	iterate(way->state, write_comm, out);
}

/* All fields. */

static const char *open_all(struct way *way)
{
	const char *why = open_iterator(way, "all_of_threads");
	struct iterator *it = way->state;

	if (why)
		return why;
	it->place = calloc(PID_LIMIT, sizeof(*it->place));
	if (!it->place || !it->columns)
		die("no columns to list, or out of memory");
	return NULL;
}

static void add_process(struct iterator *it, const struct process_record *record)
{
	if (it->nr == it->room) {
		it->room = it->room ? 2 * it->room : 1024;
		it->process = realloc(it->process, it->room * sizeof(*it->process));
		if (!it->process)
			die("out of memory");
	}
	it->process[it->nr] = *record;
	it->place[record->thread.tid] = (uint32_t)++it->nr;
}

static void add_thread(struct iterator *it, const struct thread_record *record)
{
	struct thread_record *sum;

	if (!it->place[record->tgid])
		return; /* its first thread has ended */
	sum = &it->process[it->place[record->tgid] - 1].thread;
	sum->utime += record->utime;
	sum->stime += record->stime;
	sum->gtime += record->gtime;
	sum->sum_exec_runtime += record->sum_exec_runtime;
	sum->minflt += record->minflt;
	sum->majflt += record->majflt;
	sum->rchar += record->rchar;
	sum->wchar += record->wchar;
	sum->syscr += record->syscr;
	sum->syscw += record->syscw;
	sum->read_bytes += record->read_bytes;
	sum->write_bytes += record->write_bytes;
	sum->cancelled_write_bytes += record->cancelled_write_bytes;
}

static bool is_pid(int pid)
{
	return pid > 0 && pid < PID_LIMIT;
}

static void add_all(struct iterator *it, const char *data, size_t len, void *arg)
{
	const char *end = data + len;

	(void)arg;
	while (data < end) {
		const struct thread_record *record = (const void *)data;
		bool first = record->tid == record->tgid;

		if (!is_pid(record->tid) || !is_pid(record->tgid))
			die("the iterator wrote PID %d", record->tid);
		if (first)
			add_process(it, (const void *)data);
		else
			add_thread(it, record);
		data += first ? sizeof(struct process_record) : sizeof(*record);
	}
}

static void collect(struct iterator *it)
{
	for (size_t i = 0; i < it->nr; i++)
		it->place[it->process[i].thread.tid] = 0;
	it->nr = 0;
	iterate(it, add_all, NULL);
}

/* As the kernel's cputime_adjust() splits the exact run time in the ratio of the sampled times. */
static uint64_t cpu_time(const struct process_record *p, bool user)
{
	uint64_t utime = p->utime + p->thread.utime, stime = p->stime + p->thread.stime;
	uint64_t runtime = p->sum_exec_runtime + p->thread.sum_exec_runtime;

	if (!stime)
		return user ? runtime : 0;
	if (!utime)
		return user ? 0 : runtime;
	stime = (uint64_t)((__uint128_t)stime * runtime / (utime + stime));
	return user ? runtime - stime : stime;
}

static struct totals pass_all(struct way *way)
{
	struct iterator *it = way->state;
	struct totals totals = { 0 };

	collect(it);
	totals.rows = it->nr;
	for (size_t i = 0; i < it->nr; i++)
		totals.values += cpu_time(&it->process[i], true) + cpu_time(&it->process[i], false);
	return totals;
}

enum form {
	SIGNED,	  /* an int, less `less` */
	UNSIGNED, /* an unsigned int */
	WIDE,	  /* an unsigned long long */
	SUM,	  /* the same, of ended and of living threads */
	MM_PAGES, /* an unsigned long long in pages; there is none without an mm */
	MM_WIDE,  /* an unsigned long long; there is none without an mm */
};

#define AT(member) offsetof(struct process_record, member)

static const struct column {
	const char *name;
	enum form form;
	size_t at, more; /* more: of a SUM, the other part; else what to take off */
} columns[] = {
	{ "pid", SIGNED, AT(thread.tgid), 0 },
	{ "tgid", SIGNED, AT(thread.tgid), 0 },
	{ "tid", SIGNED, AT(thread.tid), 0 },
	{ "ppid", SIGNED, AT(ppid), 0 },
	{ "pgid", SIGNED, AT(pgid), 0 },
	{ "sid", SIGNED, AT(sid), 0 },
	{ "nlwp", SIGNED, AT(nlwp), 0 },
	{ "ni", SIGNED, AT(static_prio), 120 },
	{ "priority", SIGNED, AT(prio), 100 },
	{ "exit_code", SIGNED, AT(exit_code), 0 },
	{ "exit_signal", SIGNED, AT(exit_signal), 0 },
	{ "psr", UNSIGNED, AT(cpu), 0 },
	{ "flags", UNSIGNED, AT(flags), 0 },
	{ "ruid", UNSIGNED, AT(ids[0]), 0 },
	{ "euid", UNSIGNED, AT(ids[1]), 0 },
	{ "suid", UNSIGNED, AT(ids[2]), 0 },
	{ "fsuid", UNSIGNED, AT(ids[3]), 0 },
	{ "rgid", UNSIGNED, AT(ids[4]), 0 },
	{ "egid", UNSIGNED, AT(ids[5]), 0 },
	{ "sgid", UNSIGNED, AT(ids[6]), 0 },
	{ "fsgid", UNSIGNED, AT(ids[7]), 0 },
	{ "starttime", WIDE, AT(starttime), 0 },
	{ "cutime", WIDE, AT(cutime), 0 },
	{ "cstime", WIDE, AT(cstime), 0 },
	{ "cminflt", WIDE, AT(cminflt), 0 },
	{ "cmajflt", WIDE, AT(cmajflt), 0 },
	{ "minflt", SUM, AT(minflt), AT(thread.minflt) },
	{ "majflt", SUM, AT(majflt), AT(thread.majflt) },
	{ "rchar", SUM, AT(rchar), AT(thread.rchar) },
	{ "wchar", SUM, AT(wchar), AT(thread.wchar) },
	{ "syscr", SUM, AT(syscr), AT(thread.syscr) },
	{ "syscw", SUM, AT(syscw), AT(thread.syscw) },
	{ "read_bytes", SUM, AT(read_bytes), AT(thread.read_bytes) },
	{ "write_bytes", SUM, AT(write_bytes), AT(thread.write_bytes) },
	{ "cancelled_write_bytes", SUM, AT(cancelled_write_bytes), AT(thread.cancelled_write_bytes) },
	{ "guest_time", SUM, AT(gtime), AT(thread.gtime) },
	{ "cguest_time", WIDE, AT(cgtime), 0 },
	{ "run_delay", WIDE, AT(run_delay), 0 },
	{ "timeslices", WIDE, AT(pcount), 0 },
	{ "nvcsw", WIDE, AT(nvcsw), 0 },
	{ "nivcsw", WIDE, AT(nivcsw), 0 },
	{ "sched_policy", UNSIGNED, AT(policy), 0 },
	{ "rsslim", WIDE, AT(rsslim), 0 },
	{ "pending", WIDE, AT(pending), 0 },
	{ "shared_pending", WIDE, AT(shared_pending), 0 },
	{ "blocked", WIDE, AT(blocked), 0 },
	{ "ignored", WIDE, AT(ignored), 0 },
	{ "caught", WIDE, AT(caught), 0 },
	{ "cap_inheritable", WIDE, AT(caps[0]), 0 },
	{ "cap_permitted", WIDE, AT(caps[1]), 0 },
	{ "cap_effective", WIDE, AT(caps[2]), 0 },
	{ "cap_bounding", WIDE, AT(caps[3]), 0 },
	{ "cap_ambient", WIDE, AT(caps[4]), 0 },
	{ "seccomp", SIGNED, AT(seccomp), 0 },
	{ "page_tables", MM_WIDE, AT(pgtables_bytes), 0 },
	{ "pinned", MM_PAGES, AT(pinned_vm), 0 },
	{ "hugetlb", MM_PAGES, AT(hugetlb), 0 },
	{ "vsz", MM_PAGES, AT(total_vm), 0 },
	{ "locked", MM_PAGES, AT(locked_vm), 0 },
	{ "data", MM_PAGES, AT(data_vm), 0 },
	{ "stack", MM_PAGES, AT(stack_vm), 0 },
	{ "rss_file", MM_PAGES, AT(rss[0]), 0 },
	{ "rss_anon", MM_PAGES, AT(rss[1]), 0 },
	{ "swap", MM_PAGES, AT(rss[2]), 0 },
	{ "rss_shmem", MM_PAGES, AT(rss[3]), 0 },
	{ "start_code", MM_WIDE, AT(start_code), 0 },
	{ "end_code", MM_WIDE, AT(end_code), 0 },
	{ "start_stack", MM_WIDE, AT(start_stack), 0 },
	{ "start_data", MM_WIDE, AT(start_data), 0 },
	{ "end_data", MM_WIDE, AT(end_data), 0 },
	{ "start_brk", MM_WIDE, AT(start_brk), 0 },
	{ "arg_start", MM_WIDE, AT(arg_start), 0 },
	{ "arg_end", MM_WIDE, AT(arg_end), 0 },
	{ "env_start", MM_WIDE, AT(env_start), 0 },
	{ "env_end", MM_WIDE, AT(env_end), 0 },
};

static uint64_t wide_at(const struct process_record *p, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)p + at, sizeof(value));
	return value;
}

static void write_column(FILE *out, const struct process_record *p, const struct column *column)
{
	const char *at = (const char *)p + column->at;
	uint32_t narrow;

	memcpy(&narrow, at, sizeof(narrow));
	switch (column->form) {
	case SIGNED: fprintf(out, "%d", (int)narrow - (int)column->more); break;
	case UNSIGNED: fprintf(out, "%" PRIu32, narrow); break;
	case WIDE: fprintf(out, "%" PRIu64, wide_at(p, column->at)); break;
	case SUM: fprintf(out, "%" PRIu64, wide_at(p, column->at) + wide_at(p, column->more)); break;
	default:
		if (p->has_mm)
			fprintf(out, "%" PRIu64,
				wide_at(p, column->at) * (column->form == MM_PAGES ? PAGE : 1));
		else
			fputc('-', out);
	}
}

static char state_letter(const struct process_record *p)
{
	static const char letters[] = "RSDTtXZPI";
	unsigned int state = (p->state | p->exit_state) & 0x7f;

	if (p->state == 0x402)
		return 'I';
	return letters[state ? 32 - __builtin_clz(state) : 0];
}

static uint64_t text_size(const struct process_record *p)
{
	uint64_t text =
		((p->end_code + PAGE - 1) & ~(uint64_t)(PAGE - 1)) - (p->start_code & ~(uint64_t)(PAGE - 1));

	return text < p->exec_vm * PAGE ? text : p->exec_vm * PAGE;
}

/* Those that are no plain member; false for a column that is unknown here. */
static bool write_computed(FILE *out, const struct process_record *p, const char *name)
{
	if (strcmp(name, "comm") == 0)
		write_text(out, p->comm, sizeof(p->comm));
	else if (strcmp(name, "state") == 0)
		fputc(state_letter(p), out);
	else if (strcmp(name, "utime") == 0 || strcmp(name, "stime") == 0)
		fprintf(out, "%" PRIu64, cpu_time(p, *name == 'u'));
	else if (!p->has_mm &&
		 (strcmp(name, "rss") == 0 || strcmp(name, "text") == 0 || strcmp(name, "lib") == 0))
		fputc('-', out);
	else if (strcmp(name, "rss") == 0)
		fprintf(out, "%lld", (p->rss[0] + p->rss[1] + p->rss[3]) * PAGE);
	else if (strcmp(name, "text") == 0)
		fprintf(out, "%" PRIu64, text_size(p));
	else if (strcmp(name, "lib") == 0)
		fprintf(out, "%" PRIu64, (uint64_t)p->exec_vm * PAGE - text_size(p));
	else
		return false;
	return true;
}

static void write_named(FILE *out, const struct process_record *p, const char *name)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (strcmp(columns[i].name, name) == 0) {
			write_column(out, p, &columns[i]);
			return;
		}
	if (!write_computed(out, p, name))
		fputc('?', out);
}

static void list_all(struct way *way, FILE *out)
{
	struct iterator *it = way->state;
	char *names = strdup(it->columns);

	collect(it);
	for (size_t i = 0; names && i < it->nr; i++) {
		fprintf(out, "%d", it->process[i].thread.tgid);
		strcpy(names, it->columns);
		for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
			fputc('\t', out);
			write_named(out, &it->process[i], name);
		}
		fputc('\n', out);
	}
	free(names);
}

const struct kind iterate_comm = { "iter-comm", open_comm, pass_comm, list_comm };
const struct kind iterate_all = { "iter-all", open_all, pass_all, list_all };

#else

static const char *open_none(struct way *way)
{
	(void)way;
	return "built without libbpf: install libbpf-dev and clang";
}

const struct kind iterate_comm = { .name = "iter-comm", .open = open_none };
const struct kind iterate_all = { .name = "iter-all", .open = open_none };

#endif
