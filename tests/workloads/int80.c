/* A 64-bit program that makes 32-bit calls (int $0x80): other numbers, other structures. Native calls whose
 * numbers mean something else there stand between them.
 *
 *     int80 DIR      exits with 3 where the kernel has no 32-bit entry
 */
#include "workload.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#define LARGE_FILE 0100000 /* O_LARGEFILE, which 64-bit headers define as 0 */

struct iovec32 {
	uint32_t base, length;
};

static long call32(long number, long a, long b, long c, long d, long e)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static void no_entry(int number)
{
	(void)number;
	_exit(3);
}

int main(int argc, char **argv)
{
	char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	struct iovec32 *vector = (struct iovec32 *)(low + 4096);
	long address = (long)low;
	long fd, result;

	CHECK(argc == 2 && !chdir(argv[1]) && low != MAP_FAILED);
	signal(SIGSEGV, no_entry);
	if (call32(20, 0, 0, 0, 0, 0) != getpid())
		return 3;
	truth_begin();
	strcpy(low, "file32");
	fd = call32(5, address, O_RDWR | O_CREAT | LARGE_FILE, 0600, 0, 0);
	truth("open fd=%ld arg_path=file32 flags=%d returned=%ld", fd,
	      O_RDWR | O_CREAT | LARGE_FILE, fd);
	result = call32(4, fd, address, 100, 0, 0);
	truth("write fd=%ld pos=0 requested=100 returned=%ld", fd, result);
	result = RAW(write, fd, low, 11);
	truth("write fd=%ld pos=100 requested=11 returned=%ld", fd, result);
	result = call32(181, fd, address, 20, 7, 1); /* the position in two halves: 4 GiB + 7 */
	truth("pwrite64 fd=%ld pos=%ld requested=20 returned=%ld", fd, (1L << 32) + 7, result);
	result = call32(180, fd, address, 50, 3, 0);
	truth("pread64 fd=%ld pos=3 requested=50 returned=%ld", fd, result);
	result = RAW(pread64, fd, low, 50, 4L);
	truth("pread64 fd=%ld pos=4 requested=50 returned=%ld", fd, result);
	vector[0] = (struct iovec32){ (uint32_t)address, 30 };
	vector[1] = (struct iovec32){ (uint32_t)address, 12 };
	result = call32(145, fd, address + 4096, 2, 0, 0);
	truth("readv fd=%ld pos=111 requested=42 returned=%ld", fd, result);
	result = call32(3, fd, address, 60, 0, 0);
	truth("read fd=%ld pos=153 requested=60 returned=%ld", fd, result);
	result = call32(3, 777, address, 60, 0, 0);
	truth("read fd=777 requested=60 returned=%ld", result);
	result = call32(6, fd, 0, 0, 0, 0);
	truth("close fd=%ld returned=%ld", fd, result);
	result = RAW(close, fd);
	truth("close fd=%ld returned=%ld", fd, result);
	truth_end();
	return 0;
}
