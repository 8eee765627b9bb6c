// UniqueFunction<R(Args...)>: std::function for callables that can only be moved.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace profd {

template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() = default;
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, UniqueFunction> && std::is_invocable_r_v<R, F&, Args...>)
      UniqueFunction(F&& f)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : callable_(std::make_unique<Holder<std::decay_t<F>>>(std::forward<F>(f))) {}

  explicit operator bool() const { return callable_ != nullptr; }
  R operator()(Args... args) { return callable_->call(std::forward<Args>(args)...); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct Holder final : Base {
    template <class G>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): nothing copies or moves a Holder
    explicit Holder(G&& g) : f(std::forward<G>(g)) {}
    R call(Args... args) override { return f(std::forward<Args>(args)...); }
    F f;
  };
  std::unique_ptr<Base> callable_;
};

}  // namespace profd
