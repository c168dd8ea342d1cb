// The wire's counters, in a file that other processes map or read at any time, without locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "switch.hpp"

namespace wireproof::wire {

// The file: this header, then one PortCounters for each port, in the order of the configuration.
// All fields are 64 bits in the machine's byte order; readers find them by position.
struct StatusHeader {
  char magic[8];  // "WPWIRE1\n"
  std::uint64_t ports;
  std::uint64_t revision;  // revision of the configuration in force
  std::uint64_t frames;    // handed to nodes
  std::uint64_t late;      // of these, frames later than the threshold
  std::uint64_t
      starved;  // frames taken from a node only after its line had been idle for longer than that
  std::uint64_t worst_ns;    // the latest of all
  std::uint64_t late_ns;     // the threshold
  std::uint64_t scheduling;  // 1: with priority over all ordinary processes; 0: without
};

class Status {
 public:
  // Creates the file, filled with zeros. Throws Failure.
  Status(const std::string& path, std::size_t ports);
  ~Status();
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  StatusHeader& header() { return *header_; }
  void copy(Switch& from);

 private:
  StatusHeader* header_ = nullptr;
  PortCounters* counters_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace wireproof::wire
