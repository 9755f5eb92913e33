// What the C++ API says of vectors: as c_surface.c, whose arguments and lines these are.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tent/engine.h"
#include "vector_line.h"

namespace {

constexpr size_t kMemory = size_t{1} << 20;

void require(const tent::Status& status, const char* what) {
  if (!status.ok()) give_up(what, status.toString().c_str());
}

tent::Request requestOf(const vector_line& vector, bool deployed_priority) {
  const tent_request_v1& entry = vector.entry;
  tent::Request request{static_cast<tent::Request::OpCode>(entry.opcode), entry.source, entry.target_id,
                        entry.target_offset, entry.length};
  request.intent_type = static_cast<tent::IntentType>(entry.intent_type);
  if (deployed_priority) {
    request.priority = vector.legacy_priority;
  } else {
    request.requested_priority = static_cast<tent::RequestedPriority>(entry.requested_priority);
  }
  request.deadline_ns = entry.deadline_ns;
  if (entry.policy_name != nullptr) request.policy_name = std::string(vector.name, vector.name_size);
  request.transport_hint = static_cast<tent::TransportType>(entry.transport_hint);
  request.flags = entry.flags;
  return request;
}

std::string explained(tent::TransferEngine& engine, const tent::Request& request, const tent::ExplainOptions& options) {
  std::string json;
  require(engine.explainTransfer({request}, options, json), "explainTransfer");
  const size_t begin = json.find('{');
  return json.substr(begin, json.rfind('}') + 1 - begin);
}

std::string outcomeOf(const tent::Status& status) {
  if (status.ok()) return "ok";
  return std::string(status.codeName()) + "/" + status.reasonName() + "/" + status.fieldName();
}

struct Peer {
  explicit Peer(tent::TransferEngine& from) : engine("{}"), source(kMemory, '\1') {
    require(engine.creationStatus(), "the peer");
    require(engine.allocateLocalMemory(&memory, kMemory), "allocateLocalMemory");
    require(from.openSegment(segment, engine.getSegmentName()), "openSegment");
  }
  tent::TransferEngine engine;
  std::string source;
  void* memory = nullptr;
  tent::SegmentID segment = 0;
};

void printSubmits(tent::TransferEngine& engine, Peer& peer, const vector_line& vector) {
  tent::Request request = requestOf(vector, false);
  request.target_id = peer.segment;
  request.target_offset += reinterpret_cast<uint64_t>(peer.memory);
  if (request.source != nullptr) request.source = peer.source.data();
  const auto mode = static_cast<tent::ValidationMode>(vector.mode);
  const tent::BatchID batch = engine.allocateBatch(2);
  const std::string plain = outcomeOf(engine.submitTransfer(batch, {request}, mode));
  const std::string notified = outcomeOf(engine.submitTransfer(batch, {request}, {"n", "m"}, mode));
  tent::ExplainOptions options;
  options.mode = mode;
  std::printf(R"({"plain":"%s","notified":"%s","explained":%s})", plain.c_str(), notified.c_str(),
              explained(engine, request, options).c_str());
  require(engine.waitBatch(batch), "waitBatch");
  require(engine.freeBatch(batch), "freeBatch");
  std::vector<tent::Notification> arrived;
  require(peer.engine.receiveNotification(arrived), "receiveNotification");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  const bool submits = what == "submit" && argc == 3;
  // "deployed": with the priority of deployed callers.
  if (!submits && !((what == "explain" || what == "deployed") && argc == 4)) {
    give_up("usage", "cpp_surface CONFIG explain|deployed ENVIRONMENT | CONFIG submit");
  }
  tent::TransferEngine engine{std::string(argv[1])};
  require(engine.creationStatus(), "TransferEngine");
  std::unique_ptr<Peer> peer;
  tent::ExplainOptions options;
  if (submits) {
    peer = std::make_unique<Peer>(engine);
  } else {
    const std::unique_ptr<char, decltype(&std::free)> text(read_text(argv[3]), &std::free);
    options.environment = text.get();
  }
  const auto vector = std::make_unique<vector_line>();
  while (read_vector(vector.get()) != 0) {
    if (submits) {
      printSubmits(engine, *peer, *vector);
    } else {
      options.mode = static_cast<tent::ValidationMode>(vector->mode);
      options.now_ns = vector->now_ns;
      std::fputs(explained(engine, requestOf(*vector, what == "deployed"), options).c_str(), stdout);
    }
    std::putchar('\n');
  }
  return 0;
}
