// Workspace: what one client works on: its roots, open documents, project file, and the files found below.
// Belongs to the engine's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/stop.h"
#include "server/engine/document.h"
#include "server/engine/engine.h"
#include "server/engine/project_watch.h"
#include "server/engine/script_maps.h"
#include "server/engine/source_map.h"
#include "server/engine/symbol_files.h"

namespace profd {

class Workspace {
 public:
  using Changed = std::function<void()>;

  explicit Workspace(Engine& engine) : engine_(engine) {}
  ~Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Whose work its walks are.
  void set_client(ClientId client) { client_ = client; }

  // Walks the roots on a worker; `changed` comes on the strand when the walk is over. `project`: what
  // find_project() found for them.
  void set_roots(std::vector<std::string> roots, ProjectFound project, Changed changed);
  // The project file is another: what it says holds from now on, and `changed` is told. One that cannot be
  // read takes nothing away from what held before.
  void set_project(ProjectFound found);
  // What a client sets goes before the project file, that before the defaults; filters and mappings of both
  // hold.
  void set_settings(Settings settings);
  [[nodiscard]] const std::vector<std::string>& roots() const { return roots_; }
  [[nodiscard]] const std::optional<ProjectFile>& project() const { return project_; }
  [[nodiscard]] const std::vector<std::string>& project_problems() const { return problems_; }
  // Where project files were looked for; none where that is not wanted.
  [[nodiscard]] const std::vector<FoundProjectFile::Place>& project_places() const { return project_places_; }

  // Whether the client wants its project file looked at.
  [[nodiscard]] bool takes_project_file() const { return settings_.project_file.value_or(true); }
  [[nodiscard]] double threshold() const;
  [[nodiscard]] bool code_lens() const;
  [[nodiscard]] bool assembly_lens() const;
  [[nodiscard]] bool inlay_hints() const;
  [[nodiscard]] bool diagnostics() const;
  [[nodiscard]] std::optional<std::string> metric() const;
  // Whose source maps are applied to profiles that the client opens; none where it does not want that.
  [[nodiscard]] ScriptRoots script_roots() const;
  // What hints, lenses, hovers and commands leave out of the profiles of a URI.
  [[nodiscard]] std::vector<Filter> filters(std::string_view uri) const;
  // Metrics by formula, what the client set before what the project file has.
  [[nodiscard]] std::vector<DerivedMetric> derived() const;
  // Whether profiles get names from binaries as they are opened, and where these of a profile's file are
  // looked for.
  [[nodiscard]] bool symbols() const;
  [[nodiscard]] SymbolPlaces symbol_places(std::string_view file) const;
  // What decides on `mine` here, for filters that come from elsewhere.
  [[nodiscard]] std::shared_ptr<const FrameRule> mine() const;
  // The sets of frames that hold here, for filters by them and for shares.
  [[nodiscard]] FrameSetsPtr sets() const;
  // Rules of tips of the client, then those of the project file; and the ids that either switches off.
  [[nodiscard]] std::vector<TipRule> tips() const;
  [[nodiscard]] std::vector<std::string> tips_off() const;

  // A document that was made, or a changed copy of the one that is open. Fails when it, or those of all
  // clients, have become too much.
  Result<void> put_document(const std::string& path, std::shared_ptr<Document> document);
  // After it was changed in place; fails as put_document().
  Result<void> document_changed(const std::string& path);
  void close_document(const std::string& path);
  [[nodiscard]] const std::map<std::string, std::shared_ptr<Document>>& documents() const {
    return documents_;
  }
  // To change it; null when the document is not open. Snapshots taken before do not see the change.
  [[nodiscard]] Document* document(const std::string& path);
  // A file in no folder of the workspace, whose costs the client may ask for all the same; a bounded number.
  void add_outside(const std::string& path);
  // For tasks: immutable. Null when the document is not open.
  [[nodiscard]] std::shared_ptr<const Document> document_snapshot(const std::string& path) const;
  // For tasks: immutable.
  [[nodiscard]] WorkspaceSnapshot snapshot() const;
  // Whether a path may be shown to the user's editor on a profile's word: below a root or a mapped folder, or
  // open.
  [[nodiscard]] bool inside(std::string_view path) const;
  // Why not all of its files are known, when that is for want of memory; "" else.
  [[nodiscard]] std::string no_room() const;
  // The roots and the targets of mappings, none inside of another.
  [[nodiscard]] const std::vector<std::string>& walked_roots() const { return walked_roots_; }

 private:
  template <class T>
  [[nodiscard]] std::optional<T> first_said(std::optional<T> Settings::*setting) const;
  void set_mappings();
  void index_documents() const;
  [[nodiscard]] bool in_walked_roots(std::string_view path) const;
  [[nodiscard]] std::uint64_t most_of_documents() const;
  void walk();

  Engine& engine_;
  ClientId client_ = kNobody;
  std::vector<std::string> roots_;
  std::optional<ProjectFile> project_;
  std::vector<std::string> problems_;
  std::vector<FoundProjectFile::Place> project_places_;
  Settings settings_;
  // Made when they are asked for after settings or what is the user's own code have changed.
  mutable FrameSetsPtr sets_;
  mutable std::string sets_of_;
  std::map<std::string, std::shared_ptr<Document>> documents_;  // by path; cloned before a change when shared
  std::map<std::string, HeldBytes> document_bytes_;             // by path
  std::uint64_t own_bytes_ = 0;                                 // their sum
  std::shared_ptr<const WorkspaceFiles> files_;
  std::vector<PathMapping> mappings_;
  std::vector<std::string> walked_roots_;  // of roots and mappings; none lies below another
  std::string mappings_key_;
  std::shared_ptr<void> walking_;  // let go, the walk is not waited for any more
  std::shared_ptr<void> room_;     // there when there was no room for all files
  Changed changed_;
  // Open documents outside the walked roots, by path; made when it is asked for after the set has changed.
  mutable std::shared_ptr<const PathIndex> document_index_;
  std::set<std::string> outside_;
  mutable std::uint64_t documents_version_ = 0;
  mutable bool documents_changed_ = false;
};

}  // namespace profd
