/* What can't be opened: one clear message each, and nothing opened in its place. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures/image.h"

static void expect_refusal(const char *spec, kw_status want, const char *part)
{
	struct image_target target;
	kw_status status = image_open_named(&target, spec, NULL);
	const char *message = kw_error(&target.ctx);

	cr_assert_eq(status, want, "%s: status %d, not %d: %s", spec, status, want, message);
	cr_assert(strstr(message, part), "'%s' says nothing of '%s'", message, part);
	cr_assert(!strncmp(message, spec, strlen(spec)), "'%s' does not begin with the name", message);
	cr_assert_null(target.target.memory);
	cr_assert_null(target.ctx.reader);
	image_close(&target);
}

static void expect_refusal_of(const void *bytes, size_t len, size_t size, kw_status want, const char *part)
{
	char path[] = "/tmp/kwalk-open-XXXXXX";
	int fd = mkstemp(path);

	cr_assert(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && !ftruncate(fd, (off_t)size));
	close(fd);
	expect_refusal(path, want, part);
	unlink(path);
}

Test(memory_open, missing_and_unreadable)
{
	char path[] = "/tmp/kwalk-open-XXXXXX";
	int status;

	expect_refusal("/nonexistent/guest.ram", KW_UNREADABLE, "No such file");
	close(mkstemp(path));
	cr_assert_eq(chmod(path, 0), 0);
	if (!fork()) {
		/* Root may read everything. */
		if (!geteuid() && seteuid(65534))
			_exit(77);
		expect_refusal(path, KW_DENIED, "Permission denied");
		_exit(0);
	}
	wait(&status);
	unlink(path);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(memory_open, not_a_file)
{
	char path[] = "/tmp/kwalk-open-XXXXXX";

	expect_refusal("/tmp", KW_UNREADABLE, "is a directory");
	expect_refusal("/dev/zero", KW_UNREADABLE, "is a device");
	cr_assert(mkdtemp(path));
	rmdir(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_refusal(path, KW_UNREADABLE, "nothing came out of the pipe");
	unlink(path);
}

Test(memory_open, foreign_files)
{
	expect_refusal_of("", 0, 0, KW_UNREADABLE, "empty");
	expect_refusal_of("hello\n", 6, 6, KW_UNREADABLE, "neither an ELF core nor a RAM image");
	expect_refusal_of("", 0, 4096, KW_UNREADABLE, "neither");
	expect_refusal_of("", 0, (2 << 20) + 1, KW_UNREADABLE, "neither");
	expect_refusal_of("KDUMP   ", 8, 2 << 20, KW_FORMAT, "it names no machine");
	expect_refusal_of("makedumpfile\0\0\0\0", 16, 2 << 20, KW_FORMAT, "flattened");
	expect_refusal_of("EMiL", 4, 2 << 20, KW_FORMAT, "range 1 of its memory");
	expect_refusal_of("\x1f\x8b\x08", 3, 2 << 20, KW_FORMAT, "damaged");
	expect_refusal_of("\x28\xb5\x2f\xfd", 4, 4096, KW_FORMAT, "zstd");
	expect_refusal_of("\xfd"
			  "7zXZ\0",
			  6, 4096, KW_FORMAT, "damaged");
	expect_refusal_of("QFI\xfb", 4, 4096, KW_UNSUPPORTED, "disk image");
	expect_refusal_of("\177ELF", 4, 4, KW_FORMAT, "cut short");
}

Test(memory_open, processes_that_are_no_qemu)
{
	expect_refusal("qemu:", KW_INVALID, "no process number");
	expect_refusal("qemu:12x", KW_INVALID, "no process number");
	expect_refusal("qemu:-1", KW_INVALID, "no process number");
	expect_refusal("qemu:99999999999", KW_INVALID, "no process number");
	expect_refusal("qemu:999999999", KW_UNREADABLE, "no such process");
}

/* A process that shares memory as QEMU does. Returns its number once it is ready. */
static pid_t start_sharing(size_t size, bool unlinked)
{
	char byte, path[] = "/tmp/kwalk-shared-XXXXXX";
	int ready[2];
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = unlinked ? memfd_create("ram", 0) : mkstemp(path);
		uint8_t *ram;

		if (fd < 0 || ftruncate(fd, (off_t)size))
			_exit(1);
		ram = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (ram == MAP_FAILED)
			_exit(1);
		strcpy((char *)ram + 0x1234, "in the guest");
		unlink(path);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

Test(memory_open, a_process_that_shares_nothing)
{
	char spec[32];
	int pipes[2];
	pid_t pid;

	/* A program of its own, for a child of Criterion shares memory with it. */
	cr_assert_eq(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		execl("/bin/sleep", "sleep", "100", NULL);
		_exit(1);
	}
	close(pipes[1]);
	/* Ends when the program has begun. */
	cr_assert_eq(read(pipes[0], spec, 1), 0);
	close(pipes[0]);
	snprintf(spec, sizeof(spec), "qemu:%d", pid);
	expect_refusal(spec, KW_UNREADABLE, "memory-backend-memfd");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(memory_open, a_process_that_shares_ram)
{
	for (int unlinked = 0; unlinked < 2; unlinked++) {
		pid_t pid = start_sharing(256 << 20, unlinked);
		struct image_target target;
		char spec[32], text[32];
		kw_status status;

		snprintf(spec, sizeof(spec), "qemu:%d", pid);
		status = image_open_named(&target, spec, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		cr_assert_eq(status, KW_OK, "%s", kw_error(&target.ctx));
		cr_assert_eq(kw_memory_kind(target.target.memory), KW_SOURCE_QEMU);
		cr_assert(kw_memory_is_live(target.target.memory));
		cr_assert_eq(kw_read_phys(&target.ctx, 0x1234, text, 13), KW_OK);
		cr_assert_str_eq(text, "in the guest");
		cr_assert_eq(kw_read_phys(&target.ctx, 256 << 20, text, 1), KW_ABSENT);
		image_close(&target);
	}
}
