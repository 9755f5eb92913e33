#include "base/system_error.h"

#include <cerrno>

#include <doctest/doctest.h>

namespace tent {

TEST_CASE("what has run out is told as that, with what to do, whatever else the failure would be") {
  for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS}) {
    CAPTURE(error);
    CHECK(isExhaustion(error));
    const Error told = errorOfSystem(Reason::kIoError, "cannot listen", error);
    CHECK(told.reason == Reason::kResourceExhausted);
    CHECK(told.detail.starts_with("cannot listen: "));
    CHECK(told.detail.find("raise") != std::string::npos);
  }
  CHECK(describeSystemError(EMFILE) == "Too many open files: raise the limit of this process (ulimit -n)");
}

TEST_CASE("other failures are what their place says") {
  const Error told = errorOfSystem(Reason::kBadConfiguration, "token", ENOENT);
  CHECK(told.reason == Reason::kBadConfiguration);
  CHECK(told.detail == "token: No such file or directory");
  CHECK_FALSE(isExhaustion(0));
}

}  // namespace tent
