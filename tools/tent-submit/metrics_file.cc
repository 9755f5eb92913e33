#include "tent-submit/metrics_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/system_error.h"
#include "base/text.h"

namespace tent::tool {
namespace {

namespace fs = std::filesystem;

class Exposition {
 public:
  void metric(std::string_view name, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} counter\n", name, help);
  }
  void sample(std::string_view labels, uint64_t value) {
    fmt::format_to(std::back_inserter(text), "{}{} {}\n", name_, labels, value);
  }

  std::string text;

 private:
  std::string_view name_;
};

std::string writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return describeSystemError(errno);
    }
  }
  return "";
}

std::string writeTo(const std::string& path, int flags, std::string_view text) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666));
  if (!fd) return describeSystemError(errno);
  std::string error = writeAll(fd.get(), text);
  // Some file systems tell only here that there was no room.
  if (::close(fd.release()) != 0 && error.empty()) error = describeSystemError(errno);
  return error;
}

std::string temporaryFor(const std::string& path) {
  return fmt::format("{}.{}.tmp", path, getpid());
}

std::string replaceFile(const std::string& path, std::string_view text) {
  const std::string temporary = temporaryFor(path);
  std::string error = writeTo(temporary, O_CREAT | O_EXCL, text);
  struct stat old {};
  // Who may read the old one may read the new one, and nobody else.
  if (error.empty() && ::stat(path.c_str(), &old) == 0 && ::chmod(temporary.c_str(), old.st_mode & 07777) != 0) {
    error = describeSystemError(errno);
  }
  if (error.empty() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    error = describeSystemError(errno);
  }
  if (!error.empty()) ::unlink(temporary.c_str());
  return error;
}

struct Destination {
  std::string path;
  bool replaced = false;  // by a new file; else it is written to
};

Destination destinationOf(const std::string& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) return {path, true};
  if (status.type() != fs::file_type::regular) return {path, false};
  // A link is kept: what it leads to is replaced.
  const fs::path real = fs::canonical(path, code);
  return {real.empty() ? path : real.string(), true};
}

std::string cannotWrite(const std::string& path, const std::string& error) {
  return error.empty() ? "" : fmt::format("{} cannot be written: {}", escapeForTerminal(path), error);
}

}  // namespace

void addMetrics(EngineMetrics& sum, const EngineMetrics& other) {
  sum.requests_accepted += other.requests_accepted;
  sum.requests_rejected += other.requests_rejected;
  sum.tasks_completed += other.tasks_completed;
  sum.tasks_failed += other.tasks_failed;
  sum.tasks_canceled += other.tasks_canceled;
  sum.deadlines_expired_on_submit += other.deadlines_expired_on_submit;
  sum.deadlines_met += other.deadlines_met;
  sum.deadlines_missed += other.deadlines_missed;
  sum.requests_queued += other.requests_queued;
  for (const auto& downgrade : other.downgrades) {
    const auto it = std::find_if(sum.downgrades.begin(), sum.downgrades.end(), [&](const auto& one) {
      return one.field == downgrade.field && one.reason == downgrade.reason;
    });
    it != sum.downgrades.end() ? static_cast<void>(it->count += downgrade.count) : sum.downgrades.push_back(downgrade);
  }
  for (const auto& transport : other.transports) {
    const auto it = std::find_if(sum.transports.begin(), sum.transports.end(),
                                 [&](const auto& one) { return one.transport == transport.transport; });
    if (it == sum.transports.end()) {
      sum.transports.push_back(transport);
      continue;
    }
    it->attempts_succeeded += transport.attempts_succeeded;
    it->attempts_failed += transport.attempts_failed;
    it->pauses += transport.pauses;
    it->traffic.read_bytes += transport.traffic.read_bytes;
    it->traffic.written_bytes += transport.traffic.written_bytes;
    it->traffic.served_read_bytes += transport.traffic.served_read_bytes;
    it->traffic.served_written_bytes += transport.traffic.served_written_bytes;
  }
}

