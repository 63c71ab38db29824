/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a kernel with src/kmod/kcore-mmap-6.1.patch lets be mapped of /proc/kcore, and what it refuses. Runs as root in a guest,
 * prints "ok NAME" and "not ok NAME WHY" lines. Arguments: "segments" prints what the file's headers say, "lockdown" locks the
 * kernel down, "user-page" shows a page of its own and waits.
 *
 * A page of the kernel's own is had by way of a pipe: what is written to it lies in a page that belongs to no process, and is
 * found by its content in the mapped RAM.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kernel-page-flags.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	     4096UL
#define IMAGE	     0xffffffff80000000ULL
#define MAX_SEGMENTS 64

enum kind { TEXT, RAM, OTHER };

struct segment {
	enum kind kind;
	uint64_t vaddr, paddr, offset, size;
	const uint8_t *map;
};

static const char *const kind_names[] = { "text", "ram", "other" };
static struct segment segments[MAX_SEGMENTS];
static size_t nr_segments;
static int kcore = -1;
static int failures;

static sigjmp_buf on_fault;
static volatile sig_atomic_t expecting;

static void fault(int sig)
{
	if (expecting)
		siglongjmp(on_fault, sig);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Read one byte: the signal that it raises, or 0. */
static int touch(const volatile uint8_t *addr)
{
	int sig = sigsetjmp(on_fault, 1);

	if (!sig) {
		expecting = 1;
		(void)*addr;
	}
	expecting = 0;
	return sig;
}

static bool is_readable(const uint8_t *addr)
{
	return touch(addr) == 0;
}

static void check(bool good, const char *name, const char *why)
{
	if (good)
		printf("ok %s\n", name);
	else
		printf("not ok %s %s (%s)\n", name, why, strerror(errno));
	fflush(stdout);
	failures += !good;
}

static void die(const char *what)
{
	printf("not ok prober %s: %s\n", what, strerror(errno));
	exit(1);
}

static void read_segments(void)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;

	nr_segments = 0;
	kcore = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (kcore < 0 || pread(kcore, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr))
		die("/proc/kcore");
	for (unsigned int i = 0; i < ehdr.e_phnum && nr_segments < MAX_SEGMENTS; i++) {
		off_t at = (off_t)(ehdr.e_phoff + i * sizeof(phdr));

		if (pread(kcore, &phdr, sizeof(phdr), at) != sizeof(phdr))
			die("program headers");
		if (phdr.p_type != PT_LOAD)
			continue;
		segments[nr_segments++] = (struct segment){
			.kind = phdr.p_paddr == UINT64_MAX ? OTHER
				: phdr.p_vaddr >= IMAGE	   ? TEXT
							   : RAM,
			.vaddr = phdr.p_vaddr,
			.paddr = phdr.p_paddr,
			.offset = phdr.p_offset,
			.size = phdr.p_memsz,
		};
	}
}

static int print_segments(void)
{
	for (size_t i = 0; i < nr_segments; i++)
		printf("%s %#lx %#lx\n", kind_names[segments[i].kind], segments[i].offset, segments[i].size);
	return 0;
}

static const uint8_t *map(uint64_t offset, uint64_t size, int prot, int flags)
{
	const uint8_t *addr = mmap(NULL, size, prot, flags, kcore, (off_t)offset);

	return addr == MAP_FAILED ? NULL : addr;
}

static const uint8_t *map_segment(const struct segment *segment)
{
	return map(segment->offset, segment->size, PROT_READ, MAP_SHARED);
}

static const struct segment *first(enum kind kind)
{
	for (size_t i = 0; i < nr_segments; i++)
		if (segments[i].kind == kind)
			return &segments[i];
	die("no such segment");
	return NULL;
}

static void map_all(void)
{
	bool good = true;

	for (size_t i = 0; i < nr_segments; i++) {
		if (segments[i].kind == OTHER)
			continue;
		segments[i].map = map_segment(&segments[i]);
		good &= segments[i].map != NULL;
	}
	check(good, "maps-text-and-ram", "mmap was refused");
	if (!good)
		exit(1);
}

