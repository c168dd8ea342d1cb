// Requests that are created before they are started, and the links of threads.
#include <algorithm>

#include "base/failure.hpp"
#include "transport/mpi/mpi_link.hpp"

namespace wireproof {

void MpiLink::make_send(int slot, const std::byte* source, std::size_t bytes) {
  MPI_Send_init(source, static_cast<int>(bytes), MPI_BYTE, peer_, kData, data_, slots_ + slot);
}

void MpiLink::make_receive(int slot, std::byte* sink, std::size_t bytes) {
  MPI_Recv_init(sink, static_cast<int>(bytes), MPI_BYTE, peer_, kData, data_, slots_ + slot);
}

void MpiLink::admit_partitions() const {
  if (!abilities_->partitions) throw CannotBegin("no-partitions", abilities_->no_partitions);
}

void MpiLink::make_partitioned_send(int slot, const std::byte* source, std::size_t bytes,
                                    int partitions) {
  const auto each = static_cast<MPI_Count>(bytes) / partitions;
  MPI_Psend_init(source, partitions, each, MPI_BYTE, peer_, kPartitions, data_, MPI_INFO_NULL,
                 slots_ + slot);
}

void MpiLink::make_partitioned_receive(int slot, std::byte* sink, std::size_t bytes,
                                       int partitions) {
  const auto each = static_cast<MPI_Count>(bytes) / partitions;
  MPI_Precv_init(sink, partitions, each, MPI_BYTE, peer_, kPartitions, data_, MPI_INFO_NULL,
                 slots_ + slot);
}

void MpiLink::release(int first, int count) {
  for (int slot = first; slot < first + count; ++slot) MPI_Request_free(slots_ + slot);
}

/// These are not duplicates of the pair's communicator, which returns errors, because errors of
/// timed calls must end the run.
void MpiLink::assemble(int count) {
  if (count > 1 && !abilities_->threads) throw CannotBegin("no-threads", abilities_->no_threads);
  while (members_.size() < static_cast<std::size_t>(count)) {
    const MPI_Comm own = two_ends(kMemberTag + static_cast<int>(members_.size()));
    const int self = self_ > peer_ ? 1 : 0;
    members_.push_back(std::make_unique<MpiLink>(own, own, self, 1 - self, yield_, *abilities_));
  }
}

}  // namespace wireproof
