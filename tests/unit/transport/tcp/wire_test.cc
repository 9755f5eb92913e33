#include "transport/tcp/wire.h"

#include <doctest/doctest.h>

namespace tent::tcp {

TEST_CASE("an answer comes back from its text") {
  Answer answer;
  answer.port = 4711;
  answer.tickets.resize(2);
  answer.tickets[1].fill(0xab);
  const std::optional<Answer> back = parseAnswer(textOf(answer));
  REQUIRE(back);
  CHECK(back->port == 4711);
  CHECK(back->tickets == answer.tickets);
}

TEST_CASE("what is no answer is refused") {
  const std::string ticket(32, 'a');
  CHECK(parseAnswer("tcp1 1 " + ticket));
  for (const std::string& text :
       {std::string(), std::string("tcp1"), std::string("tcp1 1"), "tcp2 1 " + ticket, "tcp1 0 " + ticket,
        "tcp1 65536 " + ticket, "tcp1 x " + ticket, "tcp1 1 " + ticket + " ", "tcp1  1 " + ticket,
        "tcp1 1 " + ticket + "a", "tcp1 1 " + ticket.substr(1), "tcp1 1 " + std::string(32, 'g'),
        "tcp1 1 " + std::string(32, 'A')}) {
    CAPTURE(text);
    CHECK_FALSE(parseAnswer(text));
  }
  std::string many = "tcp1 1";
  for (int i = 0; i < 17; ++i) many += " " + ticket;
  CHECK_FALSE(parseAnswer(many));
}

TEST_CASE("a refusal keeps its reason, and an unknown status is none") {
  for (const Reason reason : {Reason::kNone, Reason::kOutOfRange, Reason::kPermissionDenied}) {
    CHECK(reasonOfStatus(statusOf(reason)) == reason);
  }
  CHECK(reasonOfStatus(statusOf(Reason::kIoError)) == Reason::kInternal);
  CHECK_FALSE(reasonOfStatus(99));
}

}  // namespace tent::tcp
