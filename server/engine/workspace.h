// Workspace: what one client works on: its roots, open documents, project file, and the files found below.
// Belongs to the engine's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/stop.h"
#include "server/engine/document.h"
#include "server/engine/engine.h"
#include "server/engine/project_file.h"
#include "server/engine/source_map.h"

namespace profd {

// Settings of a client; what it says itself goes before the project file, that before the defaults.
struct Settings {
  std::optional<double> threshold;
  std::optional<bool> code_lens, inlay_hints;
  std::optional<std::string> metric;
  std::vector<PathMapping> mappings;
};

class Workspace {
 public:
  using Changed = std::function<void()>;

  explicit Workspace(Engine& engine) : engine_(engine) {}
  ~Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Reads the project file at once and walks the roots on a worker; `changed` comes on the strand when the
  // walk is over. Problems of the project file are in project_problems().
  void set_roots(std::vector<std::string> roots, Changed changed);
  void set_settings(Settings settings);
  [[nodiscard]] const std::vector<std::string>& roots() const { return roots_; }
  [[nodiscard]] const std::optional<ProjectFile>& project() const { return project_; }
  [[nodiscard]] const std::vector<std::string>& project_problems() const { return problems_; }

  [[nodiscard]] double threshold() const;
  [[nodiscard]] bool code_lens() const;
  [[nodiscard]] bool inlay_hints() const;
  [[nodiscard]] std::optional<std::string> metric() const;
  [[nodiscard]] std::vector<Filter> filters() const;

  Result<void> open_document(const std::string& path, std::string text, std::int32_t version);
  // After it was changed. Fails when the documents of all clients have become too much.
  Result<void> document_changed(const std::string& path);
  void document_saved(const std::string& path);
  void close_document(const std::string& path);
  // To change it; null when the document is not open. Snapshots taken before do not see the change.
  [[nodiscard]] Document* document(const std::string& path);
  // For tasks: immutable. Null when the document is not open.
  [[nodiscard]] std::shared_ptr<const Document> document_snapshot(const std::string& path) const;
  // Every document takes what is saved for what the profile measured.
  void profile_loaded(const std::string& handle);

  // For tasks: immutable.
  [[nodiscard]] WorkspaceSnapshot snapshot() const;
  // Whether a path may be shown to the user's editor on a profile's word: below a root or a mapped folder, or
  // open.
  [[nodiscard]] bool inside(std::string_view path) const;
  // The roots and the targets of mappings, none inside of another.
  [[nodiscard]] std::vector<std::string> walked_roots() const;

 private:
  void rebuild_documents();
  [[nodiscard]] std::uint64_t most_of_documents() const;
  [[nodiscard]] Result<void> too_many_documents() const;
  void walk();

  Engine& engine_;
  std::vector<std::string> roots_;
  std::optional<ProjectFile> project_;
  std::vector<std::string> problems_;
  Settings settings_;
  std::map<std::string, std::shared_ptr<Document>> documents_;  // by path; cloned before a change when shared
  std::map<std::string, HeldBytes> document_bytes_;             // by path
  std::shared_ptr<const WorkspaceFiles> files_;
  std::shared_ptr<const PathIndex> document_index_;
  std::vector<PathMapping> mappings_;
  std::shared_ptr<void> walking_;  // let go, the walk is not waited for any more
  Changed changed_;
  std::uint64_t documents_version_ = 0;  // counts other sets of documents outside the roots
};

}  // namespace profd
