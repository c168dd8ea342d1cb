#include <unistd.h>

#include "node/tune/drop_in.hpp"
#include "node/tune/folder.hpp"
#include "node/tune/lock.hpp"
#include "node/tune/timer.hpp"
#include "node/tune/undo.hpp"
#include "node/tune/verbs.hpp"

namespace wireproof::tune {
namespace {

void refuse_unless_armed(const Story& story, const std::string& boot) {
  const std::string set = "the set " + story.request.id;
  if (story.damaged) {
    throw Failure(ExitStatus::point_failed, "tune",
                  "the journal of " + set + " is damaged: revert it");
  }
  if (story.phase == Phase::applying) {
    throw Failure(ExitStatus::point_failed, "tune", set + " was not applied as a whole: revert it");
  }
  if (story.phase != Phase::armed) {
    throw Failure(
        ExitStatus::point_failed, "tune",
        set + " is " + std::string(name_of(story.phase)) + ": there is nothing to confirm");
  }
  if (story.boot != boot || boot_ms() >= story.deadline_ms) {
    throw Failure(ExitStatus::point_failed, "tune",
                  "the deadline of " + set + " has passed: it is being reverted");
  }
}

StoredSet chosen_set(const Fd& state, const std::string& id) {
  if (!id.empty()) {
    auto set = load_set(state, id);
    if (!set) throw bad_plan("there is no set " + id);
    return std::move(*set);
  }
  std::vector<StoredSet> sets = load_sets(state);
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    if (is_open(set->story.phase)) return std::move(*set);
  }
  throw Failure(ExitStatus::point_failed, "tune", "no set waits to be confirmed");
}

OldKeep wanted_of(const Keep& keep) {
  OldKeep wanted;
  wanted.there = true;
  wanted.text = keep.text;
  wanted.mode = 0644;
  wanted.owner = geteuid();
  wanted.group = getegid();
  return wanted;
}

// The file may have changed since apply; after an interrupted confirm it may be wireproof's.
ChangeAnswer keep_one(const Keep& keep, const Machine& machine, Journal& journal, Story& story) {
  ChangeAnswer answer{keep.path, "kept", {}, {}, {}, {}};
  const OldKeep old = read_drop_in(machine.root(), keep.path);
  OldKeep& known = story.old_keeps[keep.path];
  if (!story.kept.contains(keep.path) && !same_drop_in(old, known))
    journal.append(line::old_keep(keep.path, known = old));
  if (old.there) answer.old = old.text;
  journal.append(line::keeping(keep.path));
  story.kept.insert(keep.path);
  story.in_hand.insert(keep.path);
  const OldKeep wanted = wanted_of(keep);
  write_drop_in(machine.root(), keep.path, wanted);
  if (!same_drop_in(read_drop_in(machine.root(), keep.path), wanted)) {
    throw Failure("it was written, and something else stands there");
  }
  journal.append(line::kept(keep.path));
  return answer;
}

bool keep_all(const Machine& machine, Journal& journal, Story& story, const Answers& answers) {
  for (const Keep& keep : story.request.keeps) {
    try {
      answers.say(keep_one(keep, machine, journal, story));
    } catch (const Failure& failure) {
      undo_keeps(machine, journal, story, false, answers);
      answers.say(ChangeAnswer{keep.path, "refused", {}, {}, {}, failure.what()});
      return false;
    }
  }
  return true;
}

}  // namespace

int confirm(const Options& options, const Answers& answers) {
  const Fd state = open_private_folder(options.state, false);
  if (!state.is_open()) {
    throw Failure(ExitStatus::point_failed, "tune", "no set waits to be confirmed");
  }
  Lock lock = Lock::take(state, "confirm");
  revert_overdue(state, Machine(options.root, 10'000, &lock.writers()), answers);
  StoredSet set = chosen_set(state, options.id);
  const Machine machine(options.root, set.story.request.patience_ms, &lock.writers());
  const std::string boot = boot_of(machine);
  refuse_unless_armed(set.story, boot);
  Journal journal = Journal::open(set.folder);
  const bool kept = keep_all(machine, journal, set.story, answers);
  if (kept) {
    journal.append(line::phase(Phase::confirmed));
    set.story.phase = Phase::confirmed;
    end_timer(set.story.timer);
  }
  answers.say(describe(set.story, boot));
  return kept ? 0 : 1;
}

}  // namespace wireproof::tune
