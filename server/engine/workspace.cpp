#include "server/engine/workspace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/engine/mine.h"
#include "server/engine/project_trust.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

constexpr double kDefaultThreshold = 0.005;
constexpr std::size_t kMaxDocuments = 10'000;

}  // namespace

ProjectFound find_project(const std::vector<std::string>& roots) {
  ProjectFound found;
  for (const std::string& root : roots) {
    const FoundProjectFile near = find_project_file(root);
    found.problems.insert(found.problems.end(), near.problems.begin(), near.problems.end());
    if (near.path.empty()) continue;
    auto project = read_project_file(near.path);
    if (project) {
      found.problems.insert(found.problems.end(), project->problems.begin(), project->problems.end());
      found.file = std::move(*project);
    } else {
      found.problems.push_back(describe(project.error()));
    }
    break;
  }
  return found;
}

void Workspace::set_roots(std::vector<std::string> roots, ProjectFound project, Changed changed) {
  roots_ = std::move(roots);
  changed_ = std::move(changed);
  project_ = std::move(project.file);
  problems_ = std::move(project.problems);
  set_mappings();
  walk();
}

void Workspace::set_settings(Settings settings) {
  const bool same_mappings =
      std::equal(settings.mappings.begin(), settings.mappings.end(), settings_.mappings.begin(),
                 settings_.mappings.end(),
                 [](const PathMapping& a, const PathMapping& b) { return a.from == b.from && a.to == b.to; });
  settings_ = std::move(settings);
  if (same_mappings) return;
  set_mappings();
  walk();
}

