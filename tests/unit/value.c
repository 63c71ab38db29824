/* Each reason, unit and type has a word, and a number that is none of them is no crash. */
#include <criterion/criterion.h>
#include <kwalk/value.h>

Test(value, every_reason_has_its_own_text)
{
	cr_expect_str_eq(kw_absent_text(KW_ABSENT_NONE), "");
	for (int i = 1; i < KW_ABSENT_NR; i++) {
		cr_assert_not_null(kw_absent_text((enum kw_absent)i), "reason %d", i);
		for (int k = 0; k < i; k++)
			cr_expect_str_neq(kw_absent_text((enum kw_absent)i),
					  kw_absent_text((enum kw_absent)k));
	}
}

Test(value, every_unit_and_type_has_its_own_name)
{
	for (int i = 1; i <= KW_UNIT_COUNT; i++)
		for (int k = 0; k < i; k++)
			cr_expect_str_neq(kw_unit_name((enum kw_unit)i), kw_unit_name((enum kw_unit)k));
	for (int i = 1; i <= KW_VAL_ENUM; i++)
		for (int k = 0; k < i; k++)
			cr_expect_str_neq(kw_value_type_name((enum kw_value_type)i),
					  kw_value_type_name((enum kw_value_type)k));
	cr_expect_str_eq(kw_unit_name(KW_UNIT_NONE), "");
	cr_expect_str_eq(kw_unit_name(KW_UNIT_NANOSECONDS), "ns");
	cr_expect_str_eq(kw_value_type_name(KW_VAL_UINT), "uint");
}

Test(value, numbers_that_are_none_of_them)
{
	cr_expect_str_eq(kw_absent_text((enum kw_absent)1000), "unknown reason");
	cr_expect_str_eq(kw_unit_name((enum kw_unit)1000), "unknown");
	cr_expect_str_eq(kw_value_type_name((enum kw_value_type)1000), "unknown");
}
