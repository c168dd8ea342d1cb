// The part of libfabric's binary interface that the engine uses, declared here: building needs no
// libfabric, and one program runs on every release from 1.14 to 2.x
// (docs/adr/0009-libfabric-at-run-time.md). Layouts are those of the symbol version FABRIC_1.3,
// which every release since 1.9 still exports; tests/ofi_contract.cpp compares each of them with
// the real headers. Unused members have generic names.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "transport/ofi/abi_values.hpp"

namespace wireproof::ofi::abi {

using Address = std::uint64_t;  ///< of a peer, in the address vector

/// The caller's memory that an operation needs while it is in progress.
struct Context {
  void* internal[8];
};

struct Object;

struct ObjectCalls {
  std::size_t size;
  int (*close)(Object*);
  int (*bind)(Object*, Object* to, std::uint64_t flags);
  int (*control)(Object*, int command, void* argument);
  void* others[3];
};

struct Object {
  std::size_t kind;
  void* context;
  ObjectCalls* calls;
};

struct TransmitAttributes {
  std::uint64_t capabilities;
  std::uint64_t mode;
  std::uint64_t flags;
  std::uint64_t message_order;
  std::uint64_t completion_order;
  std::size_t inject_size;
  std::size_t size;
  std::size_t vectors;
  std::size_t remote_vectors;
  std::uint32_t traffic_class;
};

struct ReceiveAttributes {
  std::uint64_t capabilities;
  std::uint64_t mode;
  std::uint64_t flags;
  std::uint64_t message_order;
  std::uint64_t completion_order;
  std::size_t buffered;
  std::size_t size;
  std::size_t vectors;
};

struct EndpointAttributes {
  EndpointType type;
  std::uint32_t protocol;
  std::uint32_t protocol_version;
  std::size_t largest_message;
  std::size_t prefix_size;
};

struct Domain;

struct DomainAttributes {
  Domain* domain;
  char* name;
  Threading threading;
  Progress control_progress;
  Progress data_progress;
  Management management;
  VectorType vector_type;
  int registration;
  std::size_t key_size;
};

struct Fabric;

struct FabricAttributes {
  Fabric* fabric;
  char* name;
  char* provider;
  std::uint32_t provider_version;
  std::uint32_t api_version;
};

struct DeviceAttributes {
  char* name;
  char* id;
  char* version;
  char* vendor;
  char* driver;
  char* firmware;
};

struct LinkAttributes {
  char* address;
  std::size_t mtu;
  std::size_t bits_per_s;
  int state;
  char* network;
};

struct Nic {
  Object object;
  DeviceAttributes* device;
  void* bus;
  LinkAttributes* link;
};

struct Info {
  Info* next;
  std::uint64_t capabilities;
  std::uint64_t mode;
  std::uint32_t address_format;
  std::size_t source_length;
  std::size_t destination_length;
  void* source;
  void* destination;
  Object* handle;
  TransmitAttributes* transmit;
  ReceiveAttributes* receive;
  EndpointAttributes* endpoint;
  DomainAttributes* domain;
  FabricAttributes* fabric;
  Nic* nic;
};

struct FabricCalls {
  std::size_t size;
  int (*domain)(Fabric*, Info*, Domain**, void* context);
};

struct Fabric {
  Object object;
  FabricCalls* calls;
};

struct Vector;
struct Queue;
struct Endpoint;
struct Memory;

struct VectorAttributes {
  VectorType type;
  int receive_bits;
  std::size_t count;
  std::size_t endpoints_per_node;
  const char* name;
  void* map;
  std::uint64_t flags;
};

struct VectorCalls {
  std::size_t size;
  int (*insert)(Vector*, const void* addresses, std::size_t count, Address* made,
                std::uint64_t flags, void* context);
};

struct Vector {
  Object object;
  VectorCalls* calls;
};

struct QueueAttributes {
  std::size_t size;
  std::uint64_t flags;
  EntryFormat format;
  WaitObject wait;
  int signalling;
  int condition;
  void* wait_set;
};

/// EntryFormat::context.
struct QueueEntry {
  void* context;
};

struct QueueError {
  void* context;
  std::uint64_t flags;
  std::size_t length;
  void* buffer;
  std::uint64_t data;
  std::uint64_t tag;
  std::size_t overflow;
  int error;
  int provider_error;
  void* details;
  std::size_t details_size;
  void* later[4];  // the library fills it, and releases since 1.20 have one more member
};

struct QueueCalls {
  std::size_t size;
  ssize_t (*read)(Queue*, void* entries, std::size_t count);
  void* read_from;
  ssize_t (*read_error)(Queue*, QueueError*, std::uint64_t flags);
  void* others[3];
  const char* (*describe)(Queue*, int provider_error, const void* details, char* text,
                          std::size_t size);
};

struct Queue {
  Object object;
  QueueCalls* calls;
};

struct DomainCalls {
  std::size_t size;
  int (*open_vector)(Domain*, VectorAttributes*, Vector**, void* context);
  int (*open_queue)(Domain*, QueueAttributes*, Queue**, void* context);
  int (*open_endpoint)(Domain*, Info*, Endpoint**, void* context);
};

struct MemoryCalls {
  std::size_t size;
  int (*enroll)(Object* domain, const void* at, std::size_t bytes, std::uint64_t access,
                std::uint64_t offset, std::uint64_t key, std::uint64_t flags, Memory**,
                void* context);
};

struct Domain {
  Object object;
  DomainCalls* calls;
  MemoryCalls* memory;
};

struct Memory {
  Object object;
  void* descriptor;
  std::uint64_t key;
};

struct AddressCalls {
  std::size_t size;
  void* set_name;
  int (*get_name)(Object* endpoint, void* address, std::size_t* length);
};

struct MessageCalls {
  std::size_t size;
  ssize_t (*receive)(Endpoint*, void* at, std::size_t bytes, void* descriptor, Address from,
                     void* context);
  void* receive_others[2];
  ssize_t (*send)(Endpoint*, const void* from, std::size_t bytes, void* descriptor, Address to,
                  void* context);
  void* send_others[2];
  ssize_t (*inject)(Endpoint*, const void* from, std::size_t bytes, Address to);
};

struct TaggedCalls {
  std::size_t size;
  ssize_t (*receive)(Endpoint*, void* at, std::size_t bytes, void* descriptor, Address from,
                     std::uint64_t tag, std::uint64_t ignore, void* context);
  void* receive_others[2];
  ssize_t (*send)(Endpoint*, const void* from, std::size_t bytes, void* descriptor, Address to,
                  std::uint64_t tag, void* context);
  void* send_others[2];
  ssize_t (*inject)(Endpoint*, const void* from, std::size_t bytes, Address to, std::uint64_t tag);
};

struct RemoteCalls {
  std::size_t size;
  ssize_t (*read)(Endpoint*, void* at, std::size_t bytes, void* descriptor, Address from,
                  std::uint64_t place, std::uint64_t key, void* context);
  void* read_others[2];
  ssize_t (*write)(Endpoint*, const void* from, std::size_t bytes, void* descriptor, Address to,
                   std::uint64_t place, std::uint64_t key, void* context);
};

struct AtomicCalls {
  std::size_t size;
  ssize_t (*write)(Endpoint*, const void* operand, std::size_t count, void* descriptor, Address to,
                   std::uint64_t place, std::uint64_t key, Number, Operation, void* context);
  void* write_others[3];
  ssize_t (*fetch)(Endpoint*, const void* operand, std::size_t count, void* descriptor,
                   void* result, void* result_descriptor, Address to, std::uint64_t place,
                   std::uint64_t key, Number, Operation, void* context);
  void* fetch_others[2];
  ssize_t (*compare)(Endpoint*, const void* operand, std::size_t count, void* descriptor,
                     const void* compared, void* compared_descriptor, void* result,
                     void* result_descriptor, Address to, std::uint64_t place, std::uint64_t key,
                     Number, Operation, void* context);
  void* compare_others[2];
  // returns 0 if the operation exists, with the number of values at a time
  int (*can_write)(Endpoint*, Number, Operation, std::size_t* count);
  int (*can_fetch)(Endpoint*, Number, Operation, std::size_t* count);
  int (*can_compare)(Endpoint*, Number, Operation, std::size_t* count);
};

struct Endpoint {
  Object object;
  void* calls;
  AddressCalls* address;
  MessageCalls* messages;
  RemoteCalls* remote;
  TaggedCalls* tagged;
  AtomicCalls* atomics;
};

/// The functions that a libfabric exports.
struct Functions {
  int (*get_info)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                  const Info* hints, Info**) = nullptr;
  void (*free_info)(Info*) = nullptr;
  Info* (*duplicate_info)(const Info*) = nullptr;
  int (*open_fabric)(FabricAttributes*, Fabric**, void* context) = nullptr;
  std::uint32_t (*version)() = nullptr;
  const char* (*describe_error)(int error) = nullptr;
};

}  // namespace wireproof::ofi::abi
