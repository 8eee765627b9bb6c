#include "server/engine/symbol_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/engine/debug_fetch.h"
#include "server/engine/kernel_names.h"
#include "server/platform/open_below.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

using worker::Wish;
using worker::WishKind;

// Files that are looked at for one wish.
constexpr std::size_t kMaxCandidates = 1000;
constexpr std::string_view kDeleted = " (deleted)";
// Where a system has programs and libraries. Links of these are followed as those of all folders.
constexpr const char* kSystemFolders[] = {"/usr",  "/lib", "/lib32",     "/lib64",     "/bin",
                                          "/sbin", "/opt", "/nix/store", "/gnu/store", "/snap"};
constexpr const char* kSystemDebug = "/usr/lib/debug";

std::string_view without_deleted(std::string_view name) {
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) &&
         (folder.back() == '/' || path[folder.size()] == '/');
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

bool same_wish(const Wish& a, const Wish& b) {
  return a.kind == b.kind && a.name == b.name && a.build_id == b.build_id && a.folder == b.folder;
}

std::string folder_above(const std::string& path) {
  return fs::path(path).parent_path().string();
}

// What a folder has of some kind; in order, so that a search is the same each time.
template <class Take>
void each_entry(const std::string& folder, const Take& take) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < kMaxCandidates;
       it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) take(name);
}

// vmlinux-6.1.0-18-amd64 and its like.
template <class Candidates>
void add_vmlinux(const std::string& folder, Candidates& out) {
  each_entry(folder, [&](const std::string& name) {
    if (name.starts_with("vmlinux-")) out.push_back({folder + "/" + name});
  });
}

// One file in each of the folders of a folder.
template <class Candidates>
void add_below(const std::string& folder, std::string_view file, Candidates& out) {
  each_entry(folder,
             [&](const std::string& name) { out.push_back({fmt::format("{}/{}/{}", folder, name, file)}); });
}

// A name that leads nowhere but into its folder.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace

