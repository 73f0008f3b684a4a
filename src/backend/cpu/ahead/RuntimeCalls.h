//===- RuntimeCalls.h - calls of the runtime library, as code -------------===//
//
// What `sinter compile --with-runtime` makes of a HostCall: a call of
// sinter_call_runtime (include/sinter.h) with the function's name, its
// configuration and its tensors.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_RUNTIMECALLS_H
#define SINTER_BACKEND_CPU_AHEAD_RUNTIMECALLS_H

#include "runtime/Program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"

#include <string>

namespace sinter::cpu {

/// Whether code outside of an executor can call the host function \p name: it
/// needs nothing but its tensors and random numbers.
bool isFunctionOfItsOwn(const std::string &name);

class RuntimeCalls {
public:
  /// Of functions whose tensors are up to \p mostTensors. The builder is in the
  /// function that calls them.
  RuntimeCalls(llvm::IRBuilder<> &builder, size_t mostTensors);

  /// Calls the function of \p step on the tensors at \p addresses. Whether it
  /// failed.
  llvm::Value *add(llvm::IRBuilder<> &builder, const Step &step,
                   llvm::ArrayRef<llvm::Value *> addresses);

private:
  llvm::StructType *tensorType, *callType;
  llvm::Value *tensors, *call, *random;
};

/// The most tensors of a host call in \p steps; 0 if there is none.
size_t mostTensorsOfCalls(llvm::ArrayRef<Step> steps);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_RUNTIMECALLS_H