/* Where a page frame is seen in the mapped RAM; NULL where it is in no segment. */
static const uint8_t *frame(uint64_t pfn)
{
	uint64_t paddr = pfn * PAGE;

	for (size_t i = 0; i < nr_segments; i++)
		if (segments[i].kind == RAM && paddr - segments[i].paddr < segments[i].size)
			return segments[i].map + (paddr - segments[i].paddr);
	return NULL;
}

static bool refuses(uint64_t offset, uint64_t size, int prot, int flags, int err)
{
	const uint8_t *addr;

	errno = 0;
	addr = map(offset, size, prot, flags);
	if (addr)
		munmap((void *)addr, size);
	return !addr && errno == err;
}

static bool refuses_other_segments(void)
{
	for (size_t i = 0; i < nr_segments; i++)
		if (segments[i].kind == OTHER &&
		    !refuses(segments[i].offset, PAGE, PROT_READ, MAP_SHARED, ENODEV))
			return false;
	return true;
}

static bool vm_flags_are_right(const uint8_t *addr)
{
	static const char *const wanted[] = { " rd", " pf", " io", " dc", " de", " dd" };
	static const char *const unwanted[] = { " wr", " ex", " mw", " me" };
	FILE *smaps = fopen("/proc/self/smaps", "r");
	char line[512], start[32];
	bool found = false, good = true;

	snprintf(start, sizeof(start), "%lx-", (unsigned long)addr);
	while (smaps && fgets(line, sizeof(line), smaps)) {
		found |= !strncmp(line, start, strlen(start));
		if (!found || strncmp(line, "VmFlags:", 8))
			continue;
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			good &= strstr(line, wanted[i]) != NULL;
		for (size_t i = 0; i < sizeof(unwanted) / sizeof(*unwanted); i++)
			good &= strstr(line, unwanted[i]) == NULL;
		break;
	}
	if (smaps)
		fclose(smaps);
	return found && good;
}

