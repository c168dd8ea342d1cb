// Compiled, never run (check_ofi_contract): our declarations of libfabric's binary interface match
// its headers in constants, sizes, offsets of members, prototypes.
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <type_traits>

#include "transport/ofi/abi.hpp"

namespace abi = wireproof::ofi::abi;

#define VALUE(ours, theirs)                                   \
  static_assert(static_cast<unsigned long long>(abi::ours) == \
                static_cast<unsigned long long>(theirs))
#define PLACE(Ours, ours, theirs_type, theirs)                               \
  static_assert(offsetof(abi::Ours, ours) == offsetof(theirs_type, theirs)); \
  static_assert(sizeof(abi::Ours::ours) == sizeof(theirs_type::theirs))
/// A structure that the caller creates or the library fills must be as long as the real one.
#define WHOLE(Ours, theirs_type) static_assert(sizeof(abi::Ours) == sizeof(theirs_type))

VALUE(kMessages, FI_MSG);
VALUE(kRemoteAccess, FI_RMA);
VALUE(kTagged, FI_TAGGED);
VALUE(kAtomics, FI_ATOMIC);
VALUE(kRead, FI_READ);
VALUE(kWrite, FI_WRITE);
VALUE(kReceive, FI_RECV);
VALUE(kTransmit, FI_TRANSMIT);
VALUE(kRemoteRead, FI_REMOTE_READ);
VALUE(kRemoteWrite, FI_REMOTE_WRITE);
VALUE(kCompletion, FI_COMPLETION);
VALUE(kInjectComplete, FI_INJECT_COMPLETE);
VALUE(kTransmitComplete, FI_TRANSMIT_COMPLETE);
VALUE(kDeliveryComplete, FI_DELIVERY_COMPLETE);
VALUE(kNamesOnly, FI_PROV_ATTR_ONLY);
VALUE(kSource, FI_SOURCE);
VALUE(kDirectedReceive, FI_DIRECTED_RECV);
VALUE(kNeedsContext, FI_CONTEXT);
VALUE(kNeedsContext2, FI_CONTEXT2);
VALUE(kLocalKey, FI_MR_LOCAL);
VALUE(kVirtualAddress, FI_MR_VIRT_ADDR);
VALUE(kAllocated, FI_MR_ALLOCATED);
VALUE(kProviderKey, FI_MR_PROV_KEY);
VALUE(kBoundToEndpoint, FI_MR_ENDPOINT);
VALUE(kSendAfterSend, FI_ORDER_SAS);
VALUE(kReadAfterWrite, FI_ORDER_RAW);
VALUE(kNoAddress, FI_ADDR_UNSPEC);
VALUE(EndpointType::message, FI_EP_MSG);
VALUE(EndpointType::datagram, FI_EP_DGRAM);
VALUE(EndpointType::reliable_datagram, FI_EP_RDM);
VALUE(Threading::domain, FI_THREAD_DOMAIN);
VALUE(Progress::automatic, FI_PROGRESS_AUTO);
VALUE(Progress::manual, FI_PROGRESS_MANUAL);
VALUE(Management::enabled, FI_RM_ENABLED);
VALUE(VectorType::map, FI_AV_MAP);
VALUE(VectorType::table, FI_AV_TABLE);
VALUE(EntryFormat::context, FI_CQ_FORMAT_CONTEXT);
VALUE(WaitObject::none, FI_WAIT_NONE);
VALUE(Number::int64, FI_INT64);
VALUE(Number::uint64, FI_UINT64);
VALUE(Operation::sum, FI_SUM);
VALUE(Operation::compare_swap, FI_CSWAP);
VALUE(kEnable, FI_ENABLE);
VALUE(kNoData, FI_ENODATA);
VALUE(kNoSystemCall, FI_ENOSYS);
VALUE(kAgain, FI_EAGAIN);
VALUE(kErrorAvailable, FI_EAVAIL);
static_assert(abi::version(1, 14) == FI_VERSION(1, 14));

