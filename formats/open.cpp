#include "formats/open.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/near_miss.h"
#include "formats/containers.h"
#include "formats/source_files.h"

namespace profd {
namespace {

constexpr std::size_t kSniffBytes = 64u << 10;
// A few milliseconds of work: waking another core, and waiting for it to end, would take as long.
constexpr std::size_t kTooLittleToShare = 3u << 20;

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

std::string meant_format(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const FormatReader* reader : all_readers()) ids.push_back(reader->info().id);
  return did_you_mean(id, ids);
}

// What a person would look at first: an error page that was downloaded, a text in the wrong place.
std::string beginning(std::span<const std::byte> bytes) {
  constexpr std::size_t kLongest = 40;
  std::string text, hex;
  bool is_text = true;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kLongest))) {
    const auto c = static_cast<unsigned char>(byte);
    if (c == '\n' || c == '\r') break;
    is_text = is_text && (c >= ' ' || c == '\t') && c <= '~';
    text += static_cast<char>(c);
  }
  if (text.starts_with("go 1.") && text.find(" trace") != std::string::npos)
    return "it is an execution trace of Go, of which profd-go-trace (builders/go/cmd) makes a profile";
  if (is_text && !text.empty()) return fmt::format("it begins with \"{}\"", text);
  for (const std::byte b : bytes.first(std::min<std::size_t>(bytes.size(), 8)))
    hex += fmt::format(" {:02x}", static_cast<unsigned>(b));
  return "it begins with the bytes" + hex;
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

// Tells whether a reader made use of what stands beside its file.
class NoticingFolder final : public Folder {
 public:
  NoticingFolder(const Folder& folder, bool& used) : folder_(folder), used_(used) {}
  const std::string& name() const override { return folder_.name(); }
  const std::vector<std::string>& files() const override { return notice().files(); }
  bool has(std::string_view file) const override { return notice().has(file); }
  Result<ByteSource> open(std::string_view file) const override { return notice().open(file); }

 private:
  const Folder& notice() const {
    used_ = true;
    return folder_;
  }
  const Folder& folder_;
  bool& used_;
};

// Reads everything that is found in a file or folder and collects the profiles.
class Opener {
 public:
  Opener(const OpenOptions& options, Executor& executor, StopToken stop,
         const std::function<void(std::uint64_t, std::uint64_t)>& progress)
      : options_(options), executor_(executor), stop_(std::move(stop)), progress_(progress) {}

  Result<OpenedFile> open(const OpenInput& input) {
    PROFD_CHECK(check_format());
    if (input.program) program_ = &*input.program;
    if (input.folder) {
      opened_.looked_around = true;
      PROFD_CHECK(open_folder(*input.folder, {{}, {}, {input.folder->name()}, nullptr}));
      if (!opened_.profiles.empty()) order_by_time();
    } else {
      PROFD_CHECK(open_file({input.file, {}, {}, input.beside}));
    }
    return finish(input);
  }

 private:
  Result<void> open_file(Content file) {
    PROFD_CHECK(check(file.source));
    const std::function<bool(std::span<const std::byte>)> claimed = [&](std::span<const std::byte> bytes) {
      if (forced_) return sniff(*forced_, bytes) == Confidence::certain;
      const auto readers = all_readers();
      return std::any_of(readers.begin(), readers.end(),
                         [&](const FormatReader* r) { return sniff(*r, bytes) == Confidence::certain; });
    };
    const ByteSource source = file.source;
    const auto done = peel(
        std::move(file), options_.limits, options_.partial, executor_, stop_, opened_.report, claimed,
        [&](Result<Content> content) { return take(std::move(content)); },
        [&](const Folder& folder, const Content& archive) { return read_archive(folder, archive); });
    // What was read, or what was found wrong with it, is then of bytes that the file does not have.
    if (source.shrank())
      return fail(ErrorCode::io,
                  "the file became shorter while it was read; open it again when it is written");
    return done;
  }

