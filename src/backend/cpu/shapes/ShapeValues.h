//===- ShapeValues.h - what values are known by ---------------------------===//
//
// Of each value its sizes, and of short vectors and tables of integers, which
// sizes are computed of, the elements:
//
//   %x : tensor<?x8xf32>                   sizes (N, 8)
//   %s = nn.shape %x                       sizes (2), elements (N, 8)
//   %n = slice %s [0:1]                    sizes (1), elements (N)
//   %m = multiply %n, dense<2>             sizes (1), elements (2 N)
//
// Where an image is resized by a scale, its new size is computed in floats: the
// old one is converted, multiplied, rounded to a whole number and converted
// back. Such an element is followed as a size and the power of two that it is
// divided by.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_SHAPEVALUES_H
#define SINTER_BACKEND_CPU_SHAPES_SHAPEVALUES_H

#include "backend/cpu/shapes/SizeFacts.h"

namespace sinter::cpu {

/// `size` / `divisor`, a power of two.
struct ScaledSize {
  SizeExpression size;
  int64_t divisor = 1;
};

class ShapeValues {
public:
  explicit ShapeValues(SizeFacts &facts) : facts(facts) {}

  bool hasDims(mlir::Value value) const { return dims.contains(value); }
  /// The sizes of \p value, which has some.
  const Dims &dimsOf(mlir::Value value) const {
    return dims.find(value)->second;
  }
  /// Null where they are not known.
  const Dims *dimsIfKnown(mlir::Value value) const {
    auto found = dims.find(value);
    return found == dims.end() ? nullptr : &found->second;
  }
  void setDims(mlir::Value value, Dims sizes) {
    dims[value] = std::move(sizes);
  }
  /// The sizes of \p value are those of its type, which are static.
  void setStatic(mlir::Value value);

  /// The elements of a short vector or table of integers, row by row, or a
  /// number; empty where none is known.
  std::vector<Known> elementsOf(mlir::Value value) const {
    auto found = elements.find(value);
    return found == elements.end() ? std::vector<Known>() : found->second;
  }
  void setElements(mlir::Value value, std::vector<Known> known) {
    elements[value] = std::move(known);
  }
  /// Element \p i of \p count is \p size.
  void setElement(mlir::Value value, size_t i, size_t count,
                  const SizeExpression &size);
  /// The one element of \p value, if it has one and that is known.
  Known numberIn(mlir::Value value) const;

  /// Finds out the elements of the result of \p op, whose operands have sizes.
  void follow(mlir::Operation *op);

private:
  /// The same of numbers that a size is computed of in floats.
  void followScaled(mlir::Operation *op);
  std::vector<std::optional<ScaledSize>> scaledOf(mlir::Value value) const;
  Known roundedSize(const ScaledSize &number, mlir::Operation *op);

  SizeFacts &facts;
  llvm::DenseMap<mlir::Value, Dims> dims;
  llvm::DenseMap<mlir::Value, std::vector<Known>> elements;
  llvm::DenseMap<mlir::Value, std::vector<std::optional<ScaledSize>>> scaled;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_SHAPEVALUES_H
