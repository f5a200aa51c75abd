/* biolat: how long block devices take for a request, from its issue to its last completion, by device and operation. */
#include "bpf/live.bpf.h"

#define REQUESTS  16384
#define OP_FLUSH  2 /* the kernel's operations; other even ones read, other odd ones write */
#define OP_ERASE  3
#define OP_DRIVER 34

/* The next device's place. */
__u32 live_disk_count = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS);
	__type(key, __u64);
	__type(value, __u64);
} live_issued SEC(".maps");

/* By device number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LIVE_DEVICES);
	__type(key, __u32);
	__type(value, struct live_disk);
} live_disks SEC(".maps");

SEC("tp_btf/block_rq_issue")
int BPF_PROG(live_block_issue, struct request *rq)
{
	__u64 key = (__u64)rq, now = bpf_ktime_get_ns();

	if ((rq->cmd_flags & 0xff) < OP_DRIVER &&
	    bpf_map_update_elem(&live_issued, &key, &now, BPF_ANY))
		live_lose();
	return 0;
}

/* The subject of a device, or -1. */
static __always_inline int disk_place(struct gendisk *disk)
{
	__u32 key = (__u32)disk->major << 20 | (__u32)disk->first_minor;
	struct live_disk *known = bpf_map_lookup_elem(&live_disks, &key), fresh = {};

	if (known)
		return known->index;
	fresh.index = __sync_fetch_and_add(&live_disk_count, 1);
	if (fresh.index >= LIVE_DEVICES)
		return -1;
	bpf_probe_read_kernel(fresh.name, sizeof(fresh.name), disk->disk_name);
	bpf_map_update_elem(&live_disks, &key, &fresh, BPF_NOEXIST);
	known = bpf_map_lookup_elem(&live_disks, &key);
	return known ? (int)known->index : -1;
}

static __always_inline __u32 op_of(__u32 flags)
{
	__u32 op = flags & 0xff;

	return op == OP_FLUSH ? 2 : op == OP_ERASE ? 3 : op & 1;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(live_block_complete, struct request *rq, int error, unsigned int bytes)
{
	__u64 key = (__u64)rq, *issued, ns;
	struct live_hist *hist;
	int place;

	if (bytes < rq->__data_len) /* done in part */
		return 0;
	issued = bpf_map_lookup_elem(&live_issued, &key);
	if (!issued)
		return 0;
	ns = bpf_ktime_get_ns() - *issued;
	bpf_map_delete_elem(&live_issued, &key);
	place = rq->q->disk ? disk_place(rq->q->disk) : -1;
	hist = place >= 0 ? live_hist_here(place * LIVE_OPS + op_of(rq->cmd_flags)) : NULL;
	if (!hist) {
		live_lose();
		return 0;
	}
	live_add_shared(hist, ns); /* completions interrupt each other */
	__sync_fetch_and_add(&hist->bytes, bytes);
	return 0;
}
