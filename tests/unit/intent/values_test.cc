#include "intent/values.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

template <typename Enum>
void namesAndNumbersAgree(int count) {
  CHECK(namesOf<Enum>().size() == static_cast<size_t>(count));
  for (int number = 0; number < count; ++number) {
    const auto value = valueOfInteger<Enum>(number);
    REQUIRE(value);
    CHECK(static_cast<int>(*value) == number);
    CHECK(valueOfName<Enum>(nameOf(*value)) == value);
  }
  for (int64_t number : {int64_t{-1}, int64_t{count}, INT64_MIN, INT64_MAX, int64_t{1} << 32}) {
    CHECK_FALSE(valueOfInteger<Enum>(number));
  }
}

TEST_CASE("every value has one name and one number, and no other number has a value") {
  namesAndNumbersAgree<Opcode>(2);
  namesAndNumbersAgree<IntentType>(7);
  namesAndNumbersAgree<RequestedPriority>(4);
  namesAndNumbersAgree<Priority>(3);
  namesAndNumbersAgree<Transport>(13);
  namesAndNumbersAgree<ValidationMode>(2);
}

TEST_CASE("the published numbers stand") {
  CHECK(static_cast<int>(IntentType::kWeightLoading) == 5);
  CHECK(static_cast<int>(IntentType::kStagingInternal) == 6);
  CHECK(static_cast<int>(RequestedPriority::kHigh) == 1);
  CHECK(static_cast<int>(Priority::kHigh) == 0);
  CHECK(static_cast<int>(Transport::kShm) == 3);
  CHECK(static_cast<int>(Transport::kTcp) == 7);
  CHECK(static_cast<int>(Transport::kMpcomm) == 12);
}

TEST_CASE("a request may spell a value as its name or as the RFC's or the header's constant") {
  CHECK(valueOfSpelling<Opcode>("write") == Opcode::kWrite);
  CHECK(valueOfSpelling<Opcode>("OPCODE_READ") == Opcode::kRead);
  CHECK(valueOfSpelling<IntentType>("FOREGROUND_GET") == IntentType::kForegroundGet);
  CHECK(valueOfSpelling<IntentType>("INTENT_UNSPEC") == IntentType::kUnspec);
  CHECK(valueOfSpelling<IntentType>("TENT_INTENT_MIGRATION") == IntentType::kMigration);
  CHECK(valueOfSpelling<IntentType>("TENT_INTENT_UNSPEC") == IntentType::kUnspec);
  CHECK(valueOfSpelling<RequestedPriority>("TENT_PRIORITY_HIGH") == RequestedPriority::kHigh);
  CHECK(valueOfSpelling<Transport>("TRANSPORT_RDMA") == Transport::kRdma);
  CHECK(valueOfSpelling<Transport>("TRANSPORT_IOURING") == Transport::kIoUring);
  CHECK(valueOfSpelling<Transport>("TRANSPORT_ASCEND_DIRECT") == Transport::kAscend);
}

TEST_CASE("no other spelling is taken for a value") {
  for (const char* text : {"", " read", "read ", "Read", "rea", "reads", "READ", "0", "1.0"}) {
    CHECK_MESSAGE(!valueOfSpelling<Opcode>(text), text);
  }
  for (const char* text :
       {"Foreground_Get", "foreground", "UNSPEC", "INTENT_MIGRATION", "TENT_INTENT_", "TENT_INTENT_migration"}) {
    CHECK_MESSAGE(!valueOfSpelling<IntentType>(text), text);
  }
  for (const char* text : {"HIGH", "High", "TENT_PRIORITY_high", "PRIORITY_HIGH"}) {
    CHECK_MESSAGE(!valueOfSpelling<RequestedPriority>(text), text);
  }
  for (const char* text : {"RDMA", "TRANSPORT_IO_URING", "TRANSPORT_ASCEND", "TENT_TRANSPORT_TCP"}) {
    CHECK_MESSAGE(!valueOfSpelling<Transport>(text), text);
  }
}

TEST_CASE("a legacy priority that has no name is low, as deployed") {
  CHECK(priorityOfLegacy(0) == Priority::kHigh);
  CHECK(priorityOfLegacy(1) == Priority::kMedium);
  for (int32_t number : {2, 3, -1, INT32_MAX, INT32_MIN}) CHECK(priorityOfLegacy(number) == Priority::kLow);
}

TEST_CASE("a transport stands in a list once, and moving it to the front keeps the others' order") {
  TransportList list{Transport::kShm, Transport::kTcp, Transport::kShm, Transport::kRdma};
  CHECK(list == TransportList{Transport::kShm, Transport::kTcp, Transport::kRdma});
  list.moveToFront(Transport::kRdma);
  CHECK(list == TransportList{Transport::kRdma, Transport::kShm, Transport::kTcp});
  list.moveToFront(Transport::kGds);
  list.moveToFront(Transport::kRdma);
  CHECK(list == TransportList{Transport::kRdma, Transport::kShm, Transport::kTcp});
}

TEST_CASE("the transports of a set are listed in the order of their numbers") {
  CHECK(listOf({}).empty());
  TransportSet set;
  for (Transport transport : {Transport::kMpcomm, Transport::kTcp, Transport::kRdma}) set.add(transport);
  CHECK(listOf(set) == TransportList{Transport::kRdma, Transport::kTcp, Transport::kMpcomm});
}

}  // namespace
}  // namespace tent
