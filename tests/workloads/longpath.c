/* Names that break careless tools: a path of 4,000 bytes, and names with spaces, quotes, newlines,
 * backslashes, commas, tabs, UTF-8 and bytes that are no UTF-8. Writes 5 bytes to each file.
 *
 *     longpath DIR      prints the length of the long path
 */
#include "workload.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define LENGTH 4000 /* of the long path; a call takes 4,095 */

static const char *const names[] = {
	"with space",
	"quote\"double",
	"quote'single",
	"new\nline",
	"carriage\rreturn",
	"back\\slash",
	"comma,semi;",
	"tab\there",
	"\xc3\xbcml\xc3\xa4ut",
	"not\xff\xfeutf8",
	"\\x41 looks escaped",
	" leading",
	"cut\xc3",
	"=formula",
};

static void leave(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, "12345", 5) == 5 && !close(fd));
}

int main(int argc, char **argv)
{
	char component[201], path[2 * PATH_MAX];
	size_t base;
	int fd;

	CHECK(argc == 2 && !chdir(argv[1]));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		leave(names[i]);

	memset(component, 'd', sizeof(component));
	CHECK(getcwd(path, sizeof(path)));
	base = strlen(path);
	while (base < LENGTH - 5) {
		size_t room = LENGTH - 5 - base - 1;
		size_t length = room > 402 ? 200 : room > 200 ? room / 2 : room;

		component[length] = 0;
		CHECK(!mkdirat(AT_FDCWD, component, 0700) && !chdir(component));
		path[base] = '/';
		memcpy(path + base + 1, component, length + 1);
		base += length + 1;
	}
	leave("file"); /* by a relative name: the kernel knows the rest */
	strcpy(path + base, "/file");
	fd = open(path, O_RDONLY); /* and by all of its 4,000 bytes */
	CHECK(fd >= 0 && read(fd, component, 5) == 5 && !close(fd));
	printf("%zu\n", strlen(path));
	return 0;
}
