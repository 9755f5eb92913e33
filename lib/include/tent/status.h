// What came of a call of the C++ API: the C API's tent_result_t as a value.
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tent/transfer_engine.h"

namespace tent {
inline namespace v1 {

class [[nodiscard]] Status {
 public:
  // The categories: TENT_OK and TENT_ERROR_*.
  enum class Code : int32_t {
    kOk = TENT_OK,
    kRuntimeError = TENT_ERROR_RUNTIME,
    kUnsupportedSchema = TENT_ERROR_UNSUPPORTED_SCHEMA,
    kInvalidLayout = TENT_ERROR_INVALID_LAYOUT,
    kInvalidArgument = TENT_ERROR_INVALID_ARGUMENT,
    kInvalidEnum = TENT_ERROR_INVALID_ENUM,
    kInvalidFlags = TENT_ERROR_INVALID_FLAGS,
    kInvalidPolicy = TENT_ERROR_INVALID_POLICY,
    kDeadlineError = TENT_ERROR_DEADLINE,
    kUnsupportedField = TENT_ERROR_UNSUPPORTED_FIELD,
    kTransportUnauthorized = TENT_ERROR_TRANSPORT_UNAUTHORIZED,
    kUnauthorizedIntent = TENT_ERROR_UNAUTHORIZED_INTENT,
    kUnauthorizedPriority = TENT_ERROR_UNAUTHORIZED_PRIORITY,
  };

  Status() = default;  // ok
  // Of a result that the C API has filled in.
  explicit Status(const tent_result_t& result);

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  int32_t reason() const { return reason_; }               // TENT_REASON_*
  int32_t field() const { return field_; }                 // TENT_FIELD_*
  int64_t index() const { return index_; }                 // of the request; -1: the call as a whole
  uint64_t failing() const { return failing_; }            // how many requests fail; 0 where the call itself does
  const char* codeName() const { return code_name_; }      // "invalid_enum"; "ok"
  const char* reasonName() const { return reason_name_; }  // "unknown_opcode"; "" when ok
  const char* fieldName() const { return field_name_; }    // "opcode"; "" for none
  const std::string& message() const { return message_; }  // one sentence for people; "" when ok
  std::string toString() const;                            // "invalid_enum/unknown_opcode: ...", or "ok"

 private:
  Code code_ = Code::kOk;
  int32_t reason_ = TENT_REASON_NONE;
  int32_t field_ = TENT_FIELD_NONE;
  int64_t index_ = -1;
  uint64_t failing_ = 0;
  const char* code_name_ = "ok";  // of static storage, in libtent.so
  const char* reason_name_ = "";
  const char* field_name_ = "";
  std::string message_;
};

}  // namespace v1
}  // namespace tent
