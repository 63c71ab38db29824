/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of files of /proc, made of values of a query.
 *
 * Where the kernel prints a fixed text for something that is not there (no terminal, no memory), the item has that text;
 * any other missing value is a failure, because 0 in its place would be a lie.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/proc_text.h"

#define TICK_NS	   10000000 /* of the kernel's USER_HZ, which is 100 on x86 */
#define LOAD_ONE   2048	    /* 1.00 as the kernel keeps averages of load */
#define PAGE_BYTES 4096

/* Flags of a task whose stack and instruction pointer the kernel shows: it ends, or a core dump of it is written. */
#define SHOWS_REGISTERS (0x4 | 0x8 | 0x200)

enum notation {
	TEXT,
	DECIMAL,
	TICKS,	  /* nanoseconds in ticks */
	SECONDS,  /* nanoseconds in seconds with two decimals */
	PAGES,	  /* bytes in pages */
	SIGNALS,  /* the first 31 of a set of signals */
	HEX8,	  /* eight hexadecimal digits */
	LIMIT,	  /* a limit of a resource, in 20 columns and a blank */
	LOAD,	  /* an average of load */
	WAITS,	  /* whether it waits: of its state */
	REGISTER, /* 0 or not known: of its flags */
};

/* A value is missing for a reason for which the kernel prints a fixed text. */
#define NO_MM	    (1u << KW_ABSENT_NO_MM)
#define NO_OBJECT   (1u << KW_ABSENT_NULL | 1u << KW_ABSENT_NOT_APPLICABLE)
#define NOT_COUNTED (NO_OBJECT | 1u << KW_ABSENT_NO_MEMBER)

struct proc_item {
	const char *before;
	const char *column;
	enum notation notation;
	unsigned int unless; /* missing for one of these reasons: `fixed` is printed */
	const char *fixed;
};

#define VALUE_OR(before, column, notation, unless, fixed) \
	{                                                 \
		before, column, notation, unless, fixed   \
	}
#define VALUE(before, column, notation) VALUE_OR(before, column, notation, 0, NULL)
#define TEXT_ONLY(text)			VALUE_OR(text, NULL, TEXT, 0, NULL)