WHOLE(Context, fi_context2);
WHOLE(Object, fid);
PLACE(Object, calls, fid, ops);
PLACE(ObjectCalls, close, fi_ops, close);
PLACE(ObjectCalls, bind, fi_ops, bind);
PLACE(ObjectCalls, control, fi_ops, control);
PLACE(TransmitAttributes, capabilities, fi_tx_attr, caps);
PLACE(TransmitAttributes, mode, fi_tx_attr, mode);
PLACE(TransmitAttributes, flags, fi_tx_attr, op_flags);
PLACE(TransmitAttributes, message_order, fi_tx_attr, msg_order);
PLACE(TransmitAttributes, inject_size, fi_tx_attr, inject_size);
PLACE(TransmitAttributes, size, fi_tx_attr, size);
PLACE(ReceiveAttributes, message_order, fi_rx_attr, msg_order);
PLACE(ReceiveAttributes, size, fi_rx_attr, size);
PLACE(EndpointAttributes, type, fi_ep_attr, type);
PLACE(EndpointAttributes, protocol, fi_ep_attr, protocol);
PLACE(EndpointAttributes, protocol_version, fi_ep_attr, protocol_version);
PLACE(EndpointAttributes, largest_message, fi_ep_attr, max_msg_size);
PLACE(DomainAttributes, name, fi_domain_attr, name);
PLACE(DomainAttributes, threading, fi_domain_attr, threading);
PLACE(DomainAttributes, control_progress, fi_domain_attr, control_progress);
PLACE(DomainAttributes, data_progress, fi_domain_attr, data_progress);
PLACE(DomainAttributes, management, fi_domain_attr, resource_mgmt);
PLACE(DomainAttributes, vector_type, fi_domain_attr, av_type);
PLACE(DomainAttributes, registration, fi_domain_attr, mr_mode);
PLACE(DomainAttributes, key_size, fi_domain_attr, mr_key_size);
WHOLE(FabricAttributes, fi_fabric_attr);
PLACE(FabricAttributes, name, fi_fabric_attr, name);
PLACE(FabricAttributes, provider, fi_fabric_attr, prov_name);
PLACE(FabricAttributes, provider_version, fi_fabric_attr, prov_version);
PLACE(FabricAttributes, api_version, fi_fabric_attr, api_version);
WHOLE(DeviceAttributes, fi_device_attr);
PLACE(DeviceAttributes, name, fi_device_attr, name);
PLACE(DeviceAttributes, driver, fi_device_attr, driver);
WHOLE(LinkAttributes, fi_link_attr);
PLACE(LinkAttributes, bits_per_s, fi_link_attr, speed);
PLACE(LinkAttributes, mtu, fi_link_attr, mtu);
PLACE(LinkAttributes, state, fi_link_attr, state);
PLACE(Nic, device, fid_nic, device_attr);
PLACE(Nic, link, fid_nic, link_attr);
WHOLE(Info, fi_info);
PLACE(Info, next, fi_info, next);
PLACE(Info, capabilities, fi_info, caps);
PLACE(Info, mode, fi_info, mode);
PLACE(Info, address_format, fi_info, addr_format);
PLACE(Info, source_length, fi_info, src_addrlen);
PLACE(Info, source, fi_info, src_addr);
PLACE(Info, transmit, fi_info, tx_attr);
PLACE(Info, receive, fi_info, rx_attr);
PLACE(Info, endpoint, fi_info, ep_attr);
PLACE(Info, domain, fi_info, domain_attr);
PLACE(Info, fabric, fi_info, fabric_attr);
PLACE(Info, nic, fi_info, nic);
PLACE(Fabric, calls, fid_fabric, ops);
PLACE(FabricCalls, domain, fi_ops_fabric, domain);
WHOLE(VectorAttributes, fi_av_attr);
PLACE(VectorAttributes, type, fi_av_attr, type);
PLACE(VectorAttributes, count, fi_av_attr, count);
PLACE(Vector, calls, fid_av, ops);
PLACE(VectorCalls, insert, fi_ops_av, insert);
WHOLE(QueueAttributes, fi_cq_attr);
PLACE(QueueAttributes, size, fi_cq_attr, size);
PLACE(QueueAttributes, format, fi_cq_attr, format);
PLACE(QueueAttributes, wait, fi_cq_attr, wait_obj);
WHOLE(QueueEntry, fi_cq_entry);
static_assert(sizeof(abi::QueueError) >= sizeof(fi_cq_err_entry));
PLACE(QueueError, context, fi_cq_err_entry, op_context);
PLACE(QueueError, error, fi_cq_err_entry, err);
PLACE(QueueError, provider_error, fi_cq_err_entry, prov_errno);
PLACE(QueueError, details, fi_cq_err_entry, err_data);
PLACE(Queue, calls, fid_cq, ops);
PLACE(QueueCalls, read, fi_ops_cq, read);
PLACE(QueueCalls, read_error, fi_ops_cq, readerr);
PLACE(QueueCalls, describe, fi_ops_cq, strerror);
PLACE(Domain, calls, fid_domain, ops);
PLACE(Domain, memory, fid_domain, mr);
PLACE(DomainCalls, open_vector, fi_ops_domain, av_open);
PLACE(DomainCalls, open_queue, fi_ops_domain, cq_open);
PLACE(DomainCalls, open_endpoint, fi_ops_domain, endpoint);
PLACE(MemoryCalls, enroll, fi_ops_mr, reg);
PLACE(Memory, descriptor, fid_mr, mem_desc);
PLACE(Memory, key, fid_mr, key);
PLACE(Endpoint, address, fid_ep, cm);
PLACE(Endpoint, messages, fid_ep, msg);
PLACE(Endpoint, remote, fid_ep, rma);
PLACE(Endpoint, tagged, fid_ep, tagged);
PLACE(Endpoint, atomics, fid_ep, atomic);
PLACE(AddressCalls, get_name, fi_ops_cm, getname);
PLACE(MessageCalls, receive, fi_ops_msg, recv);
PLACE(MessageCalls, send, fi_ops_msg, send);
PLACE(MessageCalls, inject, fi_ops_msg, inject);
PLACE(TaggedCalls, receive, fi_ops_tagged, recv);
PLACE(TaggedCalls, send, fi_ops_tagged, send);
PLACE(TaggedCalls, inject, fi_ops_tagged, inject);
PLACE(RemoteCalls, read, fi_ops_rma, read);
PLACE(RemoteCalls, write, fi_ops_rma, write);
PLACE(AtomicCalls, write, fi_ops_atomic, write);
PLACE(AtomicCalls, fetch, fi_ops_atomic, readwrite);
PLACE(AtomicCalls, compare, fi_ops_atomic, compwrite);
PLACE(AtomicCalls, can_write, fi_ops_atomic, writevalid);
PLACE(AtomicCalls, can_fetch, fi_ops_atomic, readwritevalid);
PLACE(AtomicCalls, can_compare, fi_ops_atomic, compwritevalid);

