//===- FoldedNames.h - names for folded constants -------------------------===//

#ifndef SINTER_PASSES_FOLDEDNAMES_H
#define SINTER_PASSES_FOLDEDNAMES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace sinter {

/// Names of constants and of the entry function's tensors, so that new ones
/// differ.
class FoldedNames {
public:
  explicit FoldedNames(mlir::ModuleOp module);

  /// `<base>_fuse_bn`, with a number behind if that is taken; "" for "".
  std::string fused(llvm::StringRef base);
  void release(llvm::StringRef name);

  /// The name of a new bias, given the weight's, where the chain has none: the
  /// base for fused().
  static std::string biasOf(llvm::StringRef weight);

private:
  llvm::StringMap<unsigned> taken;
};

} // namespace sinter

#endif // SINTER_PASSES_FOLDEDNAMES_H
