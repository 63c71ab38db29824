/* What threads are protected from, in each mode that a kernel may be in. */
#include "unit/kernel_given.h"

#define VARIABLES "ssb_mode 4\nspectre_v2_user_ibpb 4\nspectre_v2_user_stibp 4\nboot_cpu_data 64\n"
#define MODES                                                                                              \
	"enum ssb_mitigation { SPEC_STORE_BYPASS_NONE, SPEC_STORE_BYPASS_AUTO, SPEC_STORE_BYPASS_DISABLE," \
	" SPEC_STORE_BYPASS_PRCTL, SPEC_STORE_BYPASS_SECCOMP };"                                           \
	"enum spectre_v2_user_mitigation { SPECTRE_V2_USER_NONE, SPECTRE_V2_USER_STRICT,"                  \
	" SPECTRE_V2_USER_STRICT_PREFERRED, SPECTRE_V2_USER_PRCTL, SPECTRE_V2_USER_SECCOMP };"             \
	"struct modes { enum ssb_mitigation ssb; enum spectre_v2_user_mitigation branches;"                \
	" enum cpuid_leafs leafs; };"
#define CPU "struct cpuinfo_x86 { u8 x86; u32 x86_capability[5]; };"
/* Three words of features, then those of bugs, and the same where the enumeration does not tell their number. */
#define WORDS	  "enum cpuid_leafs { CPUID_1_EDX, CPUID_8000_0001_EDX, CPUID_LNX_1, NR_CPUID_WORDS };"
#define OLD_WORDS "enum cpuid_leafs { CPUID_1_EDX, CPUID_8000_0001_EDX, CPUID_LNX_1 };"
#define BUGS_AT	  (4 + 3 * 4) /* behind boot_cpu_data */

enum { NONE, DISABLE = 2, PRCTL = 3, SECCOMP = 4 };
enum { STRICT = 1, PREFERRED = 2 };

static struct given g;

static void close_given(void)
{
	given_close(&g);
}

TestSuite(kernel_hardening, .fini = close_given);

static void set(const char *symbol, uint64_t offset, uint32_t value)
{
	kernel_write(g.k, kernel_symbol(g.k, symbol) + offset, &value, 4);
}

/* Bits of atomic_flags: nothing, then each bit that counts alone, then all of them. */
#define TASKS                                                                                      \
	"1 a\n2 b atomic_flags=8\n3 c atomic_flags=16\n4 d atomic_flags=32\n5 e atomic_flags=64\n" \
	"6 f atomic_flags=128\n7 g atomic_flags=0xf8\n"

static void given_modes(const char *types, uint32_t bugs, uint32_t ssb, uint32_t ibpb, uint32_t stibp)
{
	g = given_config(&(struct kernel_config){ .types = types, .variables = VARIABLES, .tasks = TASKS });
	set("boot_cpu_data", BUGS_AT, bugs);
	set("ssb_mode", 0, ssb);
	set("spectre_v2_user_ibpb", 0, ibpb);
	set("spectre_v2_user_stibp", 0, stibp);
	given_open(&g, KERNEL_RAM);
}

/* The bits of other bugs, and those of the words beside, say nothing. */
#define NO_BUGS	 0xfffcffff
#define ALL_BUGS 0x00030000

static void expect_first(const char *want, const char *column)
{
	char all[512] = "";

	for (int i = 0; i < 7; i++)
		strcat(strcat(all, want), "\n");
	expect_rows(&g, KW_OK, all, .columns = column);
	given_close(&g);
}

Test(kernel_hardening, one_mode_for_all)
{
	const char *types = MODES CPU WORDS;

	given_modes(types, NO_BUGS, NONE, NONE, NONE);
	expect_first("not vulnerable", "store_bypass");
	given_modes(types, ALL_BUGS, NONE, NONE, NONE);
	expect_first("vulnerable", "Speculation_Store_Bypass");
	given_modes(types, ALL_BUGS, DISABLE, NONE, NONE);
	expect_first("globally mitigated", "store_bypass");
	given_modes(types, NO_BUGS, NONE, PRCTL, PRCTL);
	expect_first("not affected", "indirect_branch");
	given_modes(types, ALL_BUGS, NONE, NONE, NONE);
	expect_first("always enabled", "SpeculationIndirectBranch");
	given_modes(types, ALL_BUGS, NONE, STRICT, NONE);
	expect_first("always disabled", "indirect_branch");
	given_modes(types, ALL_BUGS, NONE, NONE, PREFERRED);
	expect_first("always disabled", "indirect_branch");
}

Test(kernel_hardening, number_of_words_by_counting)
{
	given_modes(MODES CPU OLD_WORDS, ALL_BUGS, NONE, NONE, NONE);
	expect_first("vulnerable", "store_bypass");
}

Test(kernel_hardening, each_thread_by_itself)
{
	static const char want[] = "thread vulnerable|conditional enabled\n"
				   "thread mitigated|conditional enabled\n"
				   "thread force mitigated|conditional enabled\n"
				   "thread vulnerable|conditional disabled\n"
				   "thread vulnerable|conditional force disabled\n"
				   "vulnerable|conditional enabled\n"
				   "thread force mitigated|conditional force disabled\n";
	static const uint32_t modes[][3] = { { PRCTL, PRCTL, STRICT }, { SECCOMP, NONE, SECCOMP } };
	char text[sizeof(want)];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		given_modes(MODES CPU WORDS, ALL_BUGS, modes[i][0], modes[i][1], modes[i][2]);
		strcpy(text, want);
		for (char *at = text; *at; at++)
			if (*at == '|')
				*at = ' ';
		expect_rows(&g, KW_OK, text, .columns = "store_bypass,indirect_branch");
		given_close(&g);
	}
}

Test(kernel_hardening, without_the_symbols_or_types)
{
	static const struct kernel_config configs[] = {
		{ .hidden = "ssb_mode spectre_v2_user_stibp", .tasks = "1 a\n" },
		{ .hidden = "boot_cpu_data", .tasks = "1 a\n" },
		{ .types = "struct cpuinfo_x86 { u8 x86; };", .tasks = "1 a\n" },
		{ .types = "enum cpuid_leafs { NR_CPUID_WORDS = 1000000000 };", .tasks = "1 a\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(configs); i++) {
		g = given_config(&configs[i]);
		given_open(&g, KERNEL_RAM);
		expect_rows(&g, KW_OK, "<this kernel has no such symbol> <this kernel has no such symbol>\n",
			    .columns = "store_bypass,indirect_branch");
		given_close(&g);
	}
	g = given_config(&(struct kernel_config){ .types = "struct thread_struct { unsigned long sp; };",
						  .tasks = "1 a\n" });
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "<this kernel has no such member>\n", .columns = "thread_features");
}

Test(kernel_hardening, shadow_stack)
{
	g = given_tasks(NULL,
			"1 a thread.features=1 thread.features_locked=3\n2 b thread.features=0xfffe\n3 c\n");
	given_open(&g, KERNEL_RAM);
	expect_rows(&g, KW_OK, "shstk shstk wrss\nwrss \n \n",
		    .columns = "x86_Thread_features,x86_Thread_features_locked");
}
