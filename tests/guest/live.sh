#!/bin/busybox sh
# Runs inside a guest, as root: kwalk on the kernel that it runs on itself. Prints ok and not ok lines. The argument "mapped" says
# that this kernel lets /proc/kcore be mapped, "device" that the kernel module is loaded.

say() { echo "$1 live-$2"; }

# Processes of the zoo do not come and go: each line "PID NAME" of /proc must be in kwalk's table.
proc_list() {
	for dir in /proc/[0-9]*; do
		read -r pid rest <"$dir/stat" || continue
		read -r name <"$dir/comm" || name=
		case $name in kworker*) continue ;; esac
		# Kernel threads have longer names in /proc than in task_struct.comm.
		echo "$pid $name" | cut -c "1-$((${#pid} + 16))"
	done | sort
}

/kwalk ps --format tsv --no-headers -o pid,comm >/tmp/table 2>/tmp/errors && [ ! -s /tmp/errors ] && say ok runs ||
	{ say "not ok" runs; cat /tmp/errors; }
tr '\t' ' ' </tmp/table | grep -v kworker | sort >/tmp/ours
proc_list >/tmp/theirs
# Names with escapes are written differently; the shell's own children differ from moment to moment.
missing=$(grep -v '[^ -~]\|\\\|two\|sh$\|sort$\|lines' /tmp/theirs | while IFS= read -r line; do
	grep -qxF "$line" /tmp/ours || echo "$line"
done)
[ "$(wc -l </tmp/ours)" -gt 100 ] && [ -z "$missing" ] && say ok equals-proc || { say "not ok" equals-proc; echo "$missing"; }

/kwalk ps --cross-check >/tmp/out 2>&1 && grep -q ' 0 only in one' /tmp/out && say ok cross-check ||
	{ say "not ok" cross-check; cat /tmp/out; }

/kwalk info -s --format tsv >/tmp/out 2>&1
ram='pread (mmap: '
[ "$1" != mapped ] || ram='mapped$'
[ "$1" != device ] || ram='mapped (/dev/kwalk)$'
grep -q "ram.*$ram" /tmp/out && grep -q 'vmalloc.*pread$' /tmp/out && say ok info-says-why ||
	{ say "not ok" info-says-why; cat /tmp/out; }

/kwalk ps -p $$ -o user,comm --no-headers >/tmp/out 2>&1 && grep -q '^root ' /tmp/out && say ok user-name ||
	{ say "not ok" user-name; cat /tmp/out; }

# Times never go back.
/kwalk stat -P -c --format tsv --no-headers 0.001 200 >/tmp/out 2>&1 && [ "$(wc -l </tmp/out)" -ge 200 ] &&
	awk '{ for (i = 6; i <= 13; i++) { if ($i < last[$2, i]) exit 1; last[$2, i] = $i } }' /tmp/out &&
	say ok idle-never-back || { say "not ok" idle-never-back; tail -n 4 /tmp/out; }

# The counters lie between what /proc/stat says before and after.
field() { awk -v key="$1" '$1 == key { print $2 }' "$2"; }
cat /proc/stat >/tmp/before
/kwalk stat -c --format tsv >/tmp/out 2>&1
cat /proc/stat >/tmp/after
for key in ctxt processes intr; do
	got=$(awk -v key=$key 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) at = i } NR == 2 { print $at }' /tmp/out)
	[ "$got" -ge "$(field $key /tmp/before)" ] && [ "$got" -le "$(field $key /tmp/after)" ] && say ok "stat-$key" ||
		{ say "not ok" "stat-$key"; cat /tmp/out; }
done

/kwalk print init_task.comm >/tmp/out 2>&1 && grep -qx 'swapper/0' /tmp/out && say ok print ||
	{ say "not ok" print; cat /tmp/out; }

echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
busybox su -s /bin/sh nobody -c "/kwalk ps" >/tmp/out 2>&1
[ $? -eq 3 ] && grep -q 'run as root' /tmp/out && say ok no-privilege || { say "not ok" no-privilege; cat /tmp/out; }
