"""Many threads and many coroutines at once, and ten thousand transfers that leave nothing behind."""

import asyncio
import gc
import os
import queue
import threading
import tracemalloc

import pytest
import tent

PAGE = 4096


def test_threads_share_an_engine(engine, peer):
    failures = queue.SimpleQueue()

    def move(thread):
        try:
            part = peer.memory[thread * 65536:(thread + 1) * 65536]
            source, back = bytearray(65536), bytearray(65536)
            for round_ in range(40):
                source[:] = bytes([(thread * 40 + round_) % 251]) * 65536
                hint = [tent.TransportType.SHM, tent.TransportType.TCP][round_ % 2]
                tent.transfer(source, part, engine=engine, transport_hint=hint).result(60)
                assert tent.transfer(part, back, engine=engine, transport_hint=hint).result(60) == 65536
                assert source == back
        except BaseException as error:
            failures.put(error)

    threads = [threading.Thread(target=move, args=(thread,)) for thread in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures.empty(), failures.get()


def test_threads_wait_for_the_same_transfer(engine, peer):
    for _ in range(20):
        handle = tent.transfer(peer.memory[:1 << 20], bytearray(1 << 20), engine=engine,
                               transport_hint=tent.TransportType.TCP)
        moved = queue.SimpleQueue()
        threads = [threading.Thread(target=lambda: moved.put(handle.result(60))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [moved.get() for _ in threads] == [1 << 20] * 8


def test_coroutines_await_transfers_and_the_loop_runs(engine, peer):
    async def move(number):
        part = peer.memory[number * PAGE:(number + 1) * PAGE]
        source, back = bytes([number % 251]) * PAGE, bytearray(PAGE)
        for _ in range(4):
            assert await tent.transfer(source, part, engine=engine, transport_hint=tent.TransportType.TCP) == PAGE
            assert await tent.transfer(part, back, engine=engine, transport_hint=tent.TransportType.TCP) == PAGE
            assert back == source

    async def main():
        engine.segment(peer.name)
        await asyncio.gather(*[move(number) for number in range(200)])
        with peer.stopped():
            handle = tent.transfer(peer.memory[:1 << 20], bytearray(1 << 20), engine=engine,
                                   transport_hint=tent.TransportType.TCP)
            waiting = [asyncio.create_task(wait_for(handle)) for _ in range(2)]
            for _ in range(1000):  # the loop runs on
                await asyncio.sleep(0)
            assert not any(task.done() for task in waiting)
        assert await asyncio.gather(*waiting) == [1 << 20] * 2
        assert await tent.transfer_async(peer.memory[:16], bytearray(16), engine=engine) == 16

    asyncio.run(main())


async def wait_for(handle):
    return await handle


def test_a_wait_that_is_given_up_leaves_the_transfer_alone(engine, peer):
    async def main():
        await tent.transfer(peer.memory[:16], bytearray(16), engine=engine, transport_hint=tent.TransportType.TCP)
        with peer.stopped():
            handle = tent.transfer(peer.memory[:65536], bytearray(65536), engine=engine,
                                   transport_hint=tent.TransportType.TCP)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(wait_for(handle), 0.2)
            assert not handle.done()
        assert await handle == 65536
        with pytest.raises(tent.InvalidArgumentError):
            await tent.transfer_async(peer.memory[:16], bytearray(16), engine=engine, policy_name="")

    asyncio.run(main())  # connects
    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(main())
    assert len(os.listdir("/proc/self/fd")) == before


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def used(engine):
    """Descriptors, objects of ours, and threads."""
    gc.collect()
    ours = sum(1 for thing in gc.get_objects() if type(thing).__module__.startswith("tent"))
    return len(os.listdir("/proc/self/fd")), ours, threading.active_count()


def test_ten_thousand_transfers_leave_nothing_behind(engine, peer):
    intent = tent.TransferIntent(intent_type=tent.IntentType.FOREGROUND_GET, budget=60)
    page = bytearray(PAGE)

    def one(number):
        hint = [tent.TransportType.SHM, tent.TransportType.TCP][number % 2]
        handle = tent.transfer(peer.memory[:PAGE], page, engine=engine, intent=intent.replace(transport_hint=hint))
        if number % 3 == 0:
            assert handle.result(60) == PAGE  # the others are dropped in flight
        if number % 10 == 0:
            with pytest.raises(tent.InvalidArgumentError):
                tent.transfer(peer.memory[:PAGE], page, engine=engine, policy_name="")

    async def awaited(number):
        assert await tent.transfer(peer.memory[:PAGE], page, engine=engine, intent=intent) == PAGE

    async def some(numbers):
        await asyncio.gather(*[awaited(number) for number in numbers])

    def many(count):
        for number in range(count * 9 // 10):
            one(number)
        for begin in range(0, count // 10, 50):
            asyncio.run(some(range(begin, begin + 50)))
        while tent._in_flight.count():
            tent._in_flight.reap()

    many(1000)
    before, resident = used(engine), resident_bytes()
    tracemalloc.start()
    many(500)
    traced = tracemalloc.get_traced_memory()[0]
    many(9500)
    grown = tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    assert used(engine) == before
    assert grown < 100_000, f"Python holds {grown} bytes more than after the first 500"
    assert resident_bytes() - resident < 16 << 20
    page.append(0)  # nothing holds it
