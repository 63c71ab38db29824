/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kwalk cat: the text of files of /proc, as the kernel would print it.
 *
 * A path names files below a place: /proc, all of /proc/PID or all of /proc/PID/task/TID. Each path is one walk over the
 * rows of its place, with the columns of all files that it names.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/proc_maker.h"
#include "cli/proc_text.h"

#define MAX_FILES 64

struct path {
	char *text;	       /* what the others point into */
	const char *pid, *tid; /* patterns; NULL: the path has none */
	const char *name;
	const struct proc_file *files[MAX_FILES]; /* that the name matches */
	size_t nr;
};

struct printing {
	struct cli *cli;
	const struct path *path;
	struct proc_view view;
	bool terminal;
	uint64_t printed, failed;
	bool full; /* no memory, or the output takes no more */
};

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[\\") != NULL;
}

/* Can it be an ID, or match some? */
static bool may_be_id(const char *text)
{
	return is_pattern(text) || (*text && !text[strspn(text, "0123456789")]);
}

static bool matches(const char *pattern, int32_t id)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRId32, id);
	return !pattern || fnmatch(pattern, text, 0) == 0;
}

static void find_files(struct path *path, enum proc_place place)
{
	const struct proc_file *file;

	for (size_t i = 0; (file = proc_file_at(i)) && path->nr < MAX_FILES; i++)
		if (file->place == place && fnmatch(path->name, file->name, 0) == 0 &&
		    !(file->is_private && strcmp(path->name, file->name) != 0))
			path->files[path->nr++] = file;
}

/* Take a path apart; no files when it is none of the supported. */
static bool parse(const char *arg, struct path *ret)
{
	char *part[6], *rest = ret->text = strdup(arg), *next;
	size_t nr = 0;

	if (!rest)
		return false;
	while (nr < 6 && (next = strsep(&rest, "/")))
		if (*next || !rest) /* slashes may be doubled; a last one names a directory */
			part[nr++] = next;
	if (rest || arg[0] != '/' || nr < 2 || strcmp(part[0], "proc") != 0)
		return true;
	ret->name = part[nr - 1];
	if (nr > 2)
		ret->pid = part[1];
	if (nr == 5)
		ret->tid = part[3];
	if (nr == 2)
		find_files(ret, PROC_SYSTEM);
	else if (may_be_id(ret->pid) &&
		 (nr == 3 || (nr == 5 && strcmp(part[2], "task") == 0 && may_be_id(ret->tid))))
		find_files(ret, PROC_TASK);
	return true;
}

/* Text of the target may steer a terminal; anything else gets it byte for byte. */
static void put_text(bool terminal, const char *text, size_t len)
{
	if (!terminal) {
		fwrite(text, 1, len, stdout);
		return;
	}
	for (size_t i = 0, begin = 0; i <= len; i++) {
		if (i < len && text[i] != '\n' && text[i] != '\t')
			continue;
		kw_put_safe(stdout, text + begin, i - begin);
		if (i < len)
			fputc(text[i], stdout);
		begin = i + 1;
	}
}

static void name_file(const struct printing *p, const struct kw_row_identity *row,
		      const struct proc_file *file)
{
	fputs("kwalk: /proc/", stderr);
	if (p->path->pid)
		fprintf(stderr, "%" PRId32 "/", row->pid);
	if (p->path->tid)
		fprintf(stderr, "task/%" PRId32 "/", row->tid);
	fputs(file->name, stderr);
}

/* Write the text of a file; on failure say what is missing in *what and *why, which are m's when it is made. */
static bool write_file(struct printing *p, const struct proc_file *file, const struct kw_value *values,
		       struct proc_maker *m, const char **what, const char **why)
{
	*what = m->what;
	*why = m->why;
	return file->make ? file->make(m) : proc_file_print(&p->view, file, values, m->out, what, why);
}

