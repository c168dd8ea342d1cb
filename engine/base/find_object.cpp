// glibc 2.35 introduced _dl_find_object, and compilers for such systems use it in the unwinder that
// we link in. That symbol alone would prevent the programs from running with glibc 2.34 (RHEL 9).
// This is an implementation with functions that every glibc has. Called only when an exception is
// thrown.
#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* result;
};

/// Stops (1) at the object whose segments contain the address.
int look(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* tables = nullptr;
  const ElfW(Phdr)* holds = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_EH_FRAME) tables = &segment;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.address - begin < segment.p_memsz) holds = &segment;
  }
  if (holds == nullptr || tables == nullptr) return 0;
  const auto pointer = [&](std::uintptr_t offset) {
    return reinterpret_cast<void*>(object->dlpi_addr + offset);
  };
  *search.result = {};
  search.result->dlfo_map_start = pointer(holds->p_vaddr);
  search.result->dlfo_map_end = pointer(holds->p_vaddr + holds->p_memsz);
  search.result->dlfo_eh_frame = pointer(tables->p_vaddr);
  return 1;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(
    void* address, dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

#endif
