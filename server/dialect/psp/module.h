// Module: a part of what a session can do: it binds its methods, adds its capabilities, keeps its own state.
// The list of them is in psp_session.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/dialect/psp/session_context.h"

namespace profd {

struct ProfileNews {
  ProfileChange change;
  std::string handle, uri, message;
  std::uint32_t revision;
  std::size_t left;  // further profiles of the file to which the same happened
};

class Module {
 public:
  virtual ~Module() = default;
  virtual void bind(protocol::Binder& binder) = 0;
  // What clients are told at `initialize`.
  virtual void announce(psp::ServerCapabilities&, psp::ProfdServerCapabilities&) const {}
  // After `initialized`.
  virtual void start() {}
  // What hints and lenses show may be another: settings, workspace, profiles.
  virtual void refresh() {}
  // A document was opened, saved or closed.
  virtual void on_documents() {}
  // The client saw files change on disk.
  virtual void on_files(const std::vector<std::string>& /*paths*/) {}
  // The workspace has other roots.
  virtual void on_roots() {}
  // The client is gone. What a module has of the engine it gives back now: it may be destroyed after it.
  virtual void end() {}
  // News of the engine, between `initialized` and the end.
  virtual void on_profile(const ProfileNews&) {}
  virtual void on_selection(const std::optional<SharedSelection>&, ClientId /*by*/) {}
  virtual void on_activity(const std::string& /*error*/) {}
};

// `session` outlives them.
std::unique_ptr<Module> make_documents_module(SessionContext& session);    // textDocument/did*
std::unique_ptr<Module> make_editor_module(SessionContext& session);       // hints, lenses, hovers, symbols
// callHierarchy/*, textDocument/documentSymbol, textDocument/codeAction
std::unique_ptr<Module> make_hierarchy_module(SessionContext& session);
std::unique_ptr<Module> make_diagnostics_module(SessionContext& session);  // textDocument/publishDiagnostics
std::unique_ptr<Module> make_commands_module(SessionContext& session);     // workspace/executeCommand
std::unique_ptr<Module> make_profiles_module(SessionContext& session);     // profile/*, metric/list
std::unique_ptr<Module> make_analyses_module(SessionContext& session);     // analysis/*
std::unique_ptr<Module> make_symbols_module(SessionContext& session);   // profile/modules, profile/symbolize
std::unique_ptr<Module> make_project_module(SessionContext& session);   // what .profd.toml says to open
std::unique_ptr<Module> make_recordings_module(SessionContext& session);  // recording/list, profd/recorded
std::unique_ptr<Module> make_views_module(SessionContext& session);     // view/*
std::unique_ptr<Module> make_sources_module(SessionContext& session);   // source/*
std::unique_ptr<Module> make_code_module(SessionContext& session);      // source/disassembly
std::unique_ptr<Module> make_assembly_module(SessionContext& session);  // profd-asm: documents, their lenses
std::unique_ptr<Module> make_web_module(SessionContext& session);       // web/address
std::unique_ptr<Module> make_uploads_module(SessionContext& session);   // upload/*
std::unique_ptr<Module> make_shared_module(SessionContext& session);    // selection/*, $/memory, profd/status

}  // namespace profd
