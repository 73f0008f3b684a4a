//===- HostContextUser.h - executors that take a host context -------------===//

#ifndef SINTER_RUNTIME_HOSTCONTEXTUSER_H
#define SINTER_RUNTIME_HOSTCONTEXTUSER_H

namespace sinter {

class HostContext;

/// Implemented by executors whose models call host functions or communicate
/// with other processes.
class HostContextUser {
public:
  virtual ~HostContextUser() = default;
  /// Sets the context of further runs; it outlives the executor. May be null.
  virtual void setHostContext(HostContext *context) = 0;
};

} // namespace sinter

#endif // SINTER_RUNTIME_HOSTCONTEXTUSER_H
