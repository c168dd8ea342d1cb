#include "node/tune/answers.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/json_writer.hpp"

namespace wireproof::tune {
namespace {

void put(JsonWriter& writer, std::string_view key, const std::optional<std::string>& text) {
  if (!text) return;
  const bool ended = text->ends_with('\n');
  writer.field(key, std::string_view(*text).substr(0, text->size() - (ended ? 1 : 0)));
}

void put_reason(JsonWriter& writer, const std::string& reason) {
  if (!reason.empty()) writer.field("reason", reason);
}

}  // namespace

void Answers::say(const ChangeAnswer& answer) const {
  JsonWriter writer;
  writer.begin_object().field("frame", "change").field("id", answer.id);
  writer.field("state", answer.state);
  put(writer, "old", answer.old);
  put(writer, "wanted", answer.wanted);
  put(writer, "seen", answer.seen);
  put_reason(writer, answer.reason);
  writer.end_object();
  write_line(writer.take());
}

void Answers::say(const SetAnswer& answer) const {
  JsonWriter writer;
  writer.begin_object().field("frame", "set").field("id", answer.id);
  writer.field("state", answer.state).field("by", answer.by).field("since", answer.since);
  writer.key("deadline_s");
  if (answer.deadline_s) {
    writer.value(*answer.deadline_s);
  } else {
    writer.null();
  }
  writer.field("timer", answer.timer).field("boot", answer.boot);
  put_reason(writer, answer.reason);
  writer.end_object();
  write_line(writer.take());
}

void Answers::write_line(std::string line) const {
  line += '\n';
  for (std::string_view rest = line; descriptor_ >= 0 && !rest.empty();) {
    const ssize_t wrote = ::write(descriptor_, rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace wireproof::tune
