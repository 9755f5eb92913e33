#include "abi/result.h"

#include <algorithm>
#include <string>

#include "abi/sized_structs.h"
#include "base/text.h"

namespace tent::abi {
namespace {

// A C string of static storage: the views of names are of string literals.
const char* cString(std::string_view name) {
  return name.data() == nullptr ? "" : name.data();
}

SubmitFailure& lastFailureOfThread() {
  thread_local SubmitFailure failure;
  return failure;
}

}  // namespace

int32_t numberOf(Reason reason) {
  if (reason == Reason::kNone) return TENT_REASON_NONE;
  // Reasons stand by category, each category's in the order in which they were published.
  const Category category = categoryOf(reason);
  int32_t position = 1;
  for (int i = static_cast<int>(reason) - 1; i > 0 && categoryOf(static_cast<Reason>(i)) == category; --i) ++position;
  return -codeOf(category) * 100 + position;
}

Error checkResult(const tent_result_t* result) {
  return result == nullptr ? Error{} : checkSize<tent_result_t>(result->struct_size);
}

void writeResult(const SubmitFailure& failure, tent_result_t* result, const std::string& note) {
  const Error& error = failure.error;
  const Category category = categoryOf(error.reason);
  tent_result_t whole{};
  whole.category = codeOf(category);
  whole.reason = numberOf(error.reason);
  whole.field = static_cast<int32_t>(error.field);
  whole.index = error.index;
  whole.failing = failure.failed;
  whole.category_name = cString(nameOf(category));
  whole.reason_name = cString(nameOf(error.reason));
  whole.field_name = cString(nameOf(error.field));
  const std::string message = shorten(error ? messageOf(error) : note, sizeof whole.message - 1);
  std::copy(message.begin(), message.end(), whole.message);
  writeSized(whole, result);
}

int32_t answer(int32_t code, tent_result_t* result, const std::string& note) noexcept {
  if (result == nullptr) return code;
  const int32_t written = call([&]() -> Error {
    writeResult(code == TENT_OK ? SubmitFailure{} : lastFailure(), result, note);
    return {};
  });
  return code == TENT_OK ? written : code;
}

int32_t keep(SubmitFailure failure) {
  const int32_t code = codeOf(categoryOf(failure.error.reason));
  lastFailureOfThread() = std::move(failure);
  return code;
}

const SubmitFailure& lastFailure() {
  return lastFailureOfThread();
}

}  // namespace tent::abi
