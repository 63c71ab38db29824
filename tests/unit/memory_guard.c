/* Faults in mappings: a file that is cut short while it is mapped, and the host's own signal handler. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixtures/image.h"
#include "memory/guard.h"

#define SIZE (4 << 20)

static void open_ram(struct image_target *target)
{
	struct image ram = image_new(SIZE);

	image_put_pattern(&ram, 0, ram.size, 0);
	cr_assert_eq(image_open(target, &ram, NULL), KW_OK);
	image_free(&ram);
}

Test(memory_guard, a_file_cut_short_while_it_is_mapped)
{
	struct image_target target;
	const volatile uint8_t *view;
	uint64_t before, value;
	uint8_t *all = malloc(SIZE);

	open_ram(&target);
	kw_pass_begin(&target.ctx);
	cr_assert_eq(kw_read_phys(&target.ctx, SIZE - 8, &value, 8), KW_OK);
	view = kw_view_phys(&target.ctx, 0x200000, 8);
	cr_assert_not_null(view);
	before = kw_fault_count(&target.ctx);
	cr_assert_eq(ftruncate(target.fd, 0x100000), 0);

	cr_assert_eq(kw_read_phys(&target.ctx, 0x300000, &value, 8), KW_FAILED);
	cr_assert_eq(kw_fault_count(&target.ctx), before + 1);
	cr_assert_eq(kw_read_phys(&target.ctx, 0x300ff8, &value, 8), KW_FAILED, "the same page");
	cr_assert_eq(kw_read_phys(&target.ctx, 0x3ffff8, &value, 8), KW_FAILED, "all the rest with it");
	cr_assert_eq(kw_fault_count(&target.ctx), before + 1);
	/* A view taken before reads as zeros, and the count tells. */
	cr_assert_eq(*view, 0);
	cr_assert_eq(kw_fault_count(&target.ctx), before + 2);
	cr_assert_null(kw_view_phys(&target.ctx, 0x200000, 8));
	cr_assert_null(kw_view_phys(&target.ctx, 0x1ffffc, 8), "half of it in the failed page");
	cr_assert_eq(kw_read_phys(&target.ctx, 0, all, SIZE), KW_FAILED);
	cr_assert_eq(kw_read_phys(&target.ctx, 0, all, 0x100000), KW_OK);
	kw_pass_end(&target.ctx);

	/* Outside of a pass the read makes its own. */
	cr_assert_eq(kw_read_phys(&target.ctx, 0x100000, &value, 8), KW_FAILED);
	cr_assert_eq(kw_counters(&target.ctx)->faults, 3);
	image_close(&target);
	free(all);
}

static volatile sig_atomic_t host_calls;
static sigjmp_buf host_return;

static void host_handler(int sig)
{
	(void)sig;
	host_calls++;
	siglongjmp(host_return, 1);
}

static void host_action(int sig, siginfo_t *info, void *context)
{
	(void)context;
	cr_assert_not_null(info);
	host_handler(sig);
}

static void touch_foreign_page(void)
{
	FILE *file = tmpfile();
	volatile uint8_t *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);

	cr_assert(page != MAP_FAILED);
	if (!sigsetjmp(host_return, 1))
		(void)*page;
	munmap((void *)page, 4096);
	fclose(file);
}

Test(memory_guard, a_fault_that_is_not_ours_is_the_hosts)
{
	struct sigaction mine = { .sa_handler = host_handler }, now;
	struct image_target target;

	open_ram(&target);
	sigaction(SIGBUS, &mine, NULL);
	kw_pass_begin(&target.ctx);
	kw_pass_begin(&target.ctx);
	touch_foreign_page();
	cr_assert_eq(host_calls, 1);
	kw_pass_end(&target.ctx);
	sigaction(SIGBUS, NULL, &now);
	cr_assert(now.sa_handler != host_handler, "the pass goes on");
	kw_pass_renew(&target.ctx);
	sigaction(SIGBUS, NULL, &now);
	cr_assert(now.sa_handler != host_handler, "and after it was renewed, too");
	kw_pass_end(&target.ctx);
	sigaction(SIGBUS, NULL, &now);
	cr_assert_eq(now.sa_handler, host_handler);

	mine = (struct sigaction){ .sa_sigaction = host_action, .sa_flags = SA_SIGINFO };
	sigaction(SIGBUS, &mine, NULL);
	kw_pass_begin(&target.ctx);
	touch_foreign_page();
	cr_assert_eq(host_calls, 2);
	/* The host changes its mind in the middle: that stays. */
	mine = (struct sigaction){ .sa_handler = host_handler };
	sigaction(SIGBUS, &mine, NULL);
	kw_pass_end(&target.ctx);
	sigaction(SIGBUS, NULL, &now);
	cr_assert_eq(now.sa_handler, host_handler);
	image_close(&target);
}

