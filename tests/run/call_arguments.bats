#!/usr/bin/env bats
# What the arguments of functions say: bytes, files, counts, ranks and operations, against what the programs passed.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# told [CONDITION [COLUMNS]]: rows of table call in the order of time.
told() { rows call "${1:-True}" "${2:-func,bytes,count,rank,op,path,arg_path}" | tr '\t' ' '; }

@test "stdio and POSIX: bytes, elements, paths and files, of streams and descriptors, of what fails too" {
	cat >app.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void)
		{
			char room[1000];
			FILE *stream = fopen("data", "w");
			fwrite(room, 10, 7, stream);
			fclose(stream);
			int fd = open("data", O_RDONLY);
			if (pread(fd, room, 50, 30) != 40 || read(99, room, 1) != -1)
				return 1;
			close(fd);
			free(calloc(6, 7));
			return fopen("absent", "r") != NULL;
		}
	END
	gcc -O0 -o app app.c
	record -e process --call @stdio --call @posix --call @malloc -- ./app
	no_loss
	same calls "fopen - - - - $T/data data
fwrite 70 7 - - $T/data -
fclose - - - - $T/data -
open - - - - $T/data data
pread 40 - - - $T/data -
read 0 - - - - -
close - - - - $T/data -
calloc 42 6 - - - -
fopen - - - - - absent" "$(told "depth == 0 and func not in ('free',)")"
	same "what fclose wrote" "70 $T/data" "$(told "func == 'write'" bytes,path)"
}

@test "MPI: bytes, elements and peers of four ranks" {
	command -v mpicc >/dev/null || skip "openmpi is not installed"
	mpicc -O2 -o ring "$ROOT/tests/workloads/mpi/ring.c"
	record -e process --call @mpi -- mpirun --allow-run-as-root --oversubscribe -n 4 ./ring
	same "bytes and elements" "MPI_Allreduce 16 4
MPI_Recv 40960 10240
MPI_Send 40960 10240" "$(told "bytes is not None" func,bytes,count | awk '{ b[$1] += $2; n[$1] += $3 } END { for (f in b) print f, b[f], n[f] }' | sort)"
	same "peers" "$(printf '10 %d\n' 0 1 2 3)" "$(told "func == 'MPI_Send'" rank | sort | uniq -c | awk '{ print $1, $2 }')"
}

@test "HDF5: the bytes that a writer's file got, and the names of its data sets" {
	command -v h5cc >/dev/null || skip "hdf5 is not installed"
	h5cc -shlib -O2 -o writer "$ROOT/tests/workloads/hdf5/writer.c"
	strace -f -e trace=pwrite64 -o traced ./writer "$T/witness.h5"
	bytes=$(sed -n 's/.*pwrite64(.* = \([0-9]*\)$/\1/p' traced | paste -sd+ | bc)
	record -e process --call @hdf5 -- ./writer "$T/out.h5"
	same "bytes as strace has them" "$bytes" "$(told "func == 'H5FD_write'" bytes | paste -sd+ | bc)"
	[ "$bytes" -ge 40000 ]
	same "data sets" "$(printf 'set%d\n' 0 1 2 3 4)" "$(told "func == 'H5Dcreate2'" arg_path)"
	same "file" "$T/out.h5" "$(told "func == 'H5Fcreate'" arg_path)"
}

@test "CUDA and NCCL, by libraries that stand in for them: bytes of copies, fills and collectives, operations and ranks" {
	cat >cuda.c <<-'END'
		#define CALL(name, ...) int name(__VA_ARGS__) { __asm__ volatile(""); return 0; }
		typedef unsigned long word;
		CALL(cuMemcpyHtoD_v2, word to, void *from, word bytes)
		CALL(cuMemAlloc_v2, word *at, word bytes)
		CALL(cuMemsetD32_v2, word at, unsigned value, word count)
		CALL(cuLaunchKernel, void *f, unsigned x, unsigned y, unsigned z)
	END
	cat >nccl.c <<-'END'
		#define CALL(name, ...) int name(__VA_ARGS__) { __asm__ volatile(""); return 0; }
		typedef unsigned long word;
		CALL(ncclAllReduce, void *a, void *b, word count, int type, int op, void *comm, void *stream)
		CALL(ncclReduce, void *a, void *b, word count, int type, int op, int root, void *comm, void *stream)
		CALL(ncclBroadcast, void *a, void *b, word count, int type, int root, void *comm, void *stream)
		CALL(ncclSend, void *a, word count, int type, int peer, void *comm, void *stream)
	END
	cat >app.c <<-'END'
		int cuMemcpyHtoD_v2(), cuMemAlloc_v2(), cuMemsetD32_v2(), cuLaunchKernel();
		int ncclAllReduce(), ncclReduce(), ncclBroadcast(), ncclSend();
		int main(void)
		{
			cuMemAlloc_v2(0L, 4096L);
			cuMemcpyHtoD_v2(0L, 0L, 1000L);
			cuMemsetD32_v2(0L, 0, 25L);
			cuLaunchKernel(0L, 1, 2, 3);
			ncclAllReduce(0L, 0L, 100L, 7, 0, 0L, 0L); /* floats, sum */
			ncclReduce(0L, 0L, 100L, 6, 2, 3, 0L, 0L); /* halves, max, to 3 */
			ncclBroadcast(0L, 0L, 100L, 8, 2, 0L, 0L); /* doubles, from 2 */
			ncclSend(0L, 100L, 99, 1, 0L, 0L); /* no type */
			return 0;
		}
	END
	gcc -O2 -shared -fPIC -o libcuda.so.1 cuda.c
	gcc -O2 -shared -fPIC -o libnccl.so.2 nccl.c
	gcc -O2 -w -o app app.c ./libcuda.so.1 ./libnccl.so.2
	export LD_LIBRARY_PATH=$T
	record -e process --call @cuda --call @nccl -- ./app
	same calls "cuMemAlloc_v2 4096 - - -
cuMemcpyHtoD_v2 1000 - - -
cuMemsetD32_v2 100 - - -
cuLaunchKernel - - - -
ncclAllReduce 400 100 - sum
ncclReduce 200 100 3 max
ncclBroadcast 800 100 2 -
ncclSend - 100 1 -" "$(told True func,bytes,count,rank,op)"
}

@test "what rests on a result that is not seen is not known" {
	printf 'never-return libc.so.6\nread write\n' >own
	record -e process --call-returns --call libc.so.6:read,write --presets own -- head -c 2 /etc/hostname >out
	[ "$(count call "func == 'read'")" -gt 0 ]
	same "bytes" 0 "$(count call "bytes is not None")"
	[ "$(count call "path == '/etc/hostname'")" -gt 0 ]
}
