// Methods, modules and their names, as a live stream told them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/live/contexts.h"
#include "core/live/wire.h"
#include "core/model/string_table.h"

namespace profd::live {

struct Method {
  bool told = false;
  bool demoted = false;  // it has no probe
  StringId package{0u}, class_name{0u}, method{0u}, signature{0u}, file{0u};
  StringId symbol{0u};  // of code of a module: its whole name, once it is known
  std::uint32_t line = 0, module = 0;
  std::uint64_t address = 0;
};
struct Module {
  StringId path{0u}, build_id{0u};
  std::uint64_t base = 0;
};
// What was found for code that was told by its address.
struct CodeFound {
  std::string symbol, file;  // as people read it, with parameters; "" unknown
  std::uint32_t line = 0;    // 0 unknown
};

class Methods {
 public:
  // `most_bytes`: of all texts together.
  explicit Methods(std::size_t most_bytes = kMaxSessionBytes / 4) : most_bytes_(most_bytes) {}

  // Entries beyond the limits are passed over; told again, a method stays what it was.
  void add(const std::vector<MethodEntry>& entries);
  void add(const ModuleInfo& module);
  // Gives code its name, for good: code that has one keeps it.
  void name_code(MethodId method, const CodeFound& found);
  void set_demoted(MethodId method, bool demoted);

  // Of ids below size(); those that were never told have empty texts.
  [[nodiscard]] const Method& operator[](MethodId method) const { return rows_[method]; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::size_t n_told() const { return order_.size(); }
  // Known by its address alone.
  [[nodiscard]] bool is_unnamed_code(MethodId method) const;
  // In the order in which they were told.
  [[nodiscard]] const std::vector<MethodId>& order() const { return order_; }
  [[nodiscard]] std::size_t n_demoted() const { return n_demoted_; }
  [[nodiscard]] std::uint64_t n_capped() const { return n_capped_; }
  [[nodiscard]] const std::vector<Module>& modules() const { return modules_; }
  [[nodiscard]] std::string_view text(StringId id) const { return texts_[id]; }

  // "demo.game.Board.drop", of code "demo::Board::drop(int)"; of what stands for others a text in brackets.
  // Never empty.
  [[nodiscard]] std::string name(MethodId method) const;
  // "Board.drop", "Board::drop".
  [[nodiscard]] std::string label(MethodId method) const;
  [[nodiscard]] std::size_t bytes() const {
    return n_bytes_ + rows_.capacity() * sizeof(Method) + order_.capacity() * sizeof(MethodId);
  }

 private:
  StringId keep(std::string_view text);

  std::size_t most_bytes_, n_bytes_ = 0;
  StringInterner texts_;
  std::vector<Method> rows_;  // by id
  std::vector<MethodId> order_;
  std::vector<Module> modules_;  // by number
  std::size_t n_demoted_ = 0;
  std::uint64_t n_capped_ = 0;
};

}  // namespace profd::live
