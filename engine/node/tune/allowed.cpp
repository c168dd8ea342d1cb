#include "node/tune/allowed.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace wireproof::tune {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kLongestPath = 4096;

// The rows that the plan also reads.
namespace why {
#define TUNE_WHY(name, text) constexpr std::string_view name = text;
#include <wireproof/tune/allowed.def>
}  // namespace why
constexpr std::string_view kNever[] = {
#define TUNE_NEVER(text) text,
#include <wireproof/tune/allowed.def>
};
constexpr std::string_view kNeverNamed[] = {
#define TUNE_NEVER_NAMED(text) text,
#include <wireproof/tune/allowed.def>
};
constexpr std::string_view kOfAllInterfaces[] = {
#define TUNE_OF_ALL(text) text,
#include <wireproof/tune/allowed.def>
};
constexpr std::string_view kEthtoolShows[] = {
#define TUNE_ETHTOOL_SHOWS(text) text,
#include <wireproof/tune/allowed.def>
};
constexpr std::string_view kEthtoolSets[] = {
#define TUNE_ETHTOOL_SETS(text) text,
#include <wireproof/tune/allowed.def>
};
constexpr std::string_view kLinkAttributes[] = {
#define TUNE_LINK_ATTRIBUTE(text) text,
#include <wireproof/tune/allowed.def>
};
constexpr std::string_view kTcVerbs[] = {
#define TUNE_TC_VERB(text) text,
#include <wireproof/tune/allowed.def>
};

constexpr std::string_view kDropInFolders[] = {"/etc/sysctl.d/",       "/etc/modprobe.d/",
                                               "/etc/tmpfiles.d/",     "/etc/udev/rules.d/",
                                               "/etc/systemd/system/", "/etc/security/limits.d/"};

constexpr std::string_view kPtrace = "/proc/sys/kernel/yama/ptrace_scope";
constexpr std::string_view kIpv6 = "/proc/sys/net/ipv6/conf/";
constexpr unsigned long kLeastMtu =
    1280;  // RFC 8200, section 5: the kernel stops IPv6 on the interface below

template <std::size_t N>
bool holds(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// Absolute, without empty parts, "." and "..", without control characters.
bool is_plain_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > kLongestPath) return false;
  if (!is_text(path) || path.find_first_of("\n\t") != std::string_view::npos) return false;
  for (std::string_view rest = path; !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    rest.remove_prefix(part.size());
  }
  return true;
}

std::string not_allowed(std::string_view path, std::string_view why) {
  std::string shown(path.substr(0, 200));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c >= 127; }, '?');
  return "\"" + shown + "\" " + std::string(why);
}

bool is_name_of_device(std::string_view word) {
  return !word.empty() && word.size() <= 15 && word.front() != '-' &&
         std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < 127; });
}

// No word may be an option: -batch of ip and tc reads more commands from a file.
bool are_words(const Texts& argv, std::size_t from) {
  return std::all_of(argv.begin() + static_cast<std::ptrdiff_t>(std::min(from, argv.size())),
                     argv.end(), [](const std::string& word) {
                       return !word.empty() && word.size() <= 200 && word.front() != '-' &&
                              std::all_of(word.begin(), word.end(),
                                          [](char c) { return c > ' ' && c < 127; });
                     });
}

std::size_t skip_device(const Texts& argv, std::size_t at) {
  if (at < argv.size() && argv[at] == "dev") ++at;
  return at < argv.size() && is_name_of_device(argv[at]) ? at + 1 : 0;
}

bool shows_link(const Texts& argv) {
  std::size_t at = 1;
  while (at < argv.size() && (argv[at] == "-d" || argv[at] == "-o")) ++at;
  if (at + 1 >= argv.size() || argv[at] != "link" || argv[at + 1] != "show") return false;
  return skip_device(argv, at + 2) == argv.size();
}

bool sets_link(const Texts& argv) {
  if (argv.size() < 3 || argv[1] != "link" || argv[2] != "set") return false;
  const std::size_t at = skip_device(argv, 3);
  return at != 0 && at + 2 == argv.size() && holds(kLinkAttributes, argv[at]) &&
         argv[at + 1] == "{value}";
}

bool is_tc(const Texts& argv, std::size_t verb) {
  if (argv.size() < verb + 3 || (argv[verb - 1] != "qdisc" && argv[verb - 1] != "class"))
    return false;
  return argv[verb + 1] == "dev" && is_name_of_device(argv[verb + 2]) && are_words(argv, verb + 3);
}

bool shows_queue(const Texts& argv) {
  const std::size_t verb = argv.size() > 1 && argv[1] == "-d" ? 3 : 2;
  return argv.size() > verb && argv[verb] == "show" && is_tc(argv, verb);
}

bool sets_queue(const Texts& argv) {
  return argv.size() > 2 && holds(kTcVerbs, argv[2]) && is_tc(argv, 2);
}

std::string command_line(const Texts& argv) {
  std::string line;
  for (const std::string& word : argv) line.append(line.empty() ? "" : " ").append(word);
  return line;
}