static bool print_file(struct printing *p, const struct proc_file *file, const struct kw_value *values,
		       const struct kw_row_identity *row)
{
	const char *column, *why;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct proc_maker m = { .ctx = p->cli->ctx, .out = out, .task = row };
	bool whole;

	if (!out)
		return false;
	whole = write_file(p, file, values, &m, &column, &why);
	if (fclose(out) != 0) {
		free(text);
		return false;
	}
	if (whole) {
		put_text(p->terminal, text, len);
		p->printed++;
	} else {
		name_file(p, row, file);
		fprintf(stderr, ": %s: %s\n", column, why);
		p->failed++;
	}
	free(text);
	return !ferror(stdout);
}

static bool print_row(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	struct printing *p = arg;
	const struct path *path = p->path;

	if (!matches(path->pid, row->pid) || !matches(path->tid, row->tid))
		return true;
	for (size_t i = 0; !p->full && i < path->nr; values += path->files[i++]->nr)
		p->full = !print_file(p, path->files[i], values, row);
	return !p->full;
}

/* All columns of all files, one after the other, or one all the same; the caller frees it. NULL: out of memory. */
static char *columns_of(const struct printing *p)
{
	char *text = NULL;
	size_t len, nr = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (size_t i = 0; i < p->path->nr; i++) {
		fputs(nr && p->path->files[i]->nr ? "," : "", out);
		proc_file_columns(&p->view, p->path->files[i], out);
		nr += p->path->files[i]->nr;
	}
	fputs(nr ? "" : "pid", out);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int out_of_memory(void)
{
	fputs("kwalk: out of memory\n", stderr);
	return EXIT_UNREADABLE;
}

static kw_status walk(struct printing *p, const char *columns)
{
	const struct path *path = p->path;
	struct kw_query_options options = {
		.size = sizeof(options),
		.source = path->tid   ? "threads"
			  : path->pid ? "tasks"
				      : "system",
		.columns = columns,
		.pids = path->pid && !is_pattern(path->pid) ? path->pid : NULL,
	};
	kw_query *query;
	kw_status status = kw_query_new(p->cli->ctx, &options, &query);

	if (status)
		return status;
	status = kw_query_run(query, print_row, p);
	kw_query_free(query);
	return status;
}

/* All files of the path, of all rows of its place. */
static kw_status print_rows(struct printing *p)
{
	char *columns = columns_of(p);
	kw_status status;

	p->full = !columns;
	if (p->full)
		return KW_OK;
	status = walk(p, columns);
	free(columns);
	return status;
}

/* Files of the system come one by one: most of them are more than one row. */
static kw_status print_system(struct printing *p)
{
	static const struct kw_row_identity none;
	const struct path *path = p->path;
	kw_status status = KW_OK;

	for (size_t i = 0; !status && !p->full && i < path->nr; i++) {
		struct path one = { .files = { path->files[i] }, .nr = 1 };

		p->path = &one;
		if (path->files[i]->make)
			p->full = !print_file(p, path->files[i], NULL, &none);
		else
			status = print_rows(p);
	}
	p->path = path;
	return status;
}

static int no_match(const char *arg, const char *why)
{
	fflush(stdout);
	fprintf(stderr, "kwalk: %s: %s\n", arg, why);
	return EXIT_NO_MATCH;
}

/* Leave out what the kernel has no such file for. */
static void keep_known(const struct proc_view *view, struct path *path)
{
	size_t nr = 0;

	for (size_t i = 0; i < path->nr; i++)
		if (proc_view_has(view, path->files[i]))
			path->files[nr++] = path->files[i];
	path->nr = nr;
}

static int print_path(struct cli *cli, struct path *path, const char *arg)
{
	struct printing p = { .cli = cli, .path = path, .terminal = isatty(STDOUT_FILENO) };
	kw_status status;

	proc_view_init(cli->ctx, path->tid, &p.view);
	keep_known(&p.view, path);
	if (!path->nr)
		return no_match(arg, "this kernel has no such file");
	status = path->pid ? print_rows(&p) : print_system(&p);
	if (status)
		return cli_fail(cli, status);
	if (p.full)
		return ferror(stdout) ? EXIT_OK : out_of_memory(); /* main() tells of a full disk */
	if (p.failed)
		return EXIT_INCOMPLETE;
	if (p.printed)
		return EXIT_OK;
	return no_match(arg, path->tid ? "there is no such thread" : "there is no such process");
}

static bool begins_with(const char *arg, const char *name)
{
	size_t len = strlen(name);

	arg += strspn(arg, "/");
	if (strncmp(arg, "proc/", 5) != 0)
		return false;
	arg += 5 + strspn(arg + 5, "/");
	return strncmp(arg, name, len) == 0 && (!arg[len] || arg[len] == '/');
}

static int unsupported(const char *arg, const struct command *command)
{
	static const char *const places[] = { "/proc/", "/proc/PID/ and /proc/PID/task/TID/" };
	char known[2048] = "";
	const struct proc_file *file;
	size_t used = 0;

	if (begins_with(arg, "self") || begins_with(arg, "thread-self"))
		return cli_usage(command,
				 "\"%s\": self is whoever reads /proc, and nobody reads that of the target; "
				 "name a process by its ID",
				 arg);
	for (int place = PROC_SYSTEM; place <= PROC_TASK; place++) {
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used ? "; in " : "",
					 places[place]);
		for (size_t i = 0; (file = proc_file_at(i)) && used < sizeof(known); i++)
			if ((int)file->place == place)
				used += (size_t)snprintf(known + used, sizeof(known) - used, " %s",
							 file->name);
	}
	return cli_usage(command, "\"%s\" is not supported; what is, in %s", arg, known);
}

