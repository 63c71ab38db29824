/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Machines that QEMU has saved: what migrate and savevm write, and, behind a header and a description in XML, virsh
 * save. Of it the guest's RAM is taken, which becomes an image of it. All numbers have their highest byte first.
 *
 *     "QEVM", version 3
 *     07  machine's name, then subsections (05): capabilities, UUID, ...
 *     01  section of "ram": its ID, name, instance, version 4; records
 *     02  more records of that section ... 03  the last ones; 7e behind each section: its ID again
 *     04  devices
 *
 * A record is an address in a block with flags in its low bits: the list of blocks with their sizes first, then pages,
 * each with the name of its block unless that is the one before. A page may come again, and the last one counts.
 * Nothing can be skipped of which the length is not known: what is not understood is refused. A page that never came
 * is unknown, not zeros, so that such a file is refused, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/packed_file.h"
#include "util/error.h"

#define MIN_RAM	   (1ULL << 20)
#define MAX_RAM	   (1ULL << 44)
#define MAX_BLOCKS 4096
#define MAX_XML	   (64U << 20)
#define NAME_SIZE  256

enum { SECTION_START = 1, SECTION_PART, SECTION_END, SECTION_FULL, SUBSECTION, CONFIGURATION = 7, COMMAND };
#define SECTION_FOOTER 0x7e

enum {
	PAGE_ZERO = 0x02,
	BLOCK_LIST = 0x04,
	PAGE_WHOLE = 0x08,
	RECORDS_END = 0x10,
	SAME_BLOCK = 0x20,
	PAGE_XBZRLE = 0x40,
	PAGE_HOOK = 0x80,
	PAGE_COMPRESSED = 0x100,
	MULTIFD = 0x200,
};

struct saved {
	struct unpacking *u;
	size_t at; /* in the piece that was read */
	kw_status status;
	char name[NAME_SIZE];  /* of RAM's block */
	char block[NAME_SIZE]; /* of the page before */
	uint64_t size;	       /* of RAM; 0: the list of blocks has not come yet */
	uint64_t missing;      /* pages of it that have not come yet */
	uint64_t *seen;	       /* a bit for each page */
	uint32_t section;
	bool has_section;
};

/* Reading */

static void fail(struct saved *s, const char *what)
{
	if (s->status == KW_OK)
		s->status =
			kw_fail(s->u->ctx, KW_UNSUPPORTED,
				"%s: is a saved QEMU machine %s, which is not read; use dump-guest-memory or "
				"virsh dump --memory-only",
				s->u->memory->name, what);
}

static void fail_damaged(struct saved *s, const char *what)
{
	if (s->status == KW_OK)
		s->status = kw_fail(s->u->ctx, KW_FORMAT, "%s: the saved QEMU machine in it is damaged: %s",
				    s->u->memory->name, what);
}

/* Take the next bytes; ret == NULL: pass over them. Zeros after a failure. */
static void take(struct saved *s, void *ret, size_t len)
{
	uint8_t *to = ret;

	if (to)
		memset(to, 0, len);
	while (len && s->status == KW_OK) {
		size_t part = s->u->len - s->at < len ? s->u->len - s->at : len;

		if (!part) {
			s->status = packed_read(s->u);
			s->at = 0;
			if (s->status == KW_OK && !s->u->len)
				s->status = kw_fail(s->u->ctx, KW_FORMAT,
						    "%s: the saved QEMU machine in it was cut short",
						    s->u->memory->name);
			continue;
		}
		if (to)
			memcpy(to, s->u->in + s->at, part);
		to = to ? to + part : NULL;
		s->at += part;
		len -= part;
	}
}

static uint8_t take_u8(struct saved *s)
{
	uint8_t value;

	take(s, &value, sizeof(value));
	return value;
}

static uint16_t take_u16(struct saved *s)
{
	uint16_t value;

	take(s, &value, sizeof(value));
	return __builtin_bswap16(value);
}

static uint32_t take_u32(struct saved *s)
{
	uint32_t value;

	take(s, &value, sizeof(value));
	return __builtin_bswap32(value);
}

static uint64_t take_u64(struct saved *s)
{
	uint64_t value;

	take(s, &value, sizeof(value));
	return __builtin_bswap64(value);
}

