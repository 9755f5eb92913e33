// Errors as the C API tells them: the numbers of the header, and this thread's last one.
//
// Thread safety: the last error is each thread's own; the rest is pure.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "base/error.h"
#include "engine/engine.h"
#include "tent/transfer_engine.h"

namespace tent::abi {

// TENT_REASON_*.
int32_t numberOf(Reason reason);

// Writes the result as far as the caller's struct goes; `note` is the message of a success. The caller's struct_size
// must be readable (checkResult).
void writeResult(const SubmitFailure& failure, tent_result_t* result, const std::string& note = {});
// What is wrong with the caller's struct; nullptr is no fault.
Error checkResult(const tent_result_t* result);
// The end of a call that came to `code`: tells of it in the caller's struct too, where there is one. Returns the code.
int32_t answer(int32_t code, tent_result_t* result, const std::string& note = {}) noexcept;

// Keeps the failure as this thread's last error. Returns its category.
int32_t keep(SubmitFailure failure);
const SubmitFailure& lastFailure();

inline SubmitFailure failureOf(Error error) {
  return {std::move(error), 0};
}
inline SubmitFailure failureOf(SubmitFailure failure) {
  return failure;
}

// Runs the body of a function of the C API, which returns an Error or, where entries were checked, a SubmitFailure;
// reason kNone is success. What is wrong is kept. Returns a category.
template <typename Body>
int32_t call(Body&& body) noexcept {
  try {
    SubmitFailure failure = failureOf(body());
    return failure.error ? keep(std::move(failure)) : TENT_OK;
  } catch (const std::bad_alloc&) {
    return keep(failureOf(errorOf(Reason::kResourceExhausted, "there is no memory left")));
  } catch (const std::exception& exception) {
    return keep(failureOf(errorOf(Reason::kInternal, exception.what())));
  } catch (...) {
    return keep(failureOf(errorOf(Reason::kInternal, "")));
  }
}

// The same for a legacy function, which knows one error only.
template <typename Body>
int legacyCall(Body&& body) noexcept {
  return call(std::forward<Body>(body)) == TENT_OK ? 0 : -1;
}

}  // namespace tent::abi
