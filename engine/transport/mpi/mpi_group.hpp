// All ranks of the MPI that started them.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/concept.hpp"

namespace wireproof {

class MpiGroup final : public Group {
 public:
  explicit MpiGroup(MPI_Comm comm);
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void set_yield(bool yield) { yield_ = yield; }
  void set_idle(std::function<void()> idle) override { idle_ = std::move(idle); }

  // Both use a binomial tree (transport/binomial.hpp): the root of ten thousand ranks communicates
  // with fourteen.
  void broadcast(std::string& text) override;
  std::vector<std::string> gather(std::string_view text) override;
  void barrier() override;

 private:
  void send_text(int to, std::string_view text);
  std::string receive_text(int from);
  void send(int to, const char* data, std::size_t bytes);
  void receive(int from, char* data, std::size_t bytes);

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  bool yield_ = true;
  std::function<void()> idle_;
};

}  // namespace wireproof
