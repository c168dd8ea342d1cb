#include "transport/mpi/mpi_link.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/backoff.hpp"
#include "base/failure.hpp"

namespace wireproof {
namespace {

// A peer between two segments needs microseconds; one that runs a slow segment needs much longer.
constexpr std::int64_t kSpinNs = 2'000'000;
constexpr std::int64_t kYieldingSpinNs = 50'000;

}  // namespace

void await_request(MPI_Request& request, bool yield, const std::function<void()>& idle) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done != 0) return;
  Backoff backoff(yield ? kYieldingSpinNs : kSpinNs);
  for (;;) {
    // Several tests per pause, because a large incoming message needs many calls of the library.
    for (int i = 0; i < 16; ++i) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
    }
    if (idle) idle();
    backoff.pause();
  }
}

MpiLink::~MpiLink() {
  // Both ends drop the pair together.
  for (const auto& member : members_) MPI_Comm_free(&member->data_);
  if (pair_made_) MPI_Comm_free(&pair_);
}

void MpiLink::reserve(int slots) {
  if (slot_storage_.size() < static_cast<std::size_t>(slots)) {
    slot_storage_.resize(static_cast<std::size_t>(slots), MPI_REQUEST_NULL);
  }
  slots_ = slot_storage_.data();
}

MPI_Comm MpiLink::two_ends(int tag) const {
  const int ranks[2] = {std::min(self_, peer_), std::max(self_, peer_)};
  MPI_Group all;
  MPI_Group two;
  MPI_Comm made;
  MPI_Comm_group(data_, &all);
  MPI_Group_incl(all, 2, ranks, &two);
  MPI_Comm_create_group(data_, two, tag, &made);
  MPI_Group_free(&two);
  MPI_Group_free(&all);
  return made;
}

/// Windows are collective; the communicator contains only the two ends, so that pairs do not wait
/// for others.
void MpiLink::make_pair_communicator() {
  if (pair_made_) return;
  pair_ = two_ends(kPairTag);
  // only windows are created on it: expose() checks
  MPI_Comm_set_errhandler(pair_, MPI_ERRORS_RETURN);
  window_peer_ = peer_ > self_ ? 1 : 0;
  pair_made_ = true;
}

std::byte* MpiLink::expose(WindowKind kind, std::size_t bytes) {
  make_pair_communicator();
  void* memory = nullptr;
  const MPI_Aint size = static_cast<MPI_Aint>(bytes);
  int error = MPI_SUCCESS;
  if (kind == WindowKind::allocate) {
    error = MPI_Win_allocate(size, 1, MPI_INFO_NULL, pair_, &memory, &window_);
  } else {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (posix_memalign(&memory, page, bytes) != 0) {
      throw cannot_measure("no-memory", "no memory for a window of " + std::to_string(bytes) +
                                            " bytes; lower the message size");
    }
    created_ = memory;
    error = MPI_Win_create(memory, size, 1, MPI_INFO_NULL, pair_, &window_);
  }
  if (error != MPI_SUCCESS) {
    std::free(std::exchange(created_, nullptr));
    throw CannotBegin("no-window", "this MPI makes no window between ranks " +
                                       std::to_string(self_) + " and " + std::to_string(peer_) +
                                       " (error " + std::to_string(error) +
                                       "); its remote access may need another component, such as "
                                       "Open MPI's --mca osc pt2pt");
  }
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  return static_cast<std::byte*>(memory);
}

void MpiLink::conceal() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
  std::free(std::exchange(created_, nullptr));
}

void MpiLink::send_control(std::span<const std::byte> message) {
  MPI_Request request;
  MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, peer_, kControl, control_,
            &request);
  await_request(request, yield_);
}

void MpiLink::recv_control(std::span<std::byte> message) {
  MPI_Request request;
  MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_BYTE, peer_, kControl, control_,
            &request);
  await_request(request, yield_);
}

}  // namespace wireproof
