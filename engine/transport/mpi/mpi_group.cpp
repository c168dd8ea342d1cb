#include "transport/mpi/mpi_group.hpp"

#include <algorithm>
#include <cstdint>

#include "transport/binomial.hpp"
#include "transport/mpi/mpi_link.hpp"

namespace wireproof {
namespace {

constexpr int kText = 9;
constexpr std::size_t kLargestPiece = std::size_t{1} << 30;  // MPI counts are int

}  // namespace

MpiGroup::MpiGroup(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

void MpiGroup::broadcast(std::string& text) {
  if (rank_ != 0) text = receive_text(binomial::parent(rank_));
  const std::vector<int> children = binomial::children(rank_, size_);
  for (auto child = children.rbegin(); child != children.rend(); ++child) send_text(*child, text);
}

std::vector<std::string> MpiGroup::gather(std::string_view text) {
  std::string bundle = bundled(text);
  for (const int child : binomial::children(rank_, size_)) bundle += receive_text(child);
  if (rank_ == 0) return unbundled(bundle);
  send_text(binomial::parent(rank_), bundle);
  return {};
}

void MpiGroup::barrier() {
  MPI_Request request;
  MPI_Ibarrier(comm_, &request);
  await_request(request, yield_, idle_);
}

void MpiGroup::send_text(int to, std::string_view text) {
  std::uint64_t length = text.size();
  send(to, reinterpret_cast<const char*>(&length), sizeof length);
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kLargestPiece))) {
    send(to, text.data(), std::min(text.size(), kLargestPiece));
  }
}

std::string MpiGroup::receive_text(int from) {
  std::uint64_t length = 0;
  receive(from, reinterpret_cast<char*>(&length), sizeof length);
  std::string text(length, '\0');
  for (std::size_t at = 0; at < text.size(); at += kLargestPiece) {
    receive(from, text.data() + at, std::min(text.size() - at, kLargestPiece));
  }
  return text;
}

void MpiGroup::send(int to, const char* data, std::size_t bytes) {
  MPI_Request request;
  MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, kText, comm_, &request);
  await_request(request, yield_, idle_);
}

void MpiGroup::receive(int from, char* data, std::size_t bytes) {
  MPI_Request request;
  MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kText, comm_, &request);
  await_request(request, yield_, idle_);
}

}  // namespace wireproof
