// Any libfabric provider with reliable datagram endpoints. Ranks meet over sockets of the kernel
// (transport/meeting), say each other's endpoint addresses there, and talk over the provider.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/failure.hpp"
#include "base/text_split.hpp"
#include "pattern/link_pair.hpp"
#include "transport/meeting/agreement.hpp"
#include "transport/meeting/group.hpp"
#include "transport/meeting/nic.hpp"
#include "transport/ofi/link.hpp"
#include "transport/ofi/selection.hpp"
#include "transport/ofi/word.hpp"
#include "transport/openers.hpp"

namespace wireproof {
namespace {

using ofi::Endpoint;
using ofi::Library;
using ofi::OfiLink;
using ofi::Wishes;

constexpr std::int64_t kMeetPatienceMs = 60'000;
constexpr std::int64_t kMarginMs = 5'000;  // the engine's own deadlines speak first

std::string launcher_run() {
  const char* run = std::getenv("WIREPROOF_RUN_ID");
  return run == nullptr ? std::string() : std::string(run);
}

class OfiTransport final : public Transport {
 public:
  explicit OfiTransport(const OpenRequest& request)
      : group_(request.rank, request.ranks, request.meet, launcher_run(), kMeetPatienceMs) {}

  Group& group() override { return group_; }
  bool one_sided() const override { return remote_; }
  bool has(Pattern pattern) const override {
    return !is_beyond_messages(pattern) || (remote_ && row_of(pattern).access == Access::memory);
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
    group_.set_patience(plan.policy.run_deadline_ms + kMarginMs);
    const auto own = meeting::word_of(group_.rank(), [&] { return prepare(plan).line(); });
    for (const std::string& line : meeting::agreed(group_, own)) {
      words_.push_back(ofi::Word::read(line));
    }
    if (words_.size() != static_cast<std::size_t>(group_.size())) {
      throw cannot_measure("ofi-garbled", "rank 0 sent the addresses of " +
                                              std::to_string(words_.size()) + " ranks");
    }
    ofi::check_alike(words_);
    // ofi_rxd sends again what was lost only while it is called, also for a rank that is done.
    group_.set_idle([this] { endpoint_->progress(); });
    peers_.assign(words_.size(), ofi::abi::kNoAddress);
  }

  void run_pair(int origin, int target, const HostClock& clock, const PairRoles& roles) override {
    const bool first = group_.rank() == origin;
    const int peer = first ? target : origin;
    auto& pair = pairs_[peer];
    if (!pair) {
      pair = tagged_ ? make_pair<ofi::Tagged>(clock, peer) : make_pair<ofi::Untagged>(clock, peer);
    }
    first ? roles.originate(*pair) : roles.answer(*pair);
  }

  void forget_pairs() override { pairs_.clear(); }

  void close() override {
    group_.barrier();  // nobody hangs up while another still reads
    group_.set_idle({});
    pairs_.clear();
    endpoint_.reset();
  }

 private:
  /// Opens the endpoint that the plan asks for.
  ofi::Word prepare(const Plan& plan) {
    library_ = std::make_unique<Library>(plan.libfabric.library);
    tagged_ = plan.libfabric.messages != "msg";
    for (const Point& point : plan.points) remote_ = remote_ || is_remote(point.pattern);
    const ofi::Claim claim = ofi::claim_of(plan, group_.rank(), group_.own_address());
    endpoint_ = ofi::open_endpoint(*library_, plan, claim);
    ofi::check_sizes(plan, endpoint_->info().endpoint->largest_message);
    const FabricFacts found = facts();
    return {.provider = found.provider,
            .protocol = found.protocol,
            .protocol_version = found.protocol_version,
            .format = static_cast<int>(endpoint_->info().address_format),
            .messages = found.messages,
            .completion = found.completion,
            .memory = ofi::shared_memory(found.provider),
            .address = endpoint_->address()};
  }

  FabricFacts facts() const {
    FabricFacts found = endpoint_->facts();
    found.messages = tagged_ ? "tagged" : "msg";
    return found;
  }

  template <class Messages>
  std::unique_ptr<Pair> make_pair(const HostClock& clock, int peer) {
    return std::make_unique<LinkPair<OfiLink<Messages>>>(
        clock, *endpoint_,
        ofi::Ends{.self = group_.rank(),
                  .peer = peer,
                  .address = address_of(peer),
                  .name = "rank " + std::to_string(peer)});
  }

  ofi::abi::Address address_of(int peer) {
    const auto place = static_cast<std::size_t>(peer);
    if (peers_.at(place) == ofi::abi::kNoAddress) {
      peers_[place] = endpoint_->know(words_.at(place).address);
    }
    return peers_[place];
  }

  tcp::TcpGroup group_;
  bool remote_ = false;
  bool tagged_ = true;
  std::unique_ptr<Library> library_;
  std::unique_ptr<Endpoint> endpoint_;
  std::vector<ofi::Word> words_;                // by rank
  std::vector<ofi::abi::Address> peers_;        // by rank, once known
  std::map<int, std::unique_ptr<Pair>> pairs_;  // by peer; kept for later points
};

}  // namespace

std::unique_ptr<Transport> open_ofi(const OpenRequest& request) {
  return std::make_unique<OfiTransport>(request);
}

}  // namespace wireproof
