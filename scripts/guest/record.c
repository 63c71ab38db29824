/*
 * Writes /proc down from one process, into memory that it had before, without a fork.
 *
 * The archive lies in locked pages of this guest, and the host takes it out of the frozen RAM by their page
 * numbers: nothing has to run between the last file read and the freeze. Layout, little-endian:
 *
 *	header	"KWTRUTH1", u64 bytes used, u64 records, u64 pages that moved meanwhile
 *	record	"KWRC", u32 name length, u32 data length, i32 errno, name, data
 *
 * A file that could not be read is a record with an errno and no data.
 */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_PIDS = 200000, FILLER_ARENA = 12 << 10, MAX_READ = 1 << 20 };

struct header {
	char magic[8];
	uint64_t used, records, moved;
};

static struct {
	char *base;
	size_t size, used;
	uint64_t *pfn; /* of each page, as told to the host */
	uint64_t records;
	bool full;
	pid_t *pid;
	bool *filler;
	unsigned pids;
} arena;

static const char *const early_files[] = {
	"cgroup",    "cpuset",	    "comm",	     "cmdline",	      "limits",	  "wchan",
	"maps",	     "environ",	    "oom_score",     "oom_score_adj", "loginuid", "sessionid",
	"autogroup", "personality", "timerslack_ns", "stack",	      "syscall",
};
static const char *const late_files[] = { "sched", "io", "schedstat", "status", "statm", "stat" };
static const char *const filler_early_files[] = { "cgroup", "cpuset", "comm", "cmdline" };
static const char *const filler_late_files[] = { "io", "schedstat", "status", "statm", "stat" };
static const char *const links[] = {
	"exe",
	"cwd",
	"root",
	"ns/cgroup",
	"ns/ipc",
	"ns/mnt",
	"ns/net",
	"ns/pid",
	"ns/pid_for_children",
	"ns/time",
	"ns/time_for_children",
	"ns/user",
	"ns/uts",
};
static const char *const early_globals[] = {
	"/proc/kallsyms",
	"/proc/modules",
	"/proc/mounts",
	"/proc/self/mountinfo",
	"/proc/version",
	"/proc/cmdline",
	"/proc/filesystems",
	"/proc/cpuinfo",
	"/proc/swaps",
	"/proc/vmallocinfo",
	"/proc/iomem",
	"/proc/ioports",
	"/proc/devices",
	"/proc/misc",
	"/proc/cgroups",
	"/proc/consoles",
	"/proc/locks",
	"/proc/net/dev",
	"/proc/sys/kernel/osrelease",
	"/proc/sys/kernel/version",
	"/proc/sys/kernel/hostname",
	"/proc/sys/kernel/pid_max",
	"/proc/sys/kernel/threads-max",
	"/proc/sys/kernel/tainted",
	"/proc/sys/kernel/random/boot_id",
	"/proc/sys/kernel/core_pattern",
	"/proc/sys/vm/overcommit_memory",
	"/proc/sys/vm/overcommit_ratio",
	"/sys/kernel/notes",
	"/sys/kernel/vmcoreinfo",
	"/sys/kernel/btf/vmlinux",
	"/proc/pagetypeinfo",
};
static const char *const late_globals[] = {
	"/proc/slabinfo",   "/proc/zoneinfo",  "/proc/buddyinfo",  "/proc/vmstat",
	"/proc/meminfo",    "/proc/schedstat", "/proc/timer_list", "/proc/loadavg",
	"/proc/interrupts", "/proc/softirqs",  "/proc/stat",	   "/proc/uptime",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t page_number(int pagemap, const void *address)
{
	uint64_t entry = 0;
	off_t at = (off_t)((uintptr_t)address / PAGE * sizeof(entry));

	if (pread(pagemap, &entry, sizeof(entry), at) != sizeof(entry) || !(entry >> 63))
		return 0;
	return entry & ((1ULL << 55) - 1);
}

static void tell_pages(void)
{
	size_t pages = arena.size / PAGE;

	port_control("ARENA %zu\n", arena.size);
	for (size_t first = 0, next; first < pages; first = next) {
		for (next = first + 1; next < pages && arena.pfn[next] == arena.pfn[next - 1] + 1; next++)
			;
		port_control("PAGES %llu %zu\n", (unsigned long long)arena.pfn[first], next - first);
	}
}

bool record_prepare(unsigned processes)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;

	arena.size = (64UL << 20) + (size_t)processes * FILLER_ARENA;
	arena.base = mmap(NULL, arena.size, PROT_READ | PROT_WRITE, flags, -1, 0);
	arena.pfn = calloc(arena.size / PAGE, sizeof(*arena.pfn));
	arena.pid = calloc(MAX_PIDS, sizeof(*arena.pid));
	arena.filler = calloc(MAX_PIDS, sizeof(*arena.filler));
	if (pagemap < 0 || arena.base == MAP_FAILED || !arena.pfn || !arena.pid || !arena.filler ||
	    mlock(arena.base, arena.size)) {
		perror("record: archive memory");
		return false;
	}
	memset(arena.base, 0, arena.size);
	memset(arena.pid, 0xff, MAX_PIDS * sizeof(*arena.pid));
	memset(arena.filler, 1, MAX_PIDS * sizeof(*arena.filler));
	for (size_t i = 0; i < arena.size / PAGE; i++)
		arena.pfn[i] = page_number(pagemap, arena.base + i * PAGE);
	close(pagemap);
	tell_pages();
	return true;
}

