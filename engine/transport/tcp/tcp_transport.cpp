// Plain kernel sockets: the floor under every MPI over IP. One connection from each rank to rank 0
// for control, three for the messages of each pair, bound to the claimed addresses.
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/bounded_file.hpp"
#include "base/failure.hpp"
#include "pattern/link_pair.hpp"
#include "transport/meeting/agreement.hpp"
#include "transport/meeting/group.hpp"
#include "transport/meeting/nic.hpp"
#include "transport/openers.hpp"
#include "transport/tcp/link.hpp"

namespace wireproof {
namespace {

using tcp::Address;
using tcp::Purpose;
using tcp::Reception;
using tcp::Socket;
using tcp::TcpLink;

constexpr std::int64_t kMeetPatienceMs = 60'000;
// Longer than the engine's deadlines, so that they come first and this deadline ends only calls
// that hang.
constexpr std::int64_t kMarginMs = 5'000;

std::string launcher_run() {
  const char* run = std::getenv("WIREPROOF_RUN_ID");
  return run == nullptr ? std::string() : std::string(run);
}

bool is_remote_access(const Point& point) {
  return point.pattern == Pattern::put || point.pattern == Pattern::get;
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(const OpenRequest& request)
      : group_(request.rank, request.ranks, request.meet, launcher_run(), kMeetPatienceMs) {}

  Group& group() override { return group_; }
  bool one_sided() const override { return false; }

  LibraryFacts library() const override {
    utsname system{};
    ::uname(&system);
    return {.version = std::string("kernel TCP ") + system.release,
            .path = "",
            .standard = "",
            .shared_ranks = {}};
  }

  void configure(const Plan& plan) override {
    run_ = plan.run_id;
    stall_ms_ = plan.policy.point_deadline_ms + kMarginMs;
    group_.set_patience(plan.policy.run_deadline_ms + kMarginMs);
    addresses_ =
        meeting::agreed(group_, meeting::word_of(group_.rank(), [&] { return prepare(plan); }));
    if (addresses_.size() != static_cast<std::size_t>(group_.size())) {
      throw cannot_measure("tcp-garbled", "rank 0 sent the addresses of " +
                                              std::to_string(addresses_.size()) + " ranks");
    }
    meeting::agreed(group_, meeting::word_of(group_.rank(), [&] { return look_for_obstacles(); }));
  }

  void run_pair(int origin, int target, const HostClock& clock, const PairRoles& roles) override {
    const bool first = group_.rank() == origin;
    const int peer = first ? target : origin;
    auto& pair = pairs_[peer];
    if (!pair) {
      auto connections = first ? connect_pair(target) : receive_pair(origin);
      pair = std::make_unique<LinkPair<TcpLink>>(clock, std::move(connections), name_of_rank(peer),
                                                 stall_ms_);
    }
    first ? roles.originate(*pair) : roles.answer(*pair);
  }

  void forget_pairs() override { pairs_.clear(); }

  void close() override {
    group_.barrier();  // no rank closes the connection while another still reads
    pairs_.clear();
  }

 private:
  /// The given address, else an address of the claimed NIC, else the address that led to rank 0. If
  /// the address is not the claimed NIC's, there is no interface to bind to.
  tcp::LocalAddress claimed_address(const Plan& plan) const {
    for (const RankPlace& place : plan.ranks) {
      if (place.index != group_.rank()) continue;
      if (!place.address.empty()) {
        const Address address = tcp::numeric_address(place.address, 0, "the claimed address");
        return {tcp::interface_with(place.nic, address), address};
      }
      if (!place.nic.empty()) return tcp::local_address_of(place.nic);
    }
    return {"", group_.own_address()};
  }

  tcp::Expectation expectation() const {
    return {.rank = group_.rank(),
            .ranks = group_.size(),
            .run = run_,
            .purposes = {Purpose::data, Purpose::acknowledge, Purpose::control}};
  }

  std::string prepare(const Plan& plan) {
    if (std::any_of(plan.points.begin(), plan.points.end(), is_remote_access)) {
      throw cannot_measure(
          "unsupported", "tcp has no remote memory access; measure put and get with transport mpi");
    }
    local_ = claimed_address(plan);
    local_.address = tcp::with_port(local_.address, 0);
    reception_ = std::make_unique<Reception>(tcp::listen_on(local_.address), expectation());
    return reception_->address().text();
  }

  std::string look_for_obstacles() const {
    if (local_.interface.empty()) return "";
    for (std::size_t rank = 0; rank < addresses_.size(); ++rank) {
      const std::string why =
          tcp::obstacle(local_, tcp::peer_address(addresses_[rank], local_.address));
      if (!why.empty()) {
        throw cannot_measure("tcp-unreachable", "the claimed NIC does not reach rank " +
                                                    std::to_string(rank) + ": " + why);
      }
    }
    return "";
  }

  std::string name_of_rank(int rank) const {
    return "rank " + std::to_string(rank) + " at " + addresses_.at(static_cast<std::size_t>(rank));
  }

  Socket connect_one(int target, Purpose purpose, tcp::Deadline deadline) const {
    const Address remote =
        tcp::peer_address(addresses_.at(static_cast<std::size_t>(target)), local_.address);
    Socket socket =
        tcp::connect_to(remote, local_.address, deadline, tcp::interface_to_bind(local_, remote));
    tcp::introduce(socket,
                   {.purpose = purpose,
                    .from = group_.rank(),
                    .to = target,
                    .ranks = group_.size(),
                    .run = run_},
                   deadline);
    return socket;
  }

  TcpLink::Connections connect_pair(int target) const {
    const auto deadline = tcp::deadline_in_ms(stall_ms_);
    return {connect_one(target, Purpose::data, deadline),
            connect_one(target, Purpose::acknowledge, deadline),
            connect_one(target, Purpose::control, deadline)};
  }

  Socket receive_one(int origin, Purpose purpose, tcp::Deadline deadline) {
    for (;;) {
      const auto early = early_guests_.find({origin, purpose});
      if (early != early_guests_.end()) return std::move(early_guests_.extract(early).mapped());
      auto guest = reception_->next(deadline);
      if (!guest)
        throw cannot_measure("tcp-absent", name_of_rank(origin) + " did not connect in time");
      // Replies to the peer also leave through the claimed NIC, regardless of the routes.
      const std::string interface = tcp::interface_to_bind(local_, guest->socket.remote());
      if (!interface.empty()) tcp::bind_to_interface(guest->socket, interface);
      early_guests_.insert_or_assign({guest->greeting.from, guest->greeting.purpose},
                                     std::move(guest->socket));
    }
  }

  TcpLink::Connections receive_pair(int origin) {
    const auto deadline = tcp::deadline_in_ms(stall_ms_);
    return {receive_one(origin, Purpose::data, deadline),
            receive_one(origin, Purpose::acknowledge, deadline),
            receive_one(origin, Purpose::control, deadline)};
  }

  tcp::TcpGroup group_;
  std::string run_;
  std::int64_t stall_ms_ = kMeetPatienceMs;
  tcp::LocalAddress local_;
  std::vector<std::string> addresses_;  // by rank, as text
  std::unique_ptr<Reception> reception_;
  std::map<std::pair<int, Purpose>, Socket>
      early_guests_;  // of a later point, while this rank was still busy
  std::map<int, std::unique_ptr<LinkPair<TcpLink>>> pairs_;  // by peer; kept for later points
};

}  // namespace

std::unique_ptr<Transport> open_tcp(const OpenRequest& request) {
  return std::make_unique<TcpTransport>(request);
}

}  // namespace wireproof
