// Finds the keys of the outermost object of a JSON text that arrives in pieces. For telling formats apart before
// parsing: it is quick and forgiving, and never wrong about a text that is JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tent {

class KeyScanner {
 public:
  enum class State : uint8_t {
    kReading,  // more text may show more keys
    kEnded,    // the outermost object is complete, or the text is no object
  };

  // Reads on in `text`, from where the last call stopped, to the end of the next key of the outermost object. Each call
  // is given the whole text so far. The key is as written, escapes included.
  std::optional<std::string_view> nextKey(std::string_view text);
  State state() const { return state_; }

 private:
  bool step(std::string_view text);

  State state_ = State::kReading;
  size_t at_ = 0;  // bytes of the text that were read
  size_t depth_ = 0;
  bool expects_key_ = false;  // in the outermost object, before a key
  bool in_string_ = false;
  bool is_key_ = false;  // the string being read is a key of the outermost object
  bool escaped_ = false;
  size_t string_begin_ = 0;
};

}  // namespace tent
