// Where a decoder is in a JSON value, and the first error it met there.
//
// A Path is a link to its parent on the stack: it costs nothing until something fails, and must not outlive
// the call it was made for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profd::protocol {

class Path {
 public:
  // Owns the outcome of one decode. `name` is what the outermost value is called ("params").
  class Root {
   public:
    explicit Root(std::string_view name) : name_(name) {}
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] const std::string& place() const { return place_; }      // "params.viewport.width"
    [[nodiscard]] const std::string& message() const { return message_; }  // "expected number"
    [[nodiscard]] std::string error() const { return place_ + ": " + message_; }

   private:
    friend class Path;
    std::string name_;
    std::string place_;
    std::string message_;
    bool failed_ = false;
  };

  // NOLINTNEXTLINE(google-explicit-constructor): a Root is the path of the outermost value.
  Path(Root& root) : root_(&root) {}

  [[nodiscard]] Path field(std::string_view name) const& { return {this, name, 0}; }
  [[nodiscard]] Path index(std::size_t index) const& { return {this, {}, index}; }
  Path field(std::string_view name) && = delete;  // would link to a temporary
  Path index(std::size_t index) && = delete;

  // Records the error unless there is one already. Always false, so that decoders can `return
  // path.fail(...)`.
  bool fail(std::string_view message) const;

 private:
  Path(const Path* parent, std::string_view field, std::size_t index)
      : root_(parent->root_), parent_(parent), field_(field), index_(index) {}

  [[nodiscard]] std::string describe() const;

  Root* root_;
  const Path* parent_ = nullptr;
  std::string_view field_;
  std::size_t index_ = 0;
};

}  // namespace profd::protocol
