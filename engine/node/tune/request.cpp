#include "node/tune/request.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text_split.hpp"
#include "node/tune/allowed.hpp"

namespace wireproof::tune {
namespace {

constexpr std::array<std::string_view, 2> kKinds = {"file", "command"};
constexpr std::array<std::string_view, 2> kForms = {"plain", "choice"};
constexpr std::size_t kMostChanges = 4096;
constexpr std::size_t kMostCoupled = 16;
constexpr std::size_t kLongestValue = 4096;
constexpr std::size_t kLongestName = 200;
constexpr int kLongestTimeout = 86400;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
}

// Names of changes are shown to people, so they are printable and without spaces.
std::string take_id(Statement& line) {
  std::string id = line.take("id").value_or("");
  if (id.empty() || id.size() > kLongestName || !is_printable(id) ||
      id.find(' ') != std::string::npos) {
    line.fail("id= needs 1 to 200 printable characters without blanks");
  }
  return id;
}

void refuse(Statement& line, const std::string& reason) {
  if (!reason.empty()) line.fail(reason);
}

void parse_file(Statement& line, Change& change) {
  change.path = line.take("path").value_or("");
  refuse(line, outside_settings(change.path));
  change.form = line.take_choice<Form>("form", kForms).value_or(Form::plain);
  change.coupled = line.take_list("coupled");
  if (change.coupled.size() > kMostCoupled) line.fail("coupled= names more than 16 files");
  for (const std::string& path : change.coupled) refuse(line, outside_settings(path));
}

void parse_command(Statement& line, Change& change) {
  change.read = line.take_list("read");
  change.write = line.take_list("write");
  change.section = line.take("section").value_or("");
  change.key = line.take("key").value_or("");
  if (change.key.empty() || !is_printable(change.key) || !is_printable(change.section)) {
    line.fail("a command needs key= of printable characters");
  }
  refuse(line, wrong_read(change.read));
  refuse(line, wrong_write(change.write));
  if (!is_restorable(change.value)) {
    line.fail("value=" + change.value + " is not one word that a command can be given");
  }
}

struct Names {
  std::set<std::string> ids;
  std::set<std::string> targets;
};

void add_change(Statement& line, Names& names, Request& request) {
  Change change = parse_change(line);
  if (!names.ids.insert(change.id).second) line.fail("the change " + change.id + " comes twice");
  if (!change.path.empty() && !names.targets.insert(change.path).second) {
    line.fail("the file " + change.path + " is changed twice");
  }
  if (request.changes.size() == kMostChanges) line.fail("a request has at most 4096 changes");
  request.changes.push_back(std::move(change));
}

void add_keep(Statement& line, Names& names, Request& request) {
  Keep keep = parse_keep(line);
  if (!names.targets.insert(keep.path).second) line.fail("the file " + keep.path + " comes twice");
  request.keeps.push_back(std::move(keep));
}

std::string list_field(std::string_view key, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text.append(text.empty() ? "" : ",").append(percent_encode(item));
  }
  return text.empty() ? "" : " " + std::string(key) + "=" + text;
}

std::string field(std::string_view key, std::string_view value) {
  return " " + std::string(key) + "=" + percent_encode(value);
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

Request parse_set(Statement& line) {
  Request request;
  request.id = line.take("id").value_or("");
  if (!is_name(request.id)) {
    line.fail("set needs id= of up to 64 letters, digits, '.', '_' and '-', not first a dot");
  }
  request.by = line.take("by").value_or("");
  if (request.by.size() > kLongestName || !is_printable(request.by)) {
    line.fail("by= takes at most 200 printable characters");
  }
  request.timeout_s = line.take_number<int>("timeout_s", 1, kLongestTimeout).value_or(600);
  request.patience_ms = line.take_number<int>("patience_ms", 50, 600'000).value_or(10'000);
  return request;
}

Change parse_change(Statement& line) {
  Change change = parse_written(line);
  if (change.kind == Change::Kind::command) {
    refuse(line, lossy_command(change.write, change.value));
    return change;
  }
  refuse(line, wrong_target(change.path));
  refuse(line, lossy_value(change.path, change.value));
  for (const std::string& path : change.coupled) refuse(line, wrong_target(path));
  return change;
}

Change parse_written(Statement& line) {
  Change change;
  change.id = take_id(line);
  const auto kind = line.take_choice<Change::Kind>("kind", kKinds);
  const auto value = line.take("value");
  if (!kind || !value || value->empty()) line.fail("change needs kind= and value=");
  if (value->size() > kLongestValue || !is_printable(*value)) {
    line.fail("value= takes at most 4096 printable characters");
  }
  change.kind = *kind;
  change.value = *value;
  if (*kind == Change::Kind::file) {
    parse_file(line, change);
  } else {
    parse_command(line, change);
  }
  line.finish();
  return change;
}

Keep parse_keep(Statement& line) {
  Keep keep{line.take("path").value_or(""), line.take("text").value_or("")};
  refuse(line, wrong_drop_in(keep.path));
  if (keep.text.empty() || keep.text.size() > kLongestText || !is_text(keep.text)) {
    line.fail("keep needs text= of at most 65536 bytes without control characters");
  }
  line.finish();
  return keep;
}

Request parse_request(std::string_view text) {
  Request request;
  Names names;
  if (text.size() > kLongestRequest) throw bad_plan("the request is longer than 1 MiB");
  int number = 0;
  while (const auto content = take_line(text)) {
    ++number;
    if (content->empty() || content->front() == '#') continue;
    Statement line(*content, number, "request");
    if ((line.keyword() == "set") != request.id.empty()) {
      line.fail("the first statement, and no other, is \"set\"");
    }
    if (line.keyword() == "set") {
      request = parse_set(line);
      line.finish();
    } else if (line.keyword() == "change") {
      add_change(line, names, request);
    } else if (line.keyword() == "keep") {
      add_keep(line, names, request);
    } else {
      line.fail("\"" + line.keyword() + "\" is unknown; known: set, change, keep");
    }
  }
  if (request.changes.empty() && request.keeps.empty()) {
    throw bad_plan("the request has neither a change nor a keep");
  }
  return request;
}

std::string set_statement(const Request& request) {
  return "set" + field("id", request.id) + field("by", request.by) +
         field("timeout_s", std::to_string(request.timeout_s)) +
         field("patience_ms", std::to_string(request.patience_ms));
}

std::string change_statement(const Change& change) {
  const bool file = change.kind == Change::Kind::file;
  std::string text = "change" + field("id", change.id) +
                     field("kind", kKinds[static_cast<std::size_t>(change.kind)]) +
                     field("value", change.value);
  if (file) {
    return text + field("path", change.path) +
           field("form", kForms[static_cast<std::size_t>(change.form)]) +
           list_field("coupled", change.coupled);
  }
  return text + list_field("read", change.read) + field("section", change.section) +
         field("key", change.key) + list_field("write", change.write);
}

std::string keep_statement(const Keep& keep) {
  return "keep" + field("path", keep.path) + field("text", keep.text);
}

}  // namespace wireproof::tune