bool is_build_id(std::string_view id) {
  return id.size() >= 4 && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string module_base_name(std::string_view name) {
  return std::string(base_name(without_deleted(name)));
}

bool has_file(std::string_view name) {
  return !name.empty() && name.front() != '[' && name.front() != '\0' && !name.starts_with("//anon") &&
         !name.starts_with("anon_inode:") && !name.starts_with("/memfd:") && !name.starts_with("/dev/") &&
         !name.starts_with("/SYSV");
}

SymbolPlaces SymbolPlaces::of_file(std::string_view file) const {
  SymbolPlaces places = *this;
  places.recording = file.starts_with('/') ? folder_above(std::string(file)) : "";
  places.identities = {};
  if (file.starts_with('/')) places.identities.recorded_ns = begun_ns(std::string(file));
  return places;
}

SymbolPlaces usual_symbol_places(std::string_view file) {
  SymbolPlaces places = SymbolPlaces().of_file(file);
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') places.home = home;
  places.fetch = fetch_places_from_environment();
  places.kernel = "/";
  return places;
}

SymbolSearch::SymbolSearch(const SymbolPlaces& places, std::string name, std::string build_id)
    : places_(places), name_(without_deleted(name)), build_id_(std::move(build_id)) {
  const auto add = [this](const std::string& folder) {
    if (std::string real = real_path(folder); !real.empty() && real != "/")
      folders_.push_back(std::move(real));
  };
  for (const std::string& folder : places.directories) add(folder);
  for (const std::string& folder : places.roots) add(folder);
  for (const PathMapping& mapping : places.mappings) add(mapping.to);
  if (!places.recording.empty()) add(places.recording);
  if (!places.home.empty()) add(places.home + "/.debug");
  if (!places.fetch.folder.empty()) add(places.fetch.folder);
  if (name_ == kKernelName && !places.kernel.empty())
    for (const char* folder : {"/boot", "/usr/lib/debug", "/lib/modules", "/usr/src"})
      add(places.kernel + folder);
  if (places.system)
    for (const char* folder : kSystemFolders) add(folder);
}

bool SymbolSearch::may_open(const std::string& real) const {
  return std::any_of(folders_.begin(), folders_.end(),
                     [&](const std::string& folder) { return lies_in(real, folder); });
}

std::string SymbolSearch::mapped(const std::string& path) const {
  const PathMapping* best = nullptr;
  for (const PathMapping& mapping : places_.mappings) {
    const bool fits =
        path.starts_with(mapping.from) && (path.size() == mapping.from.size() ||
                                           mapping.from.ends_with('/') || path[mapping.from.size()] == '/');
    if (fits && (best == nullptr || mapping.from.size() > best->from.size())) best = &mapping;
  }
  if (best == nullptr) return {};
  return best->to + "/" + path.substr(best->from.size());
}

// ab/cdef below folders of build ids; `in_cache` is what perf's cache calls the same in a folder of that
// name.
void SymbolSearch::add_by_id(const std::string& id, std::string_view suffix, std::string_view in_cache,
                             std::vector<Candidate>& out) const {
  if (!is_build_id(id)) return;
  const std::string below = id.substr(0, 2) + "/" + id.substr(2);
  const auto add = [&](const std::string& folder) {
    out.push_back({fmt::format("{}/.build-id/{}{}", folder, below, suffix)});
    out.push_back({fmt::format("{}/.build-id/{}/{}", folder, below, in_cache)});
  };
  for (const std::string& folder : places_.directories) {
    add(folder);
    out.push_back({fmt::format("{}/{}{}", folder, below, suffix)});
  }
  if (!places_.recording.empty()) add(places_.recording);
  if (!places_.home.empty()) add(places_.home + "/.debug");
  if (places_.system) add(kSystemDebug);
}

void SymbolSearch::add_binaries(const Wish& wish, std::vector<Candidate>& out) const {
  const std::string name = module_base_name(name_);
  for (const ModuleFile& file : places_.files)
    if (file.module == name_ || file.module == name || (!build_id_.empty() && file.module == build_id_))
      out.push_back({file.path, true});
  // Nothing else says of another file that it is what ran.
  if (build_id_.empty()) {
    if (!places_.identities.by_name.contains(name_) || !has_file(name_)) return;
    if (const std::string elsewhere = mapped(name_); !elsewhere.empty())
      out.push_back({elsewhere, false, true});
    if (name_.starts_with('/')) out.push_back({name_, false, true});
    return;
  }
  const bool in_no_file = name_.starts_with('[') && name_ != kKernelName && kernel_module(name_).empty();
  add_by_id(wish.build_id, "", in_no_file ? "vdso" : "elf", out);
  add_kernel(false, out);
  if (!has_file(name_)) return;
  for (const std::string& folder : places_.directories) {
    if (name_.starts_with('/')) out.push_back({folder + name_});
    if (is_plain_name(name)) out.push_back({folder + "/" + name});
  }
  if (const std::string elsewhere = mapped(name_); !elsewhere.empty()) out.push_back({elsewhere});
  if (name_.starts_with('/')) out.push_back({name_});
  if (!places_.recording.empty() && is_plain_name(name)) out.push_back({places_.recording + "/" + name});
}

// The kernel's own files and those of its modules, which profiles name by nothing but brackets. `debug`: with
// what they were stripped of.
void SymbolSearch::add_kernel(bool debug, std::vector<Candidate>& out) const {
  const std::string module = kernel_module(name_);
  std::vector<std::string> folders = places_.directories;
  if (!places_.recording.empty()) folders.push_back(places_.recording);
  if (name_ == kKernelName) {
    for (const std::string& folder : folders)
      for (const char* name : {"vmlinux", "boot/vmlinux", "vmlinux.debug"})
        out.push_back({folder + "/" + name});
    for (const std::string& folder : folders) add_vmlinux(folder, out);
    if (places_.kernel.empty()) return;
    const std::string root = places_.kernel == "/" ? "" : places_.kernel;
    for (const char* folder : {"/usr/lib/debug/boot", "/boot"}) add_vmlinux(root + folder, out);
    add_below(root + "/usr/lib/debug/lib/modules", "vmlinux", out);
    add_below(root + "/lib/modules", "build/vmlinux", out);
  } else if (!module.empty()) {
    for (const std::string& folder : folders)
      for (const char* suffix : {".ko", ".ko.debug", ".ko.xz", ".ko.zst"})
        out.push_back({folder + "/" + module + suffix});
    if (!debug || !places_.system || !name_.starts_with('/')) return;
    const std::string stem = name_.substr(0, name_.rfind(".ko") + 3);
    for (const char* suffix : {"", ".debug"}) out.push_back({kSystemDebug + stem + suffix});
  }
}

void SymbolSearch::add_named(const Wish& wish, std::vector<Candidate>& out) const {
  const std::string name(base_name(wish.name));
  const std::string beside = binary_.empty() ? std::string() : folder_above(binary_);
  if (wish.kind == WishKind::split || wish.kind == WishKind::alternate) {
    // As the compiler and dwz had it: a path, or one from the folder it was made in.
    std::string path = wish.name;
    if (!path.starts_with('/') && wish.folder.starts_with('/')) path = wish.folder + "/" + path;
    if (!path.starts_with('/') && !beside.empty()) path = beside + "/" + path;
    if (const std::string elsewhere = mapped(path); !elsewhere.empty()) out.push_back({elsewhere});
    if (path.starts_with('/')) out.push_back({path});
  }
  if (!is_plain_name(name)) return;
  for (const std::string& folder : places_.directories) out.push_back({folder + "/" + name});
  if (!beside.empty()) {
    out.push_back({beside + "/" + name});
    out.push_back({beside + "/.debug/" + name});
    if (places_.system) out.push_back({kSystemDebug + beside + "/" + name});
  }
  if (places_.system && wish.kind == WishKind::alternate)
    out.push_back({fmt::format("{}/.dwz/{}", kSystemDebug, name)});
  if (!places_.recording.empty()) out.push_back({places_.recording + "/" + name});
}

// Beside the binary or the file with its debug information, as they are called.
void SymbolSearch::add_packages(const Wish& wish, std::vector<Candidate>& out) const {
  for (const std::string& file : {binary_, debug_})
    if (!file.empty()) out.push_back({file + ".dwp"});
  add_by_id(wish.build_id, ".dwp", "dwp", out);
  const std::string name = module_base_name(name_) + ".dwp";
  if (!is_plain_name(name)) return;
  for (const std::string& folder : places_.directories) out.push_back({folder + "/" + name});
  if (!places_.recording.empty()) out.push_back({places_.recording + "/" + name});
}

void SymbolSearch::add_fetched(const Wish& wish, std::vector<Candidate>& out) const {
  if (places_.fetch.folder.empty() || !is_build_id(wish.build_id)) return;
  std::string path = fetched_path(places_.fetch, wish.build_id);
  // An empty one says that no server had it.
  std::error_code error;
  if (const auto size = fs::file_size(path, error); !error && size > 0) out.push_back({std::move(path)});
}

std::vector<SymbolSearch::Candidate> SymbolSearch::candidates(const Wish& wish) {
  std::vector<Candidate> out;
  switch (wish.kind) {
    case WishKind::binary:
      add_binaries(wish, out);
      break;
    case WishKind::debug_file:
      add_by_id(wish.build_id, ".debug", "debug", out);
      add_kernel(true, out);
      if (const std::string name = module_base_name(name_); is_plain_name(name)) {
        for (const std::string& folder : places_.directories)
          for (const char* suffix : {"", ".debug"})
            out.push_back({fmt::format("{}/{}{}", folder, name, suffix)});
        if (!places_.recording.empty()) out.push_back({fmt::format("{}/{}.debug", places_.recording, name)});
      }
      add_fetched(wish, out);
      break;
    case WishKind::alternate:
      add_by_id(wish.build_id, ".debug", "debug", out);
      add_named(wish, out);
      add_fetched(wish, out);
      break;
    case WishKind::debug_link:
    case WishKind::split:
      add_named(wish, out);
      break;
    case WishKind::package:
      add_packages(wish, out);
      break;
  }
  if (out.size() > kMaxCandidates) out.resize(kMaxCandidates);
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<SymbolFile> SymbolSearch::open(const Candidate& candidate) {
  const std::string real = real_path(candidate.path);
  if (real.empty()) return std::nullopt;
  // One file by several names is looked at once for a wish.
  const auto of_wish = [&](const TriedFile& tried) { return tried.path == real; };
  if (std::any_of(tried_.begin(), tried_.end(), of_wish)) return std::nullopt;
  if (!candidate.anywhere && !may_open(real)) {
    outside_ = real;
    tried_.push_back({real, "in no folder that is looked in"});
    return std::nullopt;
  }
  std::error_code error;
  if (fs::is_directory(real, error)) return std::nullopt;
  // What a person names lies where it lies.
  auto fd = open_below(candidate.anywhere ? std::vector<std::string>{folder_above(real)} : folders_, real);
  if (!fd) {
    tried_.push_back({real, "no regular file that can be read"});
    return std::nullopt;
  }
  if (candidate.by_inode) {
    const FileIdentities& identities = places_.identities;
    std::string why = why_another(fd->get(), identities.by_name.find(name_)->second, identities.recorded_ns);
    if (!why.empty()) {
      tried_.push_back({real, std::move(why)});
      return std::nullopt;
    }
  }
  SymbolFile file{std::move(*fd), real, {}};
  if (auto stamp = stamp_of(real)) file.stamp = *stamp;
  return file;
}

void SymbolSearch::settle(const std::string& refused, bool other_build) {
  if (!given_) return;
  const bool used = refused.empty();
  tried_.push_back({given_->path, used ? "used" : refused, other_build});
  if (used) {
    if (wish_->kind == WishKind::binary) {
      binary_ = given_->path;
      unchecked_ = given_by_user_ && build_id_.empty();
      by_inode_ = given_by_inode_;
    }
    if (wish_->kind == WishKind::debug_file || wish_->kind == WishKind::debug_link) {
      debug_ = given_->path;
      missing_debug_.clear();
    }
    used_.push_back(std::move(*given_));
  }
  given_.reset();
}

std::optional<SymbolFile> SymbolSearch::next(const Wish& wish) {
  const bool again = wish_ && same_wish(*wish_, wish) && !wish.refused.empty();
  settle(again ? wish.refused : std::string(), wish.other_build);
  if (!again) {
    wish_ = wish;
    left_ = candidates(wish);
  }
  while (!left_.empty()) {
    const Candidate candidate = std::move(left_.back());
    left_.pop_back();
    auto file = open(candidate);
    if (!file) continue;
    given_ = Used{file->path, file->stamp};
    given_by_user_ = candidate.anywhere;
    given_by_inode_ = candidate.by_inode;
    return file;
  }
  if (is_build_id(wish.build_id)) {
    if (wish.kind == WishKind::debug_file) missing_debug_ = wish.build_id;
    if (wish.kind == WishKind::alternate) missing_alternate_ = wish.build_id;
  }
  return std::nullopt;
}

std::vector<std::string> SymbolSearch::missing() const {
  std::vector<std::string> ids;
  for (const std::string& id : {missing_debug_, missing_alternate_})
    if (!id.empty()) ids.push_back(id);
  return ids;
}

std::optional<std::string> SymbolSearch::kallsyms() {
  std::vector<Candidate> kept;
  add_by_id(build_id_, "/kallsyms", "kallsyms", kept);
  for (const Candidate& candidate : kept)
    if (const auto file = open(candidate)) return file->path;
  return std::nullopt;
}

void SymbolSearch::finish() {
  settle("", false);
}

}  // namespace profd
