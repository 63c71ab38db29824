/*
 * Runs one fuzz target over every file of its corpus, as an ordinary test.
 *
 * Linked with a target in place of libFuzzer. An empty or missing corpus is a failure: a replay that
 * replays nothing would pass for ever.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Copies into an allocation of the exact size, so that AddressSanitizer sees a read one byte too far. */
static int replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size ? size : 1);
	int status = -1;

	if (file && data && fread(data, 1, size, file) == size) {
		LLVMFuzzerTestOneInput(data, size);
		status = 0;
	} else {
		fprintf(stderr, "%s: %s\n", path, errno ? strerror(errno) : "shorter than its size");
	}
	free(data);
	if (file)
		fclose(file);
	return status;
}

/* Returns the number of files replayed, or -1 when one of them could not be read. */
static int replay_folder(const char *folder, DIR *dir)
{
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(dir))) {
		char path[4096];
		struct stat st;

		if (entry->d_name[0] == '.')
			continue;
		errno = 0;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= sizeof(path) ||
		    stat(path, &st) < 0) {
			fprintf(stderr, "%s/%s: %s\n", folder, entry->d_name,
				errno ? strerror(errno) : "path too long");
			return -1;
		}
		if (!S_ISREG(st.st_mode))
			continue;
		if (replay_file(path, (size_t)st.st_size) < 0)
			return -1;
		count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	DIR *dir;
	int count;

	if (argc != 2) {
		fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
		return 2;
	}
	dir = opendir(argv[1]);
	if (!dir) {
		fprintf(stderr, "%s: %s; a fuzz target needs a corpus to replay\n", argv[1], strerror(errno));
		return 1;
	}
	count = replay_folder(argv[1], dir);
	closedir(dir);
	if (count == 0)
		fprintf(stderr, "%s: no files; a fuzz target needs a corpus to replay\n", argv[1]);
	else if (count > 0)
		printf("%d inputs replayed\n", count);
	return count > 0 ? 0 : 1;
}
