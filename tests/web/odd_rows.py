#!/usr/bin/python3
"""Rows that no recording here holds, for build/tools/rows_to_run: odd_rows.py [THREADS]

Names that are not UTF-8, calls that overlap without nesting, unfinished ones, GPU rows, counters, three days. With
THREADS, that many threads with a call and two stays each.
"""
import sys

DAY = 86400 * 10**9

print("""run key=host value=odd
run key=kernel value=Linux%206.1.0
run key=target value=all
clock ts=1000 realtime=1790000000000001000 monotonic=1000
process ts=1000 event=exec pid=10 tid=10 comm=a%ff%20b
process ts=1000 event=fork pid=10 tid=11 comm=reused
process ts=100000 event=exit pid=10 tid=11 comm=reused
process ts=200000 event=fork pid=12 tid=12 comm=other
process ts=210000 event=fork pid=12 tid=11 comm=new
file file=1 path=/data/%ff%fe%0a%22%5c%20x inode=1
file file=2 path=%2fplain inode=2
io ts=2000 dur=5000 pid=10 tid=10 op=read dir=R file=1 returned=-5 requested=10 blocked=0
io ts=4000 dur=9000 pid=10 tid=10 op=pread64 dir=R file=1 pos=4 returned=7 requested=10 blocked=0
io ts=5000 dur=9000 pid=10 tid=10 op=pread64 dir=R file=1 pos=11 returned=7 requested=10 blocked=0
io ts=30000 pid=10 tid=10 op=write dir=W file=1 requested=10
io ts=40000 dur=10 op=read dir=R requested=10 returned=0
io ts=50000 dur=10 pid=10 tid=11 op=sendfile dir=C file=2 out_file=1 requested=10 returned=10
io ts=80000 dur=9000 pid=10 tid=10 op=io_uring_read dir=R file=2 requested=10 returned=10
io ts=81000 dur=9000 pid=10 tid=10 op=io_uring_read dir=R file=2 requested=10 returned=10
io ts=82000 dur=1000 pid=10 tid=10 op=aio_pread dir=R file=2 requested=10 returned=10
block ts=80500 dur=1000 queued=100 pid=99 tid=99 dev=vda op=R sync=0 bytes=4096 file=2
io ts=250000 dur=10 pid=12 tid=11 op=read dir=R file=2 requested=10 returned=0
fs ts=15000 dur=10 pid=10 tid=10 op=openat arg_path= returned=-2 flags=0
fs ts=15500 pid=10 tid=10 op=mkdirat arg_path=refused returned=-1
fs ts=16000 dur=10 pid=10 tid=10 op=openat arg_path=- returned=3 flags=0x40 mode=0644
mem ts=17000 dur=10 pid=10 tid=10 op=mmap addr=0 length=4096 returned=0x7fffffffe000
mem ts=18000 dur=10 pid=10 tid=10 op=mmap addr=0 length=0 returned=-22
mem ts=19000 dur=10 pid=10 tid=10 op=munmap addr=0x7fffffffe000 length=4096 returned=0
call ts=60000 dur=1000 pid=10 tid=11 func=outer module=libx.so depth=0 arg0=-1
call ts=60000 dur=500 pid=10 tid=11 func=inner module=libx.so depth=1 returned=3
counter ts=1000 dur=1000000000 pid=10 tid=10 func=read module=libc.so.6 count=5 time=1234567890 bytes=99
counter ts=1000001000 dur=1000000000 pid=10 tid=10 func=read module=libc.so.6 count=2 time=10 bytes=1
gpu ts=1000 dur=100 gpu=0 sm=55.5 fb_used=1048576 throttle=3
gpu ts=8000000000 dur=100 gpu=0 sm=0 fb_used=0
gpu_process ts=1000 gpu=0 pid=10 type=C sm=44.4 mem=3 fb=10485760 command=py%20thon
gpu_op ts=5000 dur=10000 pid=10 tid=10 gpu=0 stream=7 kind=kernel name=gemm
gpu_op ts=7000 dur=10000 pid=10 tid=10 gpu=0 stream=7 kind=copy name=H2D bytes=5
mark ts=3000 dur=50000 pid=10 tid=10 source=nvtx name=step
mark ts=4000 dur=60000 pid=10 tid=10 source=nvtx name=overlapping
mark ts=4000 pid=10 tid=10 source=mark name=m%c3%a9 value=v
mark ts=5000 source=mark name=nobody
loss ts=100 dur=1000 layer=io cpu=0 count=4
fault ts=6000 pid=10 tid=10 file=1 pos=4096 major=1 missed=4096
fault ts=22000 dur=3000 pid=10 tid=10 file=1 pos=8192 major=1 missed=4096
block ts=22500 dur=1000 queued=500 pid=10 tid=10 dev=vda op=R sync=1 bytes=4096 file=1
block ts=22600 dur=1100 queued=500 pid=99 tid=99 dev=vda op=R sync=1 bytes=4096 file=1
block ts=22700 dev=vda op=W bytes=4096
sched ts=70000 dur=1000 cpu=1 prio=120 end_state=S
sched ts=80000 dur=500 cpu=1 pid=10 tid=10 prio=120
sched ts=82000 dur=500 cpu=1 pid=10 tid=10 prio=120 wait=100 waker_tid=99 end_state=S
sched ts=84000 dur=500 cpu=1 pid=10 tid=10 prio=120 wait=100 waker_tid=99 end_state=S""")
for day in range(3):
    print(f"sched ts={day * DAY + 1000} dur=500 cpu=0 pid=10 tid=10 prio=120 wait=100 waker_tid=99 end_state=S")
for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 0):
    tid, ts = 1000 + number, 10**9 + number * 100
    print(f"process ts={ts} event=fork pid={1000 + number // 10 * 10} tid={tid} comm=t{number % 7}")
    print(f"io ts={ts} dur=5000 pid={1000 + number // 10 * 10} tid={tid} op=read dir=R file=2 requested=1 returned=1")
    print(f"sched ts={ts} dur=50 cpu={number % 3 + 2} pid={1000 + number // 10 * 10} tid={tid} prio=120 end_state=S")
