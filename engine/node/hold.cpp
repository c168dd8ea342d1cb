// `hold`: the lab's supervisor, and each node's pid 1.
//
// One process owns the whole lab. It is pid 1 of a pid namespace in which all nodes are nested, so
// when it ends, by any signal, the kernel ends every process, mount, link and network namespace of
// the lab.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "commands.hpp"
#include "namespaces.hpp"
#include "session.hpp"
#include "wire/carry.hpp"

namespace wireproof {
namespace {

constexpr const char* kSwitch = "@switch";
constexpr const char* kWire = "@wire";
constexpr char kRelease = 'K';  // the creator sends this byte if the lab must outlive it
constexpr int kNice = -15;
constexpr int kLookMs = 100;

struct Options {
  std::string state;
  bool user_namespace = false;
  bool wire = false;
  Fd report;
  Fd control;
  std::vector<NodeSpec> nodes;

  std::string hosts_file() const { return state + "/hosts"; }
};

// --lab and --cookie are not read here; they are on the command line so that /proc/PID/cmdline
// identifies the process.
Options parse(const Arguments& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--user-namespace") {
      options.user_namespace = true;
      continue;
    }
    if (name == "--wire") {
      options.wire = true;
      continue;
    }
    if (i + 1 == arguments.size()) throw Failure("hold: " + name + " has no value");
    const std::string& value = arguments[++i];
    if (name == "--state") {
      options.state = value;
    } else if (name == "--report-fd") {
      options.report = Fd(static_cast<int>(parse_number(name, value)));
    } else if (name == "--control-fd") {
      options.control = Fd(static_cast<int>(parse_number(name, value)));
    } else if (name == "--node") {
      options.nodes.push_back(parse_node(value));
    } else if (name != "--lab" && name != "--cookie") {
      throw Failure("hold: unknown option " + name);
    }
  }
  if (options.state.empty() || !options.report.is_open() || !options.control.is_open()) {
    throw Failure("hold: --state, --report-fd and --control-fd are needed");
  }
  for (const Fd* descriptor : {&options.report, &options.control}) {
    fcntl(descriptor->get(), F_SETFD, FD_CLOEXEC);
  }
  return options;
}

// One datagram; the kernel attaches the sender's pid in the creator's namespace, which the sender
// cannot know.
void report(const Options& options, const std::string& text) {
  send(options.report.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// The nodes represent machines with separate processors but share this machine's with other
// processes, so processes in the nodes get priority over ordinary processes. False if that is not
// permitted.
bool run_first() { return setpriority(PRIO_PROCESS, 0, kNice) == 0; }

// Nice values are inherited, but many kernels share the cores among sessions, whatever the nice
// values in them (sched_autogroup_enabled), and launchers start a session for each rank. Nothing
// announces new sessions, so check periodically. /proc shows only the processes of the lab.
void raise_sessions() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0 || getsid(pid) != pid) continue;
    const std::string path = "/proc/" + std::to_string(pid) + "/autogroup";
    const Fd group(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (group.is_open()) dprintf(group.get(), "%d", kNice);
  }
}

[[noreturn]] void be_node(Options& options, const NodeSpec& node) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, ("lab-" + node.name).c_str());
  options.control.reset();
  const Fd signals = signal_descriptor({SIGCHLD, SIGTERM, SIGINT, SIGHUP});
  try {
    furnish(node, options.hosts_file());
  } catch (const Failure& failure) {
    report(options, "error node " + node.name + ": " + failure.what());
    _exit(kOwnFailure);
  }
  report(options, "ready " + node.name);
  options.report.reset();
  for (;;) {
    pollfd wanted{signals.get(), POLLIN, 0};
    poll(&wanted, 1, -1);
    const int number = next_signal(signals).number;
    if (number != 0 && number != SIGCHLD) _exit(0);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

// The switch of a lab whose links are TAP devices. Without it there are no links: they disappear
// with it.
[[noreturn]] void be_wire(Options& options, const NodePids& pids) {
  options.control.reset();
  try {
    wire::carry({options.state + "/wire", options.state + "/wire.status", pids}, [&options] {
      report(options, std::string("ready ") + kWire);
      options.report.reset();
    });
  } catch (const Failure& failure) {
    report(options, std::string("error ") + failure.what());
    _exit(kOwnFailure);
  }
  _exit(0);
}

Fd listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Failure("the path " + path + " is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.is_open() ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 128) != 0) {
    fail_errno("listen at " + path);
  }
  return listener;
}

