// The definition of a transport. Three layers, from the untimed to the timed:
//
// clang-format off
//   Transport   opens the technology, owns the Group,
//               brings the two ends of a pair together        virtual, untimed
//   Group       all ranks: broadcast, gather, barrier         virtual, untimed
//   Link        one end of one pair: messages, remote access,
//               acknowledgement, control messages             a concept, timed
// clang-format on
//
// A Link is a plain class, never virtual: the patterns' timed loops are templates over it, so that
// nothing is decided inside a timed region. `LinkPair<L>` (pattern/link_pair.hpp) wraps a Link for
// the untimed code. A new technology consists of one class that satisfies Link, one that derives
// from Transport, one line in transport/openers.hpp and one in measure/run.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "plan/plan.hpp"
#include "transport/group_concept.hpp"
#include "transport/library_facts.hpp"

namespace wireproof {

/// One end of one pair. Both ends have the same interface; the two calls of a message have the same
/// size.
///
/// Timed (no allocation, no lock, no I/O except the transport's, no exception on success):
/// * `send`/`recv`: blocking. `send` returns when the buffer may be reused, `recv` when the payload
/// has arrived.
/// * `post_send`/`post_recv`: start an operation in `slot`; `wait(first, count)` returns when those
/// slots are done.
///   Slots are reused after their wait. Sends and receives share one numbering, [0, slots).
///   Messages match in order.
/// * `send_ack`/`recv_ack`: the receiver's acknowledgement, a separate message of the smallest
/// possible size (at most 1 byte).
/// * `put`/`get`: start a remote access at `offset` bytes in the peer's exposed window; `flush`
/// returns when all started
///   accesses are complete at the target. A link without remote access sets kOneSided = false and
///   may abort in them.
///
/// Untimed:
/// * `reserve(slots)`: before the first use of slots below that number.
/// * `expose(kind, bytes)`: both ends call it together; returns this end's window memory (page
/// aligned, `bytes` long).
///   `conceal()` ends it, together again. `synchronise_window()`: makes remote accesses visible to
///   local loads and local stores visible to remote accesses (called between control messages,
///   never concurrently with accesses).
/// * `use_memory(source, sink)`, if a link has it: the memory of the next messages; both are empty
/// when it is released.
/// * `send_control`/`recv_control`: ordered, reliable, of a fixed size known to both ends, on a
/// separate channel. The receiver does not burn its core during long waits. Remote accesses by the
/// peer still make progress inside.
template <class L>
concept Link = requires(L& link, const std::byte* source, std::byte* sink, std::size_t bytes,
                        std::size_t offset, int slot, int count, WindowKind kind,
                        std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  { L::kOneSided } -> std::convertible_to<bool>;
  link.send(source, bytes);
  link.recv(sink, bytes);
  link.post_send(slot, source, bytes);
  link.post_recv(slot, sink, bytes);
  link.wait(slot, count);
  link.send_ack();
  link.recv_ack();
  link.put(source, bytes, offset);
  link.get(sink, bytes, offset);
  link.flush();
  link.reserve(count);
  { link.expose(kind, bytes) } -> std::same_as<std::byte*>;
  link.synchronise_window();
  link.conceal();
  link.send_control(outgoing);
  link.recv_control(incoming);
};

/// A link with remote access.
template <class L>
concept MemoryLink = Link<L> && L::kOneSided;

/// A link with remote access and remote atomics on 64-bit integers, in the exposed window (timed):
/// * `accumulate`: adds `bytes` / 8 integers to those at `offset`.
/// * `fetch_add`: adds the integer at `operand`; `compare_swap`: stores the integer at `operand` if
/// the old value equals the one at `compare`. Both return the old value in `result`; the caller
/// leaves all memory untouched until `flush`.
template <class L>
concept RemoteLink = MemoryLink<L> &&
    requires(L& link, const std::byte* operand, const std::byte* compare, std::byte* result,
             std::size_t bytes, std::size_t offset) {
  link.accumulate(operand, bytes, offset);
  link.fetch_add(operand, result, offset);
  link.compare_swap(operand, compare, result, offset);
};

/// A link whose requests can be created before they are started. Untimed: `make_*` puts an inactive
/// request into a slot, `release` frees them, `admit_partitions` throws CannotBegin (at both ends)
/// if the technology has no partitioned messages. Timed: `start` and `start_one` activate requests,
/// `Link::wait` completes them; `ready` releases one partition of a started send, `await_partition`
/// returns when one has arrived.
template <class L>
concept PreparingLink = Link<L> && requires(L& link, int slot, int count, const std::byte* source,
                                            std::byte* sink, std::size_t bytes, int partitions) {
  link.make_send(slot, source, bytes);
  link.make_receive(slot, sink, bytes);
  link.make_partitioned_send(slot, source, bytes, partitions);
  link.make_partitioned_receive(slot, sink, bytes, partitions);
  link.admit_partitions();
  link.release(slot, count);
  link.start(slot, count);
  link.start_one(slot);
  link.ready(slot, partitions);
  link.await_partition(slot, partitions);
};

/// A link that several threads can use at the same time, each through a separate link.
/// `assemble(count)`: both ends together, before the first `member(0 .. count - 1)`; throws
/// CannotBegin (at both ends) if threads may not communicate. kThreadsTakeTurns: members are used
/// one after another by one thread.
template <class L>
concept ThreadedLink = Link<L> && requires(L& link, int count) {
  { L::kThreadsTakeTurns } -> std::convertible_to<bool>;
  link.assemble(count);
  { link.member(count) } -> std::same_as<L&>;
};

/// All ranks of the run; every call is collective and outside of timed regions.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Rank 0's text on every rank.
  virtual void broadcast(std::string& text) = 0;
  /// At rank 0 every rank's text, by rank; elsewhere empty.
  virtual std::vector<std::string> gather(std::string_view text) = 0;
  /// Waiting ranks sleep between polls (base/backoff.hpp): idle ranks must not take a core from a
  /// timed pair.
  virtual void barrier() = 0;
  /// Longest silence in one collective call from now on, if silence ends it.
  virtual void set_patience(std::int64_t /*patience_ms*/) {}
  /// Called repeatedly while this rank waits for others, for a library that answers its peers only
  /// while it is called; empty: nothing is called.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps it
  virtual void set_idle(std::function<void()> /*idle*/) {}
};

