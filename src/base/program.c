#include "base/program.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool program_beside(char *out, size_t size, const char *relative)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	if (length < 0)
		return false;
	program[length] = '\0';
	slash = strrchr(program, '/');
	if (!slash)
		return false;
	slash[1] = '\0';
	return (size_t)snprintf(out, size, "%s%s", program, relative) < size;
}
