/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats that are known by their first bytes, and that are not read: what they are, and what to do. */
#include <string.h>

#include "memory/source.h"
#include "util/error.h"

#define AS_ELF                                                                                                 \
	", which this version does not read; make the dump again as an ELF core (makedumpfile -E, or in QEMU " \
	"dump-guest-memory without a format)"

static const struct foreign {
	const char *magic;
	size_t len, at;
	const char *what;
} foreign[] = {
	{ "DISKDUMP", 8, 0, "a diskdump" AS_ELF },
	{ "\x1f\x8b\x08", 3, 0, "compressed twice; unpack it first (gzip -d)" },
	{ "\x28\xb5\x2f\xfd", 4, 0, "compressed twice; unpack it first (zstd -d)" },
	{ "\xfd"
	  "7zXZ\0",
	  6, 0, "compressed twice; unpack it first (xz -d)" },
	{ "1AY&SY", 6, 4, "compressed with bzip2; unpack it first (bzip2 -d)" },
	{ "\x04\x22\x4d\x18", 4, 0, "compressed with lz4; unpack it first (lz4 -d)" },
	{ "QFI\xfb", 4, 0, "a QEMU disk image, not memory" },
	{ "QEVM", 4, 0, "a saved QEMU machine, compressed; unpack it first" },
	{ "LibvirtQemudSave", 16, 0, "a guest saved by virsh save, compressed; unpack it first" },
	{ "LibvirtQemudPart", 16, 0,
	  "a guest that virsh save did not finish saving; write its memory with virsh dump --memory-only" },
	{ "\xd2\xbe\xd2\xbe", 4, 0,
	  "a suspended VMware machine, which is not read; convert it with VMware's vmss2core, or read its .vmem file" },
	{ "PAGEDU64", 8, 0, "a dump of Windows" },
	{ "PAGEDUMP", 8, 0, "a dump of Windows" },
	{ "HdrS", 4, 0x202, "a bootable kernel image, not memory" },
};

static const struct foreign *recognise(const uint8_t *head, size_t len)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
		const struct foreign *format = &foreign[i];

		if (len >= format->at + format->len && !memcmp(head + format->at, format->magic, format->len))
			return format;
	}
	return NULL;
}

static bool probe_foreign(const uint8_t *head, size_t len)
{
	return recognise(head, len) != NULL;
}

static kw_status open_foreign(kw_ctx *ctx, struct kw_memory *memory)
{
	uint8_t head[4096];
	size_t len = memory->file_size < sizeof(head) ? memory->file_size : sizeof(head);
	const struct foreign *format = NULL;

	if (!kw_read_file(memory->fd, 0, head, len))
		format = recognise(head, len);
	return kw_fail(ctx, KW_UNSUPPORTED, "%s: is %s", memory->name, format ? format->what : "changing");
}

const struct kw_source_ops kw_foreign_source = { "foreign", probe_foreign, open_foreign };