class Supervisor {
 public:
  explicit Supervisor(Options& options) : options_(options) {}

  [[noreturn]] void run() {
    try {
      prctl(PR_SET_NAME, "lab-supervisor");
      signals_ = signal_descriptor({SIGCHLD, SIGTERM, SIGINT, SIGHUP});
      furnish({"switch", {"net", "uts", "ipc", "mount", "pid", "shm"}}, options_.hosts_file());
      listener_ = listen_at(options_.state + "/socket");
      first_ = run_first();
      report(options_, std::string("ready ") + kSwitch);
      pids_[kSwitch] = 0;
      for (const NodeSpec& node : options_.nodes) start(node);
      if (options_.wire) start_wire();
      options_.report.reset();
      for (;;) attend();
    } catch (const Failure& failure) {
      report(options_, std::string("error ") + failure.what());
      _exit(kOwnFailure);
    }
  }

 private:
  void start(const NodeSpec& node) {
    const pid_t pid = clone_into(node);
    if (pid == 0) {
      listener_.reset();
      signals_.reset();
      be_node(options_, node);
    }
    pids_[node.name] = pid;
    report(options_, "node " + node.name + " " + std::to_string(pid));
  }

  void start_wire() {
    const pid_t pid = fork();
    if (pid < 0) fail_errno("fork");
    if (pid > 0) return;
    listener_.reset();
    signals_.reset();
    be_wire(options_, pids_);
  }

  void attend() {
    pollfd wanted[3] = {{signals_.get(), POLLIN, 0},
                        {listener_.get(), POLLIN, 0},
                        {options_.control.get(), POLLIN, 0}};
    const bool looking = first_ && !sessions_.empty();
    if (poll(wanted, 3, looking ? kLookMs : -1) < 0) return;
    if (looking) raise_sessions();
    if (wanted[0].revents != 0) take_signal();
    if (wanted[1].revents != 0) take_caller();
    if (wanted[2].revents != 0) take_control();
  }

  void take_signal() {
    const int number = next_signal(signals_).number;
    if (number != 0 && number != SIGCHLD) _exit(0);
    for (pid_t pid = 0; (pid = waitpid(-1, nullptr, WNOHANG)) > 0;) {
      std::erase_if(pids_, [pid](const auto& entry) { return entry.second == pid; });
      sessions_.erase(pid);
    }
  }

  void take_caller() {
    Fd peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer.is_open()) return;
    if (const pid_t session = fork(); session != 0) {
      if (session > 0) sessions_.insert(session);
      return;
    }
    prctl(PR_SET_NAME, "lab-session");
    listener_.reset();
    signals_.reset();
    options_.control.reset();
    serve_session(std::move(peer), pids_, options_.hosts_file());
  }

  // End of file: the creator has exited, or died half-way. Anything it left in the state folder is
  // removed with the lab.
  void take_control() {
    char byte = 0;
    if (read(options_.control.get(), &byte, 1) == 1 && byte == kRelease) {
      options_.control.reset();
      return;
    }
    for (const char* name : {"/hosts", "/socket", "/lab.json", "/lab.json.new", "/wireproof-agent",
                             "/lock", "/wire", "/wire.new", "/wire.status"}) {
      unlink((options_.state + name).c_str());
    }
    rmdir((options_.state + "/etc").c_str());
    rmdir(options_.state.c_str());
    _exit(0);
  }

  Options& options_;
  Fd signals_;
  Fd listener_;
  NodePids pids_;
  std::set<pid_t> sessions_;
  bool first_ = false;
};

}  // namespace

// The started process has exited when this returns; the supervisor is its orphan and depends on no
// other process.
int hold(const Arguments& arguments) {
  Options options = parse(arguments);
  try {
    if (options.user_namespace) become_namespace_root();
    if (clone_into({kSwitch, {"net", "uts", "ipc", "mount", "pid"}}) == 0)
      Supervisor(options).run();
  } catch (const Failure& failure) {
    report(options, std::string("error ") + failure.what());
    return kOwnFailure;
  }
  return 0;
}

}  // namespace wireproof
