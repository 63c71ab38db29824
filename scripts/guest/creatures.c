/*
 * The creatures of the zoo: one function each. zoo.c tells how they live.
 */
#include "zoo.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MIB = 1 << 20, USER = 1000, OTHER_USER = 1001 };

static void name(const char *comm)
{
	prctl(PR_SET_NAME, comm);
}

/* Settle under the name that the process also carries. */
static void rest_as(const char *comm)
{
	name(comm);
	rest(comm);
}

/* ---- states ---- */

static void sleeping(void)
{
	rest_as("sleeping");
}

static void busy(void)
{
	struct sched_param none = { 0 };

	name("busy");
	sched_setscheduler(0, SCHED_IDLE, &none);
	settle("busy");
	while (!may_be_busy())
		usleep(10000);
	for (;;)
		;
}

static void vfork_parent(void)
{
	name("vfork-parent");
	settle("vfork-parent");
	if (vfork() == 0) {
		name("vfork-child");
		rest("vfork-child");
	}
}

static void stopped(void)
{
	name("stopped");
	settle("stopped");
	raise(SIGSTOP);
}

static void tracer(void)
{
	name("tracer");
	pid_t pid = fork();
	if (pid == 0) {
		name("traced");
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		settle("traced");
		raise(SIGSTOP);
	}
	waitpid(pid, NULL, 0);
	rest("tracer");
}

static void zombie_exit3(void)
{
	name("zombie-exit3");
	settle("zombie-exit3");
	_exit(3);
}

static void zombie_segv(void)
{
	name("zombie-segv");
	settle("zombie-segv");
	volatile int *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*nowhere = 1;
}

static void *thread_of_zombie(void *label)
{
	name(label);
	rest(label);
	return NULL;
}

static void zombie_leader(void)
{
	pthread_t thread;

	name("zombie-leader");
	settle("zombie-leader");
	pthread_create(&thread, NULL, thread_of_zombie, "orphan-thread-1");
	pthread_create(&thread, NULL, thread_of_zombie, "orphan-thread-2");
	syscall(SYS_exit, 0);
}

/* ---- what a sleeper waits in ---- */

static void wait_futex(void)
{
	static int word;

	name("wait-futex");
	settle("wait-futex");
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void wait_pipe(void)
{
	int pipes[2];
	char byte;

	name("wait-pipe");
	settle("wait-pipe");
	if (pipe(pipes) == 0 && read(pipes[0], &byte, 1))
		_exit(1);
}

static void wait_epoll(void)
{
	struct epoll_event event;

	name("wait-epoll");
	settle("wait-epoll");
	epoll_wait(epoll_create1(0), &event, 1, -1);
}

static void wait_nanosleep(void)
{
	struct timespec long_time = { .tv_sec = 1000000 };

	name("wait-nanosleep");
	settle("wait-nanosleep");
	nanosleep(&long_time, NULL);
}

static void wait_child(void)
{
	name("wait-child");
	pid_t pid = fork();
	if (pid == 0)
		rest_as("waited-for");
	settle("wait-child");
	waitpid(pid, NULL, 0);
}

static void wait_accept(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0kwalk-zoo" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	name("wait-accept");
	settle("wait-accept");
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 1) == 0)
		accept(fd, NULL, NULL);
}

/* ---- scheduling ---- */

static void nice_plus(void)
{
	setpriority(PRIO_PROCESS, 0, 5);
	rest_as("nice-plus5");
}

static void nice_minus(void)
{
	setpriority(PRIO_PROCESS, 0, -5);
	rest_as("nice-minus5");
}

static void with_policy(const char *label, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	name(label);
	if (sched_setscheduler(0, policy, &param) == 0)
		rest(label);
}

static void policy_fifo(void)
{
	with_policy("fifo-10", SCHED_FIFO, 10);
}

static void policy_rr(void)
{
	with_policy("rr-20", SCHED_RR, 20);
}

