/*
 * PID 1: brings the guest up and does what kw.mode on the kernel command line asks.
 *
 *	freeze	zoo, a quiet moment, /proc written down, machine stopped
 *	demo	zoo, then nothing until the host ends the guest
 *	exec	zoo, then the command in /lab/command, whose output and exit status go to the host
 */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char kernel_command_line[2048];

ssize_t read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = -1;

	if (fd < 0)
		return -1;
	while (len < size - 1 && (got = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)got;
	close(fd);
	buf[len] = 0;
	return got < 0 ? -1 : (ssize_t)len;
}

bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!done)
		printf("lab: cannot write to %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return done;
}

/* The value of kw.NAME= on the kernel command line, or fallback. */
static const char *option(const char *name, const char *fallback)
{
	static char value[8][128];
	static unsigned turn;
	char key[64];

	snprintf(key, sizeof(key), " kw.%s=", name);
	const char *at = strstr(kernel_command_line, key);
	if (!at)
		return fallback;
	char *copy = value[turn++ % 8];
	at += strlen(key);
	size_t len = strcspn(at, " \n");
	snprintf(copy, sizeof(value[0]), "%.*s", (int)(len < 127 ? len : 127), at);
	return copy;
}

static unsigned number(const char *name)
{
	return (unsigned)strtoul(option(name, "0"), NULL, 10);
}

static void mount_at(const char *type, const char *target, unsigned long flags, const char *data)
{
	mkdir(target, 0755);
	if (mount(type, target, type, flags, data))
		printf("lab: cannot mount %s at %s: %s\n", type, target, strerror(errno));
}

static void mount_all(void)
{
	unsigned long plain = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	mount_at("proc", "/proc", plain, NULL);
	mount_at("sysfs", "/sys", plain, NULL);
	mount_at("devtmpfs", "/dev", MS_NOSUID, "mode=0755");
	mount_at("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "mode=0620,ptmxmode=0666");
	mount_at("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, NULL);
	mount_at("tmpfs", "/tmp", MS_NOSUID | MS_NODEV, "mode=1777");
	mount_at("tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=0755");
	mount_at("cgroup2", "/sys/fs/cgroup", plain, NULL);
	mount_at("bpf", "/sys/fs/bpf", plain, NULL);
	mount_at("tracefs", "/sys/kernel/tracing", plain, NULL);
}

static void load_modules(void)
{
	char list[4096];

	if (read_text("/lab/modules", list, sizeof(list)) < 0)
		return;
	for (char *path = strtok(list, "\n"); path; path = strtok(NULL, "\n")) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			printf("lab: cannot load %s: %s\n", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
}

static void raise_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &lo)) {
		lo.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &lo);
	}
	close(fd);
}

static void set_up(void)
{
	struct rlimit files = { 65536, 65536 };

	mount_all();
	kernel_command_line[0] = ' ';
	read_text("/proc/cmdline", kernel_command_line + 1, sizeof(kernel_command_line) - 1);
	sethostname("kwalk-lab", 9);
	setrlimit(RLIMIT_NOFILE, &files);
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	write_text("/proc/sys/kernel/kptr_restrict", "0");
	write_text("/proc/sys/kernel/pid_max", "4194304");
	write_text("/proc/sys/kernel/threads-max", "400000");
	/* The archive of /proc must stay on the pages that the host was told. */
	write_text("/proc/sys/vm/compact_unevictable_allowed", "0");
	raise_loopback();
	load_modules();
}

static void end_guest(void)
{
	fflush(NULL);
	/* QEMU runs with -no-reboot: it exits. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static struct zoo_registry *start_zoo(bool busy)
{
	struct zoo_wish wish = { .threads = number("threads"), .processes = number("procs"), .busy = busy };
	struct zoo_registry *zoo = zoo_start(&wish);

	for (unsigned i = 0; zoo && i < zoo->count; i++)
		port_control(zoo->entry[i].ready ? "ZOO\t%s\t%d\t%d\n" : "MISSING\t%s\n", zoo->entry[i].name,
			     zoo->entry[i].pid, zoo->entry[i].tid);
	return zoo;
}

static void freeze(void)
{
	struct zoo_registry *zoo = start_zoo(false);

	if (!zoo || !record_prepare(number("procs"))) {
		port_control("ERROR the guest could not prepare its record\n");
		end_guest();
	}
	zoo_release_busy();
	sleep(2);
	if (!record_all(zoo)) {
		port_control("ERROR the record does not fit\n");
		end_guest();
	}
	port_control("FREEZE\n");
	port_freeze();
	end_guest();
}

static void demo(void)
{
	start_zoo(number("busy") != 0);
	port_control("UP\n");
	for (;;)
		pause();
}

/* /lab/command: the words of a command, each ended by a NUL. */
static char **read_command(void)
{
	static char text[1 << 16], *word[1024];
	int fd = open("/lab/command", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	size_t words = 0;

	if (fd >= 0)
		close(fd);
	for (char *at = text; len > 0 && at < text + len && words < 1023; at += strlen(at) + 1)
		word[words++] = at;
	return words ? word : NULL;
}

static void become(char **command, int out)
{
	int null = open("/dev/null", O_RDONLY);

	port_hold_control(false);
	dup2(null, 0);
	dup2(out, 1);
	dup2(out, 2);
	close(null);
	close(out);
	setsid();
	execvp(command[0], command);
	dprintf(2, "lab: cannot run %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

/* Pass everything on until the command itself has ended; its own children may keep the pipe open for ever. */
static int carry(int from, pid_t pid)
{
	char buf[65536];
	int status = -1;
	bool over = false;

	fcntl(from, F_SETFL, O_NONBLOCK);
	for (;;) {
		ssize_t got = read(from, buf, sizeof(buf));
		if (got > 0) {
			if (!port_output(buf, (size_t)got))
				perror("lab: output");
			continue;
		}
		if (over || (got == 0 && waitpid(pid, &status, 0) == pid))
			return status;
		over = waitpid(pid, &status, WNOHANG) == pid;
		if (!over)
			usleep(2000);
	}
}

static void run_command(void)
{
	int pipes[2];
	char **command = read_command();

	start_zoo(number("busy") != 0);
	chdir("/root");
	if (!command || pipe2(pipes, O_CLOEXEC) || !port_open_output()) {
		port_control("ERROR the guest has no command or no port for its output\n");
		end_guest();
	}
	port_control("RUN\n");
	port_hold_control(true);
	pid_t pid = fork();
	if (pid == 0)
		become(command, pipes[1]);
	close(pipes[1]);
	int status = carry(pipes[0], pid);
	port_control("EXIT %d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	end_guest();
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "zoo-role") == 0)
		zoo_role(argc, argv);
	if (getpid() != 1) {
		fputs("This program is PID 1 of a kwalk lab guest.\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	set_up();
	const char *mode = option("mode", "");
	if (strcmp(mode, "freeze") == 0)
		freeze();
	else if (strcmp(mode, "demo") == 0)
		demo();
	else if (strcmp(mode, "exec") == 0)
		run_command();
	port_control("ERROR unknown mode '%s'\n", mode);
	end_guest();
}
