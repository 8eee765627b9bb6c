// HPCToolkit databases of version 4: a folder with meta.db, profile.db, cct.db and maybe trace.db.
// docs/formats/hpctoolkit-v4.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/hpctoolkit_v4/database.h"
#include "formats/hpctoolkit_v4/meta.h"
#include "formats/hpctoolkit_v4/values.h"

namespace profd {
namespace {

using namespace hpctoolkit_v4;

constexpr std::array<std::string_view, 1> kExtensions{".db"};
constexpr ReaderNotes kNotes{
    .versions = "version 4.x: HPCToolkit 2022.10 and later",
    .keeps =
        "metrics by context, rank and thread, loops, lines, inlined functions, modules; traces as a second "
        "profile",
    .recording =
        "hpcrun -e CPUTIME -t ./app && hpcstruct hpctoolkit-app-measurements && hpcprof "
        "hpctoolkit-app-measurements",
    .verified = "hatchet (14 totals), the totals that the databases themselves hold",
};

constexpr std::string_view kRawMagic = "HPCRUN-profile____";

tl::unexpected<Error> raw_measurements() {
  return fail(
      ErrorCode::unsupported,
      "these are raw measurements of hpcrun, no profile yet: run `hpcprof` on their folder and open the "
      "database that it writes");
}

bool is_raw(std::span<const std::byte> bytes) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(kRawMagic);
}

bool holds_raw(const Folder& folder) {
  const std::vector<std::string>& files = folder.files();
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return file.ends_with(".hpcrun") && file.find('/') == std::string::npos;
  });
}

bool is_database(const Folder& folder) {
  return folder.has("meta.db") && folder.has("profile.db");
}

Result<DatabaseFile> open_in(const Folder& folder, FileKind kind, ReadContext& context) {
  if (!folder.has(name_of(kind)))
    return fail(
        ErrorCode::not_found,
        fmt::format("{} is missing: an HPCToolkit database is a folder of meta.db, profile.db and cct.db",
                    name_of(kind)));
  PROFD_TRY(ByteSource source, folder.open(name_of(kind)));
  return DatabaseFile::open(std::move(source), kind, context);
}

// Offsets of errors are those of a companion, not of the file that was named.
tl::unexpected<Error> in_file(Error error, FileKind kind) {
  error.where.push_back(
      fmt::format("{}{}", name_of(kind), error.offset ? fmt::format(" at byte {}", *error.offset) : ""));
  error.offset.reset();
  return tl::unexpected<Error>(std::move(error));
}

void describe_profile(const Meta& meta, std::string name, ProfileBuilder& builder) {
  ProfileInfo& info = builder.info();
  info.format = "hpctoolkit-v4";
  info.producer = "HPCToolkit";
  info.program = meta.title;
  info.name = std::move(name);
}

class HpctoolkitV4Reader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"hpctoolkit-v4",
                                 "HPCToolkit database, version 4",
                                 kExtensions,
                                 70,
                                 "HPCToolkit hpcprof (2022.10 and later)",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return kind_of(prefix) == FileKind::none && !is_raw(prefix) ? Confidence::no : Confidence::certain;
  }
  Confidence sniff_folder(const Folder& folder) const override {
    return is_database(folder) || holds_raw(folder) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    if (is_raw(source.bytes())) return raw_measurements();
    const FileKind kind = kind_of(source.bytes());
    if (kind == FileKind::none)
      return fail(ErrorCode::malformed, "this is no file of an HPCToolkit database", 0);
    // A broken file is told as such, whatever stands beside it.
    if (auto checked = DatabaseFile::open(source, kind, context); !checked)
      return tl::unexpected<Error>(std::move(checked).error());
    if (context.beside == nullptr || !context.beside->has("meta.db") || !context.beside->has("profile.db"))
      return fail(ErrorCode::not_found,
                  fmt::format("{} alone is no profile: an HPCToolkit database is a folder with meta.db and "
                              "profile.db; open that folder",
                              name_of(kind)));
    return read_folder(*context.beside, context, profiles);
  }

  Result<void> read_folder(const Folder& folder, ReadContext& context,
                           std::vector<ProfileBuilder>& profiles) const override {
    if (!is_database(folder) && holds_raw(folder)) return raw_measurements();
    auto meta_file = open_in(folder, FileKind::meta, context);
    if (!meta_file) return in_file(std::move(meta_file).error(), FileKind::meta);
    auto meta = read_meta(*meta_file, context);
    if (!meta) return in_file(std::move(meta).error(), FileKind::meta);
    ProfileBuilder builder;
    auto scopes = Scopes::read(*meta_file, context, builder);
    if (!scopes) return in_file(std::move(scopes).error(), FileKind::meta);

    auto values = open_in(folder, FileKind::profile, context);
    if (!values) return in_file(std::move(values).error(), FileKind::profile);
    auto threads = read_profiles(*values, *meta);
    if (!threads) return in_file(std::move(threads).error(), FileKind::profile);
    if (auto added = add_values(*values, *threads, *meta, *scopes, context, builder); !added)
      return in_file(std::move(added).error(), FileKind::profile);
    describe_profile(*meta, "", builder);
    profiles.push_back(std::move(builder));

    if (!folder.has("trace.db")) return {};
    auto trace = open_in(folder, FileKind::trace, context);
    ProfileBuilder traced;
    Result<bool> any = false;
    if (trace) {
      auto again = Scopes::read(*meta_file, context, traced);
      if (!again) return in_file(std::move(again).error(), FileKind::meta);
      any = add_traces(*trace, *threads, *again, context, traced);
    }
    if (!trace || !any) {
      const Error& error = trace ? any.error() : trace.error();
      if (error.code == ErrorCode::cancelled) return tl::unexpected<Error>(error);
      context.report.add("trace-not-read", Severity::loss,
                         fmt::format("trace.db could not be read: {}", describe(error)));
    } else if (*any) {
      describe_profile(*meta, "trace", traced);
      profiles.push_back(std::move(traced));
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_hpctoolkit_v4_reader() {
  return std::make_unique<HpctoolkitV4Reader>();
}

}  // namespace profd
