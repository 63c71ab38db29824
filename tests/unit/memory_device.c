/* The kernel module's device: what is not it is not taken for it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/device.h"

static char folder[] = "/tmp/kwalk-device-XXXXXX";
static char path[64];

static void make_folder(void)
{
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/kwalk", folder);
}

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

TestSuite(memory_device, .init = make_folder, .fini = remove_folder);

static void expect_refused(int want)
{
	int why = 0;

	cr_expect_eq(kw_device_open(path, &why), -1);
	cr_expect_eq(why, want, "errno %d instead of %d", why, want);
}

Test(memory_device, nothing_is_there)
{
	expect_refused(ENOENT);
}

Test(memory_device, a_file_or_a_pipe)
{
	FILE *file = fopen(path, "w");

	cr_assert(file);
	fclose(file);
	expect_refused(ENODEV);
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_refused(ENODEV);
}

/* The null device stands for any: whom it belongs to, and who may write to it. */
Test(memory_device, owner_and_mode)
{
	int why, fd;

	if (geteuid())
		cr_skip_test("only root makes devices");
	if (mknod(path, S_IFCHR | 0600, 1 << 8 | 3))
		cr_skip_test("no devices can be made here");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		cr_skip_test("devices can't be opened here");
	close(fd);
	fd = kw_device_open(path, &why);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(chmod(path, 0660), 0);
	expect_refused(ENODEV);
	cr_assert_eq(chmod(path, 0602), 0);
	expect_refused(ENODEV);
	cr_assert_eq(chmod(path, 0640), 0);
	fd = kw_device_open(path, &why);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(chown(path, 1000, 0), 0);
	expect_refused(ENODEV);
}
