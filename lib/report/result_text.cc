#include "report/result_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"

namespace tent {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kReset = "\x1b[0m";

// Writes the lines of one result: a heading, then sections of rows with a label, a value and where it comes from.
class Page {
 public:
  Page(std::string& out, const TextStyle& style) : out_(out), color_(style.color) {}

  void heading(size_t index, std::string_view name, std::string_view status, bool ok) {
    add("{} {}: {}\n", index, painted(kBold, escapeForTerminal(name)), painted(ok ? kGreen : kRed, status));
  }
  void section(std::string_view title) { title_ = title; }
  // The first row of a section carries its title.
  void row(std::string_view label, std::string_view value, std::string_view rule = {}) {
    add("  {:<10}{:<21} {}", title_, label, value);
    if (!rule.empty()) add("{:{}}{}", "", value.size() < 27 ? 28 - value.size() : 2, painted(kDim, rule));
    out_ += '\n';
    title_ = {};
  }
  void note(std::string_view label, std::string_view text) {
    add("  {:<10}{}{}\n", title_, painted(kYellow, fmt::format("{:<22}", label)), text);
    title_ = {};
  }
  void alarm(std::string_view label, std::string_view text) {
    add("  {:<10}{}: {}\n", title_, painted(kRed, label), text);
    title_ = {};
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  std::string painted(std::string_view color, std::string_view text) const {
    return color_ ? fmt::format("{}{}{}", color, text, kReset) : std::string(text);
  }

  std::string& out_;
  bool color_;
  std::string_view title_;
};

std::string namesText(const auto& list, std::string_view none) {
  std::string text;
  for (const auto& item : list) {
    if (!text.empty()) text += ", ";
    text += nameOf(item);
  }
  return text.empty() ? std::string(none) : text;
}

std::string deadlineText(const Deadline& deadline) {
  switch (deadline.state) {
    case DeadlineState::kNone: return "none";
    case DeadlineState::kPending: return "in " + formatDuration(deadline.remaining_ns);
    case DeadlineState::kExpired: return "expired";
  }
  return "";
}

void requestedRows(Page& page, const Result& result, const ExplainContext& context, const Redactor& redactor) {
  const RequestedIntent& requested = result.decision.requested;
  const auto reached = [&](Normalized step) { return requested.normalized >= step; };
  page.section("requested");
  page.row("surface", nameOf(requested.surface),
           fmt::format("mode {} {}", nameOf(result.mode), describe(result.mode_source)));
  if (reached(Normalized::kArguments)) {
    page.row(
        "transfer", fmt::format("{} {}", nameOf(requested.opcode), formatSize(requested.length)),
        fmt::format("local {}, remote {}, peer {}", toString(result.shape.local_memory),
                    result.shape.segment_type == SegmentType::kFile ? "file" : toString(result.shape.remote_memory),
                    context.environment.same_machine ? "on this machine" : "on another machine"));
  }
  if (reached(Normalized::kIntentType)) page.row("intent_type", nameOf(requested.intent_type));
  if (reached(Normalized::kPriority)) page.row("requested_priority", nameOf(requested.priority));
  if (reached(Normalized::kDeadline) && requested.deadline.state != DeadlineState::kNone) {
    page.row("deadline", deadlineText(requested.deadline));
  }
  if (!requested.policy_name.empty()) page.row("policy_name", redactor.policy(requested.policy_name.view()));
  if (reached(Normalized::kAll) && requested.transport_hint != Transport::kUnspec) {
    page.row("transport_hint", nameOf(requested.transport_hint));
  }
}

void downgradeRows(Page& page, const RequestedIntent& requested, const Redactor& redactor) {
  page.section("changed");
  for (const Downgrade& downgrade : requested.downgrades) {
    std::string change;
    switch (downgrade.reason) {
      case DowngradeReason::kUnknownIntentType:
      case DowngradeReason::kUnknownPriority:
        change = fmt::format("{} -> unspec", static_cast<int64_t>(downgrade.from));
        break;
      case DowngradeReason::kPriorityAboveContract:
        change = fmt::format("{} -> {}", nameOf(static_cast<RequestedPriority>(downgrade.from)),
                             nameOf(static_cast<RequestedPriority>(downgrade.to)));
        break;
      case DowngradeReason::kPolicyUnknown:
      case DowngradeReason::kPolicyUnauthorized:
        change = fmt::format("{} -> none", redactor.policy(requested.policy_name.view()));
        break;
      case DowngradeReason::kFlagsIgnored: change = fmt::format("{:#x} -> 0", downgrade.from); break;
      case DowngradeReason::kTailIgnored: change = fmt::format("bytes past 88 of {} ignored", downgrade.from); break;
    }
    page.note(nameOf(downgrade.field), fmt::format("{} ({})", change, nameOf(downgrade.reason)));
  }
}

// Where the contract's fields come from, in the words of the configuration.
class ContractRules {
 public:
  ContractRules(const Contract& contract, const Redactor& redactor) : contract_(contract) {
    contract_.tenant = contract.tenant.empty() ? PolicyName{} : PolicyName{redactor.tenant(contract.tenant.view())};
  }
  std::string of(ContractLayer layer, std::string_view key) const { return ruleOf(contract_, layer, key); }

