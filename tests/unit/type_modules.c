/* The BTF of modules in memory: an IDR of struct btf, damaged and whole. */
#include "unit/type_given.h"

#include "fixtures/image.h"
#include "type/modules.h"

#define DIRECT	 0xffff888000000000ULL
#define RAM_SIZE 0x100000
#define IDR	 0x1000
#define BLOB	 0x8000

/* Offsets as the text of the kernel's BTF below gives them. */
enum { HEAD = 8, SHIFT = 0, SLOTS = 8, DATA = 0, DATA_SIZE = 8, START_ID = 12, BASE = 16, IS_KERNEL = 24 };

static const char kernel_text[] =
	"INT int 4 signed\nINT u8 1 unsigned\nINT _Bool 1 bool\nPTR 0\nARRAY 4 4\n"
	"STRUCT xarray 16 { xa_flags 1 0 ; xa_head 4 64 }\n"
	"STRUCT idr 24 { idr_rt 6 0 ; idr_base 1 128 }\n"
	"STRUCT xa_node 40 { shift 2 0 ; slots 5 64 }\n"
	"STRUCT btf 32 { data 4 0 ; data_size 1 64 ; start_id 1 96 ; base_btf 4 128 ; "
	"kernel_btf 3 192 }\n";

struct memory {
	struct image ram;
	struct image_target target;
	struct kw_btf *kernel;
	struct btf_blob kernel_blob, module_blob;
};

static void memory_begin(struct memory *m)
{
	uint8_t *copy;
	kw_ctx ctx = { 0 };

	m->ram = image_new(RAM_SIZE);
	m->kernel_blob = btf_build(kernel_text);
	m->module_blob = btf_build_split("STRUCT module_thing 8 { p 4 0 }", &m->kernel_blob);
	image_put(&m->ram, BLOB, m->module_blob.data, m->module_blob.size);
	copy = malloc(m->kernel_blob.size);
	memcpy(copy, m->kernel_blob.data, m->kernel_blob.size);
	cr_assert_eq(kw_btf_open(&ctx, copy, m->kernel_blob.size, KW_BTF_MALLOCED, NULL, &m->kernel), KW_OK);
}

/* A struct btf whose blob is the module's. */
static void put_btf(struct memory *m, uint64_t at)
{
	uint32_t size = (uint32_t)m->module_blob.size, start_id = kw_btf_nr(m->kernel) + 1;

	image_put_u64(&m->ram, at + DATA, DIRECT + BLOB);
	image_put(&m->ram, at + DATA_SIZE, &size, sizeof(size));
	image_put(&m->ram, at + START_ID, &start_id, sizeof(start_id));
	image_put_u64(&m->ram, at + BASE, DIRECT + 0x4000);
	image_put(&m->ram, at + IS_KERNEL, "\1", 1);
}

static void put_node(struct memory *m, uint64_t at, uint8_t shift, unsigned int slot, uint64_t entry)
{
	image_put(&m->ram, at + SHIFT, &shift, 1);
	image_put_u64(&m->ram, at + SLOTS + slot * 8, entry);
}

static size_t count_modules(struct memory *m)
{
	struct kw_modules *modules = calloc(1, sizeof(*modules));
	size_t nr;

	cr_assert_eq(image_open(&m->target, &m->ram, NULL), KW_OK);
	cr_assert_eq(kw_memory_set_direct_map(&m->target.ctx, DIRECT), KW_OK);
	kw_modules_walk(&m->target.ctx, modules, m->kernel, DIRECT + IDR);
	nr = modules->nr;
	for (size_t i = 0; i < nr; i++) {
		uint32_t id;

		cr_expect(kw_btf_find(modules->item[i], "module_thing", KW_BTF_STRUCT, &id));
		cr_expect_eq(id, kw_btf_nr(m->kernel) + 1);
	}
	kw_modules_free(modules);
	image_close(&m->target);
	return nr;
}

static void memory_end(struct memory *m)
{
	kw_btf_free(m->kernel);
	image_free(&m->ram);
	free(m->kernel_blob.data);
	free(m->module_blob.data);
}

