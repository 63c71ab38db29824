/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expressions that name an object: a cast, a base, a member path. */
#include <kwalk/object.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <kwalk/symbol.h>

#include "kernel/global.h"
#include "kernel/task_walk.h"
#include "memory/memory.h"
#include "type/types.h"
#include "util/error.h"

#define MAX_EXPR 2048

struct parser {
	kw_ctx *ctx;
	char text[MAX_EXPR];
	char *at;
	const struct kw_type *type;
	bool pointer; /* the cast ends in * */
	bool number;  /* the base is an address as such */
	uint64_t address;
};

static kw_status expected(struct parser *p, const char *what)
{
	return kw_fail(p->ctx, KW_INVALID, "expression \"%s\": expected %s at column %zu", p->text, what,
		       (size_t)(p->at - p->text) + 1);
}

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static kw_status parse_cast(struct parser *p)
{
	char name[256], *close = strchr(p->at, ')');
	size_t len;
	kw_status status;

	if (!close)
		return expected(p, "a ) after the type");
	len = (size_t)(close - p->at) - 1;
	while (len && isspace((unsigned char)p->at[len]))
		len--;
	p->pointer = len && p->at[len] == '*';
	if (p->pointer)
		len--;
	while (len && isspace((unsigned char)p->at[len]))
		len--;
	if (!len || len >= sizeof(name))
		return expected(p, "a type");
	memcpy(name, p->at + 1, len);
	name[len] = '\0';
	status = kw_type_find(p->ctx, name + strspn(name, " \t"), &p->type);
	if (status)
		return kw_fail_in(p->ctx, "expression \"%s\"", p->text);
	p->at = close + 1;
	return KW_OK;
}

static size_t name_length(const char *at)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_' ||
	       (len && at[len] == '.' && at[len + 1] == '.'))
		len++;
	return len;
}

static kw_status known_type(struct parser *p, const char *symbol)
{
	kw_status status = p->type ? KW_OK : kw_global_type(p->ctx, symbol, &p->type);
	char remark[1024];

	if (status != KW_INVALID)
		return status;
	return kw_fail(p->ctx, KW_INVALID,
		       "the type of \"%s\" is not known: BTF has none for most variables; say it, as in "
		       "'(struct list_head)%s', or give the vmlinux with debug information with -k%s",
		       symbol, symbol, kw_type_module_remark(p->ctx, remark, sizeof(remark)));
}

/* The text up to `stop`, then the number after it up to ')': the arguments of per_cpu() and task(). */
static kw_status parse_number(struct parser *p, uint64_t limit, uint64_t *ret)
{
	char *end;

	skip_blanks(p);
	if (!isdigit((unsigned char)*p->at))
		return expected(p, "a number");
	*ret = strtoull(p->at, &end, 0);
	if (*ret >= limit)
		return expected(p, "a smaller number");
	p->at = end;
	skip_blanks(p);
	if (*p->at != ')')
		return expected(p, ")");
	p->at++;
	return KW_OK;
}

static kw_status parse_per_cpu(struct parser *p)
{
	char symbol[KW_SYMBOL_NAME_SIZE];
	uint64_t cpu;
	size_t len;
	kw_status status;

	p->at += strlen("per_cpu(");
	skip_blanks(p);
	len = name_length(p->at);
	if (!len || len >= sizeof(symbol))
		return expected(p, "a per-CPU symbol");
	memcpy(symbol, p->at, len);
	symbol[len] = '\0';
	p->at += len;
	skip_blanks(p);
	if (*p->at != ',')
		return expected(p, ", and a CPU");
	p->at++;
	status = parse_number(p, KW_MAX_CPUS, &cpu);
	if (!status)
		status = kw_percpu_address(p->ctx, symbol, (unsigned int)cpu, &p->address);
	return status ? status : known_type(p, symbol);
}

static kw_status parse_task(struct parser *p)
{
	const struct kw_kernel *kernel;
	struct kw_task_ref ref;
	uint64_t pid;
	kw_status status;

	p->at += strlen("task(");
	status = parse_number(p, KW_PID_LIMIT, &pid);
	if (!status)
		status = kw_kernel_get(p->ctx, &kernel);
	if (status)
		return status;
	status = kw_pid_lookup(p->ctx, kernel, (int32_t)pid, &ref);
	if (status == KW_NOTFOUND)
		return kw_fail(p->ctx, status, "there is no process %llu", (unsigned long long)pid);
	if (status)
		return kw_fail(p->ctx, status, "process %llu: %s", (unsigned long long)pid,
			       status == KW_FORMAT ? "the PID table is damaged"
						   : kw_absent_text(kw_absent_of_status(status)));
	p->address = ref.task;
	p->type = kernel->task_struct;
	return KW_OK;
}

