/* What the tests of the probes' decoders share: records as the programs in the kernel send them become rows of a file. */
#ifndef STRATA_TESTS_DECODE_HELP_H
#define STRATA_TESTS_DECODE_HELP_H

#include "store_help.h"

#include "probes/names.h"
#include "probes/probe.h"

HELP struct row_maker maker;
HELP struct writer *writer;

HELP int decode_begin(void **state)
{
	struct error e;

	(void)state;
	maker = (struct row_maker){ 0 };
	assert_int_equal(writer_open(&writer, help_file(), &e), 0);
	sink_init(&maker.sink, writer);
	return 0;
}

HELP int decode_end(void **state)
{
	(void)state;
	names_forget(&maker);
	buf_free(&maker.scratch);
	sink_free(&maker.sink);
	unlink(help_path);
	return 0;
}

HELP void decode(const void *bytes, size_t size)
{
	const struct record *record = bytes;

	probes[record->probe]->decode(&maker, record, size);
}

/* The rows so far, a line each: the table, then its columns in order. */
HELP void assert_rows(const char *expected)
{
	struct reader *reader;
	struct buf text;
	struct error e;

	sink_flush(&maker.sink, 0);
	assert_int_equal(maker.sink.failed, 0);
	assert_int_equal(writer_close(writer, &e), 0);
	reader = help_open();
	text = help_print_all(reader);
	assert_int_equal(buf_append(&text, "", 1), 0);
	assert_string_equal((const char *)text.data, expected);
	buf_free(&text);
	reader_close(reader);
}

HELP struct record head(enum probe_id probe, uint8_t kind, uint8_t op)
{
	return (struct record){ .probe = probe,
				.kind = kind,
				.op = op,
				.cpu = 3,
				.pid = 10,
				.tid = 11,
				.ts = 1000,
				.dur = 50 };
}

#endif