static void policy_batch(void)
{
	with_policy("batch", SCHED_BATCH, 0);
}

static void policy_idle(void)
{
	with_policy("idle-policy", SCHED_IDLE, 0);
}

static void policy_deadline(void)
{
	struct {
		unsigned size, policy;
		unsigned long long flags;
		int nice;
		unsigned priority;
		unsigned long long runtime, deadline, period;
	} attr = { sizeof(attr), 6, 0, 0, 0, 1000000, 10000000, 100000000 };

	name("deadline");
	if (syscall(SYS_sched_setattr, 0, &attr, 0) == 0)
		rest("deadline");
}

static void affinity(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	name("affinity-cpu1");
	if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0)
		rest("affinity-cpu1");
}

/* ---- users and rights ---- */

static void set_uid_root(void)
{
	name("setuid-root");
	if (setresgid(USER, 0, 0) || setresuid(USER, 0, 0))
		return;
	setfsuid(OTHER_USER);
	setfsgid(OTHER_USER);
	rest("setuid-root");
}

static void plain_user(void)
{
	gid_t groups[] = { 4, 100, 2000, 65537 };

	name("user-1000");
	if (setgroups(4, groups) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		return;
	rest("user-1000");
}

static void seccomp(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	name("seccomp");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		rest("seccomp");
}

static void dropped_capabilities(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[2] = { { 0x000000c1, 0x000000c3, 0x00000040 }, { 0, 0, 0 } };

	name("dropped-caps");
	prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN);
	if (syscall(SYS_capset, &head, sets) == 0)
		rest("dropped-caps");
}

/* ---- namespaces ---- */

static void same_namespace(const char *first, const char *second)
{
	if (fork() == 0)
		rest_as(first);
	if (fork() == 0)
		rest_as(second);
}

static void nested_namespace(void)
{
	if (unshare(CLONE_NEWPID) || fork())
		return;
	name("pidns2-init");
	settle("pidns2-init");
	same_namespace("pidns2-a", "pidns2-b");
	doze();
}

static void pid_namespaces(void)
{
	name("pidns-maker");
	if (unshare(CLONE_NEWPID))
		return;
	if (fork() == 0) {
		name("pidns1-init");
		settle("pidns1-init");
		same_namespace("pidns1-a", "pidns1-b");
		nested_namespace();
		doze();
	}
	rest("pidns-maker");
}

static void other_namespaces(void)
{
	name("ns-other");
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWCGROUP))
		return;
	sethostname("elsewhere", 9);
	rest("ns-other");
}

static void user_namespace(void)
{
	name("ns-user");
	if (unshare(CLONE_NEWUSER))
		return;
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", "7 0 1");
	write_text("/proc/self/gid_map", "8 0 1");
	rest("ns-user");
}

static void time_namespace(void)
{
	enum { NEW_TIME_NAMESPACE = 0x80 };

	name("ns-time-maker");
	if (unshare(NEW_TIME_NAMESPACE))
		return;
	write_text("/proc/self/timens_offsets", "boottime 1000 0");
	if (fork() == 0)
		rest_as("ns-time");
	doze();
}

static void jailed(void)
{
	name("chroot");
	mkdir("/tmp/jail", 0755);
	mkdir("/tmp/jail/cell", 0755);
	settle("chroot");
	if (chroot("/tmp/jail") == 0 && chdir("/cell") == 0)
		doze();
}

/* ---- threads ---- */

static void *worker(void *label)
{
	name(label);
	rest(label);
	return NULL;
}

static void threads(void)
{
	static char label[8][16];
	pthread_t thread;

	name("threads-9");
	for (int i = 0; i < 8; i++) {
		snprintf(label[i], sizeof(label[i]), "worker-%d", i + 1);
		pthread_create(&thread, NULL, worker, label[i]);
	}
	/* The last one is renamed from outside; it settled as worker-8. */
	usleep(200000);
	pthread_setname_np(thread, "renamed (8)");
	rest("threads-9");
}

