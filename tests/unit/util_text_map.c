/* Texts by a number. */
#include <criterion/criterion.h>

#include "util/text_map.h"

Test(util_text_map, full)
{
	struct kw_text_map map = { 0 };

	for (uint64_t i = 0; i < KW_TEXT_MAP_MAX; i++)
		cr_assert_not_null(kw_text_map_put(&map, i << 32, (const char *)&i, sizeof(i)));
	cr_expect_null(kw_text_map_put(&map, 1, "x", 1));
	for (uint64_t i = 0; i < KW_TEXT_MAP_MAX; i++) {
		const struct kw_text *text = kw_text_map_find(&map, i << 32);

		cr_assert_not_null(text);
		cr_expect_arr_eq(text->bytes, &i, sizeof(i));
	}
	kw_text_map_clear(&map);
	cr_expect_null(kw_text_map_find(&map, 0));
}

Test(util_text_map, texts_stay_where_they_are)
{
	struct kw_text_map map = { 0 };
	const struct kw_text *first = kw_text_map_put(&map, 0, NULL, 0);

	for (uint64_t i = 1; i < 1000; i++)
		kw_text_map_put(&map, i, "text", 4);
	cr_expect_eq(kw_text_map_find(&map, 0), first);
	cr_expect_eq(first->len, 0);
	cr_expect_null(kw_text_map_find(&map, 1000));
	kw_text_map_clear(&map);
}
