#include "formats/containers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/support/bzip2.h"
#include "formats/support/gzip.h"
#include "formats/support/lz4.h"
#include "formats/support/tar.h"
#include "formats/support/utf16.h"
#include "formats/support/xz.h"
#include "formats/support/zip.h"
#include "formats/support/zstd.h"

namespace profd {
namespace {

std::string without_suffix(std::string name, std::string_view suffix, std::string_view replacement = "") {
  if (name.size() > suffix.size() && name.ends_with(suffix)) {
    name.erase(name.size() - suffix.size());
    name += replacement;
  }
  return name;
}

// A tar header or three letters may stand at the beginning of a profile, and zip archives are some format's
// own; the others begin as no profile does.
bool could_be_a_profile(ContainerKind kind) {
  return kind == ContainerKind::tar || kind == ContainerKind::bzip2 || kind == ContainerKind::zip;
}

class Peeler {
 public:
  Peeler(const ByteSource& file, const ReadLimits& limits, bool partial, Executor& executor, StopToken stop,
         ImportReport& report, const std::function<bool(std::span<const std::byte>)>& claimed,
         const ContentVisitor& visit, const FolderVisitor& visit_folder)
      : partial_(partial),
        depth_(limits.container_depth),
        executor_(executor),
        stop_(std::move(stop)),
        report_(report),
        claimed_(claimed),
        visit_(visit),
        visit_folder_(visit_folder) {
    const std::uint64_t size = std::max<std::uint64_t>(file.bytes().size(), 1);
    const std::uint64_t by_ratio =
        size > UINT64_MAX / limits.expansion_ratio ? UINT64_MAX : size * limits.expansion_ratio;
    budget_ = by_ratio < limits.expanded_bytes ? ExpansionLimit{by_ratio, "expansion_ratio"}
                                               : ExpansionLimit{limits.expanded_bytes, "expanded_bytes"};
  }

  // Depth is bounded by the limit, so is the recursion.
  Result<void> run(Content content) {
    const auto bytes = content.source.bytes();
    const ContainerKind kind = container_of(bytes);
    if (kind == ContainerKind::none || (could_be_a_profile(kind) && claimed_(bytes)))
      return visit_(std::move(content));
    if (content.containers.size() >= depth_)
      return visit_(
          fail(ErrorCode::limit,
               fmt::format("containers are nested more than {} deep (limit container_depth)", depth_)));
    switch (kind) {
      case ContainerKind::gzip: {
        auto expanded = gunzip(bytes, options(), report_);
        return stream(std::move(content), "gzip", std::move(expanded));
      }
      case ContainerKind::zstd: {
        auto expanded = unzstd(bytes, options(), report_);
        return stream(std::move(content), "zstd", std::move(expanded));
      }
      case ContainerKind::bzip2: {
        auto expanded = unbzip2(bytes, options(), report_);
        return stream(std::move(content), "bzip2", std::move(expanded));
      }
      case ContainerKind::xz: {
        auto expanded = unxz(bytes, options(), report_);
        return stream(std::move(content), "xz", std::move(expanded));
      }
      case ContainerKind::lz4: {
        auto expanded = unlz4(bytes, options(), report_);
        return stream(std::move(content), "lz4", std::move(expanded));
      }
      case ContainerKind::utf16: {
        auto expanded = utf16_to_utf8(bytes, options(), report_);
        return stream(std::move(content), "UTF-16", std::move(expanded));
      }
      case ContainerKind::zip:
        return archive(content, "zip", list_zip(bytes, partial_, report_));
      case ContainerKind::tar:
        return archive(content, "tar", list_tar(bytes, partial_, report_));
      case ContainerKind::none:
        break;
    }
    return visit_(std::move(content));
  }

 private:
  ExpandOptions options() const { return {within_memory(budget_), partial_, stop_, &executor_}; }

  // Limits and stops end everything; other failures are the content's own.
  Result<void> failed(Error error, const Content& content) {
    for (std::size_t i = content.containers.size(); i-- > 0;) error.where.push_back(content.containers[i]);
    return visit_(tl::unexpected<Error>(std::move(error)));
  }

