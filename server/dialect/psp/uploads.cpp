// upload/*: files that a client sends.
#include <optional>

#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/runtime/base64.h"

namespace profd {
namespace {

class UploadsModule final : public Module {
 public:
  explicit UploadsModule(SessionContext& session) : session_(session) {
    uploads_.emplace(session.engine.uploads());
  }
  void bind(protocol::Binder& binder) override;
  void end() override { uploads_.reset(); }

 private:
  SessionContext& session_;
  std::optional<Uploads> uploads_;  // until the end
};

void UploadsModule::bind(protocol::Binder& binder) {
  binder.request<psp::UploadBeginRequest>(
      [this](const psp::UploadBeginParams& params, protocol::Reply<psp::UploadBeginRequest> reply) {
        auto id = uploads_->begin(params.name, static_cast<std::uint64_t>(params.size));
        if (!id) return reply.error(to_psp(id.error()));
        reply({std::move(*id), session_.engine.uploads().limits().piece_bytes});
      });

  binder.request<psp::UploadPieceRequest>(
      [this](psp::UploadPieceParams params, protocol::Reply<psp::UploadPieceRequest> reply) {
        auto piece = uploads_->piece(params.upload, static_cast<std::uint64_t>(params.offset),
                                     bytes_in_base64(params.base64));
        if (!piece) return reply.error(to_psp(piece.error()));
        session_.run<psp::UploadPieceRequest>(
            true, std::move(reply), "",
            [piece = std::move(*piece),
             base64 = std::move(params.base64)](const StopToken&) mutable -> Result<psp::UploadPieceResult> {
              const auto bytes = from_base64(base64);
              if (!bytes) return fail(ErrorCode::invalid, "params.base64 is not base64");
              PROFD_TRY(const std::uint64_t received, piece.write(*bytes));
              return psp::UploadPieceResult{static_cast<std::int64_t>(received)};
            });
      });

  binder.request<psp::UploadEndRequest>(
      [this](const psp::UploadEndParams& params, protocol::Reply<psp::UploadEndRequest> reply) {
        auto whole = uploads_->end(params.upload);
        if (!whole) return reply.error(to_psp(whole.error()));
        reply({uri_of_path(whole->path), std::move(whole->name)});
      });

  binder.request<psp::UploadCancelRequest>(
      [this](const psp::UploadCancelParams& params, protocol::Reply<psp::UploadCancelRequest> reply) {
        if (auto cancelled = uploads_->cancel(params.upload); !cancelled)
          return reply.error(to_psp(cancelled.error()));
        reply({});
      });
}

}  // namespace

std::unique_ptr<Module> make_uploads_module(SessionContext& session) {
  return std::make_unique<UploadsModule>(session);
}

}  // namespace profd