std::string_view last_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Runtime power management: with any other value the kernel may suspend the device.
bool may_sleep(std::string_view path, std::string_view value) {
  if (!path.starts_with("/sys/") || value == "on") return false;
  const std::string_view name = last_of(path);
  const std::string_view folder = last_of(path.substr(0, path.rfind('/')));
  return folder == "power" && (name == "control" || name == "level");
}

// Yama's largest value cannot be lowered until the next boot
// (Documentation/admin-guide/LSM/Yama.rst).
bool locks(std::string_view value) {
  return std::strtoul(std::string(value).c_str(), nullptr, 0) >= 3;
}

std::string low_mtu(std::string_view what, std::string_view value) {
  const std::string text(value);
  char* end = nullptr;
  const unsigned long mtu = std::strtoul(text.c_str(), &end, 0);  // as the kernel reads it
  // the kernel refuses anything that is not a number
  if (end == text.c_str() || mtu >= kLeastMtu) return "";
  return not_allowed(what, why::low_mtu);
}

}  // namespace

bool is_text(std::string_view text) {
  std::size_t follow = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (follow > 0) {
      if ((byte & 0xC0U) != 0x80U) return false;
      --follow;
    } else if (byte >= 0x80U) {
      if (byte < 0xC2U || byte > 0xF4U) return false;
      follow = byte >= 0xF0U ? 3 : byte >= 0xE0U ? 2 : 1;
    } else if ((byte < ' ' && c != '\n' && c != '\t') || byte == 127) {
      return false;
    }
  }
  return follow == 0;
}

std::string outside_settings(std::string_view path) {
  if (!is_plain_path(path)) {
    return not_allowed(path, "is no absolute path without \"..\" and control characters");
  }
  const bool below = path.starts_with("/proc/sys/") || path.starts_with("/sys/");
  return below ? "" : not_allowed(path, why::not_below);
}

std::string wrong_target(std::string_view path) {
  if (std::string why = outside_settings(path); !why.empty()) return why;
  for (const std::string_view never : kNever) {
    const bool folder = never.ends_with('/');
    if (folder ? path.starts_with(never) : path == never) {
      return not_allowed(path, why::no_setting);
    }
  }
  if (path.starts_with("/sys/") && holds(kNeverNamed, last_of(path))) {
    return not_allowed(path, why::takes_device);
  }
  return "";
}

std::string lossy_value(std::string_view path, std::string_view value) {
  if (holds(kOfAllInterfaces, path)) {
    return not_allowed(path, why::of_all);
  }
  if (may_sleep(path, value)) return not_allowed(path, why::may_sleep);
  if (path == kPtrace && locks(value)) return not_allowed(path, why::locks);
  const std::string_view name = last_of(path);
  if (path.starts_with(kIpv6) && !path.substr(kIpv6.size()).starts_with("default/")) {
    if (name == "addr_gen_mode") return not_allowed(path, why::adds_ipv6);
    if ((name == "disable_ipv6" || name == "forwarding") && value != "0") {
      return not_allowed(path, why::removes_ipv6);
    }
  }
  return name == "mtu" ? low_mtu(path, value) : "";
}

std::string lossy_command(const Texts& argv, std::string_view value) {
  if (argv.empty() || argv[0] != "ip" || argv[argv.size() - 2] != "mtu") return "";
  return low_mtu(command_line(argv), value);
}

std::string wrong_drop_in(std::string_view path) {
  if (!is_plain_path(path)) {
    return not_allowed(path, "is no absolute path without \"..\" and control characters");
  }
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  const std::string_view name = path.substr(folder.size());
  if (!holds(kDropInFolders, folder)) {
    return not_allowed(path,
                       "is in none of /etc/{sysctl.d,modprobe.d,tmpfiles.d,udev/rules.d,"
                       "security/limits.d,systemd/system}");
  }
  const bool safe = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._@-").find(c) != std::string_view::npos;
  });
  if (!safe || name.front() == '.' || name.size() > 100 ||
      name.find("wireproof") == std::string_view::npos) {
    return not_allowed(path, "is no file of ours: its name has no \"wireproof\"");
  }
  return "";
}

std::string wrong_read(const Texts& argv) {
  const bool known = !argv.empty() && ((argv[0] == "ethtool" && argv.size() == 3 &&
                                        holds(kEthtoolShows, argv[1]) && are_words(argv, 2)) ||
                                       (argv[0] == "ip" && shows_link(argv)) ||
                                       (argv[0] == "tc" && shows_queue(argv)));
  if (known) return "";
  return not_allowed(command_line(argv), why::no_show);
}

std::string wrong_write(const Texts& argv) {
  const bool known = !argv.empty() && ((argv[0] == "ethtool" && argv.size() >= 4 &&
                                        holds(kEthtoolSets, argv[1]) && are_words(argv, 2)) ||
                                       (argv[0] == "ip" && sets_link(argv)) ||
                                       (argv[0] == "tc" && sets_queue(argv)));
  if (!known) {
    return not_allowed(command_line(argv), why::no_set);
  }
  const bool has_value = std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    return word.find("{value}") != std::string::npos;
  });
  return has_value ? "" : not_allowed(command_line(argv), why::no_value);
}

bool is_restorable(std::string_view value) {
  return !value.empty() && value.size() <= 64 && value.front() != '-' &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view("._:+-").find(c) != std::string_view::npos;
         });
}

}  // namespace wireproof::tune
