#include "server/feature/disassembly_answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/code/inline_nodes.h"
#include "core/model/module_address.h"
#include "core/source/annotations.h"
#include "core/source/code_branches.h"
#include "core/source/code_costs.h"
#include "core/source/slot_sums.h"
#include "core/support/base_name.h"
#include "core/support/text.h"
#include "core/view/code_place.h"
#include "core/view/resolve.h"
#include "server/engine/jit_code.h"
#include "server/feature/code_headings.h"
#include "server/feature/code_notes.h"
#include "server/feature/input_disassembly.h"
#include "server/feature/text.h"
#include "server/feature/value_texts.h"

namespace profd {
namespace {

constexpr std::uint32_t kMaxLanes = 12;
constexpr std::size_t kMaxPieces = 1000;

std::string module_name(const Profile& profile, ModuleId module) {
  return module.valid() ? std::string(base_name(profile.strings()[profile.modules().name[module.v]]))
                        : std::string();
}

// By frame, 1: of what was asked for. Empty: all are.
Result<std::vector<std::uint8_t>> frames_meant(const Profile& profile, const CodePlace& place) {
  const std::size_t n = profile.frames().size();
  if (!place.function.empty()) {
    PROFD_TRY(const auto name, function_shown_as(profile, place.function));
    if (!name) return fail(ErrorCode::not_found, fmt::format("no function is called {}", place.function));
    return frames_called(profile, *name);
  }
  if (!place.module.empty()) return frames_of_code(profile, CodeAddress{place.module, place.address});
  std::vector<std::uint8_t> meant;
  if (!place.files.empty()) {
    meant.assign(n, 0);
    for (std::size_t frame = 0; frame < n; ++frame) {
      const bool there = profile.frames().line[frame] == place.line &&
                         std::find(place.files.begin(), place.files.end(), file_of_frame(profile, frame)) !=
                             place.files.end();
      meant[frame] = there ? 1 : 0;
    }
  }
  return meant;
}

// What is not known is no reason to be before others.
double rank_value(const Value& value) {
  const double number = std::abs(as_double(value));
  return std::isfinite(number) ? number : 0;
}

// What each piece of the profile's code costs in the metric of a view, whatever of it is shown.
struct PieceCosts {
  CodePieces pieces;
  std::vector<Value> self, total;  // by piece
  [[nodiscard]] std::size_t memory() const {
    return pieces.pieces.size() * (sizeof(CodePiece) + 2 * sizeof(Value)) +
           pieces.of_frame.size() * sizeof(std::uint32_t);
  }
};

Result<std::shared_ptr<const PieceCosts>> piece_costs(Views& views, const OpenProfile& open,
                                                      const ViewSpec& spec, const SelectionPtr& selection,
                                                      const StopToken& stop) {
  return views.kept<PieceCosts>(
      open, spec, "code pieces", stop, [&](StopToken token) -> Result<std::shared_ptr<const PieceCosts>> {
        PieceCosts out;
        out.pieces = code_pieces(*open.profile);
        PROFD_TRY(SlotSums sums, sum_slots(*selection, out.pieces.of_frame, out.pieces.pieces.size(), token,
                                           views.executor()));
        out.self = std::move(sums.self[selection->metric().v]);
        out.total = std::move(sums.total[selection->metric().v]);
        return std::make_shared<const PieceCosts>(std::move(out));
      });
}

class DisassemblyWriter {
 public:
  DisassemblyWriter(Views& views, const DisassemblyRequest& request, const StopToken& stop)
      : views_(views), request_(request), stop_(stop), profile_(*request.open->profile) {}

