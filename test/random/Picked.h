//===- Picked.h - a value of a program that is being drawn ----------------===//

#ifndef SINTER_RANDOM_PICKED_H
#define SINTER_RANDOM_PICKED_H

#include "random/Draft.h"

namespace sinter {

/// A value of the program with its type taken apart.
struct Picked {
  mlir::Value value;
  mlir::RankedTensorType type;
  explicit operator bool() const { return static_cast<bool>(value); }
  int64_t rank() const { return type.getRank(); }
  int64_t size(int64_t dimension) const { return type.getDimSize(dimension); }
};

Picked pickRanked(Draft &draft, int64_t lowestRank);

/// 0, 1, ..., count - 1 in a random order.
llvm::SmallVector<int64_t> shuffled(Draft &draft, int64_t count);

llvm::SmallVector<int64_t> eachOf(int64_t count,
                                  llvm::function_ref<int64_t(int64_t)> value);

mlir::Type indexType(Draft &draft);

/// After an operation the one that takes its attributes as operands, if it is
/// asked for.
bool addTwin(Draft &draft, mlir::Operation *op, llvm::StringRef twin,
             mlir::ValueRange operands,
             llvm::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace sinter

#endif // SINTER_RANDOM_PICKED_H
