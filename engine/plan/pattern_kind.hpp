// What follows from a pattern's name: which forms it has, which way its payload goes, what one
// operation is.
#pragma once

#include "plan/plan.hpp"

namespace wireproof {

/// The origin works in the target's exposed memory.
constexpr bool is_remote(Pattern pattern) {
  using enum Pattern;
  return pattern == put || pattern == get || pattern == accumulate || pattern == fetch_and_op ||
         pattern == compare_and_swap;
}

/// On one word of 64 bits, and its old value comes back: no other size, and no stream.
constexpr bool is_word_atomic(Pattern pattern) {
  return pattern == Pattern::fetch_and_op || pattern == Pattern::compare_and_swap;
}

/// Two-sided patterns that are a ping-pong in the form latency and a stream in the form stream.
constexpr bool is_two_sided_variant(Pattern pattern) {
  using enum Pattern;
  return pattern == persistent || pattern == partitioned || pattern == threads;
}

constexpr bool has_both_forms(Pattern pattern) {
  using enum Pattern;
  return pattern == put || pattern == get || pattern == accumulate || is_two_sided_variant(pattern);
}

/// One operation is a round trip, and its number is half of that.
constexpr bool is_round_trip(Pattern pattern, Form form) {
  return pattern == Pattern::pingpong || (is_two_sided_variant(pattern) && form == Form::latency);
}

/// Whether an operation moves payload from the origin, or to it.
constexpr bool moves_forward(Pattern pattern) { return pattern != Pattern::get; }
constexpr bool moves_backward(Pattern pattern, Form form) {
  return is_round_trip(pattern, form) || pattern == Pattern::exchange || pattern == Pattern::get ||
         is_word_atomic(pattern);
}

}  // namespace wireproof
