#include "node/tune/sets.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

#include "node/tune/folder.hpp"
#include "node/tune/timer.hpp"
#include "node/tune/undo.hpp"

namespace wireproof::tune {

std::optional<StoredSet> load_set(const Fd& state, const std::string& id) {
  Fd folder = open_set(state, id, false);
  if (!folder.is_open()) return std::nullopt;
  auto story = Journal::read(folder);
  if (!story) return std::nullopt;
  // The line with the name may be damaged, or the journal may belong to another set.
  if (std::exchange(story->request.id, id) != id) story->damaged = true;
  return StoredSet{std::move(folder), std::move(*story)};
}

std::vector<StoredSet> load_sets(const Fd& state) {
  std::vector<StoredSet> sets;
  for (const std::string& id : list_sets(state)) {
    if (auto set = load_set(state, id)) sets.push_back(std::move(*set));
  }
  std::stable_sort(sets.begin(), sets.end(), [](const StoredSet& one, const StoredSet& other) {
    return one.story.number < other.story.number;
  });
  return sets;
}

std::int64_t boot_ms() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

std::string boot_of(const Machine& machine) {
  const Reply reply = machine.read("/proc/sys/kernel/random/boot_id");
  return reply.ok() ? reply.text.substr(0, reply.text.find('\n')) : "";
}

bool is_overdue(const Story& story, const std::string& boot) {
  if (!is_open(story.phase)) return false;
  if (story.boot != boot) return true;
  return !is_alive(story.timer) && boot_ms() >= story.deadline_ms;
}

SetAnswer describe(const Story& story, const std::string& boot) {
  SetAnswer answer;
  answer.id = story.request.id;
  answer.state = name_of(story.phase);
  answer.by = story.request.by;
  answer.since = story.since;
  answer.boot = story.boot == boot ? "same" : "other";
  if (story.damaged) answer.reason = "the journal is damaged";
  if (!is_open(story.phase)) return answer;
  const std::int64_t left = story.boot == boot ? story.deadline_ms - boot_ms() : 0;
  answer.deadline_s = (std::max<std::int64_t>(left, 0) + 999) / 1000;
  answer.timer = story.boot == boot && is_alive(story.timer) ? "alive" : "gone";
  return answer;
}

void prune(const Fd& state) {
  constexpr std::size_t kKept = 100;
  std::vector<StoredSet> sets = load_sets(state);
  std::erase_if(sets, [](const StoredSet& set) { return set.story.phase != Phase::reverted; });
  for (std::size_t at = 0; at + kKept < sets.size(); ++at) {
    remove_set(state, sets[at].story.request.id);
  }
}

Phase revert_set(StoredSet& set, const Machine& machine, const UndoOptions& how,
                 const std::string& reason, const Answers& answers) {
  Journal journal = Journal::open(set.folder);
  const Machine own(machine.root(), set.story.request.patience_ms, machine.writers());
  set.story.phase = undo_set(own, journal, set.story, how, answers);
  const bool late = set.story.phase == Phase::reverted && machine.writers()->hang();
  if (late) journal.note(line::phase(set.story.phase = Phase::partly));
  if (!late) end_timer(set.story.timer);
  SetAnswer answer = describe(set.story, boot_of(machine));
  if (set.story.damaged) answer.reason += ": what it no longer shows may still stand";
  if (!reason.empty()) answer.reason += (answer.reason.empty() ? "" : "; ") + reason;
  if (late) answer.reason = "a write hangs in the kernel and may still come: revert once more";
  answers.say(answer);
  return set.story.phase;
}

bool revert_overdue(const Fd& state, const Machine& machine, const Answers& answers) {
  const std::string boot = boot_of(machine);
  bool any = false;
  for (StoredSet& set : load_sets(state)) {
    if (!is_overdue(set.story, boot)) continue;
    const bool same = set.story.boot == boot;
    revert_set(set, machine, {},
               same ? "it was not confirmed in time, and its timer is gone"
                    : "it was not confirmed before the machine was started again",
               answers);
    any = true;
  }
  return any;
}

}  // namespace wireproof::tune
