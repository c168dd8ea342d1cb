// The answers of `tune` on standard output: one JSON object per line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wireproof::tune {

struct ChangeAnswer {
  std::string id;
  std::string_view state;
  std::optional<std::string> old;
  std::optional<std::string> wanted;
  std::optional<std::string> seen;
  std::string reason;
};

struct SetAnswer {
  std::string id;
  std::string_view state;
  std::string by;
  std::string since;
  std::optional<std::int64_t> deadline_s;  // the time until the timer reverts
  std::string_view timer = "none";
  std::string_view boot = "same";
  std::string reason;
};

class Answers {
 public:
  // -1: the answers are discarded.
  explicit Answers(int descriptor) : descriptor_(descriptor) {}
  // Texts are shown without their last newline. A reader that has gone is not an error: work in
  // progress continues.
  void say(const ChangeAnswer& answer) const;
  void say(const SetAnswer& answer) const;

 private:
  void write_line(std::string line) const;
  int descriptor_;
};

}  // namespace wireproof::tune
