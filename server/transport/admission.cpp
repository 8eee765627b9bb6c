#include "server/transport/admission.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace profd {
namespace {

// Logs, the profiles being read, pipes to git, watches.
constexpr std::size_t kDescriptorsKept = 64;
constexpr std::size_t kFewestConnections = 8;

}  // namespace

AdmissionLimits admission_limits(std::size_t descriptors) {
  AdmissionLimits limits;
  const std::size_t left = descriptors > kDescriptorsKept ? descriptors - kDescriptorsKept : 0;
  limits.connections = std::clamp(left, kFewestConnections, limits.connections);
  limits.for_owner = std::min(limits.for_owner, limits.connections / 4);
  limits.tcp_strangers = std::min(limits.tcp_strangers, limits.connections / 2);
  limits.http_strangers = std::min(limits.http_strangers, limits.connections / 2);
  return limits;
}

class Admission::Taken final : public Place {
 public:
  explicit Taken(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) { ++counts_->connections; }
  Taken(std::shared_ptr<Counts> counts, Stranger kind, std::function<void()> leave)
      : Taken(std::move(counts)) {
    ++counts_->from_network;
    from_network_ = true;
    waiting_ = &counts_->of(kind);
    stranger_ = waiting_->insert(waiting_->end(), std::move(leave));
  }
  ~Taken() override {
    known();
    --counts_->connections;
    if (from_network_) --counts_->from_network;
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  void known() override {
    if (stranger_) waiting_->erase(*std::exchange(stranger_, std::nullopt));
  }

 private:
  std::shared_ptr<Counts> counts_;
  bool from_network_ = false;
  Waiting* waiting_ = nullptr;
  std::optional<Waiting::iterator> stranger_;  // in it, until known
};

Admission::Admission(const AdmissionLimits& limits) : limits_(limits), counts_(std::make_shared<Counts>()) {}

std::unique_ptr<Admission::Place> Admission::admit_owner() {
  if (counts_->connections >= limits_.connections) return nullptr;
  return std::make_unique<Taken>(counts_);
}

std::unique_ptr<Admission::Place> Admission::admit_stranger(Stranger kind, std::function<void()> leave) {
  // Who only sits there does not keep others out: it would take eight silent connections to close the port.
  const Waiting& waiting = counts_->of(kind);
  if (waiting.size() >= most(kind) && !waiting.empty()) {
    const auto oldest = waiting.front();
    oldest();
  }
  const std::size_t for_network = limits_.connections - std::min(limits_.for_owner, limits_.connections);
  if (waiting.size() >= most(kind) || counts_->from_network >= for_network ||
      counts_->connections >= limits_.connections)
    return nullptr;
  return std::make_unique<Taken>(counts_, kind, std::move(leave));
}

}  // namespace profd
