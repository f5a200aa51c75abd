/* Prints docs/tables.md from the schema, so that the page cannot disagree with the program. Run at
 * build time; it is no part of strata itself.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "schema/shown.h"

static const char intro[] =
	"# Tables and columns\n"
	"\n"
	"Every table of a trace, as `strata dump RUN TABLE` shows it. This page is generated from\n"
	"`src/schema/tables.def`, which the program itself is built from.\n"
	"\n"
	"## Rules that hold everywhere\n"
	"\n"
	"**Time.** `ts` is in nanoseconds since boot, suspend included (CLOCK_BOOTTIME), and is "
	"the moment\n"
	"the event *began*. `dur` is how long it took, in nanoseconds, so that it ended at `ts + "
	"dur`. A row\n"
	"that was not finished when the recording stopped has no `dur` and no `returned`. A call "
	"that was\n"
	"already running when strata attached to its thread has the start of the recording as its "
	"`ts`.\n"
	"Rows come in order of `ts`. Table `clock` ties boot time to UTC with readings taken all "
	"through the\n"
	"recording, so that drift and steps of the wall clock are followed.\n"
	"\n"
	"**Null.** What is not known is null, and nothing is ever guessed or filled with a zero. A "
	"zero was\n"
	"measured. In CSV a null is an empty cell, and a text that is empty is `\"\"`.\n"
	"\n"
	"**Calls.** `op` is the exact name of the system call, as strace prints it: `pread64`, not "
	"`pread`,\n"
	"and `newfstatat`, not `stat`. `returned` is signed: what the call gave back, or a "
	"negative error\n"
	"number (-2 is ENOENT). Arguments are as the program passed them.\n"
	"\n"
	"**What leaves no row.** Each table of calls lists those that it holds. Other calls that "
	"touch files or "
	"data\n"
	"do not: `ioctl` (with it FICLONE and FIDEDUPERANGE), `mount` and its kin, `inotify` and "
	"`fanotify`, "
	"`quotactl`,\n"
	"`setxattrat` and its kin, `mprotect`, `brk`, `mlock` and `mincore`, System V and POSIX "
	"message queues, "
	"`ptrace`,\n"
	"operations of io_uring other than those listed, and all that moves bytes without a call: "
	"memory that "
	"processes\n"
	"share, a mapping that is written (its faults and its block requests are seen), a device "
	"that a "
	"driver\n"
	"maps into a program. Calls through the 32-bit entry are counted as losses.\n"
	"\n"
	"**Interrupted calls.** When a signal interrupts a call, the kernel may begin it anew "
	"without the\n"
	"program noticing. Each beginning is a row of its own: the interrupted one shows "
	"`returned` -4\n"
	"(EINTR), whatever the kernel's internal code was, and `restarted` says whether it was "
	"begun anew\n"
	"(true) or the program got to see EINTR (false).\n"
	"\n"
	"**Processes and threads.** `pid` is the process, `tid` the thread; the main thread has "
	"both equal.\n"
	"Both are numbers of the PID namespace in which strata ran, whatever a container shows to "
	"its own\n"
	"processes. The system uses numbers again: `comm`, shown beside every `tid`, is the name "
	"that the\n"
	"thread with that number had *at that time*, and table `thread` lists them all.\n"
	"\n"
	"**Files.** `file` is a number that strata gives to one file under one name: device, "
	"inode,\n"
	"generation and name together. After a rename, or when it is reached through another link "
	"or mount,\n"
	"later rows carry a new number with the new path and the same inode. After an unlink the "
	"last name\n"
	"stays. Numbers mean nothing outside their trace. Table `file` lists them all.\n"
	"\n"
	"**Paths.** `path`, shown beside every `file`, is absolute as the mount namespace of the "
	"opener shows\n"
	"it, and a chroot does not shorten it. Pipes, sockets, memfds and other files without a "
	"path are\n"
	"named as in /proc/PID/fd: `pipe:[123]`. For calls by path that open nothing, such as "
	"`stat` or\n"
	"`unlink`, `path` is the directory joined with the path as passed. Symbolic links and `..` "
	"in it are\n"
	"not resolved, and it is null when the directory is not known.\n"
	"\n"
	"**Position.** `pos` is where in the file the call started. For a file opened with "
	"O_APPEND it is\n"
	"where the bytes went. It is null where nothing can seek: pipes, sockets, terminals. Where "
	"several\n"
	"threads or processes share one open file, the position is taken as the kernel used it; a "
	"call "
	"during\n"
	"which somebody else moved it has none.\n"
	"\n"
	"**Devices.** `dev` of tables block and disk is the name of a whole disk, such as "
	"`nvme0n1`; `dev` of\n"
	"table file is the major:minor of the file system, as in /proc/PID/mountinfo. A loop "
	"device and the\n"
	"disk below it both count: a sum across both counts the same bytes twice.\n"
	"\n"
	"**Losses.** Every event that could not be kept is counted in table `loss`. A trace in "
	"which that\n"
	"table has no rows is whole.\n"
	"\n"
	"**Bytes that are not text.** Linux lets names and arguments hold any byte. One that is "
	"not UTF-8 is\n"
	"shown as `\\xNN`, and a backslash as `\\x5c`, so that nothing is ambiguous.\n"
	"\n"
	"Columns in *italics* are not stored: they are found by the id beside them when the table "
	"is shown.\n";

static const char *docs_type(enum column_type type)
{
	switch (type) {
	case TYPE_UINT: return "unsigned";
	case TYPE_INT: return "signed";
	case TYPE_BOOL: return "boolean";
	case TYPE_REAL: return "real";
	case TYPE_NAME: return "name";
	case TYPE_TEXT:
	case TYPE_PATH: return "text";
	case TYPE_FILE: return "file id";
	}
	return "";
}

/* The calls whose rows a table holds, those that go through a queue apart. */
static void docs_print_calls(enum layer layer, bool queued)
{
	const char *before = queued ? "\nThrough a queue: " : "\nCalls: ";

	for (unsigned i = 0; i < SYSCALL_COUNT; i++) {
		const struct syscall_info *call = &schema_syscalls[i];

		if (!call->name || call->layer != layer || call->queued != queued)
			continue;
		printf("%s`%s`", before, call->name);
		before = ", ";
	}
	if (*before == ',')
		printf(".\n");
}

static void docs_print_table(const struct schema_table *table)
{
	struct shown_column shown[SHOWN_MAX_COLUMNS];
	unsigned count = shown_columns(table, shown);

	printf("\n## %s\n\n%s.\n\n", table->name, table->doc);
	printf("| column | type | unit | meaning |\n|---|---|---|---|\n");
	for (unsigned i = 0; i < count; i++) {
		const char *mark = shown[i].kind == SHOWN_CELL ? "" : "*";

		printf("| %s%s%s | %s | %s | ", mark, shown[i].name, mark, docs_type(shown[i].type),
		       shown[i].unit);
		escape_print(stdout, ESCAPE_MARKDOWN, shown[i].doc, strlen(shown[i].doc));
		printf(" |\n");
	}
	for (unsigned queued = 0; queued < 2; queued++)
		docs_print_calls(table->layer, queued);
}

int main(void)
{
	fputs(intro, stdout);
	printf("A `name` is a text out of a fixed list.\n\n");
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		printf("%s[%s](#%s)", i ? ", " : "Tables: ", schema_tables[i].name,
		       schema_tables[i].name);
	printf(".\n");
	for (unsigned i = 0; i < TABLE_COUNT; i++)
		docs_print_table(&schema_tables[i]);
	return fflush(stdout) ? 1 : 0;
}