/* A name of a length that stands before it. */
static void take_name(struct saved *s, char name[NAME_SIZE])
{
	uint8_t len = take_u8(s);

	take(s, name, len);
	name[len] = '\0';
}

/* Configuration */

/* Capabilities that change the form of what is read here. */
static void check_capability(struct saved *s, const char *name)
{
	static const char *const other[] = { "multifd",		"mapped-ram", "postcopy-ram",
					     "x-ignore-shared", "xbzrle",     "compress" };
	char what[64];

	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		if (strcmp(name, other[i]) != 0)
			continue;
		snprintf(what, sizeof(what), "with the capability %s", other[i]);
		fail(s, what);
	}
}

static void take_subsection(struct saved *s)
{
	char name[NAME_SIZE];

	take_name(s, name);
	take_u32(s);
	if (!strcmp(name, "configuration/capabilities")) {
		for (uint32_t nr = take_u32(s); nr && s->status == KW_OK; nr--) {
			take_name(s, name);
			check_capability(s, name);
		}
	} else if (!strcmp(name, "configuration/target-page-bits")) {
		if (take_u32(s) != 12)
			fail(s, "with pages of another size than 4 KiB");
	} else if (!strcmp(name, "configuration/uuid")) {
		take(s, NULL, 16);
	} else {
		fail(s, "with an unknown configuration");
	}
}

static void take_configuration(struct saved *s)
{
	uint32_t len = take_u32(s);

	if (len >= NAME_SIZE)
		fail_damaged(s, "its machine has no name");
	else
		take(s, NULL, len);
}

/* RAM */

/* RAM's block may have any name, as the user of QEMU likes; those of firmware and video cards have these. */
static bool is_ram(const char *name, uint64_t size)
{
	static const char *const others[] = { "/rom@", ".rom", ".bios", "vram", "vga", "flash", "tpm" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strstr(name, others[i]))
			return false;
	return size >= MIN_RAM;
}

/* Take the list of all blocks: the guest's RAM is one of them, beside those of video cards and firmware. */
static void take_blocks(struct saved *s, uint64_t total)
{
	for (size_t nr = 0; total && s->status == KW_OK; nr++) {
		char name[NAME_SIZE];
		uint64_t size;

		take_name(s, name);
		size = take_u64(s);
		if (s->status != KW_OK)
			return;
		if (!size || size > total || nr == MAX_BLOCKS)
			return fail_damaged(s, "the sizes of its memory don't fit together");
		total -= size;
		if (!is_ram(name, size))
			continue;
		if (s->size)
			return fail(s, "with several blocks of RAM");
		if (size % PAGE_BYTES || size > MAX_RAM)
			return fail_damaged(s, "the size of its RAM is impossible");
		strcpy(s->name, name);
		s->size = size;
	}
	if (!s->size)
		return fail(s, "without RAM");
	s->missing = s->size / PAGE_BYTES;
	s->seen = calloc(s->missing / 64 + 1, sizeof(*s->seen));
	if (!s->seen && s->status == KW_OK)
		s->status = kw_fail_nomem(s->u->ctx);
}

static void keep_page(struct saved *s, uint64_t addr, const uint8_t *page)
{
	uint64_t nr = addr / PAGE_BYTES, bit = 1ULL << nr % 64;
	bool again = s->seen[nr / 64] & bit;

	if (s->status != KW_OK)
		return;
	s->seen[nr / 64] |= bit;
	s->missing -= !again;
	s->status = packed_write_at(s->u, addr, page, PAGE_BYTES, again);
}

static void take_page(struct saved *s, uint64_t addr, unsigned int flags)
{
	uint8_t page[PAGE_BYTES];
	bool ours;

	if (!(flags & SAME_BLOCK))
		take_name(s, s->block);
	ours = !strcmp(s->block, s->name);
	if (!s->size || !*s->block || (ours && addr >= s->size))
		return fail_damaged(s, "a page is of no block of its memory");
	if (flags & PAGE_ZERO)
		memset(page, take_u8(s), sizeof(page));
	else
		take(s, page, sizeof(page));
	if (ours)
		keep_page(s, addr, page);
}