  Result<DisassemblyAnswer> run(const CodeLookup& look_up) {
    ViewSpec spec = request_.spec;
    spec.shape = Shape::flat;
    spec.focus.clear();
    for (const std::string& name : request_.metrics) PROFD_CHECK(check_metric(*request_.open, name));
    PROFD_TRY(view_, prepare_view(views_, *request_.open, spec, stop_));
    out_.head = head_of(*request_.open, spec, view_);
    PROFD_TRY(costs_, piece_costs(views_, *request_.open, spec, view_.selection, stop_));
    PROFD_TRY(meant_, frames_meant(profile_, request_.place));
    PROFD_CHECK(find_pieces());
    if (order_.empty()) {
      out_.problem = why_no_piece(profile_, meant_);
      return std::move(out_);
    }
    if (request_.piece >= order_.size()) {
      return fail(ErrorCode::not_found,
                  fmt::format("there is no piece {}: it has {}", request_.piece + 1,
                              order_.size() == 1 ? "one" : std::to_string(order_.size())));
    }
    out_.piece = request_.piece;
    PROFD_TRY(CodeQuestion question, question_of(order_[request_.piece]));
    if (!out_.problem.empty()) return std::move(out_);
    PROFD_TRY(found_, look_up(question));
    out_.problem = found_->problem;
    if (!out_.problem.empty()) return std::move(out_);
    out_.note = found_->note;
    if (question.size > worker::kMaxCodeSize) out_.note = "Of this piece the first MiB is shown.";
    PROFD_TRY(sources_, views_.sources(*request_.open, request_.workspace, stop_));
    PROFD_CHECK(write_costs());
    if (request_.source_lines) PROFD_CHECK(write_source_lines());
    write_rows();
    for (const std::string& file : out_.files) out_.paths.push_back(path_of(file));
    out_.headings = code_headings(out_.rows, out_.inlined_calls, out_.files);
    return std::move(out_);
  }

 private:
  Result<SlotSums> sums(std::vector<std::uint32_t> slots, std::size_t n) {
    StopToken stop = stop_;
    return sum_slots(*view_.selection, std::move(slots), n, stop, views_.executor());
  }

  Result<void> find_pieces() {
    const std::size_t n = pieces().pieces.size(), metric = view_.selection->metric().v;
    const std::vector<std::uint32_t>& of_frame = pieces().of_frame;
    const auto is_meant = [&](std::size_t frame) {
      return of_frame[frame] != kNone && (meant_.empty() || meant_[frame] != 0);
    };
    std::vector<std::uint8_t> is_there(n, 0);
    for (std::size_t frame = 0; frame < of_frame.size(); ++frame) {
      if (is_meant(frame)) is_there[of_frame[frame]] = 1;
    }
    for (std::uint32_t piece = 0; piece < n; ++piece) {
      if (is_there[piece] != 0) order_.push_back(piece);
    }
    if (order_.size() > 1) {
      std::vector<std::uint32_t> slots(of_frame.size(), kNone);
      for (std::size_t frame = 0; frame < slots.size(); ++frame) {
        if (is_meant(frame)) slots[frame] = of_frame[frame];
      }
      PROFD_TRY(const SlotSums of_meant, sums(std::move(slots), n));
      std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto key = [&](std::uint32_t piece) {
          return std::pair(rank_value(of_meant.self[metric][piece]),
                           rank_value(of_meant.total[metric][piece]));
        };
        return key(a) > key(b);
      });
    }
    if (order_.size() > kMaxPieces) order_.resize(kMaxPieces);
    for (const std::uint32_t piece : order_) {
      out_.pieces.push_back(row_of(pieces().pieces[piece], costs_->self[piece], costs_->total[piece]));
    }
    return {};
  }

  PieceRow row_of(const CodePiece& piece, const Value& self, const Value& total) const {
    const PieceTable& table = profile_.pieces();
    const StringTable& strings = profile_.strings();
    PieceRow row;
    row.symbol = strings[table.name[piece.example.v]];
    const FunctionId function = table.function[piece.example.v];
    row.module = module_name(profile_, piece.module);
    row.name = function.valid() ? std::string(profile_.function_name(function)) : row.symbol;
    if (function.valid()) {
      row.file = strings[profile_.functions().file[function.v]];
      row.line = profile_.functions().start_line[function.v];
    }
    if (row.name.empty()) row.name = fmt::format("{}+0x{:x}", row.module, piece.start);
    row.start = piece.start;
    row.n_bytes = piece.n_bytes;
    row.self = amount_of(view_.whole, self);
    row.total = amount_of(view_.whole, total);
    return row;
  }

