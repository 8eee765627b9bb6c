// Flame graphs as SVG: flamegraph.pl, inferno, async-profiler 1.x, profd. docs/formats/flamegraph-svg.md has
// the dialects.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "formats/flamegraph_svg/boxes.h"
#include "formats/flamegraph_svg/profd_page.h"
#include "formats/flamegraph_svg/profd_words.h"
#include "formats/flamegraph_svg/title.h"
#include "formats/support/frame_text.h"
#include "formats/support/text_number.h"
#include "formats/support/xml.h"

namespace profd {
namespace {

using flamegraph_svg::Box;
using flamegraph_svg::Drawing;
using flamegraph_svg::Title;

constexpr std::array<std::string_view, 1> kExtensions{".svg"};
constexpr ReaderNotes kNotes{
    .versions = "flamegraph.pl since 2012, inferno; upright, inverted, differential; profd's own pages",
    .keeps =
        "names, values as printed, kinds that were left in names; what was too narrow to draw is part of its "
        "caller",
    .recording = "flamegraph.pl out.folded > out.svg",
    .verified =
        "the texts in 17 corpus files; inferno's drawings give back the folded stacks they were made of",
};

// "12.5" or "12.5%".
bool parse_length(std::string_view text, double& out) {
  if (text.ends_with('%')) text.remove_suffix(1);
  return parse_double(text, out);
}

// What s('…') of an onmouseover says.
std::string_view spoken(std::string_view script) {
  const std::size_t begin = script.find("s('"), end = script.rfind("')");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + 3) return {};
  return script.substr(begin + 3, end - begin - 3);
}

class Reading final : public XmlHandler {
 public:
  Reading(ReadContext& context, ProfileBuilder& builder)
      : context_(context), builder_(builder), page_(context, builder) {}

  Result<void> start(std::string_view name, std::span<const XmlAttribute> attributes,
                     std::uint64_t offset) override {
    if (name == "svg" && attribute(attributes, "id") == flamegraph_svg::kPageRoot) own_ = true;
    if (own_) return page_.start(name, attributes, offset);
    text_.clear();
    wants_text_ = name == "title" || name == "text" || name == "script";
    if (name == "g" || name == "a") {
      group_ = {};
      group_title_ = spoken(attribute(attributes, "onmouseover"));
      in_group_ = true;
    } else if (name == "text") {
      text_id_ = attribute(attributes, "id");
      ++n_texts_;
    } else if (name == "svg") {
      flameprof_ |= attribute(attributes, "class") == "func_g";
    } else if (name == "rect") {
      start_rect(attributes, offset);
    }
    return {};
  }

  Result<void> end(std::string_view name) override {
    if (own_) return {};
    if (name == "title" && in_group_) {
      group_title_ = text_;
      if (group_.width > 0) return finish_box();
    } else if (name == "rect" && has_rect_) {
      has_rect_ = false;
      if (!group_title_.empty()) return finish_box();
    } else if (name == "g" || name == "a") {
      in_group_ = false;
      n_other_ += !group_title_.empty();
      group_title_.clear();
      group_ = {};
    } else if (name == "script") {
      for (const bool yes : {true, false})
        if (text_.find(yes ? "inverted = true" : "inverted = false") != std::string::npos)
          drawing_.inverted = yes;
    } else if (name == "text" && !in_group_) {
      if ((text_id_ == "title" || (n_texts_ == 1 && text_id_.empty())) && !trim(text_).empty())
        builder_.info().properties.emplace_back("title", trim(text_));
      if (text_id_ == "subtitle" && !trim(text_).empty())
        builder_.info().properties.emplace_back("subtitle", trim(text_));
      if (trim(text_).starts_with("ERROR: ")) error_text_ = trim(text_);
    }
    wants_text_ = false;
    return {};
  }

  Result<void> text(std::string_view text) override {
    if (wants_text_) text_ += text;
    return {};
  }

  Result<void> finish() {
    if (own_) return page_.finish();
    if (drawing_.boxes.empty()) {
      if (!error_text_.empty())
        return fail(ErrorCode::malformed,
                    fmt::format("the flame graph is empty: it says \"{}\"", error_text_));
      if (flameprof_)
        return fail(ErrorCode::unsupported,
                    "this picture was drawn by flameprof, whose boxes are estimates: open the statistics of "
                    "cProfile that it was drawn from");
      return fail(ErrorCode::malformed, "no box of a flame graph was found");
    }
    drawing_.exact_places = n_exact_ == drawing_.boxes.size();
    count_custom();
    if (!drawing_.exact_places) {
      for (std::size_t i = 0; i < places_.size(); ++i)
        drawing_.boxes[i].x = places_[i].first, drawing_.boxes[i].width = places_[i].second;
    }
    PROFD_CHECK(flamegraph_svg::add_tree(drawing_, context_, builder_));
    builder_.info().producer = n_exact_ > 0 ? "inferno" : "";
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) { context_.report.add(kind, severity, message, std::nullopt, n); };
    row("custom-title", Severity::info, "frames with a title of their own are named by it", n_custom_);
    row("not-a-frame", Severity::info, "boxes without a count are no frames", n_other_);
    row("sample-weight", Severity::loss, "the sample weights of a differential were not read", n_weights_);
    row("other-unit", Severity::loss, "frames counted in another unit than the first were left out",
        n_units_);
    return {};
  }

