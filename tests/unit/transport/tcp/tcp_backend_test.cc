#include "transport/tcp/tcp_backend.h"

#include <algorithm>
#include <cerrno>
#include <latch>
#include <thread>

#include "support/stormy_calls.h"
#include "unit/transport/tcp/raw_target.h"

namespace tent {
namespace {

void fill(std::vector<std::byte>& memory, uint64_t seed) {
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 11);
}

}  // namespace

TEST_CASE("short reads and writes, interruptions and refusals to block change nothing about the bytes") {
  const StormyCalls storm;
  TwoEnds ends;
  fill(ends.local, 1);
  CHECK(ends.run(ends.transfer(Direction::kWrite, 1, 3, 500'001)).reason == Reason::kNone);
  CHECK(std::equal(ends.local.begin() + 3, ends.local.begin() + 500'004, ends.remote.begin() + 3));
  CHECK(ends.remote[2] == std::byte{0});
  CHECK(ends.remote[500'004] == std::byte{0});
  fill(ends.remote, 2);
  std::vector<Transfer> many;
  for (uint64_t i = 0; i < 300; ++i) {
    many.push_back(ends.transfer(i % 2 == 0 ? Direction::kRead : Direction::kWrite, 100 + i, i * 1000, 999));
  }
  ends.link->submit(many);
  for (const Transfer& transfer : many) CHECK(ends.recorder->of(transfer.token).reason == Reason::kNone);
  for (uint64_t i = 0; i < 300; ++i) {
    CHECK(std::equal(ends.local.begin() + static_cast<ptrdiff_t>(i * 1000),
                     ends.local.begin() + static_cast<ptrdiff_t>(i * 1000 + 999),
                     ends.remote.begin() + static_cast<ptrdiff_t>(i * 1000)));
  }
}

TEST_CASE("several streams carry the transfers of one link") {
  TcpOptions options;
  options.streams = 4;
  TwoEnds ends(options);
  fill(ends.local, 1);
  std::vector<Transfer> many;
  for (uint64_t i = 0; i < 100; ++i) many.push_back(ends.transfer(Direction::kWrite, i, i * 10'000, 10'000));
  ends.link->submit(many);
  for (const Transfer& transfer : many) CHECK(ends.recorder->of(transfer.token).reason == Reason::kNone);
  CHECK(std::equal(ends.local.begin(), ends.local.begin() + 1'000'000, ends.remote.begin()));
  CHECK(ends.initiator->traffic().written_bytes == 1'000'000);
  CHECK(ends.target->traffic().served_written_bytes == 1'000'000);
}

TEST_CASE("either side's wish encrypts a link; nothing that is moved can be read on the way") {
  for (const bool target_wants : {false, true}) {
    TcpOptions wishing;
    wishing.encrypt = true;
    TcpOptions plain;
    TwoEnds ends(target_wants ? plain : wishing, 1u << 20, target_wants ? wishing : plain);
    fill(ends.local, 1);
    CHECK(ends.run(ends.transfer(Direction::kWrite, 1, 0, 1u << 20)).reason == Reason::kNone);
    CHECK(ends.local == ends.remote);
    fill(ends.remote, 2);
    CHECK(ends.run(ends.transfer(Direction::kRead, 2, 5, 300'000)).reason == Reason::kNone);
    CHECK(std::equal(ends.local.begin() + 5, ends.local.begin() + 300'005, ends.remote.begin() + 5));
  }
}

TEST_CASE("an initiator that encrypts does not take an answer without a key") {
  TcpOptions wishing;
  wishing.encrypt = true;
  TwoEnds ends(wishing, 4096, TcpOptions{});
  const auto link =
      ends.initiator->connect(ends.target->answer("1").value(), "127.0.0.1", std::make_shared<Recorder>());
  REQUIRE_FALSE(link);
  CHECK(link.error().reason == Reason::kAuthFailed);
}

TEST_CASE("the ticket of an encrypted stream lets nobody in without its key, nor the other way round") {
  TwoEnds ends;
  const tcp::Answer encrypted = tcp::parseAnswer(ends.target->answer("1 encrypted").value()).value();
  const tcp::Answer plain = tcp::parseAnswer(ends.target->answer("1").value()).value();
  REQUIRE(encrypted.key);
  REQUIRE_FALSE(plain.key);
  CHECK(statusFor(encrypted.port, encrypted.tickets[0]) == tcp::Welcome::kRefused);
  const auto refused = [&](tcp::Answer answer) {
    const auto recorder = std::make_shared<Recorder>();
    const auto link = ends.initiator->connect(textOf(answer), "127.0.0.1", recorder).value();
    return link->waitReady(kWatchdogNs).reason;
  };
  tcp::Answer crossed = plain;
  crossed.key = encrypted.key;  // the right key, with the ticket of a plain stream
  CHECK(refused(crossed) == Reason::kAuthFailed);
  tcp::Answer other_key = encrypted;
  other_key.key->fill(7);
  CHECK(refused(other_key) == Reason::kAuthFailed);
  CHECK(refused(encrypted) == Reason::kNone);
  CHECK(refused(encrypted) == Reason::kAuthFailed);  // it was used
}

TEST_CASE("a refused transfer leaves its neighbours alone") {
  TwoEnds ends;
  fill(ends.local, 1);
  std::vector<Transfer> three{ends.transfer(Direction::kWrite, 1, 0, 100'000),
                              ends.transfer(Direction::kWrite, 2, 0, 300'000),
                              ends.transfer(Direction::kWrite, 3, 200'000, 100'000)};
  three[1].remote_address += 900'000;  // its end is outside
  ends.link->submit(three);
  CHECK(ends.recorder->of(2).reason == Reason::kOutOfRange);
  CHECK(ends.recorder->of(2).aftermath == Aftermath::kUntouched);
  CHECK(ends.recorder->of(1).reason == Reason::kNone);
  CHECK(ends.recorder->of(3).reason == Reason::kNone);
  CHECK(std::equal(ends.local.begin(), ends.local.begin() + 100'000, ends.remote.begin()));
  CHECK(std::equal(ends.local.begin() + 200'000, ends.local.begin() + 300'000, ends.remote.begin() + 200'000));
  CHECK(ends.remote[900'000] == std::byte{0});
}

TEST_CASE("a ticket lets one stream in, once") {
  TwoEnds ends;
  const tcp::Answer answer = tcp::parseAnswer(ends.target->answer("1").value()).value();
  tcp::Hello hello;
  hello.ticket = answer.tickets[0];
  const Fd first = connectTo(answer.port);
  sendValue(first, hello);
  tcp::Welcome welcome;
  CHECK(receiveValue(first, welcome));
  const Fd second = connectTo(answer.port);
  sendValue(second, hello);
  CHECK(isClosed(second));
  hello.ticket.fill(0);
  const Fd third = connectTo(answer.port);
  sendValue(third, hello);
  CHECK(isClosed(third));
}

TEST_CASE("connections that show nothing are cut off, and keep nobody with a ticket out") {
  TwoEnds ends;
  const tcp::Answer answer = tcp::parseAnswer(ends.target->answer("1").value()).value();
  std::vector<Fd> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(connectTo(answer.port));
  CHECK(statusFor(answer.port, answer.tickets[0]) == tcp::Welcome::kAdmitted);
  for (const Fd& each : silent) CHECK(isClosed(each));  // the last after two seconds
}

TEST_CASE("many streams that come at once are all let in") {
  TwoEnds ends;
  std::vector<std::unique_ptr<Link>> links;
  std::vector<std::string> answers;
  for (int i = 0; i < 300; ++i) answers.push_back(ends.target->answer("1").value());
  for (const std::string& answer : answers) {
    links.push_back(ends.initiator->connect(answer, "127.0.0.1", std::make_shared<Recorder>()).value());
  }
  for (const auto& link : links) CHECK(link->waitReady(kWatchdogNs).reason == Reason::kNone);
}

TEST_CASE("offers and answers that make no sense are refused") {
  TwoEnds ends;
  for (const char* offer : {"", "0", "17", "x", "1 ", "-1", " encrypted", "1  encrypted", "1 encrypted "})
    CHECK_FALSE(ends.target->answer(offer));
  // Tickets for another number of streams than this end opens.
  const std::string two = ends.target->answer("2").value();
  CHECK_FALSE(ends.initiator->connect(two, "127.0.0.1", ends.recorder));
}

TEST_CASE("a ticket that is not good ends the link with auth_failed") {
  TwoEnds ends;
  const auto recorder = std::make_shared<Recorder>();
  tcp::Answer answer = tcp::parseAnswer(ends.target->answer("1").value()).value();
  answer.tickets[0].fill(7);
  const auto link = ends.initiator->connect(textOf(answer), "127.0.0.1", recorder).value();
  CHECK(link->waitReady(kWatchdogNs).reason == Reason::kAuthFailed);
  CHECK(recorder->end().reason == Reason::kAuthFailed);
}

TEST_CASE("nonsense ends the connection it came on, and no other") {
  struct Frame {
    tcp::Head head;
    tcp::RequestEntry entry;
  };
  const Frame good{{tcp::kMagic, 1, 0}, {1, 0, 16, tcp::RequestEntry::kRead, 0}};
  std::vector<Frame> bad(8, good);
  bad[0].head.magic = 0;
  bad[1].head.entries = 0;
  bad[2].head.entries = UINT32_MAX;
  bad[3].head.payload_bytes = UINT64_MAX;
  bad[4].head.payload_bytes = 1;
  bad[5].entry.length = 0;
  bad[6].entry.length = UINT64_MAX;
  bad[7].entry.operation = 2;
  TwoEnds ends;
  for (size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    const Fd fd = welcomed(*ends.target);
    sendValue(fd, bad[i]);
    CHECK(isClosed(fd));
  }
  CHECK(ends.run(ends.transfer(Direction::kRead, 1, 0, 10)).reason == Reason::kNone);
}

TEST_CASE("a peer that answers nonsense ends the link, and is given no memory to write to") {
  TwoEnds ends;
  const RawTarget target;
  struct Reply {
    tcp::Head head;
    std::array<tcp::ResponseEntry, 2> entries;
  };
  for (int kind = 0; kind < 5; ++kind) {
    CAPTURE(kind);
    const auto recorder = std::make_shared<Recorder>();
    const auto link = ends.initiator->connect(target.answer(), "127.0.0.1", recorder).value();
    const Fd fd = target.welcome();
    const Transfer read = ends.transfer(Direction::kRead, 9, 0, 64);
    link->submit({&read, 1});
    tcp::Head head;
    tcp::RequestEntry request;
    REQUIRE(receiveValue(fd, head));
    REQUIRE(receiveValue(fd, request));
    Reply reply{{tcp::kMagic, 2, 64}, {{{request.id, 64, 0, 0}, {request.id, 0, 0, 0}}}};
    if (kind == 0) reply.entries[1].id = request.id;  // twice the same
    if (kind == 1) reply.entries[0].id = request.id + 1;
    if (kind == 2) reply.entries[0].payload_bytes = 65;
    if (kind == 3) reply.head.magic = 1;
    if (kind == 4) reply.entries[0].status = 99;
    sendValue(fd, reply);
    const Completion completion = recorder->of(9);
    CHECK(completion.reason == Reason::kIoError);
    CHECK(completion.aftermath == Aftermath::kSettled);
    CHECK(recorder->end().reason == Reason::kIoError);
  }
  CHECK(std::all_of(ends.local.begin(), ends.local.begin() + 128, [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("a peer that stands still is given up, reads as settled and writes as unsettled") {
  TcpOptions options;
  options.stall_timeout_ns = 50'000'000;
  TwoEnds ends(options, 64u << 20);
  REQUIRE_FALSE(ends.link->waitReady(kWatchdogNs));
  // The target's thread is kept from its sockets, as a stopped process is.
  std::latch held(1);
  std::latch let_go(1);
  std::thread holder([&] {
    ends.target_loop.run([&] {
      held.count_down();
      let_go.wait();
    });
  });
  held.wait();
  const std::vector<Transfer> two{ends.transfer(Direction::kRead, 1, 0, 1000),
                                  ends.transfer(Direction::kWrite, 2, 0, 64u << 20)};
  ends.link->submit(two);
  CHECK(ends.recorder->of(1).reason == Reason::kPeerLost);
  CHECK(ends.recorder->of(1).aftermath == Aftermath::kSettled);
  CHECK(ends.recorder->of(2).aftermath == Aftermath::kUnsettled);
  CHECK(ends.recorder->end().reason == Reason::kPeerLost);
  const Transfer late = ends.transfer(Direction::kRead, 3, 0, 10);
  ends.link->submit({&late, 1});
  CHECK(ends.recorder->of(3).reason == Reason::kPeerLost);
  CHECK(ends.recorder->of(3).aftermath == Aftermath::kUntouched);
  CHECK(ends.link->ended());
  let_go.count_down();
  holder.join();
}

TEST_CASE("what is idle is not given up") {
  TcpOptions options;
  options.stall_timeout_ns = 200'000'000;
  TwoEnds ends(options);
  for (uint64_t i = 0; i < 3; ++i) {
    CHECK(ends.run(ends.transfer(Direction::kRead, i, 0, 10)).reason == Reason::kNone);
    CHECK(ends.link->waitReady(0).reason == Reason::kNone);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));  // idle for longer than the limit is what is tested
  }
  CHECK(ends.recorder->isOpen());
}

TEST_CASE("memory is unregistered in time although a peer stands still in the middle of writing it") {
  TwoEnds ends;
  const Fd fd = welcomed(*ends.target);
  sendValue(fd, tcp::Head{tcp::kMagic, 1, 1000});
  sendValue(fd,
            tcp::RequestEntry{1, reinterpret_cast<uintptr_t>(ends.remote.data()), 1000, tcp::RequestEntry::kWrite, 0});
  sendValue(fd, 'x');
  // Another transfer behind it on another connection shows that the target has seen it by now or will see it later.
  CHECK(ends.run(ends.transfer(Direction::kRead, 1, 0, 10)).reason == Reason::kNone);
  ends.target->unregisterRegion(1);
  CHECK(ends.run(ends.transfer(Direction::kRead, 2, 0, 10)).reason == Reason::kOutOfRange);
}

TEST_CASE("nobody at the port is peer_unreachable, with what to look at") {
  TwoEnds ends;
  tcp::Answer answer = tcp::parseAnswer(ends.target->answer("1").value()).value();
  ends.target->stop();
  const auto recorder = std::make_shared<Recorder>();
  const auto link = ends.initiator->connect(textOf(answer), "127.0.0.1", recorder).value();
  const Transfer write = ends.transfer(Direction::kWrite, 1, 0, 10);
  link->submit({&write, 1});
  const Completion completion = recorder->of(1);
  CHECK(completion.reason == Reason::kPeerUnreachable);
  CHECK(completion.aftermath == Aftermath::kUntouched);
  CHECK(completion.detail.find(std::to_string(answer.port)) != std::string::npos);
}

TEST_CASE("a target that stops ends the links to it, and reports everything") {
  TwoEnds ends({}, 64u << 20);
  std::vector<Transfer> many;
  for (uint64_t i = 0; i < 64; ++i) many.push_back(ends.transfer(Direction::kWrite, i, i << 20, 1u << 20));
  REQUIRE_FALSE(ends.link->waitReady(kWatchdogNs));
  ends.link->submit(many);
  ends.target->stop();
  for (const Transfer& transfer : many) ends.recorder->of(transfer.token);
  CHECK(ends.recorder->end().reason == Reason::kPeerLost);
  CHECK(ends.recorder->isConsistent());
}

TEST_CASE("a link that has ended lets go of its observer, which may own it") {
  TwoEnds ends;
  auto recorder = std::make_shared<Recorder>();
  const auto link = ends.initiator->connect(ends.target->answer("1").value(), "127.0.0.1", recorder).value();
  link->close(errorOf(Reason::kCanceled, "enough"));
  const std::weak_ptr<Recorder> watch = recorder;
  recorder.reset();
  CHECK(watch.expired());
}

TEST_CASE("a taken port is an error that names it") {
  TwoEnds ends;
  TcpOptions options;
  options.port = tcp::parseAnswer(ends.target->answer("1").value())->port;
  const auto second = makeTcpBackend(ends.target_loop, options);
  REQUIRE_FALSE(second);
  CHECK(second.error().reason == Reason::kIoError);
  CHECK(second.error().detail.find(std::to_string(options.port)) != std::string::npos);
  options.bind_address = "not an address";
  CHECK_FALSE(makeTcpBackend(ends.target_loop, options));
}

TEST_CASE("strangers beyond 64 are closed at once, and those before them keep their time") {
  TwoEnds ends;
  const uint16_t port = tcp::parseAnswer(ends.target->answer("1").value())->port;
  REQUIRE_FALSE(ends.link->waitReady(kWatchdogNs));
  std::vector<Fd> strangers;
  for (int i = 0; i < 64; ++i) strangers.push_back(connectTo(port));
  CHECK(isClosed(connectTo(port)));
  CHECK(ends.run(ends.transfer(Direction::kRead, 1, 0, 10)).reason == Reason::kNone);
  CHECK(isClosed(strangers[0]));  // after its two seconds
}

}  // namespace tent