/* Start a record; its data are then appended straight behind it. Returns where its lengths lie. */
static char *begin(const char *name)
{
	size_t len = strlen(name);

	if (arena.full || arena.size - arena.used < 16 + len + PAGE) {
		arena.full = true;
		return NULL;
	}
	char *head = arena.base + arena.used;
	uint32_t name_len = (uint32_t)len;
	memcpy(head, "KWRC", 4);
	memcpy(head + 4, &name_len, 4);
	memcpy(head + 16, name, len);
	arena.used += 16 + len;
	return head;
}

static void end(char *head, size_t data_len, int error)
{
	uint32_t len = error ? 0 : (uint32_t)data_len;
	int32_t code = error;

	memcpy(head + 8, &len, 4);
	memcpy(head + 12, &code, 4);
	arena.used += len;
	arena.records++;
}

static void record_bytes(const char *name, const void *data, size_t len)
{
	char *head = begin(name);

	if (!head || arena.size - arena.used < len) {
		arena.full = true;
		return;
	}
	memcpy(arena.base + arena.used, data, len);
	end(head, len, 0);
}

/* How much to ask for behind len bytes of a file: /proc/sys refuses a buffer of megabytes. */
static size_t chunk(size_t len)
{
	size_t room = arena.size - arena.used - len;

	return room < MAX_READ ? room : MAX_READ;
}

static void record_file(const char *path, const char *name)
{
	char *head = begin(name);
	size_t len = 0;
	ssize_t got = -1;

	if (!head)
		return;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		end(head, 0, errno);
		return;
	}
	while ((got = read(fd, arena.base + arena.used + len, chunk(len))) > 0)
		len += (size_t)got;
	int error = got < 0 ? errno : 0;
	close(fd);
	if (len == arena.size - arena.used)
		arena.full = true;
	end(head, len, error);
}

static void record_link(const char *path)
{
	char *head = begin(path + 1);

	if (!head)
		return;
	ssize_t len = readlink(path, arena.base + arena.used, PAGE);
	end(head, len < 0 ? 0 : (size_t)len, len < 0 ? errno : 0);
}

static void record_under(const char *dir, const char *const *names, size_t count)
{
	char path[160];

	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		record_file(path, path + 1);
	}
}

#define MAX_DESCRIBED 20 /* files of a process */

/* Where an open file stands and how it was opened, as /proc/PID/fdinfo has them: "NUMBER POS FLAGS", the last octal. */
static int describe_fd(const char *dir, const char *number, char *line, size_t size)
{
	char path[420], text[256] = "";
	long long pos = -1;
	unsigned flags = 0;

	snprintf(path, sizeof(path), "%s/fdinfo/%s", dir, number);
	int fd = open(path, O_RDONLY);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (len <= 0 || sscanf(text, "pos: %lld flags: %o", &pos, &flags) != 2)
		return 0;
	return snprintf(line, size, "%s %lld %o\n", number, pos, flags);
}

/* "fd.links": one line "NUMBER TARGET" for each open file; "fd.count": how many lines; "fd.info": see above. */
static void record_fds(const char *dir)
{
	char path[160], name[170], target[1024], line[1100], count[24];
	static char text[256 << 10], info[64 << 10];
	size_t used = 0, described = 0;
	unsigned fds = 0;

	snprintf(path, sizeof(path), "%s/fd", dir);
	snprintf(name, sizeof(name), "%s.count", path + 1);
	DIR *files = opendir(path);
	if (!files) {
		char *head = begin(name);
		if (head)
			end(head, 0, errno);
		return;
	}
	for (struct dirent *file; (file = readdir(files));) {
		char link[420];
		if (file->d_name[0] == '.')
			continue;
		snprintf(link, sizeof(link), "%s/%s", path, file->d_name);
		ssize_t len = readlink(link, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = 0;
		int width = snprintf(line, sizeof(line), "%s %s\n", file->d_name, target);
		if (used + (size_t)width < sizeof(text)) {
			memcpy(text + used, line, (size_t)width);
			used += (size_t)width;
		}
		/* Opening many more files would be seen in the slabs that are recorded. */
		width = fds < MAX_DESCRIBED ? describe_fd(dir, file->d_name, line, sizeof(line)) : 0;
		if (described + (size_t)width < sizeof(info)) {
			memcpy(info + described, line, (size_t)width);
			described += (size_t)width;
		}
		fds++;
	}
	closedir(files);
	record_bytes(name, count, (size_t)snprintf(count, sizeof(count), "%u\n", fds));
	snprintf(name, sizeof(name), "%s.links", path + 1);
	record_bytes(name, text, used);
	snprintf(name, sizeof(name), "%s.info", path + 1);
	record_bytes(name, info, described);
}

static void record_links(const char *dir)
{
	char path[160];

	for (size_t i = 0; i < COUNT(links); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, links[i]);
		record_link(path);
	}
}