static bool child_has_none(const uint8_t *addr)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(touch(addr) == SIGSEGV ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool refuses_to_write(const struct segment *ram)
{
	int only_read = kcore;
	bool good = refuses(ram->offset, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, EACCES) &&
		    refuses(ram->offset, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, EPERM);

	kcore = open("/proc/kcore", O_RDWR | O_CLOEXEC);
	good &= kcore < 0 || refuses(ram->offset, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM);
	if (kcore >= 0)
		close(kcore);
	kcore = only_read;
	return good;
}

static void test_refusals(void)
{
	const struct segment *ram = first(RAM);
	void *addr = (void *)ram->map;

	check(vm_flags_are_right(ram->map), "flags-of-the-mapping", "see smaps");
	check(refuses_to_write(ram), "no-write", "a mapping for writing was not refused");
	check(refuses(ram->offset, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, EPERM), "no-exec", "not EPERM");
	check(mprotect(addr, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES, "no-write-later",
	      "not EACCES");
	check(mprotect(addr, PAGE, PROT_READ | PROT_EXEC) && errno == EACCES, "no-exec-later", "not EACCES");
	check(madvise(addr, PAGE, MADV_DODUMP) && madvise(addr, PAGE, MADV_DOFORK), "no-change-of-mind",
	      "madvise() took DONTDUMP or DONTCOPY back");
	check(mremap(addr, ram->size, ram->size + PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "no-growth",
	      "mremap() let it grow");
	check(child_has_none(first(TEXT)->map), "no-copy-for-children", "a child has the mapping");
	check(refuses_other_segments(), "no-vmalloc-modules-vmemmap", "not ENODEV");
	check(refuses(0, PAGE, PROT_READ, MAP_SHARED, ENODEV), "no-headers", "not ENODEV");
	check(refuses(ram->offset + ram->size - PAGE, 2 * PAGE, PROT_READ, MAP_SHARED, ENODEV),
	      "not-across-segments", "not ENODEV");
	check(refuses(ram->offset - PAGE, 2 * PAGE, PROT_READ, MAP_SHARED, ENODEV), "not-before-a-segment",
	      "not ENODEV");
}

/* What is mapped is what the same offsets of the file give. The image's first pages do not change. */
static void test_content(void)
{
	const struct segment *text = first(TEXT);
	static uint8_t bytes[64 * PAGE];
	const uint8_t *in_ram = frame(text->paddr / PAGE);
	bool good = pread(kcore, bytes, sizeof(bytes), (off_t)text->offset) == sizeof(bytes);

	check(good && !memcmp(bytes, text->map, sizeof(bytes)), "text-equals-pread", "differs");
	check(good && in_ram && !memcmp(bytes, in_ram, sizeof(bytes)), "ram-equals-pread", "differs");
}

/* The page frame of one's own memory, or 0. */
static uint64_t pfn_of(const void *addr)
{
	static int fd = -1;
	uint64_t entry = 0;

	if (fd < 0)
		fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pread(fd, &entry, 8, (off_t)((uintptr_t)addr / PAGE * 8)) != 8)
		die("pagemap");
	return entry >> 63 ? entry & ((1ULL << 55) - 1) : 0;
}

static void test_user_page(const char *name, uint8_t *addr)
{
	const uint8_t *seen;

	if (addr == MAP_FAILED) {
		printf("skip %s %s\n", name, strerror(errno));
		return;
	}
	if (touch(addr))
		die(name);
	seen = frame(pfn_of(addr));
	check(seen && touch(seen) == SIGBUS, name, "not SIGBUS");
}

static uint8_t *anonymous(size_t size, int flags)
{
	uint8_t *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (addr != MAP_FAILED)
		addr[0] = 1;
	return addr;
}

static uint8_t *file_page(int fd)
{
	if (fd < 0 || (ftruncate(fd, PAGE) && errno))
		return MAP_FAILED;
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static uint8_t *huge_page(void)
{
	uint8_t *addr = anonymous(4UL << 20, 0);

	if (addr == MAP_FAILED)
		return addr;
	addr = (uint8_t *)(((uintptr_t)addr + (2UL << 20) - 1) & ~((2UL << 20) - 1));
	madvise(addr, 2UL << 20, MADV_HUGEPAGE);
	memset(addr, 1, 2UL << 20);
	return addr + 5 * PAGE;
}

static uint8_t *hugetlb_page(void)
{
	int fd = open("/proc/sys/vm/nr_hugepages", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, "1", 1) != 1)
			errno = ENOMEM;
		close(fd);
	}
	return anonymous(2UL << 20, MAP_HUGETLB);
}

static void test_user_pages(void)
{
	int fd;

	test_user_page("refuses-anonymous", anonymous(PAGE, 0));
	test_user_page("refuses-part-of-huge-page", huge_page());
	test_user_page("refuses-hugetlb", hugetlb_page());
	test_user_page("refuses-tmpfs", file_page(memfd_create("page", 0)));
	fd = open("/init", O_RDONLY | O_CLOEXEC);
	test_user_page("refuses-page-cache", mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0));
	test_user_page("refuses-secret", file_page((int)syscall(SYS_memfd_secret, 0)));
}

/*
 * True when nothing is known of a page but that it is in use: neither free nor a process's, a file's, a slab's, ... So are
 * the pages of pipes. Touching none but these saves most of the time, for each refusal is a signal.
 */
