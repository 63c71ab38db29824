#!/bin/busybox sh
# Runs inside a guest, as root: every script of /examples as a user would, with something to see for each. Prints a line
# "== NAME STATUS" behind what each said.

run() {
	name=$1
	shift
	/kwalk run "/examples/$name.kw" "$@" 2>&1
	echo "== $name $?"
}

# In a guest at rest.
grep -l '^State:.Z' /proc/[0-9]*/status | xargs grep -h '^PPid:' | sort
echo "== proc 0"
run zombies
run check
run check max_zombies=0
run check max_blocked=0
run check min_free=99%
run top_memory n=5
run stuck period=500ms ticks=4 hold=1s

/stir &
/fork_storm 600 300 700 >/dev/null &
sleep 1
run cgroups period=1s ticks=3
run fork_storm period=500ms ticks=5
run interrupt_storm period=500ms ticks=4 limit_per_second=20
run kernel_threads period=1s ticks=3
run memory_growth period=500ms ticks=4 step=100K
run run_queue period=500ms ticks=4
run slab_growth period=500ms ticks=4
run top_io period=500ms ticks=4
