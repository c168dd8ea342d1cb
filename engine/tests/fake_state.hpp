// The contents of the simulated libfabric: endpoints with their messages, and registered memory.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "fake_variants.hpp"

namespace {

constexpr std::size_t kInject = 16;
constexpr int kTooLong = 265;
constexpr int kNotRegistered = 22;

struct Region {
  Memory memory;
  std::uintptr_t begin;
  std::size_t bytes;
};

struct Message {
  std::uint64_t tag;
  std::vector<char> bytes;
};

struct Receive {
  std::uint64_t tag;
  void* at;
  std::size_t bytes;
  void* context;
};

struct Place;

struct FakeQueue {
  Queue queue;
  std::deque<std::pair<void*, int>> done;  // context and error
};

struct Place {
  Endpoint endpoint;
  std::uint64_t number;
  FakeQueue* queue;
  const Variant* variant;
  std::deque<std::pair<void*, std::vector<char>>> landing;  // writes that are late
  std::deque<Message> arrived;
  std::deque<Receive> posted;
};

std::mutex mutex;
std::map<std::uint64_t, Place*> places;
std::map<std::uint64_t, Region*> regions;
std::uint64_t next_number = 1;
unsigned calls_made = 0;

bool no_room() { return ++calls_made % 3 == 0; }

bool registered(const void* at, std::size_t bytes, const void* descriptor) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  return bytes == 0 || std::any_of(regions.begin(), regions.end(), [&](const auto& entry) {
           const Region& region = *entry.second;
           return region.memory.descriptor == descriptor && begin >= region.begin &&
                  begin + bytes <= region.begin + region.bytes;
         });
}

}  // namespace
