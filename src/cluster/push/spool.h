/* Batches of rows on their way to a server: each on disk before it is sent, and there until the server has it.
 *
 *     FOLDER/lock                who holds it works on the spool
 *     FOLDER/identity            a random number, in the names of the gates (deliver.c)
 *     FOLDER/shard               the one of a cluster that its batches go to
 *     FOLDER/epoch               how often delivery began anew
 *     FOLDER/NUMBER.rows         a batch's rows, one gzip member of RowBinary
 *     FOLDER/NUMBER.batch        what it is, a line of JSON: with this name it exists
 *     FOLDER/NUMBER.done         the same once it was delivered; of each stream the last one stays
 *
 * A stream is what rows are taken from, a table of a trace or the samples of an agent, and a batch says how far it goes: so
 * the files alone tell where to go on after a crash, and no row is in two batches. Numbers only grow; they begin with
 * the time at which the spool was made, so that a spool that was lost and made anew uses none twice.
 *
 * One thread uses a spool. Its files may have been written by anybody: nothing in them is trusted.
 */
#ifndef STRATA_CLUSTER_PUSH_SPOOL_H
#define STRATA_CLUSTER_PUSH_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cluster/push/row_writer.h"

struct spool;

#define SPOOL_TEXT 256

struct batch {
	uint64_t number;
	unsigned table; /* as in remote_tables.h */
	char stream[SPOOL_TEXT];
	uint64_t cursor; /* where the stream goes on behind it */
	bool is_last;	 /* the stream ends with it */
	char node[SPOOL_TEXT], run[SPOOL_TEXT];
	uint64_t rows;
	int64_t first, last; /* bounds of the key */
};

/* Makes the folder where it is missing. -EBUSY when another process has it and does not let go of it in `patience` ns. */
int spool_open(struct spool **spool, const char *folder, uint64_t patience, struct error *e);
void spool_close(struct spool *spool);

uint64_t spool_identity(const struct spool *spool);
/* The next epoch, once it is on disk. */
int spool_next_epoch(struct spool *spool, uint64_t *epoch, struct error *e);

/* The shard that its batches go to, so that a batch is looked for where it went. -ENOENT: none was chosen yet. */
int spool_shard(const struct spool *spool, unsigned *shard);
int spool_set_shard(struct spool *spool, unsigned shard, struct error *e);

/* How far the stream has been spooled; 0 and false when nothing of it was. */
uint64_t spool_cursor(const struct spool *spool, const char *stream, bool *ended);

/* The number that the next batch has: its rows hold it. */
uint64_t spool_next_number(const struct spool *spool);

/* A batch is begun, its rows are written, and it is committed or dropped. */
int spool_begin(struct spool *spool, struct row_writer *writer, struct error *e);
int spool_commit(struct spool *spool, struct row_writer *writer, struct batch *batch,
		 struct error *e);
void spool_drop(struct spool *spool, struct row_writer *writer);

/* The oldest batch that is not delivered, or NULL; holds until the spool changes. */
const struct batch *spool_first(const struct spool *spool);
/* Opens its rows; the caller closes the descriptor. */
int spool_rows(const struct spool *spool, const struct batch *batch, int *fd, uint64_t *size,
	       struct error *e);
int spool_done(struct spool *spool, uint64_t number, struct error *e);

/* How many batches wait, and their bytes. */
void spool_waiting(const struct spool *spool, uint64_t *batches, uint64_t *bytes);

/* Reads what a .batch file says; for the fuzzer too. */
int spool_parse(const char *text, size_t size, struct batch *batch, struct error *e);

#endif
