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

class Evidence {
 public:
  /// `root` prefixes /sys, for tests.
  explicit Evidence(const std::string& root);
  ~Evidence();
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  /// One line, to be gathered and shared: `identities` must then be given by rank.
  std::string identity_line() const;
  /// Of an identity only its group is kept (two numbers per rank).
  void learn_identities(const std::vector<std::string>& lines);
  /// Which NICs are claimed by ranks that share counters with `own`, the ranks played here.
  void learn_claims(const std::vector<RankPlace>& places, const std::vector<int>& own);

  /// Moves this process, `rank`, to a processor near `nic` (host/pin.hpp); the host frame tells.
  void pin_near(const std::string& nic, int rank);

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
  /// Only what may explain `payload_bytes` that this process moved: changes of at least 1/64 of it
  /// (the coarsest byte counters count 8 bytes), counters of trouble that moved at all, and always
  /// the byte counters of the claimed NICs.
  std::string brief_witness_json(int rank, std::uint64_t payload_bytes) const;
  std::string idle_frame(int rank) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wireproof