static bool is_plain(uint64_t pfn)
{
	static const int known[] = {
		KPF_LRU,       KPF_SLAB,	  KPF_BUDDY,	     KPF_MMAP, KPF_ANON,
		KPF_SWAPCACHE, KPF_COMPOUND_HEAD, KPF_COMPOUND_TAIL, KPF_HUGE, KPF_NOPAGE,
		KPF_HWPOISON,  KPF_OFFLINE,	  KPF_PGTABLE,
	};
	static int fd = -1;
	static uint64_t flags[512], first = UINT64_MAX;

	if (fd < 0)
		fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (pfn / 512 != first) {
		memset(flags, 0xff, sizeof(flags));
		first = pfn / 512;
		if (pread(fd, flags, sizeof(flags), (off_t)(first * sizeof(flags))) < 8)
			die("kpageflags");
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (flags[pfn % 512] >> known[i] & 1)
			return false;
	return true;
}

/* Find a page by what is in it: NULL when it is not to be seen. */
static const uint8_t *find_page(const uint8_t *page)
{
	for (size_t i = 0; i < nr_segments; i++) {
		const uint8_t *map = segments[i].map;

		if (segments[i].kind != RAM)
			continue;
		for (uint64_t at = 0; at < segments[i].size; at += PAGE)
			if (is_plain((segments[i].paddr + at) / PAGE) && is_readable(map + at) &&
			    !memcmp(map + at, page, PAGE))
				return map + at;
	}
	return NULL;
}

static uint64_t pfn_seen(const uint8_t *addr)
{
	for (size_t i = 0; i < nr_segments; i++)
		if (segments[i].map && (uintptr_t)(addr - segments[i].map) < segments[i].size)
			return (segments[i].paddr + (uint64_t)(addr - segments[i].map)) / PAGE;
	return 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Wait until a page is taken away; false when it is still there after some seconds. */
static bool is_taken_away(const uint8_t *addr)
{
	double end = now() + 10;

	while (is_readable(addr)) {
		if (now() > end)
			return false;
		usleep(20000);
	}
	return true;
}

static const uint8_t *pipe_page(int ends[2], unsigned int seed)
{
	static uint8_t page[PAGE];
	uint32_t value = seed;

	for (size_t i = 0; i < PAGE; i++) {
		value = value * 1664525 + 1013904223;
		page[i] = (uint8_t)(value >> 24);
	}
	if (pipe(ends) || write(ends[1], page, PAGE) != PAGE)
		die("pipe");
	return find_page(page);
}

/*
 * Take 64 pages for a file, and see whether the page frame is among them. What was freed on this CPU is given out again
 * first, to who wants the same kind: the pages of a pipe can't be moved, nor those of a file in ramfs, and a process's can.
 */
static bool gets_page(int fd, uint64_t pfn)
{
	static const uint8_t bytes[64 * PAGE];
	const uint8_t *addr;

	if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		die("a file");
	addr = mmap(NULL, sizeof(bytes), PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	for (size_t at = 0; addr != MAP_FAILED && at < sizeof(bytes); at += PAGE)
		if (pfn_of(addr + at) == pfn)
			return true;
	return false;
}

/* See a page of a pipe, and give it to a file; NULL when something else got it. */
static const uint8_t *page_with_new_owner(int turn)
{
	const uint8_t *seen;
	char path[40];
	int ends[2], fd;

	snprintf(path, sizeof(path), "/tmp/ramfs/%d", turn);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	seen = pipe_page(ends, 100 + turn);
	close(ends[0]);
	close(ends[1]);
	return seen && gets_page(fd, pfn_seen(seen)) ? seen : NULL;
}

static void test_owner(void)
{
	const uint8_t *seen = NULL;

	if (mkdir("/tmp/ramfs", 0700) || mount("ramfs", "/tmp/ramfs", "ramfs", 0, NULL))
		die("ramfs");
	for (int turn = 0; turn < 20 && !seen; turn++)
		seen = page_with_new_owner(turn);
	check(seen != NULL, "shows-the-kernels-page",
	      "the page of a pipe is not to be seen, or no file got it");
	if (!seen)
		return;
	check(is_taken_away(seen), "takes-away-with-new-owner", "it is still mapped");
	check(touch(seen) == SIGBUS, "stays-away", "it came back");
}

static void test_poison(void)
{
	const uint8_t *seen;
	char text[32];
	int ends[2], fd;

	seen = pipe_page(ends, 2);
	fd = open("/sys/devices/system/memory/hard_offline_page", O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		printf("skip takes-away-poisoned this kernel can't poison a page: %s\n", strerror(errno));
		return;
	}
	if (!seen)
		die("the page of a pipe");
	snprintf(text, sizeof(text), "%#lx", pfn_seen(seen) * PAGE);
	/* The kernel says that it could not save the page's owner; the page is poisoned all the same. */
	if (write(fd, text, strlen(text)) < 0)
		errno = 0;
	close(fd);
	check(is_taken_away(seen), "takes-away-poisoned", "it is still mapped");
}

static uint64_t block_size(void)
{
	FILE *file = fopen("/sys/devices/system/memory/block_size_bytes", "r");
	unsigned long size = 0;

	if (!file || fscanf(file, "%lx", &size) != 1)
		die("block_size_bytes");
	fclose(file);
	return size;
}

static bool set_block(uint64_t block, const char *state)
{
	char path[80];
	int fd;
	bool done;

	snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%lu/state", block);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, state, strlen(state)) == (ssize_t)strlen(state);
	if (fd >= 0)
		close(fd);
	return done;
}

/* The block of the guest's memory module, which is offline at first; 0 without one. */
static uint64_t find_offline_block(void)
{
	for (uint64_t block = 1; block < 4096; block++) {
		char path[80], state[16] = "";
		int fd;

		snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%lu/state", block);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (read(fd, state, sizeof(state) - 1) > 0 && !strcmp(state, "offline\n")) {
			close(fd);
			return block;
		}
		close(fd);
	}
	return 0;
}

/*
 * A block can go offline only where nothing of the kernel's is in it, but for one thing: the first pages of hot-added
 * memory hold the struct pages of the rest (memory_hotplug.memmap_on_memory), which is for movable pages only here.
 */
static void test_offline(void)
{
	uint64_t block = find_offline_block();
	const uint8_t *first_page;

	if (!block) {
		check(false, "shows-hot-added", "the guest has no memory module");
		return;
	}
	if (!set_block(block, "online_movable"))
		die("online");
	/* The headers that are read now have the new segment. */
	read_segments();
	map_all();
	first_page = frame(block * block_size() / PAGE);
	check(first_page && is_readable(first_page), "shows-hot-added", "its struct pages are refused");
	check(first_page && touch(first_page + block_size() / 2) == SIGBUS, "refuses-free", "not SIGBUS");
	if (!set_block(block, "offline"))
		die("offline");
	check(first_page && touch(first_page) == SIGBUS, "takes-away-offline", "it is still mapped");
	check(set_block(block, "online_movable") && first_page && is_readable(first_page),
	      "shows-it-online-again", "it is refused");
}

static void test_capability(void)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		if (setgid(1000) || setuid(1000))
			_exit(2);
		_exit(open("/proc/kcore", O_RDONLY) < 0 ? 0 : 1);
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "no-capability", "it was opened");
}

