/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other programs.
 *
 *   run     a whole program, from start to end, with its output thrown away; listed from its output: PID, name
 *   server  a program that answers lines as tests/bench/drgn_walk.py does, asked over pipes
 *
 * ARG is the command, its words separated by spaces.
 */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 32, LINE = 1 << 16 };

struct program {
	char *word[MAX_WORDS + 1];
	FILE *to, *from; /* of a server */
};

static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		die("out of memory");
	return copy;
}

static struct program *split(const char *command)
{
	struct program *program = calloc(1, sizeof(*program));
	size_t nr = 0;

	if (!program)
		die("out of memory");
	for (char *word = strtok(copy_of(command), " "); word && nr < MAX_WORDS; word = strtok(NULL, " "))
		program->word[nr++] = word;
	if (!nr)
		die("a way that runs a program needs its command");
	return program;
}

static const char *not_in_path(const char *name)
{
	static char why[128];
	char *path = copy_of(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char full[512];

	for (char *folder = strtok(path, ":"); folder; folder = strtok(NULL, ":")) {
		snprintf(full, sizeof(full), "%s%s%s", *name == '/' ? "" : folder, *name == '/' ? "" : "/",
			 name);
		if (access(full, X_OK) == 0) {
			free(path);
			return NULL;
		}
	}
	free(path);
	snprintf(why, sizeof(why), "there is no %s here", name);
	return why;
}

static pid_t spawn(const struct program *program, int in, int out)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	error = posix_spawnp(&pid, program->word[0], &actions, NULL, program->word, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		die("%s: %s", program->word[0], strerror(error));
	return pid;
}

static const char *open_run(struct way *way)
{
	struct program *program = split(way->arg);

	way->state = program;
	return not_in_path(program->word[0]);
}

void exec_program(const struct way *way)
{
	const struct program *program = way->state;
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	execvp(program->word[0], program->word);
	die("%s: %s", program->word[0], strerror(errno));
}

static void wait_for(pid_t pid, const char *name)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("%s: ended with status %d", name, status);
}

static struct totals pass_run(struct way *way)
{
	struct program *program = way->state;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	wait_for(spawn(program, null, null), program->word[0]);
	close(null);
	return (struct totals){ 0 };
}

/* Lines of a PID and a name; the heading is none of them. */
static void write_listed(FILE *out, char *line)
{
	char *end, *name;
	long pid = strtol(line, &end, 10);

	if (end == line || *end != ' ')
		return;
	name = end + strspn(end, " ");
	fprintf(out, "%ld\t%ld\t", pid, pid);
	write_text(out, name, strcspn(name, "\n"));
	fputc('\n', out);
}

static void list_run(struct way *way, FILE *out)
{
	struct program *program = way->state;
	int pipes[2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char line[LINE];
	FILE *from;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) || !(from = fdopen(pipes[0], "r")))
		die("pipe: %s", strerror(errno));
	pid = spawn(program, null, pipes[1]);
	close(pipes[1]);
	while (fgets(line, sizeof(line), from))
		write_listed(out, line);
	fclose(from);
	close(null);
	wait_for(pid, program->word[0]);
}

static void read_answer(struct program *program, char *line, size_t size)
{
	if (!fgets(line, (int)size, program->from))
		die("%s ended without an answer", program->word[0]);
}

static const char *open_server(struct way *way)
{
	struct program *program = split(way->arg);
	const char *why = not_in_path(program->word[0]);
	int in[2], out[2];
	char line[LINE];

	if (why)
		return why;
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	spawn(program, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	program->to = fdopen(in[1], "w");
	program->from = fdopen(out[0], "r");
	if (!program->to || !program->from)
		die("out of memory");
	way->state = program;
	return fgets(line, sizeof(line), program->from) ? NULL : "it ended with an error, see above";
}

/* Sends a line and takes the answer; times are taken here, the pipes are a small part of them. */
static void ask(struct program *program, const char *question, char *line, size_t size)
{
	fprintf(program->to, "%s\n", question);
	fflush(program->to);
	read_answer(program, line, size);
}

static struct totals pass_server(struct way *way)
{
	char line[LINE];
	unsigned long long rows = 0, values = 0;

	ask(way->state, "drgn 1", line, sizeof(line));
	if (sscanf(line, "%*s %llu %llu", &rows, &values) != 2)
		die("%s: what is \"%s\"?", way->label, line);
	return (struct totals){ rows, values };
}

static void list_server(struct way *way, FILE *out)
{
	char line[LINE];

	ask(way->state, "list", line, sizeof(line));
	for (; strcmp(line, "end\n") != 0; read_answer(way->state, line, sizeof(line)))
		fputs(line, out);
}

const struct kind run_program = { "run", open_run, pass_run, list_run };
const struct kind ask_server = { "server", open_server, pass_server, list_server };
