// What the intent API promises about running transfers, as figures:
//
//  1. Requests of v1 that carry no intent run as legacy ones do: the same transfers over the two calls in turn, rate
//  and
//     p99 as ratios, beside the same ratios of legacy against itself, which is the noise.
//  2. A contract protects the foreground: small reads with a deadline at a fixed pace beside bulk writes as fast as
//  they
//     go, over tcp, without and with a contract that bounds the bulk; the foreground's p99 and the bulk's rate as
//     ratios.
//
// The target is a second process. Only ratios within one run mean anything on a machine that others use too.
//
//   contract_benchmark [ROUNDS]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tent/transfer_engine.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMemoryBytes = 64u << 20;
constexpr uint64_t kForever = UINT64_MAX;

[[noreturn]] void fail(const std::string& what) {
  tent_result_t result = TENT_RESULT_INIT;
  tent_last_error(&result);
  std::fprintf(stderr, "contract_benchmark: %s: %s\n", what.c_str(), result.message);
  std::exit(4);
}

void must(int code, const char* what) {
  if (code != 0) fail(what);
}

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Engine {
  explicit Engine(const std::string& config) {
    tent_load_config_from_file(config.c_str());
    handle = tent_create_engine();
    if (handle == nullptr) fail("no engine");
  }
  ~Engine() { tent_destroy_engine(handle); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  tent_engine_t handle;
};

// Serves memory until this process ends; its segment.
std::string startTarget() {
  int told[2];
  if (pipe(told) != 0) fail("no pipe");
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Engine engine("{}");
    void* memory = nullptr;
    char name[256] = {};
    must(tent_allocate_memory(engine.handle, &memory, kMemoryBytes, ""), "no memory");
    must(tent_segment_name(engine.handle, name, sizeof name), "no name");
    if (write(told[1], name, sizeof name) != sizeof name) std::exit(4);
    while (true) pause();
  }
  char name[256] = {};
  if (read(told[0], name, sizeof name) != sizeof name) fail("the target does not serve");
  return name;
}

// An initiator with memory of its own, and the target's.
struct Initiator {
  Initiator(const std::string& config, const std::string& target) : engine(config), memory(kMemoryBytes) {
    must(tent_open_segment(engine.handle, &segment, target.c_str()), "no target");
    must(tent_register_memory(engine.handle, memory.data(), memory.size()), "no registration");
    tent_segment_info_t info{};
    must(tent_get_segment_info(engine.handle, segment, &info), "no segment");
    base = info.buffers[0].base;
    tent_free_segment_info(&info);
  }
  tent_request_v1_t request(int opcode, uint64_t offset, uint64_t length) {
    tent_request_v1_t request = TENT_REQUEST_V1_INIT;
    request.opcode = opcode;
    request.source = memory.data() + offset;
    request.target_id = segment;
    request.target_offset = base + offset;
    request.length = length;
    return request;
  }

  Engine engine;
  std::vector<char> memory;
  tent_segment_id_t segment = 0;
  uint64_t base = 0;
};

// One batch after the other.
class Batch {
 public:
  Batch(Initiator& initiator, size_t size) : engine_(initiator.engine.handle), size_(size) {}
  template <typename Submit>
  void run(Submit submit) {
    const tent_batch_id_t batch = tent_allocate_batch(engine_, size_);
    must(submit(engine_, batch), "a submit");
    must(tent_wait_batch(engine_, batch, kForever), "a wait");
    tent_status_t status{};
    must(tent_overall_status(engine_, batch, &status), "a status");
    if (status.status != STATUS_COMPLETED) fail("a transfer failed");
    must(tent_free_batch(engine_, batch), "a free");
  }

 private:
  tent_engine_t engine_;
  size_t size_;
};

// ---- 1: v1 without intent beside legacy

struct Parity {
  double rate = 0;  // batches a second
  double p99 = 0;   // seconds
};

