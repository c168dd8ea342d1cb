#include "transport/ofi/group_link.hpp"

#include <type_traits>
#include <utility>

#include "transport/collective_concept.hpp"

namespace wireproof::ofi {

static_assert(LookingLink<OfiGroupLink<Tagged>> && LookingLink<OfiGroupLink<Untagged>>);
static_assert(!CollectiveLink<OfiGroupLink<Tagged>>);
static_assert(!std::is_polymorphic_v<OfiGroupLink<Tagged>> &&
              !std::is_polymorphic_v<OfiGroupLink<Untagged>>);

template <class Messages>
OfiGroupLink<Messages>::OfiGroupLink(Endpoint& endpoint, int member, std::vector<Peer> peers)
    : Traffic<Messages>(endpoint, static_cast<int>(peers.at(static_cast<std::size_t>(member)).rank),
                        "a member of the group"),
      self_(member),
      members_(static_cast<int>(peers.size())),
      peer_storage_(std::move(peers)) {
  peers_ = peer_storage_.data();
}

template class OfiGroupLink<Tagged>;
template class OfiGroupLink<Untagged>;

}  // namespace wireproof::ofi
