// A whole run on the model in this process, and its frames.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "in_process.hpp"
#include "measure/sweep.hpp"

namespace wireproof {

struct RunOutput {
  ExitStatus status = ExitStatus::ok;
  std::vector<std::string> frames;

  /// The `nth` frame of a kind, "" if there are fewer.
  std::string of_kind(const std::string& kind, int nth) const {
    for (const std::string& frame : frames) {
      if (frame.starts_with("{\"frame\":\"" + kind + "\"") && nth-- == 0) return frame;
    }
    return "";
  }
  /// The first whole number of that key.
  std::uint64_t number(const std::string& frame, const std::string& key) const {
    const std::size_t at = frame.find("\"" + key + "\":");
    return at == std::string::npos
               ? 0
               : static_cast<std::uint64_t>(std::stod(frame.substr(at + key.size() + 3)));
  }
};

namespace test {

inline RunOutput run(const std::string& text) {
  const Plan plan = parse_plan(text);
  const auto transport = open_model({});
  transport->configure(plan);
  const int file = memfd_create("frames", 0);
  FrameSink sink(file);
  RunOutput result;
  result.status = Sweep(*transport, plan, test_clock(), sink, "test").run();
  std::string all(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(file, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
  close(file);
  while (!all.empty()) {
    const std::size_t end = all.find('\n');
    result.frames.push_back(all.substr(0, end));
    all.erase(0, end + 1);
  }
  return result;
}

}  // namespace test
}  // namespace wireproof
