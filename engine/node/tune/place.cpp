#include "node/tune/place.hpp"

#include <unistd.h>

#include <climits>

namespace wireproof::tune {

std::string place_of(int descriptor, const std::string& root) {
  char text[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), text, sizeof text);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof text)) return "";
  std::string place(text, static_cast<std::size_t>(length));
  if (root == "/") return place;
  return place.starts_with(root + "/") ? place.substr(root.size()) : "";
}

}  // namespace wireproof::tune
