/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing what a script gives. */
#include "cli/script_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NR_TIMES 2 /* columns in front of those of a block: time and monotonic */

static bool fail(struct script_output *o, const char *what)
{
	if (!o->is_failing)
		fprintf(stderr, "kwalk: %s: %s: %s%s\n", o->how.path ? o->how.path : "standard output", what,
			errno ? strerror(errno) : "failed",
			o->how.go_on ? "; the script goes on, and tries again" : "");
	o->is_failing = true;
	o->code = EXIT_INCOMPLETE;
	return o->how.go_on;
}

static bool no_memory(struct script_output *o)
{
	errno = ENOMEM;
	o->how.go_on = false;
	return fail(o, "writing");
}

void script_output_begin(struct script_output *o, struct cli *cli)
{
	*o = (struct script_output){ .cli = cli, .how = { .format = cli->format }, .out = stdout, .fd = -1 };
}

/* Writers */

static void end_writer(struct script_output *o)
{
	if (o->writer && kw_writer_end(o->writer) && o->fd < 0) {
		fail(o, "writing");
		o->how.go_on = false;
	}
	o->writer = NULL;
	free(o->columns);
	free(o->values);
	o->columns = NULL;
	o->values = NULL;
}

static bool is_table(const struct script_output *o)
{
	return o->how.format == KW_FORMAT_TABLE;
}

/* Tables have the time in a line of its own, other formats in columns. */
static size_t nr_times(const struct script_output *o, const struct kw_script_block *block)
{
	return block->sample && !is_table(o) ? NR_TIMES : 0;
}

static bool set_columns(struct script_output *o, const struct kw_script_block *block)
{
	static const struct kw_column times[NR_TIMES] = {
		{ "time", "TIME", KW_VAL_UINT, KW_UNIT_TIMESTAMP, KW_SHOW_PLAIN },
		{ "monotonic", "MONOTONIC", KW_VAL_UINT, KW_UNIT_NANOSECONDS, KW_SHOW_PLAIN },
	};
	size_t first = nr_times(o, block), nr = first + block->nr_columns;

	o->columns = calloc(nr, sizeof(*o->columns));
	o->values = calloc(nr, sizeof(*o->values));
	if (!o->columns || !o->values)
		return no_memory(o);
	o->nr_columns = nr;
	memcpy(o->columns, times, first * sizeof(*times));
	memcpy(o->columns + first, block->columns, block->nr_columns * sizeof(*block->columns));
	return true;
}

static bool rotates(const struct script_output *o)
{
	return o->how.rotate_size || o->how.rotate_time;
}

static void set_text(char **text, char *to)
{
	free(*text);
	*text = to;
}

/* Keep the heading of the columns, for a file that is begun amid their rows. */
static bool keep_heading(struct script_output *o)
{
	const struct kw_writer_options opts = { .size = sizeof(opts), .format = o->how.format };
	kw_writer *writer;
	char *text = NULL;
	size_t length;
	bool good = true;
	FILE *out;

	set_text(&o->heading, NULL);
	if (!rotates(o) || o->cli->no_headers ||
	    (o->how.format != KW_FORMAT_CSV && o->how.format != KW_FORMAT_TSV))
		return true;
	out = open_memstream(&text, &length);
	if (!out)
		return false;
	good = kw_writer_begin(o->cli->ctx, out, &opts, o->columns, o->nr_columns, &writer) == KW_OK &&
	       kw_writer_end(writer) == KW_OK;
	good = fclose(out) == 0 && good;
	set_text(&o->heading, text);
	return good;
}

static bool begin_writer(struct script_output *o, const struct kw_script_block *block)
{
	struct kw_writer_options opts = {
		.size = sizeof(opts),
		.format = o->how.format,
		.no_headers = o->cli->no_headers || (o->fd >= 0 && o->has_columns && o->line == block->line),
	};

	if (!set_columns(o, block))
		return false;
	o->line = block->line;
	o->has_columns = true;
	/* The first rows of this piece of the file say themselves what they are. */
	if (!opts.no_headers && o->fd >= 0 && ftello(o->out) == 0)
		set_text(&o->amid_heading, NULL);
	if (!keep_heading(o) ||
	    kw_writer_begin(o->cli->ctx, o->out, &opts, o->columns, o->nr_columns, &o->writer))
		return no_memory(o);
	return true;
}