static void *stand(void *unused)
{
	doze();
	return unused;
}

static void crowd(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	name("crowd");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32 << 10);
	for (unsigned i = 0; i < crowd_threads(); i++)
		if (pthread_create(&thread, &attr, stand, NULL))
			return;
	rest("crowd");
}

/* ---- memory ---- */

static char *memory(size_t size, int flags)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		_exit(1);
	return at;
}

static void anonymous_memory(void)
{
	memset(memory(64 * MIB, MAP_PRIVATE), 1, 64 * MIB);
	rest_as("anon-64m");
}

static void shared_memory(void)
{
	memset(memory(16 * MIB, MAP_SHARED), 1, 16 * MIB);
	rest_as("shmem-16m");
}

static void locked_memory(void)
{
	char *at = memory(MIB, MAP_PRIVATE);

	memset(at, 1, MIB);
	name("mlock-1m");
	if (mlock(at, MIB) == 0)
		rest("mlock-1m");
}

/* Freed again: the high-water mark stays. */
static void past_peak(void)
{
	char *at = memory(8 * MIB, MAP_PRIVATE);

	memset(at, 1, 8 * MIB);
	munmap(at, 8 * MIB);
	rest_as("past-peak");
}

static void many_vmas(void)
{
	enum { VMAS = 2000 };
	char *at = memory((size_t)VMAS * PAGE, MAP_PRIVATE);

	name("vmas-2000");
	for (int i = 0; i < VMAS; i += 2)
		if (mprotect(at + (size_t)i * PAGE, PAGE, PROT_READ))
			return;
	rest("vmas-2000");
}

static void deep_stack(void)
{
	char frame[MIB];

	explicit_bzero(frame, sizeof(frame));
	rest_as("stack-1m");
}

static void mapped_file(void)
{
	int fd = open("/tmp/mapped", O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	name("mapped file");
	if (fd < 0 || ftruncate(fd, 4 * MIB))
		return;
	char *at = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *copy = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED || copy == MAP_FAILED)
		return;
	memset(at, 1, 4 * MIB);
	memset(copy, 2, 2 * MIB);
	rest("mapped-file");
}

#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Names of its own, which kernels before 5.17 don't take; shared memory of all kinds; a file whose name is two lines. */
static void odd_maps(void)
{
	const int shared = MAP_SHARED | MAP_ANONYMOUS, own = MAP_PRIVATE | MAP_ANONYMOUS;
	int memfd = memfd_create("odd name", MFD_CLOEXEC),
	    fd = open("/tmp/two\nlines", O_RDWR | O_CREAT, 0600);
	int shm = shmget(IPC_PRIVATE, 4 * PAGE, IPC_CREAT | 0600);
	char *named = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, own, -1, 0);

	name("maps-odd");
	if (memfd < 0 || fd < 0 || shm < 0 || named == MAP_FAILED || ftruncate(memfd, 8 * PAGE) ||
	    ftruncate(fd, 8 * PAGE))
		return;
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, named, 2 * PAGE, "own name: [heap]");
	char *both = mmap(NULL, 4 * PAGE, PROT_READ, shared, -1, 0);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, both, 4 * PAGE, "shared");
	mmap(NULL, 4 * PAGE, PROT_NONE, own, -1, 0);
	mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 2 * PAGE);
	mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE);
	shmat(shm, NULL, SHM_RDONLY);
	shmctl(shm, IPC_RMID, NULL);
	rest("maps-odd");
}

/* ---- files ---- */

