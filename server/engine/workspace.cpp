#include "server/engine/workspace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/engine/mine.h"
#include "server/engine/rule_sets.h"
#include "server/engine/uri.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

constexpr double kDefaultThreshold = 0.005;
constexpr std::size_t kMaxDocuments = 10'000;

bool same_mappings(const std::vector<PathMapping>& a, const std::vector<PathMapping>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const PathMapping& x, const PathMapping& y) {
    return x.from == y.from && x.to == y.to;
  });
}

const Settings& settings_of(const std::optional<ProjectFile>& project) {
  static const Settings none;
  return project ? project->settings : none;
}

}  // namespace

void Workspace::set_roots(std::vector<std::string> roots, ProjectFound project, Changed changed) {
  roots_ = std::move(roots);
  changed_ = std::move(changed);
  project_ = std::move(project.file);
  problems_ = std::move(project.problems);
  project_places_ = std::move(project.places);
  set_mappings();
  walk();
}

void Workspace::set_project(ProjectFound found) {
  problems_ = std::move(found.problems);
  project_places_ = std::move(found.places);
  if (found.broken) return;
  const bool same = same_mappings(settings_of(project_).mappings, settings_of(found.file).mappings);
  project_ = std::move(found.file);
  sets_ = nullptr;
  if (!same) {
    set_mappings();
    walk();
  }
  if (changed_) changed_();
}

void Workspace::set_settings(Settings settings) {
  const bool same = same_mappings(settings.mappings, settings_.mappings);
  settings_ = std::move(settings);
  sets_ = nullptr;
  if (same) return;
  set_mappings();
  walk();
}

void Workspace::set_mappings() {
  mappings_ = settings_.mappings;
  const std::vector<PathMapping>& shared = settings_of(project_).mappings;
  mappings_.insert(mappings_.end(), shared.begin(), shared.end());
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
  if (walked_roots_.empty()) {
    files_ = nullptr;
    return;
  }
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

template <class T>
std::optional<T> Workspace::first_said(std::optional<T> Settings::*setting) const {
  return settings_.*setting ? settings_.*setting : settings_of(project_).*setting;
}

double Workspace::threshold() const {
  return first_said(&Settings::threshold).value_or(kDefaultThreshold);
}
bool Workspace::code_lens() const {
  return first_said(&Settings::code_lens).value_or(false);
}
bool Workspace::assembly_lens() const {
  return first_said(&Settings::assembly_lens).value_or(false);
}

bool Workspace::inlay_hints() const {
  return first_said(&Settings::inlay_hints).value_or(true);
}
bool Workspace::diagnostics() const {
  return first_said(&Settings::diagnostics).value_or(false);
}
std::optional<std::string> Workspace::metric() const {
  return first_said(&Settings::metric);
}
ScriptRoots Workspace::script_roots() const {
  if (!first_said(&Settings::source_maps).value_or(true)) return {};
  return {walked_roots_, mappings_};
}
std::vector<Filter> Workspace::filters(std::string_view uri) const {
  std::vector<Filter> all = settings_of(project_).filters;
  all.insert(all.end(), settings_.filters.begin(), settings_.filters.end());
  if (const auto own = settings_.profile_filters.find(uri); own != settings_.profile_filters.end())
    all.insert(all.end(), own->second.begin(), own->second.end());
  decide_mine(all, [this] { return mine(); });
  decide_sets(all, [this] { return sets(); });
  return all;
}
std::vector<DerivedMetric> Workspace::derived() const {
  std::vector<DerivedMetric> all = settings_.derived;
  const std::vector<DerivedMetric>& of_project = settings_of(project_).derived;
  all.insert(all.end(), of_project.begin(), of_project.end());
  return all;
}

bool Workspace::symbols() const {
  return first_said(&Settings::symbols).value_or(true);
}
SymbolPlaces Workspace::symbol_places(std::string_view file) const {
  SymbolPlaces places = usual_symbol_places(file);
  for (const std::string& given : settings_.debug_directories)
    if (auto path = path_of_uri(given)) places.directories.push_back(std::move(*path));
  places.roots = roots_;
  places.mappings = mappings_;
  if (settings_.debuginfod)
    places.fetch.consent = fetch_consent_of(*settings_.debuginfod).value_or(FetchConsent::off);
  if (!settings_.debuginfod_urls.empty()) places.fetch.servers = settings_.debuginfod_urls;
  return places;
}

std::shared_ptr<const FrameRule> Workspace::mine() const {
  return mine_rule(snapshot(), settings_.mine.empty() ? settings_of(project_).mine : settings_.mine);
}

FrameSetsPtr Workspace::sets() const {
  const std::shared_ptr<const FrameRule> own_code = mine();
  if (sets_ && sets_of_ == own_code->id) return sets_;
  std::vector<FrameSet> own = settings_.sets;
  const std::vector<FrameSet>& of_project = settings_of(project_).sets;
  own.insert(own.end(), of_project.begin(), of_project.end());
  sets_ = frame_sets(std::move(own), own_code, [](const std::string& text) { log_info(text); });
  sets_of_ = own_code->id;
  return sets_;
}

std::vector<TipRule> Workspace::tips() const {
  std::vector<TipRule> all = settings_of(project_).tips;
  all.insert(all.end(), settings_.tips.begin(), settings_.tips.end());
  return all;
}

std::vector<std::string> Workspace::tips_off() const {
  std::vector<std::string> all = settings_.tips_off;
  const std::vector<std::string>& of_project = settings_of(project_).tips_off;
  all.insert(all.end(), of_project.begin(), of_project.end());
  return all;
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
