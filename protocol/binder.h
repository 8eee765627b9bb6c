// Methods and the typed functions that serve them.
//
//   binder.request<psp::FlameGraphRequest>([&](psp::FlameGraphParams params, Reply<psp::FlameGraphRequest>
//   reply) {...}); binder.notification<psp::ExitNotification>([&](psp::Null) {...});
//
// Parameters that do not decode are answered here, with InvalidParams and the JSON path.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/any.h"
#include "protocol/lane.h"
#include "protocol/path.h"
#include "protocol/reply.h"

namespace profd::protocol {

template <class M>
concept MessageType = requires(const nlohmann::json& json, typename M::Params& params, const Path& path) {
  { M::method } -> std::convertible_to<std::string_view>;
  { M::lane } -> std::convertible_to<Lane>;
  { M::decode_params(json, params, path) } -> std::same_as<bool>;
  { M::params_text(params) } -> std::same_as<std::string>;
};
template <class M>
concept RequestType = MessageType<M> && requires(typename M::Result& result) {
  { M::result_text(result) } -> std::same_as<std::string>;
};
template <class M>
concept NotificationType = MessageType<M> && !RequestType<M>;

class Binder {
 public:
  // Both say whether the parameters decoded.
  using RequestHandler = std::function<bool(const Any& params, ReplyOnce reply)>;
  using NotificationHandler = std::function<bool(const Any& params, Path::Root& root)>;

  template <RequestType R, std::invocable<typename R::Params, Reply<R>> F>
  void request(F handler) {
    add_request(R::method, [handler = std::move(handler)](const Any& params, ReplyOnce reply) {
      typename R::Params decoded{};
      Path::Root root("params");
      if (!R::decode_params(params_or_empty(params, std::is_same_v<typename R::Params, psp::Null>), decoded,
                            root)) {
        refuse(root, std::move(reply));
        return false;
      }
      std::invoke(handler, std::move(decoded), Reply<R>(std::move(reply)));
      return true;
    });
  }

  template <NotificationType N, std::invocable<typename N::Params> F>
  void notification(F handler) {
    add_notification(N::method, [handler = std::move(handler)](const Any& params, Path::Root& root) {
      typename N::Params decoded{};
      if (!N::decode_params(params_or_empty(params, std::is_same_v<typename N::Params, psp::Null>), decoded,
                            root))
        return false;
      std::invoke(handler, std::move(decoded));
      return true;
    });
  }

  // For methods known only at run time. Binding a method twice keeps the newer one.
  void add_request(std::string method, RequestHandler handler);
  void add_notification(std::string method, NotificationHandler handler);

  [[nodiscard]] const RequestHandler* find_request(std::string_view method) const;
  [[nodiscard]] const NotificationHandler* find_notification(std::string_view method) const;
  [[nodiscard]] std::vector<std::string> request_methods() const;

 private:
  // Absent parameters of a method that takes an object are an empty object.
  static const nlohmann::json& params_or_empty(const Any& params, bool none_expected);
  static void refuse(const Path::Root& root, ReplyOnce reply);

  std::map<std::string, RequestHandler, std::less<>> requests_;
  std::map<std::string, NotificationHandler, std::less<>> notifications_;
};

}  // namespace profd::protocol