void Workspace::set_mappings() {
  mappings_ = settings_.mappings;
  if (project_) mappings_.insert(mappings_.end(), project_->mappings.begin(), project_->mappings.end());
  mappings_key_.clear();
  for (const PathMapping& mapping : mappings_)
    mappings_key_ += fmt::format("\n{}\n{}", mapping.from, mapping.to);
  // In this order a folder comes behind those that hold it.
  std::vector<std::string> folders = roots_;
  for (const PathMapping& mapping : mappings_) folders.push_back(mapping.to);
  std::sort(folders.begin(), folders.end(),
            [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  walked_roots_.clear();
  for (std::string& folder : folders)
    if (!in_walked_roots(folder)) walked_roots_.push_back(std::move(folder));
}

bool Workspace::in_walked_roots(std::string_view path) const {
  return std::any_of(walked_roots_.begin(), walked_roots_.end(),
                     [&](const std::string& folder) { return lies_below(path, folder); });
}

void Workspace::walk() {
  walking_.reset();
  room_.reset();
  documents_changed_ = true;
  if (walked_roots_.empty()) return;
  const std::string& project = project_ ? project_->path : walked_roots_.front();
  walking_ =
      engine_.walks().walk(client_, walked_roots_, project, [this](const WorkspaceWalks::Files& files) {
        documents_changed_ = documents_changed_ || !files_;
        files_ = files;
        if (files->no_room) room_ = engine_.walks().when_room(files, [this] { walk(); });
        if (changed_) changed_();
      });
}

std::string Workspace::no_room() const {
  if (!files_ || !files_->no_room) return "";
  return fmt::format(
      "{}: {} of its files are known, and there is no room for more within the memory budget of "
      "{} MiB (--memory-budget): others have no costs shown, until there is room",
      walked_roots_.empty() ? "the workspace" : walked_roots_.front(), files_->index.size(),
      engine_.memory_budget() >> 20);
}

double Workspace::threshold() const {
  if (settings_.threshold) return *settings_.threshold;
  return project_ && project_->threshold ? *project_->threshold : kDefaultThreshold;
}
bool Workspace::code_lens() const {
  if (settings_.code_lens) return *settings_.code_lens;
  return project_ && project_->code_lens.value_or(false);
}
bool Workspace::inlay_hints() const {
  if (settings_.inlay_hints) return *settings_.inlay_hints;
  return !project_ || project_->inlay_hints.value_or(true);
}
std::optional<std::string> Workspace::metric() const {
  if (settings_.metric) return settings_.metric;
  return project_ ? project_->metric : std::nullopt;
}
std::vector<Filter> Workspace::filters(std::string_view uri) const {
  std::vector<Filter> all = project_ ? project_->filters : std::vector<Filter>();
  all.insert(all.end(), settings_.filters.begin(), settings_.filters.end());
  if (const auto own = settings_.profile_filters.find(uri); own != settings_.profile_filters.end())
    all.insert(all.end(), own->second.begin(), own->second.end());
  decide_mine(all, [this] { return mine(); });
  return all;
}
std::shared_ptr<const FrameRule> Workspace::mine() const {
  const bool own = !settings_.mine.empty() || !project_;
  return mine_rule(snapshot(), own ? settings_.mine : project_->mine);
}

Result<void> Workspace::put_document(const std::string& path, std::shared_ptr<Document> document) {
  PROFD_CHECK(document->check_size());
  const auto found = documents_.find(path);
  if (found != documents_.end()) {
    found->second = std::move(document);
    return document_changed(path);
  }
  if (documents_.size() >= kMaxDocuments) return fail(ErrorCode::limit, "10,000 documents are open");
  documents_.emplace(path, std::move(document));
  documents_changed_ = true;
  auto fits = document_changed(path);
  if (!fits) close_document(path);
  return fits;
}

Result<void> Workspace::document_changed(const std::string& path) {
  const auto found = documents_.find(path);
  if (found == documents_.end()) return {};
  const std::shared_ptr<MemoryLedger>& ledger = engine_.ledger();
  HeldBytes& held = document_bytes_.try_emplace(path, ledger, Held::documents).first->second;
  own_bytes_ -= held.bytes();
  held.set(found->second->memory());
  own_bytes_ += held.bytes();
  engine_.share_memory();
  // A client within its share is not refused for what others have open.
  const std::uint64_t share = most_of_documents() / std::max<std::size_t>(1, engine_.n_clients());
  if (ledger->bytes(Held::documents) <= most_of_documents() || own_bytes_ <= share) return {};
  return fail(ErrorCode::limit,
              fmt::format("the open documents of all clients take more than {} MiB, a quarter of the "
                          "daemon's memory budget (--memory-budget)",
                          most_of_documents() >> 20));
}

std::uint64_t Workspace::most_of_documents() const {
  return engine_.memory_budget() / 4;
}

void Workspace::close_document(const std::string& path) {
  if (const auto held = document_bytes_.find(path); held != document_bytes_.end()) {
    engine_.freed(held->second.bytes());
    own_bytes_ -= held->second.bytes();
    document_bytes_.erase(held);
  }
  if (documents_.erase(path) > 0) documents_changed_ = true;
}

Document* Workspace::document(const std::string& path) {
  const auto found = documents_.find(path);
  if (found == documents_.end()) return nullptr;
  if (found->second.use_count() > 1) found->second = std::make_shared<Document>(*found->second);
  return found->second.get();
}

void Workspace::add_outside(const std::string& path) {
  constexpr std::size_t kMost = 1000;
  if (outside_.size() < kMost && outside_.insert(path).second) documents_changed_ = true;
}

std::shared_ptr<const Document> Workspace::document_snapshot(const std::string& path) const {
  const auto found = documents_.find(path);
  return found == documents_.end() ? nullptr : found->second;
}

void Workspace::index_documents() const {
  if (!std::exchange(documents_changed_, false)) return;
  auto index = std::make_shared<PathIndex>();
  for (const auto& [path, document] : documents_)
    if (!files_ || !in_walked_roots(path)) index->add(path);
  for (const std::string& path : outside_)
    if (documents_.count(path) == 0 && !in_walked_roots(path)) index->add(path);
  const bool was_empty = !document_index_ || document_index_->size() == 0;
  if (index->size() == 0 && was_empty) return;
  document_index_ = std::move(index);
  ++documents_version_;
}

WorkspaceSnapshot Workspace::snapshot() const {
  index_documents();
  // Clients of one project see the same files, and share what is made of them.
  std::string key = fmt::format("walk {}", files_ ? files_->id : 0);
  if (document_index_ && document_index_->size() > 0)
    key += fmt::format(" documents {}.{}", static_cast<const void*>(this), documents_version_);
  key += mappings_key_;
  return {std::move(key), files_, document_index_, mappings_};
}

bool Workspace::inside(std::string_view path) const {
  return documents_.count(std::string(path)) != 0 || in_walked_roots(path);
}

}  // namespace profd
