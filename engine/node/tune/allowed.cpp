#include "node/tune/allowed.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace wireproof::tune {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kLongestPath = 4096;

// Files that take a program, code or a machine's end instead of a setting.
constexpr std::string_view kNever[] = {
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hotplug",
    "/proc/sys/kernel/kexec_load_disabled",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/modules_disabled",
    "/proc/sys/kernel/poweroff_cmd",
    "/proc/sys/kernel/usermodehelper/",
    "/proc/sys/fs/binfmt_misc/",
    "/sys/devices/system/memory/",
    "/sys/firmware/",
    "/sys/fs/bpf/",
    "/sys/fs/cgroup/",
    "/sys/fs/selinux/",
    "/sys/kernel/debug/",
    "/sys/kernel/livepatch/",
    "/sys/kernel/reboot/",
    "/sys/kernel/security/",
    "/sys/kernel/tracing/",
    "/sys/kernel/uevent_helper",
    "/sys/power/",
};
// Last components of files in /sys that take a device or its driver away.
constexpr std::string_view kNeverNamed[] = {
    "bind",          "bonding_masters", "carrier", "delete", "driver_override",
    "drivers_probe", "flags",           "new_id",  "online", "proto_down",
    "remove",        "remove_id",       "rescan",  "reset",  "rom",
    "slaves",        "sriov_numvfs",    "uevent",  "unbind"};

constexpr std::string_view kDropInFolders[] = {"/etc/sysctl.d/",       "/etc/modprobe.d/",
                                               "/etc/tmpfiles.d/",     "/etc/udev/rules.d/",
                                               "/etc/systemd/system/", "/etc/security/limits.d/"};

constexpr std::string_view kEthtoolShows[] = {
    "-g",           "--show-ring",     "-c",         "--show-coalesce",   "-k",
    "-a",           "--show-features", "-l",         "--show-offload",    "-x",
    "--show-pause", "--show-channels", "--show-fec", "--show-priv-flags", "--show-eee"};
constexpr std::string_view kEthtoolSets[] = {
    "-G",         "--set-ring", "-C",        "--coalesce",       "-K",      "-A",
    "--features", "-L",         "--offload", "--set-priv-flags", "--pause", "--set-channels",
    "--set-fec",  "-s",         "--change",  "--set-eee"};
constexpr std::string_view kLinkAttributes[] = {"mtu",
                                                "txqueuelen",
                                                "txqlen",
                                                "gso_max_size",
                                                "gso_max_segs",
                                                "gro_max_size",
                                                "gso_ipv4_max_size",
                                                "gro_ipv4_max_size",
                                                "allmulticast"};
constexpr std::string_view kTcVerbs[] = {"add", "change", "replace"};

// A write changes the value of every interface (devinet_sysctl_forward, addrconf_sysctl_forward).
constexpr std::string_view kOfAllInterfaces[] = {
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/net/ipv4/conf/all/forwarding",
    "/proc/sys/net/ipv6/conf/all/forwarding",
    "/proc/sys/net/ipv6/conf/all/disable_ipv6",
    "/proc/sys/net/ipv6/conf/all/addr_gen_mode",
    "/proc/sys/net/ipv6/conf/all/force_forwarding",
    "/proc/sys/net/ipv6/conf/all/ignore_routes_with_linkdown"};
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

// No option among the words: -batch of ip and tc reads more commands from a file.
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

std::string low_mtu(std::string_view what, std::string_view value) {
  const std::string text(value);
  char* end = nullptr;
  const unsigned long mtu = std::strtoul(text.c_str(), &end, 0);  // as the kernel reads it
  if (end == text.c_str() || mtu >= kLeastMtu) return "";         // what is no number it refuses
  return not_allowed(what,
                     "with an MTU below 1280 removes IPv6 addresses and routes, which cannot"
                     " be restored");
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

std::string wrong_place(std::string_view path) {
  if (!path.starts_with("/proc/sys/") && !path.starts_with("/sys/")) {
    return not_allowed(path, "is not below /proc/sys or /sys");
  }
  for (const std::string_view never : kNever) {
    const bool folder = never.ends_with('/');
    if (folder ? path.starts_with(never) : path == never) {
      return not_allowed(path, "is no setting: tune never writes there");
    }
  }
  if (path.starts_with("/sys/") && holds(kNeverNamed, path.substr(path.rfind('/') + 1))) {
    return not_allowed(path, "takes a device or its driver away: tune never writes there");
  }
  return "";
}

std::string wrong_target(std::string_view path) {
  if (!is_plain_path(path)) {
    return not_allowed(path, "is no absolute path without \"..\" and control characters");
  }
  return wrong_place(path);
}

std::string lossy_value(std::string_view path, std::string_view value) {
  if (holds(kOfAllInterfaces, path)) {
    return not_allowed(path,
                       "changes every interface, and their own values cannot all be restored");
  }
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (path.starts_with(kIpv6) && !path.substr(kIpv6.size()).starts_with("default/")) {
    if (name == "addr_gen_mode") return not_allowed(path, "adds IPv6 addresses, which would stay");
    if ((name == "disable_ipv6" || name == "forwarding") && value != "0") {
      return not_allowed(path, "removes IPv6 addresses or routes, which cannot be restored");
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
  return not_allowed(command_line(argv), "is no command of ethtool, ip or tc that shows a setting");
}

std::string wrong_write(const Texts& argv) {
  const bool known = !argv.empty() && ((argv[0] == "ethtool" && argv.size() >= 4 &&
                                        holds(kEthtoolSets, argv[1]) && are_words(argv, 2)) ||
                                       (argv[0] == "ip" && sets_link(argv)) ||
                                       (argv[0] == "tc" && sets_queue(argv)));
  if (!known) {
    return not_allowed(command_line(argv), "is no command of ethtool, ip or tc that sets a value");
  }
  const bool has_value = std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    return word.find("{value}") != std::string::npos;
  });
  return has_value ? "" : not_allowed(command_line(argv), "has no {value}");
}

bool is_restorable(std::string_view value) {
  return !value.empty() && value.size() <= 64 && value.front() != '-' &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view("._:+-").find(c) != std::string_view::npos;
         });
}

}  // namespace wireproof::tune
