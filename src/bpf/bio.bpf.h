/* Bios to devices that make no requests of them (dm, md, zram, pmem, NVMe with several paths): rows of the
 * layer block too, one for each bio as it was submitted.
 *
 *     bio_queue ─▶ bio_complete                      most
 *     bio_queue ─▶ bio_remap ─▶ rq_complete          one handed on as it is to a disk that makes requests
 *
 * A bio that is split keeps its address for the last part, is not queued again, and completes when all of its
 * parts have; the parts that were split off complete too, and are in no map. A bio of a partition is already
 * in sectors of the whole disk when it is queued.
 */
#ifndef STRATA_BPF_BIO_BPF_H
#define STRATA_BPF_BIO_BPF_H

#include "bpf/request.bpf.h"

static __always_inline bool disk_makes_requests(struct gendisk *disk)
{
	return disk->queue->mq_ops;
}

static __always_inline void bio_begin(struct bio *bio, struct gendisk *disk)
{
	struct request_state state = {};
	__u64 key = (__u64)bio;

	state.flags = bio->bi_opf;
	if (request_op(state.flags) >= OP_DRIVER)
		return;
	state.disk = (__u64)disk;
	state.queued = bpf_ktime_get_boot_ns();
	state.issued = state.queued;
	state.unqueued = true; /* there is no queue */
	state.cpu = bpf_get_smp_processor_id();
	state.sector = bio->bi_iter.bi_sector;
	state.bytes = bio->bi_iter.bi_size;
	state.size = state.bytes;
	request_find_cause(&state, bio, state.bytes);
	if (!config.process_all && !state.job)
		return;
	request_keep(key, &state);
}

/* Every bio of every disk passes here: those that a request is made of pay for this test alone. */
SEC("?tp_btf/block_bio_queue")
int BPF_PROG(bio_queue, struct bio *bio)
{
	struct gendisk *disk = pointer_in(bio, bio, bi_bdev)->bd_disk;

	if (!disk_makes_requests(disk) && rows_are_taken())
		bio_begin(bio, disk);
	return 0;
}

SEC("?tp_btf/block_bio_remap")
int BPF_PROG(bio_remap, struct bio *bio, __u32 from)
{
	struct block_device *device = pointer_in(bio, bio, bi_bdev);
	struct request_state *state;
	__u64 key = (__u64)bio;

	/* From a partition to its disk: not queued yet, and the device is still the partition. */
	if (device->bd_dev == from || !disk_makes_requests(device->bd_disk))
		return 0;
	state = bpf_map_lookup_elem(&requests, &key); /* not there: a copy of its own */
	if (state && !state->handed_on) {
		state->handed_on = 1;
		__sync_fetch_and_add(&bios_handed_on, 1);
	}
	return 0;
}

SEC("?tp_btf/block_bio_complete")
int BPF_PROG(bio_complete, struct request_queue *queue, struct bio *bio)
{
	__u64 key = (__u64)bio;

	/* Of NVMe's paths the driver says this too early, with the queue that the bio was handed on from: what
	 * its request ends with counts. */
	if (shared.recording && queue == pointer_in(bio, bio, bi_bdev)->bd_disk->queue)
		bio_end(&key, bio->bi_status);
	return 0;
}

#endif
