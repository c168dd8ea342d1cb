// One end of one pair over MPI. Timed calls map one to one to library calls; errors stay fatal
// in the library (MPI_ERRORS_ARE_FATAL), so that no return code must be checked inside a timed
// region.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plan/plan.hpp"
#include "transport/mpi/abilities.hpp"

namespace wireproof {

/// Waits for `request` without burning the core for long; `idle` is called meanwhile.
void await_request(MPI_Request& request, bool yield, const std::function<void()>& idle = {});

class MpiLink {
 public:
  static constexpr bool kOneSided = true;

  /// `peer` is a rank of both communicators: one for payload, one for control, so that these never
  /// match each other.
  MpiLink(MPI_Comm data, MPI_Comm control, int self, int peer, bool yield,
          const MpiAbilities& abilities)
      : data_(data),
        control_(control),
        self_(self),
        peer_(peer),
        yield_(yield),
        abilities_(&abilities) {}
  ~MpiLink();
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  void send(const std::byte* source, std::size_t bytes) {
    MPI_Send(source, static_cast<int>(bytes), MPI_BYTE, peer_, kData, data_);
  }
  void recv(std::byte* sink, std::size_t bytes) {
    MPI_Recv(sink, static_cast<int>(bytes), MPI_BYTE, peer_, kData, data_, MPI_STATUS_IGNORE);
  }
  void post_send(int slot, const std::byte* source, std::size_t bytes) {
    MPI_Isend(source, static_cast<int>(bytes), MPI_BYTE, peer_, kData, data_, slots_ + slot);
  }
  void post_recv(int slot, std::byte* sink, std::size_t bytes) {
    MPI_Irecv(sink, static_cast<int>(bytes), MPI_BYTE, peer_, kData, data_, slots_ + slot);
  }
  void wait(int first, int count) { MPI_Waitall(count, slots_ + first, MPI_STATUSES_IGNORE); }
  void send_ack() { MPI_Send(&ack_, 1, MPI_BYTE, peer_, kAck, data_); }
  void recv_ack() { MPI_Recv(&ack_, 1, MPI_BYTE, peer_, kAck, data_, MPI_STATUS_IGNORE); }

  void put(const std::byte* source, std::size_t bytes, std::size_t offset) {
    const int count = static_cast<int>(bytes);
    MPI_Put(source, count, MPI_BYTE, window_peer_, static_cast<MPI_Aint>(offset), count, MPI_BYTE,
            window_);
  }
  void get(std::byte* sink, std::size_t bytes, std::size_t offset) {
    const int count = static_cast<int>(bytes);
    MPI_Get(sink, count, MPI_BYTE, window_peer_, static_cast<MPI_Aint>(offset), count, MPI_BYTE,
            window_);
  }
  void flush() { MPI_Win_flush(window_peer_, window_); }
  void accumulate(const std::byte* addends, std::size_t bytes, std::size_t offset) {
    const int count = static_cast<int>(bytes / 8);
    MPI_Accumulate(addends, count, MPI_INT64_T, window_peer_, static_cast<MPI_Aint>(offset), count,
                   MPI_INT64_T, MPI_SUM, window_);
  }
  void fetch_add(const std::byte* operand, std::byte* result, std::size_t offset) {
    MPI_Fetch_and_op(operand, result, MPI_INT64_T, window_peer_, static_cast<MPI_Aint>(offset),
                     MPI_SUM, window_);
  }
  void compare_swap(const std::byte* operand, const std::byte* compare, std::byte* result,
                    std::size_t offset) {
    MPI_Compare_and_swap(operand, compare, result, MPI_INT64_T, window_peer_,
                         static_cast<MPI_Aint>(offset), window_);
  }

  void start(int first, int count) { MPI_Startall(count, slots_ + first); }
  void start_one(int slot) { MPI_Start(slots_ + slot); }
  void ready(int slot, int partition) { MPI_Pready(partition, slots_[slot]); }
  void await_partition(int slot, int partition) {
    int arrived = 0;
    while (arrived == 0) MPI_Parrived(slots_[slot], partition, &arrived);
  }

  void make_send(int slot, const std::byte* source, std::size_t bytes);
  void make_receive(int slot, std::byte* sink, std::size_t bytes);
  void make_partitioned_send(int slot, const std::byte* source, std::size_t bytes, int partitions);
  void make_partitioned_receive(int slot, std::byte* sink, std::size_t bytes, int partitions);
  void release(int first, int count);
  void admit_partitions() const;

  /// Every thread has a separate communicator of the two ends.
  static constexpr bool kThreadsTakeTurns = false;
  void assemble(int count);
  MpiLink& member(int thread) { return *members_[static_cast<std::size_t>(thread)]; }

  void reserve(int slots);
  std::byte* expose(WindowKind kind, std::size_t bytes);
  void synchronise_window() { MPI_Win_sync(window_); }
  void conceal();
  void send_control(std::span<const std::byte> message);
  void recv_control(std::span<std::byte> message);

 private:
  static constexpr int kData = 1;
  static constexpr int kAck = 2;
  static constexpr int kControl = 3;
  static constexpr int kPairTag = 4;
  static constexpr int kPartitions = 5;
  static constexpr int kMemberTag = 16;  // the first of one tag for each thread

  void make_pair_communicator();
  /// The two ends only, lower rank first; collective between them.
  MPI_Comm two_ends(int tag) const;

  MPI_Comm data_;
  MPI_Comm control_;
  int self_;
  int peer_;
  bool yield_;
  const MpiAbilities* abilities_;
  std::byte ack_{};
  MPI_Request* slots_ = nullptr;  // into slot_storage_
  std::vector<MPI_Request> slot_storage_;
  int window_peer_ = 0;  // the peer's rank in pair_
  MPI_Win window_{};
  MPI_Comm pair_{};  // only the two ends, created when first needed
  bool pair_made_ = false;
  std::vector<std::unique_ptr<MpiLink>> members_;
  void* created_ = nullptr;  // memory of a window of kind create
};

}  // namespace wireproof
