#include "transport/ofi/word.hpp"

#include <sys/stat.h>

#include <optional>

#include "base/bounded_file.hpp"
#include "base/failure.hpp"
#include "base/text_split.hpp"

namespace wireproof::ofi {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kNothing = "-";

std::string in_hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::optional<std::string> from_hexadecimal(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = kDigits.find(text[i]);
    const std::size_t low = kDigits.find(text[i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string or_nothing(const std::string& word) {
  return word.empty() ? std::string(kNothing) : word;
}

std::string described(const Word& word) {
  return "provider " + word.provider + " (protocol " + std::to_string(word.protocol) + "." +
         std::to_string(word.protocol_version) + ", address format " + std::to_string(word.format) +
         ", " + (word.completion.empty() ? "its own" : word.completion) + " completion" +
         (word.remote.empty() ? "" : ", remote writes by " + word.remote) + ")";
}

bool fits(const Word& one, const Word& other) {
  return one.provider == other.provider && one.protocol == other.protocol &&
         one.protocol_version == other.protocol_version && one.format == other.format &&
         one.messages == other.messages && one.completion == other.completion &&
         one.remote == other.remote;
}

}  // namespace

std::string Word::line() const {
  return or_nothing(provider) + " " + std::to_string(protocol) + " " +
         std::to_string(protocol_version) + " " + std::to_string(format) + " " +
         or_nothing(messages) + " " + or_nothing(completion) + " " + or_nothing(remote) + " " +
         or_nothing(memory) + " " + in_hexadecimal(address);
}

Word Word::read(std::string_view line) {
  const auto number = [&line] { return parse_unsigned(take_word(line)); };
  Word word;
  word.provider = take_word(line);
  const auto protocol = number();
  const auto protocol_version = number();
  const auto format = number();
  for (std::string* const text : {&word.messages, &word.completion, &word.remote, &word.memory}) {
    *text = take_word(line);
    if (*text == kNothing) text->clear();
  }
  const auto address = from_hexadecimal(take_word(line));
  if (!protocol || !protocol_version || !format || !address || !take_word(line).empty()) {
    throw cannot_measure("ofi-garbled", "a rank sent no endpoint's address");
  }
  word.protocol = static_cast<int>(*protocol);
  word.protocol_version = static_cast<int>(*protocol_version);
  word.format = static_cast<int>(*format);
  word.address = *address;
  return word;
}

std::string shared_memory(std::string_view provider) {
  if (provider.substr(0, provider.find(';')) != "shm") return "";
  struct stat folder {};
  if (::stat("/dev/shm", &folder) != 0) return "none";
  return read_line("/proc/sys/kernel/random/boot_id") + ":" + std::to_string(folder.st_dev) + ":" +
         std::to_string(folder.st_ino);
}

void check_alike(const std::vector<Word>& words) {
  for (std::size_t rank = 1; rank < words.size(); ++rank) {
    if (words[0].memory != words[rank].memory) {
      throw cannot_measure(
          "ofi-disagree", "provider " + words[0].provider +
                              " reaches one machine's memory, and rank " + std::to_string(rank) +
                              " is not where rank 0 is: choose a provider that leaves the machine");
    }
    if (fits(words[0], words[rank])) continue;
    throw cannot_measure("ofi-disagree", "rank 0 has " + described(words[0]) + " and rank " +
                                             std::to_string(rank) + " has " +
                                             described(words[rank]) +
                                             ": give all ranks one --provider of one libfabric");
  }
}

}  // namespace wireproof::ofi
