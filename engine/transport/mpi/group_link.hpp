// One member of a group over MPI. Timed calls map one to one to library calls.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "transport/mpi/mpi_link.hpp"

namespace wireproof {

class MpiGroupLink {
 public:
  /// `ranks`: by member, on `control`. `comm` has exactly the members, in their order. The caller
  /// keeps ownership of both.
  MpiGroupLink(MPI_Comm comm, MPI_Comm control, std::span<const int> ranks, bool yield);
  MpiGroupLink(const MpiGroupLink&) = delete;
  MpiGroupLink& operator=(const MpiGroupLink&) = delete;

  int member() const { return self_; }
  int members() const { return static_cast<int>(ranks_.size()); }

  void send(int to, const std::byte* source, std::size_t bytes) {
    MPI_Send(source, static_cast<int>(bytes), MPI_BYTE, to, kData, comm_);
  }
  void recv(int from, std::byte* sink, std::size_t bytes) {
    MPI_Recv(sink, static_cast<int>(bytes), MPI_BYTE, from, kData, comm_, MPI_STATUS_IGNORE);
  }
  void sendrecv(int to, const std::byte* source, int from, std::byte* sink, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Sendrecv(source, count, MPI_BYTE, to, kData, sink, count, MPI_BYTE, from, kData, comm_,
                 MPI_STATUS_IGNORE);
  }
  void post_send(int slot, int to, const std::byte* source, std::size_t bytes) {
    MPI_Isend(source, static_cast<int>(bytes), MPI_BYTE, to, kData, comm_, slots_ + slot);
  }
  void post_recv(int slot, int from, std::byte* sink, std::size_t bytes) {
    MPI_Irecv(sink, static_cast<int>(bytes), MPI_BYTE, from, kData, comm_, slots_ + slot);
  }
  void wait(int first, int count) { MPI_Waitall(count, slots_ + first, MPI_STATUSES_IGNORE); }
  void send_ack(int to) { MPI_Send(&ack_, 1, MPI_BYTE, to, kAck, comm_); }
  void recv_ack(int from) { MPI_Recv(&ack_, 1, MPI_BYTE, from, kAck, comm_, MPI_STATUS_IGNORE); }
  void barrier() { MPI_Barrier(comm_); }

  void expect_ack(int slot, int from) {
    MPI_Irecv(&word_, 1, MPI_BYTE, from, kAck, comm_, slots_ + slot);
  }
  bool has_come(int slot) {
    int come = 0;
    MPI_Test(slots_ + slot, &come, MPI_STATUS_IGNORE);
    return come != 0;
  }

  void meet() { MPI_Barrier(comm_); }
  void broadcast(std::byte* data, std::size_t bytes) {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, comm_);
  }
  void allreduce(const std::byte* source, std::byte* sink, std::size_t bytes) {
    MPI_Allreduce(source, sink, static_cast<int>(bytes / 4), MPI_FLOAT, MPI_SUM, comm_);
  }
  void allgather(const std::byte* source, std::byte* sink, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Allgather(source, count, MPI_BYTE, sink, count, MPI_BYTE, comm_);
  }
  void alltoall(const std::byte* source, std::byte* sink, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Alltoall(source, count, MPI_BYTE, sink, count, MPI_BYTE, comm_);
  }
  void start_meet(int slot) { MPI_Ibarrier(comm_, slots_ + slot); }
  void start_broadcast(int slot, std::byte* data, std::size_t bytes) {
    MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, comm_, slots_ + slot);
  }
  void start_allreduce(int slot, const std::byte* source, std::byte* sink, std::size_t bytes) {
    MPI_Iallreduce(source, sink, static_cast<int>(bytes / 4), MPI_FLOAT, MPI_SUM, comm_,
                   slots_ + slot);
  }
  void start_allgather(int slot, const std::byte* source, std::byte* sink, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Iallgather(source, count, MPI_BYTE, sink, count, MPI_BYTE, comm_, slots_ + slot);
  }
  void start_alltoall(int slot, const std::byte* source, std::byte* sink, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Ialltoall(source, count, MPI_BYTE, sink, count, MPI_BYTE, comm_, slots_ + slot);
  }
  void finish(int slot) { MPI_Wait(slots_ + slot, MPI_STATUS_IGNORE); }

  void reserve(int slots);
  void send_control(int to, std::span<const std::byte> message);
  void recv_control(int from, std::span<std::byte> message);

 private:
  static constexpr int kData = 1;
  static constexpr int kAck = 2;
  static constexpr int kControl = 5;  // on the control communicator, if pairs use others

  MPI_Comm comm_;
  MPI_Comm control_;
  std::span<const int> ranks_;
  int self_ = 0;
  bool yield_;
  std::byte ack_{};
  std::byte word_{};              // of an expected acknowledgement
  MPI_Request* slots_ = nullptr;  // into slot_storage_
  std::vector<MPI_Request> slot_storage_;
};

}  // namespace wireproof