  Result<void> stream(Content content, std::string_view kind, Result<Expanded> expanded) {
    if (!expanded) return failed(std::move(expanded).error(), content);
    budget_.bytes -= std::min<std::uint64_t>(budget_.bytes, expanded->bytes.size());
    std::string name = content.source.name();
    for (const auto& [suffix, replacement] : {std::pair{".gz", ""},
                                              {".tgz", ".tar"},
                                              {".zst", ""},
                                              {".tzst", ".tar"},
                                              {".bz2", ""},
                                              {".tbz2", ".tar"},
                                              {".xz", ""},
                                              {".txz", ".tar"},
                                              {".lz4", ""}})
      name = without_suffix(std::move(name), suffix, replacement);
    Content inner{ByteSource(expanded->bytes, std::move(expanded->owner), name),
                  std::move(content.containers), std::move(content.names), std::move(content.beside)};
    inner.source.set_truncated(expanded->truncated || content.source.truncated());
    inner.source.set_private(true);
    inner.containers.emplace_back(kind);
    inner.names.push_back(std::move(name));
    content.source.forget_pages();  // the compressed bytes are not needed while the content is read
    content.source = {};
    return run(std::move(inner));
  }

  Result<void> archive(const Content& content, std::string_view kind,
                       Result<std::vector<ArchiveMember>> members) {
    if (!members) {
      members.error().where.push_back(fmt::format("{} archive", kind));
      return failed(std::move(members).error(), content);
    }
    if (members->empty())
      return failed(
          Error{ErrorCode::malformed, fmt::format("the {} archive holds no files", kind), std::nullopt, {}},
          content);
    const auto folder = archive_folder(content.source, *members, budget_.bytes);
    if (visit_folder_) {
      PROFD_TRY(const bool taken, visit_folder_(*folder, content));
      if (taken) return {};
    }
    for (const ArchiveMember& member : *members) {
      PROFD_CHECK(stop_.status());
      Content inner{{}, content.containers, content.names, folder};
      inner.containers.push_back(fmt::format("{}: {}", kind, member.name));
      inner.names.push_back(member.name);
      auto expanded = expand_member(member, options(), report_);
      if (!expanded) {
        PROFD_CHECK(failed(std::move(expanded).error(), inner));
        continue;
      }
      const bool borrowed = expanded->owner == nullptr;
      if (!borrowed) budget_.bytes -= std::min<std::uint64_t>(budget_.bytes, expanded->bytes.size());
      inner.source = ByteSource(expanded->bytes,
                                borrowed ? content.source.owner() : std::move(expanded->owner), member.name);
      inner.source.set_truncated(expanded->truncated);
      inner.source.set_private(!borrowed || content.source.is_private());
      PROFD_CHECK(run(std::move(inner)));
    }
    return {};
  }

  bool partial_;
  std::uint32_t depth_;
  Executor& executor_;
  ExpansionLimit budget_;
  StopToken stop_;
  ImportReport& report_;
  const std::function<bool(std::span<const std::byte>)>& claimed_;
  const ContentVisitor& visit_;
  const FolderVisitor& visit_folder_;
};

}  // namespace

ContainerKind container_of(std::span<const std::byte> bytes) {
  if (is_gzip(bytes)) return ContainerKind::gzip;
  if (is_zstd(bytes)) return ContainerKind::zstd;
  if (is_zip(bytes)) return ContainerKind::zip;
  if (is_tar(bytes)) return ContainerKind::tar;
  if (is_bzip2(bytes)) return ContainerKind::bzip2;
  if (is_xz(bytes)) return ContainerKind::xz;
  if (is_lz4(bytes)) return ContainerKind::lz4;
  if (is_utf16_text(bytes)) return ContainerKind::utf16;
  return ContainerKind::none;
}

Result<void> peel(Content file, const ReadLimits& limits, bool partial, Executor& executor, StopToken stop,
                  ImportReport& report, const std::function<bool(std::span<const std::byte>)>& claimed,
                  const ContentVisitor& visit, const FolderVisitor& visit_folder) {
  Peeler peeler(file.source, limits, partial, executor, std::move(stop), report, claimed, visit,
                visit_folder);
  file.names = {file.source.name()};
  return peeler.run(std::move(file));
}

}  // namespace profd
