#include "server/engine/sample_source.h"

#include "server/engine/endpoint_feed.h"
#include "server/engine/growing_input.h"
#include "server/engine/inspector_feed.h"
#include "server/engine/uri.h"

namespace profd {

Result<std::unique_ptr<SampleFeed>> sample_feed_of(const std::string& source) {
  if (names_inspector(source)) return inspector_feed(source);
  if (source.starts_with("http:") || source.starts_with("https:")) return endpoint_feed(source);
  if (source.starts_with("file:")) {
    PROFD_TRY(const std::string path, path_of_uri(source));
    return file_feed(path);
  }
  return file_feed(source);
}

}  // namespace profd
