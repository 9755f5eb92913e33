"""Transfers between two processes: by `transfer`, and by the deployed names."""

import gc
import os
import signal
import threading
import time
import weakref
import zlib
from pathlib import Path

import numpy
import pytest
import tent

PAGE = 65536


def pattern(length, seed=1):
    return numpy.random.default_rng(seed).integers(0, 256, length, dtype=numpy.uint8)


def test_bytes_are_written_and_read_back(engine, peer, transport):
    source = pattern(1 << 20)
    intent = tent.TransferIntent(intent_type=tent.IntentType.CHECKPOINT, budget=30, transport_hint=transport)
    assert tent.transfer(source, peer.memory[:1 << 20], engine=engine, intent=intent).result(30) == 1 << 20
    assert peer.crc(0, 1 << 20) == zlib.crc32(source)
    destination = bytearray(1 << 20)
    handle = tent.transfer(peer.memory[:1 << 20], destination, engine=engine, intent=intent)
    assert handle.wait(30) and handle.done() and not handle.cancel() and handle.exception() is None
    assert zlib.crc32(destination) == zlib.crc32(source)


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, numpy.frombuffer])
def test_a_source_is_any_buffer(engine, peer, make):
    data = pattern(PAGE, 2).tobytes()
    source = make(data) if make is not numpy.frombuffer else numpy.frombuffer(data, numpy.float32).reshape(128, -1)
    tent.transfer(source, peer.memory[:PAGE], engine=engine).result(30)
    assert peer.crc(0, PAGE) == zlib.crc32(data)