static const struct proc_item stat_items[] = {
	VALUE("", "tid", DECIMAL),
	VALUE(" (", "name", TEXT),
	VALUE(") ", "state", TEXT),
	VALUE(" ", "ppid", DECIMAL),
	VALUE(" ", "pgid", DECIMAL),
	VALUE(" ", "sid", DECIMAL),
	VALUE_OR(" ", "tty_nr", DECIMAL, NO_OBJECT, "0"),
	VALUE_OR(" ", "tpgid", DECIMAL, NO_OBJECT, "-1"),
	VALUE(" ", "flags", DECIMAL),
	VALUE(" ", "minflt", DECIMAL),
	VALUE(" ", "cminflt", DECIMAL),
	VALUE(" ", "majflt", DECIMAL),
	VALUE(" ", "cmajflt", DECIMAL),
	VALUE(" ", "utime", TICKS),
	VALUE(" ", "stime", TICKS),
	VALUE(" ", "cutime", TICKS),
	VALUE(" ", "cstime", TICKS),
	VALUE(" ", "priority", DECIMAL),
	VALUE(" ", "ni", DECIMAL),
	VALUE(" ", "nlwp", DECIMAL),
	VALUE(" 0 ", "starttime", TICKS),
	VALUE_OR(" ", "vsz", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "stat_rss", PAGES, NO_MM, "0"),
	VALUE(" ", "rsslim", DECIMAL),
	VALUE_OR(" ", "start_code", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "end_code", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "start_stack", DECIMAL, NO_MM, "0"),
	VALUE(" ", "flags", REGISTER), /* kstkesp */
	VALUE(" ", "flags", REGISTER), /* kstkeip */
	VALUE(" ", "pending", SIGNALS),
	VALUE(" ", "blocked", SIGNALS),
	VALUE(" ", "ignored", SIGNALS),
	VALUE(" ", "caught", SIGNALS),
	VALUE(" ", "task.__state", WAITS), /* wchan */
	VALUE(" 0 0 ", "exit_signal", DECIMAL),
	VALUE(" ", "psr", DECIMAL),
	VALUE_OR(" ", "rtprio", DECIMAL, NO_OBJECT, "0"),
	VALUE(" ", "sched_policy", DECIMAL),
	VALUE_OR(" ", "blkio_delay", TICKS, NOT_COUNTED, "0"),
	VALUE(" ", "guest_time", TICKS),
	VALUE(" ", "cguest_time", TICKS),
	VALUE_OR(" ", "start_data", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "end_data", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "start_brk", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "arg_start", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "arg_end", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "env_start", DECIMAL, NO_MM, "0"),
	VALUE_OR(" ", "env_end", DECIMAL, NO_MM, "0"),
	VALUE(" ", "exit_code", DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item statm_items[] = {
	VALUE_OR("", "vsz", PAGES, NO_MM, "0"),		  VALUE_OR(" ", "rss", PAGES, NO_MM, "0"),
	VALUE_OR(" ", "shared", PAGES, NO_MM, "0"),	  VALUE_OR(" ", "statm_text", PAGES, NO_MM, "0"),
	VALUE_OR(" 0 ", "statm_data", PAGES, NO_MM, "0"), TEXT_ONLY(" 0\n"),
};

static const struct proc_item io_items[] = {
	VALUE("rchar: ", "rchar", DECIMAL),
	VALUE("\nwchar: ", "wchar", DECIMAL),
	VALUE("\nsyscr: ", "syscr", DECIMAL),
	VALUE("\nsyscw: ", "syscw", DECIMAL),
	VALUE("\nread_bytes: ", "read_bytes", DECIMAL),
	VALUE("\nwrite_bytes: ", "write_bytes", DECIMAL),
	VALUE("\ncancelled_write_bytes: ", "cancelled_write_bytes", DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item schedstat_items[] = {
	VALUE("", "exec_runtime", DECIMAL),
	VALUE(" ", "run_delay", DECIMAL),
	VALUE(" ", "timeslices", DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item comm_items[] = { VALUE("", "name", TEXT), TEXT_ONLY("\n") };
static const struct proc_item oom_score_adj_items[] = { VALUE("", "oom_score_adj", DECIMAL),
							TEXT_ONLY("\n") };
static const struct proc_item loginuid_items[] = { VALUE("", "loginuid", DECIMAL) };
static const struct proc_item sessionid_items[] = { VALUE("", "sessionid", DECIMAL) };
static const struct proc_item personality_items[] = { VALUE("", "personality", HEX8), TEXT_ONLY("\n") };

static const struct proc_item limits_items[] = {
	VALUE("Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              ",
	      "limit_cpu", LIMIT),
	VALUE("", "limit_cpu_hard", LIMIT),
	VALUE("seconds   \nMax file size             ", "limit_fsize", LIMIT),
	VALUE("", "limit_fsize_hard", LIMIT),
	VALUE("bytes     \nMax data size             ", "limit_data", LIMIT),
	VALUE("", "limit_data_hard", LIMIT),
	VALUE("bytes     \nMax stack size            ", "limit_stack", LIMIT),
	VALUE("", "limit_stack_hard", LIMIT),
	VALUE("bytes     \nMax core file size        ", "limit_core", LIMIT),
	VALUE("", "limit_core_hard", LIMIT),
	VALUE("bytes     \nMax resident set          ", "limit_rss", LIMIT),
	VALUE("", "limit_rss_hard", LIMIT),
	VALUE("bytes     \nMax processes             ", "limit_nproc", LIMIT),
	VALUE("", "limit_nproc_hard", LIMIT),
	VALUE("processes \nMax open files            ", "limit_nofile", LIMIT),
	VALUE("", "limit_nofile_hard", LIMIT),
	VALUE("files     \nMax locked memory         ", "limit_memlock", LIMIT),
	VALUE("", "limit_memlock_hard", LIMIT),
	VALUE("bytes     \nMax address space         ", "limit_as", LIMIT),
	VALUE("", "limit_as_hard", LIMIT),
	VALUE("bytes     \nMax file locks            ", "limit_locks", LIMIT),
	VALUE("", "limit_locks_hard", LIMIT),
	VALUE("locks     \nMax pending signals       ", "limit_sigpending", LIMIT),
	VALUE("", "limit_sigpending_hard", LIMIT),
	VALUE("signals   \nMax msgqueue size         ", "limit_msgqueue", LIMIT),
	VALUE("", "limit_msgqueue_hard", LIMIT),
	VALUE("bytes     \nMax nice priority         ", "limit_nice", LIMIT),
	VALUE("", "limit_nice_hard", LIMIT),
	VALUE("\nMax realtime priority     ", "limit_rtprio", LIMIT),
	VALUE("", "limit_rtprio_hard", LIMIT),
	VALUE("\nMax realtime timeout      ", "limit_rttime", LIMIT),
	VALUE("", "limit_rttime_hard", LIMIT),
	TEXT_ONLY("us        \n"),
};

/* Of no memory the kernel makes an empty command line. */
static const struct proc_item task_cmdline_items[] = { VALUE_OR("", "cmdline", TEXT, NO_MM, "") };

static const struct proc_item loadavg_items[] = {
	VALUE("", "load1", LOAD),
	VALUE(" ", "load5", LOAD),
	VALUE(" ", "load15", LOAD),
	VALUE(" ", "procs_running", DECIMAL),
	VALUE("/", "threads", DECIMAL),
	VALUE(" ", "last_pid", DECIMAL),
	TEXT_ONLY("\n"),
};

static const struct proc_item uptime_items[] = {
	VALUE("", "uptime", SECONDS),
	VALUE(" ", "idle", SECONDS),
	TEXT_ONLY("\n"),
};

static const struct proc_item version_items[] = { VALUE("", "version", TEXT), TEXT_ONLY("\n") };
static const struct proc_item cmdline_items[] = { VALUE("", "cmdline", TEXT), TEXT_ONLY("\n") };

#define FILE_OF(place, name, items)                                    \
	{                                                              \
		name, place, items, sizeof(items) / sizeof((items)[0]) \
	}

static const struct proc_file files[] = {
	FILE_OF(PROC_TASK, "stat", stat_items),
	FILE_OF(PROC_TASK, "statm", statm_items),
	FILE_OF(PROC_TASK, "io", io_items),
	FILE_OF(PROC_TASK, "schedstat", schedstat_items),
	FILE_OF(PROC_TASK, "comm", comm_items),
	FILE_OF(PROC_TASK, "cmdline", task_cmdline_items),
	FILE_OF(PROC_TASK, "limits", limits_items),
	FILE_OF(PROC_TASK, "oom_score_adj", oom_score_adj_items),
	FILE_OF(PROC_TASK, "loginuid", loginuid_items),
	FILE_OF(PROC_TASK, "sessionid", sessionid_items),
	FILE_OF(PROC_TASK, "personality", personality_items),
	FILE_OF(PROC_SYSTEM, "loadavg", loadavg_items),
	FILE_OF(PROC_SYSTEM, "uptime", uptime_items),
	FILE_OF(PROC_SYSTEM, "version", version_items),
	FILE_OF(PROC_SYSTEM, "cmdline", cmdline_items),
};

const struct proc_file *proc_file_at(size_t i)
{
	return i < sizeof(files) / sizeof(files[0]) ? &files[i] : NULL;
}

void proc_view_init(kw_ctx *ctx, bool thread, struct proc_view *ret)
{
	uint64_t addr;

	ret->thread = thread;
	ret->shows_waits = kw_symbol_address(ctx, "__get_wchan", &addr) == KW_OK;
}

void proc_file_columns(const struct proc_view *view, const struct proc_file *file, FILE *out)
{
	/* What has no column gets the first one once more, which nobody looks at. */
	for (size_t i = 0; i < file->nr; i++) {
		const struct proc_item *item = &file->items[i];
		bool none = !item->column || (item->notation == WAITS && !view->shows_waits);

		fprintf(out, "%s%s", i ? "," : "", none ? file->items[0].column : item->column);
	}
}

/* The value of another column of the file, which must have it. */
static const struct kw_value *other(const struct proc_file *file, const struct kw_value *values,
				    const char *column)
{
	size_t i = 0;

	while (strcmp(file->items[i].column, column) != 0)
		i++;
	return &values[i];
}

static void put_limit(FILE *out, uint64_t limit)
{
	if (limit == UINT64_MAX)
		fprintf(out, "%-20s ", "unlimited");
	else
		fprintf(out, "%-20" PRIu64 " ", limit);
}

static void put_load(FILE *out, double average)
{
	/* Half a hundredth more, and then cut, in fixed point as the kernel does it. */
	uint64_t fixed = (uint64_t)(average * LOAD_ONE + 0.5) + LOAD_ONE / 200;

	fprintf(out, "%" PRIu64 ".%02" PRIu64, fixed / LOAD_ONE, fixed % LOAD_ONE * 100 / LOAD_ONE);
}

static void put_value(FILE *out, enum notation notation, const struct kw_value *v)
{
	switch (notation) {
	case TEXT: fwrite(v->str, 1, v->len, out); break;
	case TICKS: fprintf(out, "%" PRIu64, v->u / TICK_NS); break;
	case SECONDS:
		fprintf(out, "%" PRIu64 ".%02" PRIu64, v->u / 1000000000, v->u % 1000000000 / 10000000);
		break;
	case PAGES: fprintf(out, "%" PRIu64, v->u / PAGE_BYTES); break;
	case SIGNALS: fprintf(out, "%" PRIu64, v->u & 0x7fffffff); break;
	case HEX8: fprintf(out, "%08" PRIx64, v->u); break;
	case LIMIT: put_limit(out, v->u); break;
	case LOAD: put_load(out, v->f); break;
	default:
		if (v->type == KW_VAL_INT)
			fprintf(out, "%" PRId64, v->i);
		else
			fprintf(out, "%" PRIu64, v->u);
	}
}

/* Since 5.16 the kernel tells whether a task is off the run queue, but nothing of several threads at once. */
static void put_waits(const struct proc_view *view, bool one_thread, const struct kw_value *state, FILE *out)
{
	fputc(view->shows_waits && state->u && (view->thread || one_thread) ? '1' : '0', out);
}

static bool is_text(const struct kw_value *v)
{
	return v->type == KW_VAL_STRING || v->type == KW_VAL_BYTES;
}

/* Write the value of an item; false with why when it is missing and the kernel prints no fixed text for that. */
static bool put_item(const struct proc_view *view, const struct proc_file *file, size_t i,
		     const struct kw_value *values, FILE *out, const char **ret_why)
{
	const struct proc_item *item = &file->items[i];
	const struct kw_value *v = &values[i];

	if (v->type == KW_VAL_ABSENT) {
		if (!(item->unless & 1u << v->absent)) {
			*ret_why = kw_absent_text(v->absent);
			return false;
		}
		fputs(item->fixed, out);
	} else if (item->notation == WAITS) {
		put_waits(view, other(file, values, "nlwp")->u < 2, v, out);
	} else if (item->notation == REGISTER) {
		if (v->u & SHOWS_REGISTERS && other(file, values, "vsz")->type != KW_VAL_ABSENT) {
			*ret_why = "its registers are shown while it ends or dumps core, and are not known";
			return false;
		}
		fputc('0', out);
	} else if ((item->notation == TEXT) != is_text(v)) {
		*ret_why = "a value of another type than expected";
		return false;
	} else {
		put_value(out, item->notation, v);
	}
	return true;
}

bool proc_file_print(const struct proc_view *view, const struct proc_file *file,
		     const struct kw_value *values, FILE *out, const char **ret_column, const char **ret_why)
{
	for (size_t i = 0; i < file->nr; i++) {
		fputs(file->items[i].before, out);
		if (file->items[i].column && !put_item(view, file, i, values, out, ret_why)) {
			*ret_column = file->items[i].column;
			return false;
		}
	}
	return true;
}
