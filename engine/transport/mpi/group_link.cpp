#include "transport/mpi/group_link.hpp"

namespace wireproof {

MpiGroupLink::MpiGroupLink(MPI_Comm comm, MPI_Comm control, std::span<const int> ranks, bool yield)
    : comm_(comm), control_(control), ranks_(ranks), yield_(yield) {
  MPI_Comm_rank(comm_, &self_);
}

void MpiGroupLink::reserve(int slots) {
  if (slot_storage_.size() < static_cast<std::size_t>(slots)) {
    slot_storage_.resize(static_cast<std::size_t>(slots), MPI_REQUEST_NULL);
  }
  slots_ = slot_storage_.data();
}

void MpiGroupLink::send_control(int to, std::span<const std::byte> message) {
  MPI_Request request;
  MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE,
            ranks_[static_cast<std::size_t>(to)], kControl, control_, &request);
  await_request(request, yield_);
}

void MpiGroupLink::recv_control(int from, std::span<std::byte> message) {
  MPI_Request request;
  MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_BYTE,
            ranks_[static_cast<std::size_t>(from)], kControl, control_, &request);
  await_request(request, yield_);
}

}  // namespace wireproof
