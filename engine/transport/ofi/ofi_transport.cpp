// Any libfabric provider with reliable datagram endpoints. Ranks exchange their endpoint addresses
// (transport/exchange.hpp), and then communicate over the provider.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/failure.hpp"
#include "pattern/group/link_end.hpp"
#include "pattern/link_pair.hpp"
#include "transport/exchange.hpp"
#include "transport/meeting/agreement.hpp"
#include "transport/meeting/group.hpp"
#include "transport/ofi/group_link.hpp"
#include "transport/ofi/link.hpp"
#include "transport/ofi/selection.hpp"
#include "transport/ofi/word.hpp"
#include "transport/openers.hpp"

namespace wireproof {
namespace {

using ofi::Endpoint;
using ofi::Library;
using ofi::OfiGroupLink;
using ofi::OfiLink;
using ofi::Peer;
using ofi::Remote;

constexpr std::int64_t kMeetPatienceMs = 60'000;
constexpr std::int64_t kMarginMs = 5'000;  // the engine's own deadlines come first

std::string launcher_run() {
  const char* run = std::getenv("WIREPROOF_RUN_ID");
  return run == nullptr ? std::string() : std::string(run);
}

class OfiTransport final : public Transport {
 public:
  explicit OfiTransport(AddressExchange exchange) : exchange_(std::move(exchange)) {}

  Group& group() override { return *exchange_.group; }
  bool one_sided() const override { return demands_.remote; }
  bool has_groups() const override { return true; }
  bool has(Pattern pattern) const override {
    if (is_collective(pattern)) return false;
    if (!is_remote(pattern)) return !is_beyond_messages(pattern);
    return row_of(pattern).access == Access::memory ? demands_.remote : demands_.atomics;
  }

  LibraryFacts library() const override {
    if (!endpoint_) return {};
    return {.version = "libfabric " + library_->version(),
            .path = library_->path(),
            .standard = "",
            .shared_ranks = {},
            .fabric = facts()};
  }

  void configure(const Plan& plan) override {
    group().set_patience(plan.policy.run_deadline_ms + kMarginMs);
    const auto own = meeting::word_of(group().rank(), [&] { return prepare(plan).line(); });
    for (const std::string& line : meeting::agreed(group(), own)) {
      words_.push_back(ofi::Word::read(line));
    }
    if (words_.size() != static_cast<std::size_t>(group().size())) {
      throw cannot_measure("ofi-garbled", "rank 0 sent the addresses of " +
                                              std::to_string(words_.size()) + " ranks");
    }
    ofi::check_alike(words_);
    // ofi_rxd retransmits only while it is called, also for a rank that has finished.
    group().set_idle([this] { endpoint_->progress(); });
    addresses_.assign(words_.size(), ofi::abi::kNoAddress);
  }

  void run_pair(int origin, int target, const HostClock& clock, const PairRoles& roles) override {
    const bool first = group().rank() == origin;
    const int peer = first ? target : origin;
    auto& pair = pairs_[peer];
    if (!pair) pair = make_pair(clock, peer);
    first ? roles.originate(*pair) : roles.answer(*pair);
  }

  void run_group(const std::vector<int>& members, const HostClock& clock,
                 const GroupRole& role) override {
    auto& end = groups_[members];
    if (!end) {
      end = untagged_ ? make_group<ofi::Untagged>(clock, members)
                      : make_group<ofi::Tagged>(clock, members);
    }
    role(*end);
  }

  void forget_pairs() override {
    pairs_.clear();
    groups_.clear();
  }

  void close() override {
    group().barrier();  // no rank closes the connection while another still reads
    group().set_idle({});
    forget_pairs();
    endpoint_.reset();
    if (exchange_.end) exchange_.end();
  }

