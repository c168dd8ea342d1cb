// The record of a change set: planned, completed and undone steps, one statement per line, each
// with its number and a checksum over both. A line that was cut short when it was appended is
// ignored, and the next line has the same number. A gap in the numbers means that a complete line
// is missing: the journal is damaged. The head (request, old values, deadline) is completely on
// disk before anything is written; the rest is appended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/system.hpp"
#include "node/tune/request.hpp"

namespace wireproof::tune {

enum class Phase { applying, armed, confirmed, reverted, partly };
std::string_view name_of(Phase phase);
// Its values are in force, and it is not confirmed.
bool is_open(Phase phase);

// The previous content at the place of a drop-in.
struct OldKeep {
  bool there = false;
  bool folder = true;  // the folder itself existed
  std::string text;
  unsigned mode = 0;
  unsigned owner = 0;
  unsigned group = 0;
};

struct TimerProcess {
  int pid = 0;
  std::uint64_t start = 0;  // clock ticks since the machine's start, as in /proc/PID/stat
};

// A target is a file's path, or "command CHANGE".
std::string target_of(const Change& change);

// The complete content of a journal.
struct Story {
  Request request;
  std::string since;  // UTC
  std::string boot;   // the machine's boot
  // by the clock that starts at boot and includes sleep
  std::int64_t deadline_ms = 0;
  std::uint64_t number = 0;                  // counts the sets of this state folder
  std::map<std::string, std::string> old;    // by target
  std::map<std::string, OldKeep> old_keeps;  // by path
  std::optional<TimerProcess> timer;
  Phase phase = Phase::applying;
  bool whole = false;                           // nothing was written before the head was complete
  std::set<std::string> begun;                  // changes
  std::map<std::string, std::string> outcomes;  // by change: its state
  // by target: the values that wireproof left there, at any time
  std::map<std::string, std::set<std::string>> ours;
  // targets and drop-ins that a write in progress may affect
  std::set<std::string> in_hand;
  std::set<std::string> kept;  // drop-ins whose writing has begun
  std::uint64_t lines = 0;     // the number of the last line
  bool damaged = false;        // a line that was complete is damaged now
};

// Never throws: a damaged or meaningless line is left out.
Story parse_journal(std::string_view text);

std::string head_of(const Story& story);

// The lines after the head.
namespace line {
std::string timer(const TimerProcess& timer);
std::string intent(const Change& change);
std::string seen(std::string_view target, std::string_view text);
std::string done(const Change& change, std::string_view state);
std::string undo(std::string_view target);
std::string undone(std::string_view target);
std::string old_keep(const std::string& path, const OldKeep& old);
std::string keeping(std::string_view path);
std::string kept(std::string_view path);
std::string phase(Phase phase);
}  // namespace line

// One set's journal on disk.
class Journal {
 public:
  static constexpr const char* kName = "journal";

  // Writes the whole head at once: a temporary file, fsync, rename, fsync of the folder. Throws
  // Failure.
  static void create(const Fd& set, const Story& story);
  // Opens the journal for the lines after the head. Throws Failure.
  static Journal open(const Fd& set);
  static std::optional<Story> read(const Fd& set);

  // Appends lines with one write and waits for the disk. Throws Failure.
  void append(const std::string& lines);
  // Like `append`, for cases in which continuing matters more than the record: a full disk must not
  // prevent an old value from being restored.
  void note(const std::string& lines) noexcept;

 private:
  bool write(const std::string& lines);
  Journal(Fd file, std::uint64_t lines) : file_(std::move(file)), lines_(lines) {}
  Fd file_;
  std::uint64_t lines_;
};

}  // namespace wireproof::tune