static int print_all(struct cli *cli, struct path *paths, char **args, size_t nr)
{
	int code = cli_open(cli), next;

	if (code)
		return code;
	kw_pass_begin(cli->ctx);
	for (size_t i = 0; i < nr && !ferror(stdout); i++) {
		next = print_path(cli, &paths[i], args[i]);
		code = next > code ? next : code;
	}
	kw_pass_end(cli->ctx);
	return code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct path *paths;
	size_t nr, i;
	int code;

	if (!cli_options_only(cli, &cmd_cat, argc, argv, &code))
		return code;
	if (optind == argc)
		return cli_usage(&cmd_cat, "no path given");
	nr = (size_t)(argc - optind);
	paths = calloc(nr, sizeof(*paths));
	if (!paths)
		return out_of_memory();
	code = EXIT_OK;
	for (i = 0; !code && i < nr; i++) {
		if (!parse(argv[optind + i], &paths[i]))
			code = out_of_memory();
		else if (!paths[i].nr)
			code = unsupported(argv[optind + i], &cmd_cat);
	}
	if (!code)
		code = print_all(cli, paths, argv + optind, nr);
	for (i = 0; i < nr; i++)
		free(paths[i].text);
	free(paths);
	return code;
}

const struct command cmd_cat = {
	"cat",
	run,
	"print files of /proc as the kernel would",
	"Usage: kwalk cat PATH...\n"
	"\n"
	"Prints the text of files of /proc, made from kernel memory, byte for byte as the\n"
	"kernel prints it. The words of a path may be patterns of the shell, which belong\n"
	"in quotes:\n"
	"\n"
	"    kwalk cat '/proc/[0-9]*/stat'\n"
	"    kwalk cat '/proc/1/task/*/schedstat' /proc/loadavg\n"
	"\n"
	"In /proc: loadavg, uptime, version, cmdline, stat, meminfo, vmstat, buddyinfo,\n"
	"zoneinfo, schedstat, interrupts, softirqs, modules, filesystems, mounts,\n"
	"slabinfo, swaps.\n"
	"In /proc/PID and /proc/PID/task/TID:\n"
	"stat, statm, status, io, schedstat, comm, cmdline, limits,\n"
	"oom_score_adj, loginuid, sessionid, personality, cgroup, cpuset,\n"
	"wchan, maps, oom_score, timerslack_ns, autogroup; environ when it is named so.\n",
};
