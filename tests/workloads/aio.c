/* Reads, writes and syncs a file through io_submit and io_getevents, and tells the truth about each operation.
 *
 *     aio DIR          collects with io_getevents
 *     aio DIR unseen   takes the completions of reads from the ring in its own memory, as some programs do
 */
#include "workload.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/uio.h>

#define DEPTH 4
#define BLOCK 4096

/* The ring as the kernel maps it into the process. */
struct completion_ring {
	unsigned id, count, head, tail, magic, features, flags, header_size;
	struct io_event events[];
};

static aio_context_t context;
static char buffer[DEPTH][BLOCK];

static void fill(struct iocb *one, int operation, int fd, void *data, size_t size, long long offset)
{
	*one = (struct iocb){ .aio_lio_opcode = (unsigned short)operation,
			      .aio_fildes = (unsigned)fd,
			      .aio_buf = (unsigned long)data,
			      .aio_nbytes = size,
			      .aio_offset = offset };
}

/* Hands over some operations and gives the result of the last one. */
static long long run(struct iocb *operations, int count)
{
	struct iocb *list[DEPTH];
	struct io_event done[DEPTH];

	for (int i = 0; i < count; i++)
		list[i] = &operations[i];
	CHECK(RAW(io_submit, context, count, list) == count);
	CHECK(RAW(io_getevents, context, count, DEPTH, done, NULL) == count);
	return done[count - 1].res;
}

/* Waits until as many completions are in the ring, and takes them without a call. */
static void take_unseen(int count)
{
	struct completion_ring *ring = (void *)context;

	while ((__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) + ring->count - ring->head) %
		       ring->count <
	       (unsigned)count)
		;
	__atomic_store_n(&ring->head, ring->tail, __ATOMIC_RELEASE);
}

static void unseen(int fd)
{
	struct iocb reads[DEPTH], *list[DEPTH];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < DEPTH; i++) {
			fill(&reads[i], IOCB_CMD_PREAD, fd, buffer[i], BLOCK, (long long)i * BLOCK);
			list[i] = &reads[i];
		}
		CHECK(RAW(io_submit, context, DEPTH, list) == DEPTH);
		take_unseen(DEPTH);
	}
}

int main(int argc, char **argv)
{
	const char *directory = argv[1];
	struct iovec vector[2] = { { buffer[0], 100 }, { buffer[1], BLOCK } };
	struct iocb operations[DEPTH], *bad[2];
	int fd;

	CHECK(argc > 1 && !chdir(directory));
	CHECK(!RAW(io_setup, 128, &context));
	fd = open("data", O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	for (int i = 0; i < DEPTH; i++)
		fill(&operations[i], IOCB_CMD_PWRITE, fd, buffer[i], BLOCK, (long long)i * BLOCK);
	truth_begin();
	run(operations, DEPTH);
	for (int i = 0; i < DEPTH; i++)
		truth("aio_pwrite dir=W fd=%d path=%s/data pos=%d requested=4096 returned=4096", fd,
		      directory, i * BLOCK);
	fill(operations, IOCB_CMD_FSYNC, fd, NULL, 0, 0);
	truth("aio_fsync fd=%d path=%s/data returned=%lld", fd, directory, run(operations, 1));
	fill(operations, IOCB_CMD_PREADV, fd, vector, 2, 5);
	truth("aio_preadv dir=R fd=%d path=%s/data pos=5 requested=4196 returned=%lld", fd,
	      directory, run(operations, 1));
	fill(operations, IOCB_CMD_PREAD, fd, buffer[0], BLOCK, DEPTH * BLOCK);
	truth("aio_pread fd=%d path=%s/data pos=%d requested=4096 returned=%lld", fd, directory,
	      DEPTH * BLOCK, run(operations, 1));
	/* The second cannot be taken: the descriptor is not open. */
	fill(&operations[0], IOCB_CMD_PREAD, fd, buffer[0], BLOCK, 0);
	fill(&operations[1], IOCB_CMD_PREAD, 999, buffer[1], BLOCK, 0);
	bad[0] = &operations[0];
	bad[1] = &operations[1];
	CHECK(RAW(io_submit, context, 2, bad) == 1);
	CHECK(RAW(io_getevents, context, 1, 1, &(struct io_event){ 0 }, NULL) == 1);
	truth("aio_pread fd=%d path=%s/data pos=0 requested=4096 returned=4096", fd, directory);
	if (argc > 2)
		unseen(fd);
	truth_end();
	return 0;
}
