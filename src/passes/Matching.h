//===- Matching.h - queries of values for patterns ------------------------===//

#ifndef SINTER_PASSES_MATCHING_H
#define SINTER_PASSES_MATCHING_H

#include "graph/Constants.h"
#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "runtime/Tensor.h"
#include "llvm/ADT/Sequence.h"
#include <optional>

namespace sinter {

inline mlir::Type elementOf(mlir::Value value) {
  return tensorOf(value).getElementType();
}

inline bool isFloatTensor(mlir::Value value) {
  return mlir::isa<mlir::FloatType>(tensorOf(value).getElementType());
}
/// Whether \p value has a float type that is as exact as a kernel's
/// intermediate values: narrower ones are rounded after every operation of a
/// decomposed form.
inline bool isWideFloatTensor(mlir::Value value) {
  mlir::Type type = tensorOf(value).getElementType();
  return type.isF32() || type.isF64();
}
inline bool isIntegerTensor(mlir::Value value) {
  return mlir::isa<mlir::IntegerType>(tensorOf(value).getElementType());
}

/// Whether \p value is a tensor that is known to have no elements.
inline bool isEmpty(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

inline bool isEmpty(mlir::RankedTensorType type) {
  return llvm::is_contained(type.getShape(), 0);
}

/// The strides, in elements, of a dense row-major tensor.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// 0, 1, 2, ...
inline bool isIota(llvm::ArrayRef<int64_t> list) {
  return llvm::equal(list, llvm::seq<int64_t>(0, list.size()));
}
inline bool areAll(llvm::ArrayRef<int64_t> list, int64_t number) {
  return llvm::all_of(list, [&](int64_t each) { return each == number; });
}

/// Constants with more elements than this are not evaluated by constantValue().
inline constexpr int64_t largestEvaluatedConstant = int64_t(1) << 28;

/// The value of a constant or of pure operations on constants (a reshape of a
/// weight, 1 / sqrt(variance + epsilon)), computed by the interpreter. Nothing
/// for values that depend on inputs, or for over `largestEvaluatedConstant`
/// elements.
std::optional<Tensor> constantValue(mlir::Value value);
/// Whether \p value is one that constantValue would compute. (Evaluation may
/// fail nevertheless.)
bool followsFromConstants(mlir::Value value);

/// The value that all elements are equal to, seen through broadcasts and
/// reshapes; nothing for complex and quantised elements, which are not doubles.
std::optional<double> splatValue(mlir::Value value);

/// Likewise the exact integer, in the width of its type.
std::optional<llvm::APInt> integerSplat(mlir::Value value);

/// Whether \p places ascend, without those of dimensions of size 1. Element i
/// of \p places belongs to dimension i of \p type or, with \p placesAreSources,
/// is that dimension.
bool keepsOrder(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> places,
                bool placesAreSources);
/// Whether a transpose moves dimensions of size 1 only, so that a reshape does
/// the same.
bool movesOnlyUnits(stablehlo::TransposeOp op);

/// A one-dimensional i64 tensor.
Tensor tensorOfIntegers(llvm::ArrayRef<int64_t> numbers);

/// Whether \p to represents every float of \p from, or every integer (of equal
/// signedness); i1 converts losslessly to any number.
bool convertsLosslessly(mlir::Type from, mlir::Type to);

} // namespace sinter

#endif // SINTER_PASSES_MATCHING_H
