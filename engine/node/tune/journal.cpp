#include "node/tune/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/statement.hpp"
#include "base/text_split.hpp"
#include "node/tune/folder.hpp"
#include "node/tune/journal_line.hpp"

namespace wireproof::tune {
namespace {

constexpr std::array<std::string_view, 5> kPhases = {"applying", "armed", "confirmed", "reverted",
                                                     "partly"};
constexpr std::size_t kLongestJournal = std::size_t{256} << 20;
constexpr const char* kTemporary = "journal.new";

std::string required(Statement& line, std::string_view key) {
  auto text = line.take(key);
  if (!text) line.fail(std::string(key) + "= is missing");
  return std::move(*text);
}

void read_head(Statement& line, Story& story) {
  story.since = required(line, "since");
  story.boot = required(line, "boot");
  story.deadline_ms = line.take_number<std::int64_t>("deadline_ms", 0, INT64_MAX).value_or(0);
  story.number = line.take_number<std::uint64_t>("number", 0, UINT64_MAX).value_or(0);
}

void read_intent(Statement& line, Story& story) {
  const std::string id = required(line, "id");
  for (const Change& change : story.request.changes) {
    if (change.id != id) continue;
    story.in_hand.insert(target_of(change));
    story.in_hand.insert(change.coupled.begin(), change.coupled.end());
  }
  story.begun.insert(id);
}

void read_done(Statement& line, Story& story) {
  const std::string id = required(line, "id");
  story.outcomes[id] = required(line, "state");
  for (const Change& change : story.request.changes) {
    if (change.id != id) continue;
    story.in_hand.erase(target_of(change));
    for (const std::string& path : change.coupled) story.in_hand.erase(path);
  }
}

void read_old_keep(Statement& line, Story& story) {
  OldKeep old;
  const std::string path = required(line, "path");
  old.there = line.take_number<int>("there", 0, 1).value_or(0) == 1;
  old.folder = line.take_number<int>("folder", 0, 1).value_or(1) == 1;
  old.mode = line.take_number<unsigned>("mode", 0, 07777).value_or(0644);
  old.owner = line.take_number<unsigned>("owner", 0, UINT32_MAX).value_or(0);
  old.group = line.take_number<unsigned>("group", 0, UINT32_MAX).value_or(0);
  old.text = line.take("text").value_or("");
  story.old_keeps[path] = old;
}

void read_timer(Statement& line, Story& story) {
  TimerProcess timer;
  timer.pid = line.take_number<int>("pid", 1, INT32_MAX).value_or(0);
  timer.start = line.take_number<std::uint64_t>("start", 0, UINT64_MAX).value_or(0);
  if (timer.pid > 0) story.timer = timer;
}

struct Reader {
  std::string_view keyword;
  void (*read)(Statement&, Story&);
};

constexpr Reader kReaders[] = {
    {"set",
     [](Statement& line, Story& story) {  // a second head would hide the changes of the first
       if (story.request.id.empty()) story.request = parse_set(line);
     }},
    {"change",
     [](Statement& line, Story& story) { story.request.changes.push_back(parse_written(line)); }},
    {"keep",
     [](Statement& line, Story& story) { story.request.keeps.push_back(parse_keep(line)); }},
    {"head", read_head},
    {"old",
     [](Statement& line, Story& story) {
       const std::string target = required(line, "target");
       story.old[target] = required(line, "text");
     }},
    {"old-keep", read_old_keep},
    {"ready", [](Statement&, Story& story) { story.whole = true; }},
    {"timer", read_timer},
    {"intent", read_intent},
    {"seen",
     [](Statement& line, Story& story) {
       const std::string target = required(line, "target");
       story.ours[target].insert(required(line, "text"));
     }},
    {"done", read_done},
    {"undo", [](Statement& line, Story& story) { story.in_hand.insert(required(line, "target")); }},
    {"undone",
     [](Statement& line, Story& story) { story.in_hand.erase(required(line, "target")); }},
    {"keeping",
     [](Statement& line, Story& story) {
       const std::string path = required(line, "path");
       story.kept.insert(path);
       story.in_hand.insert(path);
     }},
    {"kept", [](Statement& line, Story& story) { story.in_hand.erase(required(line, "path")); }},
    {"phase",
     [](Statement& line, Story& story) {
       if (const auto phase = line.take_choice<Phase>("name", kPhases)) story.phase = *phase;
     }},
};

// Lines of an older version have no numbers, so they show neither gaps nor duplicates.
void read_line(std::string_view content, Story& story) {
  Statement line(content, 0, "journal");
  if (const auto number = line.take_number<std::uint64_t>("n", 1, UINT64_MAX)) {
    if (*number != story.lines + 1) story.damaged = true;
    story.lines = std::max(story.lines, *number);
  }
  for (const Reader& reader : kReaders) {
    if (reader.keyword == line.keyword()) reader.read(line, story);
  }
}

// `lines` are sealed; each gets the next number.
std::string numbered(std::string_view lines, std::uint64_t& last) {
  std::string text;
  while (const auto one = take_line(lines)) {
    const auto statement = unsealed(*one);
    if (statement) text += sealed(std::string(*statement) + field("n", std::to_string(++last)));
  }
  return text;
}

bool write_whole(const Fd& file, const std::string& text) {
  for (std::size_t wrote = 0; wrote < text.size();) {
    const ssize_t got = ::write(file.get(), text.data() + wrote, text.size() - wrote);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    wrote += static_cast<std::size_t>(got);
  }
  return fsync(file.get()) == 0;
}

}  // namespace

std::string_view name_of(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

bool is_open(Phase phase) { return phase == Phase::applying || phase == Phase::armed; }

std::string target_of(const Change& change) {
  return change.kind == Change::Kind::file ? change.path : "command " + change.id;
}

Story parse_journal(std::string_view text) {
  const bool ended = text.ends_with('\n');
  Story story;
  bool last_is_bad = false;  // a line without a newline was cut short, and is simply ignored
  while (const auto sealed = take_line(text)) {
    const auto content = unsealed(*sealed);
    if (!sealed->empty()) last_is_bad = !content;
    if (!content) continue;
    try {
      read_line(*content, story);
    } catch (const Failure&) {
      // written by another version or program: the other lines remain valid
    }
  }
  // The head was complete before anything was written.
  const bool binary = text.find('\0') != std::string_view::npos;
  if (!story.whole || (last_is_bad && ended) || binary) story.damaged = true;
  return story;
}

std::string head_of(const Story& story) {
  std::string text = sealed(set_statement(story.request)) +
                     sealed("head" + field("since", story.since) + field("boot", story.boot) +
                            field("deadline_ms", std::to_string(story.deadline_ms)) +
                            field("number", std::to_string(story.number)));
  for (const Change& change : story.request.changes) text += sealed(change_statement(change));
  for (const Keep& keep : story.request.keeps) text += sealed(keep_statement(keep));
  for (const auto& [target, old] : story.old)
    text += sealed("old" + field("target", target) + field("text", old));
  for (const auto& [path, old] : story.old_keeps) text += line::old_keep(path, old);
  return text + sealed("ready");
}

void Journal::create(const Fd& set, const Story& story) {
  if (unlinkat(set.get(), kTemporary, 0) != 0 && errno != ENOENT) fail_errno("the journal");
  const Fd file = open_private_file(set, kTemporary, O_WRONLY | O_CREAT | O_EXCL);
  std::uint64_t lines = 0;
  if (!file.is_open() || !write_whole(file, numbered(head_of(story), lines)) ||
      renameat(set.get(), kTemporary, set.get(), kName) != 0 || fsync(set.get()) != 0) {
    fail_errno("the journal cannot be written");
  }
}

Journal Journal::open(const Fd& set) {
  Fd file = open_private_file(set, kName, O_WRONLY | O_APPEND);
  if (!file.is_open()) fail_errno("the journal cannot be opened");
  const auto story = read(set);
  return Journal(std::move(file), story ? story->lines : 0);
}

std::optional<Story> Journal::read(const Fd& set) {
  const auto text = read_private(set, kName, kLongestJournal);
  if (text) return parse_journal(*text);
  struct stat info {};
  if (fstatat(set.get(), kName, &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
    return std::nullopt;  // the head exists before anything is written
  }
  throw Failure("a journal in the state folder cannot be read: what it holds may still stand");
}

// A line that an earlier process could not finish must not swallow the next one, so every write
// begins with a newline, and empty lines are ignored.
void Journal::append(const std::string& lines) {
  if (!write(lines)) fail_errno("the journal cannot be written");
}

void Journal::note(const std::string& lines) noexcept { (void)write(lines); }

bool Journal::write(const std::string& lines) {
  std::uint64_t last = lines_;
  const std::string text = numbered(lines, last);
  if (!write_whole(file_, "\n" + text)) return false;
  lines_ = last;
  return true;
}

}  // namespace wireproof::tune
