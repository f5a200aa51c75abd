/* Each rank passes ROUNDS messages of COUNT ints to the next one around a ring, meets the others at a barrier, and adds
 * up with them. */
#include <mpi.h>

#define ROUNDS 10
#define COUNT  256

int main(int argc, char **argv)
{
	int rank, size, sum, message[COUNT] = { 0 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < ROUNDS; i++) {
		if (rank % 2) {
			MPI_Recv(message, COUNT, MPI_INT, (rank + size - 1) % size, 0,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(message, COUNT, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
		} else {
			MPI_Send(message, COUNT, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
			MPI_Recv(message, COUNT, MPI_INT, (rank + size - 1) % size, 0,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return sum == size * (size - 1) / 2 ? 0 : 1;
}
