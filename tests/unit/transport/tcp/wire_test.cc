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

TEST_CASE("an offer, and an answer with a key, come back from their texts") {
  for (const Offer offer : {Offer{1, false}, Offer{16, true}}) {
    CHECK(parseOffer(textOf(offer))->streams == offer.streams);
    CHECK(parseOffer(textOf(offer))->encrypted == offer.encrypted);
  }
  Answer answer;
  answer.port = 1;
  answer.key.emplace().fill(0x5a);
  answer.tickets.resize(3);
  const std::string text = textOf(answer);
  CHECK(parseAnswer(text)->key == answer.key);
  CHECK(parseAnswer(text)->tickets.size() == 3);
  const std::string key(64, 'a');
  const std::string ticket(32, 'a');
  for (const std::string& bad :
       {"tcp1 1 " + key, "tcp1 1 " + ticket + " " + key, "tcp1 1 " + key + " " + key + " " + ticket,
        "tcp1 1 " + std::string(64, 'g') + " " + ticket}) {
    CHECK_FALSE(parseAnswer(bad));
  }
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
