#include "transport/tickets.h"

#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace tent {

TEST_CASE("a ticket is good once") {
  TicketBook book(100);
  const Ticket ticket = book.issue(1);
  CHECK(book.redeem(ticket, 2));
  CHECK_FALSE(book.redeem(ticket, 2));
}

TEST_CASE("a ticket is good for a limited time, and showing it too late uses it up") {
  TicketBook book(100);
  const Ticket in_time = book.issue(1);
  const Ticket late = book.issue(1);
  CHECK(book.redeem(in_time, 100));
  CHECK_FALSE(book.redeem(late, 101));
  CHECK_FALSE(book.redeem(late, 50));
}

TEST_CASE("what was not given out is not good: another book's, one with a bit changed, zeros") {
  TicketBook book(100);
  TicketBook other(100);
  Ticket ticket = book.issue(1);
  CHECK_FALSE(book.redeem(other.issue(1), 2));
  CHECK_FALSE(book.redeem({}, 2));
  for (size_t i = 0; i < ticket.size(); ++i) {
    Ticket changed = ticket;
    changed[i] ^= 0x10;
    CHECK_FALSE(book.redeem(changed, 2));
  }
  CHECK(book.redeem(ticket, 2));
}

TEST_CASE("no two tickets are alike") {
  TicketBook book(100);
  std::set<Ticket> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(book.issue(1));
  CHECK(seen.size() == 1000);
}

TEST_CASE("a peer that uses none of its tickets takes the place of the oldest, and no memory beyond that") {
  TicketBook book(1000);
  const Ticket oldest = book.issue(1);
  std::vector<Ticket> newer;
  for (size_t i = 0; i < TicketBook::kMaxTickets; ++i) newer.push_back(book.issue(2));
  CHECK_FALSE(book.redeem(oldest, 3));
  CHECK(book.redeem(newer.front(), 3));
  CHECK(book.redeem(newer.back(), 3));
}

TEST_CASE("after clear no ticket is good") {
  TicketBook book(100);
  const Ticket ticket = book.issue(1);
  book.clear();
  CHECK_FALSE(book.redeem(ticket, 1));
}

TEST_CASE("a ticket is written as 32 digits, and nothing else is read") {
  const Ticket ticket = TicketBook(100).issue(1);
  const std::string text = toHex(ticket);
  CHECK(text.size() == 32);
  CHECK(ticketOfHex(text) == ticket);
  for (const std::string& bad : {std::string(), text.substr(1), text + "0", text.substr(2), "g" + text.substr(1)}) {
    CHECK_FALSE(ticketOfHex(bad));
  }
}

}  // namespace tent