/* Files that have no path; not every kernel has all of them. */
static void odd_files(void)
{
	sigset_t none;
	int pair[2];

	name("files-odd");
	sigemptyset(&none);
	memfd_create("odd memfd", 0);
	eventfd(1, EFD_CLOEXEC);
	signalfd(-1, &none, 0);
	timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	inotify_init1(IN_CLOEXEC);
	syscall(SYS_pidfd_open, getpid(), 0);
	open("/proc/self/ns/mnt", O_RDONLY);
	open("/proc/self/ns/pid", O_RDONLY);
	open("/", O_RDONLY | O_DIRECTORY);
	open("/tmp", O_PATH);
	open("/tmp", O_TMPFILE | O_RDWR, 0600);
	mkfifo("/tmp/fifo", 0600);
	lseek(open("/tmp/fifo", O_RDWR | O_APPEND), 0, SEEK_SET);
	lseek(open("/tmp/mapped", O_RDWR | O_CREAT | O_APPEND, 0600), 4711, SEEK_SET);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
		rest("files-odd");
}

static void many_files(void)
{
	name("files-400");
	for (int i = 0; i < 400; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			return;
	rest("files-400");
}

static void deleted_file(void)
{
	name("deleted-file");
	if (open("/tmp/deleted file", O_RDWR | O_CREAT, 0600) >= 0 && unlink("/tmp/deleted file") == 0)
		rest("deleted-file");
}

static void tmpfs_io(void)
{
	char block[4096] = { 1 };
	int fd = open("/tmp/io", O_RDWR | O_CREAT, 0600);

	name("tmpfs-io");
	for (int i = 0; i < 256; i++)
		if (write(fd, block, sizeof(block)) < 0)
			return;
	lseek(fd, 0, SEEK_SET);
	for (int i = 0; i < 128; i++)
		if (read(fd, block, sizeof(block)) < 0)
			return;
	rest("tmpfs-io");
}

/* ---- names ---- */

static void comm_escape(void)
{
	name("\033[31mred");
	rest("comm-escape");
}

static void comm_newline(void)
{
	name("two\nlines");
	rest("comm-newline");
}

static void comm_parentheses(void)
{
	name("a) R (b");
	rest("comm-parentheses");
}

static void comm_invalid_utf8(void)
{
	name("\xff\xfe\xc3(\x80x");
	rest("comm-invalid-utf8");
}

static void comm_wide(void)
{
	name("gr\xc3\xb6\xc3\x9f\x65\xe6\xbc\xa2"); /* "e" as \x65: it is a hexadecimal digit too */
	rest("comm-wide");
}

static void comm_empty(void)
{
	name("");
	rest("comm-empty");
}

static void comm_formula(void)
{
	name("=cmd()");
	rest("comm-formula");
}

static void comm_quote(void)
{
	name("q\"b\\s'c,d\te");
	rest("comm-quote");
}

static void comm_longest(void)
{
	name("fifteen-letters");
	rest("comm-longest");
}

/* ---- sessions and signals ---- */

static void session_leader(void)
{
	name("session-leader");
	if (setsid() > 0)
		rest("session-leader");
}

static void group_leader(void)
{
	name("group-leader");
	if (setpgid(0, 0))
		return;
	if (fork() == 0)
		rest_as("group-member");
	rest("group-leader");
}

static void tty_leader(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	name("tty-leader");
	if (setsid() < 0 || master < 0 || grantpt(master) || unlockpt(master))
		return;
	int tty = open(ptsname(master), O_RDWR);
	if (tty < 0 || ioctl(tty, TIOCSCTTY, 0))
		return;
	if (fork() == 0) {
		setpgid(0, 0);
		rest_as("tty-background");
	}
	rest("tty-leader");
}

static void orphan_maker(void)
{
	name("orphan-maker");
	settle("orphan-maker");
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			while (getppid() != 1)
				usleep(1000);
			rest_as("orphan");
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	doze();
}

static void catch_nothing(int number)
{
	(void)number;
}

static void signals(void)
{
	sigset_t blocked;

	name("signals");
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, catch_nothing);
	kill(getpid(), SIGUSR1);
	syscall(SYS_tkill, getpid(), SIGUSR2);
	kill(getpid(), SIGRTMIN + 3);
	rest("signals");
}

