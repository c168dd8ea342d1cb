// The MPI transport: one process per rank, the launcher's library.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "base/failure.hpp"
#include "pattern/link_pair.hpp"
#include "transport/binomial.hpp"
#include "transport/mpi/abilities.hpp"
#include "transport/mpi/groups.hpp"
#include "transport/mpi/mpi_link.hpp"
#include "transport/openers.hpp"

namespace wireproof {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The whole text of MPI_Get_library_version, as it names itself.
std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), std::min(static_cast<std::size_t>(std::max(length, 0)), text.size() - 1)};
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '\0' || line.back() == ' ')) line.pop_back();
  return line;
}

std::string library_path() {
  Dl_info found{};
  void* const symbol =
      dlsym(RTLD_DEFAULT, "MPI_Send");  // not &MPI_Send: that may be our own PLT entry
  if (symbol == nullptr || dladdr(symbol, &found) == 0 || found.dli_fname == nullptr) return "";
  return found.dli_fname;
}

class MpiGroup final : public Group {
 public:
  explicit MpiGroup(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void set_yield(bool yield) { yield_ = yield; }

  // Both go along a binomial tree (transport/binomial.hpp): the root of ten thousand talks to
  // fourteen.
  void broadcast(std::string& text) override {
    if (rank_ != 0) text = receive_text(binomial::parent(rank_));
    const std::vector<int> children = binomial::children(rank_, size_);
    for (auto child = children.rbegin(); child != children.rend(); ++child) send_text(*child, text);
  }

  std::vector<std::string> gather(std::string_view text) override {
    std::string bundle = bundled(text);
    for (const int child : binomial::children(rank_, size_)) bundle += receive_text(child);
    if (rank_ == 0) return unbundled(bundle);
    send_text(binomial::parent(rank_), bundle);
    return {};
  }

  void barrier() override {
    MPI_Request request;
    MPI_Ibarrier(comm_, &request);
    await_request(request, yield_);
  }

 private:
  static constexpr int kText = 9;
  static constexpr std::size_t kLargestPiece = std::size_t{1} << 30;  // MPI counts are int

  void send_text(int to, std::string_view text) {
    std::uint64_t length = text.size();
    send(to, reinterpret_cast<const char*>(&length), sizeof length);
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), kLargestPiece))) {
      send(to, text.data(), std::min(text.size(), kLargestPiece));
    }
  }
  std::string receive_text(int from) {
    std::uint64_t length = 0;
    receive(from, reinterpret_cast<char*>(&length), sizeof length);
    std::string text(length, '\0');
    for (std::size_t at = 0; at < text.size(); at += kLargestPiece) {
      receive(from, text.data() + at, std::min(text.size() - at, kLargestPiece));
    }
    return text;
  }
  void send(int to, const char* data, std::size_t bytes) {
    MPI_Request request;
    MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, kText, comm_, &request);
    await_request(request, yield_);
  }
  void receive(int from, char* data, std::size_t bytes) {
    MPI_Request request;
    MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kText, comm_, &request);
    await_request(request, yield_);
  }

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  bool yield_ = true;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm data, MPI_Comm control)
      : data_(data), control_(control), group_(control), groups_(data, control) {
    MPI_Comm shared;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &shared_ranks_);
    MPI_Comm_free(&shared);
    abilities_ = find_abilities(control_);
  }

  Group& group() override { return group_; }
  bool one_sided() const override { return true; }

  void configure(const Plan& plan) override {
    yield_ = plan.policy.yield;
    group_.set_yield(yield_);
    const std::string version = library_version();
    if (lower(version).find(lower(plan.expect)) == std::string::npos) {
      throw cannot_measure("library-mismatch", "asked for an MPI named \"" + plan.expect +
                                                   "\" and \"" + first_line(version) +
                                                   "\" answered (" + library_path() + ")");
    }
  }

  LibraryFacts library() const override {
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    return {.version = first_line(library_version()),
            .path = library_path(),
            .standard = std::to_string(version) + "." + std::to_string(subversion),
            .shared_ranks = shared_ranks_};
  }

  void run_pair(int origin, int target, const HostClock& clock, const PairRoles& roles) override {
    const bool originates = group_.rank() == origin;
    const int peer = originates ? target : origin;
    auto& pair = pairs_[peer];
    if (!pair) {
      pair = std::make_unique<LinkPair<MpiLink>>(clock, data_, control_, group_.rank(), peer,
                                                 yield_, abilities_);
    }
    (originates ? roles.originate : roles.answer)(*pair);
  }

  void forget_pairs() override {
    pairs_.clear();
    groups_.forget();
  }
  bool has_groups() const override { return true; }
  void run_group(const std::vector<int>& members, const HostClock& clock,
                 const GroupRole& role) override {
    role(groups_.end_of(members, clock, yield_));
  }

  void close() override {
    pairs_.clear();
    MPI_Finalize();
  }

 private:
  MPI_Comm data_;
  MPI_Comm control_;
  MpiGroup group_;
  bool yield_ = false;
  int shared_ranks_ = 0;
  MpiAbilities abilities_;
  std::map<int, std::unique_ptr<LinkPair<MpiLink>>> pairs_;  // by peer
  MpiGroups groups_;
};

}  // namespace

std::unique_ptr<Transport> open_mpi(const OpenRequest& request) {
  start_mpi(request.argc, request.argv);
  MPI_Comm data;
  MPI_Comm control;
  MPI_Comm_dup(MPI_COMM_WORLD, &data);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  return std::make_unique<MpiTransport>(data, control);
}

}  // namespace wireproof
