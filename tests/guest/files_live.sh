#!/bin/busybox sh
# Runs inside a guest, as root: what `kwalk cat` prints of mounts with many options, of modules that use each other, of swap
# and of control groups, compared with the kernel's own. Prints ok and not ok lines.

say() { echo "$1 files-$2"; }

# same FILE NAME
same() {
	/kwalk cat "/proc/$1" >/tmp/ours 2>/tmp/errors
	cat "/proc/$1" >/tmp/theirs
	if [ ! -s /tmp/errors ] && cmp -s /tmp/ours /tmp/theirs; then
		say ok "$2 $(wc -l </tmp/theirs) lines"
	else
		say "not ok" "$2"
		cat /tmp/errors
		diff /tmp/ours /tmp/theirs
	fi
}

# try TYPE OPTIONS: where this kernel does not know an option it stays unmounted, and says so.
number=0
try() {
	number=$((number + 1))
	mkdir -p "/tmp/m/$number dir"
	mount -t "$1" -o "$2" "device$number" "/tmp/m/$number dir" || echo "without $1 $2"
}

mkdir -p /tmp/m
mount -t tmpfs tmpfs /tmp/m
try tmpfs size=1m,nr_inodes=100,mode=700,uid=5,gid=6
try tmpfs size=50%,huge=within_size
try tmpfs nr_inodes=0,size=0,ro,noatime
try tmpfs noswap
try proc hidepid=2,gid=7
try proc subset=pid
try proc hidepid=4
try devpts newinstance,gid=5,uid=3,mode=620,ptmxmode=000,max=10
try ramfs mode=711,nosuid
try bpf mode=700
try debugfs gid=9,mode=750
try sysfs sync,dirsync,nodiratime
mount -o remount,nsdelegate,memory_recursiveprot /sys/fs/cgroup
mount --bind /tmp "/tmp/m/1 dir"
mount -o remount,bind,ro,nodev /tmp "/tmp/m/1 dir"
same mounts mounts

insmod /x_tables.ko
insmod /xt_comment.ko
insmod /loop.ko
same modules modules
grep -q '^x_tables .* xt_comment, ' /tmp/ours && say ok modules-used-by || say "not ok" modules-used-by

dd if=/dev/zero of=/tmp/m/swap bs=1048576 count=8 2>/dev/null
losetup /dev/loop0 /tmp/m/swap && mkswap /dev/loop0 >/dev/null && swapon /dev/loop0
same swaps swaps
grep -q '^/dev/loop0 ' /tmp/ours && say ok swaps-device || say "not ok" swaps-device
same filesystems filesystems

# Of the groups of the zoo, which stand still.
/kwalk show cgroups --format tsv --no-headers -o path,memory >/tmp/ours
mkdir -p /sys/fs/cgroup/mine
sleep 100 &
echo $! >/sys/fs/cgroup/mine/cgroup.procs
kwalk_says=$(/kwalk show cgroups --format tsv --no-headers -o path,tasks,memory | grep '^/mine')
[ "$kwalk_says" = "/mine	1	$(cat /sys/fs/cgroup/mine/memory.current)" ] && say ok cgroup ||
	say "not ok" "cgroup $kwalk_says, memory.current $(cat /sys/fs/cgroup/mine/memory.current)"
for path in $(cut -f 1 /tmp/ours | grep '^/zoo' | grep -v '[ \\]'); do
	[ "$(grep "^$path	" /tmp/ours | cut -f 2)" = "$(cat "/sys/fs/cgroup$path/memory.current")" ] && say ok "memory of $path" ||
		say "not ok" "memory of $path"
done