std::string prometheusText(const EngineMetrics& metrics) {
  Exposition out;
  out.metric("tent_requests_total", "Requests given to the engine, by what validation made of them.");
  out.sample("{outcome=\"accepted\"}", metrics.requests_accepted);
  out.sample("{outcome=\"rejected\"}", metrics.requests_rejected);
  out.metric("tent_tasks_total", "Tasks that have ended, by their last state.");
  out.sample("{state=\"completed\"}", metrics.tasks_completed);
  out.sample("{state=\"failed\"}", metrics.tasks_failed);
  out.sample("{state=\"canceled\"}", metrics.tasks_canceled);
  out.metric("tent_attempts_total", "Tries to carry a task over a transport.");
  for (const auto& one : metrics.transports) {
    const std::string_view name = nameOf(one.transport);
    out.sample(fmt::format("{{transport=\"{}\",outcome=\"succeeded\"}}", name), one.attempts_succeeded);
    out.sample(fmt::format("{{transport=\"{}\",outcome=\"failed\"}}", name), one.attempts_failed);
  }
  out.metric("tent_transport_pauses_total", "Times that a transport was paused after it had failed again and again.");
  for (const auto& one : metrics.transports) {
    out.sample(fmt::format("{{transport=\"{}\"}}", nameOf(one.transport)), one.pauses);
  }
  out.metric("tent_bytes_total", "Bytes moved between this process's memory and peers, by who asked for them.");
  for (const auto& one : metrics.transports) {
    const Traffic& traffic = one.traffic;
    const auto sample = [&, name = nameOf(one.transport)](std::string_view direction, std::string_view role,
                                                          uint64_t bytes) {
      out.sample(fmt::format("{{transport=\"{}\",direction=\"{}\",role=\"{}\"}}", name, direction, role), bytes);
    };
    sample("read", "initiator", traffic.read_bytes);
    sample("write", "initiator", traffic.written_bytes);
    sample("read", "target", traffic.served_read_bytes);
    sample("write", "target", traffic.served_written_bytes);
  }
  out.metric("tent_downgrades_total", "What was changed in requests instead of rejecting them.");
  for (const auto& [field, reason, count] : metrics.downgrades) {
    out.sample(fmt::format("{{field=\"{}\",reason=\"{}\"}}", nameOf(field), nameOf(reason)), count);
  }
  out.metric("tent_deadlines_expired_on_submit_total", "Requests of which the deadline had passed when they came.");
  out.sample("", metrics.deadlines_expired_on_submit);
  out.metric("tent_deadlines_total", "Tasks with a deadline that had not passed when they came, by what became of it.");
  out.sample("{outcome=\"met\"}", metrics.deadlines_met);
  out.sample("{outcome=\"missed\"}", metrics.deadlines_missed);
  out.metric("tent_requests_queued_total", "Requests that had to wait for room under their contract.");
  out.sample("", metrics.requests_queued);
  return std::move(out.text);
}

std::string checkMetricsFile(const std::string& path) {
  struct stat its {};
  struct stat output {};
  if (::stat(path.c_str(), &its) == 0 && ::fstat(STDOUT_FILENO, &output) == 0 && its.st_dev == output.st_dev &&
      its.st_ino == output.st_ino && !S_ISCHR(its.st_mode)) {
    return cannotWrite(path, "it is standard output, which the report goes to; name a file of its own");
  }
  const Destination destination = destinationOf(path);
  if (destination.replaced) {
    const std::string temporary = temporaryFor(destination.path);
    const std::string error = writeTo(temporary, O_CREAT | O_EXCL, "");
    ::unlink(temporary.c_str());
    return cannotWrite(path, error);
  }
  // O_NONBLOCK: a FIFO that nobody reads is told now, not waited for at the end.
  return cannotWrite(path, writeTo(path, O_NONBLOCK, ""));
}

std::string writeMetricsFile(const std::string& path, const std::string& text) {
  const Destination destination = destinationOf(path);
  return cannotWrite(path, destination.replaced ? replaceFile(destination.path, text) : writeTo(path, 0, text));
}

}  // namespace tent::tool
