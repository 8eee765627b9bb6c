#include "server/engine/previous_origin.h"

#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/engine/endpoint_origin.h"
#include "server/engine/origins.h"
#include "server/engine/uri.h"
#include "server/engine/uri_parameters.h"

namespace profd {
namespace {

class PreviousOrigin final : public Origin {
 public:
  PreviousOrigin(const OriginPtr& of, std::uint32_t revision, std::shared_ptr<const LoadedProfiles> loaded)
      : loaded_(std::move(loaded)),
        key_(fmt::format("{}\n{}\n{}", kPreviousScheme, revision, of->key())),
        uri_(fmt::format("{}://?of={}&revision={}", kPreviousScheme, percent_encoded(of->uri()), revision)),
        name_(fmt::format("{} (recording {})", of->name(), revision)) {}

  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return uri_; }
  std::string name() const override { return name_; }
  const std::string& place() const override { return name_; }
  // Nothing watches it, and its freshness is no file's.
  Result<Load> load(const LoadContext&) const override {
    Load out;
    out.profiles = std::make_shared<LoadedProfiles>(*loaded_);
    out.profiles->watched.clear();
    out.profiles->freshness = key_;
    return out;
  }
  std::optional<std::string> freshness() const override { return key_; }

 private:
  std::shared_ptr<const LoadedProfiles> loaded_;
  std::string key_, uri_, name_;
};

}  // namespace

Result<PreviousName> parse_previous(std::string_view uri) {
  PreviousName out;
  PROFD_TRY(const std::vector<UriParameter> parameters, parameters_of_uri(uri));
  for (const auto& [key, value] : parameters) {
    if (key == "of") {
      out.of = value;
    } else if (key == "revision") {
      const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), out.revision);
      if (error != std::errc() || stop != value.data() + value.size())
        return fail(ErrorCode::invalid, fmt::format("`{}` is no revision", value));
    } else {
      return fail(ErrorCode::invalid, fmt::format("a {} URI has no `{}`", kPreviousScheme, key));
    }
  }
  const std::string scheme = scheme_of(out.of);
  const bool is_path = out.of.size() > 1 && out.of.front() == '/';
  if (scheme != "file" && scheme != kEndpointScheme && !is_path)
    return fail(ErrorCode::invalid, "only files and what is at addresses are recorded again");
  return out;
}

OriginPtr previous_origin(const OriginPtr& of, std::uint32_t revision,
                          std::shared_ptr<const LoadedProfiles> loaded) {
  return std::make_shared<const PreviousOrigin>(of, revision, std::move(loaded));
}

}  // namespace profd
