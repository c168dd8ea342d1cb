#include "transport/meeting/agreement.hpp"

#include "base/bounded_file.hpp"
#include "base/text_split.hpp"

namespace wireproof::meeting {
namespace {

[[noreturn]] void rethrow(std::string_view word) {
  std::string_view left = word.substr(1);
  const std::uint64_t status = parse_unsigned(take_word(left)).value_or(0);
  const std::string code(take_word(left));
  left.remove_prefix(std::min(left.find_first_not_of(kBlanks), left.size()));
  throw Failure(static_cast<ExitStatus>(status), code, std::string(left));
}

}  // namespace

std::string refusal(const Failure& failure, int rank) {
  std::string sentence = "rank " + std::to_string(rank) + ": " + failure.what();
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  return "-" + std::to_string(static_cast<int>(failure.status())) + " " + failure.code() + " " +
         sentence;
}

std::vector<std::string> agreed(Group& group, const std::string& own) {
  std::string table;
  for (const std::string& word : group.gather(own)) table += word + "\n";
  group.broadcast(table);
  std::vector<std::string> words;
  std::string_view left = table;
  while (const auto line = take_line(left)) {
    if (line->starts_with('-')) rethrow(*line);
    words.emplace_back(line->substr(std::min<std::size_t>(1, line->size())));
  }
  return words;
}

}  // namespace wireproof::meeting
