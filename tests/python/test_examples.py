"""The connectors of lib/python/examples, with real peers: each operation's intent, one deadline, retries, traces."""

import sys
import time
from pathlib import Path

import numpy
import pytest
import tent

from conftest import Peer

sys.path.insert(0, str(Path(__file__).parents[2] / "lib/python/examples"))
import connector  # noqa: E402  pylint: disable=wrong-import-position
import sglang  # noqa: E402  pylint: disable=wrong-import-position
import store  # noqa: E402  pylint: disable=wrong-import-position
import vllm  # noqa: E402  pylint: disable=wrong-import-position

PAGE = 4096
CONFIG = {
    "tenant": "llm-serving",
    "policy": [{"name": "bulk", "segment_type": "memory", "intent_type": "background_prefetch", "transports": ["tcp"]},
               {"name": "any", "segment_type": "memory", "transports": ["shm", "tcp"]}],
    "qos": {"version": 1, "tenants": [{"name": "llm-serving", "intents": {
        "foreground_get": {"priority": "high"}, "background_prefetch": {"priority": "low"},
        "migration": {"priority": "medium"}, "checkpoint": {"priority": "low"}, "weight_loading": {}}}]},
}


@pytest.fixture
def engine():
    with tent.TransferEngine(CONFIG) as started:
        yield started


def requested_and_granted(attributes):
    return (attributes["tent.requested.intent_type"], attributes["tent.requested.requested_priority"],
            attributes["tent.effective.matched_policy"], attributes["tent.effective.priority"])


def test_the_store_fetches_prefetches_migrates_checkpoints_and_loads(engine, peer):
    client = store.StoreClient(engine)
    client.index["kv"] = [peer.memory[:PAGE]]
    peer.fill(0, PAGE, 3)
    assert client.get("kv", slo=5) == b"\3" * PAGE
    client.prefetch("kv")
    assert client.get("kv", slo=5) == b"\3" * PAGE
    assert client.load_weights("kv") == b"\3" * PAGE
    client.checkpoint("state", b"\4" * PAGE, [peer.memory[PAGE:3 * PAGE], peer.memory[8 * PAGE:10 * PAGE]])
    assert client.get("state") == b"\4" * PAGE
    client.migrate("state", peer.memory[16 * PAGE:17 * PAGE])
    assert client.index["state"] == [peer.memory[16 * PAGE:17 * PAGE]]
    assert client.get("state") == b"\4" * PAGE
    assert [requested_and_granted(trace) for trace in client.traces[:4]] == [
        ("foreground_get", "unspec", "llm-serving.foreground_get", "high"),
        ("background_prefetch", "unspec", "llm-serving.background_prefetch", "low"),
        ("weight_loading", "unspec", "llm-serving.weight_loading", "high"),
        ("checkpoint", "unspec", "llm-serving.checkpoint", "low")]
    assert "migration" in {trace["tent.requested.intent_type"] for trace in client.traces}
    assert client.traces[1]["tent.effective.transport_policy"] == "bulk"
    for trace in client.traces:
        assert trace["tent.outcome"] == "ok" and len(trace) == 10
        assert all(len(value) <= 128 for value in trace.values())


def test_a_lost_replica_costs_the_same_deadline_and_intent(engine, peer):
    """A replica dies under the transfer; the other one is read, by the intent and the deadline of the first attempt."""
    lost = Peer()
    peer.fill(0, PAGE, 6)
    reader = connector.Connector(engine)
    tent.transfer(lost.memory[:PAGE], bytearray(PAGE), engine=engine, transport_hint=tent.TransportType.TCP).result(30)
    value = bytearray(PAGE)
    with lost.stopped():
        before = time.monotonic_ns()
        move = reader.read(connector.Operation.KV_FETCH, [lost.memory[:PAGE], peer.memory[:PAGE]], value, slo=20)
        lost.process.kill()
    assert move.finish() == PAGE and value == b"\6" * PAGE
    lost.end()
    first, second = [attempt.intent for attempt in move.attempts]
    assert first == second == move.intent
    assert before + 19 * 10**9 < first.deadline_ns <= before + 21 * 10**9
    assert first.requested_priority is tent.RequestedPriority.UNSPEC
    assert first.transport_hint is tent.TransportType.UNSPEC
    assert (move.attributes["tent.outcome"], move.attributes["tent.attempts"]) == ("ok", "2")


def test_what_was_refused_is_not_tried_again(engine, peer):
    reader = connector.Connector(engine, policy_name="nobody")
    with pytest.raises(tent.InvalidArgumentError) as refused:
        reader.read(connector.Operation.KV_FETCH, [peer.memory[:PAGE]] * 3, bytearray(PAGE))
    assert refused.value.reason == "policy_unknown"
    late = connector.Connector(engine)
    with pytest.raises(tent.TentException):
        late.read(connector.Operation.KV_FETCH, [tent.Remote("127.0.0.1:1", 0)] * 3, bytearray(PAGE), slo=0)


def test_sglang_s_pages_come_and_go(engine, peer):
    pool = numpy.zeros((8, PAGE), numpy.uint8)
    where = {f"page-{i}": peer.memory[i * PAGE:(i + 1) * PAGE] for i in range(8)}
    for i in range(8):
        peer.fill(i * PAGE, PAGE, 10 + i)
    backend = sglang.PageBackend(engine, pool, where)
    backend.prefetch(["page-0", "page-1"], [0, 1])
    backend.fetch([f"page-{i}" for i in range(6)], range(6), ttft_left=5)
    assert (pool[:6] == numpy.arange(10, 16, dtype=numpy.uint8)[:, None]).all()
    moves = backend.migrate([4, 5], [where["page-6"], where["page-7"]], ttft_left=5)
    assert [move.finish() for move in moves] == [PAGE, PAGE]
    backend.fetch(["page-6", "page-7"], [6, 7], ttft_left=5)
    assert (pool[6:] == pool[4:6]).all()
    assert requested_and_granted(moves[0].attributes)[::3] == ("migration", "medium")


def test_vllm_s_layers_are_loaded_and_saved(engine, peer):
    layers = {f"layer.{i}": numpy.full(PAGE // 2, i, numpy.float16) for i in range(4)}
    remote = {name: peer.memory[i * PAGE:(i + 1) * PAGE] for i, name in enumerate(layers)}
    worker = vllm.KVConnector(engine, layers, remote)
    for name in layers:
        worker.save_kv_layer(name)
    worker.wait_for_save()
    for layer in layers.values():
        layer[:] = -1
    worker.start_load_kv(slo=5)
    for i, name in enumerate(layers):
        worker.wait_for_layer_load(name)
        assert (layers[name] == i).all()
    assert {requested_and_granted(trace)[0] for trace in worker.traces.values()} == {"foreground_get"}
    into = numpy.zeros(PAGE // 2, numpy.float16)
    worker.load_weights(remote["layer.3"], into)
    assert (into == 3).all()
