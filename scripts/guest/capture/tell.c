/* Sends a line to the host's control file, through QEMU's debug console: what port.c does for the lab's own PID 1. */
#include <stdio.h>
#include <string.h>
#include <sys/io.h>

enum { CONTROL_PORT = 0xe9 };

int main(int argc, char **argv)
{
	if (argc != 2 || ioperm(CONTROL_PORT, 1, 1)) {
		perror("tell");
		return 1;
	}
	outsb(CONTROL_PORT, argv[1], strlen(argv[1]));
	outb('\n', CONTROL_PORT);
	return 0;
}