  Result<CodeQuestion> question_of(std::uint32_t at) {
    const CodePiece& piece = pieces().pieces[at];
    CodeQuestion question;
    const AddressKind kind = address_kind(profile_.modules(), piece.module);
    if (kind == AddressKind::loaded) {
      const std::string_view name = profile_.strings()[profile_.modules().name[piece.module.v]];
      if (!is_jit_dump(name)) {
        out_.problem = why_no_code_in_memory(name);
        return question;
      }
      question.in_memory = true;
      question.symbol = profile_.strings()[profile_.pieces().name[piece.example.v]];
    } else if (kind != AddressKind::vaddr) {
      out_.problem = "what its addresses count from is not known, so its code cannot be found";
      return question;
    }
    question.name = profile_.strings()[profile_.modules().name[piece.module.v]];
    question.build_id = profile_.strings()[profile_.modules().build_id[piece.module.v]];
    question.start = piece.start;
    question.att = request_.att;
    question.size = piece.n_bytes;
    if (question.size == 0) {
      // As far as it was met, and an instruction on.
      for (std::uint32_t frame = 0; frame < pieces().of_frame.size(); ++frame) {
        const std::uint64_t address = lookup_address(profile_.frames(), frame);
        if (pieces().of_frame[frame] == at && address >= piece.start) {
          question.size = std::max(question.size, address - piece.start + 16);
        }
      }
    }
    question.size = std::min(question.size, ~question.start);
    return question;
  }

  Result<void> write_costs() {
    const CodeRows rows = code().code_rows();
    const std::size_t n = rows.size();
    PROFD_TRY(const SlotSums costs, sums(slots_of_rows(profile_, pieces(), order_[out_.piece], rows), n + 2));
    const std::size_t metric = view_.selection->metric().v;
    const auto is_something = [](const Value& value) { return as_double(value) != 0; };
    const auto add_rest = [&](std::size_t slot, const char* why) {
      if (is_something(costs.self[metric][slot]) || is_something(costs.total[metric][slot])) {
        out_.rest.push_back({amount_of(view_.whole, costs.self[metric][slot]), why});
      }
    };
    add_rest(n, "between instructions");
    add_rest(n + 1, "without an address");
    InstructionColumns& to = out_.rows;
    to.self.assign(costs.self[metric].begin(), costs.self[metric].begin() + static_cast<std::ptrdiff_t>(n));
    to.total.assign(costs.total[metric].begin(),
                    costs.total[metric].begin() + static_cast<std::ptrdiff_t>(n));
    double most = 0;
    for (const Value& self : to.self) most = std::max(most, rank_value(self));
    const auto text = [&](const Value& value) { return view_.whole.text(value); };
    const auto share = [&](const Value& value) { return view_.whole.share_text(value); };
    to.self_text = texts_of(to.self, text);
    to.total_text = texts_of(to.total, text);
    to.self_share = texts_of(to.self, share);
    to.total_share = texts_of(to.total, share);
    for (std::size_t row = 0; row < n; ++row) {
      to.heat.push_back(most == 0 ? 0 : std::sqrt(rank_value(to.self[row]) / most));
    }
    for (const std::string& name : request_.metrics) {
      PROFD_TRY(SidedNumbers numbers, metric_of_rows(*request_.open, name, [&](MetricId of) {
                  return std::pair(std::span(costs.self[of.v]).first(n),
                                   std::span(costs.total[of.v]).first(n));
                }));
      out_.columns.push_back(metric_rows(*request_.open, name, std::move(numbers)));
    }
    return {};
  }

