/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the kernel writes values in the files of /proc. */
#include <inttypes.h>
#include <string.h>

#include "cli/proc_text.h"

#define TICK_NS	   10000000 /* of the kernel's USER_HZ, which is 100 on x86 */
#define LOAD_ONE   2048	    /* 1.00 as the kernel keeps averages of load */
#define PAGE_BYTES 4096

static void put_limit(FILE *out, uint64_t limit)
{
	if (limit == UINT64_MAX)
		fprintf(out, "%-20s ", "unlimited");
	else
		fprintf(out, "%-20" PRIu64 " ", limit);
}

static void put_load(FILE *out, double average)
{
	/* Half a hundredth more, and then cut, in fixed point as the kernel does it. */
	uint64_t fixed = (uint64_t)(average * LOAD_ONE + 0.5) + LOAD_ONE / 200;

	fprintf(out, "%" PRIu64 ".%02" PRIu64, fixed / LOAD_ONE, fixed % LOAD_ONE * 100 / LOAD_ONE);
}

static void put_escaped(FILE *out, const struct kw_value *v)
{
	for (uint32_t i = 0; i < v->len; i++) {
		if (v->str[i] == '\n')
			fputs("\\n", out);
		else if (v->str[i] == '\\')
			fputs("\\\\", out);
		else
			fputc(v->str[i], out);
	}
}

static void put_words(FILE *out, const struct kw_value *v, char between)
{
	for (uint32_t i = 0; i < v->len; i++)
		fputc(v->str[i] == ' ' ? between : v->str[i], out);
}

static void put_state(FILE *out, const struct kw_value *v)
{
	static const char *const names[] = { "R (running)", "S (sleeping)",	"D (disk sleep)",
					     "T (stopped)", "t (tracing stop)", "X (dead)",
					     "Z (zombie)",  "P (parked)",	"I (idle)" };

	for (size_t i = 0; v->len && i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i][0] == v->str[0])
			fputs(names[i], out);
}

static bool put_text(FILE *out, enum proc_notation notation, const struct kw_value *v)
{
	if (v->type != KW_VAL_STRING && v->type != KW_VAL_BYTES)
		return false;
	switch (notation) {
	case PROC_ESCAPED: put_escaped(out, v); break;
	case PROC_TABS: put_words(out, v, '\t'); break;
	case PROC_STATE: put_state(out, v); break;
	case PROC_LINES:
	case PROC_WORDS:
		fwrite(v->str, 1, v->len, out);
		fputs(!v->len ? "" : notation == PROC_LINES ? "\n" : " ", out);
		break;
	default: fwrite(v->str, 1, v->len, out);
	}
	return true;
}

static void put_number(FILE *out, enum proc_notation notation, const struct kw_value *v)
{
	switch (notation) {
	case PROC_NOTHING: break;
	case PROC_TICKS: fprintf(out, "%" PRIu64, v->u / TICK_NS); break;
	case PROC_SECONDS:
		fprintf(out, "%" PRIu64 ".%02" PRIu64, v->u / 1000000000, v->u % 1000000000 / 10000000);
		break;
	case PROC_PAGES: fprintf(out, "%" PRIu64, v->u / PAGE_BYTES); break;
	case PROC_KIB: fprintf(out, "%8" PRIu64 " kB", v->u / 1024); break;
	case PROC_SIGNALS: fprintf(out, "%" PRIu64, v->u & 0x7fffffff); break;
	case PROC_OCTAL: fprintf(out, "%#04" PRIo64, v->u); break;
	case PROC_HEX8: fprintf(out, "%08" PRIx64, v->u); break;
	case PROC_HEX16: fprintf(out, "%016" PRIx64, v->u); break;
	case PROC_HEX: fprintf(out, "%#" PRIx64, v->u); break;
	case PROC_LIMIT: put_limit(out, v->u); break;
	case PROC_LOAD: put_load(out, v->f); break;
	default:
		if (v->type == KW_VAL_INT)
			fprintf(out, "%" PRId64, v->i);
		else
			fprintf(out, "%" PRIu64, v->u);
	}
}

bool proc_put_value(FILE *out, enum proc_notation notation, const struct kw_value *v)
{
	if (notation <= PROC_STATE)
		return put_text(out, notation, v);
	if (v->type == KW_VAL_STRING || v->type == KW_VAL_BYTES)
		return false;
	put_number(out, notation, v);
	return true;
}
