//===- EntryRequest.h - what an entry point is made for -------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_ENTRYREQUEST_H
#define SINTER_BACKEND_CPU_AHEAD_ENTRYREQUEST_H

#include "backend/cpu/ahead/BundleLayout.h"
#include "backend/cpu/target/Target.h"

#include "llvm/ADT/ArrayRef.h"

namespace sinter::cpu {

class StepLines;

/// What the functions are made for.
struct EntryRequest {
  /// What the names of its functions begin with: that of the bundle, or, if
  /// there are several, one of its own.
  std::string name;
  const Program &program;
  const BundleLayout &layout;
  const Target &target;
  BundleOptions options;
  Denormals denormals = Denormals::Flush;
  /// The functions of the kernels, as Compiled::names has them.
  llvm::ArrayRef<std::string> kernels;
  /// With debug information; has the steps.
  StepLines *lines = nullptr;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_ENTRYREQUEST_H