static void take_records(struct saved *s)
{
	while (s->status == KW_OK) {
		uint64_t word = take_u64(s), addr = word & ~(PAGE_BYTES - 1);
		unsigned int flags = word & (PAGE_BYTES - 1), kind = flags & ~(unsigned int)SAME_BLOCK;

		if (s->status != KW_OK || flags == RECORDS_END)
			return;
		if (flags == BLOCK_LIST && !s->size)
			take_blocks(s, addr);
		else if (kind == PAGE_ZERO || kind == PAGE_WHOLE)
			take_page(s, addr, flags);
		else if (kind == PAGE_XBZRLE || kind == PAGE_HOOK || kind == PAGE_COMPRESSED ||
			 kind == MULTIFD)
			fail(s, "whose pages are packed, or sent in several ways");
		else
			fail_damaged(s, "a record of its memory is none");
	}
}

/* Sections */

static void begin_section(struct saved *s)
{
	char name[NAME_SIZE], what[NAME_SIZE + 64];
	uint32_t section = take_u32(s), version;

	take_name(s, name);
	take_u32(s);
	version = take_u32(s);
	if (s->status != KW_OK)
		return;
	if (strcmp(name, "ram") != 0 || version != 4 || s->has_section) {
		for (char *p = name; *p; p++)
			if (*p < ' ' || *p > '~')
				*p = '?';
		snprintf(what, sizeof(what), "with the state of %s before its memory", name);
		return fail(s, what);
	}
	s->has_section = true;
	s->section = section;
	take_records(s);
}

static void continue_section(struct saved *s)
{
	if (take_u32(s) != s->section || !s->has_section)
		return fail_damaged(s, "a section goes on that has not begun");
	take_records(s);
}

static void take_sections(struct saved *s)
{
	while (s->status == KW_OK) {
		uint8_t type = take_u8(s);

		switch (type) {
		case SECTION_START:
		case SECTION_FULL: begin_section(s); break;
		case SECTION_PART: continue_section(s); break;
		case SECTION_END: continue_section(s); return;
		case SUBSECTION: take_subsection(s); break;
		case CONFIGURATION: take_configuration(s); break;
		case COMMAND:
			take_u16(s);
			take(s, NULL, take_u16(s));
			break;
		case SECTION_FOOTER: take_u32(s); break;
		default: fail_damaged(s, "a section is of no known kind");
		}
	}
}

static kw_status take_machine(struct saved *s)
{
	take(s, NULL, 4);
	if (take_u32(s) != 3)
		fail(s, "of another version");
	take_sections(s);
	if (s->status == KW_OK && s->missing)
		s->status = kw_fail(
			s->u->ctx, KW_FORMAT,
			"%s: of the %llu pages of the saved QEMU machine in it %llu have not been saved",
			s->u->memory->name, (unsigned long long)(s->size / PAGE_BYTES),
			(unsigned long long)s->missing);
	s->u->written = s->size;
	free(s->seen);
	return s->status;
}

static kw_status unpack_qemu(struct unpacking *u)
{
	struct saved s = { .u = u };

	return take_machine(&s);
}

/*
 * virsh save: magic, version, length of the description, whether it ran, how it is compressed, and what is not wanted
 * here; in the byte order of its host.
 */
struct libvirt_header {
	char magic[16];
	uint32_t version, length, was_running, compressed, rest[15];
};

static kw_status unpack_libvirt(struct unpacking *u)
{
	struct saved s = { .u = u };
	struct libvirt_header header;

	take(&s, &header, sizeof(header));
	if (s.status == KW_OK && (header.version > 2 || header.length > MAX_XML))
		fail_damaged(&s, "its header is impossible");
	if (s.status == KW_OK && header.compressed)
		s.status = kw_fail(
			u->ctx, KW_UNSUPPORTED,
			"%s: is a guest saved by virsh save in a form that is not read (number %u); save it "
			"again with save_image_format = \"raw\" in qemu.conf, or use virsh dump "
			"--memory-only",
			u->memory->name, header.compressed);
	take(&s, NULL, header.length);
	return s.status == KW_OK ? take_machine(&s) : s.status;
}

const struct file_packing kw_packing_qemu = { "QEMU", "QEVM", 4, "saved QEMU machine", unpack_qemu };
const struct file_packing kw_packing_libvirt = { "libvirt", "LibvirtQemudSave", 16, "saved libvirt guest",
						 unpack_libvirt };
