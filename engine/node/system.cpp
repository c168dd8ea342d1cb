#include "system.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace wireproof {

void fail_errno(const std::string& what) {
  const int cause = errno;
  throw Failure(what + ": " + std::strerror(cause));
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = other.release();
  }
  return *this;
}

int Fd::release() {
  const int number = number_;
  number_ = -1;
  return number;
}

void Fd::reset() {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

std::int64_t monotonic_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

std::string read_file(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char piece[4096];
  ssize_t got = 0;
  while (file.is_open() && (got = read(file.get(), piece, sizeof piece)) > 0) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

void write_file(const std::string& path, std::string_view text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) fail_errno("open " + path);
  if (write(file.get(), text.data(), text.size()) < 0) fail_errno("write " + path);
}

Fd signal_descriptor(const std::vector<int>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : signals) sigaddset(&set, number);
  if (sigprocmask(SIG_BLOCK, &set, nullptr) != 0) fail_errno("sigprocmask");
  Fd descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor.is_open()) fail_errno("signalfd");
  return descriptor;
}

Caught next_signal(const Fd& descriptor) {
  signalfd_siginfo info{};
  if (read(descriptor.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return {};
  return {static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

Fd process_descriptor(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U))); }

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int become(const std::vector<std::string>& arguments, const std::vector<std::string>* environment) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> variables;
  if (environment != nullptr) {
    for (const std::string& variable : *environment) {
      variables.push_back(const_cast<char*>(variable.c_str()));
    }
    variables.push_back(nullptr);
    environ = variables.data();
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  execvp(argv[0], argv.data());
  const int cause = errno;
  std::fprintf(stderr, "wireproof-node: cannot run %s: %s\n", argv[0], std::strerror(cause));
  return cause == ENOENT ? 127 : 126;
}

std::int64_t parse_number(std::string_view option, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw Failure(std::string(option) + " takes a number, not '" + std::string(text) + "'");
  }
  return value;
}

}  // namespace wireproof
