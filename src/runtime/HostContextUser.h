//===- HostContextUser.h - an executor that is given a context ------------===//

#ifndef SINTER_RUNTIME_HOSTCONTEXTUSER_H
#define SINTER_RUNTIME_HOSTCONTEXTUSER_H

namespace sinter {

class HostContext;

/// What executors implement whose models call host functions or talk with other
/// processes.
class HostContextUser {
public:
  virtual ~HostContextUser() = default;
  /// What these are given from now on; it outlives the executor. May be null.
  virtual void setHostContext(HostContext *context) = 0;
};

} // namespace sinter

#endif // SINTER_RUNTIME_HOSTCONTEXTUSER_H
