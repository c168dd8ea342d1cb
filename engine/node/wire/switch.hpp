// A store-and-forward switch as due times: the behaviour of the wire, without clock and devices.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "line.hpp"
#include "pool.hpp"

namespace wireproof::wire {

struct PortSettings {
  int domain = 0;   // ports of the same domain reach each other
  LineSettings tx;  // from the node to the switch
  LineSettings rx;  // from the switch to the node
  std::int64_t queue_bytes = 0;
};

// Counters of the switch for one port; tx and rx as seen by the node.
struct PortCounters {
  std::uint64_t tx_frames = 0;  // taken from the node, including those that the line then lost
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_frames = 0;  // handed to the node
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_lost = 0;  // by the planted loss
  std::uint64_t rx_lost = 0;
  std::uint64_t dropped = 0;  // at the tail of the queue towards the node
  std::uint64_t refused = 0;  // by the node's device, if it is down
};

class Switch {
 public:
  Switch(const std::vector<PortSettings>& ports, std::uint64_t seed, Pool& pool);

  // New rates, delays, losses and queues for the same ports.
  void set(const std::vector<PortSettings>& ports);

  std::size_t size() const { return ports_.size(); }
  PortCounters& counters(std::size_t port) { return ports_[port].counters; }

  // False while the node has sent so much, or so much is in flight, that the rest must stay in its
  // queue.
  bool may_take(std::size_t port, Nanoseconds now);

  // Time since the node last sent a frame.
  Nanoseconds idle_for(std::size_t port, Nanoseconds now) const;

  // The node begins to send `frame` at `now`. The switch owns the frame's buffer from here on.
  void take(std::size_t port, Nanoseconds now, Frame frame);

  // Forwards the frames that have arrived at the switch by `now`, in the order of their arrival.
  void advance(Nanoseconds now);

  // The next frame that has reached the node by `now`, and its due time. The caller must return its
  // buffer.
  struct Due {
    Frame frame;
    Nanoseconds at = 0;
  };
  std::optional<Due> next(std::size_t port, Nanoseconds now);

  // Number of frames in transit to the switch or to a node.
  std::size_t under_way() const;

  // When a frame may next be due at a node, if no new frame comes; nothing: never.
  std::optional<Nanoseconds> next_event() const;

 private:
  struct Port {
    PortSettings settings;
    Line tx;
    Line rx;
    std::deque<Due> arriving;    // on their way to the switch, by arrival
    std::deque<Due> delivering;  // on their way to the node, by due time
    PortCounters counters;
  };
  using Address = std::uint64_t;

  // The shortest time in which a frame at the switch can reach a node.
  Nanoseconds least_way_out(const Frame& frame) const;

  static Address address_at(const Frame& frame, std::size_t offset);
  std::size_t first_arrival() const;
  void forward(std::size_t from, Due due);
  void put_out(std::size_t to, const Due& due);
  std::optional<Frame> copy_of(const Frame& frame);

  std::vector<Port> ports_;
  std::int64_t fastest_way_out_ = 1;  // bits/s
  Pool& pool_;
  std::vector<std::unordered_map<Address, std::size_t>> known_;  // by domain
};

}  // namespace wireproof::wire