  Result<void> write_source_lines() {
    const FrameTable& frames = profile_.frames();
    const std::uint32_t piece = order_[out_.piece];
    std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> lines;
    const auto place_of = [&](std::uint32_t frame) {
      return std::pair(profile_.strings()[file_of_frame(profile_, frame)], frames.line[frame]);
    };
    std::vector<std::uint32_t> slots(frames.size(), kNone);
    for (std::uint32_t frame = 0; frame < frames.size(); ++frame) {
      if (pieces().of_frame[frame] == piece && frames.line[frame] != 0) lines.emplace(place_of(frame), 0);
    }
    std::uint32_t n = 0;
    for (auto& [place, slot] : lines) slot = n++;
    for (std::uint32_t frame = 0; frame < frames.size(); ++frame) {
      if (pieces().of_frame[frame] == piece && frames.line[frame] != 0)
        slots[frame] = lines.at(place_of(frame));
    }
    PROFD_TRY(const SlotSums costs, sums(std::move(slots), n));
    const std::size_t metric = view_.selection->metric().v;
    for (const auto& [place, slot] : lines) {
      const bool same_file = !out_.source_lines.empty() && out_.source_lines.back().file == place.first;
      std::string path = same_file ? out_.source_lines.back().path : path_of(place.first);
      out_.source_lines.push_back({std::string(place.first), std::move(path), place.second,
                                   amount_of(view_.whole, costs.self[metric][slot]),
                                   amount_of(view_.whole, costs.total[metric][slot])});
    }
    return {};
  }

  // The one workspace file that a path means, as hints have it where the profile has the path as well.
  std::string path_of(std::string_view file) const {
    if (const std::string* path = sources_->file_of(file)) return *path;
    const SourceTarget target = find_source(request_.workspace, file);
    if (target.paths.size() != 1) return {};
    const auto like = sources_->lookalikes.find(target.paths.front());
    const bool refused =
        like != sources_->lookalikes.end() &&
        std::any_of(like->second.begin(), like->second.end(), [&](const SourceMap::Lookalike& other) {
          return profile_.strings()[other.file] == file;
        });
    return refused ? std::string() : target.paths.front();
  }

  [[nodiscard]] const CodePieces& pieces() const { return costs_->pieces; }
  [[nodiscard]] const FoundCode& code() const { return found_->code; }

  // The file of a link, a text; 0: not known.
  std::uint32_t file_text(std::uint32_t link) const {
    const BinarySymbols& symbols = code().symbols;
    if (symbols.links.file[link] != 0) return symbols.links.file[link];
    const std::uint32_t function = symbols.links.function[link];
    return function == kNone ? 0 : symbols.functions.file[function];
  }

  // A text of the file's debug information, which may hold any bytes.
  std::string readable(std::uint32_t text) const { return repair_utf8(code().symbols.texts[text]); }

  std::int64_t file_index(std::uint32_t text) {
    if (text == 0) return -1;
    const auto known = std::find(file_texts_.begin(), file_texts_.end(), text);
    if (known != file_texts_.end()) return known - file_texts_.begin();
    const std::string path = readable(text);
    const auto same = std::find(out_.files.begin(), out_.files.end(), path);
    if (same != out_.files.end()) return same - out_.files.begin();
    file_texts_.push_back(text);
    out_.files.push_back(path);
    return static_cast<std::int64_t>(out_.files.size() - 1);
  }

