#include "server/engine/workspace.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/engine/uri.h"

namespace profd {
namespace {

constexpr double kDefaultThreshold = 0.005;
constexpr std::size_t kMaxDocuments = 10'000;

// The text, where its lines begin, and what tells where they were.
std::size_t memory_of(std::size_t n_bytes, std::size_t n_lines) {
  return n_bytes + n_lines * 3 * sizeof(std::uint64_t);
}

std::optional<std::int64_t> written_ns_of(const std::string& path) {
  const auto stamp = stamp_of(path);
  return stamp ? std::optional(stamp->mtime_ns) : std::nullopt;
}

}  // namespace

void Workspace::set_roots(std::vector<std::string> roots, Changed changed) {
  roots_ = std::move(roots);
  changed_ = std::move(changed);
  project_.reset();
  problems_.clear();
  for (const std::string& root : roots_) {
    const std::string path = find_project_file(root);
    if (path.empty()) continue;
    auto project = read_project_file(path);
    if (project) {
      problems_ = project->problems;
      project_ = std::move(*project);
    } else {
      problems_.push_back(describe(project.error()));
    }
    break;
  }
  mappings_ = settings_.mappings;
  if (project_) mappings_.insert(mappings_.end(), project_->mappings.begin(), project_->mappings.end());
  walk();
}

void Workspace::set_settings(Settings settings) {
  const bool same_mappings =
      std::equal(settings.mappings.begin(), settings.mappings.end(), settings_.mappings.begin(),
                 settings_.mappings.end(),
                 [](const PathMapping& a, const PathMapping& b) { return a.from == b.from && a.to == b.to; });
  settings_ = std::move(settings);
  if (same_mappings) return;
  mappings_ = settings_.mappings;
  if (project_) mappings_.insert(mappings_.end(), project_->mappings.begin(), project_->mappings.end());
  walk();
}

std::vector<std::string> Workspace::walked_roots() const {
  std::vector<std::string> folders = roots_;
  for (const PathMapping& mapping : mappings_) folders.push_back(mapping.to);
  std::vector<std::string> result;
  for (const std::string& folder : folders) {
    const bool covered = std::any_of(folders.begin(), folders.end(), [&](const std::string& other) {
      return (other != folder && lies_below(folder, other)) ||
             std::find(result.begin(), result.end(), folder) != result.end();
    });
    if (!covered) result.push_back(folder);
  }
  return result;
}

void Workspace::walk() {
  walking_.reset();
  rebuild_documents();
  std::vector<std::string> folders = walked_roots();
  if (folders.empty()) return;
  walking_ = engine_.walks().walk(std::move(folders), [this](const WorkspaceWalks::Files& files) {
    files_ = files;
    if (changed_) changed_();
  });
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
std::vector<Filter> Workspace::filters() const {
  return project_ ? project_->filters : std::vector<Filter>();
}

Result<void> Workspace::open_document(const std::string& path, std::string text, std::int32_t version) {
  if (text.size() > Document::kMaxBytes) return fail(ErrorCode::limit, "a document may have 64 MiB");
  if (documents_.size() >= kMaxDocuments) return fail(ErrorCode::limit, "10,000 documents are open");
  // What is too large is not made first.
  const std::uint64_t others = engine_.ledger()->bytes(Held::documents);
  const auto n_lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  if (others + memory_of(text.size(), n_lines) > most_of_documents()) return too_many_documents();
  documents_.insert_or_assign(path,
                              std::make_shared<Document>(std::move(text), version, written_ns_of(path)));
  if (auto fits = document_changed(path); !fits) {
    close_document(path);
    return fits;
  }
  rebuild_documents();
  return {};
}

Result<void> Workspace::document_changed(const std::string& path) {
  const auto found = documents_.find(path);
  if (found == documents_.end()) return {};
  const std::shared_ptr<MemoryLedger>& ledger = engine_.ledger();
  const Document& document = *found->second;
  document_bytes_.try_emplace(path, ledger, Held::documents)
      .first->second.set(memory_of(document.text().capacity(), document.n_lines()));
  engine_.share_memory();
  if (ledger->bytes(Held::documents) <= most_of_documents()) return {};
  return too_many_documents();
}

std::uint64_t Workspace::most_of_documents() const {
  return engine_.memory_budget() / 4;
}

Result<void> Workspace::too_many_documents() const {
  return fail(ErrorCode::limit,
              fmt::format("the open documents of all clients take more than {} MiB, a quarter of the "
                          "daemon's memory budget (--memory-budget)",
                          most_of_documents() >> 20));
}

void Workspace::document_saved(const std::string& path) {
  if (Document* saved = document(path)) saved->saved(written_ns_of(path));
}

void Workspace::close_document(const std::string& path) {
  if (const auto held = document_bytes_.find(path); held != document_bytes_.end()) {
    engine_.freed(held->second.bytes());
    document_bytes_.erase(held);
  }
  if (documents_.erase(path) > 0) rebuild_documents();
}

Document* Workspace::document(const std::string& path) {
  const auto found = documents_.find(path);
  if (found == documents_.end()) return nullptr;
  if (found->second.use_count() > 1) found->second = std::make_shared<Document>(*found->second);
  return found->second.get();
}

std::shared_ptr<const Document> Workspace::document_snapshot(const std::string& path) const {
  const auto found = documents_.find(path);
  return found == documents_.end() ? nullptr : found->second;
}

void Workspace::profile_loaded(const std::string& handle) {
  for (auto& [path, shared] : documents_) document(path)->profile_loaded(handle);
}

void Workspace::rebuild_documents() {
  const std::vector<std::string> folders = walked_roots();
  auto index = std::make_shared<PathIndex>();
  for (const auto& [path, document] : documents_)
    if (std::none_of(folders.begin(), folders.end(),
                     [&](const std::string& f) { return lies_below(path, f); }) ||
        !files_)
      index->add(path);
  const bool was_empty = !document_index_ || document_index_->size() == 0;
  if (index->size() == 0 && was_empty) return;
  document_index_ = std::move(index);
  ++documents_version_;
}

WorkspaceSnapshot Workspace::snapshot() const {
  // Clients of one project see the same files, and share what is made of them.
  std::string key = fmt::format("walk {}", files_ ? files_->id : 0);
  if (document_index_ && document_index_->size() > 0)
    key += fmt::format(" documents {}.{}", static_cast<const void*>(this), documents_version_);
  for (const PathMapping& mapping : mappings_) key += fmt::format("\n{}\n{}", mapping.from, mapping.to);
  return {std::move(key), files_, document_index_, mappings_};
}

bool Workspace::inside(std::string_view path) const {
  if (documents_.count(std::string(path)) != 0) return true;
  const std::vector<std::string> folders = walked_roots();
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& f) { return lies_below(path, f); });
}

}  // namespace profd
