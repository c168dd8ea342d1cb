#include "transport/model/group_world.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/failure.hpp"

namespace wireproof {

ModelGroupWorld::ModelGroupWorld(const ModelTruth& truth, std::vector<ModelFault> faults)
    : truth_(truth), faults_(std::move(faults)), members_(faults_.size()) {}

void ModelGroupWorld::run(const std::function<void(std::size_t)>& program) {
  events_ = {};
  at_barrier_.clear();
  fibers_ = std::make_unique<FiberSet>(members_.size(), program);
  for (std::size_t m = 0; m < members_.size(); ++m) schedule(members_[m].now_ns, m, false);
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    if (event.is_parcel) {
      receive_at_port(event.subject, event.time_ns);
    } else {
      fibers_->resume(event.subject);
    }
  }
  check_all_ended();
  fibers_.reset();
}

void ModelGroupWorld::check_all_ended() const {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (fibers_->ended(m)) continue;
    throw cannot_measure("peer-gone", "member " + std::to_string(m) +
                                          " of a group waits for a message that nobody sends");
  }
}

void ModelGroupWorld::schedule(double time_ns, std::size_t subject, bool is_parcel) {
  events_.push({time_ns, event_number_++, subject, is_parcel});
}

std::size_t ModelGroupWorld::store(Parcel&& parcel) {
  if (free_parcels_.empty()) {
    parcels_.push_back(std::move(parcel));
    return parcels_.size() - 1;
  }
  const std::size_t place = free_parcels_.back();
  free_parcels_.pop_back();
  parcels_[place] = std::move(parcel);
  return place;
}

double ModelGroupWorld::latency_ns(std::size_t from, std::size_t to) const {
  return truth_.world.latency_ns + faults_[from].latency_ns + faults_[to].latency_ns;
}

double ModelGroupWorld::transmit(std::size_t from, std::size_t to,
                                 std::span<const std::byte> payload) {
  const ModelWorld& w = truth_.world;
  Member& sender = members_[from];
  sender.tally.sends(payload.size());
  members_[to].tally.receives(payload.size());
  sender.now_ns += w.overhead_ns;
  const double start = std::max(sender.now_ns, sender.sends_free_ns);
  sender.sends_free_ns =
      start + occupancy_ns(w, payload.size(), w.gap_ns_per_byte / faults_[from].tx);
  const double latency = latency_ns(from, to);
  schedule(start + latency,
           store({from, to, sender.sends_free_ns + latency, {payload.begin(), payload.end()}}),
           true);
  return sender.sends_free_ns;
}

/// The head of a message is at its receiver's port.
void ModelGroupWorld::receive_at_port(std::size_t place, double time_ns) {
  Parcel parcel = std::move(parcels_[place]);
  free_parcels_.push_back(place);
  Member& receiver = members_[parcel.to];
  receiver.receives_free_ns = std::max(time_ns, receiver.receives_free_ns) +
                              occupancy_ns(truth_.world, parcel.payload.size(),
                                           truth_.world.gap_ns_per_byte / faults_[parcel.to].rx);
  deliver(parcel.to, key_of(Channel::data, parcel.from),
          {std::max(receiver.receives_free_ns, parcel.tail_ns), std::move(parcel.payload)});
}

void ModelGroupWorld::deliver(std::size_t to, std::uint64_t key, Message&& message) {
  Member& receiver = members_[to];
  const double arrival = message.arrival_ns;
  receiver.inboxes[key].messages.push_back(std::move(message));
  if (receiver.awaited != key) return;
  receiver.awaited = kNothing;
  schedule(std::max(receiver.now_ns, arrival), to, false);
}

void ModelGroupWorld::notify(Channel channel, std::size_t from, std::size_t to, double delay_ns,
                             std::span<const std::byte> payload) {
  deliver(to, key_of(channel, from),
          {members_[from].now_ns + delay_ns, {payload.begin(), payload.end()}});
}

double ModelGroupWorld::receive(Channel channel, std::size_t from, std::size_t to,
                                std::span<std::byte> payload) {
  Member& receiver = members_[to];
  Inbox& inbox = receiver.inboxes[key_of(channel, from)];
  if (inbox.empty()) {
    receiver.awaited = key_of(channel, from);
    fibers_->suspend();
  }
  const Message& message = inbox.messages[inbox.next];
  std::copy_n(message.payload.begin(), std::min(payload.size(), message.payload.size()),
              payload.begin());
  const double arrival = message.arrival_ns;
  if (++inbox.next == inbox.messages.size()) {
    inbox.messages.clear();
    inbox.next = 0;
  }
  return arrival;
}

bool ModelGroupWorld::has_arrived(Channel channel, std::size_t from, std::size_t to) {
  const Inbox& inbox = members_[to].inboxes[key_of(channel, from)];
  return !inbox.empty() && inbox.messages[inbox.next].arrival_ns <= members_[to].now_ns;
}

void ModelGroupWorld::barrier(std::size_t member) {
  barrier_ns_ = std::max(barrier_ns_, members_[member].now_ns);
  if (at_barrier_.size() + 1 < members_.size()) {
    at_barrier_.push_back(member);
    fibers_->suspend();
    return;
  }
  for (const std::size_t other : at_barrier_) {
    members_[other].now_ns = barrier_ns_;
    schedule(barrier_ns_, other, false);
  }
  at_barrier_.clear();
  members_[member].now_ns = std::exchange(barrier_ns_, 0.0);
}

}  // namespace wireproof
