// This process's part of the evidence: its rank or the ranks that it simulates, and the counters of
// their machines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "measure/site.hpp"
#include "plan/plan.hpp"
#include "transport/library_facts.hpp"

namespace wireproof {

class Evidence {
 public:
  /// `own`: the ranks of this process. Each of their roots is a separate machine.
  Evidence(const Plan& plan, const std::vector<int>& own);

  /// One line, to be gathered and shared; afterwards the lines of all ranks must be passed in, by
  /// rank.
  std::string identity_line(int rank) const;
  /// Only the group of an identity is kept (two numbers per rank).
  void learn_identities(const std::vector<std::string>& lines);
  /// The NICs that are claimed by ranks that share counters with `own`.
  void learn_claims(const std::vector<RankPlace>& places, const std::vector<int>& own);

  /// Moves this process, `rank`, to a processor near `nic` (host/pin.hpp); the host frame reports
  /// it.
  void pin_near(const std::string& nic, int rank);

  /// Lowest rank of this rank's network namespace.
  int reader_of(int rank) const;
  bool shares_memory(int rank, int other) const;

  /// The host frame of `rank` (a rank of this process).
  std::string host_frame(int rank, const std::string& claimed, const LibraryFacts& library) const;
  /// Facts that the plan requests, one frame per line, for a rank that reads.
  std::string fact_frames(int rank, const std::vector<FactRequest>& requests) const;

  /// All machines at the same time.
  const std::vector<std::unique_ptr<Site>>& sites() const { return sites_; }
  /// Whether any counter here may be refreshed late (Site::may_lag).
  bool may_lag() const;
  /// Refresh delay of the slowest port of these machines (Site::settle_ms).
  int settle_ms() const;

  /// An element of a point's `witness`; for a brief point, relative to the bytes that this process
  /// moved.
  std::string witness_json(int rank, std::optional<std::uint64_t> payload_bytes, bool quiet) const;
  std::string idle_frame(int rank) const;
  std::string total_frame(int rank, std::optional<std::uint64_t> payload_bytes,
                          double settled_ns) const;

 private:
  Site& site_of(int rank) const;

  std::vector<std::unique_ptr<Site>> sites_;
  std::unordered_map<int, std::size_t> places_;  // by rank, if it is not the first site
  std::vector<int> readers_;   // by rank: the lowest rank of its network namespace
  std::vector<int> ordinals_;  // by rank: the number of lower ranks on its host
  std::vector<int> memories_;  // by rank: the lowest rank that shares its memory, -1 if unknown
};

}  // namespace wireproof
