/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kdump_peer TARGET FILE...: reads each page of physical memory by kwalk and by libkdumpfile, and compares.
 *
 * libkdumpfile has one word for pages that are not there, whatever the reason.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkdumpfile/kdumpfile.h>

#include "fixtures/image.h"

#define PAGE	  4096
#define MAX_FILES 16

static kdump_ctx_t *open_peer(char **files, int nr)
{
	kdump_ctx_t *peer = kdump_new();
	int fds[MAX_FILES];

	for (int i = 0; i < nr; i++)
		fds[i] = open(files[i], O_RDONLY);
	if (!peer || kdump_open_fdset(peer, (unsigned int)nr, fds) != KDUMP_OK) {
		fprintf(stderr, "libkdumpfile: %s\n", peer ? kdump_get_err(peer) : "no memory");
		exit(2);
	}
	return peer;
}

static uint64_t end_of(const struct kw_memory *memory)
{
	size_t nr;
	const struct kw_segment *segments = kw_memory_physical(memory, &nr);

	return nr ? segments[nr - 1].paddr + segments[nr - 1].size : 0;
}

static int compare(kw_ctx *ctx, kdump_ctx_t *peer, uint64_t end)
{
	static unsigned char ours[PAGE], theirs[PAGE];
	unsigned long present = 0, missing = 0, different = 0;

	kw_pass_begin(ctx);
	for (uint64_t paddr = 0; paddr < end; paddr += PAGE) {
		size_t len = PAGE;
		kw_status status = kw_read_phys(ctx, paddr, ours, PAGE);
		bool there = kdump_read(peer, KDUMP_MACHPHYSADDR, paddr, theirs, &len) == KDUMP_OK;

		if (there != (status == KW_OK) || (there && memcmp(ours, theirs, PAGE)))
			different++;
		else if (there)
			present++;
		else
			missing++;
	}
	kw_pass_end(ctx);
	printf("%lu pages the same, %lu in neither, %lu different\n", present, missing, different);
	return different || !present;
}

int main(int argc, char **argv)
{
	struct image_target target;
	kdump_ctx_t *peer;
	int code;

	if (argc < 3 || argc - 2 > MAX_FILES)
		return 2;
	peer = open_peer(argv + 2, argc - 2);
	if (image_open_named(&target, argv[1], NULL) != KW_OK) {
		fprintf(stderr, "%s\n", kw_error(&target.ctx));
		return 2;
	}
	code = compare(&target.ctx, peer, end_of(target.target.memory));
	image_close(&target);
	kdump_free(peer);
	return code;
}
