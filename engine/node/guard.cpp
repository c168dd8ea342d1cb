// `guard`: runs a job and leaves no process of it behind, whichever process dies first.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "commands.hpp"
#include "process_tree.hpp"
#include "system.hpp"

namespace wireproof {
namespace {

constexpr int kGraceMs = 2000;

struct Options {
  std::int64_t deadline_ms = 0;  // 0: none
  Fd control;
  Arguments command;
};

// A remote shell closes this when its connection ends; the job gets an empty standard input
// instead.
Fd take_standard_input() {
  Fd control(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!control.is_open() || !null.is_open() || dup2(null.get(), STDIN_FILENO) < 0) {
    fail_errno("guard: --control-stdin");
  }
  return control;
}

Options parse(const Arguments& arguments) {
  Options options;
  std::size_t i = 0;
  for (; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& name = arguments[i];
    if (name == "--control-stdin") {
      options.control = take_standard_input();
      continue;
    }
    if (++i == arguments.size()) throw Failure("guard: " + name + " has no value");
    if (name == "--deadline-ms") {
      options.deadline_ms = parse_number(name, arguments[i]);
    } else if (name == "--control-fd") {
      options.control = Fd(static_cast<int>(parse_number(name, arguments[i])));
      if (fcntl(options.control.get(), F_SETFD, FD_CLOEXEC) != 0) fail_errno("guard: " + name);
    } else {
      throw Failure("guard: unknown option " + name);
    }
  }
  if (i + 1 >= arguments.size())
    throw Failure("guard [--deadline-ms N] [--control-fd N | --control-stdin] -- COMMAND...");
  options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  return options;
}

pid_t start(const Options& options, const std::string& mark) {
  const pid_t job = fork();
  if (job < 0) fail_errno("guard: fork");
  if (job > 0) return job;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the last resort, if the guard itself is killed
  const std::size_t equals = mark.find('=');
  setenv(mark.substr(0, equals).c_str(), mark.substr(equals + 1).c_str(), 1);
  _exit(become(options.command, nullptr));
}

enum class End { kJob, kControl, kParent, kSignal, kDeadline };

struct Outcome {
  End end = End::kJob;
  int detail = 0;  // the job's wait status, or the signal
};

// True if the job itself has ended; other children are daemons that were reparented to the
// subreaper.
bool reap(pid_t job, int& status) {
  bool ended = false;
  int one = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &one, WNOHANG)) > 0;) {
    if (pid != job) continue;
    status = one;
    ended = true;
  }
  return ended;
}

Outcome watch(const Options& options, pid_t job, const Fd& signals, const Fd& parent) {
  const std::int64_t end = monotonic_ms() + options.deadline_ms;
  for (;;) {
    int patience = -1;
    if (options.deadline_ms > 0) {
      patience = static_cast<int>(std::clamp<std::int64_t>(end - monotonic_ms(), 0, 1 << 30));
      if (patience == 0) return {End::kDeadline, 0};
    }
    pollfd wanted[3] = {
        {signals.get(), POLLIN, 0}, {options.control.get(), POLLIN, 0}, {parent.get(), POLLIN, 0}};
    if (poll(wanted, 3, patience) < 0 && errno != EINTR) fail_errno("guard: poll");
    if (wanted[0].revents != 0) {
      const int number = next_signal(signals).number;
      int status = 0;
      if (reap(job, status)) return {End::kJob, status};
      if (number != 0 && number != SIGCHLD) return {End::kSignal, number};
    }
    char byte = 0;
    if (wanted[1].revents != 0 && read(options.control.get(), &byte, 1) <= 0)
      return {End::kControl, 0};
    if (wanted[2].revents != 0) return {End::kParent, 0};
  }
}

int exit_status(const Outcome& outcome) {
  switch (outcome.end) {
    case End::kJob:
      return shell_status(outcome.detail);
    case End::kDeadline:
      return kDeadlinePassed;
    case End::kSignal:
      return 128 + outcome.detail;
    case End::kControl:
    case End::kParent:
      break;
  }
  return 128 + SIGTERM;
}

}  // namespace

int guard(const Arguments& arguments) {
  const Options options = parse(arguments);
  const std::string mark = "WIREPROOF_GUARD=" + random_mark();
  const Fd parent = process_descriptor(getppid());
  if (!parent.is_open()) prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail_errno("guard: become a subreaper");
  setsid();  // fails for a group leader, which already has a group
  const Fd signals = signal_descriptor({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT});
  const pid_t job = start(options, mark);
  const Outcome outcome = watch(options, job, signals, parent);
  if (outcome.end == End::kDeadline) {
    std::fprintf(stderr,
                 "wireproof-node guard: the deadline of %lld ms has passed; the job is ended\n",
                 static_cast<long long>(options.deadline_ms));
  }
  if (!ProcessTree(getpid(), mark).terminate(kGraceMs)) {
    std::fprintf(
        stderr,
        "wireproof-node guard: a process of the job hangs in the kernel and outlived SIGKILL\n");
  }
  return exit_status(outcome);
}

}  // namespace wireproof