static void own_settings(void)
{
	struct rlimit files = { 123, 456 };

	name("own-settings");
	setrlimit(RLIMIT_NOFILE, &files);
	umask(0137);
	prctl(PR_SET_TIMERSLACK, 123456, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	personality(ADDR_NO_RANDOMIZE | UNAME26);
	write_text("/proc/self/loginuid", "1000");
	if (chdir("/tmp") == 0)
		rest("own-settings");
}

static void oom_500(void)
{
	name("oom-500");
	if (write_text("/proc/self/oom_score_adj", "500"))
		rest("oom-500");
}

/* ---- control groups ---- */

#define CGROUPS "/sys/fs/cgroup/"

static bool join(const char *group)
{
	char path[160];

	snprintf(path, sizeof(path), CGROUPS "%s", group);
	if (mkdir(path, 0755) && errno != EEXIST)
		return false;
	snprintf(path, sizeof(path), CGROUPS "%s/cgroup.procs", group);
	return write_text(path, "0");
}

static void cgroup_deep(void)
{
	name("cgroup-deep");
	write_text(CGROUPS "cgroup.subtree_control", "+cpu +memory +pids +cpuset");
	mkdir(CGROUPS "zoo", 0755);
	write_text(CGROUPS "zoo/cgroup.subtree_control", "+cpu +memory +pids +cpuset");
	if (join("zoo/nest"))
		rest("cgroup-deep");
}

static void cgroup_odd_name(void)
{
	name("cgroup-odd-name");
	if (join("zoo/odd \033[1mname"))
		rest("cgroup-odd-name");
}

static void cgroup_frozen(void)
{
	name("cgroup-frozen");
	if (!join("zoo/ice"))
		return;
	if (fork() == 0) {
		join("zoo/nest");
		name("cgroup-freezer");
		write_text(CGROUPS "zoo/ice/cgroup.freeze", "1");
		rest("cgroup-freezer");
	}
	settle("cgroup-frozen");
	doze();
}

/* A zombie keeps its group, also when that has been removed. */
static void cgroup_deleted(void)
{
	name("cgroup-deleter");
	if (fork() == 0) {
		if (!join("zoo/gone"))
			_exit(1);
		name("cgroup-deleted");
		settle("cgroup-deleted");
		_exit(0);
	}
	siginfo_t info;
	waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	for (int tries = 0; rmdir(CGROUPS "zoo/gone") && tries < 1000; tries++)
		usleep(1000);
	rest("cgroup-deleter");
}

/*
 * Hierarchies of version 1 beside that of version 2: one with a name alone, and one of a controller that version 2 has not.
 * A kernel that has neither any more makes no difference here. They stay without their mounts, as long as they have groups
 * below. A zombie has left its groups of this version.
 */
static void cgroup_v1(void)
{
	static const char *const options[] = { "none,name=zoo", "freezer", "devices" };
	char path[64];

	name("cgroup-v1");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/run/cgroup%d", i);
		mkdir(path, 0755);
		if (mount("cgroup", path, "cgroup", 0, options[i]))
			continue;
		snprintf(path, sizeof(path), "/run/cgroup%d/old", i);
		mkdir(path, 0755);
		strcat(path, "/cgroup.procs");
		write_text(path, "0");
		snprintf(path, sizeof(path), "/run/cgroup%d", i);
		umount(path);
	}
	if (fork() == 0) {
		name("cgroup-v1-ended");
		settle("cgroup-v1-ended");
		_exit(0);
	}
	siginfo_t info;
	waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	rest("cgroup-v1");
}

/* ---- CPU time ---- */

