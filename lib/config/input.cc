#include "config/input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <poll.h>

#include <fmt/format.h>

#include "base/system_calls.h"
#include "base/system_error.h"
#include "base/units.h"

namespace tent {
namespace {

constexpr size_t kChunkBytes = 64u << 10;

// What the user can do about it, as the end of a sentence.
std::string_view nextStep(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "; check the path";
    case EACCES:
    case EPERM: return "; check who may read it and its folders";
    default: return "";
  }
}

// Waits until there is something to read; false when stopping was asked for first. A FIFO without a writer is waited
// for here, since its descriptor is opened without blocking.
bool waitReadable(int fd, int stop_fd) {
  pollfd waits[] = {{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
  while (poll(waits, 2, -1) < 0 && errno == EINTR) {
  }
  return waits[1].revents == 0;
}

}  // namespace

struct Input::State {
  State(std::string path, int descriptor) : name(std::move(path)), fd(descriptor) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (fd > STDERR_FILENO) ::close(fd);
  }

  std::string_view available() const { return {buffer.data() + begin, end - begin}; }

  // Reads once into the buffer; false at the end of the input, or with `read_error` set.
  bool fill();
  // The read itself; 0 at the end of the input, negative with `read_error` set.
  ssize_t read(char* into, size_t bytes);
  // Goes on to the next line without keeping what lies between; false with `read_error` set.
  bool skipLine();

  std::string name;
  int fd;
  std::vector<char> buffer;
  size_t begin = 0;  // of what was read and not yet given
  size_t end = 0;
  bool at_end = false;
  size_t line = 0;
  std::string read_error;
  std::function<void()> before_read;
  int stop_fd = -1;
};

ssize_t Input::State::read(char* into, size_t bytes) {
  while (true) {
    if (before_read) before_read();
    if (!waitReadable(fd, stop_fd)) {
      read_error = "was not read to its end: interrupted";
      return -1;
    }
    const ssize_t count = systemCalls().read(fd, into, bytes);
    if (count >= 0) {
      at_end = count == 0;
      return count;
    }
    // A standard input that somebody made non-blocking may have nothing after all.
    if (errno == EINTR || errno == EAGAIN) continue;
    read_error = errno == EISDIR ? "is a directory; give a file" : "cannot be read: " + describeSystemError(errno);
    return count;
  }
}

bool Input::State::fill() {
  if (at_end) return false;
  if (begin > 0) {
    std::memmove(buffer.data(), buffer.data() + begin, end - begin);
    end -= std::exchange(begin, 0);
  }
  if (buffer.size() < end + kChunkBytes) buffer.resize(end + kChunkBytes);
  const ssize_t count = read(buffer.data() + end, kChunkBytes);
  if (count > 0) end += static_cast<size_t>(count);
  return count > 0;
}

bool Input::State::skipLine() {
  while (true) {
    const std::string_view text = available();
    const size_t newline = text.find('\n');
    if (newline != std::string_view::npos) {
      begin += newline + 1;
      return true;
    }
    begin = end = 0;
    if (!fill()) return at_end;
  }
}

Input::Input(std::unique_ptr<State> state) : state_(std::move(state)) {}
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;
Input::~Input() = default;

tl::expected<Input, std::string> Input::open(const std::string& path, bool* exhausted) {
  const bool standard = path == "-";
  int fd = STDIN_FILENO;
  if (!standard) {
    do {
      fd = systemCalls().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    } while (fd < 0 && errno == EINTR);
  }
  if (fd < 0) {
    const int error = errno;
    if (exhausted != nullptr) *exhausted = isExhaustion(error);
    return tl::unexpected(fmt::format("cannot be opened: {}{}", describeSystemError(error), nextStep(error)));
  }
  auto state = std::make_unique<State>(standard ? "<stdin>" : path, fd);
  struct stat status {};
  if (systemCalls().fstat(fd, &status) != 0) {
    return tl::unexpected("cannot be opened: " + describeSystemError(errno));
  }
  if (S_ISDIR(status.st_mode)) return tl::unexpected(std::string("is a directory; give a file"));
  // Opening a FIFO must not wait for a writer where nothing can interrupt it; reading may.
  if (!standard) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return Input(std::move(state));
}

const std::string& Input::name() const {
  return state_->name;
}

tl::expected<std::string_view, std::string> Input::peek(size_t want) {
  while (state_->available().size() < want) {
    if (state_->fill()) continue;
    if (!state_->at_end) return tl::unexpected(state_->read_error);
    break;
  }
  return state_->available();
}

tl::expected<std::string, std::string> Input::readAll(size_t limit) {
  State& state = *state_;
  std::string all(state.available());
  state.begin = state.end = 0;
  size_t size = all.size();
  while (!state.at_end && size <= limit) {
    // Doubling keeps the copying linear; one byte beyond the limit is enough to know.
    if (size == all.size()) all.resize(std::min(std::max(2 * size, kChunkBytes), std::max(limit, size) + 1));
    const ssize_t count = state.read(all.data() + size, all.size() - size);
    if (count < 0) return tl::unexpected(state.read_error);
    size += static_cast<size_t>(count);
  }
  if (size > limit) {
    return tl::unexpected(fmt::format("is larger than {}; use NDJSON for longer streams", formatSize(limit)));
  }
  all.resize(size);
  return all;
}

tl::expected<std::optional<std::string_view>, Input::LineError> Input::nextLine(size_t limit) {
  State& state = *state_;
  size_t searched = 0;
  while (true) {
    std::string_view line = state.available();
    const size_t newline = line.find('\n', searched);
    if (newline != std::string_view::npos) {
      line = line.substr(0, newline);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++state.line;
      state.begin += newline + 1;
      if (line.size() > limit) return tl::unexpected(LineError::kLineTooLong);
      return line;
    }
    searched = line.size();
    if (searched > limit + 1) {  // the one may be a "\r"
      if (!state.skipLine()) return tl::unexpected(LineError::kReadFailed);
      ++state.line;
      return tl::unexpected(LineError::kLineTooLong);
    }
    if (state.fill()) continue;
    if (!state.at_end) return tl::unexpected(LineError::kReadFailed);
    line = state.available();  // where the attempt to read more has left it
    if (line.empty()) return std::nullopt;
    ++state.line;
    state.begin = state.end;
    if (line.size() > limit) return tl::unexpected(LineError::kLineTooLong);
    return line;
  }
}

size_t Input::lineNumber() const {
  return state_->line;
}

const std::string& Input::readError() const {
  return state_->read_error;
}

void Input::stopOn(int fd) {
  state_->stop_fd = fd;
}

void Input::beforeRead(std::function<void()> callback) {
  state_->before_read = std::move(callback);
}

}  // namespace tent
