/* The catalogue of fields, and whether a kernel has what one needs. */
#include "unit/kernel_given.h"

#include "kernel/source.h"

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_fields, .fini = close_given);

Test(kernel_fields, not_available)
{
	g = given_config(&(struct kernel_config){
		.types = "struct cred { atomic_t usage; kuid_t uid; kuid_t euid; };", .tasks = "1 a\n" });
	given_open(&g, KERNEL_RAM);
	cr_expect_eq(kw_field_available(g.ctx, "tasks", kw_field_find("tasks", "egid")), KW_NOTFOUND);
	cr_expect_str_eq(
		kw_error(g.ctx),
		"path \"real_cred.egid\": struct cred has no member egid; did you mean euid or uid?");
	cr_expect_eq(kw_field_available(g.ctx, "tasks", kw_field_find("tasks", "euid")), KW_OK);
}

Test(kernel_fields, nothing_is_open)
{
	kw_ctx *empty = kw_new();

	cr_expect_eq(kw_field_available(empty, "tasks", kw_field_find("tasks", "pid")), KW_INVALID);
	kw_free(empty);
}

/* Groups that make the values of many rows have a column for each of their fields. */
Test(kernel_fields, no_more_than_there_are_columns)
{
	const struct kw_source *source;

	for (size_t i = 0; (source = kw_source_at(i)); i++) {
		const struct kw_source_def *def = kw_source_def(source->name);

		for (size_t k = 0; k < def->nr_groups; k++)
			if (def->groups[k].read_rows)
				cr_expect_leq(def->groups[k].table->nr, KW_ROWS_MAX_FIELDS, "%s",
					      source->name);
	}
}

/* What the catalogue promises and what a row holds are of the same type. */
static bool check_types(const struct kw_value *values, const struct kw_row_identity *row, void *arg)
{
	const struct kw_field *field;

	(void)row;
	(void)arg;
	for (size_t i = 0; (field = kw_field_at("tasks", i)); i++)
		if (values[i].type != KW_VAL_ABSENT)
			cr_expect_eq((enum kw_value_type)values[i].type, field->type, "%s: %s instead of %s",
				     field->name, kw_value_type_name(values[i].type),
				     kw_value_type_name(field->type));
	return true;
}

static void expect_types(struct given *given)
{
	char columns[16384] = "";
	const struct kw_field *field;
	kw_query *query;

	for (size_t i = 0; (field = kw_field_at("tasks", i)); i++)
		sprintf(columns + strlen(columns), "%s%s", i ? "," : "", field->name);
	given_open(given, KERNEL_RAM);
	query = bind_query(given, OPTIONS(.columns = columns));
	cr_assert_eq(kw_query_run(query, check_types, NULL), KW_OK, "%s", kw_error(given->ctx));
	kw_query_free(query);
}

Test(kernel_fields, values_have_the_type_that_was_promised)
{
	in_every_style(SOME_TASKS "400 rt policy=1 rtprio=7\n", expect_types);
}

Test(kernel_fields, no_name_stands_for_two)
{
	const struct kw_field *a, *b;

	for (size_t i = 0; (a = kw_field_at("tasks", i)); i++)
		for (size_t j = i + 1; (b = kw_field_at("tasks", j)); j++)
			cr_expect_str_neq(a->name, b->name);
	cr_expect_null(kw_field_at("tasks", SIZE_MAX));
}

/* What does not fit into the row's own buffer has a block, and goes with the row as well. */
Test(kernel_fields, text_of_a_row_has_no_end)
{
	static struct kw_row row;
	struct kw_value value[3 * KW_ROW_TEXT / 299];
	char text[300];

	for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
		memset(text, 'a' + (int)i % 26, sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		kw_set_row_text(&row, &value[i], text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
		cr_expect_eq(value[i].len, 299);
		cr_expect_eq(value[i].str[298], 'a' + (char)(i % 26));
	}
	cr_expect_leq(row.text_used, KW_ROW_TEXT);
	kw_row_begin(&row, 0);
	cr_expect_null(row.blocks);
	kw_row_deinit(&row);
}

/* A string that a hostile guest makes endless is cut at what is left of the buffer. */
Test(kernel_fields, text_that_is_too_long)
{
	static struct kw_row row;
	struct kw_value value;
	char *text = calloc(1, KW_ROW_MAX_TEXT + 1);

	cr_assert_not_null(text);
	kw_row_put(&row, &value, text, KW_ROW_MAX_TEXT + 1);
	cr_expect_eq(value.len, KW_ROW_TEXT);
	kw_row_put(&row, &value, text, 1);
	cr_expect_eq(value.len, 1);
	kw_row_deinit(&row);
	free(text);
}

Test(kernel_fields, names_of_users)
{
	struct kw_users *users = kw_users_new();
	const char *root = kw_user_name(users, 0);

	cr_assert_not_null(root);
	cr_expect_str_eq(root, "root");
	/* Asked for once. */
	cr_expect_eq(kw_user_name(users, 0), root);
	cr_expect_null(kw_user_name(users, 4123456789));
	cr_expect_null(kw_user_name(users, 4123456789));
	kw_users_free(users);
	kw_users_free(NULL);
}
