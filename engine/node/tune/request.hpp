// What `tune apply` is asked to do, one statement a line. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/statement.hpp"

namespace wireproof::tune {

inline constexpr std::size_t kLongestRequest = std::size_t{1} << 20;
inline constexpr std::size_t kLongestText = std::size_t{64} << 10;  // of a value, of a drop-in

enum class Form { plain, choice };  // choice: all words, the one that counts in brackets

// One setting and the value that it is to have: a file, or what a command prints and another sets.
struct Change {
  enum class Kind { file, command };
  std::string id;
  Kind kind = Kind::file;
  std::string value;
  std::string path;  // file
  Form form = Form::plain;
  std::vector<std::string> coupled;  // files that a write may alter as well
  std::vector<std::string> read;     // command
  std::string section;
  std::string key;
  std::vector<std::string> write;  // "{value}" in it stands for the value
};

// A drop-in file of ours: its whole text.
struct Keep {
  std::string path;
  std::string text;
};

struct Request {
  std::string id;
  std::string by;
  int timeout_s = 600;      // until the set is reverted unless it is confirmed
  int patience_ms = 10000;  // how long one read or one write may take
  std::vector<Change> changes;
  std::vector<Keep> keeps;
};

// Throws Failure (ExitStatus::bad_plan) with the line and what is wrong there; so does each below.
Request parse_request(std::string_view text);

Request parse_set(Statement& line);
Change parse_change(Statement& line);   // of a request
Change parse_written(Statement& line);  // of a journal: what an earlier version has allowed counts
Keep parse_keep(Statement& line);

// A name that can be a folder's: letters, digits, "." "_" "-", not first a dot.
bool is_name(std::string_view text);

// The statements of the journal, which are read back by the above.
std::string set_statement(const Request& request);
std::string change_statement(const Change& change);
std::string keep_statement(const Keep& keep);

}  // namespace wireproof::tune
