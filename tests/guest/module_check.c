/*
 * Runs inside a guest, as root: loads the kernel module and provokes each of its promises and refusals.
 * Prints ok and not ok lines.
 *
 *	module_check MODULE ADDRESS PGD		the address of a slab object, and of a process's topmost page table
 *
 * A page is touched with touch(), which tells a SIGBUS from a byte. What a page holds is compared with what /proc/kcore
 * reads at the address at which the kernel itself sees that page.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEVICE	   "/dev/kwalk"
#define PARAMETERS "/sys/module/kwalk/parameters/"
#define PAGE	   4096ul
#define MAX_LOOKS  50
#define MAX_PHDR   512
#define NO_PFN	   UINT64_MAX

static const char *module_path;

/* Results */

static void result(bool passed, const char *name, const char *format, ...)
{
	va_list args;

	printf("%s module-%s ", passed ? "ok" : "not ok", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* The error code that a call gave must be the one expected. */
static void expect(const char *name, long got, int error)
{
	int gave = got < 0 ? errno : 0;

	result(gave == error, name, "%s", strerror(gave));
}

/* Small files */

static long read_number(const char *path)
{
	char text[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return -1;
	text[length] = 0;
	return strtol(text, NULL, 0);
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return written;
}

static void rest_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Touching memory that may be refused */

static sigjmp_buf after_signal;

static void on_signal(int number)
{
	siglongjmp(after_signal, number);
}

/* Returns the byte at p, or minus the signal that reading it gives. */
static int touch(const volatile void *p)
{
	int number = sigsetjmp(after_signal, 0);

	return number ? -number : *(const volatile unsigned char *)p;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

/* The device */

static int load_module(void)
{
	int fd = open(module_path, O_RDONLY | O_CLOEXEC);
	int status = fd < 0 ? -1 : (int)syscall(SYS_finit_module, fd, "", 0);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return status;
}

static int unload_module(void)
{
	return (int)syscall(SYS_delete_module, "kwalk", O_NONBLOCK);
}

static int open_device(void)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		result(false, "open", "%s", strerror(errno));
		exit(1);
	}
	return fd;
}

/* Map physical memory from the start of pa's page; a failure ends the test. */
static unsigned char *map(int fd, uint64_t pa, size_t length)
{
	void *p = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)(pa & ~(PAGE - 1)));

	if (p == MAP_FAILED) {
		result(false, "map", "%#llx: %s", (unsigned long long)pa, strerror(errno));
		exit(1);
	}
	return p;
}

/* Map one page, touch it, unmap it. */
static int touch_physical(int fd, uint64_t pa)
{
	unsigned char *p = map(fd, pa, PAGE);
	int byte = touch(p);

	munmap(p, PAGE);
	return byte;
}

/* The kernel's memory as /proc/kcore has it */

static int kcore;
static unsigned segment_count;
static Elf64_Phdr segments[MAX_PHDR];

static bool open_kcore(void)
{
	Elf64_Ehdr head;

	kcore = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (kcore < 0 || pread(kcore, &head, sizeof(head), 0) != sizeof(head) || head.e_phnum > MAX_PHDR)
		return false;
	segment_count = head.e_phnum;
	return pread(kcore, segments, segment_count * sizeof(*segments), (off_t)head.e_phoff) > 0;
}

static const Elf64_Phdr *segment_of(uint64_t va)
{
	for (unsigned i = 0; i < segment_count; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_paddr != UINT64_MAX &&
		    va >= segments[i].p_vaddr && va - segments[i].p_vaddr < segments[i].p_memsz)
			return &segments[i];
	return NULL;
}

static uint64_t physical(uint64_t va)
{
	const Elf64_Phdr *segment = segment_of(va);

	return segment ? va - segment->p_vaddr + segment->p_paddr : NO_PFN;
}

/* The direct map's address of a physical one: segments of RAM, not of the kernel image. */
static uint64_t direct(uint64_t pa)
{
	for (unsigned i = 0; i < segment_count; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < 0xffffffff80000000 &&
		    pa >= segments[i].p_paddr && pa - segments[i].p_paddr < segments[i].p_memsz)
			return pa - segments[i].p_paddr + segments[i].p_vaddr;
	return 0;
}

