/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The RAM of a running QEMU.
 *
 * It can be read when QEMU shares it: a memory backend of a file, a memfd or huge pages with share=on. Then
 * /proc/PID/maps lists a shared mapping of a file, the largest one of QEMU's, and that file is opened for reading:
 * by /proc/PID/map_files, which also leads to files that have no name any more, else by its path, else by the
 * descriptor that QEMU holds. The guest is not stopped and does not notice.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/source.h"
#include "util/array.h"
#include "util/error.h"

#define MIN_RAM	    0x100000ULL
#define MAX_LINE    8192
#define MAX_CMDLINE (1 << 20)
#define REMEDY                                                                                              \
	"start it with -object memory-backend-memfd,id=ram,size=SIZE,share=on -machine memory-backend=ram " \
	"(or memory-backend-file,...,share=on)"

/* A file that a process has mapped shared: the range of it, and one of the mappings. */
struct shared_file {
	unsigned int major, minor;
	unsigned long long inode;
	uint64_t from, to;    /* of the file */
	uint64_t first, last; /* address of one mapping */
	char path[MAX_LINE];
};

struct shared_files {
	struct shared_file *item;
	size_t nr, cap;
};

static bool parse_pid(const char *text, int *ret)
{
	char *end;
	long pid;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || *end || pid <= 0 || pid > INT32_MAX)
		return false;
	*ret = (int)pid;
	return true;
}

/* Parse a line of /proc/PID/maps; false for what is no shared mapping of a file. */
static bool parse_line(char *line, struct shared_file *ret)
{
	unsigned long long first, last, offset;
	char perms[8];
	int path = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &first, &last, perms, &offset, &ret->major,
		   &ret->minor, &ret->inode, &path) < 7 ||
	    !path)
		return false;
	if (strlen(perms) != 4 || perms[0] != 'r' || perms[3] != 's' || !ret->inode || first >= last)
		return false;
	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line + path, "anon_inode:", 11))
		return false;
	snprintf(ret->path, sizeof(ret->path), "%s", line + path);
	ret->first = first;
	ret->last = last;
	ret->from = offset;
	ret->to = offset + (last - first);
	return true;
}

/* Add a mapping to the file it belongs to: one block of RAM may be mapped in pieces. */
static bool add_shared(struct shared_files *files, const struct shared_file *found)
{
	for (size_t i = 0; i < files->nr; i++) {
		struct shared_file *file = &files->item[i];

		if (file->inode != found->inode || file->major != found->major || file->minor != found->minor)
			continue;
		if (found->from < file->from)
			file->from = found->from;
		if (found->to > file->to)
			file->to = found->to;
		return true;
	}
	return kw_array_push(files, *found);
}

static kw_status read_maps(kw_ctx *ctx, const struct kw_memory *memory, int pid, struct shared_files *files)
{
	struct shared_file *found = malloc(sizeof(*found));
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *maps;
	bool done = found != NULL;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	err = errno;
	errno = 0;
	while (maps && done && getline(&line, &cap, maps) > 0)
		if (parse_line(line, found))
			done = add_shared(files, found);
	if (maps)
		err = errno;
	free(line);
	free(found);
	if (maps)
		fclose(maps);
	if (!done)
		return kw_fail_nomem(ctx);
	if (err == ENOENT || err == ESRCH)
		return kw_fail(ctx, KW_UNREADABLE, "%s: no such process", memory->name);
	if (err == EACCES || err == EPERM)
		return kw_fail(ctx, KW_DENIED, "%s: not permitted to look at this process; %s", memory->name,
			       geteuid() ? "run as root" : "a sandbox or a security module forbids it");
	return err ? kw_fail_errno(ctx, err, "%s: %s", memory->name, path) : KW_OK;
}

static uint64_t size_of(const struct shared_file *file)
{
	return file->to - file->from;
}

/* Read the command line; the NULs between its words become spaces. Empty when it can't be had. */
static char *read_command_line(int pid)
{
	char path[64], *text = calloc(1, MAX_CMDLINE);
	ssize_t len = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (text && fd >= 0)
		len = read(fd, text, MAX_CMDLINE - 1);
	for (ssize_t i = 0; i < len; i++)
		if (!text[i])
			text[i] = ' ';
	if (fd >= 0)
		close(fd);
	return text;
}

static size_t count_words(const char *text, const char *word)
{
	size_t nr = 0;

	for (text = strstr(text, word); text; text = strstr(text + 1, word))
		nr++;
	return nr;
}