/// Two prototypes are called in the same way if they have equally many parameters, each of the same
/// size, and the same result.
template <class Ours, class Theirs>
struct Alike : std::false_type {};
template <class R, class S>
constexpr bool kSameResult = std::is_same_v<R, S> || (std::is_pointer_v<R> && std::is_pointer_v<S>);
template <class R, class... Ours, class S, class... Theirs>
struct Alike<R (*)(Ours...), S (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs) && kSameResult<R, S>) {
      return ((sizeof(Ours) == sizeof(Theirs) &&
               std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>)&&...);
    } else {
      return false;
    }
  }();
};
#define CALL(Ours, ours, theirs_type, theirs) \
  static_assert(Alike<decltype(abi::Ours::ours), decltype(theirs_type::theirs)>::value)

CALL(ObjectCalls, bind, fi_ops, bind);
CALL(ObjectCalls, control, fi_ops, control);
CALL(FabricCalls, domain, fi_ops_fabric, domain);
CALL(DomainCalls, open_vector, fi_ops_domain, av_open);
CALL(DomainCalls, open_queue, fi_ops_domain, cq_open);
CALL(DomainCalls, open_endpoint, fi_ops_domain, endpoint);
CALL(MemoryCalls, enroll, fi_ops_mr, reg);
CALL(VectorCalls, insert, fi_ops_av, insert);
CALL(QueueCalls, read, fi_ops_cq, read);
CALL(QueueCalls, read_error, fi_ops_cq, readerr);
CALL(QueueCalls, describe, fi_ops_cq, strerror);
CALL(AddressCalls, get_name, fi_ops_cm, getname);
CALL(MessageCalls, receive, fi_ops_msg, recv);
CALL(MessageCalls, send, fi_ops_msg, send);
CALL(MessageCalls, inject, fi_ops_msg, inject);
CALL(TaggedCalls, receive, fi_ops_tagged, recv);
CALL(TaggedCalls, send, fi_ops_tagged, send);
CALL(TaggedCalls, inject, fi_ops_tagged, inject);
CALL(RemoteCalls, read, fi_ops_rma, read);
CALL(RemoteCalls, write, fi_ops_rma, write);
CALL(AtomicCalls, write, fi_ops_atomic, write);
CALL(AtomicCalls, fetch, fi_ops_atomic, readwrite);
CALL(AtomicCalls, compare, fi_ops_atomic, compwrite);
CALL(AtomicCalls, can_write, fi_ops_atomic, writevalid);
CALL(AtomicCalls, can_fetch, fi_ops_atomic, readwritevalid);
CALL(AtomicCalls, can_compare, fi_ops_atomic, compwritevalid);

template <class Ours, class Theirs>
constexpr bool kFunction = Alike<Ours, Theirs>::value;
static_assert(kFunction<decltype(abi::Functions::get_info), decltype(&fi_getinfo)>);
static_assert(kFunction<decltype(abi::Functions::open_fabric), decltype(&fi_fabric)>);
static_assert(kFunction<decltype(abi::Functions::duplicate_info), decltype(&fi_dupinfo)>);
static_assert(kFunction<decltype(abi::Functions::free_info), decltype(&fi_freeinfo)>);
static_assert(kFunction<decltype(abi::Functions::version), decltype(&fi_version)>);
static_assert(kFunction<decltype(abi::Functions::describe_error), decltype(&fi_strerror)>);