  void write_inlined() {
    const ChainLinks& links = code().symbols.links;
    std::vector<std::uint32_t> files, functions;
    for (std::uint32_t link = 0; link < links.size(); ++link) {
      files.push_back(file_text(link));
      const std::uint32_t function = links.function[link];
      functions.push_back(function == kNone ? 0 : code().symbols.functions.name[function]);
    }
    const InlineNodes nodes = inline_nodes({links.parent, functions, files, links.line, links.column});
    // Only calls that rows are in: places that are called have chains as well.
    std::vector<std::int64_t> shown(nodes.size(), -1);
    std::vector<std::uint8_t> used(nodes.size(), 0);
    for (std::size_t row = 0; row < code().rows.size(); ++row) {
      const std::uint32_t link = code().symbols.link[row];
      for (std::uint32_t node = link == kNone ? kNone : nodes.of_chain[link];
           node != kNone && used[node] == 0; node = nodes.parent[node]) {
        used[node] = 1;
      }
    }
    InlinedCalls& to = out_.inlined_calls;
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
      if (used[node] == 0) continue;
      shown[node] = static_cast<std::int64_t>(to.function.size());
      to.parent.push_back(nodes.parent[node] == kNone ? -1 : shown[nodes.parent[node]]);
      to.function.push_back(readable(nodes.function[node]));
      to.file.push_back(file_index(nodes.call_file[node]));
      to.line.push_back(nodes.call_line[node]);
    }
    for (std::size_t row = 0; row < code().rows.size(); ++row) {
      const std::uint32_t link = code().symbols.link[row];
      const std::uint32_t node = link == kNone ? kNone : nodes.of_chain[link];
      out_.rows.inlined.push_back(node == kNone ? -1 : shown[node]);
    }
  }

  void write_rows() {
    const CodeRows rows = code().code_rows();
    const std::size_t n = rows.size();
    const std::vector<std::uint32_t> targets = target_rows(rows);
    collect_neighbours();
    InstructionColumns& to = out_.rows;
    out_.code = code().rows.code;
    out_.blocks = basic_blocks(rows, targets);
    out_.jumps = jumps_within(rows, targets, kMaxLanes);
    to.address = code().address;
    to.length = code().rows.length;
    to.kind = code().rows.kind;
    write_inlined();
    std::vector<std::uint32_t> line_file;
    for (std::size_t row = 0; row < n; ++row) {
      const std::uint32_t link = code().symbols.link[row];
      to.text.emplace_back(code().text(row));
      to.target.push_back(targets[row] == kNone ? -1 : static_cast<std::int64_t>(targets[row]));
      to.target_name.push_back(targets[row] == kNone ? target_name(rows.target[row]) : std::string());
      to.target_code.push_back(targets[row] == kNone ? target_code(rows.target[row]) : std::string());
      to.file.push_back(link == kNone ? -1 : file_index(file_text(link)));
      to.line.push_back(link == kNone || to.file[row] < 0 ? 0 : code().symbols.links.line[link]);
      to.column.push_back(to.line[row] == 0 ? 0 : code().symbols.links.column[link]);
      line_file.push_back(to.file[row] < 0 ? 0 : static_cast<std::uint32_t>(to.file[row]));
    }
    out_.lines = line_ranges(line_file, to.line);
    write_branches(rows);
    write_blocks();
    write_matched();
    out_.skid = skid_note(profile_, view_.selection->metric());
  }

  void write_branches(const CodeRows& rows) {
    if (profile_.branches() == nullptr) return;
    const CodePiece& piece = pieces().pieces[order_[out_.piece]];
    CodeBranches branches = code_branches(profile_, piece, rows);
    out_.branches = branch_columns(branches, rows, [&](const BranchPlace& to) { return name_of(to, piece); });
    out_.branch_note = branch_note(branches, *profile_.branches());
    out_.rows.executed = std::move(branches.executions.executed);
    for (const std::uint64_t n : out_.rows.executed) out_.rows.executed_text.push_back(format_count(n));
  }

  // What lies outside of the rows of `shown`.
  std::string name_of(const BranchPlace& to, const CodePiece& shown) const {
    if (!to.module.valid()) return std::string(kUnknown);
    if (const std::uint32_t at = piece_at(profile_, pieces(), to.module, to.address); at != kNone) {
      const CodePiece& piece = pieces().pieces[at];
      const FunctionId function = profile_.pieces().function[piece.example.v];
      const std::string_view name = function.valid()
                                        ? profile_.function_name(function)
                                        : profile_.strings()[profile_.pieces().name[piece.example.v]];
      if (to.address == piece.start && !name.empty()) return std::string(name);
      if (!name.empty()) return fmt::format("{}+0x{:x}", name, to.address - piece.start);
    }
    if (is_same_binary(profile_.modules(), to.module, shown.module)) {
      const std::string_view name = code().name_of_place(to.address);
      if (!name.empty()) return repair_utf8(name);
    }
    return fmt::format("{}+0x{:x}", module_name(profile_, to.module), to.address);
  }

  std::string target_name(std::uint64_t target) const {
    if (target == kNoTarget) return {};
    const std::string_view name = code().name_of_place(target);
    return name.empty() ? fmt::format("0x{:x}", target) : repair_utf8(name);
  }

  // The code that the profile has of the same binary, by start.
  void collect_neighbours() {
    const ModuleTable& modules = profile_.modules();
    const ModuleId shown = pieces().pieces[order_[out_.piece]].module;
    for (const CodePiece& piece : pieces().pieces) {
      if (!piece.module.valid() || modules.name[piece.module.v] != modules.name[shown.v] ||
          modules.build_id[piece.module.v] != modules.build_id[shown.v]) {
        continue;
      }
      neighbours_.emplace_back(piece.start, piece.n_bytes);
    }
    std::sort(neighbours_.begin(), neighbours_.end());
  }

  std::string target_code(std::uint64_t target) const {
    if (target == kNoTarget) return {};
    const auto behind =
        std::upper_bound(neighbours_.begin(), neighbours_.end(), std::pair(target, ~std::uint64_t{0}));
    if (behind == neighbours_.begin()) return {};
    const auto& [start, n_bytes] = *std::prev(behind);
    if (target - start >= std::max<std::uint64_t>(n_bytes, 1)) return {};
    return fmt::format("{}+0x{:x}", out_.pieces[out_.piece].module, target);
  }

  void write_blocks() {
    InstructionColumns& to = out_.rows;
    for (std::size_t block = 0; block < out_.blocks.size(); ++block) {
      const std::size_t first = out_.blocks.first[block];
      const std::size_t end = block + 1 < out_.blocks.size() ? out_.blocks.first[block + 1] : to.text.size();
      double self = 0;
      for (std::size_t row = first; row < end; ++row) self += as_double(to.self[row]);
      to.block.insert(to.block.end(), end - first, static_cast<std::uint32_t>(block));
      if (!to.executed.empty()) {
        const auto begin = to.executed.begin();
        out_.block_executed.push_back(format_count(*std::max_element(
            begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end))));
      }
      const bool whole_numbers = std::holds_alternative<std::int64_t>(to.self[first]);
      out_.block_self.push_back(
          amount_of(view_.whole, whole_numbers ? Value(static_cast<std::int64_t>(self)) : Value(self)));
    }
  }

  // Rows of a function that was asked for and is inlined here.
  void write_matched() {
    out_.rows.matched.assign(out_.rows.text.size(), 0);
    if (request_.place.function.empty()) return;
    const auto name = function_shown_as(profile_, request_.place.function);
    if (!name || !*name) return;
    std::vector<std::uint8_t> is_of(out_.inlined_calls.function.size(), 0);
    for (std::size_t call = 0; call < is_of.size(); ++call) {
      const std::int64_t parent = out_.inlined_calls.parent[call];
      is_of[call] = out_.inlined_calls.function[call] == **name ||
                            (parent >= 0 && is_of[static_cast<std::size_t>(parent)] != 0)
                        ? 1
                        : 0;
    }
    for (std::size_t row = 0; row < out_.rows.matched.size(); ++row) {
      const std::int64_t call = out_.rows.inlined[row];
      out_.rows.matched[row] = call < 0 ? 0 : is_of[static_cast<std::size_t>(call)];
    }
  }

  Views& views_;
  const DisassemblyRequest& request_;
  const StopToken& stop_;
  const Profile& profile_;
  PreparedView view_;
  std::shared_ptr<const PieceCosts> costs_;
  std::vector<std::uint8_t> meant_;
  std::vector<std::uint32_t> order_;  // the pieces that hold it, in the order of the answer
  std::shared_ptr<const CodeAnswer> found_;
  std::shared_ptr<const SourceMap> sources_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> neighbours_;  // start and bytes of code of the binary
  std::vector<std::uint32_t> file_texts_;                            // texts that `files` are
  DisassemblyAnswer out_;
};

}  // namespace

Result<DisassemblyAnswer> disassembly_answer(Views& views, const DisassemblyRequest& request,
                                             const CodeLookup& look_up, const StopToken& stop) {
  if (request.open->profile->composition() != nullptr)
    return disassembly_of_input(views, request, look_up, stop);
  return DisassemblyWriter(views, request, stop).run(look_up);
}

}  // namespace profd
