/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mappings that may fault: see the header.
 *
 * The handler finds a mapping in a list of the whole process that only ever grows at its head: an entry whose memory
 * was closed stays and is used again. A sequence number, odd while an entry changes, keeps the handler from
 * believing half of one.
 */
#include "memory/guard.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* A process may have 65,530 mappings, and each hole costs two: with more, the whole mapping is given up. */
#define MAX_HOLES 16384

/*
 * Each part is a mapping, too, with page tables in memory that a capture kernel has little of: 16 MiB with these, when
 * each has a page of its own, for 1 GiB of parts.
 */
#define MAX_PARTS 4096

struct mapping {
	struct mapping *next;	 /* of the whole process; set once */
	struct mapping *sibling; /* of the same memory */
	unsigned int seq;	 /* atomic; odd while what follows changes */
	uintptr_t base;
	size_t size; /* 0: not in use */
	size_t page; /* bytes that fault at once: a huge page on hugetlbfs */
	int fd;
	uint64_t offset;    /* of base in the file */
	uint64_t *failed;   /* a bit for each page */
	size_t failed_size; /* bytes of it */
	unsigned int holes; /* atomic: pages that failed one by one */
	unsigned int parts; /* atomic: of what was reserved, asked for one by one */
	uint64_t *faults;   /* the memory's counter */
};

static struct mapping *mappings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int entered;
static struct sigaction host_action;