 private:
  /// Opens the endpoint that the plan requests.
  ofi::Word prepare(const Plan& plan) {
    if (exchange_.check) exchange_.check(plan);
    check_exchange(plan);
    library_ = std::make_unique<Library>(plan.libfabric.library);
    untagged_ = plan.libfabric.messages == "msg";
    demands_ = ofi::demands_of(plan);
    const ofi::Claim claim = ofi::claim_of(plan, group().rank(), exchange_.own);
    ofi::Opened opened = ofi::open_endpoint(*library_, plan, claim);
    endpoint_ = std::move(opened.endpoint);
    endpoint_->set_yields(plan.policy.yield);
    remote_ = opened.remote;
    ofi::check_sizes(plan, endpoint_->info().endpoint->largest_message);
    ofi::check_depths(plan, endpoint_->depth());
    ofi::check_atomics(plan, *endpoint_);
    const FabricFacts found = facts();
    return {.provider = found.provider,
            .protocol = found.protocol,
            .protocol_version = found.protocol_version,
            .format = static_cast<int>(endpoint_->info().address_format),
            .messages = found.messages,
            .completion = found.completion,
            .remote = found.remote,
            .memory = ofi::shared_memory(found.provider),
            .address = endpoint_->address()};
  }

  void check_exchange(const Plan& plan) const {
    const std::string& wanted = plan.libfabric.exchange;
    if (wanted.empty() || wanted == exchange_.means) return;
    throw cannot_measure("ofi-exchange", "addresses were to be exchanged by " + wanted +
                                             ", and these ranks were started to do it by " +
                                             exchange_.means);
  }

  FabricFacts facts() const {
    FabricFacts found = endpoint_->facts();
    found.messages = untagged_ ? "msg" : "tagged";
    found.remote = name_of(remote_);
    found.exchange = exchange_.means;
    found.exchange_library = exchange_.library;
    return found;
  }

  std::unique_ptr<Pair> make_pair(const HostClock& clock, int peer) {
    if (untagged_) return make_link<ofi::Untagged>(clock, peer);
    if (remote_ == Remote::read_back) return make_link<ofi::ReadingBack>(clock, peer);
    return make_link<ofi::Tagged>(clock, peer);
  }

  template <class Messages>
  std::unique_ptr<Pair> make_link(const HostClock& clock, int rank) {
    return std::make_unique<LinkPair<OfiLink<Messages>>>(
        clock, *endpoint_, ofi::Ends{.self = group().rank(), .peer = peer_of(rank)});
  }

  /// In a group an untagged message must identify its sender.
  template <class Messages>
  std::unique_ptr<GroupEnd> make_group(const HostClock& clock, const std::vector<int>& members) {
    std::vector<Peer> peers;
    for (const int rank : members) {
      peers.push_back(rank == group().rank() ? Peer{} : peer_of(rank));
      peers.back().rank = static_cast<std::uint64_t>(rank);
      if (untagged_) peers.back().named = peers.back().address;
    }
    const auto self = std::find(members.begin(), members.end(), group().rank());
    return std::make_unique<LinkGroupEnd<OfiGroupLink<Messages>>>(
        clock, *endpoint_, static_cast<int>(self - members.begin()), std::move(peers));
  }

  Peer peer_of(int rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (addresses_.at(place) == ofi::abi::kNoAddress) {
      addresses_[place] = endpoint_->know(words_.at(place).address);
    }
    return {.address = addresses_[place], .rank = place};
  }

  AddressExchange exchange_;
  ofi::Demands demands_;
  Remote remote_ = Remote::none;
  bool untagged_ = false;
  std::unique_ptr<Library> library_;
  std::unique_ptr<Endpoint> endpoint_;
  std::vector<ofi::Word> words_;                                  // by rank
  std::vector<ofi::abi::Address> addresses_;                      // by rank, once known
  std::map<int, std::unique_ptr<Pair>> pairs_;                    // by peer; kept for later points
  std::map<std::vector<int>, std::unique_ptr<GroupEnd>> groups_;  // by members, too
};

}  // namespace

std::unique_ptr<Transport> open_ofi_over(AddressExchange exchange) {
  return std::make_unique<OfiTransport>(std::move(exchange));
}

std::unique_ptr<Transport> open_ofi(const OpenRequest& request) {
  auto group = std::make_unique<tcp::TcpGroup>(request.rank, request.ranks, request.meet,
                                               launcher_run(), kMeetPatienceMs);
  const tcp::Address own = group->own_address();
  return open_ofi_over({.group = std::move(group),
                        .means = "meeting",
                        .library = "",
                        .own = own.length > 0 ? own.host() : ""});
}

}  // namespace wireproof
