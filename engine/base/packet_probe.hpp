// Finds a path that passes small packets and silently drops large ones (an MTU black hole): a
// switch port or a tunnel on the way has a smaller MTU than the hosts, and no router says so.
//
// Needs no right and no partner. Only if a TCP connection of this process has been stuck through
// several retransmissions are datagrams sent to a closed port of its peer: a packet that arrives is
// refused, and one that is dropped gets no answer.
#pragma once

#include <sys/socket.h>

namespace wireproof {

class PacketProbe {
 public:
  /// Looks at the connections of this process; sends nothing and returns at once unless one is
  /// stuck, else takes at most 0.6 s. True once three looks in a row found that packets of
  /// `passed()` bytes reach the peer and those of `dropped()` bytes do not. For looks at least a
  /// second apart, because a kernel answers only so often. Safe in a signal handler.
  bool look();

  const sockaddr_storage& peer() const { return peer_; }
  int passed() const { return passed_; }    ///< bytes with the IP header
  int dropped() const { return dropped_; }  ///< bytes with the IP header

 private:
  bool find_stuck();
  bool drops_large();
  bool answers(int bytes) const;

  sockaddr_storage own_{};
  sockaddr_storage peer_{};
  socklen_t length_ = 0;
  int descriptor_ = 0;  // of the connection in question
  int queued_ = 0;      // bytes that the peer has not acknowledged
  int passed_ = 0;
  int dropped_ = 0;
  int agreeing_ = 0;
};

}  // namespace wireproof
