#!/bin/busybox sh
# Runs in the guest that is about to crash: writes down what /proc says.
for file in stat status; do
	echo "=== recorded-$file"
	cat /proc/[0-9]*/task/[0-9]*/$file 2>/dev/null
	echo "=== end"
done
echo "=== recorder"
echo $PPID $$
echo "=== end"
