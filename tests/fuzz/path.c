/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Member paths: the input is one, compiled on the task_struct of a small kernel and run on a task of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "access/plan.h"
#include "fixtures/kernel_image.h"

#define TEXT_MAX 1200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char more_types[] =
	"enum colour { BLUE = -1, RED, GREEN };"
	"struct packed tight { u8 a : 3; u32 b : 31; u64 c : 60; u64 d : 63; };"
	"struct one { struct { struct { int v; } b; } a; };"
	"struct cred { atomic_t usage; kuid_t uid; kuid_t euid; enum colour colour; struct tight tight; struct one one;"
	"	u8 octets[7]; const char *text; char **words; int table[3][4]; void *nothing; bool yes : 1, no;"
	"	union { long whole; struct { int low, high; }; }; struct cred *next; char flexible[]; };";

static struct kernel_image *kernel;
static kw_ctx *ctx;
static const struct kw_type *base;

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void prepare(void)
{
	kernel = kernel_new(&(struct kernel_config){ .types = more_types, .tasks = "1 a\n2 b ppid=1\n" });
	kernel_set(kernel, kernel_task(kernel, 1), "task_struct.real_cred.text",
		   kernel_symbol(kernel, "linux_banner"));
	require(kernel_open(kernel, KERNEL_RAM, &ctx) == KW_OK);
	require(kw_type_find(ctx, "struct task_struct", &base) == KW_OK);
}

static void check_path(const struct kw_path *path)
{
	require(path->nr_hops <= KW_PATH_MAX_HOPS && path->type);
	switch (path->load) {
	case KW_LOAD_BITS:
	case KW_LOAD_SIGNED_BITS:
		require(path->bits && path->bits <= 64 && path->shift + path->bits <= 8 * path->size);
		/* fall through */
	case KW_LOAD_UNSIGNED:
	case KW_LOAD_SIGNED:
	case KW_LOAD_BOOL:
	case KW_LOAD_ADDRESS:
	case KW_LOAD_STRING:
		require(path->size == 1 || path->size == 2 || path->size == 4 || path->size == 8);
		break;
	case KW_LOAD_CHARS:
	case KW_LOAD_BYTES: require(path->size && path->size <= KW_PATH_MAX_STRING); break;
	case KW_LOAD_OBJECT: break;
	}
	require((path->load == KW_LOAD_OBJECT) == (kw_path_value_type(ctx, path) == KW_VAL_ABSENT));
}

static void run_path(const struct kw_path *path)
{
	struct kw_plan plan = { 0 };
	struct kw_value values[2];
	kw_status status = kw_plan_add(ctx, &plan, path, 0);

	require((status == KW_OK) == (path->load != KW_LOAD_OBJECT));
	if (!status && !kw_plan_add(ctx, &plan, path, 1) && !kw_plan_finish(ctx, &plan)) {
		require(kw_plan_run(ctx, &plan, kernel_task(kernel, 1), values) == KW_OK ||
			values[0].type == KW_VAL_ABSENT);
		require(values[0].type == values[1].type && values[0].len == values[1].len);
		require(!kw_plan_changed(ctx, &plan));
	}
	kw_plan_deinit(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX];
	struct kw_path path;
	kw_status status;

	if (!kernel)
		prepare();
	if (size >= sizeof(text))
		size = sizeof(text) - 1;
	memcpy(text, data, size);
	text[size] = '\0';
	status = kw_path_compile(ctx, base, text, &path);
	require(status == KW_OK || *kw_error(ctx));
	if (status == KW_OK) {
		check_path(&path);
		run_path(&path);
	}
	return 0;
}
