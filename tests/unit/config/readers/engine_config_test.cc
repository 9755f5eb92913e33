#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reading.h"

using namespace tent;
using namespace tent::test;

TEST_CASE("an empty configuration gives the defaults") {
  const auto reading = readConfig("{}");
  REQUIRE(reading.clean());
  const EngineConfig& config = *reading.value;
  CHECK_FALSE(config.tenant);
  CHECK_FALSE(config.validation_mode);
  CHECK(config.plan.max_failover_attempts == 3);
  CHECK_FALSE(config.local_segment_name);
  CHECK(config.metadata_type == MetadataType::kP2p);
  CHECK(config.rpc_server_port == 0);
  CHECK(config.policies.transport_policies.empty());
  CHECK(config.policies.expired_admission == ExpiredAdmission::kSubmit);
  CHECK_FALSE(config.policies.admission_configured);
  CHECK(config.plan.disabled.empty());
  CHECK(config.plan.rdma_slice_bytes == 65536);
  CHECK_FALSE(config.plan.gid_index);
}

TEST_CASE("an engine that lets everybody in is warned of") {
  const auto reading = readConfig(R"({"auth": {"mode": "none"}})");
  REQUIRE(reading.lines().size() == 1);
  CHECK(reading.lines().front().find("warning: \"none\": everybody") != std::string::npos);
  CHECK(reading.value->auth.mode == AuthSettings::Mode::kNone);
}

TEST_CASE("what is set arrives in the configuration") {
  const auto reading = readConfig(R"({
    "tenant": " Tenant-A ", "validation_mode": "compat", "max_failover_attempts": 0, "local_segment_name": "node-a",
    "rpc_server_hostname": "10.0.0.1", "rpc_server_port": 65535, "metadata_type": "p2p",
    "topology": {"rdma_whitelist": ["mlx5_0"], "rdma_blacklist": ["mlx5_1", "mlx5_2"]},
    "admission": {"expired": "reject"},
    "staging": {"force": true, "chunk_size": "1MiB", "buffers": 4},
    "auth": {"mode": "token", "token_file": "/t", "encrypt_data": true},
    "files": {"roots": ["/a", "/b"]},
    "transports": {
      "rdma": {"device": {"gid_index": 3},
               "endpoint": {"service_level": 15, "traffic_class": 255,
                            "qp_pools": [{"name": "fg", "num_qp": 2, "service_level": 3, "traffic_class": 96},
                                         {"name": "bg"}]},
               "workers": {"block_size": "128K"}},
      "tcp": {"enable": true}, "shm": {"enable": false}, "io_uring": {"enable": false}}
  })");
  CHECK(reading.lines() == std::vector<std::string>{});
  REQUIRE(reading.clean());
  const EngineConfig& config = *reading.value;
  CHECK(config.tenant->view() == "tenant-a");
  CHECK(config.validation_mode == ValidationMode::kCompat);
  CHECK(config.plan.max_failover_attempts == 0);
  CHECK(config.local_segment_name == "node-a");
  CHECK(config.rpc_server_hostname == "10.0.0.1");
  CHECK(config.rpc_server_port == 65535);
  CHECK(config.plan.rdma_whitelist == std::vector<std::string>{"mlx5_0"});
  CHECK(config.plan.rdma_blacklist == std::vector<std::string>{"mlx5_1", "mlx5_2"});
  CHECK(config.policies.expired_admission == ExpiredAdmission::kReject);
  CHECK(config.policies.admission_configured);
  CHECK(config.plan.force_staging);
  CHECK(config.plan.staging_chunk_bytes == 1048576);
  CHECK(config.staging.buffers == 4);
  CHECK(config.auth.mode == AuthSettings::Mode::kToken);
  CHECK(config.auth.token_file == "/t");
  CHECK(config.auth.encrypt_data);
  CHECK(config.file_roots == std::vector<std::string>{"/a", "/b"});
  CHECK(config.plan.gid_index == 3);
  CHECK(config.plan.rdma_slice_bytes == 131072);
  CHECK(config.plan.disabled.has(Transport::kShm));
  CHECK(config.plan.disabled.has(Transport::kIoUring));
  CHECK_FALSE(config.plan.disabled.has(Transport::kTcp));
  CHECK_FALSE(config.plan.disabled.has(Transport::kRdma));
  CHECK(config.policies.default_service_level == 15);
  CHECK(config.policies.default_traffic_class == 255);
  REQUIRE(config.policies.qp_pools.size() == 2);
  CHECK(config.policies.qp_pools[0].name == "fg");
  CHECK(config.policies.qp_pools[0].num_qp == 2);
  CHECK(config.policies.qp_pools[0].service_level == 3);
  CHECK(config.policies.qp_pools[0].traffic_class == 96);
  CHECK(config.policies.qp_pools[1].num_qp == 1);
  CHECK_FALSE(config.policies.qp_pools[1].service_level);
}

