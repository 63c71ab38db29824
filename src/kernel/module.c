/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source modules: /proc/modules. */
#include <stdio.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/list.h"
#include "kernel/source.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_MODULES  100000
#define MAX_TAINTS   32 /* kinds, of which there are 20 */
#define MAX_NAME     64 /* MODULE_NAME_LEN is 56 */

/* enum module_state */
enum { LIVE, COMING, GOING, UNFORMED };

static void state(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	static const char *const names[] = { "Live", "Loading", "Unloading" };

	(void)row;
	if (kw_pass_absent(in, 1, out))
		return;
	kw_set_string(out, in[0].u < COUNT(names) ? names[in[0].u] : "?");
}

/* One reference is the kernel's own. */
static void references(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 1, out))
		kw_set_int(out, in[0].i - 1);
}

/* Two parts until 6.3, up to seven since 6.4. */
static void size(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	uint64_t sum = 0;

	(void)row;
	if (kw_pass_absent(in, 2, out))
		return;
	for (int i = 0; i < 7; i++)
		sum += in[i].type == KW_VAL_UINT ? in[i].u : 0;
	kw_set_uint(out, sum);
}

static void permanent(struct kw_row *row, const struct kw_value *in, struct kw_value *out)
{
	(void)row;
	if (!kw_pass_absent(in, 2, out))
		kw_set_bool(out, in[0].u && !in[1].u);
}

static const struct kw_field_def path_fields[] = {
	KW_PATH_FIELD("name", "MODULE", STRING, NONE, PLAIN, OBJECT, "name", "module.name", "name", NULL),
	{ { "size", "SIZE", "", KW_VAL_UINT, KW_UNIT_BYTES, KW_SHOW_KIB, KW_SCOPE_ROW, KW_COST_OBJECT,
	    "memory it takes", "module.core_layout, init_layout; module.mem[]" },
	  { "core_layout.size | mem[0].size", "init_layout.size | mem[1].size", "mem[2].size", "mem[3].size",
	    "mem[4].size", "mem[5].size", "mem[6].size" },
	  size,
	  0 },
	KW_PATH_FIELD("refcnt", "REFS", INT, NONE, PLAIN, OBJECT, "how often it is in use", "module.refcnt",
		      "refcnt", references),
	KW_PATH_FIELD("state", "STATE", STRING, NONE, PLAIN, OBJECT, "Live, Loading or Unloading",
		      "module.state", "state", state),
	KW_PATH_FIELD("address", "ADDRESS", ADDRESS, NONE, HEX, OBJECT, "where its code lies",
		      "module.core_layout.base, module.mem[MOD_TEXT].base", "core_layout.base | mem[0].base",
		      NULL),
	KW_PATH_FIELD("taints", "TAINTS", UINT, NONE, HEX, OBJECT, "how it taints the kernel, bit by bit",
		      "module.taints", "taints", NULL),
	{ { "permanent", "PERMANENT", "", KW_VAL_BOOL, KW_UNIT_NONE, KW_SHOW_PLAIN, KW_SCOPE_ROW,
	    KW_COST_OBJECT, "it can't be unloaded", "module.init, exit" },
	  { "init", "exit" },
	  permanent,
	  0 },
};

struct module_layout {
	uint64_t modules;				     /* struct list_head */
	uint64_t taint_flags, taint_size, letter, of_module; /* array of struct taint_flag */
	uint64_t list, name, state, taints, source_list;
	uint64_t use_list, use_source; /* struct module_use */
};

static kw_status resolve(kw_ctx *ctx, const struct kw_kernel *kernel, void *layout)
{
	struct module_layout *l = layout;
	struct kw_symbol_query q[] = { { "modules", KW_NO_ADDR }, { "taint_flags", KW_NO_ADDR } };
	const struct kw_type *type;

	(void)kernel;
	kw_symbol_addresses(ctx, q, COUNT(q));
	l->modules = q[0].addr;
	l->taint_flags = q[1].addr;
	l->taints = kw_offset_or_none(ctx, "module", "taints");
	l->letter = kw_offset_or_none(ctx, "taint_flag", "c_true");
	l->of_module = kw_offset_or_none(ctx, "taint_flag", "module");
	if (kw_type_find(ctx, "struct taint_flag", &type) == KW_OK)
		l->taint_size = type->size;
	l->list = kw_offset_or_none(ctx, "module", "list");
	l->name = kw_offset_or_none(ctx, "module", "name");
	l->state = kw_offset_or_none(ctx, "module", "state");
	l->source_list = kw_offset_or_none(ctx, "module", "source_list");
	l->use_list = kw_offset_or_none(ctx, "module_use", "source_list");
	l->use_source = kw_offset_or_none(ctx, "module_use", "source");
	return KW_OK;
}

static const struct kw_subject subject = { sizeof(struct module_layout), resolve };

enum { USERS, FLAGS };

static const struct kw_field_def user_fields[] = {
	[USERS] = KW_READ_FIELD("users", "USED BY", "", STRING, NONE, PLAIN, POINTER,
				"modules that use it, separated by commas", "module.source_list"),
	[FLAGS] = KW_READ_FIELD("flags", "FLAGS", "", STRING, NONE, PLAIN, OBJECT,
				"letters of its taints, - while it goes, + while it comes: (OE)",
				"module.taints, taint_flags[]"),
};

