// The request of `tune apply`, one statement per line. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/statement.hpp"

namespace wireproof::tune {

inline constexpr std::size_t kLongestRequest = std::size_t{1} << 20;
inline constexpr std::size_t kLongestText = std::size_t{64} << 10;  // of a value, of a drop-in

enum class Form { plain, choice };  // choice: all words, with the active one in brackets

// One setting and its requested value: a file, or a command that prints it and another that sets
// it.
struct Change {
  enum class Kind { file, command };
  std::string id;
  Kind kind = Kind::file;
  std::string value;
  std::string path;  // file
  Form form = Form::plain;
  std::vector<std::string> coupled;  // files that a write may also alter
  std::vector<std::string> read;     // command
  std::string section;
  std::string key;
  std::vector<std::string> write;  // "{value}" in it represents the value
};

// One of wireproof's drop-in files, with its whole text.
struct Keep {
  std::string path;
  std::string text;
};

struct Request {
  std::string id;
  std::string by;
  int timeout_s = 600;      // seconds until the set is reverted unless it is confirmed
  int patience_ms = 10000;  // time limit of one read or one write
  std::vector<Change> changes;
  std::vector<Keep> keeps;
};

// Throws Failure (ExitStatus::bad_plan) with the line and the error; so does each function below.
Request parse_request(std::string_view text);

Request parse_set(Statement& line);
Change parse_change(Statement& line);  // of a request
// for a journal: everything that an earlier version allowed is allowed
Change parse_written(Statement& line);
Keep parse_keep(Statement& line);

// A name that is valid for a folder: letters, digits, "." "_" "-", not starting with a dot.
bool is_name(std::string_view text);

// The journal's statements, which the functions above read back.
std::string set_statement(const Request& request);
std::string change_statement(const Change& change);
std::string keep_statement(const Keep& keep);

}  // namespace wireproof::tune
