// web/address: where a browser finds the views.
#include <utility>

#include "server/dialect/psp/module.h"
#include "server/dialect/psp/web_page.h"

namespace profd {
namespace {

class WebModule final : public Module {
 public:
  explicit WebModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;

 private:
  SessionContext& session_;
};

void WebModule::bind(protocol::Binder& binder) {
  binder.request<psp::WebAddressRequest>(
      [this](const psp::WebAddressParams& params, protocol::Reply<psp::WebAddressRequest> reply) {
        if (params.view)
          if (const auto named = from_psp(psp::ViewSpecLike(*params.view), "params.view"); !named)
            return reply.error(named.error());
        auto page = web_page(session_, params.open, params.view.value_or(""));
        if (!page) return reply.error(to_psp(page.error()));
        reply({std::move(page->address), std::move(page->once), page->has_page});
      });
}

}  // namespace

Result<WebPage> web_page(const SessionContext& session, std::vector<std::string> open, std::string view) {
  if (!session.setup.web_page)
    return fail(
        ErrorCode::unsupported,
        "the address of the page is told on the daemon's own socket or pipes alone; ask with `profd view`");
  return session.setup.web_page({std::move(open), std::move(view), session.workspace.roots()});
}

std::unique_ptr<Module> make_web_module(SessionContext& session) {
  return std::make_unique<WebModule>(session);
}

}  // namespace profd