/* True when addr lies in the mapping as it is now. */
static bool contains(struct mapping *mapping, uintptr_t addr)
{
	unsigned int seq = __atomic_load_n(&mapping->seq, __ATOMIC_ACQUIRE);
	uintptr_t base = __atomic_load_n(&mapping->base, __ATOMIC_RELAXED);
	size_t size = __atomic_load_n(&mapping->size, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(seq & 1) && addr - base < size && __atomic_load_n(&mapping->seq, __ATOMIC_RELAXED) == seq;
}

static bool put_zeros(uintptr_t addr, size_t size)
{
	/* Mappings that were made private ones are written to. */
	return mmap((void *)addr, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

/*
 * Return how many pages from `page` on are to be given up with it: where the file was cut short, all the rest, for
 * each hole splits the mapping, and a process may have only so many of them.
 */
static size_t pages_lost(const struct mapping *mapping, size_t page, size_t nr_pages)
{
	struct stat st;

	if (fstat(mapping->fd, &st) || !S_ISREG(st.st_mode))
		return 1;
	return mapping->offset + page * mapping->page >= (uint64_t)st.st_size ? nr_pages - page : 1;
}

static void record(struct mapping *mapping, size_t page, size_t nr)
{
	bool is_new = false;

	while (nr) {
		size_t bit = page % 64, part = nr < 64 - bit ? nr : 64 - bit;
		uint64_t mask = (part == 64 ? ~0ULL : (1ULL << part) - 1) << bit;

		is_new |= (__atomic_fetch_or(&mapping->failed[page / 64], mask, __ATOMIC_SEQ_CST) & mask) !=
			  mask;
		page += part;
		nr -= part;
	}
	if (is_new)
		__atomic_fetch_add(mapping->faults, 1, __ATOMIC_SEQ_CST);
}

/* Record that a page has failed, then make it readable. False when nothing could be put in its place. */
static bool fail_page(struct mapping *mapping, uintptr_t addr)
{
	size_t nr_pages = (mapping->size + mapping->page - 1) / mapping->page;
	size_t page = (addr - mapping->base) / mapping->page, nr = pages_lost(mapping, page, nr_pages);

	if (nr == 1 && __atomic_fetch_add(&mapping->holes, 1, __ATOMIC_SEQ_CST) >= MAX_HOLES) {
		page = 0;
		nr = nr_pages;
	}
	record(mapping, page, nr);
	return put_zeros(mapping->base + page * mapping->page, nr * mapping->page);
}

static void pass_to_host(int sig, siginfo_t *info, void *context)
{
	if (host_action.sa_flags & SA_SIGINFO) {
		host_action.sa_sigaction(sig, info, context);
	} else if (host_action.sa_handler == SIG_IGN && info->si_code <= 0) {
		/* Sent by a process, and not wanted. A fault can't be ignored: it would come back for ever. */
		return;
	} else if (host_action.sa_handler == SIG_DFL || host_action.sa_handler == SIG_IGN) {
		signal(sig, SIG_DFL);
		raise(sig);
	} else {
		host_action.sa_handler(sig);
	}
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	uintptr_t addr = (uintptr_t)info->si_addr;
	struct mapping *mapping = __atomic_load_n(&mappings, __ATOMIC_ACQUIRE);

	if (info->si_code > 0) {
		while (mapping && !contains(mapping, addr))
			mapping = mapping->next;
		if (mapping && fail_page(mapping, addr)) {
			errno = saved_errno;
			return;
		}
	}
	pass_to_host(sig, info, context);
	errno = saved_errno;
}

void guard_enter(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	pthread_mutex_lock(&lock);
	if (!entered++) {
		sigemptyset(&action.sa_mask);
		sigaction(SIGBUS, NULL, &host_action);
		sigaction(SIGBUS, &action, NULL);
	}
	pthread_mutex_unlock(&lock);
}

void guard_leave(void)
{
	struct sigaction now;

	pthread_mutex_lock(&lock);
	/* A handler that the host has installed meanwhile is the host's business: it goes back. */
	if (!--entered && !sigaction(SIGBUS, &host_action, &now) &&
	    !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_sigbus))
		sigaction(SIGBUS, &now, NULL);
	pthread_mutex_unlock(&lock);
}

/* The file system's unit of faulting. */
static size_t fault_size(int fd)
{
	struct statfs fs;

	if (!fstatfs(fd, &fs) && fs.f_type == HUGETLBFS_MAGIC)
		return (size_t)fs.f_bsize;
	return 4096;
}

/* Find an unused entry of the list or make one. Call with the lock held. */
static struct mapping *new_mapping(void)
{
	struct mapping *mapping = mappings;

	while (mapping && mapping->size)
		mapping = mapping->next;
	if (mapping)
		return mapping;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return NULL;
	mapping->next = mappings;
	__atomic_store_n(&mappings, mapping, __ATOMIC_RELEASE);
	return mapping;
}

static bool add_mapping(struct guard *guard, const struct mapping *wanted)
{
	struct mapping *mapping;

	pthread_mutex_lock(&lock);
	mapping = new_mapping();
	if (mapping) {
		__atomic_fetch_add(&mapping->seq, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&mapping->base, wanted->base, __ATOMIC_RELAXED);
		__atomic_store_n(&mapping->size, wanted->size, __ATOMIC_RELAXED);
		mapping->page = wanted->page;
		mapping->failed = wanted->failed;
		mapping->failed_size = wanted->failed_size;
		mapping->fd = wanted->fd;
		mapping->offset = wanted->offset;
		mapping->holes = mapping->parts = 0;
		mapping->faults = &guard->faults;
		__atomic_fetch_add(&mapping->seq, 1, __ATOMIC_SEQ_CST);
		mapping->sibling = guard->first;
		__atomic_store_n(&guard->first, mapping, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return mapping != NULL;
}

/* Make a mapping known whose memory is there; NULL, and no mapping, when it can't be. */
static const uint8_t *keep_mapping(struct guard *guard, struct mapping *mapping, void *base, int *ret_why)
{
	void *failed;

	/* An untouched record costs address space only. */
	mapping->failed_size = mapping->size / mapping->page / 8 + 64;
	failed = mmap(NULL, mapping->failed_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	mapping->base = (uintptr_t)base;
	mapping->failed = failed;
	if (failed != MAP_FAILED && add_mapping(guard, mapping))
		return base;
	*ret_why = ENOMEM;
	if (failed != MAP_FAILED)
		munmap(failed, mapping->failed_size);
	munmap(base, mapping->size);
	return NULL;
}

const uint8_t *guard_map(struct guard *guard, int fd, uint64_t offset, uint64_t size, int *ret_why)
{
	struct mapping mapping = { .size = size, .page = fault_size(fd), .fd = fd, .offset = offset };
	void *base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)offset);

	if (base != MAP_FAILED)
		return keep_mapping(guard, &mapping, base, ret_why);
	*ret_why = errno;
	return NULL;
}

const uint8_t *guard_reserve(struct guard *guard, int fd, uint64_t offset, uint64_t size, int *ret_why)
{
	struct mapping mapping = { .size = size, .page = fault_size(fd), .fd = fd, .offset = offset };
	void *base = mmap(NULL, mapping.page, PROT_READ, MAP_SHARED, fd, (off_t)offset);

	if (base != MAP_FAILED) {
		munmap(base, mapping.page);
		/* Nothing may be read there, not even zeros: who has not asked for a part is wrong. */
		base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	if (base == MAP_FAILED) {
		*ret_why = errno;
		return NULL;
	}
	guard->in_parts = true;
	return keep_mapping(guard, &mapping, base, ret_why);
}

/* The mapping of a memory in which an address lies, or NULL. */
static struct mapping *find_mapping(const struct guard *guard, const void *start)
{
	struct mapping *mapping = guard->first;

	while (mapping && (uintptr_t)start - mapping->base >= mapping->size)
		mapping = mapping->sibling;
	return mapping;
}

bool guard_map_part(struct guard *guard, const void *start, size_t len)
{
	struct mapping *mapping = find_mapping(guard, start);
	uintptr_t skip = (uintptr_t)start - mapping->base;

	if (len > mapping->size - skip)
		len = mapping->size - skip;
	if (guard_range_failed(guard, start, len))
		return false;
	if (__atomic_fetch_add(&mapping->parts, 1, __ATOMIC_SEQ_CST) < MAX_PARTS &&
	    mmap((void *)(uintptr_t)start, len, PROT_READ, MAP_SHARED | MAP_FIXED, mapping->fd,
		 (off_t)(mapping->offset + skip)) != MAP_FAILED)
		return true;
	record(mapping, skip / mapping->page, (len + mapping->page - 1) / mapping->page);
	return false;
}

void guard_unmap_all(struct guard *guard)
{
	pthread_mutex_lock(&lock);
	for (struct mapping *mapping = guard->first; mapping; mapping = mapping->sibling) {
		munmap((void *)mapping->base, mapping->size);
		munmap(mapping->failed, mapping->failed_size);
		__atomic_fetch_add(&mapping->seq, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&mapping->size, 0, __ATOMIC_RELAXED);
		__atomic_fetch_add(&mapping->seq, 1, __ATOMIC_SEQ_CST);
	}
	guard->first = NULL;
	pthread_mutex_unlock(&lock);
}

bool guard_range_failed(const struct guard *guard, const void *start, size_t len)
{
	const struct mapping *mapping = find_mapping(guard, start);
	uintptr_t addr = (uintptr_t)start;
	size_t last;

	if (!mapping)
		return false;
	last = (addr - mapping->base + (len ? len - 1 : 0)) / mapping->page;
	for (size_t page = (addr - mapping->base) / mapping->page; page <= last; page++)
		if (__atomic_load_n(&mapping->failed[page / 64], __ATOMIC_SEQ_CST) >> (page % 64) & 1)
			return true;
	return false;
}
