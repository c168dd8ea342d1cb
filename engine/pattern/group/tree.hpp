// Control among the members of a group, over any link's control messages: a binomial tree with
// member 0 at its root, so that no member talks to more than log2(members) others.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "transport/group_concept.hpp"

namespace wireproof::tree {

template <GroupLink L>
void broadcast(L& link, std::span<std::byte> bytes) {
  const int self = link.member();
  int bit = 1;
  for (; bit < link.members(); bit <<= 1) {
    if ((self & bit) == 0) continue;
    link.recv_control(self - bit, bytes);
    break;
  }
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (self + bit < link.members()) link.send_control(self + bit, bytes);
  }
}

/// `combine(mine, theirs)` at every inner member; the result is at member 0.
template <GroupLink L, class Combine>
void reduce(L& link, std::span<double> values, Combine combine) {
  const int self = link.member();
  std::vector<double> theirs(values.size());
  for (int bit = 1; bit < link.members(); bit <<= 1) {
    if ((self & bit) != 0) {
      link.send_control(self - bit, std::as_bytes(values));
      return;
    }
    if (self + bit >= link.members()) continue;
    link.recv_control(self + bit, std::as_writable_bytes(std::span(theirs)));
    std::transform(values.begin(), values.end(), theirs.begin(), values.begin(), combine);
  }
}

/// A subtree contains successive members, so their values stay in order.
template <GroupLink L>
std::vector<double> gather(L& link, double value) {
  const int self = link.member();
  std::vector<double> values{value};
  for (int bit = 1; bit < link.members(); bit <<= 1) {
    if ((self & bit) != 0) {
      link.send_control(self - bit, std::as_bytes(std::span(values)));
      return {};
    }
    if (self + bit >= link.members()) continue;
    const std::size_t held = values.size();
    values.resize(held + static_cast<std::size_t>(std::min(bit, link.members() - self - bit)));
    link.recv_control(self + bit, std::as_writable_bytes(std::span(values).subspan(held)));
  }
  return values;
}

}  // namespace wireproof::tree
