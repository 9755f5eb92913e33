#include "tent-abi-check/answer.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text.h"
#include "common/exit_code.h"

namespace tent::tool {
namespace {

constexpr size_t kWordBytes = 16;
constexpr size_t kWordChars = 2 * kWordBytes;
constexpr int kHighDescriptor = 200;  // from here on: under the usual limit of 1024, over what is in use

// Of the statuses that no program has by itself: over those of this project, under those of shells.
int statusOf(std::string_view word) {
  constexpr int kFirst = 32;
  constexpr int kCount = 90;
  int sum = 0;
  for (const char c : word) sum = (sum * 31 + static_cast<unsigned char>(c)) % kCount;
  return kFirst + sum;
}

std::string randomWord() {
  std::array<char, kWordBytes> bytes{};
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<size_t>(got);
    if (got < 0 && errno != EINTR) return "";
  }
  return toHex({bytes.data(), bytes.size()});
}

// What stands between the two copies of the word.
std::optional<std::string> find(std::string_view output, const std::string& word) {
  const size_t start = output.find(word + "\n");
  if (start == std::string_view::npos) return std::nullopt;
  output.remove_prefix(start + word.size() + 1);
  const size_t end = output.find("\n" + word + "\n");
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(output.substr(0, end));
}

}  // namespace

Answer ask(std::vector<std::string> words, const ElfFile& library, uint64_t timeout_ns) {
  words.insert(words.begin(), ownProgram());
  ChildCall call{std::move(words), {}, timeout_ns, randomWord()};
  Answer answer;
  if (call.input.empty()) {
    answer.end.number = errno;
    return answer;
  }
  if (const std::string runtimes = sanitizerRuntimes(library); !runtimes.empty()) {
    call.environment.emplace_back("LD_PRELOAD", runtimes);
  }
  answer.end = runChild(call);
  answer.own_status = statusOf(call.input);
  answer.text = find(answer.end.output, call.input);
  return answer;
}

std::string describe(const Answer& answer, uint64_t timeout_ns) {
  const bool exited = answer.end.how == ChildEnd::How::kExited;
  const bool own = answer.end.exitedWith(answer.own_status);
  std::string out = describe(answer.end, timeout_ns);
  if (exited && !own) out = fmt::format("the library ended the process ({})", out);
  return withReason(std::move(out), lastLine(answer.end.errors));
}

AnswerChannel::AnswerChannel() {
  std::array<char, kWordChars> word{};
  size_t have = 0;
  while (have < word.size()) {
    const ssize_t got = read(STDIN_FILENO, word.data() + have, word.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    have += static_cast<size_t>(got);
  }
  word_.assign(word.data(), word.size());
  // Nobody else finds the rest of the pipe.
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) return;
  close(nothing);
  int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kHighDescriptor);
  // Where fewer are allowed.
  if (answer < 0) answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (answer >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) answer_ = answer;
}

int AnswerChannel::say(std::string_view text) const {
  const std::string framed = fmt::format("{0}\n{1}\n{0}\n", word_, text);
  std::string_view rest = framed;
  while (!rest.empty()) {
    const ssize_t written = write(answer_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return kExitEnvironment;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return statusOf(word_);
}

}  // namespace tent::tool
