// This process's part of the evidence: who it is, and what the counters of its network namespace
// say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "transport/library_facts.hpp"

namespace wireproof {

/// What the other ranks must know of one: whether it shares counters or memory with them. Travels
/// as one line of text.
struct Identity {
  std::string boot_id;
  std::uint64_t netns = 0;
  std::uint64_t shm_device = 0;
};

class Evidence {
 public:
  /// `root` prefixes /sys, for tests.
  explicit Evidence(const std::string& root);
  ~Evidence();
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  /// One line, to be gathered and shared: `identities` must then be given by rank.
  std::string identity_line() const;
  void learn_identities(const std::vector<std::string>& lines);

  /// Lowest rank of this rank's network namespace.
  int reader_of(int rank) const;
  bool shares_memory(int rank, int other) const;

  /// The host frame of `rank` (played by this process).
  std::string host_frame(int rank, const std::string& claimed, const LibraryFacts& library) const;
  /// Facts that the plan asks for, one frame per line, for a rank that reads.
  std::string fact_frames(int rank, const std::vector<FactRequest>& requests) const;

  /// Counter readings: `before`, then `after`; their difference as an element of `witness` or as an
  /// idle frame.
  void read_before();
  void read_after();
  std::string witness_json(int rank) const;
  std::string idle_frame(int rank) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wireproof