/* Choose the RAM among the shared files. */
static kw_status choose(kw_ctx *ctx, const struct kw_memory *memory, const struct shared_files *files,
			const char *command_line, const struct shared_file **ret)
{
	const struct shared_file *best = NULL;
	size_t big = 0;

	for (size_t i = 0; i < files->nr; i++) {
		if (size_of(&files->item[i]) < MIN_RAM)
			continue;
		big++;
		if (!best || size_of(&files->item[i]) > size_of(best))
			best = &files->item[i];
	}
	if (!best)
		return kw_fail(ctx, KW_UNREADABLE, "%s: this process shares no RAM; if it is QEMU, " REMEDY,
			       memory->name);
	/* NUMA nodes and plugged modules name their backends so; the order of them in physical memory is QEMU's. */
	if (big > 1 && count_words(command_line, "memdev=") > 1)
		return kw_fail(
			ctx, KW_UNSUPPORTED,
			"%s: the RAM lies in several backends (NUMA nodes or memory modules), which this "
			"version does not read; use one backend, or dump-guest-memory",
			memory->name);
	*ret = best;
	return KW_OK;
}

static bool is_same_file(int fd, const struct shared_file *file)
{
	struct stat st;

	/* The device is not compared: some file systems show another one in maps. */
	return !fstat(fd, &st) && st.st_ino == file->inode;
}

static int open_if_same(const char *path, const struct shared_file *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !is_same_file(fd, file)) {
		close(fd);
		errno = ENOENT;
		return -1;
	}
	return fd;
}

static int open_descriptor(int pid, const struct shared_file *file)
{
	char path[512];
	struct dirent *entry;
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && fd < 0 && (entry = readdir(dir))) {
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, entry->d_name);
		/* Look first: to open some devices has effects. */
		if (entry->d_name[0] != '.' && !stat(path, &st) && st.st_ino == file->inode &&
		    S_ISREG(st.st_mode))
			fd = open_if_same(path, file);
	}
	if (dir)
		closedir(dir);
	return fd;
}

static kw_status open_shared(kw_ctx *ctx, struct kw_memory *memory, int pid, const struct shared_file *file)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)file->first,
		 (unsigned long long)file->last);
	memory->fd = open_if_same(path, file);
	if (memory->fd < 0)
		memory->fd = open_if_same(file->path, file);
	err = errno;
	if (memory->fd < 0)
		memory->fd = open_descriptor(pid, file);
	if (memory->fd >= 0)
		return KW_OK;
	if (err == ENOENT)
		err = EACCES;
	return kw_fail_errno(ctx, err, "%s: its RAM, %s", memory->name, file->path);
}

static kw_status setup(kw_ctx *ctx, struct kw_memory *memory, const struct shared_file *file,
		       const char *command_line)
{
	uint64_t split, size = size_of(file);
	struct stat st;
	kw_status status;

	if (fstat(memory->fd, &st))
		return kw_fail_errno(ctx, errno, "%s: %s", memory->name, file->path);
	memory->kind = KW_SOURCE_QEMU;
	memory->live = true;
	memory->file_size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : file->to;
	if (file->from % PAGE_BYTES || size % PAGE_BYTES || file->to > memory->file_size)
		return kw_fail(ctx, KW_UNREADABLE, "%s: its RAM, %s, is shorter than what is mapped of it",
			       memory->name, file->path);
	memory->ram.offset = file->from;
	memory->ram.size = size;
	split = kw_ram_guess_split(size, strstr(command_line, "q35") != NULL);
	status = kw_ram_setup(ctx, memory, split);
	if (status != KW_OK)
		return status;
	return kw_memory_describe(ctx, memory, "running QEMU, %llu MiB of RAM in %s, %s",
				  (unsigned long long)(size >> 20), file->path,
				  memory->ram.map ? "mapped" : "read with pread");
}

kw_status kw_qemu_open(kw_ctx *ctx, struct kw_memory *memory, const char *text)
{
	struct shared_files files = { 0 };
	const struct shared_file *file = NULL;
	char *command_line;
	kw_status status;
	int pid;

	if (!parse_pid(text, &pid))
		return kw_fail(ctx, KW_INVALID,
			       "%s: no process number after \"qemu:\"; for a file of this name give "
			       "./%s",
			       memory->name, memory->name);
	command_line = read_command_line(pid);
	if (!command_line)
		return kw_fail_nomem(ctx);
	status = read_maps(ctx, memory, pid, &files);
	if (status == KW_OK)
		status = choose(ctx, memory, &files, command_line, &file);
	if (status == KW_OK)
		status = open_shared(ctx, memory, pid, file);
	if (status == KW_OK)
		status = setup(ctx, memory, file, command_line);
	free(files.item);
	free(command_line);
	return status;
}