 private:
  // Boxes that do not say their count have a width, in what is counted before a factor.
  void count_custom() {
    double factor = 1;
    for (const Box& box : drawing_.boxes) {
      if (!box.has_count || box.width <= 0) continue;
      factor = box.value / box.width;
      if (box.is_all) break;
    }
    for (Box& box : drawing_.boxes) {
      if (box.has_count) continue;
      box.value = box.width * factor;
      drawing_.fractional |= box.value != std::floor(box.value);
    }
  }

  void start_rect(std::span<const XmlAttribute> attributes, std::uint64_t offset) {
    Box box;
    box.offset = offset;
    double height = 0;
    has_rect_ = parse_length(attribute(attributes, "x"), box.x) &&
                parse_length(attribute(attributes, "y"), box.y) &&
                parse_length(attribute(attributes, "width"), box.width) &&
                parse_length(attribute(attributes, "height"), height) && box.width >= 0;
    if (!has_rect_) return;
    if (const std::string_view said = spoken(attribute(attributes, "onmouseover")); !said.empty())
      group_title_ = said;
    place_ = {box.x, box.width};
    double x = 0, width = 0;
    exact_ = parse_double(attribute(attributes, "fg:x"), x) &&
             parse_double(attribute(attributes, "fg:w"), width) && width >= 0;
    if (exact_) box.x = x, box.width = width;
    group_ = box;
  }

  // A rectangle and its title are known.
  Result<void> finish_box() {
    const std::string said = std::move(group_title_);
    group_title_.clear();
    const Title title = flamegraph_svg::parse_title(said);
    Box box = group_;
    group_ = {};
    if (!title.valid && !exact_) {
      ++n_other_;
      return {};
    }
    std::string_view name = title.valid ? title.name : trim(said);
    n_custom_ += !title.valid;
    box.value = title.valid ? title.count : box.width;
    if (title.valid) {
      if (drawing_.unit.empty()) drawing_.unit = title.unit;
      if (title.unit != drawing_.unit) {
        ++n_units_;
        return {};
      }
    }
    drawing_.fractional |= title.valid && !title.is_whole;
    box.has_count = title.valid;
    drawing_.differential |= title.has_delta;
    n_weights_ += title.has_weight;
    box.delta_percent = title.delta_percent;
    box.is_all = name == "all" || name == "all samples";
    if (name.empty()) name = "(empty)";
    const FrameText parsed = parse_frame_text(name);
    FrameSpec spec;
    spec.function = builder_.function(FunctionSpec{.name = builder_.string(parsed.name),
                                                   .file = builder_.string(parsed.file),
                                                   .unresolved = parsed.unresolved});
    spec.line = parsed.line;
    spec.kind = parsed.kind;
    spec.inlined = parsed.inlined;
    box.frame = builder_.frame(spec);
    drawing_.boxes.push_back(box);
    places_.push_back(place_);
    n_exact_ += exact_;
    return {};
  }

  ReadContext& context_;
  ProfileBuilder& builder_;
  flamegraph_svg::ProfdPage page_;
  bool own_ = false;  // drawn by profd: what it says is in page_, the boxes are not looked at
  Drawing drawing_;
  std::vector<std::pair<double, double>> places_;  // by box: x and width as drawn
  std::pair<double, double> place_;
  Box group_;
  std::string group_title_, text_, text_id_, error_text_;
  bool in_group_ = false, wants_text_ = false, has_rect_ = false, exact_ = false;
  bool flameprof_ = false;
  std::size_t n_exact_ = 0;
  std::uint64_t n_texts_ = 0, n_custom_ = 0, n_other_ = 0, n_weights_ = 0, n_units_ = 0;
};

class FlamegraphSvgReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "flamegraph-svg",
        "flame graph SVG",
        kExtensions,
        501,
        "flamegraph.pl, inferno, cargo-flamegraph, py-spy, async-profiler 1.x, profd",
        2,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    if (xml_root(text) != "svg") return Confidence::no;
    for (const std::string_view sign : {"Flame graph stack visualization", "class=\"func_g\"",
                                        "id=\"frames\"", "id=\"profd\"", "http://github.com/jonhoo/inferno"})
      if (text.find(sign) != std::string_view::npos) return Confidence::certain;
    // The oldest ones: boxes that say their count when the mouse is over them.
    const std::size_t said = text.find("onmouseover=\"s('");
    if (said == std::string_view::npos) return Confidence::no;
    const std::string_view rest = text.substr(said, text.find('\n', said) - said);
    return rest.find("%)') ") != std::string_view::npos || rest.find("%)')\"") != std::string_view::npos
               ? Confidence::certain
               : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    Reading reading(context, profiles.emplace_back());
    PROFD_CHECK(parse_xml(source.bytes(), context, reading));
    return reading.finish();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_flamegraph_svg_reader() {
  return std::make_unique<FlamegraphSvgReader>();
}

}  // namespace profd
