// The meeting place of the ranks of a tcp test, and the text of a failure.
#pragma once

#include <string>

#include "base/failure.hpp"
#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {

/// A port that was free a moment ago.
inline std::string free_meeting_point(const std::string& host = "127.0.0.1") {
  return listen_on(numeric_address(host, 0, "test")).local().text();
}

/// "code: sentence" of the Failure that `f` throws; "" if it throws none.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Failure& failure) {
    return failure.code() + ": " + failure.what();
  }
  return "";
}

}  // namespace wireproof::tcp