static bool used_less_than(clockid_t clock, long milliseconds)
{
	struct timespec used;

	clock_gettime(clock, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000 < milliseconds;
}

static void burn_user(long milliseconds)
{
	while (used_less_than(CLOCK_PROCESS_CPUTIME_ID, milliseconds))
		for (volatile int i = 0; i < 1000000; i++)
			;
}

static void burn_system(long milliseconds)
{
	static char block[1 << 18];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (used_less_than(CLOCK_PROCESS_CPUTIME_ID, milliseconds))
		if (read(fd, block, sizeof(block)) < 0)
			return;
	close(fd);
}

static void cpu_user(void)
{
	burn_user(300);
	rest_as("cpu-user");
}

static void cpu_system(void)
{
	burn_system(300);
	rest_as("cpu-system");
}

static void cpu_children(void)
{
	name("cpu-children");
	pid_t pid = fork();
	if (pid == 0) {
		burn_user(200);
		burn_system(400);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	rest("cpu-children");
}

static void *burning_thread(void *unused)
{
	burn_user(200);
	return unused;
}

/* The ended thread's time lives on in the process alone. */
static void cpu_ended_thread(void)
{
	pthread_t thread;

	name("cpu-ended-thread");
	pthread_create(&thread, NULL, burning_thread, NULL);
	pthread_join(thread, NULL);
	rest("cpu-ended-thread");
}

/* ---- exec and command lines ---- */

static void exec_recent(void)
{
	execl("/init", "/init", "zoo-role", "exec-recent", "with", "some args", NULL);
}

static void role_exec_recent(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	rest_as("exec-recent");
}

static void *exec_from_thread(void *unused)
{
	execl("/init", "/init", "zoo-role", "exec-thread", NULL);
	return unused;
}

/* exec by a thread that is not the leader: it takes over the leader's PID. */
static void exec_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_from_thread, NULL);
	doze();
}

static void role_exec_thread(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	rest_as("exec-thread");
}

static bool copy_file(const char *from, const char *to)
{
	char block[65536];
	ssize_t got;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	while ((got = read(in, block, sizeof(block))) > 0)
		if (write(out, block, (size_t)got) != got)
			return false;
	close(in);
	close(out);
	return got == 0;
}

static void exe_deleted(void)
{
	if (copy_file("/init", "/tmp/gone-exe"))
		execl("/tmp/gone-exe", "gone", "zoo-role", "exe-deleted", NULL);
}

static void role_exe_deleted(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	name("exe-deleted");
	if (unlink("/tmp/gone-exe") == 0)
		rest("exe-deleted");
}

static void long_cmdline(void)
{
	enum { WORDS = 120 };
	static char word[WORDS][64], *argv[WORDS + 4] = { "/init", "zoo-role", "long-cmdline" };

	for (int i = 0; i < WORDS; i++) {
		snprintf(word[i], sizeof(word[i]),
			 "argument-%03d-of-a-command-line-that-is-longer-than-a-page", i);
		argv[3 + i] = word[i];
	}
	execv("/init", argv);
}

static void role_long_cmdline(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	rest_as("long-cmdline");
}

static void argv_title(void)
{
	execl("/init", "/init", "zoo-role", "argv-title", "room for a title of some length", NULL);
}

/* Within its own argv, ended by zeros: what most daemons do. */
static void role_argv_title(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]);

	memset(argv[0], 0, (size_t)(end - argv[0]));
	strcpy(argv[0], "title: at work");
	rest_as("argv-title");
}

static void argv_spilled(void)
{
	char *environment[] = { "FIRST=environment that the title runs into", "SECOND=kept", NULL };

	execle("/init", "/init", "zoo-role", "argv-spilled", NULL, environment);
}

/* Past the end of argv into the environment: the kernel then shows both as one string. */
static void role_argv_spilled(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]);
	size_t room = (size_t)(end - argv[0]);

	memset(argv[0], 't', room + 20);
	argv[0][room + 20] = 0;
	rest_as("argv-spilled");
}

static void argv_empty(void)
{
	char *environment[] = { NULL }, *argv[] = { "", "zoo-role", "argv-empty", NULL };

	execve("/init", argv, environment);
}

static void role_argv_empty(int argc, char **argv)
{
	(void)argc;
	memset(argv[0], 0, (size_t)(argv[2] + strlen(argv[2]) - argv[0]));
	rest_as("argv-empty");
}