static bool read_kernel(uint64_t va, void *data, size_t length)
{
	const Elf64_Phdr *segment = segment_of(va);

	return segment && pread(kcore, data, length, (off_t)(va - segment->p_vaddr + segment->p_offset)) ==
				  (ssize_t)length;
}

/* End of the RAM that /proc/kcore shows. */
static uint64_t ram_end(void)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < segment_count; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_paddr != UINT64_MAX &&
		    segments[i].p_paddr + segments[i].p_memsz > end)
			end = segments[i].p_paddr + segments[i].p_memsz;
	return end;
}

static uint64_t symbol(const char *wanted)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address, found = 0;
	char name[512];

	while (file && !found && fscanf(file, "%llx %*c %511s%*[^\n]", &address, name) == 2)
		if (strcmp(name, wanted) == 0)
			found = address;
	if (file)
		fclose(file);
	return found;
}

/* The mapped page must equal kcore's; bytes that change while we look, as those of our own task do, are looked at again. */
static void check_equal(int fd, const char *name, uint64_t va)
{
	unsigned char before[PAGE], theirs[PAGE], after[PAGE];
	uint64_t pa = physical(va &= ~(PAGE - 1));
	bool seen[PAGE] = { false }, equal = false;

	if (pa == NO_PFN) {
		result(false, name, "%#llx is in no segment of kcore", (unsigned long long)va);
		return;
	}
	unsigned char *ours = map(fd, pa, PAGE);
	int first = touch(ours);
	for (int i = 0; first >= 0 && !equal && i < MAX_LOOKS; i++) {
		memcpy(before, ours, PAGE);
		if (!read_kernel(va, theirs, PAGE))
			break;
		memcpy(after, ours, PAGE);
		equal = true;
		for (size_t byte = 0; byte < PAGE; byte++) {
			seen[byte] |= theirs[byte] == before[byte] || theirs[byte] == after[byte];
			equal &= seen[byte];
		}
	}
	munmap(ours, PAGE);
	result(equal, name, "va %#llx pa %#llx first byte or signal %d", (unsigned long long)va,
	       (unsigned long long)pa, first);
}

/* The page frames of count pages of our own memory from p on; NO_PFN where there is none. */
static void frames_of(const void *p, size_t count, uint64_t *frames)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ssize_t size = pread(pagemap, frames, count * sizeof(*frames),
			     (off_t)((uintptr_t)p / PAGE * sizeof(*frames)));

	close(pagemap);
	for (size_t i = 0; i < count; i++)
		frames[i] = (ssize_t)(i * sizeof(*frames)) < size && frames[i] >> 63
				    ? frames[i] & ((1ull << 55) - 1)
				    : NO_PFN;
}

static uint64_t frame_of(const void *p)
{
	uint64_t frame;

	frames_of(p, 1, &frame);
	return frame;
}

/* What is mapped */

static void check_kernel_pages(int fd, uint64_t slab, uint64_t pgd)
{
	uint64_t table[512], va, offsets = symbol("__per_cpu_offset"), cpu[2] = { 0, 0 };
	static const char *const level[] = { "pgd", "pud", "pmd", "pte" };

	check_equal(fd, "equal-init_task", symbol("init_task"));
	check_equal(fd, "equal-init_task-second-page", symbol("init_task") + PAGE);
	check_equal(fd, "equal-text", symbol("schedule"));
	check_equal(fd, "equal-slab-task_struct", slab);
	check_equal(fd, "equal-slab-tail", slab + PAGE);
	read_kernel(offsets, cpu, sizeof(cpu));
	check_equal(fd, "equal-per-cpu-0", symbol("runqueues") + cpu[0]);
	check_equal(fd, "equal-per-cpu-1", symbol("runqueues") + cpu[1]);
	va = pgd;
	for (int i = 0; i < 4 && va; i++) {
		char name[32];
		uint64_t entry = 0;

		snprintf(name, sizeof(name), "equal-page-table-%s", level[i]);
		check_equal(fd, name, va);
		if (i == 3 || !read_kernel(va, table, sizeof(table)))
			break;
		for (int slot = 0; slot < (i ? 512 : 256) && !entry; slot++)
			if ((table[slot] & 0x81) == 1)
				entry = table[slot] & 0x000ffffffffff000;
		va = entry ? direct(entry) : 0;
	}
}

