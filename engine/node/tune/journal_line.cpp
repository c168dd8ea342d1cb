#include "node/tune/journal_line.hpp"

#include <cstdint>

#include "node/tune/journal.hpp"

namespace wireproof::tune {
namespace {

constexpr std::string_view kSum = " sum=";
constexpr std::size_t kDigits = 16;

// FNV-1a, 64 bits: it must detect a line that was cut or overwritten, not a forger, who would need
// access to root's folder.
std::string sum_of(std::string_view text) {
  constexpr char kHexadecimal[] = "0123456789abcdef";
  std::uint64_t sum = 14695981039346656037U;
  for (const char c : text) {
    sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += kHexadecimal[(sum >> shift) & 15U];
  return digits;
}

}  // namespace

std::string sealed(std::string_view statement) {
  return std::string(statement) + std::string(kSum) + sum_of(statement) + "\n";
}

std::optional<std::string_view> unsealed(std::string_view line) {
  if (line.size() < kSum.size() + kDigits) return std::nullopt;
  const std::string_view statement = line.substr(0, line.size() - kSum.size() - kDigits);
  const std::string_view tail = line.substr(statement.size());
  if (!tail.starts_with(kSum) || tail.substr(kSum.size()) != sum_of(statement)) return std::nullopt;
  return statement;
}

namespace line {

std::string timer(const TimerProcess& timer) {
  return sealed("timer" + field("pid", std::to_string(timer.pid)) +
                field("start", std::to_string(timer.start)));
}

std::string intent(const Change& change) { return sealed("intent" + field("id", change.id)); }

std::string seen(std::string_view target, std::string_view text) {
  return sealed("seen" + field("target", target) + field("text", text));
}

std::string done(const Change& change, std::string_view state) {
  return sealed("done" + field("id", change.id) + field("state", state));
}

std::string undo(std::string_view target) { return sealed("undo" + field("target", target)); }

std::string undone(std::string_view target) { return sealed("undone" + field("target", target)); }

std::string old_keep(const std::string& path, const OldKeep& old) {
  return sealed("old-keep" + field("path", path) + field("there", old.there ? "1" : "0") +
                field("folder", old.folder ? "1" : "0") + field("mode", std::to_string(old.mode)) +
                field("owner", std::to_string(old.owner)) +
                field("group", std::to_string(old.group)) + field("text", old.text));
}

std::string keeping(std::string_view path) { return sealed("keeping" + field("path", path)); }

std::string kept(std::string_view path) { return sealed("kept" + field("path", path)); }

std::string phase(Phase phase) { return sealed("phase" + field("name", name_of(phase))); }

}  // namespace line
}  // namespace wireproof::tune
