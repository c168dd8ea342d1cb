#include "node/tune/undo.hpp"

#include <algorithm>
#include <cerrno>

#include "node/tune/drop_in.hpp"
#include "node/tune/value.hpp"

namespace wireproof::tune {
namespace {

constexpr int kPasses = 3;

enum class State { back, differs, foreign, missing, unreadable };

// A target that a write of the set may have altered.
struct Item {
  std::string target;
  // the change that has this target; none for a file that is only coupled
  const Change* change = nullptr;
  std::string old;
  State state = State::back;
  std::optional<std::string> seen;
  std::string reason;
  bool written = false;
  bool ours = false;     // only wireproof had changed it when this call began to write
  bool unbegun = false;  // the journal does not show that it was written
};

class Undoing {
 public:
  Undoing(const Machine& machine, Journal& journal, const Story& story, bool force)
      : machine_(machine), journal_(journal), story_(story), force_(force) {
    collect();
  }

  void run() {
    for (int pass = 0; pass < kPasses; ++pass) {
      inspect_all();
      if (!differs()) break;
      if (pass == 0) announce();
      write_all();
    }
    inspect_all();
    std::string lines;
    for (const Item& item : items_) {
      if (item.written && item.state == State::back) lines += line::undone(item.target);
    }
    if (!lines.empty()) journal_.note(lines);
  }

  const Item* find(const std::string& target) const {
    const auto found = std::find_if(items_.begin(), items_.end(),
                                    [&](const Item& item) { return item.target == target; });
    return found == items_.end() ? nullptr : &*found;
  }

 private:
  void add(const std::string& target) {
    const auto old = story_.old.find(target);
    if (old == story_.old.end() || find(target) != nullptr) return;
    Item item;
    item.target = target;
    item.old = old->second;
    for (const Change& change : story_.request.changes) {
      if (target_of(change) == target) item.change = &change;
    }
    items_.push_back(std::move(item));
  }

  // For a change that was not written, only the known effects of another change count. A damaged
  // journal does not show what was written, so everything is examined.
  void collect() {
    const auto& changes = story_.request.changes;
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      const bool begun = story_.damaged || story_.begun.contains(change->id);
      if (begun || story_.ours.contains(target_of(*change))) add(target_of(*change));
      for (const std::string& path : change->coupled) {
        if (begun) add(path);
      }
    }
    const std::size_t known = items_.size();
    for (const Change& change : changes) add(target_of(change));
    for (std::size_t at = known; at < items_.size(); ++at) items_[at].unbegun = true;
  }

  // The new value is present, but no line shows that it was written: the end of the journal is
  // lost. Any other value does not belong to this set.
  void inspect_unbegun(Item& item, const Reply& reply) {
    const bool stands =
        reply.ok() && reply.text != item.old &&
        standing(item.change->form, item.change->value, reply.text) != Standing::different &&
        standing(item.change->form, item.change->value, item.old) == Standing::different;
    item.seen = stands ? std::optional(reply.text) : std::nullopt;
    item.state = stands ? State::foreign : State::back;
  }

  bool is_command(const Item& item) const {
    return item.change != nullptr && item.change->kind == Change::Kind::command;
  }

  bool is_ours(const Item& item) const {
    const auto left = story_.ours.find(item.target);
    return force_ || item.ours || item.written || story_.in_hand.contains(item.target) ||
           (left != story_.ours.end() && left->second.contains(*item.seen));
  }

  void inspect(Item& item) {
    Reply reply = is_command(item) ? machine_.read_value(*item.change) : machine_.read(item.target);
    if (item.unbegun && !force_) return inspect_unbegun(item, reply);
    if (!reply.ok()) {
      item.state = reply.error == ENOENT ? State::missing : State::unreadable;
      item.reason = reply.reason;
      return;
    }
    item.seen = std::move(reply.text);
    item.state = *item.seen == item.old ? State::back
                 : is_ours(item)        ? State::differs
                                        : State::foreign;
  }

  void inspect_all() {
    for (Item& item : items_) inspect(item);
  }

  bool differs() const {
    return std::any_of(items_.begin(), items_.end(),
                       [](const Item& item) { return item.state == State::differs; });
  }

  // A value that no other program has changed so far can only be changed by the following writes.
  void announce() {
    std::string lines;
    for (Item& item : items_) {
      item.ours = item.state != State::foreign;
      if (item.state == State::differs) lines += line::undo(item.target);
    }
    journal_.note(lines);
  }

  // Examines the target again before each write, because the previous one may also have restored
  // this one.
  void write_all() {
    for (Item& item : items_) {
      if (item.state != State::differs) continue;
      inspect(item);
      if (item.state != State::differs) continue;
      const Form form = item.change == nullptr ? Form::plain : item.change->form;
      item.written = true;
      const Reply reply = is_command(item) ? machine_.write_value(*item.change, item.old)
                                           : machine_.write(item.target, restoring(form, item.old));
      item.reason =
          reply.ok() ? "the old value was written, and something else stands there" : reply.reason;
    }
  }

