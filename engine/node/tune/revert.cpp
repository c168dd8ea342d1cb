#include <cstdio>

#include "node/tune/folder.hpp"
#include "node/tune/lock.hpp"
#include "node/tune/undo.hpp"
#include "node/tune/verbs.hpp"

namespace wireproof::tune {
namespace {

std::optional<StoredSet> chosen_set(const Fd& state, const std::string& id) {
  if (!id.empty()) {
    auto set = load_set(state, id);
    if (!set) throw bad_plan("there is no set " + id);
    return set;
  }
  std::vector<StoredSet> sets = load_sets(state);
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    if (set->story.phase != Phase::reverted) return std::move(*set);
  }
  return std::nullopt;
}

int nothing(const std::string& id) {
  if (!id.empty()) throw bad_plan("there is no set " + id);
  std::fputs("wireproof-node: no set is to be reverted\n", stderr);
  return 0;
}

}  // namespace

int revert(const Options& options, const Answers& answers) {
  const Fd state = open_private_folder(options.state, false);
  if (!state.is_open()) return nothing(options.id);
  Lock lock = Lock::take(state, "revert");
  auto set = chosen_set(state, options.id);
  if (!set) return nothing(options.id);
  const Machine machine(options.root, set->story.request.patience_ms, &lock.writers());
  if (set->story.phase == Phase::reverted) {
    answers.say(describe(set->story, boot_of(machine)));
    return set->story.damaged ? 1 : 0;
  }
  lock.writers().wait(machine.patience_ms());
  const Phase phase = revert_set(*set, machine, {options.force, ""}, "", answers);
  if (options.id.empty()) revert_overdue(state, machine, answers);
  return phase == Phase::reverted && !set->story.damaged ? 0 : 1;
}

}  // namespace wireproof::tune