/* Tell where a page of this process is in the direct map, and what is in it; then wait to be killed. */
static int show_user_page(void)
{
	uint64_t *page = (uint64_t *)anonymous(PAGE, 0), paddr;

	*page = 0x6b77616c6b ^ (uint64_t)getpid() << 40;
	paddr = pfn_of(page) * PAGE;
	for (size_t i = 0; i < nr_segments; i++)
		if (segments[i].kind == RAM && paddr - segments[i].paddr < segments[i].size)
			printf("%#lx %lu\n", segments[i].vaddr + (paddr - segments[i].paddr), *page);
	fflush(stdout);
	pause();
	return 1;
}

/* The file was opened before: it can be read, and was to be mapped, until the kernel is locked down. */
static int test_lockdown(void)
{
	static const char level[] = "confidentiality";
	int fd = open("/sys/kernel/security/lockdown", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, level, strlen(level)) < 0)
		die("lockdown");
	check(refuses(first(RAM)->offset, PAGE, PROT_READ, MAP_SHARED, EPERM), "lockdown-after-opening",
	      "it was mapped");
	return failures != 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = fault, .sa_flags = SA_NODEFER };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	read_segments();
	if (argc > 1 && !strcmp(argv[1], "segments"))
		return print_segments();
	if (argc > 1 && !strcmp(argv[1], "user-page"))
		return show_user_page();
	if (argc > 1 && !strcmp(argv[1], "lockdown"))
		return test_lockdown();
	map_all();
	test_refusals();
	test_content();
	test_user_pages();
	test_owner();
	test_poison();
	test_offline();
	test_capability();
	return failures != 0;
}
