// The settings of this machine, or of the tree below a root: reads and writes them, never for
// longer than the patience, and only where this is allowed.
#pragma once

#include <string>

#include "node/tune/bounded.hpp"
#include "node/tune/request.hpp"
#include "node/tune/writers.hpp"

namespace wireproof::tune {

class Machine {
 public:
  // Without `writers` nothing can be written.
  Machine(std::string root, int patience_ms, Writers* writers)
      : root_(std::move(root)), patience_ms_(patience_ms), writers_(writers) {}

  // The whole text of a file. ENOENT: it does not exist; EXDEV: a link leads to a forbidden place;
  // EFBIG and EILSEQ: longer than 64 KiB, or not text.
  Reply read(const std::string& path) const;
  // Like `read`, for a file that will be written: EACCES or EROFS if it cannot be opened for
  // writing.
  Reply read_writable(const std::string& path) const;
  // Writes all of `text` with one write(2).
  Reply write(const std::string& path, const std::string& text) const;

  // Reads the value that a command prints for its key. ENODATA: it prints no value that could be
  // passed back.
  Reply read_value(const Change& change) const;
  Reply write_value(const Change& change, const std::string& value) const;

  const std::string& root() const { return root_; }
  int patience_ms() const { return patience_ms_; }
  Writers* writers() const { return writers_; }

 private:
  Reply alter(int patience_ms, const std::function<Reply()>& work) const;

  std::string root_;
  int patience_ms_;
  Writers* writers_;
};

}  // namespace wireproof::tune
