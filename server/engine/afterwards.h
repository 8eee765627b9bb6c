// Afterwards: posts a task when it goes, however the work that it stands beside has ended: when that threw,
// too, and where there is no memory left. Whoever waits for it would wait for ever.
#pragma once

#include <utility>

#include "core/support/unique_function.h"
#include "server/platform/last_words.h"

namespace profd {

template <class PostTo>
class Afterwards {
 public:
  Afterwards(PostTo post, UniqueFunction<void()> task)
      : post_(std::forward<PostTo>(post)), task_(std::move(task)) {}
  ~Afterwards() {
    const LastWords words;
    if (task_) post_(std::move(task_));
  }
  Afterwards(const Afterwards&) = delete;
  Afterwards& operator=(const Afterwards&) = delete;

  // Nothing is posted.
  void forget() { task_ = {}; }

 private:
  PostTo post_;
  UniqueFunction<void()> task_;
};
// What can be referred to is not copied: there may be no memory for that.
template <class PostTo>
Afterwards(PostTo&& post, UniqueFunction<void()> task) -> Afterwards<PostTo>;

}  // namespace profd