const struct creature zoo_creatures[] = {
	{ "sleeping", sleeping },
	{ "busy", busy },
	{ "vfork-child", vfork_parent },
	{ "stopped", stopped },
	{ "tracer", tracer },
	{ "zombie-exit3", zombie_exit3 },
	{ "zombie-segv", zombie_segv },
	{ "orphan-thread-2", zombie_leader },
	{ "wait-futex", wait_futex },
	{ "wait-pipe", wait_pipe },
	{ "wait-epoll", wait_epoll },
	{ "wait-nanosleep", wait_nanosleep },
	{ "wait-child", wait_child },
	{ "wait-accept", wait_accept },
	{ "nice-plus5", nice_plus },
	{ "nice-minus5", nice_minus },
	{ "fifo-10", policy_fifo },
	{ "rr-20", policy_rr },
	{ "batch", policy_batch },
	{ "idle-policy", policy_idle },
	{ "deadline", policy_deadline },
	{ "affinity-cpu1", affinity },
	{ "setuid-root", set_uid_root },
	{ "user-1000", plain_user },
	{ "seccomp", seccomp },
	{ "dropped-caps", dropped_capabilities },
	{ "pidns2-b", pid_namespaces },
	{ "ns-other", other_namespaces },
	{ "ns-user", user_namespace },
	{ "ns-time", time_namespace },
	{ "chroot", jailed },
	{ "threads-9", threads },
	{ "crowd", crowd },
	{ "anon-64m", anonymous_memory },
	{ "shmem-16m", shared_memory },
	{ "mlock-1m", locked_memory },
	{ "past-peak", past_peak },
	{ "vmas-2000", many_vmas },
	{ "stack-1m", deep_stack },
	{ "mapped-file", mapped_file },
	{ "maps-odd", odd_maps },
	{ "files-400", many_files },
	{ "files-odd", odd_files },
	{ "deleted-file", deleted_file },
	{ "tmpfs-io", tmpfs_io },
	{ "comm-escape", comm_escape },
	{ "comm-newline", comm_newline },
	{ "comm-parentheses", comm_parentheses },
	{ "comm-invalid-utf8", comm_invalid_utf8 },
	{ "comm-wide", comm_wide },
	{ "comm-empty", comm_empty },
	{ "comm-formula", comm_formula },
	{ "comm-quote", comm_quote },
	{ "comm-longest", comm_longest },
	{ "session-leader", session_leader },
	{ "group-leader", group_leader },
	{ "tty-leader", tty_leader },
	{ "orphan", orphan_maker },
	{ "signals", signals },
	{ "own-settings", own_settings },
	{ "oom-500", oom_500 },
	{ "cgroup-deep", cgroup_deep },
	{ "cgroup-odd-name", cgroup_odd_name },
	{ "cgroup-freezer", cgroup_frozen },
	{ "cgroup-deleter", cgroup_deleted },
	{ "cgroup-v1", cgroup_v1 },
	{ "cpu-user", cpu_user },
	{ "cpu-system", cpu_system },
	{ "cpu-children", cpu_children },
	{ "cpu-ended-thread", cpu_ended_thread },
	{ "exec-recent", exec_recent },
	{ "exec-thread", exec_thread },
	{ "exe-deleted", exe_deleted },
	{ "long-cmdline", long_cmdline },
	{ "argv-title", argv_title },
	{ "argv-spilled", argv_spilled },
	{ "argv-empty", argv_empty },
	{ NULL, NULL },
};

const struct role zoo_roles[] = {
	{ "exec-recent", role_exec_recent }, { "exec-thread", role_exec_thread },
	{ "exe-deleted", role_exe_deleted }, { "long-cmdline", role_long_cmdline },
	{ "argv-title", role_argv_title },   { "argv-spilled", role_argv_spilled },
	{ "argv-empty", role_argv_empty },   { NULL, NULL },
};