class Pair;

/// The two programs of one pair; each gets its own end.
struct PairRoles {
  std::function<void(Pair&)> originate;
  std::function<void(Pair&)> answer;
};

/// What an opener may need. Rank 0 has read the plan; the others get it by Group::broadcast
/// afterwards.
struct OpenRequest {
  int* argc = nullptr;
  char*** argv = nullptr;
  int rank = 0;                ///< --rank, else the launcher's environment, else 0
  int ranks = 1;               ///< --ranks, else the launcher's environment, else 1
  std::string meet;            ///< --meet ADDRESS:PORT of rank 0
  const Plan* plan = nullptr;  ///< null on ranks that have not read it
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Group& group() = 0;
  /// Called once on every rank when all have the plan (to bind to claimed addresses, and to take
  /// over the policy's yield). Throws Failure (base/failure.hpp) if the plan cannot be carried out.
  virtual void configure(const Plan& plan) = 0;
  virtual LibraryFacts library() const { return {}; }
  virtual bool one_sided() const = 0;
  /// Whether it can measure this pattern of pairs.
  virtual bool has(Pattern pattern) const { return one_sided() || !is_beyond_messages(pattern); }
  /// False if no byte is moved (null), so that payload cannot be verified.
  virtual bool moves_payload() const { return true; }
  /// Set if time is not the host's (model).
  virtual std::optional<ClockFacts> virtual_clock() const { return std::nullopt; }
  /// Whether this process simulates or is `rank`. One process simulates all ranks of null and
  /// model.
  virtual bool owns(int rank) { return rank == group().rank(); }
  /// Runs the role(s) that this process owns and returns when they are done. Called only by the
  /// pair's owners; pairs of one point are disjoint and run at the same time. The pair's connection
  /// may be kept for later points.
  virtual void run_pair(int origin, int target, const HostClock& clock, const PairRoles& roles) = 0;
  /// Closes every pair's connection and frees its memory; later points create new ones. Called on
  /// every rank while no pair is active.
  virtual void forget_pairs() {}
  /// Whether it can measure a group of members together.
  virtual bool has_groups() const { return false; }
  /// Runs the role of every member that this process owns and returns when they are done. Called on
  /// every process that owns a member, and on no other. The group's connections may be kept for
  /// later points.
  virtual void run_group(const std::vector<int>& /*members*/, const HostClock&, const GroupRole&) {
    throw cannot_measure("no-group", "this transport has no group patterns");
  }
  /// Called before counters are read, so that a simulated world can update its counters.
  virtual void show_counters() {}
  /// Orderly end, collective.
  virtual void close() {}
};

}  // namespace wireproof