struct users {
	const struct module_layout *layout;
	char text[1024];
	size_t used;
	kw_status status;
};

static bool add_user(kw_ctx *ctx, uint64_t use, void *arg)
{
	struct users *users = arg;
	char name[MAX_NAME];
	uint64_t module;

	users->status = kw_read_u64(ctx, use + users->layout->use_source, &module);
	if (!users->status)
		users->status = kw_read_string(ctx, module + users->layout->name, name, sizeof(name));
	if (!users->status)
		users->used += (size_t)snprintf(users->text + users->used, sizeof(users->text) - users->used,
						"%s%s", users->used ? "," : "", name);
	return !users->status && users->used < sizeof(users->text) - MAX_NAME - 1;
}

static void set_users(struct kw_row *row, const struct module_layout *l, struct kw_value *out)
{
	struct users users = { .layout = l };
	kw_status status;

	if (l->source_list == KW_NO_ADDR || l->use_list == KW_NO_ADDR || l->use_source == KW_NO_ADDR ||
	    l->name == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_MEMBER);
		return;
	}
	status = kw_list_each(row->ctx, row->task + l->source_list, l->use_list, MAX_MODULES, add_user,
			      &users);
	status = status ? status : users.status;
	if (status)
		kw_set_absent(out, kw_absent_of_status(status));
	else
		kw_set_row_text(row, out, users.text);
}

/* Add the letter of a taint; until 6.19 or so those that are the kernel's alone were told apart, and have none here. */
static kw_status add_letter(kw_ctx *ctx, const struct module_layout *l, unsigned int bit, char **at)
{
	uint64_t flag = l->taint_flags + bit * l->taint_size;
	char letter, of_module = 1;
	kw_status status = kw_read(ctx, flag + l->letter, &letter, 1);

	if (!status && l->of_module != KW_NO_ADDR)
		status = kw_read(ctx, flag + l->of_module, &of_module, 1);
	if (!status && of_module)
		*(*at)++ = letter;
	return status;
}

static void set_flags(struct kw_row *row, const struct module_layout *l, struct kw_value *out)
{
	char text[MAX_TAINTS + 8] = "(", *at = text + 1;
	uint64_t taints;
	uint32_t now;
	kw_status status;

	if (l->taint_flags == KW_NO_ADDR || !l->taint_size || l->letter == KW_NO_ADDR ||
	    l->taints == KW_NO_ADDR || l->state == KW_NO_ADDR) {
		kw_set_absent(out, KW_ABSENT_NO_SYMBOL);
		return;
	}
	status = kw_read_u64(row->ctx, row->task + l->taints, &taints);
	if (!status)
		status = kw_read_u32(row->ctx, row->task + l->state, &now);
	for (unsigned int bit = 0; !status && bit < MAX_TAINTS; bit++)
		if (taints >> bit & 1)
			status = add_letter(row->ctx, l, bit, &at);
	if (status) {
		kw_set_absent(out, kw_absent_of_status(status));
		return;
	}
	if (taints && now == GOING)
		*at++ = '-';
	if (taints && now == COMING)
		*at++ = '+';
	strcpy(at, ")");
	kw_set_row_text(row, out, taints ? text : "");
}

static void read_users(struct kw_row *row, const void *layout, struct kw_value *values)
{
	set_users(row, layout, &values[USERS]);
	set_flags(row, layout, &values[FLAGS]);
}

static const struct kw_field_table path_table = { path_fields, COUNT(path_fields) };
static const struct kw_field_table user_table = { user_fields, COUNT(user_fields) };

static const struct kw_field_group groups[] = {
	{ .table = &path_table },
	{ .table = &user_table, .subject = &subject, .read = read_users },
};

struct module_walk {
	const struct module_layout *layout;
	kw_take_rows take;
	void *arg;
};

/* One that is being loaded and has no shape yet is on the list as well. */
static bool take_module(kw_ctx *ctx, uint64_t module, void *arg)
{
	struct module_walk *w = arg;
	uint32_t now = LIVE;

	if (w->layout->state != KW_NO_ADDR && kw_read_u32(ctx, module + w->layout->state, &now) == KW_OK &&
	    now == UNFORMED)
		return true;
	return kw_take_row(w->take, module, 0, 0, w->arg);
}

static kw_status walk(kw_ctx *ctx, const struct kw_kernel *kernel, const void *layout, kw_take_rows take,
		      void *arg)
{
	struct module_walk w = { layout, take, arg };

	(void)kernel;
	if (w.layout->modules == KW_NO_ADDR || w.layout->list == KW_NO_ADDR)
		return KW_NOTFOUND;
	return kw_list_each(ctx, w.layout->modules, w.layout->list, MAX_MODULES, take_module, &w);
}

const struct kw_source_def kw_module_source = {
	.pub = { "modules", "a kernel module", "name,size,refcnt,users,state" },
	.type = "struct module",
	.groups = groups,
	.nr_groups = COUNT(groups),
	.subject = &subject,
	.walk = walk,
};
