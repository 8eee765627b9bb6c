// PspSession: one client that speaks the Profile Server Protocol, which is LSP's base and profd's native
// methods. It holds the life cycle; what the client can ask for is in modules (module.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/dialect/psp/awaiting.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/session.h"

namespace profd {

class PspSession final : public Session, private EngineListener {
 public:
  PspSession(Engine& engine, SessionSetup setup, std::shared_ptr<Channel> channel);
  ~PspSession() override;

  void receive(std::string body) override;
  void refuse(const std::string& why) override;
  [[nodiscard]] bool ready() const override { return n_aside_ == 0; }
  void set_on_ready(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }
  [[nodiscard]] bool idle() const override;
  void close() override;
  [[nodiscard]] int exit_code() const override { return exit_code_; }

 private:
  protocol::Binder make_binder();
  void initialize(const psp::InitializeParams& params, protocol::Reply<psp::InitializeRequest> reply);
  bool authorise(const psp::InitializeParams& params);
  [[nodiscard]] psp::ServerCapabilities capabilities() const;
  // `place`: kInitially or kAtAnyTime.
  void apply_settings(const protocol::Any& settings, SettingPlaces place);
  // The client's settings are others; where it does not say how, it is asked.
  void settings_changed(const std::optional<protocol::Any>& settings);
  void ask_settings();
  void register_wishes();
  // With the project that they are of, whose file may be far away.
  void set_roots(std::vector<std::string> roots, UniqueFunction<void()> then);
  void folders_changed(const psp::WorkspaceFoldersChangeEvent& event);
  // Profiles that initializationOptions name.
  void open_wanted();
  void refresh();
  void refresh_soon();
  void look_at_meant();
  void tell_room();
  void aside(Lane lane, const char* what, UniqueFunction<void()> work, UniqueFunction<void()> then);

  void on_profile_changed(ProfileChange change, const std::string& handle, std::uint32_t revision,
                          const std::string& uri, const std::string& message, std::size_t left) override;
  void on_selection_changed(const std::optional<SharedSelection>& selection, ClientId by) override;
  void on_activity_changed(const std::string& error) override;

  SessionContext context_;
  std::shared_ptr<Channel> channel_;
  std::vector<std::unique_ptr<Module>> modules_;
  Awaiting awaiting_;
  bool told_of_room_ = false;  // that there is too little for the workspace's files
  std::string meant_;          // handle of the profile that was meant when it was last looked at; "" none
  std::vector<std::string> wanted_;  // paths and URIs
  std::function<void()> on_ready_;
  bool authorised_ = false, refreshing_ = false;
  std::size_t n_aside_ = 0;  // work of messages that those behind them wait for
  int exit_code_ = 0;        // 1 after `exit` without `shutdown`
};

// A SessionFactory.
std::unique_ptr<Session> make_psp_session(Engine& engine, SessionSetup setup,
                                          std::shared_ptr<Channel> channel);

}  // namespace profd
