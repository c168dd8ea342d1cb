#include "node/tune/machine.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/program.hpp"
#include "base/tree.hpp"
#include "node/tune/allowed.hpp"
#include "node/tune/place.hpp"
#include "node/tune/value.hpp"

namespace wireproof::tune {
namespace {

constexpr std::size_t kLongestOutput = std::size_t{256} << 10;
constexpr const char* kProgramFolders[] = {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"};

Reply opened(const std::string& root, const std::string& path, int flags, Descriptor& file) {
  const Tree tree(root);
  errno = ENOENT;
  file = tree.open(path.substr(1), flags);
  if (!file) {
    const bool no_file = errno == EISDIR;
    return failed(errno, no_file ? "not a regular file" : "");
  }
  const std::string place = place_of(file.number(), root);
  const bool of_old_journal = !wrong_target(path).empty();  // no request contains such a path
  const std::string wrong = place.empty()    ? "it leads out of the tree"
                            : of_old_journal ? outside_settings(place)
                                             : wrong_target(place);
  return wrong.empty() ? Reply{} : failed(EXDEV, path + " leads elsewhere: " + wrong);
}

Reply read_here(const std::string& root, const std::string& path) {
  Descriptor file;
  if (Reply reply = opened(root, path, O_RDONLY, file); !reply.ok()) return reply;
  FileText text = read_all(file.number(), kLongestText);
  if (text.status != ReadStatus::ok) {
    const int cause = text.status == ReadStatus::missing  ? ENOENT
                      : text.status == ReadStatus::denied ? EACCES
                                                          : EIO;
    return failed(cause, text.reason);
  }
  if (text.truncated) return failed(EFBIG, "longer than 65536 bytes");
  if (!is_text(text.text)) return failed(EILSEQ, "no text: it holds other than UTF-8");
  return {0, std::move(text.text), {}, 0};
}

// The kernel's files treat each write as the whole value; files of a tree must be truncated.
bool takes_whole_values(int descriptor) {
  struct statfs info {};
  return ::fstatfs(descriptor, &info) == 0 &&
         (info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC);
}

Reply write_here(const std::string& root, const std::string& path, const std::string& text) {
  Descriptor file;
  if (Reply reply = opened(root, path, O_WRONLY, file); !reply.ok()) return reply;
  if (!takes_whole_values(file.number()) && ::ftruncate(file.number(), 0) != 0 &&
      (errno == EROFS || errno == EIO)) {
    return failed(errno, "");
  }
  const ssize_t wrote = ::write(file.number(), text.data(), text.size());
  if (wrote < 0) return failed(errno, "");
  if (static_cast<std::size_t>(wrote) != text.size()) {
    return failed(
        EIO, "took " + std::to_string(wrote) + " of " + std::to_string(text.size()) + " bytes");
  }
  return {};
}

// Root must be able to run it, and no other user may be able to change it.
bool is_trusted_program(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         (info.st_mode & S_IXUSR) != 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         (info.st_uid == 0 || info.st_uid == ::geteuid());
}

std::optional<std::string> find_command(const std::string& root, const std::string& name) {
  const std::string prefix = root == "/" ? "" : root;
  for (const char* folder : kProgramFolders) {
    const std::string path = prefix + folder + name;
    char resolved[PATH_MAX];
    if (::realpath(path.c_str(), resolved) == nullptr) continue;
    if (!std::string_view(resolved).starts_with(prefix + "/")) continue;
    if (is_trusted_program(resolved)) return path;
  }
  return std::nullopt;
}

std::string first_line_of(const std::string& text) {
  const std::string line = text.substr(0, std::min(text.find('\n'), std::size_t{200}));
  return is_text(line) ? line : "";
}

Reply run_here(const std::string& root, std::vector<std::string> argv, int timeout_ms) {
  const auto program = find_command(root, argv[0]);
  if (!program) {
    return failed(ENOENT, argv[0] + " is not in /usr/sbin, /usr/bin, /sbin or /bin");
  }
  const std::string name = argv[0];
  argv[0] = *program;
  Ended end = run_program({std::move(argv),
                           {"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                           kLongestOutput,
                           timeout_ms});
  if (end.start_error != 0) return failed(end.start_error, "");
  if (!end.in_time) return failed(ETIMEDOUT, name + " has not ended");
  if (end.exit_status != 0) {
    const std::string said = first_line_of(end.errors);
    return failed(EIO, said.empty() ? name + " ended with status " +
                                          std::to_string(end.exit_status.value_or(-1))
                                    : said);
  }
  return {0, std::move(end.text), {}, 0};
}

Reply value_here(const std::string& root, const Change& change, int timeout_ms) {
  Reply reply = run_here(root, change.read, timeout_ms);
  if (!reply.ok()) return reply;
  const auto value = find_value(reply.text, change.section, change.key);
  if (!value) return failed(ENODATA, change.read[0] + " prints no \"" + change.key + "\"");
  if (!is_restorable(*value)) {
    const std::string shown = first_line_of(*value);
    return failed(ENODATA,
                  "\"" + shown + "\" is no value that " + change.read[0] + " can be given");
  }
  return {0, as_argument(change.read[0], *value), {}, 0};
}

std::vector<std::string> with_value(std::vector<std::string> argv, const std::string& value) {
  constexpr std::string_view kPlace = "{value}";
  for (std::string& word : argv) {
    const std::size_t at = word.find(kPlace);
    if (at != std::string::npos) word.replace(at, kPlace.size(), value);
  }
  return argv;
}

}  // namespace

Reply Machine::read(const std::string& path) const {
  return bounded(patience_ms_, -1, [&] { return read_here(root_, path); });
}

Reply Machine::read_writable(const std::string& path) const {
  return bounded(patience_ms_, -1, [&] {
    Reply reply = read_here(root_, path);
    Descriptor file;
    if (!reply.ok()) return reply;
    if (Reply other = opened(root_, path, O_WRONLY, file); !other.ok()) return other;
    return reply;
  });
}

Reply Machine::alter(int patience_ms, const std::function<Reply()>& work) const {
  if (writers_ == nullptr) return failed(EROFS, "");
  Reply reply = bounded(patience_ms, writers_->descriptor(), work);
  if (reply.left != 0) writers_->leave_behind(reply.left);
  return reply;
}

Reply Machine::write(const std::string& path, const std::string& text) const {
  return alter(patience_ms_, [&] { return write_here(root_, path, text); });
}

// The command's time limit is shorter, so that it is ended together with its process group.
Reply Machine::read_value(const Change& change) const {
  return bounded(patience_ms_ + 1000, -1, [&] { return value_here(root_, change, patience_ms_); });
}

Reply Machine::write_value(const Change& change, const std::string& value) const {
  return alter(patience_ms_ + 1000,
               [&] { return run_here(root_, with_value(change.write, value), patience_ms_); });
}

}  // namespace wireproof::tune