Test(memory_guard, a_fault_that_is_nobodys_ends_the_program, .signal = SIGBUS)
{
	struct image_target target;

	signal(SIGBUS, SIG_DFL);
	open_ram(&target);
	kw_pass_begin(&target.ctx);
	touch_foreign_page();
}

Test(memory_guard, an_ignored_signal_that_was_sent_stays_ignored)
{
	struct image_target target;

	signal(SIGBUS, SIG_IGN);
	open_ram(&target);
	kw_pass_begin(&target.ctx);
	raise(SIGBUS);
	kw_pass_end(&target.ctx);
	image_close(&target);
}

static size_t count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	size_t nr = 0;
	int c;

	cr_assert_not_null(maps);
	while ((c = getc(maps)) != EOF)
		nr += c == '\n';
	fclose(maps);
	return nr;
}

/* A process may only have some 65,000 mappings: what is lost must not become one for each page. */
Test(memory_guard, many_faults_leave_few_mappings)
{
	const size_t nr = 2000;
	struct guard guard = { 0 };
	FILE *file = tmpfile();
	const volatile uint8_t *map;
	uint64_t sum = 0;
	size_t before;
	int why = 0;

	cr_assert_eq(ftruncate(fileno(file), (off_t)(nr * 4096)), 0);
	map = guard_map(&guard, fileno(file), 0, nr * 4096, &why);
	cr_assert_not_null(map);
	guard_enter();
	cr_assert_eq(ftruncate(fileno(file), 4096), 0);
	before = count_mappings();
	/* From the end, so that no fault takes the next one with it. */
	for (size_t i = nr - 1; i > 1; i -= 2)
		sum += map[i * 4096];
	guard_leave();
	cr_assert_eq(sum, 0);
	cr_assert_eq(guard_faults(&guard), nr / 2 - 1);
	cr_assert_leq(count_mappings(), before + 10);
	cr_assert(guard_range_failed(&guard, (const void *)(map + 4096 * 3), 1));
	cr_assert_not(guard_range_failed(&guard, (const void *)map, 4096));
	guard_unmap_all(&guard);
	fclose(file);
}

#define NR_THREADS 8

static void *read_all(void *arg)
{
	struct image_target *target = arg;
	kw_ctx ctx = { .target = &target->target };
	uint64_t failed = 0, value;

	ctx.reader = kw_reader_new(&ctx);
	for (int round = 0; round < 20; round++) {
		kw_pass_begin(&ctx);
		for (uint64_t at = 0; at < SIZE; at += 4096)
			failed += kw_read_phys(&ctx, at, &value, 8) == KW_FAILED || value != at;
		kw_pass_end(&ctx);
	}
	kw_reader_free(ctx.reader);
	return (void *)(uintptr_t)failed;
}

Test(memory_guard, many_threads_on_one_memory)
{
	struct image_target target;
	pthread_t threads[NR_THREADS];
	struct sigaction now;
	uint64_t missing = (SIZE - 0x100000) / 4096;

	signal(SIGBUS, SIG_DFL);
	open_ram(&target);
	cr_assert_eq(ftruncate(target.fd, 0x100000), 0);
	for (int i = 0; i < NR_THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, read_all, &target), 0);
	for (int i = 0; i < NR_THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		cr_assert_eq((uintptr_t)failed, 20 * missing);
	}
	cr_assert(kw_fault_count(&target.ctx) >= 1 && kw_fault_count(&target.ctx) <= NR_THREADS);
	sigaction(SIGBUS, NULL, &now);
	cr_assert_eq(now.sa_handler, SIG_DFL);
	image_close(&target);
}

/* An entry of the list of mappings is used again after its memory was closed. */
Test(memory_guard, memories_come_and_go)
{
	for (int i = 0; i < 100; i++) {
		struct image_target target;
		uint64_t value;

		open_ram(&target);
		cr_assert_eq(kw_read_phys(&target.ctx, SIZE - 8, &value, 8), KW_OK);
		cr_assert_eq(ftruncate(target.fd, 0), 0);
		cr_assert_eq(kw_read_phys(&target.ctx, SIZE - 8, &value, 8), KW_FAILED);
		cr_assert_eq(kw_fault_count(&target.ctx), 1);
		image_close(&target);
	}
}
