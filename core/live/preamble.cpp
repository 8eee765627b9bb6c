#include "core/live/preamble.h"

#include "core/live/message_writer.h"

namespace profd::live {

std::string write_preamble(const Session& session) {
  std::string out;
  if (!session.hello()) return out;
  const Hello& hello = *session.hello();
  const std::uint64_t now = session.last_ticks();
  const auto since_begin = static_cast<std::uint64_t>(session.meter().last_tick());
  MessageWriter first;
  first.raw(kStreamMagic).number(kOldestStreamVersion).number(kStreamVersion).number(hello.pid);
  first.text(hello.language).text(hello.program).text(hello.agent);
  first.number(session.ticks_per_second()).number(now).number(hello.unix_ns + since_begin).number(0);
  first.to(out, MessageType::hello);
  if (const auto& sampling = session.sampling()) {
    MessageWriter message;
    message.text(sampling->source).number(sampling->period_ns).number(sampling->flags);
    message.to(out, MessageType::sampling);
  }
  const Methods& methods = session.methods();
  for (std::size_t i = 1; i < methods.modules().size(); ++i) {
    const Module& module = methods.modules()[i];
    MessageWriter message;
    message.number(i).text(methods.text(module.path)).text(methods.text(module.build_id)).number(module.base);
    message.to(out, MessageType::module);
  }
  std::string demoted;
  for (const MethodId id : methods.order()) {
    const Method& method = methods[id];
    MessageWriter message;
    message.number(id).text(methods.text(method.package)).text(methods.text(method.class_name));
    message.text(methods.text(method.method))
        .text(methods.text(method.signature))
        .text(methods.text(method.file));
    message.number(method.line).number(method.module).number(method.address);
    message.to(out, MessageType::dict);
    if (!method.demoted) continue;
    MessageWriter is;
    is.number(static_cast<std::uint64_t>(ControlOperation::demote)).number(now).number(id);
    is.to(out, MessageType::controlled);
  }
  for (const Lane& lane : session.meter().lanes()) {
    if (!lane.alive) continue;
    MessageWriter thread;
    thread.number(lane.number).number(lane.os_id).text(lane.name).number(lane.flags);
    thread.to(out, MessageType::thread);
    MessageWriter stack;
    stack.number(lane.number).number(now);
    for (const ContextNumber context : lane.stack) {
      const MethodId method = session.meter().contexts()[context].method;
      if (method < kMaxMethods) stack.number(method);
    }
    stack.to(out, MessageType::stack);
    if (!lane.waits) continue;
    MessageWriter waits;
    waits.number(lane.number)
        .number(now)
        .number(static_cast<std::uint64_t>(ThreadState::waits))
        .number(lane.cpu_ns);
    waits.to(out, MessageType::state);
  }
  const Bytes begun = session.begun();
  out.append(reinterpret_cast<const char*>(begun.data()), begun.size());
  return out;
}

}  // namespace profd::live
