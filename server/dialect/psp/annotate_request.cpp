#include "server/dialect/psp/annotate_request.h"

#include <utility>

#include "server/engine/uri.h"

namespace profd {

tl::expected<AnnotateRequest, protocol::ResponseError> annotate_request(const SessionContext& session,
                                                                        const OpenProfilePtr& open,
                                                                        const std::string& uri) {
  AnnotateRequest request;
  auto path = path_of_uri(uri);
  if (!path) return tl::make_unexpected(invalid_params("params.textDocument.uri", path.error().message));
  request.open = open;
  request.workspace = session.workspace.snapshot();
  request.path = std::move(*path);
  request.document = session.workspace.document_snapshot(request.path);
  request.metric = open->metric;
  request.filters = session.workspace.filters(open->uri);
  request.threshold = session.workspace.threshold();
  return request;
}

}  // namespace profd
