// The settings of this machine, or of the tree below a root: read and written, never beyond the
// patience, never outside of what is allowed.
#pragma once

#include <string>

#include "node/tune/bounded.hpp"
#include "node/tune/request.hpp"

namespace wireproof::tune {

class Machine {
 public:
  // `lock` is held by whatever hangs in a read or a write (bounded.hpp).
  Machine(std::string root, int patience_ms, int lock)
      : root_(std::move(root)), patience_ms_(patience_ms), lock_(lock) {}

  // The whole text of a file. ENOENT: it is not there; EXDEV: a link leads out of what is allowed;
  // EFBIG and EILSEQ: longer than 64 KiB, no text.
  Reply read(const std::string& path) const;
  // As `read`, for a file that is to be written: EACCES, EROFS where it cannot be opened for that.
  Reply read_writable(const std::string& path) const;
  // One write(2) of all of `text`.
  Reply write(const std::string& path, const std::string& text) const;

  // The value of a command's key. ENODATA: it prints none that it could be given again.
  Reply read_value(const Change& change) const;
  Reply write_value(const Change& change, const std::string& value) const;

  const std::string& root() const { return root_; }
  int patience_ms() const { return patience_ms_; }
  int lock() const { return lock_; }

 private:
  std::string root_;
  int patience_ms_;
  int lock_;
};

}  // namespace wireproof::tune
