#include "formats/open.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/containers.h"

namespace profd {
namespace {

constexpr std::size_t kSniffBytes = 64u << 10;

const FormatReader* find_reader(std::string_view id) {
  const auto readers = all_readers();
  const auto found =
      std::find_if(readers.begin(), readers.end(), [&](const FormatReader* r) { return r->info().id == id; });
  return found == readers.end() ? nullptr : *found;
}

std::string known_formats() {
  std::vector<std::string_view> ids;
  for (const FormatReader* reader : all_readers()) ids.push_back(reader->info().id);
  return fmt::format("{}", fmt::join(ids, ", "));
}

bool extension_matches(const ReaderInfo& info, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(info.extensions.begin(), info.extensions.end(),
                       [&](std::string_view extension) { return name.ends_with(extension); });
  });
}

Confidence sniff(const FormatReader& reader, std::span<const std::byte> bytes) {
  const bool at_end = bytes.size() <= kSniffBytes;
  return reader.sniff(bytes.first(std::min(bytes.size(), kSniffBytes)), at_end);
}

struct Decision {
  const FormatReader* reader = nullptr;
  bool certain = false;
  std::vector<std::string> also_plausible;
};

// certain by rank, then maybe with a fitting extension, then maybe by rank. A reader that cannot tell from
// 64 KiB (need_more) is taken only when the extension speaks for it.
Decision decide(std::span<const std::byte> bytes, const std::vector<std::string>& names) {
  struct Candidate {
    const FormatReader* reader;
    int weight;
  };
  std::vector<Candidate> candidates;
  for (const FormatReader* reader : all_readers()) {
    const Confidence confidence = sniff(*reader, bytes);
    if (confidence == Confidence::no) continue;
    const bool fits = extension_matches(reader->info(), names);
    if (confidence == Confidence::need_more && !fits) continue;
    const int weight = confidence == Confidence::certain         ? 3
                       : confidence == Confidence::maybe && fits ? 2
                       : confidence == Confidence::maybe         ? 1
                                                                 : 0;
    candidates.push_back({reader, weight});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
  Decision decision;
  if (candidates.empty()) return decision;
  decision.reader = candidates.front().reader;
  decision.certain = candidates.front().weight == 3;
  for (std::size_t i = 1; i < candidates.size(); ++i)
    decision.also_plausible.emplace_back(candidates[i].reader->info().id);
  return decision;
}

// Reads everything that is found in a file and collects the profiles.
class Opener {
 public:
  Opener(const OpenOptions& options, Executor& executor, StopToken stop,
         const std::function<void(std::uint64_t, std::uint64_t)>& progress)
      : options_(options), executor_(executor), stop_(stop), progress_(progress) {}

  Result<OpenedFile> open(const ByteSource& file) {
    PROFD_CHECK(check(file));
    const std::function<bool(std::span<const std::byte>)> claimed = [&](std::span<const std::byte> bytes) {
      if (forced_) return sniff(*forced_, bytes) == Confidence::certain;
      const auto readers = all_readers();
      return std::any_of(readers.begin(), readers.end(),
                         [&](const FormatReader* r) { return sniff(*r, bytes) == Confidence::certain; });
    };
    PROFD_CHECK(peel(file, options_.limits, options_.partial, stop_, opened_.report, claimed,
                     [&](Result<Content> content) { return take(std::move(content)); }));
    return finish(file);
  }

 private:
  Result<void> check(const ByteSource& file) {
    if (!options_.format.empty()) {
      forced_ = find_reader(options_.format);
      if (!forced_)
        return fail(ErrorCode::invalid,
                    fmt::format("there is no format {}; known are {}", options_.format, known_formats()));
    }
    if (file.bytes().empty())
      return fail(ErrorCode::malformed, "the file is empty: nothing was recorded, or it was not written yet",
                  0);
    if (file.bytes().size() > options_.limits.input_bytes)
      return fail(ErrorCode::limit, fmt::format("the file is larger than {} bytes (limit input_bytes)",
                                                options_.limits.input_bytes));
    return {};
  }

  Result<void> take(Result<Content> content) {
    ++n_contents_;
    PROFD_CHECK(stop_.status());
    if (!content) return remember(std::move(content).error());
    const auto bytes = content->source.bytes();
    if (bytes.empty() && !in_archive(*content)) {
      Error empty{ErrorCode::malformed, "there is nothing inside: the content is empty", 0, {}};
      return remember(std::move(empty).in(place(*content)));
    }
    if (bytes.empty()) {
      unclaimed(*content);
      return {};
    }
    const Decision decision = forced_ ? Decision{forced_, true, {}} : decide(bytes, content->names);
    if (!decision.reader) {
      unclaimed(*content);
      return {};
    }
    return read(*content, decision);
  }

  void unclaimed(const Content& content) {
    if (n_unclaimed_++ == 0) first_unclaimed_ = content.names.back();
  }

  static std::string place(const Content& content) {
    std::vector<std::string> inside_out(content.containers.rbegin(), content.containers.rend());
    return fmt::format("{}", fmt::join(inside_out, " in "));
  }

  Result<void> read(const Content& content, const Decision& decision) {
    ReadContext context{options_.limits, executor_, stop_, opened_.report, options_.partial, progress_};
    std::vector<ProfileBuilder> builders;
    auto done = decision.reader->read(content.source, context, builders);
    if (done && builders.empty()) done = fail(ErrorCode::malformed, "the file holds no profile");
    std::vector<ProfilePtr> finished;
    for (std::size_t i = 0; done && i < builders.size(); ++i) {
      // A native file says which format it was imported from.
      if (builders[i].info().format.empty()) builders[i].info().format = decision.reader->info().id;
      if (builders[i].info().name.empty() && in_archive(content))
        builders[i].info().name = content.names.back();
      auto profile = std::move(builders[i]).finish(executor_, stop_);
      if (!profile) {
        done = tl::unexpected<Error>(std::move(profile).error());
        break;
      }
      if ((*profile)->metrics().empty()) {
        done = fail(ErrorCode::malformed, "the profile has no metric: nothing was measured");
        break;
      }
      finished.push_back(std::move(*profile));
    }
    if (!done) {
      Error error = std::move(done).error();
      error.where.push_back(std::string(decision.reader->info().title));
      if (!content.containers.empty()) error.where.push_back(place(content));
      return remember(std::move(error));
    }
    if (opened_.profiles.empty())
      opened_.decision = {std::string(decision.reader->info().id), decision.certain, decision.also_plausible,
                          content.containers};
    opened_.profiles.insert(opened_.profiles.end(), finished.begin(), finished.end());
    return {};
  }

  static bool in_archive(const Content& content) {
    return std::any_of(content.containers.begin(), content.containers.end(),
                       [](const std::string& c) { return c.find(": ") != std::string::npos; });
  }

  // A broken member does not take the others with it, a stop and a spent budget end all.
  Result<void> remember(Error error) {
    if (error.code == ErrorCode::cancelled || error.code == ErrorCode::limit)
      return tl::unexpected<Error>(std::move(error));
    ++n_broken_;
    if (!first_error_) first_error_ = std::move(error);
    return {};
  }

  Result<OpenedFile> finish(const ByteSource& file) {
    if (opened_.profiles.empty()) {
      if (first_error_) return tl::unexpected<Error>(std::move(*first_error_));
      return fail(ErrorCode::unsupported,
                  n_contents_ > 1
                      ? fmt::format("none of the {} files in the archive is a profile; looked for {}",
                                    n_contents_, known_formats())
                      : fmt::format("{} is not a profile of any known format; looked for {}",
                                    file.name().empty() ? "this" : file.name(), known_formats()));
    }
    opened_.report.add("member-not-read", Severity::loss,
                       fmt::format("files in the archive that are no profiles were not read, the first is {}",
                                   first_unclaimed_),
                       std::nullopt, n_unclaimed_);
    if (first_error_)
      opened_.report.add(
          "member-broken", Severity::error,
          fmt::format("files in the archive could not be read, the first: {}", describe(*first_error_)),
          std::nullopt, n_broken_);
    return std::move(opened_);
  }

  const OpenOptions& options_;
  Executor& executor_;
  StopToken stop_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  const FormatReader* forced_ = nullptr;
  OpenedFile opened_;
  std::uint64_t n_contents_ = 0, n_unclaimed_ = 0, n_broken_ = 0;
  std::string first_unclaimed_;
  std::optional<Error> first_error_;
};

}  // namespace

Result<OpenedFile> open_profiles(ByteSource bytes, const OpenOptions& options, Executor& executor,
                                 StopToken stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  return Opener(options, executor, stop, progress).open(bytes);
}

}  // namespace profd
