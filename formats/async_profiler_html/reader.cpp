// Pages of async-profiler: flame graphs and trees. docs/formats/async-profiler-html.md has the versions.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/async_profiler_html/page.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".html", ".htm"};
constexpr ReaderNotes kNotes{
    .versions = "flame graphs of 1.8 and newer, trees up to 4.5, differentials; not heat maps",
    .keeps = "self values, kinds of frames, lines, threads as frames, before and after",
    .recording = "asprof -d 30 -f out.html PID",
    .verified =
        "the folded stacks that pages were made of; async-profiler's own sample; no page of 1.8 was at hand",
};

enum class Page : std::uint8_t { none, flame, tree, heatmap };

bool has(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

Page page_of(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '<') return Page::none;
  if (!has(head.substr(0, 1024), "<html")) return Page::none;
  if (has(head, "function f(level, left, width, type, title") ||
      has(head, "function f(key, level, left, width"))
    return Page::flame;
  if (has(head, "<title>Tree view</title>") && has(head, "tree")) return Page::tree;
  if (has(head, "async-profiler") && has(head, "heatmap")) return Page::heatmap;
  return Page::none;
}

class AsyncProfilerHtmlReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"async-profiler-html",
                                 "async-profiler flame graph or tree page",
                                 kExtensions,
                                 502,
                                 "async-profiler, jfrconv",
                                 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return page_of(sniff_text(prefix)) == Page::none ? Confidence::no : Confidence::certain;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    const Page page = page_of(text.text.substr(0, 64 << 10));
    if (page == Page::heatmap)
      return fail(ErrorCode::unsupported,
                  "this is a heat map, which is not read; open the recording (.jfr) it was made from");
    ProfileBuilder& builder = profiles.emplace_back();
    builder.info().producer = "async-profiler";
    return page == Page::tree ? async_profiler::read_tree(text, context, builder)
                              : async_profiler::read_flame(text, context, builder);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_async_profiler_html_reader() {
  return std::make_unique<AsyncProfilerHtmlReader>();
}

}  // namespace profd