 private:
  Contract contract_;
};

std::string_view intentRule(const RequestedIntent& requested) {
  const bool unknown = std::any_of(requested.downgrades.begin(), requested.downgrades.end(),
                                   [](const Downgrade& d) { return d.reason == DowngradeReason::kUnknownIntentType; });
  return unknown ? "in place of the unknown value" : "as requested";
}

std::string priorityRule(const EffectivePolicy& effective, const ContractRules& rules) {
  std::string ceiling = rules.of(effective.contract->priority.layer, "priority");
  switch (effective.priority_rule) {
    case PriorityRule::kAsRequested: return "as requested";
    case PriorityRule::kContractCeiling: return ceiling;
    case PriorityRule::kDefaultCeiling: return "default: no contract limits it";
    case PriorityRule::kCutToCeiling: return "cut to " + ceiling;
  }
  return "";
}

std::string transportPolicyRule(const EffectivePolicy& effective) {
  switch (effective.transport_policy_rule) {
    case TransportPolicyRule::kNamed: return "named by the request";
    case TransportPolicyRule::kFirstMatch: return "first entry of `policy` that matches";
    case TransportPolicyRule::kNoneConfigured: return "no `policy` is configured";
  }
  return "";
}

std::string transportsRule(const Result& result, const ContractRules& rules, const std::string& entry) {
  const EffectivePolicy& effective = *result.decision.effective;
  const bool listed = effective.transport_policy != nullptr && !effective.transport_policy->transports.empty();
  std::string rule = listed ? entry + ".transports" : "default order of the engine";
  if (effective.transports_cut) {
    rule += ", cut by " + rules.of(effective.contract->allowed_transports.layer, "allowed_transports");
  }
  if (result.decision.requested.transport_hint != Transport::kUnspec) rule += ", the hint first";
  return rule;
}

std::string rdmaRule(RdmaValueRule rule, const EffectivePolicy& effective, const std::string& entry,
                     std::string_view key) {
  switch (rule) {
    case RdmaValueRule::kUnset: return "";
    case RdmaValueRule::kPolicyEntry: return fmt::format("{}.{}", entry, key);
    case RdmaValueRule::kQpPool: return fmt::format("qp_pools[{}].{}", escapeForTerminal(*effective.qpPool()), key);
    case RdmaValueRule::kEndpoint: return fmt::format("transports.rdma.endpoint.{}", key);
  }
  return "";
}

void effectiveRows(Page& page, const Result& result, const ExplainContext& context, const Redactor& redactor,
                   const TextStyle& style) {
  const EffectivePolicy& effective = *result.decision.effective;
  const Contract& contract = *effective.contract;
  const ContractRules rules(contract, redactor);
  const TransportPolicy* policy = effective.transport_policy;
  const std::string policy_name = policy != nullptr ? escapeForTerminal(redactor.policy(policy->name)) : "none";
  const std::string entry = fmt::format("policy[{}]", policy_name);
  std::vector<std::string_view> unset;
  const auto row = [&](std::string_view key, bool set, const std::string& value, const std::string& rule) {
    if (set || style.verbose) {
      page.row(key, set ? value : key == "devices" ? "all" : "none", set ? rule : "default");
    } else {
      unset.push_back(key);
    }
  };
  const auto limit = [&](std::string_view key, const Merged<uint64_t>& merged, bool bytes) {
    const uint64_t value = merged.value.value_or(0);
    row(key, merged.value.has_value(), bytes ? formatSize(value) : std::to_string(value), rules.of(merged.layer, key));
  };

  page.section("effective");
  page.row("tenant", redactor.tenant(effective.tenant.view()), describe(result.tenant_source));
  page.row("intent_type", nameOf(effective.intent_type), intentRule(result.decision.requested));
  page.row("priority", nameOf(effective.priority), priorityRule(effective, rules));
  page.row(
      "matched_policy", redactor.matchedPolicy(contract.matched_policy),
      contract.matched_policy == "compatibility_default" ? "no `qos` is configured" : "most specific layer of `qos`");
  page.row("transport_policy", policy_name, transportPolicyRule(effective));
  page.row("authorized_transports", namesText(effective.authorized_transports, "none"),
           transportsRule(result, rules, entry));
  const std::string* pool = effective.qpPool();
  row("qp_pool", pool != nullptr, pool != nullptr ? escapeForTerminal(*pool) : "", entry + ".qp_pool");
  row("service_level", effective.service_level.has_value(), std::to_string(effective.service_level.value_or(0)),
      rdmaRule(effective.service_level_rule, effective, entry, "service_level"));
  row("traffic_class", effective.traffic_class.has_value(), std::to_string(effective.traffic_class.value_or(0)),
      rdmaRule(effective.traffic_class_rule, effective, entry, "traffic_class"));
  std::string devices;
  if (policy != nullptr) {
    for (const std::string& device : policy->devices) {
      devices += (devices.empty() ? "" : ", ") + escapeForTerminal(redactor.device(device));
    }
  }
  row("devices", !devices.empty(), devices, entry + ".devices");
  limit("max_inflight_bytes", contract.max_inflight_bytes, true);
  limit("max_inflight_requests", contract.max_inflight_requests, false);
  const auto& actions = contract.allowed_degraded_actions;
  row("degraded_actions", actions.value.has_value(),
      namesText(actions.value.value_or(std::vector<DegradedAction>{}), "none allowed"),
      rules.of(actions.layer, "allowed_degraded_actions"));
  page.row("admission", nameOf(effective.admission),
           context.config.policies.admission_configured ? "admission.expired" : "default");
  if (!unset.empty()) page.row("not set", fmt::format("{}", fmt::join(unset, ", ")));
}

std::string stageText(const Stage& stage, const Redactor& redactor) {
  const auto device = [&](const std::string& name) {
    return stage.type == StageType::kTransfer ? redactor.device(name) : name;
  };
  std::string text = fmt::format("{} over {}, {}", nameOf(stage.type), stage.backend, formatSize(stage.bytes));
  if (stage.slices > 1) text += fmt::format(" in {} slices of {}", stage.slices, formatSize(stage.slice_bytes));
  if (stage.type == StageType::kCopy) {
    const bool local = !stage.local_device.empty();
    text += fmt::format(", {} and staging buffers of {}", local ? stage.local_device : stage.remote_device,
                        local ? "this host" : "the peer");
  } else if (!stage.local_device.empty()) {
    text += fmt::format(", {} -> {}", escapeForTerminal(device(stage.local_device)),
                        escapeForTerminal(device(stage.remote_device)));
  }
  if (!stage.qp_pool.empty()) text += fmt::format(", pool {}", escapeForTerminal(stage.qp_pool));
  if (stage.service_level) text += fmt::format(", SL {}", *stage.service_level);
  if (stage.traffic_class) text += fmt::format(", TC {}", *stage.traffic_class);
  return text;
}

void nicRows(Page& page, const Result& result, PathKind path_kind, const ExplainContext& context,
             const Redactor& redactor, const TextStyle& style) {
  // The addresses that the sentences quote are redacted beforehand; their classes, and so the choice, stay the same.
  const Environment shown = redactor.environment(context.environment);
  const NicTrace trace = traceNics(*result.decision.effective, result.shape, path_kind, context.config.policies,
                                   context.config.plan, shown);
  const auto safe = [&](const std::string& text) {
    return escapeForTerminal(redactor.sentence(text, context.environment));
  };
  page.row("nics", safe(trace.pair));
  if (!style.verbose) return;
  const auto verdicts = [&](std::string_view side, const std::vector<NicVerdict>& list) {
    for (const NicVerdict& verdict : list) {
      page.row(fmt::format("  {} {}", side, safe(verdict.name)), safe(verdict.why));
    }
  };
  verdicts("local", trace.local);
  verdicts("remote", trace.remote);
}

// Whether NICs tell why rdma is not used: there are some, and the memories are there too.
bool nicsMatter(const std::vector<Rejected>& rejected, const Result& result, const Environment& environment) {
  const bool memories =
      environment.local.has(result.shape.local_memory) && environment.peer.has(result.shape.remote_memory);
  return memories && !environment.local.nics.empty() &&
         std::any_of(rejected.begin(), rejected.end(), [](const Rejected& candidate) {
           return candidate.backend == Transport::kRdma &&
                  (candidate.reason == RejectReason::kDeviceMissing || candidate.reason == RejectReason::kPeerLacks ||
                   candidate.reason == RejectReason::kMemoryPairUnsupported);
         });
}

void rejectedRows(Page& page, const std::vector<Rejected>& rejected, const Redactor& redactor) {
  for (const Rejected& candidate : rejected) {
    page.row(fmt::format("not {}", nameOf(candidate.backend)),
             fmt::format("{}: {}", nameOf(candidate.reason), escapeForTerminal(redactor.message(candidate))));
  }
}

std::string fallbacksText(const ExecutionPlan& plan) {
  std::string text;
  for (Transport transport : plan.fallbacks) {
    const bool changes_path = plan.staged_fallbacks.has(transport) != (plan.path_kind == PathKind::kStaged);
    text += text.empty() ? "" : ", ";
    text += nameOf(transport);
    if (changes_path) text += plan.path_kind == PathKind::kStaged ? " (directly)" : " (through host memory)";
  }
  return text.empty() ? "nothing else: a failure is final" : text;
}

void planRows(Page& page, const Result& result, const ExplainContext& context, const Redactor& redactor,
              const TextStyle& style) {
  const ExecutionPlan& plan = *result.decision.plan;
  page.section("plan");
  for (const Stage& stage : plan.stages) page.row(nameOf(plan.path_kind), stageText(stage, redactor));
  if (plan.primary == Transport::kRdma || nicsMatter(plan.rejected, result, context.environment)) {
    nicRows(page, result, plan.path_kind, context, redactor, style);
  }
  const std::string limit = fmt::format("max_failover_attempts {}", context.config.plan.max_failover_attempts);
  page.row("then", fallbacksText(plan), plan.fallbacks_cut ? limit : "");
  rejectedRows(page, plan.rejected, redactor);
}

}  // namespace

void appendText(std::string& out, const Result& result, const ExplainContext& context, const Redactor& redactor,
                const TextStyle& style) {
  const Decision& decision = result.decision;
  const bool ok = !decision.error;
  Page page(out, style);
  page.heading(result.index, result.name, nameOf(categoryOf(decision.error.reason)), ok);
  requestedRows(page, result, context, redactor);
  downgradeRows(page, decision.requested, redactor);
  if (decision.effective) effectiveRows(page, result, context, redactor, style);
  if (decision.plan) planRows(page, result, context, redactor, style);
  if (!ok) {
    page.section("rejected");
    page.alarm(nameOf(decision.error.reason), escapeForTerminal(redactor.message(decision.error)));
    rejectedRows(page, decision.rejected, redactor);
    if (nicsMatter(decision.rejected, result, context.environment)) {
      nicRows(page, result, PathKind::kDirect, context, redactor, style);
    }
  }
}

}  // namespace tent
