// Boxes of a view as rows that clients get, in columns: what tables and the hot path have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/feature/name_table.h"
#include "server/feature/text_index.h"
#include "server/feature/view_answer.h"

namespace profd {

// Columns, all equally long.
struct RowColumns {
  std::vector<std::uint32_t> name;         // in `names` and `labels`
  std::vector<std::int32_t> file, module;  // in `files` and `modules`; -1 unknown
  std::vector<std::uint32_t> line;         // 0 unknown
  std::vector<Value> self, total;
  std::vector<std::string> self_text, total_text, self_share, total_share;
  std::vector<std::uint32_t> flags;            // box_flag
  std::vector<std::optional<FrameKind>> kind;  // nothing: a group of frames
  std::vector<std::int64_t> key;
  std::vector<std::uint8_t> children;  // 1: the row can be expanded
};

struct RowsAnswer {
  ViewHead head;
  std::vector<std::string> names, labels, files, modules;
  std::vector<std::vector<std::uint32_t>> cuts;  // of `labels`: name_cuts()
  RowColumns rows;
  std::string recursion;  // why a row has more than the whole; "" none has. In head.note as well
};

// Fills the rows of an answer that has its head already.
class RowWriter {
 public:
  RowWriter(const PreparedView& view, const SourceMap* sources, RowsAnswer& out)
      : view_(view),
        sources_(sources),
        names_(*view.selection),
        out_(out),
        files_(out.files),
        modules_(out.modules) {}

  void row(Key key, const Value& self, const Value& total, bool children, Estimate estimate);
  void finish();

 private:
  const PreparedView& view_;
  const SourceMap* sources_;
  NameTable names_;
  RowsAnswer& out_;
  TextIndex files_, modules_;
  bool any_estimated_ = false;
};

}  // namespace profd
