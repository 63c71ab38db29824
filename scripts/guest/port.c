/*
 * The ways to the host: QEMU's debug console and pvpanic device, driven from user space, and a virtio port.
 *
 * A write to an I/O port reaches the host at once and leaves nothing in the kernel's buffers. The permission is
 * dropped after each use, so that no other process inherits an I/O bitmap. It costs microseconds a byte, so a
 * command's output goes through the virtio port, whose driver only the guests that run a command have.
 */
#include "lab.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <unistd.h>

#define OUTPUT_NAME "kwalk.output"

enum { CONTROL_PORT = 0xe9, PVPANIC_PORT = 0x505 };

static int output = -1;

static bool control_held;

static void send(unsigned short port, const void *data, size_t len)
{
	bool held = control_held && port == CONTROL_PORT;

	if (!held && ioperm(port, 1, 1)) {
		perror("ioperm");
		return;
	}
	outsb(port, data, len);
	if (!held)
		ioperm(port, 1, 0);
}

void port_hold_control(bool hold)
{
	control_held = ioperm(CONTROL_PORT, 1, hold) == 0 && hold;
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

/* Find the device of the virtio port that QEMU named NAME; its number is the kernel's choice. */
static bool find_output(char *device, size_t size)
{
	char path[320], name[64];
	DIR *ports = opendir("/sys/class/virtio-ports");
	bool found = false;

	if (!ports)
		return false;
	for (struct dirent *port; !found && (port = readdir(ports));) {
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", port->d_name);
		found = read_text(path, name, sizeof(name)) > 0 && strcmp(name, OUTPUT_NAME "\n") == 0;
		snprintf(device, size, "/dev/%s", port->d_name);
	}
	closedir(ports);
	return found;
}

bool port_open_output(void)
{
	char device[300];

	for (int tries = 0; tries < 1000; tries++) {
		if (find_output(device, sizeof(device)))
			output = open(device, O_WRONLY | O_CLOEXEC);
		if (output >= 0)
			return true;
		usleep(10000);
	}
	return false;
}

bool port_output(const char *data, size_t len)
{
	while (len > 0) {
		ssize_t sent = write(output, data, len);
		if (sent < 0)
			return false;
		data += sent;
		len -= (size_t)sent;
	}
	return true;
}

void port_freeze(void)
{
	/* QEMU stops the machine when a guest reports a panic, before the next guest instruction. */
	send(PVPANIC_PORT, "\1", 1);
}
