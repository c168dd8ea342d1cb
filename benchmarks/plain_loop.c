/* The ping-pong that a person would write: MPI_Send and MPI_Recv in a loop, MPI_Wtime around it, nothing else.
 * plain_loop BYTES ITERATIONS ROWS: one line for each row of ITERATIONS round trips, and the peak memory of the larger
 * rank, which is what an MPI needs for itself: with 0 rows after MPI_Init and one exchange, with -1 after windows of
 * messages one way at each power of two up to BYTES, at most 64 messages and 4 MiB in flight. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static char *out_buffer, *in_buffer;

static void round_trips(int rank, int bytes, int count) {
  for (int i = 0; i < count; ++i) {
    if (rank == 0) {
      MPI_Send(out_buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(in_buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in_buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out_buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
}

static void windows_of(int rank, int bytes, int count) {
  MPI_Request requests[64];
  const int fitting = (4 << 20) / bytes, window = fitting > 64 ? 64 : fitting < 2 ? 2 : fitting;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < window; ++k) {
      if (rank == 0) {
        MPI_Isend(out_buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, requests + k);
      } else {
        MPI_Irecv(in_buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, requests + k);
      }
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
  }
}

static void tell_peak(int rank) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  long long own = usage.ru_maxrss * 1024LL, peak = 0;
  MPI_Reduce(&own, &peak, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("peak_rss_bytes %lld\n", peak);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4 || ranks != 2) {
    if (rank == 0) fprintf(stderr, "usage: plain_loop BYTES ITERATIONS ROWS, with two ranks\n");
    MPI_Finalize();
    return 2;
  }
  const int bytes = atoi(argv[1]), iterations = atoi(argv[2]), rows = atoi(argv[3]);
  const size_t size = (size_t)bytes + 4096;
  if (posix_memalign((void **)&out_buffer, 4096, size) || posix_memalign((void **)&in_buffer, 4096, size)) return 1;
  for (size_t i = 0; i < (size_t)bytes; ++i) out_buffer[i] = in_buffer[i] = (char)i;
  round_trips(rank, bytes, rows > 0 ? 5000 : 1);
  for (int size = 1; rows < 0 && size <= bytes; size *= 2) windows_of(rank, size, 20);
  for (int row = 0; row < rows; ++row) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    round_trips(rank, bytes, iterations);
    const double elapsed = MPI_Wtime() - start;
    if (rank == 0) printf("half_round_trip_ns %.3f\n", elapsed * 1e9 / iterations / 2);
  }
  tell_peak(rank);
  MPI_Finalize();
  return 0;
}
