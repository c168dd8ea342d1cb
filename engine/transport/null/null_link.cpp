#include "transport/null/null_link.hpp"

#include "pattern/group/link_end.hpp"
#include "transport/null/group_link.hpp"
#include "transport/openers.hpp"

// Each body ends in an empty assembler statement that the compiler must assume to read all memory,
// so the call stays.
#define WIREPROOF_NOTHING asm volatile("" ::: "memory")

namespace wireproof {

void NullLink::send(const std::byte*, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::recv(std::byte*, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::post_send(int, const std::byte*, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::post_recv(int, std::byte*, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::wait(int, int) { WIREPROOF_NOTHING; }
void NullLink::send_ack() { WIREPROOF_NOTHING; }
void NullLink::recv_ack() { WIREPROOF_NOTHING; }
void NullLink::put(const std::byte*, std::size_t, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::get(std::byte*, std::size_t, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::flush() { WIREPROOF_NOTHING; }
void NullLink::accumulate(const std::byte*, std::size_t, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::fetch_add(const std::byte*, std::byte*, std::size_t) { WIREPROOF_NOTHING; }
void NullLink::compare_swap(const std::byte*, const std::byte*, std::byte*, std::size_t) {
  WIREPROOF_NOTHING;
}
void NullLink::start(int, int) { WIREPROOF_NOTHING; }
void NullLink::start_one(int) { WIREPROOF_NOTHING; }
void NullLink::ready(int, int) { WIREPROOF_NOTHING; }
void NullLink::await_partition(int, int) { WIREPROOF_NOTHING; }

namespace {

class NullTransport final : public LocalTransport<NullWorld, NullLink> {
 public:
  bool moves_payload() const override { return false; }
  bool has_groups() const override { return true; }
  void run_group(const std::vector<int>& members, const HostClock& clock,
                 const GroupRole& role) override {
    role(*make_null_member(clock, static_cast<int>(members.size())));
  }

 protected:
  NullWorld::Truth make_world(int, int, std::uint64_t) override { return {}; }
};

}  // namespace

std::unique_ptr<Pair> make_null_origin(const HostClock& clock, NullWorld& world) {
  return std::make_unique<LinkPair<NullLink>>(clock, world, true);
}

std::unique_ptr<GroupEnd> make_null_member(const HostClock& clock, int members) {
  return std::make_unique<LinkGroupEnd<NullGroupLink>>(clock, members);
}

std::unique_ptr<Transport> open_null(const OpenRequest&) {
  return std::make_unique<NullTransport>();
}

}  // namespace wireproof
