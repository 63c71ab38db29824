/*
 * Two QEMU debug consoles and the pvpanic device, driven from user space.
 *
 * A port write reaches the host's file at once and leaves nothing in the kernel's buffers. The permission
 * is dropped after each use, so that no other process inherits an I/O bitmap.
 */
#include "lab.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>

enum { CONTROL_PORT = 0xe9, OUTPUT_PORT = 0xea, PVPANIC_PORT = 0x505 };

static void send(unsigned short port, const void *data, size_t len)
{
	if (ioperm(port, 1, 1)) {
		perror("ioperm");
		return;
	}
	outsb(port, data, len);
	ioperm(port, 1, 0);
}

void port_control(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	int len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (len < 0)
		return;
	send(CONTROL_PORT, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

void port_output(const void *data, size_t len)
{
	send(OUTPUT_PORT, data, len);
}

void port_freeze(void)
{
	/* QEMU stops the machine when a guest reports a panic, before the next guest instruction. */
	send(PVPANIC_PORT, "\1", 1);
}