/* Who may open, and what may be asked for */

static void drop_capability(unsigned capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	syscall(SYS_capget, &head, data);
	data[capability / 32].effective &= ~(1u << capability % 32);
	data[capability / 32].permitted &= ~(1u << capability % 32);
	syscall(SYS_capset, &head, data);
}

/* Run a function in a child; returns its value, or minus the signal that ended it. */
static int in_child(int (*function)(void *), void *arg)
{
	int status = 0;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(function(arg));
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int open_without_capability(void *arg)
{
	(void)arg;
	drop_capability(CAP_SYS_RAWIO);
	return open(DEVICE, O_RDONLY) < 0 ? errno : 0;
}

static int open_as_user(void *arg)
{
	(void)arg;
	return setgid(1000) || setuid(1000) || open(DEVICE, O_RDONLY) >= 0 ? 0 : errno;
}

static void check_open(int fd)
{
	struct stat about = { 0 };
	int error = in_child(open_without_capability, NULL);

	stat(DEVICE, &about);
	result((about.st_mode & 07777) == 0600 && about.st_uid == 0, "mode", "%o", about.st_mode & 07777);
	result(error == EPERM, "refused-no-capability", "%s", strerror(error));
	error = in_child(open_as_user, NULL);
	result(error == EACCES, "refused-user", "%s", strerror(error));
	expect("refused-open-for-writing", open(DEVICE, O_RDWR), EPERM);
	expect("refused-read", read(fd, &about, sizeof(about)), EINVAL);
	expect("refused-ioctl", ioctl(fd, 0, 0), ENOTTY);
	expect("refused-second-load", load_module(), EEXIST);
}

static void refuse_map(int fd, const char *name, int protection, int flags, int error)
{
	expect(name, (long)mmap(NULL, PAGE, protection, flags, fd, 0x1000000) == -1 ? -1 : 0, error);
}

static int touch_in_child(void *page)
{
	signal(SIGSEGV, SIG_DFL);
	return *(volatile unsigned char *)page;
}

static void check_protection(int fd)
{
	uint64_t pa = physical(symbol("init_task"));
	unsigned char *p = map(fd, pa, PAGE),
		      *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec local = { other, 8 }, remote = { p, 8 };

	refuse_map(fd, "refused-private-write", PROT_READ | PROT_WRITE, MAP_PRIVATE, EPERM);
	refuse_map(fd, "refused-shared-write", PROT_READ | PROT_WRITE, MAP_SHARED, EACCES);
	refuse_map(fd, "refused-exec", PROT_READ | PROT_EXEC, MAP_SHARED, EPERM);
	refuse_map(fd, "refused-private", PROT_READ, MAP_PRIVATE, EINVAL);
	expect("refused-mprotect-write", mprotect(p, PAGE, PROT_READ | PROT_WRITE), EACCES);
	expect("refused-mprotect-exec", mprotect(p, PAGE, PROT_READ | PROT_EXEC), EACCES);
	expect("refused-madvise-dofork", madvise(p, PAGE, MADV_DOFORK), EINVAL);
	expect("refused-madvise-dodump", madvise(p, PAGE, MADV_DODUMP), EINVAL);
	expect("refused-expand", mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0, EFAULT);
	result(touch(p) >= 0, "mapped-before-fork", "%d", touch(p));
	expect("refused-other-process", process_vm_readv(getpid(), &local, 1, &remote, 1, 0), EFAULT);
	int status = in_child(touch_in_child, p);
	result(status == -SIGSEGV, "not-inherited", "the child's exit status or signal: %d", status);
	munmap(p, PAGE);
	munmap(other, PAGE);
}

/* What is not mapped, whoever asks */

static void refuse_frame(int fd, const char *name, uint64_t frame)
{
	int byte = frame == NO_PFN || frame == 0 ? 0 : touch_physical(fd, frame * PAGE);

	result(byte == -SIGBUS, name, "page %#llx, byte or signal %d", (unsigned long long)frame, byte);
}

static void *anonymous(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void check_huge_pages(int fd)
{
	size_t size = 4ul << 20;
	unsigned char *p = anonymous(size, 0),
		      *q = (unsigned char *)(((uintptr_t)p + size / 2 - 1) & -(size / 2));

	/* A small guest starts without them. */
	write_text("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	madvise(p, size, MADV_HUGEPAGE);
	*q = 1;
	if (frame_of(q + PAGE) == frame_of(q) + 1 && frame_of(q) % 512 == 0)
		refuse_frame(fd, "refused-huge-tail", frame_of(q + 77 * PAGE));
	else
		printf("skip module-refused-huge-tail the guest gave no huge page\n");
	munmap(p, size);

	write_text("/proc/sys/vm/nr_hugepages", "2");
	p = anonymous(size / 2, MAP_HUGETLB);
	if (p) {
		*p = 1;
		uint64_t frame = frame_of(p);
		refuse_frame(fd, "refused-hugetlb", frame);
		refuse_frame(fd, "refused-hugetlb-tail", frame + 77);
		munmap(p, size / 2);
		refuse_frame(fd, "refused-hugetlb-free", frame + 77);
	} else {
		printf("skip module-refused-hugetlb the guest gave no huge page\n");
	}
	write_text("/proc/sys/vm/nr_hugepages", "0");
}

static void check_file(int fd, const char *name, int file)
{
	unsigned char *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	char unmapped[64];

	snprintf(unmapped, sizeof(unmapped), "%s-unmapped", name);
	if (p == MAP_FAILED || touch(p) < 0) {
		result(false, name, "%s", strerror(errno));
		return;
	}
	uint64_t frame = frame_of(p);
	refuse_frame(fd, name, frame);
	munmap(p, PAGE);
	refuse_frame(fd, unmapped, frame);
}

static void check_files(int fd)
{
	int file = open(module_path, O_RDONLY | O_CLOEXEC);

	check_file(fd, "refused-page-cache", file);
	close(file);
	file = open("/dev/shm/page", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (write(file, "x", 1) == 1)
		check_file(fd, "refused-shmem", file);
	close(file);
	unlink("/dev/shm/page");
	file = (int)syscall(447 /* memfd_secret, younger than the libc */, O_CLOEXEC);
	if (file >= 0 && !ftruncate(file, PAGE))
		check_file(fd, "refused-secret", file);
	else
		printf("skip module-refused-secret no memfd_secret: %s\n", strerror(errno));
	if (file >= 0)
		close(file);
}

/* Pages that a process has just given back must not show what it left in them. */
static void check_freed(int fd)
{
	enum { COUNT = 512 };
	static const char mark[] = "a process's secret";
	static uint64_t frame[COUNT];
	unsigned char *p = anonymous(COUNT * PAGE, 0);
	int seen = 0;

	madvise(p, COUNT * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < COUNT; i++) {
		memcpy(p + i * PAGE, mark, sizeof(mark));
		frame[i] = frame_of(p + i * PAGE);
	}
	munmap(p, COUNT * PAGE);
	for (int i = 0; i < COUNT; i++) {
		p = map(fd, frame[i] * PAGE, PAGE);
		seen += touch(p) >= 0 && memcmp(p, mark, sizeof(mark)) == 0;
		munmap(p, PAGE);
	}
	result(seen == 0, "refused-free", "%d of %d freed pages could be read", seen, COUNT);
}

static void check_user_pages(int fd)
{
	unsigned char *p = anonymous(PAGE, 0);

	*p = 1;
	refuse_frame(fd, "refused-anonymous", frame_of(p));
	munmap(p, PAGE);
	check_huge_pages(fd);
	check_files(fd);
	check_freed(fd);
}

static void check_no_memory(int fd)
{
	uint64_t end = ram_end();
	unsigned char *p = map(fd, 0, end + (64ul << 20));

	result(touch(p + physical(symbol("init_task"))) >= 0, "span", "one mapping of %llu MiB",
	       (unsigned long long)(end >> 20) + 64);
	result(touch(p + 0xa0000) == -SIGBUS, "refused-hole-vga", "%d", touch(p + 0xa0000));
	result(touch(p + end) == -SIGBUS, "refused-beyond-ram", "%d", touch(p + end));
	munmap(p, end + (64ul << 20));
	refuse_frame(fd, "refused-hole-apic", 0xfee00000 / PAGE);
	refuse_frame(fd, "refused-far-beyond", (1ull << 45) / PAGE);
	refuse_frame(fd, "refused-last-page", (1ull << 52) / PAGE - 1);
}

/* All of memory in one mapping */

struct sweep {
	unsigned char *memory;
	uint64_t pages;
	unsigned char *readable; /* a byte for each page */
};

static void sweep_begin(struct sweep *sweep, int fd)
{
	sweep->pages = ram_end() / PAGE;
	sweep->memory = map(fd, 0, sweep->pages * PAGE);
	sweep->readable = anonymous(sweep->pages, 0);
}

static void sweep_end(struct sweep *sweep)
{
	munmap(sweep->memory, sweep->pages * PAGE);
	munmap(sweep->readable, sweep->pages);
}

static uint64_t *page_flags(uint64_t pages)
{
	uint64_t *flags = anonymous(pages * sizeof(*flags), 0);
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t got;

	while (done < pages * sizeof(*flags) &&
	       (got = pread(fd, (char *)flags + done, pages * sizeof(*flags) - done, (off_t)done)) > 0)
		done += (size_t)got;
	close(fd);
	return flags;
}

/* Bits of /proc/kpageflags. */
enum {
	LRU = 5,
	BUDDY = 10,
	ANON = 12,
	SWAPCACHE = 13,
	SWAPBACKED = 14,
	HUGE = 17,
	HWPOISON = 19,
	NOPAGE = 20,
	OFFLINE = 23
};

static const uint64_t foreign_flags = 1 << LRU | 1 << BUDDY | 1 << ANON | 1 << SWAPCACHE | 1 << SWAPBACKED |
				      1 << HUGE | 1 << HWPOISON | 1 << NOPAGE | 1 << OFFLINE;

/* Touch every page that is not plainly somebody else's, or a sample of those too; returns how many could be read. */
static uint64_t sweep_touch(struct sweep *sweep, bool sample)
{
	uint64_t *flags = page_flags(sweep->pages), count = 0;

	for (uint64_t pfn = 1; pfn < sweep->pages; pfn++) {
		/* A memory module far up leaves gigabytes of holes, whose flags say nothing in late kernels. */
		bool hole = !direct(pfn * PAGE), foreign = hole || (flags[pfn] & foreign_flags);
		bool chosen = !foreign || (sample && pfn % (hole ? 509 : 7) == 0);
		sweep->readable[pfn] = chosen && touch(sweep->memory + pfn * PAGE) >= 0;
		count += sweep->readable[pfn];
	}
	munmap(flags, sweep->pages * sizeof(*flags));
	return count;
}

/* The kernel's own view of each page must agree: nothing readable that is free, a process's or of the page cache. */
static void check_sweep(int fd)
{
	struct sweep sweep;
	unsigned whole = 0;
	uint64_t foreign = 0, kernel = 0, missed = 0;

	sweep_begin(&sweep, fd);
	uint64_t *before = page_flags(sweep.pages);
	double begin = seconds();
	uint64_t count = sweep_touch(&sweep, true);
	double took = seconds() - begin;
	uint64_t *after = page_flags(sweep.pages);
	for (uint64_t pfn = 1; pfn < sweep.pages; pfn++) {
		foreign += sweep.readable[pfn] && (before[pfn] & after[pfn] & foreign_flags);
		/* Slab and page tables (bits 7 and 26) are surely the kernel's. */
		if (before[pfn] & after[pfn] & (1 << 7 | 1 << 26)) {
			kernel++;
			missed += !sweep.readable[pfn];
		}
	}
	for (uint64_t pfn = 0; pfn + 512 <= sweep.pages; pfn += 512)
		whole += !memchr(sweep.readable + pfn, 0, 512);
	result(count > 1000 && foreign == 0, "sweep-nothing-foreign",
	       "%llu of %llu readable, %llu foreign, %.1f s", (unsigned long long)count,
	       (unsigned long long)sweep.pages, (unsigned long long)foreign, took);
	result(kernel > 1000 && missed * 100 < kernel, "sweep-kernel",
	       "%llu of %llu slab and page table pages refused", (unsigned long long)missed,
	       (unsigned long long)kernel);
	printf("# %u of %llu blocks of 2 MiB could be mapped whole\n", whole,
	       (unsigned long long)sweep.pages / 512);
	munmap(before, sweep.pages * sizeof(*before));
	munmap(after, sweep.pages * sizeof(*after));
	sweep_end(&sweep);
}

/* Kernel pages that we can take and give back: the buffers of pipes */

/* A pipe holds 1 MiB. */
enum { FEW_PIPES = 24, PIPES = 96, PIPE_PAGES = 256 };
static const char pipe_mark[] = "a page in a pipe";
static int pipes[PIPES][2];

static void fill_pipes(int count)
{
	static char page[PAGE];

	memcpy(page, pipe_mark, sizeof(pipe_mark));
	for (int i = 0; i < count; i++)
		if (pipe2(pipes[i], O_CLOEXEC | O_NONBLOCK) ||
		    fcntl(pipes[i][1], F_SETPIPE_SZ, PIPE_PAGES * (int)PAGE) < 0)
			result(false, "pipe", "%s", strerror(errno));
	/* Only now the pages: no other object shall lie among them. */
	for (int i = 0; i < count; i++)
		while (write(pipes[i][1], page, PAGE) == (ssize_t)PAGE)
			;
}

static void close_pipes(int count)
{
	for (int i = 0; i < count; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

/* Leave in readable only the pages that are in a pipe; returns how many. */
static uint64_t find_pipe_pages(struct sweep *sweep)
{
	uint64_t count = 0;

	sweep_touch(sweep, false);
	for (uint64_t pfn = 0; pfn < sweep->pages; pfn++) {
		if (sweep->readable[pfn])
			sweep->readable[pfn] =
				memcmp(sweep->memory + pfn * PAGE, pipe_mark, sizeof(pipe_mark)) == 0;
		count += sweep->readable[pfn];
	}
	return count;
}

/* Pages change hands while they are mapped: from a pipe to a process. */
static void check_owner_change(int fd)
{
	struct sweep sweep, other;
	unsigned changed = 0, late = 0, still = 0;

	/* The same device by another name: another inode. */
	mknod("/other-kwalk", S_IFCHR | 0600, ({
		      struct stat s;
		      stat(DEVICE, &s);
		      s.st_rdev;
	      }));
	int other_fd = open("/other-kwalk", O_RDONLY | O_CLOEXEC);
	write_text(PARAMETERS "recheck_ms", "60000");
	sweep_begin(&sweep, fd);
	sweep_begin(&other, other_fd);
	fill_pipes(FEW_PIPES);
	uint64_t found = find_pipe_pages(&sweep);
	result(found > FEW_PIPES * PIPE_PAGES * 9 / 10, "mapped-pipe-pages", "%llu of %d",
	       (unsigned long long)found, FEW_PIPES * PIPE_PAGES);
	for (uint64_t pfn = 0; pfn < sweep.pages; pfn++)
		if (sweep.readable[pfn])
			touch(other.memory + pfn * PAGE);
	close_pipes(FEW_PIPES);

	double begin = seconds();
	/* A process's pages come from other free lists than the kernel's: take nearly all there is, in huge pages. */
	size_t count = (size_t)sysconf(_SC_AVPHYS_PAGES) / 10 * 9;
	unsigned char *ours = anonymous(count * PAGE, 0);
	uint64_t *frames = malloc(count * sizeof(*frames));
	madvise(ours, count * PAGE, MADV_HUGEPAGE);
	for (size_t i = 0; i < count; i++) {
		ours[i * PAGE] = 1;
		/* No check in between, however long this takes on a busy host. */
		if (i % 1024 == 0)
			write_text(PARAMETERS "recheck_ms", "60000");
	}
	frames_of(ours, count, frames);
	for (size_t i = 0; i < count; i++) {
		if (frames[i] >= sweep.pages || !sweep.readable[frames[i]])
			continue;
		changed++;
		late += touch(sweep.memory + frames[i] * PAGE) >= 0;
	}
	printf("# a process has taken them after %.1f s; %ld unmapped by then\n", seconds() - begin,
	       read_number(PARAMETERS "pages_zapped"));
	write_text(PARAMETERS "recheck_ms", "1000");
	rest_ms(1000 + 1500);
	for (size_t i = 0; i < count; i++)
		if (frames[i] < sweep.pages && sweep.readable[frames[i]])
			still += (touch(sweep.memory + frames[i] * PAGE) >= 0) +
				 (touch(other.memory + frames[i] * PAGE) >= 0);
	result(late > 100 && still == 0, "owner-change",
	       "%u of %zu pages, %u still mapped at once, %u after the check", changed, count, late, still);
	free(frames);
	munmap(ours, count * PAGE);
	result(read_number(PARAMETERS "pages_zapped") >= (long)changed, "pages_zapped", "%ld",
	       read_number(PARAMETERS "pages_zapped"));
	sweep_end(&other);
	sweep_end(&sweep);
	close(other_fd);
	unlink("/other-kwalk");
}

static void check_recheck_cost(int fd)
{
	struct sweep sweep;
	long least = LONG_MAX;

	sweep_begin(&sweep, fd);
	fill_pipes(PIPES);
	uint64_t count = sweep_touch(&sweep, false);
	write_text(PARAMETERS "recheck_ms", "100");
	for (int i = 0; i < 10; i++) {
		rest_ms(200);
		long took = read_number(PARAMETERS "recheck_us");
		if (took < least)
			least = took;
	}
	write_text(PARAMETERS "recheck_ms", "1000");
	printf("# a check of %ld pages took %ld us; %llu pages touched\n",
	       read_number(PARAMETERS "pages_noted"), read_number(PARAMETERS "recheck_us"),
	       (unsigned long long)count);
	result(read_number(PARAMETERS "pages_noted") >= PIPES * PIPE_PAGES, "checked-again",
	       "%ld pages noted", read_number(PARAMETERS "pages_noted"));
	close_pipes(PIPES);
	sweep_end(&sweep);
	rest_ms(1500);
	result(read_number(PARAMETERS "pages_noted") == 0, "check-ends", "%ld pages noted",
	       read_number(PARAMETERS "pages_noted"));
}

/* Memory that goes offline */

static bool set_block(unsigned block, const char *state)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%u/state", block);
	return write_text(path, state);
}

/* A block that is offline: the guest's memory module starts like that. */
static unsigned find_offline_block(void)
{
	for (unsigned block = 0; block < 4096; block++) {
		char path[64], text[16] = "";
		snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%u/state", block);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, "offline\n") == 0) {
			close(fd);
			return block;
		}
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

/*
 * The first pages of such a block are the kernel's: they hold the block's own page structures
 * (memory_hotplug.memmap_on_memory). The rest is for movable pages only, so nothing keeps it from going offline again.
 */
static void check_offline(int fd)
{
	bool holds_own_pages = !access("/sys/module/memory_hotplug/parameters/memmap_on_memory", F_OK);
	unsigned block = find_offline_block();
	char text[32] = "";
	int file = open("/sys/devices/system/memory/block_size_bytes", O_RDONLY | O_CLOEXEC);

	if (file < 0 || read(file, text, sizeof(text) - 1) <= 0 || block == 0) {
		printf("skip module-offline the guest has no memory module\n");
		return;
	}
	close(file);
	unsigned char *p = map(fd, block * strtoull(text, NULL, 16), PAGE);
	write_text(PARAMETERS "recheck_ms", "60000");
	result(touch(p) == -SIGBUS, "refused-before-online", "block %u: %d", block, touch(p));
	expect("online", set_block(block, "online_movable") ? 0 : -1, 0);
	if (holds_own_pages)
		result(touch(p) >= 0, "mapped-online", "%d", touch(p));
	expect("offline", set_block(block, "offline") ? 0 : -1, 0);
	result(touch(p) == -SIGBUS, "refused-offline", "%d", touch(p));
	expect("online-again", set_block(block, "online_movable") ? 0 : -1, 0);
	if (holds_own_pages)
		result(touch(p) >= 0, "mapped-online-again", "%d", touch(p));
	else
		printf("skip module-mapped-online this kernel keeps no page structures in the block (before 5.14)\n");
	munmap(p, PAGE);
	write_text(PARAMETERS "recheck_ms", "1000");
}

/* Coming and going */

static void check_unload_while_mapped(int fd)
{
	unsigned char *p = map(fd, physical(symbol("init_task")), PAGE);

	touch(p);
	close(fd);
	expect("refused-unload-while-mapped", unload_module(), EAGAIN);
	result(touch(p) >= 0, "mapped-after-refused-unload", "%d", touch(p));
	munmap(p, PAGE);
	expect("unload", unload_module(), 0);
	expect("no-device-after-unload", open(DEVICE, O_RDONLY), ENOENT);
}

static int map_for_ever(void *arg)
{
	uint64_t pa = *(uint64_t *)arg;

	for (;;) {
		int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			unsigned char *p = mmap(NULL, 128 * PAGE, PROT_READ, MAP_SHARED, fd, (off_t)pa);
			close(fd);
			for (int i = 0; p != MAP_FAILED && i < 128; i++)
				touch(p + i * PAGE);
			if (p != MAP_FAILED)
				munmap(p, 128 * PAGE);
		}
		rest_ms(5);
	}
	return 0;
}

static void check_load_unload(void)
{
	enum { CHILDREN = 3, ROUNDS = 20 };
	uint64_t pa = physical(symbol("init_task")) & ~(512 * PAGE - 1);
	pid_t children[CHILDREN];
	unsigned rounds = 0, refused = 0;
	double end = seconds() + 60;

	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(map_for_ever(&pa));
	}
	while (rounds < ROUNDS && seconds() < end) {
		if (load_module())
			break;
		rest_ms(5);
		for (; unload_module() && errno == EAGAIN && seconds() < end; refused++)
			rest_ms(1);
		rounds++;
	}
	for (int i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	result(rounds == ROUNDS, "unload-under-load", "%u rounds, %u refusals", rounds, refused);
}

static void check_kernel_log(void)
{
	static const char *const bad[] = { "WARNING:", "BUG:",	"Oops",	     "Call Trace",
					   "Bad page", "stall", "INFO: task" };
	static char log[1 << 20];
	const char *found = NULL;
	long taint = read_number("/proc/sys/kernel/tainted");
	int length = klogctl(3, log, sizeof(log) - 1);

	log[length > 0 ? length : 0] = 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!found)
			found = strstr(log, bad[i]);
	result(length > 0 && !found, "kernel-log", "%.200s", found ? found : "clean");
	/* Bits 12 and 13: a module from elsewhere, without a signature. */
	result((taint & ~(1 << 12 | 1 << 13)) == 0, "taint", "%#lx", taint);
}

/* Lockdown comes last: there is no way back. */
static void check_lockdown(void)
{
	static const char path[] = "/sys/kernel/security/lockdown";

	expect("load-again", load_module(), 0);
	int fd = open_device();
	if (!write_text(path, "integrity")) {
		printf("skip module-lockdown it can't be switched on: %s\n", strerror(errno));
		return;
	}
	/* As with /proc/kcore, reading is allowed. */
	expect("lockdown-integrity-open", open(DEVICE, O_RDONLY | O_CLOEXEC), 0);
	unsigned char *p = map(fd, physical(symbol("init_task")), PAGE);
	result(touch(p) >= 0, "lockdown-integrity-map", "%d", touch(p));
	write_text(path, "confidentiality");
	expect("refused-lockdown-open", open(DEVICE, O_RDONLY), EPERM);
	refuse_map(fd, "refused-lockdown-map", PROT_READ, MAP_SHARED, EPERM);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: module_check MODULE ADDRESS PGD\n");
		return 2;
	}
	module_path = argv[1];
	catch_signals();
	if (!open_kcore()) {
		result(false, "kcore", "%s", strerror(errno));
		return 1;
	}
	expect("load", load_module(), 0);
	int fd = open_device();
	check_open(fd);
	check_protection(fd);
	check_kernel_pages(fd, strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
	check_no_memory(fd);
	check_user_pages(fd);
	check_sweep(fd);
	check_owner_change(fd);
	check_recheck_cost(fd);
	check_offline(fd);
	check_unload_while_mapped(fd);
	check_load_unload();
	check_kernel_log();
	check_lockdown();
	return 0;
}