static void show_time(struct script_output *o, const struct kw_sample *sample)
{
	time_t seconds = (time_t)(sample->realtime / 1000000000);
	char text[64];
	struct tm tm;

	if (o->is_time_shown || !localtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	fprintf(o->out, "%s%s.%03u\n", o->is_anything_shown ? "\n" : "", text,
		(unsigned int)(sample->realtime / 1000000 % 1000));
	o->is_time_shown = true;
}

static bool begin_block(struct script_output *o, const struct kw_script_block *block)
{
	if (is_table(o) || o->line != block->line)
		end_writer(o);
	if (is_table(o) && block->sample)
		show_time(o, block->sample);
	else if (o->is_anything_shown && is_table(o))
		fputc('\n', o->out);
	o->is_anything_shown = true;
	return o->writer || begin_writer(o, block);
}

bool script_output_row(const struct kw_script_block *block, const struct kw_value *values, bool first,
		       void *arg)
{
	struct script_output *o = arg;
	size_t times = nr_times(o, block);

	if (first && !begin_block(o, block))
		return false;
	if (times) {
		o->values[0] = (struct kw_value){ .type = KW_VAL_UINT, .u = block->sample->realtime };
		o->values[1] = (struct kw_value){ .type = KW_VAL_UINT, .u = block->sample->monotonic };
	}
	memcpy(o->values + times, values, block->nr_columns * sizeof(*values));
	if (kw_writer_row(o->writer, o->values, 0) == KW_OK)
		return true;
	/* What is written to memory fails for want of it. */
	return fail(o, "writing");
}

static bool flush_now(struct script_output *o);

bool script_output_end_block(const struct kw_script_block *block, void *arg)
{
	struct script_output *o = arg;

	if (is_table(o))
		end_writer(o);
	return block->sample || flush_now(o);
}

bool script_output_print(const char *text, size_t len, const struct kw_sample *sample, void *arg)
{
	struct script_output *o = arg;

	/* Beside rows that programs read a text would be noise. */
	if (!is_table(o)) {
		kw_put_safe(stderr, text, len);
		fputc('\n', stderr);
		return true;
	}
	if (sample)
		show_time(o, sample);
	o->is_anything_shown = true;
	kw_put_safe(o->out, text, len);
	fputc('\n', o->out);
	return sample || flush_now(o);
}

/* Files */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void move_aside(const struct script_output *o)
{
	size_t size = strlen(o->how.path) + 16;
	char *from = malloc(size), *to = malloc(size);

	for (unsigned int i = o->how.keep; from && to && i > 0; i--) {
		snprintf(to, size, "%s.%u", o->how.path, i);
		if (i > 1)
			snprintf(from, size, "%s.%u", o->how.path, i - 1);
		else
			snprintf(from, size, "%s", o->how.path);
		rename(from, to);
	}
	free(from);
	free(to);
}

static bool open_file(struct script_output *o)
{
	struct stat st;

	if (rotates(o) && stat(o->how.path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size)
		move_aside(o);
	errno = 0;
	o->fd = open(o->how.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	o->size = 0;
	o->opened = now_ns();
	o->has_columns = false;
	return o->fd >= 0;
}

static bool is_due(const struct script_output *o)
{
	if (!o->size || !rotates(o))
		return false;
	return (o->how.rotate_size && o->size + o->length > o->how.rotate_size) ||
	       (o->how.rotate_time && now_ns() - o->opened >= o->how.rotate_time);
}

/* Take back what could only be written in part. A pipe or a device keeps it. */
static bool write_whole(struct script_output *o)
{
	size_t done = 0;

	while (done < o->length) {
		ssize_t n = write(o->fd, o->buffer + done, o->length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int error = errno;

			if (done && ftruncate(o->fd, (off_t)o->size) == 0)
				lseek(o->fd, (off_t)o->size, SEEK_SET);
			errno = error;
			return false;
		}
		done += (size_t)n;
	}
	o->size += done;
	return true;
}

/* The stream into memory begins anew. It stays the same one: a writer that goes on with the next tick writes to it. */
static bool rewind_buffer(struct script_output *o)
{
	return (fseeko(o->out, 0, SEEK_SET) == 0 && fflush(o->out) == 0) || no_memory(o);
}

/* Put the heading in front of a piece that begins a new file, and goes on with rows of the one before. */
static bool put_heading(struct script_output *o)
{
	size_t length = o->length;
	char *piece;
	bool good;

	if (!o->amid_heading)
		return true;
	piece = malloc(length + 1);
	if (!piece)
		return no_memory(o);
	memcpy(piece, o->buffer, length);
	good = rewind_buffer(o) && fputs(o->amid_heading, o->out) >= 0 &&
	       fwrite(piece, 1, length, o->out) == length && fflush(o->out) == 0;
	free(piece);
	return good || no_memory(o);
}

/* Rows that come next without a heading are of the columns that were written last. */
static bool note_heading(struct script_output *o)
{
	char *copy = o->has_columns && o->heading ? strdup(o->heading) : NULL;

	if (o->has_columns && o->heading && !copy)
		return no_memory(o);
	set_text(&o->amid_heading, copy);
	return true;
}

static bool write_file(struct script_output *o)
{
	bool good, has_columns = o->has_columns;

	if (fflush(o->out))
		return no_memory(o);
	if (!o->length)
		return true;
	if (is_due(o)) {
		close(o->fd);
		good = open_file(o) && put_heading(o) && write_whole(o);
		o->has_columns = has_columns;
	} else {
		good = write_whole(o);
	}
	if (good) {
		o->is_failing = false;
	} else {
		bool goes_on = fail(o, "writing");

		/* What is written next begins with its heading, which may be lost. */
		end_writer(o);
		o->has_columns = false;
		if (!goes_on)
			return false;
	}
	return rewind_buffer(o) && note_heading(o);
}

static bool flush_now(struct script_output *o)
{
	errno = 0;
	if (o->fd < 0)
		return fflush(o->out) == 0 || fail(o, "writing");
	if (o->how.format == KW_FORMAT_JSON)
		end_writer(o);
	return write_file(o);
}

bool script_output_tick(const struct kw_sample *sample, void *arg)
{
	struct script_output *o = arg;

	if (sample->missed)
		fprintf(stderr, "kwalk: %" PRIu64 " tick%s missed before tick %" PRIu64 "\n", sample->missed,
			sample->missed == 1 ? "" : "s", sample->tick);
	o->is_time_shown = false;
	return flush_now(o);
}

static void end_file(struct script_output *o)
{
	end_writer(o);
	if (o->fd < 0) {
		if (fflush(stdout))
			fail(o, "writing");
		return;
	}
	if (!o->is_failing)
		write_file(o);
	if (o->out)
		fclose(o->out);
	free(o->buffer);
	set_text(&o->heading, NULL);
	set_text(&o->amid_heading, NULL);
	if (close(o->fd))
		fail(o, "closing");
	o->fd = -1;
	o->buffer = NULL;
	o->length = 0;
}

bool script_output_change(const struct kw_script_output *how, void *arg)
{
	struct script_output *o = arg;

	end_file(o);
	o->how = *how;
	o->out = stdout;
	o->line = 0;
	o->is_anything_shown = false;
	if (!how->path)
		return true;
	if (!open_file(o)) {
		o->how.go_on = false;
		return fail(o, "can't be opened");
	}
	o->out = open_memstream(&o->buffer, &o->length);
	return o->out || no_memory(o);
}

int script_output_end(struct script_output *o)
{
	end_file(o);
	return o->code;
}
