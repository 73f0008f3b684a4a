//===- Regions.h - branches and loop bodies while they are read -----------===//

#ifndef SINTER_FORMATS_IMPORT_REGIONS_H
#define SINTER_FORMATS_IMPORT_REGIONS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// Null, with an error, for what is no tensor or has more elements than one.
mlir::Value scalarOf(GraphBuilder &builder, mlir::Value value);

/// An op of the state's kind with two regions, which are filled in place, so
/// that what is in them is verified where it stands; closeHolder() makes the op
/// itself of it, null if that fails.
mlir::Operation *makeHolder(GraphBuilder &builder, llvm::StringRef name,
                            mlir::ValueRange operands, mlir::TypeRange types);
mlir::Operation *closeHolder(GraphBuilder &builder, mlir::Operation *holder,
                             mlir::TypeRange types);

/// A loop over \p starts: as long as \p condition holds of the states, they
/// become what \p body makes of them, of the same types. State \p result at the
/// end.
mlir::Value
whileLoop(GraphBuilder &builder, mlir::ValueRange starts,
          llvm::function_ref<mlir::Value(mlir::ValueRange states)> condition,
          llvm::function_ref<Values(mlir::ValueRange states)> body,
          unsigned result);

llvm::SmallVector<mlir::Type> returnedTypes(mlir::Region &region);
/// A type that both are of: sizes in which they differ are open. Null where
/// they differ in rank or element type.
mlir::Type joinTypes(mlir::Type lhs, mlir::Type rhs);

/// What a loop carries: its type, and which of its sizes stay those of the
/// start. As long as nothing speaks against it, all do.
struct Carried {
  Carried(GraphBuilder &builder, mlir::Value start)
      : start(start), type(builder.type(start)), stays(type.getRank(), true) {}

  /// The size that dimension \p i has in every iteration; nothing if it may
  /// change.
  std::optional<Element> sizeAt(KnownValues &known, int64_t i) const;
  /// Gives \p value the symbols of the sizes that stay.
  void mark(KnownValues &known, mlir::Value value) const;
  /// Opens the sizes that an iteration changes. Fails where \p next has another
  /// rank or element type; \p changed is set where a size was opened.
  bool admit(KnownValues &known, mlir::Value next, bool &changed);

  mlir::Value start;
  mlir::RankedTensorType type;
  std::vector<bool> stays;
};

/// Admits what a body gives, \p next, to each of \p states. Fails where a rank
/// or an element type differs; \p changed is set where the body must be read
/// again.
bool admitAll(GraphBuilder &builder, llvm::MutableArrayRef<Carried> states,
              mlir::ValueRange next, bool &changed);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_REGIONS_H
