#include <cerrno>

#include "node/tune/drop_in.hpp"
#include "node/tune/folder.hpp"
#include "node/tune/value.hpp"
#include "node/tune/verbs.hpp"

namespace wireproof::tune {
namespace {

constexpr int kPatienceMs = 2000;

ChangeAnswer look_at(const Change& change, const Story& story, const Machine& machine) {
  ChangeAnswer answer{change.id, "left", {}, change.value, {}, {}};
  const auto old = story.old.find(target_of(change));
  if (old != story.old.end()) answer.old = old->second;
  const Reply reply =
      change.kind == Change::Kind::file ? machine.read(change.path) : machine.read_value(change);
  if (!reply.ok()) {
    answer.state = reply.error == ENOENT ? "gone" : "unreadable";
    answer.reason = reply.reason;
    return answer;
  }
  answer.seen = reply.text;
  const Standing found = standing(change.form, change.value, reply.text);
  const bool was = answer.old && standing(change.form, change.value, *answer.old) == found &&
                   found != Standing::different;
  if (was) {
    answer.state = "already";
  } else if (found != Standing::different) {
    answer.state = found == Standing::same ? "applied" : "rewritten";
  } else if (answer.seen == answer.old) {
    answer.state = "reverted";
  } else {
    answer.reason = "neither the old value nor the one of this set";
  }
  return answer;
}

ChangeAnswer look_at(const Keep& keep, const Machine& machine) {
  ChangeAnswer answer{keep.path, "removed", {}, keep.text, {}, {}};
  try {
    const OldKeep now = read_drop_in(machine.root(), keep.path);
    if (now.there) answer.seen = now.text;
    if (now.there) answer.state = now.text == keep.text ? "kept" : "left";
  } catch (const Failure& failure) {
    answer.state = "unreadable";
    answer.reason = failure.what();
  }
  return answer;
}

}  // namespace

int status(const Options& options, const Answers& answers) {
  const Fd state = open_private_folder(options.state, false);
  if (!state.is_open()) return 0;
  const Machine machine(options.root, kPatienceMs, nullptr);
  const std::string boot = boot_of(machine);
  for (const StoredSet& set : load_sets(state)) {
    if (!options.id.empty() && options.id != set.story.request.id) continue;
    answers.say(describe(set.story, boot));
    for (const Change& change : set.story.request.changes)
      answers.say(look_at(change, set.story, machine));
    for (const Keep& keep : set.story.request.keeps) answers.say(look_at(keep, machine));
  }
  return 0;
}

}  // namespace wireproof::tune
