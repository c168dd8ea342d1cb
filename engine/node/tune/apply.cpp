#include "node/tune/apply.hpp"

#include <time.h>

#include <cerrno>
#include <cstdlib>

#include "node/tune/drop_in.hpp"
#include "node/tune/folder.hpp"
#include "node/tune/interrupt.hpp"
#include "node/tune/lock.hpp"
#include "node/tune/timer.hpp"
#include "node/tune/undo.hpp"
#include "node/tune/value.hpp"

namespace wireproof::tune {
namespace {

std::string now_utc() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// The set that must be confirmed or reverted first; the number of the next set.
std::uint64_t refuse_others(const Fd& state, const Request& request) {
  std::uint64_t number = 0;
  for (const StoredSet& set : load_sets(state)) {
    const Story& story = set.story;
    number = std::max(number, story.number);
    if (story.request.id == request.id) {
      throw bad_plan("the set " + request.id + " is here already (" +
                     std::string(name_of(story.phase)) + "): take another id");
    }
    if (story.phase == Phase::partly && is_alive(story.timer)) {
      throw Failure("the set " + story.request.id +
                    " is not back, and its timer will try again: " + "revert it first");
    }
    if (is_open(story.phase)) {
      throw Failure("the set " + story.request.id + " of " + story.request.by + " is " +
                    std::string(name_of(story.phase)) + ": confirm or revert it first");
    }
  }
  return number + 1;
}

// Fails for an error that prevents this user or system from writing at all, because it is not about
// a setting.
void refuse_cannot(const std::string& what, const Reply& reply) {
  if (reply.error == EXDEV) throw bad_plan(reply.reason);
  if (reply.error == EACCES || reply.error == EPERM || reply.error == EROFS) {
    throw Failure(what + " cannot be written: " + reply.reason + "; nothing was changed");
  }
}

// Reads every old value; true if all could be read.
class Survey {
 public:
  Survey(const Machine& machine, Story& story, const Answers& answers)
      : machine_(machine), story_(story), answers_(answers) {}

  bool run() {
    bool all = true;
    for (const Change& change : story_.request.changes) all = look_at(change) && all;
    for (const Keep& keep : story_.request.keeps) {
      story_.old_keeps[keep.path] = read_drop_in(machine_.root(), keep.path);
    }
    return all;
  }

 private:
  bool look_at(const Change& change) {
    const bool file = change.kind == Change::Kind::file;
    const Reply reply = file ? machine_.read_writable(change.path) : machine_.read_value(change);
    if (!record(change, target_of(change), reply)) return false;
    for (const std::string& path : change.coupled) {
      if (story_.old.contains(path)) continue;
      const Reply other = machine_.read(path);
      const bool absent = other.error == ENOENT;  // this kernel or driver does not have it
      if (!absent && !record(change, path, other)) return false;
    }
    return true;
  }

  bool record(const Change& change, const std::string& target, const Reply& reply) {
    if (reply.ok()) {
      story_.old[target] = reply.text;
      return true;
    }
    refuse_cannot(target, reply);
    answers_.say(ChangeAnswer{change.id,
                              reply.error == ENOENT ? "gone" : "unreadable",
                              {},
                              change.value,
                              {},
                              target + ": " + reply.reason});
    return false;
  }

  const Machine& machine_;
  Story& story_;
  const Answers& answers_;
};

class Applying {
 public:
  Applying(const Machine& machine, Journal& journal, const Story& story, const Answers& answers)
      : machine_(machine), journal_(journal), story_(story), answers_(answers) {}

  // Returns the change that failed; "" if all values are in force.
  std::string run() {
    for (const Change& change : story_.request.changes) {
      if (!one(change)) return change.id;
    }
    for (const Change& change : story_.request.changes) {
      if (!holds(change)) return change.id;
    }
    return "";
  }

 private:
  Reply read(const Change& change) const {
    return change.kind == Change::Kind::file ? machine_.read(change.path)
                                             : machine_.read_value(change);
  }

  Reply write(const Change& change) const {
    return change.kind == Change::Kind::file ? machine_.write(change.path, change.value + "\n")
                                             : machine_.write_value(change, change.value);
  }

  bool one(const Change& change) {
    ChangeAnswer answer{change.id,    "already", story_.old.at(target_of(change)),
                        change.value, {},        {}};
    if (standing(change.form, change.value, *answer.old) != Standing::different) {
      answer.seen = answer.old;
      answers_.say(answer);
      return true;
    }
    answer.reason = ended();
    if (answer.reason.empty()) {
      carry_out(change, answer);
    } else {
      answer.state = "refused";
    }
    answers_.say(answer);
    return answer.state == "applied" || answer.state == "rewritten";
  }

  std::string ended() const {
    if (interrupted()) return "tune was interrupted";
    if (boot_ms() >= story_.deadline_ms) return "the deadline has passed meanwhile";
    return "";
  }

