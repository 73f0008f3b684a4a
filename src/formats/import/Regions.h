//===- Regions.h - branches and loop bodies during import -----------------===//

#ifndef SINTER_FORMATS_IMPORT_REGIONS_H
#define SINTER_FORMATS_IMPORT_REGIONS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// \p value as a scalar. Null, with an error, if it is no tensor of one
/// element.
mlir::Value scalarOf(GraphBuilder &builder, mlir::Value value);

/// A temporary op \p name with two regions, which are filled in place so that
/// their ops are verified there; closeHolder() turns it into the final op, or
/// null on failure.
mlir::Operation *makeHolder(GraphBuilder &builder, llvm::StringRef name,
                            mlir::ValueRange operands, mlir::TypeRange types);
mlir::Operation *closeHolder(GraphBuilder &builder, mlir::Operation *holder,
                             mlir::TypeRange types);

/// A loop from \p starts: while \p condition holds for the states, \p body
/// replaces them by values of the same types. Returns state \p result.
mlir::Value
whileLoop(GraphBuilder &builder, mlir::ValueRange starts,
          llvm::function_ref<mlir::Value(mlir::ValueRange states)> condition,
          llvm::function_ref<Values(mlir::ValueRange states)> body,
          unsigned result);

llvm::SmallVector<mlir::Type> returnedTypes(mlir::Region &region);
/// The common type of both: dimensions in which they differ are dynamic. Null
/// if they differ in rank or element type.
mlir::Type joinTypes(mlir::Type lhs, mlir::Type rhs);

/// A loop-carried value: its type, and which dimensions keep their initial
/// size. All are assumed to until an iteration changes them.
struct Carried {
  Carried(GraphBuilder &builder, mlir::Value start)
      : start(start), type(builder.type(start)), stays(type.getRank(), true) {}

  /// The size of dimension \p i in every iteration; nothing if it may change.
  std::optional<Element> sizeAt(KnownValues &known, int64_t i) const;
  /// Gives \p value the symbols of the dimensions that keep their size.
  void mark(KnownValues &known, mlir::Value value) const;
  /// Makes the dimensions that an iteration changes dynamic. Fails if \p next
  /// has another rank or element type; sets \p changed if a dimension became
  /// dynamic.
  bool admit(KnownValues &known, mlir::Value next, bool &changed);

  mlir::Value start;
  mlir::RankedTensorType type;
  std::vector<bool> stays;
};

/// Calls admit() on each of \p states with the body's results \p next. Fails if
/// a rank or an element type differs; sets \p changed if the body must be
/// imported again.
bool admitAll(GraphBuilder &builder, llvm::MutableArrayRef<Carried> states,
              mlir::ValueRange next, bool &changed);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_REGIONS_H