static void each_thread(const char *dir, void (*record)(const char *dir))
{
	char path[160], thread[420];

	snprintf(path, sizeof(path), "%s/task", dir);
	DIR *tasks = opendir(path);
	if (!tasks)
		return;
	for (struct dirent *task; (task = readdir(tasks));) {
		if (task->d_name[0] == '.')
			continue;
		snprintf(thread, sizeof(thread), "%s/%s", path, task->d_name);
		record(thread);
	}
	closedir(tasks);
}

static void thread_early(const char *dir)
{
	record_under(dir, early_files, COUNT(early_files));
	record_links(dir);
}

static void thread_late(const char *dir)
{
	record_under(dir, late_files, COUNT(late_files));
}

static bool is_filler(const char *dir)
{
	char path[160], comm[32];

	snprintf(path, sizeof(path), "%s/comm", dir);
	return read_text(path, comm, sizeof(comm)) > 0 && strcmp(comm, "filler\n") == 0;
}

static void list_processes(void)
{
	DIR *proc = opendir("/proc");

	arena.pids = 0;
	if (!proc)
		return;
	for (struct dirent *entry; (entry = readdir(proc)) && arena.pids < MAX_PIDS;) {
		char *rest;
		long pid = strtol(entry->d_name, &rest, 10);
		if (rest != entry->d_name && !*rest)
			arena.pid[arena.pids++] = (pid_t)pid;
	}
	closedir(proc);
}

static void processes_early(void)
{
	for (unsigned i = 0; i < arena.pids; i++) {
		char dir[32];
		snprintf(dir, sizeof(dir), "/proc/%d", arena.pid[i]);
		arena.filler[i] = is_filler(dir);
		if (arena.filler[i]) {
			record_under(dir, filler_early_files, COUNT(filler_early_files));
			continue;
		}
		record_under(dir, early_files, COUNT(early_files));
		record_links(dir);
		record_fds(dir);
		each_thread(dir, thread_early);
	}
}

static void processes_late(void)
{
	for (unsigned i = 0; i < arena.pids; i++) {
		char dir[32];
		snprintf(dir, sizeof(dir), "/proc/%d", arena.pid[i]);
		if (arena.filler[i]) {
			record_under(dir, filler_late_files, COUNT(filler_late_files));
			continue;
		}
		record_under(dir, late_files, COUNT(late_files));
		each_thread(dir, thread_late);
	}
}

static void record_zoo(const struct zoo_registry *zoo)
{
	static char text[ZOO_MAX * 64];
	size_t used = 0;

	for (unsigned i = 0; i < zoo->count; i++) {
		const struct zoo_entry *entry = &zoo->entry[i];
		if (entry->ready)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\t%d\t%d\n",
						 entry->name, entry->pid, entry->tid);
	}
	record_bytes("zoo.tsv", text, used);
}

static void record_clock(const char *name)
{
	struct timespec boot, mono, real;
	char text[200];

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	int len = snprintf(text, sizeof(text),
			   "BOOTTIME=%lld.%09ld\nMONOTONIC=%lld.%09ld\nREALTIME=%lld.%09ld\n",
			   (long long)boot.tv_sec, boot.tv_nsec, (long long)mono.tv_sec, mono.tv_nsec,
			   (long long)real.tv_sec, real.tv_nsec);
	record_bytes(name, text, (size_t)len);
}

static void globals(const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		record_file(paths[i], paths[i] + 1);
}

static uint64_t moved_pages(void)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t moved = 0;

	for (size_t i = 0; i <= arena.used / PAGE; i++)
		moved += page_number(pagemap, arena.base + i * PAGE) != arena.pfn[i];
	close(pagemap);
	return moved;
}

static void finish(void)
{
	struct header header = { "KWTRUTH1", arena.used, arena.records, 0 };

	header.moved = moved_pages();
	memcpy(arena.base, &header, sizeof(header));
}

bool record_all(const struct zoo_registry *zoo)
{
	arena.used = sizeof(struct header);
	arena.records = 0;
	list_processes();
	record_zoo(zoo);
	globals(early_globals, COUNT(early_globals));
	processes_early();
	record_clock("clock.late");
	processes_late();
	globals(late_globals, COUNT(late_globals));
	record_clock("clock.end");
	finish();
	return !arena.full;
}
