//===- ObjectFacts.h - what is in an object file --------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_OBJECTFACTS_H
#define SINTER_BACKEND_CPU_AHEAD_OBJECTFACTS_H

#include "runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::cpu {

struct ObjectFacts {
  /// Of code, and of all else that is loaded.
  uint64_t codeBytes = 0, dataBytes = 0;
  /// Symbols that other objects must define, sorted.
  std::vector<std::string> undefined;

  /// The facts of the relocatable ELF \p object. System error if it is damaged.
  static Result<ObjectFacts> of(llvm::ArrayRef<char> object);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_OBJECTFACTS_H
