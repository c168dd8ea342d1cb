// One line of the journal: a statement and its checksum.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/statement.hpp"

namespace wireproof::tune {

// " key=value", encoded.
inline std::string field(std::string_view key, std::string_view value) {
  return " " + std::string(key) + "=" + percent_encode(value);
}

// The statement with its checksum and a newline.
std::string sealed(std::string_view statement);

// The statement of a line without its newline; nothing if the checksum is missing or wrong.
std::optional<std::string_view> unsealed(std::string_view line);

}  // namespace wireproof::tune