Parity measureParity(Initiator& initiator, bool v1, int transport, uint64_t length, double seconds) {
  constexpr size_t kSize = 16;
  std::vector<tent_request_v1_t> requests;
  std::vector<tent_request_t> legacy(kSize);
  for (size_t i = 0; i < kSize; ++i) {
    tent_request_v1_t request = initiator.request(OPCODE_WRITE, i * length, length);
    request.transport_hint = transport;
    requests.push_back(request);
    legacy[i].opcode = request.opcode;
    legacy[i].source = request.source;
    legacy[i].target_id = request.target_id;
    legacy[i].target_offset = request.target_offset;
    legacy[i].length = request.length;
    legacy[i].transport_hint = transport;
  }
  Batch batch(initiator, kSize);
  std::vector<double> latencies;
  const auto start = Clock::now();
  while (secondsSince(start) < seconds) {
    const auto begun = Clock::now();
    batch.run([&](tent_engine_t engine, tent_batch_id_t id) {
      return v1 ? tent_submit_v1(engine, id, requests.data(), kSize) : tent_submit(engine, id, legacy.data(), kSize);
    });
    latencies.push_back(secondsSince(begun));
  }
  return {static_cast<double>(latencies.size()) / secondsSince(start), percentile(latencies, 0.99)};
}

// The median of ratios, and the half of the distance between their quartiles.
std::string ratioText(const std::vector<double>& ratios) {
  return fmt::format("{:5.3f} +- {:5.3f}", percentile(ratios, 0.5),
                     (percentile(ratios, 0.75) - percentile(ratios, 0.25)) / 2);
}

void compareWithLegacy(const std::string& target, int rounds) {
  fmt::print("v1 without intent against legacy (in brackets: legacy against itself, the noise), batches of 16\n");
  Initiator initiator("{}", target);
  struct Case {
    const char* name;
    int transport;
    uint64_t length;
  };
  for (const Case& one : {Case{"shm 4 KiB", TRANSPORT_SHM, 4096}, Case{"shm 1 MiB", TRANSPORT_SHM, 1u << 20},
                          Case{"tcp 4 KiB", TRANSPORT_TCP, 4096}, Case{"tcp 1 MiB", TRANSPORT_TCP, 1u << 20}}) {
    std::vector<double> rates, noise_of_rates, p99s, noise_of_p99s;
    for (int round = 0; round < rounds; ++round) {
      const auto measure = [&](bool v1) { return measureParity(initiator, v1, one.transport, one.length, 0.2); };
      // Whatever drifts meets both: v1 stands between two legacy ones.
      const Parity before = measure(false);
      const Parity v1 = measure(true);
      const Parity after = measure(false);
      rates.push_back(2 * v1.rate / (before.rate + after.rate));
      noise_of_rates.push_back(after.rate / before.rate);
      p99s.push_back(2 * v1.p99 / (before.p99 + after.p99));
      noise_of_p99s.push_back(after.p99 / before.p99);
    }
    fmt::print("  {}: rate {} [{}], p99 {} [{}]\n", one.name, ratioText(rates), ratioText(noise_of_rates),
               ratioText(p99s), ratioText(noise_of_p99s));
  }
}

// ---- 2: foreground and bulk

struct Classes {
  double p99 = 0;        // of the foreground, seconds from when a read was due
  double bulk_rate = 0;  // bytes a second
  double attained = 0;   // share of the foreground within its deadline
};