  const Machine& machine_;
  Journal& journal_;
  const Story& story_;
  bool force_;
  std::vector<Item> items_;
};

std::string_view state_of(const Item& item) {
  switch (item.state) {
    case State::back:
      return item.written ? "reverted" : "already";
    case State::differs:
      return "refused";
    case State::foreign:
      return "left";
    case State::missing:
      return "gone";
    case State::unreadable:
      break;
  }
  return "unreadable";
}

std::string reason_of(const Item& item, const Story& story) {
  if (item.state == State::back) return "";
  if (item.state == State::foreign) {
    return story.damaged || item.unbegun
               ? "the journal does not show who wrote this value: --force writes the "
                 "old one"
               : "someone else has changed it since";
  }
  return item.reason;
}

// The change's target decides; a coupled file that is not restored is reported.
ChangeAnswer answer_of(const Change& change, const Item& own, const Undoing& undoing,
                       const Story& story) {
  ChangeAnswer answer{change.id,    state_of(own), own.old,
                      std::nullopt, own.seen,      reason_of(own, story)};
  for (const std::string& path : change.coupled) {
    const Item* item = undoing.find(path);
    if (item == nullptr || item->state == State::back) continue;
    if (own.state == State::back) answer.state = state_of(*item);
    answer.reason.append(answer.reason.empty() ? "" : "; ")
        .append(path + " does not have its old value: " + reason_of(*item, story));
  }
  return answer;
}

// Always false.
bool say_lost(const Change& change, const Answers& answers) {
  const char* reason = "its old value is lost: the journal is damaged";
  answers.say(ChangeAnswer{change.id, "refused", {}, {}, {}, reason});
  return false;
}

bool undo_changes(const Machine& machine, Journal& journal, const Story& story,
                  const UndoOptions& options, const Answers& answers) {
  Undoing undoing(machine, journal, story, options.force);
  undoing.run();
  bool all = true;
  const auto& changes = story.request.changes;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    const Item* own = undoing.find(target_of(*change));
    if (own != nullptr && own->unbegun && own->state == State::back && !own->written) continue;
    if (own == nullptr) {
      if (story.damaged) all = say_lost(*change, answers);
      continue;
    }
    const ChangeAnswer answer = answer_of(*change, *own, undoing, story);
    const bool back = answer.state == "reverted" || answer.state == "already";
    all = all && back;
    if (!back || change->id != options.quiet) answers.say(answer);
  }
  return all;
}

bool undo_keep(const Machine& machine, Journal& journal, const Story& story, const Keep& keep,
               bool force, ChangeAnswer& answer) {
  const OldKeep& old = story.old_keeps.at(keep.path);
  const OldKeep now = read_drop_in(machine.root(), keep.path);
  const bool ours = now.there && now.text == keep.text;
  if (!same_drop_in(now, old) && !ours && !force && !story.in_hand.contains(keep.path)) {
    answer.state = "left";
    answer.seen = now.text;
    answer.reason = now.there ? "someone else has changed it since" : "someone has removed it";
    return false;
  }
  answer.state = same_drop_in(now, old) ? "already" : old.there ? "reverted" : "removed";
  journal.note(line::undo(keep.path));
  restore_drop_in(machine.root(), keep.path, old);
  if (!same_drop_in(read_drop_in(machine.root(), keep.path), old)) {
    throw Failure(keep.path + " was written, and something else stands there");
  }
  journal.note(line::undone(keep.path));
  return true;
}

// The file has this set's text, but no line of the journal shows that the set wrote it: the end of
// the journal is lost. Any other text does not belong to this set.
bool stands_unnamed(const Machine& machine, const Story& story, const Keep& keep) {
  const OldKeep now = read_drop_in(machine.root(), keep.path);
  return now.there && now.text == keep.text && !same_drop_in(now, story.old_keeps.at(keep.path));
}

}  // namespace

bool undo_keeps(const Machine& machine, Journal& journal, const Story& story, bool force,
                const Answers& answers) {
  bool all = true;
  const auto& keeps = story.request.keeps;
  for (auto keep = keeps.rbegin(); keep != keeps.rend(); ++keep) {
    if (!story.old_keeps.contains(keep->path)) continue;
    const bool named = story.kept.contains(keep->path);
    ChangeAnswer answer{keep->path, "refused", {}, {}, {}, {}};
    try {
      if (!named && !stands_unnamed(machine, story, *keep)) continue;
      if (named || force) {
        all = undo_keep(machine, journal, story, *keep, force, answer) && all;
      } else {
        answer.state = "left";
        answer.seen = keep->text;
        answer.reason =
            "the journal does not show who wrote this file: --force restores the old one";
        all = false;
      }
    } catch (const Failure& failure) {
      answer.state = "refused";
      answer.reason = failure.what();
      all = false;
    }
    answers.say(answer);
  }
  return all;
}

Phase undo_set(const Machine& machine, Journal& journal, const Story& story,
               const UndoOptions& options, const Answers& answers) {
  const bool keeps = undo_keeps(machine, journal, story, options.force, answers);
  const bool changes = undo_changes(machine, journal, story, options, answers);
  const bool known = !story.damaged || options.force;
  const Phase phase = keeps && changes && known ? Phase::reverted : Phase::partly;
  journal.note(line::phase(phase));
  return phase;
}

}  // namespace wireproof::tune