TEST_CASE("a gid_index of -1 and an empty segment name are as if absent") {
  const auto reading =
      readConfig(R"({"local_segment_name": "", "transports": {"rdma": {"device": {"gid_index": -1}}}})");
  REQUIRE(reading.clean());
  CHECK_FALSE(reading.value->plan.gid_index);
  CHECK_FALSE(reading.value->local_segment_name);
}

TEST_CASE("all keys without a use are named in one warning, with their whole pointers") {
  const auto reading = readConfig(R"({
    "polcy": [], "log_level": "info", "metrics": {"enabled": true, "histogram": 1},
    "transports": {"rdma": {"endpoint": {"max_sge": 4}, "enabel": true}, "ascend_direct": {"enable": "x"}},
    "topology": {"gpu": 1}
  })");
  REQUIRE(reading.faults.faults().size() == 1);
  const Fault& warning = reading.faults.faults().front();
  CHECK(warning.severity == Severity::kWarning);
  CHECK(warning.pointer.empty());
  for (const char* part : {"/log_level", "/metrics/enabled", "/transports/rdma/endpoint/max_sge", "/metrics/histogram",
                           "/topology/gpu", "/transports/ascend_direct", "/polcy (did you mean \"policy\"?)",
                           "/transports/rdma/enabel (did you mean \"enable\"?)"}) {
    CAPTURE(part);
    CHECK(warning.message.find(part) != std::string::npos);
  }
}

TEST_CASE("what is used is not named as unused") {
  CHECK(readConfig(R"({"tenant": "a", "max_failover_attempts": 1, "transports": {"gds": {"enable": false}}})").clean());
}

TEST_CASE("a metadata type that is not built is a warning, an unknown one an error") {
  for (const char* type : {"etcd", "redis", "http"}) {
    const auto reading = readConfig(fmt::format(R"({{"metadata_type": "{}"}})", type));
    CHECK(reading.onlyWarning("/metadata_type", "will not start"));
    CHECK_FALSE(reading.faults.hasErrors());
  }
  CHECK(readConfig(R"({"metadata_type": "P2P"})").onlyFault("/metadata_type", "did you mean \"p2p\""));
}

TEST_CASE("a deployed key of the wrong type is an error although it is not used") {
  CHECK(readConfig(R"({"enable_auto_failover_on_poll": "true"})").faults.hasErrors());
  CHECK(readConfig(R"({"log_level": true})").faults.hasErrors());
  CHECK(readConfig(R"({"metadata_servers": 2379})").faults.hasErrors());
  CHECK(readConfig(R"({"metrics": {"http_server_threads": -1}})").faults.hasErrors());
  CHECK(readConfig(R"({"metrics": []})").faults.hasErrors());
  CHECK(readConfig(R"({"transports": {"rdma": {"endpoint": {"path_mtu": "4096"}}}})").faults.hasErrors());
  CHECK_FALSE(readConfig(R"({"metadata_servers": ["a:1", "b:2"], "log_level": 1})").faults.hasErrors());
}

TEST_CASE("null stands nowhere in a configuration, not even under unknown keys") {
  CHECK(readConfig(R"({"tenant": null})").onlyFault("/tenant", "null"));
  CHECK(readConfig(R"({"vendor": {"a": [1, null]}})").faults.hasErrors());
}

TEST_CASE("the bounds of numbers are the last good ones") {
  CHECK(readConfig(R"({"rpc_server_port": 65536})").onlyFault("/rpc_server_port", "65535"));
  CHECK(readConfig(R"({"max_failover_attempts": 4294967295})").clean());
  CHECK(readConfig(R"({"max_failover_attempts": 4294967296})").faults.hasErrors());
  CHECK(readConfig(R"({"max_failover_attempts": 3.0})").faults.hasErrors());
  CHECK(readConfig(R"({"transports": {"rdma": {"endpoint": {"service_level": 16}}}})").faults.hasErrors());
  CHECK(readConfig(R"({"transports": {"rdma": {"workers": {"block_size": 0}}}})").faults.hasErrors());
  CHECK(readConfig(R"({"transports": {"rdma": {"workers": {"block_size": 1}}}})").clean());
}

TEST_CASE("sections in which nothing may be unknown say so") {
  for (const char* section : {"qos", "auth", "admission", "staging", "files"}) {
    CAPTURE(section);
    const auto reading = readConfig(fmt::format(R"({{"{}": {{"x": 1}}}})", section));
    CHECK(reading.onlyFault(fmt::format("/{}/x", section), "unknown key \"x\""));
  }
  CHECK(readConfig(R"({"policy": [{"x": 1}]})").onlyFault("/policy/0/x", "unknown key"));
}