  // A format whose unit is a folder may stand at the top or in folders below, several of one kind side by
  // side. What nobody claims is opened file by file.
  Result<void> open_folder(const Folder& folder, const Content& place) {
    for (Error error : folder.unreadable()) note_broken(std::move(error));
    PROFD_TRY(const bool whole, read_claimed(folder, "", place));
    if (whole) return {};
    const std::vector<std::string>& files = folder.files();
    if (files.empty() && n_broken_ == 0) return fail(ErrorCode::malformed, "the folder holds no files");
    std::string claimed;  // "sub/" while files of a folder that was taken go by
    std::set<std::string, std::less<>> asked;
    for (std::size_t i = 0; i < files.size(); ++i) {
      PROFD_CHECK(stop_.status());
      if (progress_) progress_(i, files.size());
      if (!claimed.empty() && files[i].starts_with(claimed)) continue;
      claimed.clear();
      for (std::size_t slash = files[i].find('/'); slash != std::string::npos && claimed.empty();
           slash = files[i].find('/', slash + 1)) {
        const std::string path = files[i].substr(0, slash);
        if (!asked.insert(path).second) continue;
        PROFD_TRY(const bool taken, read_claimed(*sub_folder(folder, path), path, place));
        if (taken) claimed = path + "/";
      }
      if (claimed.empty()) PROFD_CHECK(open_member(folder, files[i]));
    }
    return {};
  }

  // What is wrong with a file is its own: limits, too, are those of one file.
  Result<void> open_member(const Folder& folder, const std::string& file) {
    member_ = file;
    auto source = folder.open(file);
    Result<void> done;
    if (!source)
      done = tl::unexpected<Error>(std::move(source).error());
    else if (source->bytes().empty())
      unclaimed({});
    else
      done = open_file({std::move(*source), {}, {}, {}});
    if (!done && done.error().code != ErrorCode::cancelled) {
      note_broken(std::move(done).error());
      done = {};
    }
    member_.clear();
    return done;
  }

  // True when a reader took the folder as a whole.
  Result<bool> read_claimed(const Folder& folder, const std::string& path, const Content& place) {
    if (folder.files().empty()) return false;
    for (const FormatReader* reader : all_readers()) {
      if (forced_ && reader != forced_) continue;
      if (reader->sniff_folder(folder) != Confidence::certain) continue;
      Content content = place;
      if (!path.empty()) content.names.push_back(path);
      ++n_contents_;
      PROFD_CHECK(collect(content, {reader, true, {}}, path, [&](ReadContext& context, auto& builders) {
        return reader->read_folder(folder, context, builders);
      }));
      return true;
    }
    return false;
  }

  // An archive made of a folder has it as its only top folder.
  Result<bool> read_archive(const Folder& folder, const Content& archive) {
    PROFD_TRY(const bool whole, read_claimed(folder, "", archive));
    if (whole || folder.files().empty()) return whole;
    const std::vector<std::string>& files = folder.files();
    const std::size_t slash = files.front().find('/');
    if (slash == std::string::npos) return false;
    const std::string top = files.front().substr(0, slash);
    if (!std::all_of(files.begin(), files.end(),
                     [&](const std::string& file) { return file.starts_with(top + "/"); }))
      return false;
    return read_claimed(*sub_folder(folder, top), top, archive);
  }

  // "Snapshots in the order of time" is what a folder of them means; names decide when times are not known.
  void order_by_time() {
    auto& profiles = opened_.profiles;
    if (std::all_of(profiles.begin(), profiles.end(),
                    [](const ProfilePtr& profile) { return profile->info().time_ns.has_value(); }))
      std::stable_sort(profiles.begin(), profiles.end(), [](const ProfilePtr& a, const ProfilePtr& b) {
        return *a->info().time_ns < *b->info().time_ns;
      });
  }

  Result<void> check_format() {
    if (options_.format.empty()) return {};
    forced_ = find_reader(options_.format);
    if (forced_) return {};
    return fail(ErrorCode::invalid, fmt::format("there is no format {}{}; known are {}", options_.format,
                                                meant_format(options_.format), known_formats()));
  }