Test(type_modules, cyclic_nodes)
{
	struct memory m;

	memory_begin(&m);
	image_put_u64(&m.ram, IDR + HEAD, DIRECT + 0x2002);
	for (unsigned int slot = 0; slot < 4; slot++) {
		put_node(&m, 0x2000, 12, slot, DIRECT + 0x2402);
		put_node(&m, 0x2400, 12, slot, DIRECT + 0x2002);
	}
	cr_expect_eq(count_modules(&m), 0);
	/* Nodes that go down as they should, but each leads to the same one four times. */
	for (unsigned int level = 0; level < 8; level++)
		for (unsigned int slot = 0; slot < 4; slot++)
			put_node(&m, 0x2000 + level * 0x400, (uint8_t)(42 - level * 6), slot,
				 DIRECT + 0x2402 + level * 0x400);
	cr_expect_eq(count_modules(&m), 0);
	memory_end(&m);
}

Test(type_modules, wild_entries)
{
	static const uint64_t entries[] = { 0,
					    1,
					    2,
					    6,
					    0x1002,
					    DIRECT + RAM_SIZE,
					    DIRECT + RAM_SIZE + 2,
					    DIRECT + RAM_SIZE - 8,
					    0xfffffffffffffffcull,
					    0xfffffffffffffffeull };
	struct memory m;

	memory_begin(&m);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		image_put_u64(&m.ram, IDR + HEAD, entries[i]);
		cr_expect_eq(count_modules(&m), 0, "entry 0x%llx", (unsigned long long)entries[i]);
	}
	memory_end(&m);
}

/* What is not quite a module's blob. */
Test(type_modules, others)
{
	static const struct {
		uint64_t at;
		uint8_t value;
	} cases[] = { { IS_KERNEL, 0 },	       { IS_KERNEL, 2 }, { START_ID, 1 },
		      { DATA_SIZE + 3, 0xff }, { DATA_SIZE, 3 }, { DATA + 2, 0xff } };
	struct memory m;

	memory_begin(&m);
	image_put_u64(&m.ram, IDR + HEAD, DIRECT + 0x3000);
	put_btf(&m, 0x3000);
	cr_expect_eq(count_modules(&m), 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		image_put(&m.ram, 0x3000 + cases[i].at, &cases[i].value, 1);
		cr_expect_eq(count_modules(&m), 0, "case %zu", i);
		put_btf(&m, 0x3000);
	}
	image_put_u64(&m.ram, 0x3000 + BASE, 0);
	cr_expect_eq(count_modules(&m), 0, "the kernel's own");
	memory_end(&m);
}

Test(type_modules, several_levels)
{
	struct memory m;

	memory_begin(&m);
	image_put_u64(&m.ram, IDR + HEAD, DIRECT + 0x2002);
	put_node(&m, 0x2000, 6, 0, DIRECT + 0x2402);
	put_node(&m, 0x2000, 6, 3, DIRECT + 0x2802);
	put_node(&m, 0x2400, 0, 1, DIRECT + 0x3000);
	put_node(&m, 0x2800, 0, 0, DIRECT + 0x3100);
	put_node(&m, 0x2800, 0, 3, DIRECT + 0x3200);
	for (uint64_t at = 0x3000; at <= 0x3200; at += 0x100)
		put_btf(&m, at);
	cr_expect_eq(count_modules(&m), 3);
	memory_end(&m);
}

/* A kernel that has none of this, as 5.10. */
Test(type_modules, no_layout)
{
	struct memory m;

	memory_begin(&m);
	kw_btf_free(m.kernel);
	free(m.kernel_blob.data);
	m.kernel_blob = btf_build("INT int 4 signed");
	cr_assert_eq(kw_btf_open(&(kw_ctx){ 0 },
				 memcpy(malloc(m.kernel_blob.size), m.kernel_blob.data, m.kernel_blob.size),
				 m.kernel_blob.size, KW_BTF_MALLOCED, NULL, &m.kernel),
		     KW_OK);
	cr_expect_eq(count_modules(&m), 0);
	memory_end(&m);
}
