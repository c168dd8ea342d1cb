#include "measure/watch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/version.hpp"
#include "host/gather.hpp"
#include "measure/watch_writer.hpp"
#include "record/frame_sink.hpp"

namespace wireproof {
namespace {

using witness::Depth;

constexpr std::int64_t kLongestIntervalMs = 60'000;
constexpr std::int64_t kMostSeconds = 30LL * 24 * 3600;
constexpr std::int64_t kNsPerMs = 1'000'000;

std::int64_t to_number(std::string_view option, std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 1 || number > most) {
    throw bad_plan(std::string(option) + " " + std::string(text) +
                   " is not a whole number from 1 to " + std::to_string(most));
  }
  return number;
}

std::string hello(const witness::Reader& reader, const WatchOptions& options) {
  JsonWriter json;
  json.begin_object().field("frame", "watch").field("schema", 1);
  json.field("engine", kVersion).field("interval_ms", options.interval_ms);
  json.field("t_ns", monotonic_ns()).field("unix_ns", unix_ns());
  json.field("foreign_sysfs", reader.foreign_sysfs());
  host::write_fields(json, host::gather(Tree(options.root)));
  return json.end_object().take();
}

/// Lines that request a reading; nothing if standard input has ended.
std::optional<int> asked_for() {
  char text[4096];
  ssize_t got = 0;
  do got = ::read(STDIN_FILENO, text, sizeof text);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  return static_cast<int>(std::count(text, text + got, '\n'));
}

/// Waits until standard input has data (true) or the time is reached (false).
bool wait_until(std::int64_t moment_ns) {
  for (;;) {
    const std::int64_t left_ns = moment_ns - monotonic_ns();
    if (left_ns <= 0) return false;
    pollfd wanted = {STDIN_FILENO, POLLIN, 0};
    const timespec patience = {left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    const int found = ::ppoll(&wanted, 1, &patience, nullptr);
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return true;
  }
}

class Watch {
 public:
  Watch(witness::Reader& reader, const WatchOptions& options)
      : reader_(reader),
        writer_(reader),
        interval_ns_(options.interval_ms * kNsPerMs),
        end_ns_(monotonic_ns() + options.seconds * 1'000'000'000) {}

  void run() {
    if (!write_reading(Depth::everything, 0)) return;
    std::int64_t next_ns = monotonic_ns() + interval_ns_;
    while (next_ns < end_ns_) {
      if (wait_until(next_ns)) {
        if (!obey()) return;
        continue;
      }
      if (!write_reading(Depth::bytes, 0)) return;
      // A late reading does not delay the next one, which comes at its own time; missed readings
      // are left out.
      const std::int64_t missed = (monotonic_ns() - next_ns) / interval_ns_;
      next_ns += (missed + 1) * interval_ns_;
    }
  }

 private:
  bool obey() {
    const auto lines = asked_for();
    if (!lines) return false;
    for (int line = 0; line < *lines; ++line) {
      if (!write_reading(Depth::everything, ++asked_)) return false;
    }
    return true;
  }

  bool write_reading(Depth depth, int asked) {
    const std::string line = writer_.reading(reader_.read(depth), depth, asked) + '\n';
    return write_all(STDOUT_FILENO, line);
  }

  witness::Reader& reader_;
  WatchWriter writer_;
  const std::int64_t interval_ns_;
  const std::int64_t end_ns_;
  int asked_ = 0;
};

}  // namespace

WatchOptions parse_watch_options(int argc, char** argv) {
  WatchOptions options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) throw bad_plan("watch: " + std::string(name) + " needs a value");
    if (name == "--interval-ms") {
      options.interval_ms = to_number(name, argv[i + 1], kLongestIntervalMs);
    } else if (name == "--seconds") {
      options.seconds = to_number(name, argv[i + 1], kMostSeconds);
    } else if (name == "--root") {
      options.root = argv[i + 1];
      if (!Tree(options.root).is_folder("."))
        throw bad_plan("watch: --root " + options.root + " is not a folder");
    } else {
      throw bad_plan("watch: '" + std::string(name) +
                     "' is not understood; write watch "
                     "[--interval-ms N] [--seconds N] [--root DIR]");
    }
  }
  return options;
}

int watch_main(int argc, char** argv) {
  const WatchOptions options = parse_watch_options(argc, argv);
  ::signal(SIGPIPE, SIG_IGN);  // the end of the reader, not a signal, ends the watch
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  witness::Reader reader(options.root, /*protocols=*/true);
  if (write_all(STDOUT_FILENO, hello(reader, options) + '\n')) Watch(reader, options).run();
  return static_cast<int>(ExitStatus::ok);
}

}  // namespace wireproof