  Result<void> check(const ByteSource& file) const {
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
    if (bytes.empty() && !in_archive(*content) && member_.empty()) {
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
    return read(std::move(*content), decision);
  }

  void unclaimed(const Content& content) {
    if (n_unclaimed_++ != 0) return;
    first_unclaimed_ = member_.empty() ? content.names.back() : member_;
    first_beginning_ = beginning(content.source.bytes());
  }

  static std::string place(const Content& content) {
    std::vector<std::string> inside_out(content.containers.rbegin(), content.containers.rend());
    return fmt::format("{}", fmt::join(inside_out, " in "));
  }

  Result<void> read(Content content, const Decision& decision) {
    std::string name;
    if (in_archive(content)) name = content.names.back();
    if (!member_.empty()) name = name.empty() ? member_ : fmt::format("{}: {}", member_, name);
    const auto beside =
        content.beside ? std::make_unique<NoticingFolder>(*content.beside, opened_.looked_around) : nullptr;
    // What a reader has gone past it hardly looks at again: a mapped file need not stay in memory for that.
    // Only so often: one that does look back at all of it must not pay for that with every step.
    const std::uint64_t step = std::max<std::uint64_t>(2u << 20, content.source.bytes().size() / 16);
    std::uint64_t forgotten = 0;
    const auto forget_and_tell = [&](std::uint64_t done, std::uint64_t total) {
      if (done >= forgotten + step) {
        content.source.forget_pages();
        forgotten = done;
      }
      if (progress_) progress_(done, total);
    };
    return collect(content, decision, name, [&](ReadContext& context, auto& builders) {
      context.beside = beside.get();
      context.program = program_;
      opened_.looked_around = opened_.looked_around || program_ != nullptr;
      context.progress = forget_and_tell;
      auto done = decision.reader->read(content.source, context, builders);
      content.source.forget_pages();
      // Who still needs the bytes owns them, and can give them back before the tree is put together.
      content.source = {};
      return done;
    });
  }

  // `name`: of profiles that have none of their own.
  template <class Read>
  Result<void> collect(const Content& content, const Decision& decision, const std::string& name,
                       const Read& read_into) {
    SerialExecutor alone;
    const bool share = content.source.bytes().empty() || content.source.bytes().size() >= kTooLittleToShare;
    Executor& executor = share ? executor_ : alone;
    ReadContext context{options_.limits, executor, stop_, opened_.report};
    context.partial = options_.partial;
    context.gc_on_stack = options_.gc_on_stack;
    context.progress = progress_;
    context.unwind = &options_.unwind;
    std::vector<ProfileBuilder> builders;
    Result<void> done = read_into(context, builders);
    opened_.looked_around = opened_.looked_around || context.looked_around;
    if (done && builders.empty()) done = fail(ErrorCode::malformed, "the file holds no profile");
    std::vector<ProfilePtr> finished;
    for (std::size_t i = 0; done && i < builders.size(); ++i) {
      // A native file says which format it was imported from.
      if (builders[i].info().format.empty()) builders[i].info().format = decision.reader->info().id;
      if (builders[i].info().name.empty()) builders[i].info().name = name;
      report_timeline_drops(builders[i].timeline_drops());
      auto profile = std::move(builders[i]).finish(executor, stop_);
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
      error.format = decision.reader->info().id;
      error.where.push_back(std::string(decision.reader->info().title));
      if (!content.containers.empty()) error.where.push_back(place(content));
      if (!member_.empty()) error.where.push_back(member_);
      return remember(std::move(error));
    }
    if (opened_.profiles.empty())
      opened_.decision = {std::string(decision.reader->info().id), decision.certain, decision.also_plausible,
                          content.containers};
    for (const ProfilePtr& profile : finished) report_default_metric(*profile);
    opened_.profiles.insert(opened_.profiles.end(), finished.begin(), finished.end());
    return {};
  }

  void report_timeline_drops(const TimelineDrops& drops) {
    const auto add = [&](std::string_view kind, std::string_view sentence, std::uint64_t n) {
      if (n > 0) opened_.report.add(kind, Severity::loss, sentence, std::nullopt, n);
    };
    add("span-dropped", "Spans without a begin, or more than a profile can hold, were dropped.", drops.spans);
    add("marker-dropped", "Markers without a time, or more than a profile can hold, were dropped.",
        drops.markers);
    add("counter-dropped", "More counters than a profile can hold were dropped.", drops.counters);
    add("point-dropped", "Values of counters without a time, or more than a profile can hold, were dropped.",
        drops.points);
    add("task-dropped", "More tasks than a profile can hold were dropped.", drops.tasks);
    add("end-before-begin", "Ends before their begin were taken as unknown.", drops.ends);
  }

  // Which metric is shown is said where it is not the one that the file names.
  void report_default_metric(const Profile& profile) {
    for (const auto& [name, value] : profile.info().properties) {
      if (name != kInsteadOf || profile.metrics().empty()) continue;
      opened_.report.add("default-metric-empty", Severity::info,
                         fmt::format("{} is shown: {}, which the file shows first, is 0 everywhere",
                                     profile.metrics()[profile.default_metric().v].name, value));
    }
  }

  static bool in_archive(const Content& content) {
    return std::any_of(content.containers.begin(), content.containers.end(),
                       [](const std::string& c) { return c.find(": ") != std::string::npos; });
  }

  // A broken member does not take the others with it, a stop and a spent budget end all.
  Result<void> remember(Error error) {
    if (error.code == ErrorCode::cancelled || error.code == ErrorCode::limit)
      return tl::unexpected<Error>(std::move(error));
    note_broken(std::move(error));
    return {};
  }

  void note_broken(Error error) {
    if (!member_.empty() && (error.where.empty() || error.where.back() != member_))
      error.where.push_back(member_);
    if (n_broken_++ == 0)
      first_error_ = std::move(error);
    else if (!error.where.empty() && other_broken_.size() < kMostNamed)
      other_broken_.push_back(error.where.back());
  }

  std::string broken_text() const {
    if (n_broken_ == 1) return fmt::format("a file could not be read: {}", describe(*first_error_));
    std::vector<std::string> others = other_broken_;
    if (const std::uint64_t n_unnamed = n_broken_ - 1 - others.size(); n_unnamed > 0)
      others.push_back(fmt::format("{} more", n_unnamed));
    return fmt::format("files could not be read, the first: {}; then {}", describe(*first_error_),
                       fmt::join(others, ", "));
  }

  Result<OpenedFile> finish(const OpenInput& input) {
    if (opened_.profiles.empty()) {
      if (first_error_) return tl::unexpected<Error>(std::move(*first_error_));
      const std::string known =
          fmt::format("any of the {} known formats (`profd formats` lists them)", all_readers().size());
      return fail(
          ErrorCode::unsupported,
          n_contents_ > 1 || input.folder
              ? fmt::format("none of the {} files in the {} is a profile of {}",
                            input.folder ? input.folder->files().size() : n_contents_,
                            input.folder ? "folder" : "archive", known)
              : fmt::format("{} is not a profile of {}; {}",
                            input.file.name().empty() ? "this" : input.file.name(), known, first_beginning_));
    }
    opened_.report.add(
        "member-not-read", Severity::loss,
        fmt::format("files that are no profiles were not read, the first is {}", first_unclaimed_),
        std::nullopt, n_unclaimed_);
    if (options_.gc_on_stack &&
        std::none_of(opened_.report.rows().begin(), opened_.report.rows().end(), [](const ReportRow& row) {
          return row.kind == "gc-on-stack" || row.kind == "gc-without-stack";
        }))
      opened_.report.add(
          "no-gc", Severity::info,
          "The garbage collector was to be shown on the stack that caused it: the file has none, or "
          "does not tell which stack that is.");
    if (first_error_)
      opened_.report.add("member-broken", Severity::error, broken_text(), std::nullopt, n_broken_);
    return std::move(opened_);
  }

  const OpenOptions& options_;
  Executor& executor_;
  StopToken stop_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  const FormatReader* forced_ = nullptr;
  OpenedFile opened_;
  std::uint64_t n_contents_ = 0, n_unclaimed_ = 0, n_broken_ = 0;
  std::string first_unclaimed_, first_beginning_;
  std::string member_;  // of the folder, while it is read
  static constexpr std::size_t kMostNamed = 20;
  const ByteSource* program_ = nullptr;
  std::optional<Error> first_error_;
  std::vector<std::string> other_broken_;  // paths of those behind the first
};

}  // namespace

Result<OpenInput> open_input(const std::string& path, std::uint64_t max_bytes, OpenRule rule,
                             const StopToken& stop) {
  OpenInput input;
  if (rule == OpenRule::regular && path.find('\0') == std::string::npos) PROFD_CHECK(check_ordinary(path));
  if (is_folder(path)) {
    PROFD_TRY(input.folder, open_folder(path, max_bytes, stop));
    return input;
  }
  PROFD_TRY(input.file, open_file(path, max_bytes, rule, stop));
  // What stands beside a device or pipe has nothing to do with what comes out of it.
  if (is_regular_file(path)) input.beside = folder_beside(path, max_bytes, stop);
  return input;
}

Result<OpenedFile> open_profiles(const OpenInput& input, const OpenOptions& options, Executor& executor,
                                 StopToken stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  return Opener(options, executor, std::move(stop), progress).open(input);
}

Result<OpenedFile> open_profiles(ByteSource bytes, const OpenOptions& options, Executor& executor,
                                 StopToken stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  return open_profiles(OpenInput{std::move(bytes), nullptr, nullptr}, options, executor, std::move(stop),
                       progress);
}

}  // namespace profd
