// Where the files of a module are: its binary, its debug information, what these name in turn. Paths in
// profiles and binaries are data: of them only regular files are opened that lie, with every link followed,
// in folders that somebody who may has named. What a file is, the worker finds out, which reads it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/path_index.h"
#include "core/support/unique_fd.h"
#include "server/engine/fetch_places.h"
#include "server/engine/file_identities.h"
#include "server/platform/file_watcher.h"
#include "workers/symbols.h"

namespace profd {

// A binary on its user's word.
struct ModuleFile {
  std::string module;  // its path in the profile, its name or its build id
  std::string path;    // absolute
};

struct SymbolPlaces {
  std::vector<ModuleFile> files;         // before all else, wherever they are
  std::vector<std::string> directories;  // absolute: by build id, by path and by name
  std::vector<std::string> roots;        // of workspaces: what profiles name may lie in them
  std::vector<PathMapping> mappings;     // of paths in profiles; their targets are roots, too
  std::string recording;                 // the folder of the profile's file; "" none
  std::string home;                      // for perf's cache; "" none
  std::string kernel;                    // the folder with proc and sys of the running kernel; "" none
  bool system = true;                    // the system's programs, libraries and their debug files
  FileIdentities identities;             // of what the profile has no build id of
  FetchPlaces fetch;                     // what was fetched is looked at, whatever may be fetched now

  // The same for a profile in another file; "" none.
  [[nodiscard]] SymbolPlaces of_file(std::string_view file) const;
};

// Those of the system and the user, for a profile in a file; "" none.
SymbolPlaces usual_symbol_places(std::string_view file);

// One that was opened for a wish.
struct SymbolFile {
  UniqueFd fd;
  std::string path;
  FileStamp stamp;
};

// What became of a file.
struct TriedFile {
  std::string path, why;  // "used", or why it is not
  bool other_build = false;
};

// The search for the files of one module. On a worker: it asks the file system.
class SymbolSearch {
 public:
  // `name` as the profile has it, `build_id` in lower-case hex, "" unknown: only SymbolPlaces::files are then
  // taken, and what SymbolPlaces::identities has evidence of. `places` outlive it.
  SymbolSearch(const SymbolPlaces& places, std::string name, std::string build_id);

  // Answers a wish; one that repeats the last, with why its file was refused, gets the next place.
  std::optional<SymbolFile> next(const worker::Wish& wish);
  // The list of symbols that perf's cache or a folder keeps for the build id of a kernel: its path.
  std::optional<std::string> kallsyms();
  // No more wishes come: what came last is used.
  void finish();

  // In the order of the search; files that are not there are not among them.
  [[nodiscard]] const std::vector<TriedFile>& tried() const { return tried_; }
  // Those that were not refused, as they were when they were opened.
  struct Used {
    std::string path;
    FileStamp stamp;
  };
  [[nodiscard]] const std::vector<Used>& used() const { return used_; }
  // The binary among them is its user's, and has no build id to be compared.
  [[nodiscard]] bool unchecked() const { return unchecked_; }
  // It has no build id to be compared, and is the file that was recorded by its inode.
  [[nodiscard]] bool by_inode() const { return by_inode_; }
  // A file is where the profile says, in no folder that is looked in.
  [[nodiscard]] const std::string& outside() const { return outside_; }
  // Build ids of debug information that was wished for and is not here.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  struct Candidate {
    std::string path;
    bool anywhere = false;  // named by a person: not bound to the folders
    bool by_inode = false;  // taken where that is the one that was recorded
  };
  [[nodiscard]] std::vector<Candidate> candidates(const worker::Wish& wish);
  void add_by_id(const std::string& id, std::string_view suffix, std::string_view in_cache,
                 std::vector<Candidate>& out) const;
  void add_binaries(const worker::Wish& wish, std::vector<Candidate>& out) const;
  void add_kernel(bool debug, std::vector<Candidate>& out) const;
  void add_packages(const worker::Wish& wish, std::vector<Candidate>& out) const;
  void add_fetched(const worker::Wish& wish, std::vector<Candidate>& out) const;
  void add_named(const worker::Wish& wish, std::vector<Candidate>& out) const;
  [[nodiscard]] std::string mapped(const std::string& path) const;
  [[nodiscard]] bool may_open(const std::string& real) const;
  std::optional<SymbolFile> open(const Candidate& candidate);
  void settle(const std::string& refused, bool other_build);

  const SymbolPlaces& places_;
  std::string name_, build_id_;
  std::vector<std::string> folders_;  // links followed: what lies in them may be opened
  std::optional<worker::Wish> wish_;  // that is being answered
  std::vector<Candidate> left_;       // for it, the next one last
  std::optional<Used> given_;         // for it, and not refused yet
  bool given_by_user_ = false, given_by_inode_ = false;
  std::string binary_, debug_;  // of those that are used
  std::vector<TriedFile> tried_;
  std::vector<Used> used_;
  bool unchecked_ = false, by_inode_ = false;
  std::string outside_;
  std::string missing_debug_, missing_alternate_;  // build ids; "" none
};

// Hexadecimal, in lower case: a text that may be part of a file's name.
bool is_build_id(std::string_view id);
// "app" of "/home/me/app (deleted)" and of "/home/me/app".
std::string module_base_name(std::string_view name);
// Not one of kernels, and no mapping without a file.
bool has_file(std::string_view name);

}  // namespace profd