  void carry_out(const Change& change, ChangeAnswer& answer) {
    journal_.append(line::intent(change));
    const Reply written = write(change);
    const Reply back = read(change);
    judge(change, written, back, answer);
    std::string lines;
    if (back.ok()) lines += line::seen(target_of(change), back.text);
    for (const std::string& path : change.coupled) {
      if (const Reply other = machine_.read(path); other.ok())
        lines += line::seen(path, other.text);
    }
    // If the value could not be read back, the change stays open: it is reverted whatever the value
    // is. So does a change whose write may still be executed.
    if (back.ok() && written.error != ETIMEDOUT)
      journal_.append(lines + line::done(change, answer.state));
  }

  static void judge(const Change& change, const Reply& written, const Reply& back,
                    ChangeAnswer& answer) {
    if (back.ok()) answer.seen = back.text;
    if (!written.ok()) {
      answer.state = "refused";
      answer.reason = written.reason;
    } else if (!back.ok()) {
      answer.state = back.error == ENOENT ? "gone" : "unreadable";
      answer.reason = back.reason;
    } else {
      const Standing found = standing(change.form, change.value, back.text);
      const bool moved = back.text != *answer.old;
      answer.state = found == Standing::same         ? "applied"
                     : found == Standing::other_form ? "rewritten"
                                                     : "ignored";
      if (found == Standing::different) {
        answer.reason = moved ? "another value stands there than was written"
                              : "it was written, and the old value stands there";
      }
    }
  }

  // A later change of the same set may have altered this one.
  bool holds(const Change& change) {
    const Reply back = read(change);
    const bool moved = back.ok() && back.text != story_.old.at(target_of(change));
    if (moved) journal_.append(line::seen(target_of(change), back.text));
    if (back.ok() && standing(change.form, change.value, back.text) != Standing::different)
      return true;
    ChangeAnswer answer{change.id,    "unreadable", story_.old.at(target_of(change)),
                        change.value, {},           back.reason};
    if (back.ok()) {
      answer.state = "ignored";
      answer.seen = back.text;
      answer.reason = "another change of this set has altered it";
    }
    answers_.say(answer);
    return false;
  }

  const Machine& machine_;
  Journal& journal_;
  const Story& story_;
  const Answers& answers_;
};

// Reverts everything according to the journal on disk; the change that failed has already been
// reported.
int take_back(StoredSet& set, const Fd& state, const Machine& machine, const std::string& change,
              const std::string& reason, const Answers& answers) {
  auto stored = load_set(state, set.story.request.id);
  if (stored) set.story = std::move(stored->story);
  revert_set(set, machine, {false, change}, reason, answers);
  return 1;
}

int carry_out(StoredSet& set, const Fd& state, const Machine& machine, const Answers& answers) {
  std::string failed;
  std::string reason;
  try {
    Journal journal = Journal::open(set.folder);
    journal.append(line::timer(*set.story.timer));
    failed = Applying(machine, journal, set.story, answers).run();
    if (failed.empty()) journal.append(line::phase(Phase::armed));
    reason = "the change " + failed + " does not hold";
  } catch (const Failure& failure) {  // the disk is full, or the folder has gone
    reason = failure.what();
    failed = " ";
  }
  if (!failed.empty()) return take_back(set, state, machine, failed, reason, answers);
  set.story.phase = Phase::armed;
  answers.say(describe(set.story, set.story.boot));
  return 0;
}

Story begun(const Request& request, std::uint64_t number, const Machine& machine) {
  Story story;
  story.request = request;
  story.number = number;
  story.since = now_utc();
  story.boot = boot_of(machine);
  return story;
}

}  // namespace

int apply(const Options& options, std::string_view text, const Answers& answers) {
  const Request request = parse_request(text);
  if (std::getenv("WIREPROOF_GUARD") != nullptr) {
    throw Failure(
        "tune apply cannot run under wireproof-node guard, which would end the timer too");
  }
  const Fd state = open_private_folder(options.state, true);
  Lock lock = Lock::take(state, "apply " + request.id);
  const Machine machine(options.root, request.patience_ms, &lock.writers());
  lock.writers().wait(request.patience_ms);
  if (lock.writers().hang()) {
    throw Failure("a write of an earlier tune hangs in the kernel: it has to end first");
  }
  revert_overdue(state, machine, answers);
  Story story = begun(request, refuse_others(state, request), machine);
  if (!Survey(machine, story, answers).run()) {
    story.phase = Phase::reverted;
    SetAnswer answer = describe(story, story.boot);
    answer.reason = "nothing was written";
    answers.say(answer);
    return 1;
  }
  story.deadline_ms = boot_ms() + std::int64_t{1000} * request.timeout_s;
  StoredSet set{open_set(state, request.id, true), std::move(story)};
  if (!set.folder.is_open()) fail_errno("the folder of the set " + request.id);
  Journal::create(set.folder, set.story);
  set.story.whole = true;
  try {
    set.story.timer = start_timer(options, set.story);
  } catch (const Failure&) {
    Journal::open(set.folder).note(line::phase(Phase::reverted));
    throw;
  }
  const int status = carry_out(set, state, machine, answers);
  prune(state);
  return status;
}

}  // namespace wireproof::tune
