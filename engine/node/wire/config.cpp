#include "config.hpp"

#include "base/text_split.hpp"
#include "node/system.hpp"

namespace wireproof::wire {
namespace {

constexpr double kBillion = 1e9;
constexpr std::int64_t kLargestMtu = 65535;
constexpr std::int64_t kMostDomains = 1024;

bool set_line(LineSettings& line, std::string_view name, std::int64_t value) {
  if (name == "rate") {
    line.bits_per_s = value;
  } else if (name == "delay") {
    line.delay = value;
  } else if (name == "loss") {
    line.loss = static_cast<double>(value) / kBillion;
  } else {
    return false;
  }
  return true;
}

bool set_port(PortConfig& port, std::string_view name, std::int64_t value) {
  if (name == "domain") {
    port.settings.domain = static_cast<int>(value);
  } else if (name == "mtu") {
    port.mtu = value;
  } else if (name == "queue") {
    port.settings.queue_bytes = value;
  } else if (name.starts_with("tx_")) {
    return set_line(port.settings.tx, name.substr(3), value);
  } else if (name.starts_with("rx_")) {
    return set_line(port.settings.rx, name.substr(3), value);
  } else {
    return false;
  }
  return true;
}

PortConfig parse_port(std::string_view line) {
  PortConfig port;
  port.node = take_word(line);
  port.device = take_word(line);
  for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    if (equals == std::string_view::npos ||
        !set_port(port, name, parse_number(name, word.substr(equals + 1)))) {
      throw Failure("wire: '" + std::string(word) + "' is no setting of a port");
    }
  }
  const auto& [domain, tx, rx, queue] = port.settings;
  if (port.device.empty() || tx.bits_per_s < 1 || rx.bits_per_s < 1 || port.mtu < 1 ||
      port.mtu > kLargestMtu || domain >= kMostDomains || queue < 1) {
    throw Failure("wire: port '" + port.node + " " + port.device +
                  "' needs a device, rates, an mtu and a queue");
  }
  return port;
}

}  // namespace

std::vector<PortSettings> Config::settings() const {
  std::vector<PortSettings> all;
  for (const PortConfig& port : ports) all.push_back(port.settings);
  return all;
}

Config parse_config(std::string_view text) {
  Config config;
  while (auto line = take_line(text)) {
    const auto word = take_word(*line);
    if (word == "port") {
      config.ports.push_back(parse_port(*line));
    } else if (word == "revision") {
      config.revision = parse_number(word, take_word(*line));
    } else if (word == "seed") {
      config.seed = static_cast<std::uint64_t>(parse_number(word, take_word(*line)));
    } else if (word == "late_ns") {
      config.late = parse_number(word, take_word(*line));
    } else if (!word.empty()) {
      throw Failure("wire: '" + std::string(word) + "' is no line of a wire's file");
    }
  }
  if (config.ports.empty()) throw Failure("wire: the file names no port");
  return config;
}

}  // namespace wireproof::wire
