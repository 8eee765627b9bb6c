#include "server/feature/source_text_answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/text.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"
#include "server/platform/open_below.h"
#include "server/platform/read_whole.h"

namespace profd {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 63));
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

// A lone surrogate, and half a unit at the end, become U+FFFD.
std::string from_utf16(std::string_view bytes, bool little) {
  constexpr std::uint32_t kUnknown = 0xFFFD;
  const auto unit = [&](std::size_t at) {
    const auto a = static_cast<unsigned char>(bytes[at]), b = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint32_t>(little ? b << 8 | a : a << 8 | b);
  };
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 2; i < bytes.size(); i += 2) {
    if (i + 1 == bytes.size()) {
      append_utf8(out, kUnknown);
      break;
    }
    std::uint32_t code = unit(i);
    if (code >= 0xD800 && code < 0xDC00 && i + 3 < bytes.size() && unit(i + 2) >= 0xDC00 &&
        unit(i + 2) < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
      i += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = kUnknown;
    }
    append_utf8(out, code);
  }
  return out;
}

}  // namespace

DecodedText decode_text(std::string bytes) {
  const auto begins = [&](std::string_view mark) { return bytes.compare(0, mark.size(), mark) == 0; };
  if (begins("\xFF\xFE")) return {from_utf16(bytes, true), "utf-16le"};
  if (begins("\xFE\xFF")) return {from_utf16(bytes, false), "utf-16be"};
  if (begins("\xEF\xBB\xBF")) bytes.erase(0, 3);
  if (is_valid_utf8(bytes)) return {std::move(bytes), "utf-8"};
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) append_utf8(out, static_cast<unsigned char>(c));
  return {std::move(out), "latin-1"};
}

Result<SourceTextAnswer> source_text(const std::vector<std::string>& folders, const std::string& path,
                                     const StopToken& stop) {
  PROFD_TRY(const UniqueFd fd, open_below(folders, path));
  PROFD_TRY(
      std::string bytes,
      read_whole(fd.get(), path, kMaxShownSource,
                 fmt::format("is larger than the {} that are shown of a source file; open it in an editor",
                             format_bytes(kMaxShownSource)),
                 stop));
  SourceTextAnswer out;
  out.path = path;
  out.bytes = bytes.size();
  DecodedText decoded = decode_text(std::move(bytes));
  out.text = std::move(decoded.text);
  out.encoding = std::move(decoded.encoding);
  const auto breaks = std::count(out.text.begin(), out.text.end(), '\n');
  out.n_lines = static_cast<std::uint32_t>(breaks) + (!out.text.empty() && out.text.back() != '\n' ? 1 : 0);
  return out;
}

Result<std::string> workspace_file_of(Views& views, const OpenProfile& open,
                                      const WorkspaceSnapshot& workspace, std::string_view profile_path,
                                      const StopToken& stop) {
  PROFD_TRY(const auto sources, views.sources(open, workspace, stop));
  if (const std::string* path = sources->file_of(profile_path)) return *path;
  const auto found = sources->targets.find(profile_path);
  if (found == sources->targets.end())
    return fail(ErrorCode::not_found,
                fmt::format("no file of the workspace is {}; a mapping in .profd.toml says where it is",
                            sanitize_text(profile_path)));
  std::string files;
  for (const std::string& path : found->second.paths)
    if (files.size() < 400) files += (files.empty() ? "" : ", ") + path;
  return fail(ErrorCode::not_found,
              fmt::format("{} is one of {}: {}; say which with `textDocument`", sanitize_text(profile_path),
                          found->second.paths.size(), files));
}

}  // namespace profd