def test_a_destination_is_a_part_of_a_buffer(engine, peer):
    peer.fill(0, PAGE, 7)
    memory = bytearray(3 * PAGE)
    tent.transfer(peer.memory[:PAGE], memoryview(memory)[PAGE:2 * PAGE], engine=engine).result(30)
    assert memory == bytes(PAGE) + b"\7" * PAGE + bytes(PAGE)
    array = numpy.zeros((4, 4, PAGE // 16), numpy.uint8)
    tent.transfer(peer.memory[:PAGE // 4], array[2], engine=engine).result(30)
    assert (array[2] == 7).all() and not array[1].any() and not array[3].any()


def test_allocated_memory_is_an_end(engine, peer):
    with engine.allocate_memory_guard(PAGE) as address:
        peer.fill(0, PAGE, 9)
        tent.transfer(peer.memory[:PAGE], tent.Local(address, PAGE), engine=engine).result(30)
    guard = engine.allocate_memory_guard(PAGE)
    with guard, guard.view() as view:
        tent.transfer(tent.Remote(peer.name, peer.memory.offset), guard.local()[16:32], engine=engine).result(30)
        assert bytes(view[15:33]) == b"\0" + b"\x09" * 16 + b"\0"


def test_what_is_no_memory_to_write_to_is_refused(engine, peer):
    page = peer.memory[:PAGE]
    for wrong, error, words in [
            (bytes(PAGE), BufferError, "read-only"),
            (memoryview(bytearray(PAGE)).toreadonly(), BufferError, "read-only"),
            (numpy.zeros((256, 512), numpy.uint8)[:, ::2], BufferError, "not C-contiguous"),
            (numpy.zeros((256, 256), numpy.uint8, order="F"), BufferError, "not C-contiguous"),
            (memoryview(bytearray(2 * PAGE))[::2], BufferError, "not C-contiguous"),
            (numpy.zeros(PAGE // 8, object), TypeError, "Python objects"),
            ("x" * PAGE, TypeError, "has no memory"), (4096, TypeError, "has no memory"),
            (page, TypeError, "one end is"), (bytearray(PAGE - 1), ValueError, "bytes and the destination")]:
        with pytest.raises(error, match=words):
            tent.transfer(page, wrong, engine=engine)
        with pytest.raises(error, match=words):
            tent.explain(page, wrong, engine=engine)
    with pytest.raises(TypeError, match="one end is"):
        tent.transfer(bytearray(4), bytearray(4), engine=engine)
    named = numpy.zeros(16, numpy.dtype([("Offset", numpy.int32)]))
    tent.transfer(peer.memory[:64], named, engine=engine).result(30)


def test_what_the_library_refuses_says_so_and_begins_nothing(engine, peer):
    page = bytearray(4096)
    remote = peer.memory[:4096]
    raw = tent.RawIntent(intent_type=99)
    for arguments, error, words in [
            ({"intent": tent.TransferIntent(raw=raw)}, tent.InvalidArgumentError,
             ("invalid_enum", -5, "unknown_intent_type", "intent_type", 0)),
            ({"intent_type": tent.IntentType.STAGING_INTERNAL}, tent.InvalidArgumentError,
             ("unauthorized_intent", -11, "staging_internal_reserved", "intent_type", 0)),
            ({"policy_name": "nobody"}, tent.InvalidArgumentError,
             ("invalid_policy", -7, "policy_unknown", "policy_name", 0)),
            ({"policy_name": "a\0b"}, tent.InvalidArgumentError,
             ("invalid_policy", -7, "policy_bad_character", "policy_name", 0)),
            ({"deadline_ns": time.time_ns()}, tent.InvalidArgumentError,
             ("deadline_error", -8, "deadline_out_of_range", "deadline_ns", 0)),
            ({"budget": 2**64}, tent.InvalidArgumentError,
             ("deadline_error", -8, "deadline_overflow", "deadline_ns", 0)),
            ({"budget": -1}, tent.InvalidArgumentError,
             ("deadline_error", -8, "deadline_out_of_range", "deadline_ns", 0)),
            ({"transport_hint": tent.TransportType.GDS}, tent.NotImplementedError,
             ("unsupported_field", -9, "transport_not_built", "transport_hint", 0)),
            ({"notify": ("n" * 256, "")}, tent.InvalidArgumentError,
             ("invalid_argument", -4, "notification_too_long", "notification", -1))]:
        with pytest.raises(error) as refused:
            tent.transfer(remote, page, engine=engine, **arguments)
        raised = refused.value
        assert (raised.category, raised.code, raised.reason, raised.field, raised.index) == words
        assert raised.message in str(raised) and raised.reason in str(raised)
        page.append(0), page.pop()  # nothing holds it any more
    with pytest.raises(tent.AddressNotRegisteredError):
        tent.transfer(tent.Remote(peer.name, 4096), page, engine=engine)
    with pytest.raises(tent.InvalidArgumentError) as refused:
        tent.transfer(bytes(16), peer.read_only[:16], engine=engine)
    assert refused.value.reason == "permission_denied"
    assert tent.transfer(remote, page, engine=engine, mode=tent.ValidationMode.COMPAT,
                         intent=tent.TransferIntent(raw=raw)).result(30) == 4096


def test_an_error_of_a_budget_comes_in_the_deadline_s_turn(engine, peer):
    for fields, reason in [({"policy_name": ""}, "deadline_overflow"),
                           ({"raw": tent.RawIntent(intent_type=99)}, "unknown_intent_type")]:
        intent = tent.TransferIntent(budget=2**64, **fields)
        result = tent.explain(peer.memory[:16], bytearray(16), engine=engine, intent=intent)
        assert result["error"]["reason"] == reason
        with pytest.raises(tent.InvalidArgumentError) as refused:
            tent.transfer(peer.memory[:16], bytearray(16), engine=engine, intent=intent)
        assert refused.value.reason == reason
        assert refused.value.message == result["error"]["message"]


def test_fields_or_an_intent_but_not_both(engine, peer):
    with pytest.raises(TypeError, match="not both"):
        tent.transfer(peer.memory[:16], bytearray(16), engine=engine, intent=tent.TransferIntent(), budget=1)
    with pytest.raises(TypeError, match="TransferIntent"):
        tent.transfer(peer.memory[:16], bytearray(16), engine=engine, intent=tent.IntentType.MIGRATION)


def test_a_notification_follows_the_bytes(engine, peer):
    peer.do("notifications")
    for notify in (tent.Notification("done", "1"), ("done", "2")):
        tent.transfer(b"\5" * 64, peer.memory[:64], engine=engine, notify=notify).result(30)
    assert peer.do("notifications") == [["done", "1"], ["done", "2"]]
    assert peer.crc(0, 64) == zlib.crc32(b"\5" * 64)


@pytest.mark.parametrize("wrong", ["done", ("done",), ("done", b"1"), 1])
def test_a_notification_is_two_texts(engine, peer, wrong):
    for call in (tent.transfer, tent.explain):
        with pytest.raises(TypeError):
            call(peer.memory[:16], bytearray(16), engine=engine, notify=wrong)


def test_a_canceled_transfer_ends(engine, peer):
    hint = tent.TransportType.TCP
    tent.transfer(peer.memory[:16], bytearray(16), engine=engine, transport_hint=hint).result(30)
    with peer.stopped():
        handles = [tent.transfer(peer.memory, bytearray(4 << 20), engine=engine, transport_hint=hint) for _ in range(64)]
        assert all(handle.cancel() for handle in handles[32:])
    ends = [handle.exception(30) for handle in handles]
    assert ends[:32] == [None] * 32
    assert {end and end.reason for end in ends[32:]} <= {None, "canceled"}
    assert "canceled" in {end and end.reason for end in ends}
    assert not handles[-1].cancel()


def test_explain_tells_what_a_transfer_would_get(engine, peer):
    result = tent.explain(peer.memory[:PAGE], bytearray(PAGE), engine=engine, budget=1,
                          intent_type=tent.IntentType.FOREGROUND_GET)
    assert result["status"] == "ok" and result["error"] is None
    assert result["requested"]["surface"] == "python"
    assert result["requested"]["intent_type"] == "foreground_get"
    assert result["requested"]["deadline"]["state"] == "pending"
    assert result["plan"]["stages"][0]["bytes"] == PAGE
    attributes = tent.trace_attributes(result)
    assert attributes["tent.effective.matched_policy"] == "compatibility_default"
    assert attributes["tent.requested.policy_name"] == ""


def test_memory_in_flight_is_held_and_then_let_go(engine, peer):
    destination = bytearray(1 << 20)
    handles = [tent.transfer(peer.memory[:1 << 20], destination, engine=engine, transport_hint=tent.TransportType.TCP)
               for _ in range(8)]
    held = False
    if not all(handle.done() for handle in handles):
        try:
            destination.append(0)  # resizing is refused while the engine writes there
        except BufferError:
            held = True
    assert held or all(handle.done() for handle in handles)
    for handle in handles:
        handle.result(30)
    destination.append(0)


def test_a_dropped_handle_keeps_the_memory_until_the_end(engine, peer):
    class Memory(bytearray):
        pass

    destination = Memory(1 << 20)
    alive = weakref.ref(destination)
    tent.transfer(peer.memory[:1 << 20], destination, engine=engine, transport_hint=tent.TransportType.TCP)
    del destination
    while alive() is not None:  # a later transfer finds it ended
        tent.transfer(peer.memory[:16], bytearray(16), engine=engine).result(30)
        gc.collect()


def test_closing_an_engine_ends_waits_and_lets_memory_go(peer):
    engine = tent.TransferEngine()
    destination = bytearray(4 << 20)
    dropped = bytearray(4 << 20)
    tent.transfer(peer.memory, dropped, engine=engine, transport_hint=tent.TransportType.TCP)
    handles = [tent.transfer(peer.memory, destination, engine=engine, transport_hint=tent.TransportType.TCP)
               for _ in range(16)]
    ends = []
    waits = [threading.Thread(target=lambda handle=handle: ends.append(handle.exception(30))) for handle in handles]
    for thread in waits:
        thread.start()
    engine.close()
    for thread in waits:
        thread.join(30)
    assert len(ends) == 16
    for end in ends:
        assert end is None or end.reason in ("canceled", "peer_lost")
    destination.append(0), dropped.append(0)
    engine.close()
    assert not engine.available()
    with pytest.raises(tent.InvalidArgumentError):
        engine.allocate_transfer_batch(1)


def test_an_interrupt_from_the_keyboard_ends_a_wait(engine, peer):
    tent.transfer(peer.memory[:16], bytearray(16), engine=engine, transport_hint=tent.TransportType.TCP).result(30)
    with peer.stopped():
        handle = tent.transfer(peer.memory[:1 << 20], bytearray(1 << 20), engine=engine,
                               transport_hint=tent.TransportType.TCP)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            handle.wait()
        with pytest.raises(TimeoutError):
            handle.result(0)
    assert handle.result(30) == 1 << 20


def test_other_threads_run_while_one_waits(engine, peer):
    tent.transfer(peer.memory[:16], bytearray(16), engine=engine, transport_hint=tent.TransportType.TCP).result(30)
    with peer.stopped():
        handle = tent.transfer(peer.memory[:PAGE], bytearray(PAGE), engine=engine,
                               transport_hint=tent.TransportType.TCP)
        waiting = threading.Thread(target=handle.wait)
        waiting.start()
        for _ in range(1000):
            assert not handle.done()
    waiting.join(30)
    assert handle.done()


def test_the_deployed_way(engine, peer):
    segment = engine.open_segment(peer.name)
    base = engine.get_segment_info(segment).buffers[0].base
    assert base in {peer.memory.offset, peer.read_only.offset}
    with engine.allocate_memory_guard(4096) as address, engine.allocate_batch_guard(4) as batch:
        engine.register_local_memory(address, 4096)
        requests = [tent.Request(tent.OpCode.WRITE, source=address, target_id=segment,
                                 target_offset=peer.memory.offset + 4096 * i, length=4096,
                                 transport_hint=tent.TransportType.TCP) for i in range(2)]
        engine.submit_transfer(batch, requests, tent.Notification("kv", "7"))
        engine.submit_transfer_notif(batch, requests[:1], "kv", "8")
        while engine.get_transfer_status_overall(batch).state == tent.TransferStatusEnum.PENDING:
            pass
        overall = engine.get_transfer_status_overall(batch)
        assert (overall.state, overall.bytes) == (tent.COMPLETED, 3 * 4096)
        assert [status.bytes for status in engine.get_transfer_status_list(batch)] == [4096] * 3
        assert engine.get_transfer_status(batch, 2).state is tent.COMPLETED
        engine.unregister_local_memory(address)
    assert peer.do("notifications") == [["kv", "7"], ["kv", "8"]]
    with pytest.raises(tent.InvalidArgumentError) as refused:
        engine.free_transfer_batch(batch)
    assert refused.value.reason == "bad_batch"
    engine.close_segment(segment)


def test_a_batch_is_all_or_nothing_and_names_the_request(engine, peer):
    peer.fill(0, 4096, 0)
    segment = engine.segment(peer.name)
    memory = engine.allocate_memory_guard(4096)
    with memory as address, memory.view() as view, engine.allocate_batch_guard(4) as batch:
        view[:] = b"\1" * 4096
        requests = [tent.Request(tent.OpCode.WRITE, address, segment, peer.memory.offset, 4096) for _ in range(3)]
        requests[2].length = 0
        requests[1].flags = 1
        with pytest.raises(tent.InvalidArgumentError) as refused:
            engine.submit_transfer(batch, requests)
        assert (refused.value.index, refused.value.failing, refused.value.field) == (1, 2, "flags")
        assert [result["status"] for result in engine.explain_transfer(requests)] == [
            "ok", "invalid_flags", "invalid_argument"]
        assert engine.get_transfer_status_list(batch) == []
    assert peer.crc(0, 4096) == zlib.crc32(bytes(4096))


def test_an_engine_that_does_not_come_to_life_says_why(tmp_path):
    for config in (str(tmp_path / "nowhere.json"), tmp_path / "nowhere.json", {"rpc_server_port": "x"}):
        engine = tent.TransferEngine(config)
        assert not engine.available()
        for use in (engine.__enter__, lambda: engine.allocate_transfer_batch(1), lambda: engine.segment("x:1")):
            with pytest.raises(tent.InvalidArgumentError) as refused:
                use()
            assert refused.value.reason == "bad_configuration"
    for wrong in (1, 1.0, True, ["{}"]):
        with pytest.raises(TypeError):
            tent.TransferEngine(wrong)


def test_memory_cannot_be_freed_under_its_views(engine):
    guard = engine.allocate_memory_guard(4096)
    view = guard.view()
    array = numpy.frombuffer(view, numpy.uint8)
    with pytest.raises(BufferError):
        guard.release()
    del array
    view = guard.view()
    part = view[:16]
    with pytest.raises(BufferError, match="parts or arrays"):
        guard.release()
    part.release()
    guard.release()
    guard.release()
    with pytest.raises(ValueError):
        view[0]
    with pytest.raises(ValueError, match="freed"):
        guard.view()


def test_no_view_outlives_its_engine():
    engine = tent.TransferEngine()
    guard = engine.allocate_memory_guard(4096)
    view, part = guard.view(), guard.view()[8:16]
    with pytest.raises(BufferError, match="parts or arrays"):
        engine.close()
    part.release()
    engine.close()
    with pytest.raises(ValueError):
        view[0]
    with pytest.raises(ValueError, match="freed"):
        guard.view()
    guard.release()


def test_a_segment_is_opened_once_by_many_threads(engine, peer):
    handles = []
    threads = [threading.Thread(target=lambda: handles.append(engine.segment(peer.name))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(handles) == 8 and len(set(handles)) == 1
    engine.forget_segment(peer.name)
    with pytest.raises(tent.InvalidArgumentError) as refused:
        engine.close_segment(handles[0])
    assert refused.value.reason == "unknown_segment"
    assert engine.segment(peer.name) != 0


def test_a_registered_buffer_is_held(engine):
    with tent.TransferEngine() as other:
        closed_under = other.register(held := bytearray(16))
    closed_under.release()
    held.append(0)
    buffer = bytearray(4096)
    with engine.register(buffer) as registered:
        assert registered.local().length == 4096
        with pytest.raises(BufferError):
            buffer.append(0)
    buffer.append(0)
    with pytest.raises(BufferError, match="read-only"):
        engine.register(bytes(4096))
    engine.register(bytes(4096), tent.Permission.GlobalReadOnly).release()


def test_a_child_of_fork_is_told_to_make_its_own_engine(engine, peer):
    tent.transfer(peer.memory[:16], bytearray(16), engine=engine)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                engine.allocate_transfer_batch(1)
            except RuntimeError as error:
                code = 0 if "fork" in str(error) and not engine.available() else 2
            engine.close()
            with tent.TransferEngine() as own:
                moved = tent.transfer(peer.memory[:16], bytearray(16), engine=own).result(30)
                code = code if moved == 16 else 3
            del engine
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_readme_s_example_works(capsys):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    example = readme.split("## Use it from Python")[1].split("```python\n")[1].split("```")[0]
    with tent.TransferEngine() as target, target.allocate_memory_guard(PAGE):
        exec(example.replace("10.0.0.7:4711", target.get_segment_name()).replace("budget=0.005", "budget=5"), {})
    assert capsys.readouterr().out == "65536 bytes\n"


def test_the_default_engine_is_made_once(peer):
    tent.set_default_engine(None)
    assert tent.transfer(peer.memory[:16], bytearray(16)).result(30) == 16
    assert tent.default_engine() is tent.default_engine()
    assert tent.explain(peer.memory[:16], bytearray(16))["status"] == "ok"
    with tent.TransferEngine() as other:
        tent.set_default_engine(other)
        assert tent.default_engine() is other
    tent.set_default_engine(None)