static kw_status refuse_per_cpu(struct parser *p, const char *symbol)
{
	const struct kw_kernel *kernel;
	kw_status status = kw_kernel_get(p->ctx, &kernel);

	if (status || !kw_is_per_cpu(kernel, p->address))
		return status;
	return kw_fail(p->ctx, KW_INVALID, "\"%s\": each CPU has its own; say of which, as in per_cpu(%s, 0)",
		       symbol, symbol);
}

static kw_status parse_symbol(struct parser *p)
{
	char symbol[KW_SYMBOL_NAME_SIZE];
	size_t len = name_length(p->at);
	kw_status status;

	if (!len || len >= sizeof(symbol))
		return expected(p, "a symbol, an address, per_cpu(SYMBOL, CPU) or task(PID)");
	memcpy(symbol, p->at, len);
	symbol[len] = '\0';
	p->at += len;
	status = kw_global_address(p->ctx, symbol, &p->address);
	if (!status)
		status = refuse_per_cpu(p, symbol);
	return status ? status : known_type(p, symbol);
}

static kw_status parse_base(struct parser *p)
{
	skip_blanks(p);
	if (*p->at == '&')
		p->at++;
	if (strncmp(p->at, "per_cpu(", 8) == 0)
		return parse_per_cpu(p);
	if (strncmp(p->at, "task(", 5) == 0)
		return parse_task(p);
	if (!isdigit((unsigned char)*p->at))
		return parse_symbol(p);
	if (!p->type)
		return expected(p, "a cast such as (struct task_struct) before the address");
	p->number = true;
	p->address = strtoull(p->at, &p->at, 16);
	return KW_OK;
}

static kw_status follow(struct parser *p, uint64_t *address, uint64_t at)
{
	kw_status status = kw_read_u64(p->ctx, at, address);

	if (!status && !*address)
		return kw_fail(p->ctx, KW_ABSENT, "expression \"%s\": a pointer on the way is NULL", p->text);
	if (status)
		return kw_fail(p->ctx, status, "expression \"%s\": 0x%llx: %s", p->text,
			       (unsigned long long)at, kw_absent_text(kw_absent_of_status(status)));
	return KW_OK;
}

static kw_status get_value(struct parser *p, const struct kw_path *path, uint64_t address,
			   struct kw_object *ret)
{
	static _Thread_local char text[KW_PATH_MAX_STRING];
	struct kw_path last = *path;
	struct kw_plan plan = { 0 };
	kw_status status;

	last.nr_hops = 0;
	status = kw_plan_add(p->ctx, &plan, &last, 0);
	if (!status)
		status = kw_plan_finish(p->ctx, &plan);
	if (!status && kw_plan_run(p->ctx, &plan, address, &ret->value) == KW_OK &&
	    (ret->value.type == KW_VAL_STRING || ret->value.type == KW_VAL_BYTES)) {
		memcpy(text, ret->value.str, ret->value.len);
		ret->value.str = text;
	}
	ret->is_value = true;
	kw_plan_deinit(&plan);
	return status;
}

static kw_status resolve(struct parser *p, struct kw_object *ret)
{
	struct kw_path path;
	uint64_t address = p->address;
	const char *text = p->at;
	kw_status status = KW_OK;

	if (p->pointer && !p->number)
		status = follow(p, &address, address);
	skip_blanks(p);
	text = *p->at == '.' ? p->at + 1 : strncmp(p->at, "->", 2) == 0 ? p->at + 2 : p->at;
	if (text == p->at && *text && *text != '[')
		return expected(p, "., -> or [");
	if (text != p->at && !text[strspn(text, " \t\n")]) {
		p->at = (char *)text;
		return expected(p, "a member name");
	}
	if (!status)
		status = kw_path_compile(p->ctx, p->type, text, &path);
	for (uint32_t i = 0; !status && i < path.nr_hops; i++)
		status = follow(p, &address, address + path.hop[i]);
	if (status)
		return status;
	*ret = (struct kw_object){ .address = address + path.offset, .type = path.type };
	return path.load == KW_LOAD_OBJECT ? KW_OK : get_value(p, &path, address, ret);
}

kw_status kw_object_find(kw_ctx *ctx, const char *expr, struct kw_object *ret)
{
	struct parser p = { .ctx = ctx };
	kw_status status = KW_OK;

	if (!ctx->target)
		return kw_fail(ctx, KW_INVALID, "nothing is open: call kw_open() first");
	if (strlen(expr) >= MAX_EXPR)
		return kw_fail(ctx, KW_INVALID, "the expression is longer than %d bytes", MAX_EXPR - 1);
	strcpy(p.text, expr);
	p.at = p.text;
	kw_pass_begin(ctx);
	skip_blanks(&p);
	if (*p.at == '(')
		status = parse_cast(&p);
	if (!status)
		status = parse_base(&p);
	if (!status)
		status = resolve(&p, ret);
	kw_pass_end(ctx);
	return status;
}