Classes measureClasses(Initiator& initiator, double seconds) {
  constexpr uint64_t kBulkBytes = 1u << 20;
  constexpr size_t kBulkDepth = 32;
  constexpr uint64_t kReadBytes = 16384;
  constexpr auto kPace = std::chrono::milliseconds(4);
  constexpr uint64_t kBudgetNs = 10'000'000;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> bulk_bytes{0};
  const auto start = Clock::now();
  std::thread bulk([&] {
    // Two batches in turn, so that there is always one that waits.
    std::vector<tent_request_v1_t> requests;
    for (size_t i = 0; i < kBulkDepth; ++i) {
      requests.push_back(initiator.request(OPCODE_WRITE, i * kBulkBytes, kBulkBytes));
      requests.back().intent_type = TENT_INTENT_CHECKPOINT;
    }
    const tent_engine_t engine = initiator.engine.handle;
    const auto begin = [&] {
      const tent_batch_id_t batch = tent_allocate_batch(engine, kBulkDepth);
      must(tent_submit_v1(engine, batch, requests.data(), kBulkDepth), "a bulk submit");
      return batch;
    };
    tent_batch_id_t running = begin();
    while (!stop) {
      const tent_batch_id_t next = begin();
      must(tent_wait_batch(engine, running, kForever), "a bulk wait");
      must(tent_free_batch(engine, running), "a free");
      bulk_bytes += kBulkDepth * kBulkBytes;
      running = next;
    }
    must(tent_wait_batch(engine, running, kForever), "a bulk wait");
    must(tent_free_batch(engine, running), "a free");
  });
  std::vector<double> latencies;
  size_t in_time = 0;
  Batch batch(initiator, 1);
  for (auto due = start + kPace; secondsSince(start) < seconds; due += kPace) {
    std::this_thread::sleep_until(due);
    tent_request_v1_t request = initiator.request(OPCODE_READ, kBulkDepth * kBulkBytes, kReadBytes);
    request.intent_type = TENT_INTENT_FOREGROUND_GET;
    must(tent_deadline_after_ns(kBudgetNs, &request.deadline_ns), "a deadline");
    batch.run([&](tent_engine_t engine, tent_batch_id_t id) { return tent_submit_v1(engine, id, &request, 1); });
    latencies.push_back(secondsSince(due));
    in_time += latencies.back() * 1e9 <= kBudgetNs ? 1U : 0U;
  }
  const double measured = secondsSince(start);
  stop = true;
  bulk.join();
  return {percentile(latencies, 0.99), static_cast<double>(bulk_bytes) / measured,
          static_cast<double>(in_time) / static_cast<double>(latencies.size())};
}

void compareClasses(const std::string& target, int rounds) {
  const std::string over_tcp = R"("policy": [{"segment_type": "memory", "transports": ["tcp"]}])";
  Initiator without("{" + over_tcp + "}", target);
  Initiator with(R"({"qos": {"defaults": {"priority": "high"}, "tenants": [{"name": "default", "intents":
      {"checkpoint": {"priority": "low", "max_inflight_bytes": "2MiB"}}}]}, )" +
                     over_tcp + "}",
                 target);
  std::vector<double> p99s, rates;
  fmt::print("foreground reads (16 KiB each 4 ms, budget 10 ms) beside bulk writes (1 MiB, 64 submitted) over tcp\n");
  for (int round = 0; round < rounds; ++round) {
    const Classes plain = measureClasses(without, 1);
    const Classes bounded = measureClasses(with, 1);
    p99s.push_back(bounded.p99 / plain.p99);
    rates.push_back(bounded.bulk_rate / plain.bulk_rate);
    fmt::print(
        "  without a contract: p99 {:7.2f} ms, in time {:5.1f}%, bulk {:5.2f} GB/s; with: p99 {:7.2f} ms, in "
        "time {:5.1f}%, bulk {:5.2f} GB/s\n",
        plain.p99 * 1e3, plain.attained * 100, plain.bulk_rate / 1e9, bounded.p99 * 1e3, bounded.attained * 100,
        bounded.bulk_rate / 1e9);
  }
  fmt::print("  with against without: p99 {}, bulk rate {}\n", ratioText(p99s), ratioText(rates));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const std::string target = startTarget();
  compareClasses(target, rounds);
  compareWithLegacy(target, rounds);
}
