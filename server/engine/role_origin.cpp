#include "server/engine/role_origin.h"

#include <utility>

#include <fmt/format.h>

#include "core/model/role_profile.h"
#include "server/engine/pick_profile.h"
#include "server/engine/uri.h"
#include "server/engine/uri_parameters.h"

namespace profd {
namespace {

struct RoleName {
  std::string member, table, role;
};

class RoleOrigin final : public Origin {
 public:
  RoleOrigin(OriginPtr of, RoleName name)
      : of_(std::move(of)),
        wanted_(std::move(name)),
        key_(fmt::format("{}\n{}\n{}\n{}\n{}", kPairsScheme, wanted_.table, wanted_.role, wanted_.member,
                         of_->key())),
        uri_(pairs_uri(
            wanted_.member.empty() ? of_->uri() : of_->uri() + "#" + percent_encoded(wanted_.member),
            wanted_.table, wanted_.role)),
        name_(fmt::format("{} of {}", wanted_.role.empty() ? "records" : wanted_.role, of_->name())) {}

  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return uri_; }
  std::string name() const override { return name_; }
  const std::string& place() const override { return of_->place(); }
  std::optional<std::string> freshness() const override { return of_->freshness(); }

  // What it is of has its names first, as a role has the samples of its records alone.
  Result<Load> load(const LoadContext& context) const override {
    PROFD_TRY(Load out, of_->load(context));
    LoadedProfiles& made = *out.profiles;
    PROFD_TRY(const std::size_t picked, pick_profile(made.profiles, wanted_.member));
    ProfilePtr profile = made.profiles[picked];
    if (context.named) {
      PROFD_TRY(profile, context.named(std::move(profile), of_->place()));
    }
    PROFD_TRY(const std::size_t table, find_records(*profile, wanted_.table));
    const AssociationTable& records = profile->associations()[table];
    if (records.roles.empty()) return fail(ErrorCode::invalid, "the records have no roles");
    std::size_t role = records.roles.size() - 1;
    if (!wanted_.role.empty()) {
      PROFD_TRY(role, find_role(records, wanted_.role));
    }
    PROFD_TRY(profile, role_profile(*profile, table, role, context.stop));
    made.profiles = {std::move(profile)};
    made.memory = memory_of(made.profiles);
    if (made.scripts.size() > picked) made.scripts = {made.scripts[picked]};
    return out;
  }

 private:
  OriginPtr of_;
  RoleName wanted_;
  std::string key_, uri_, name_;
};

}  // namespace

std::string pairs_uri(std::string_view of, std::string_view table, std::string_view role) {
  return fmt::format("{}://?of={}&table={}&role={}", kPairsScheme, percent_encoded(of),
                     percent_encoded(table), percent_encoded(role));
}

Result<OriginPtr> role_origin(std::string_view uri, const OpenOptions& options, const Origins& origins) {
  std::string of;
  RoleName name;
  PROFD_TRY(const std::vector<UriParameter> parameters, parameters_of_uri(uri));
  for (const auto& [key, value] : parameters) {
    if (key == "of")
      of = value;
    else if (key == "table")
      name.table = value;
    else if (key == "role")
      name.role = value;
    else
      return fail(ErrorCode::invalid, fmt::format("a {} URI has no `{}`", kPairsScheme, key));
  }
  if (of.empty()) return fail(ErrorCode::invalid, fmt::format("a {} URI says what it is `of`", kPairsScheme));
  if (scheme_of(of) == kPairsScheme)
    return fail(ErrorCode::invalid, "a role is one of a profile that has records, not of another role");
  const std::size_t hash = of.rfind('#');
  if (hash != std::string::npos) {
    PROFD_TRY(name.member, fragment_decoded(of.substr(hash + 1)));
    of.resize(hash);
  }
  PROFD_TRY(OriginPtr origin, origins.make(of, options));
  return std::make_shared<const RoleOrigin>(std::move(origin), std::move(name));
}

OriginPtr role_origin(OriginPtr of, std::string member, std::string table, std::string role) {
  return std::make_shared<const RoleOrigin>(std::move(of),
                                            RoleName{std::move(member), std::move(table), std::move(role)});
}

}  // namespace profd
