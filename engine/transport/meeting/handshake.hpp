// Admission: every connection opens with one fixed-size greeting and gets one fixed-size answer.
// Anything else is a stranger (a port scanner, a process of another run, another version): it gets
// a refusal or is closed, and is never waited for.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {

inline constexpr std::size_t kGreetingBytes = 192;
inline constexpr std::size_t kAnswerBytes = 256;

enum class Purpose : int { meet = 1, data = 2, acknowledge = 3, control = 4 };

struct Greeting {
  Purpose purpose = Purpose::meet;
  int from = 0;   // rank that connects
  int to = 0;     // rank that it connects to
  int ranks = 0;  // size of the run
  std::string
      run;  // run id; for `meet` the launcher's run id from the environment, "" if it sets none
};

using GreetingBytes = std::array<std::byte, kGreetingBytes>;
GreetingBytes encode(const Greeting& greeting);
/// Nothing if the protocol word or a field is invalid.
std::optional<Greeting> decode(std::span<const std::byte, kGreetingBytes> bytes);

/// The greeting that the listening side accepts.
struct Expectation {
  int rank = 0;
  int ranks = 0;
  std::string run;
  std::vector<Purpose> purposes;
};
/// One sentence, or nothing if the greeting is accepted.
std::optional<std::string> refusal(const Greeting& greeting, const Expectation& expectation);

/// Sends the greeting and reads the answer. Throws Failure with the other side's sentence if it is
/// refused.
void introduce(const Socket& socket, const Greeting& greeting, Deadline deadline);

/// The listening side: accepts connections, lets each identify itself within a few seconds, and
/// drops strangers.
class Reception {
 public:
  Reception(Socket listener, Expectation expectation);

  struct Guest {
    Socket socket;
    Greeting greeting;
  };
  /// Returns the next accepted peer, which already has its answer; nothing at the deadline.
  std::optional<Guest> next(Deadline deadline);
  Address address() const { return listener_.local(); }
  void expect(Expectation expectation) { expectation_ = std::move(expectation); }
  int turned_away() const { return turned_away_; }

 private:
  struct Pending {
    Socket socket;
    GreetingBytes bytes{};
    std::size_t filled = 0;
    Deadline patience = 0;
  };

  void accept_all();
  bool read_some(Pending& pending);  // false: drop it
  std::optional<Guest> admit(Pending& pending);
  void sleep_until_activity(Deadline deadline);

  Socket listener_;
  Expectation expectation_;
  std::vector<Pending> pending_;
  int turned_away_ = 0;
};

}  // namespace wireproof::tcp
