//===- ComputedSizes.h - sizes that the program computes ------------------===//
//
// A number that follows from no size and that something is as large as becomes
// a parameter, which the program defines when it has computed the number:
//
//   %n = reduce add of %mask            ->  %n = reduce add of %mask
//   %y = dynamic_iota %n                    cpu.define_sizes %n [0] = [P]
//                                           %y = dynamic_iota %n : P elements
//
// Of a number that is made of others the parameters are those others, as long
// as none of them may be negative: a sum of two sizes is the sum of their
// parameters.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_COMPUTEDSIZES_H
#define SINTER_BACKEND_CPU_SHAPES_COMPUTEDSIZES_H

#include "backend/cpu/shapes/ShapeValues.h"

namespace sinter::cpu {

class ComputedSizes {
public:
  ComputedSizes(SizeFacts &facts, ShapeValues &values)
      : facts(facts), values(values) {}

  /// Element \p i of \p numbers as a size of what \p user gives: a parameter
  /// that \p numbers defines where nothing is known of it, if the program may
  /// compute sizes.
  Known sizeFrom(mlir::Value numbers, size_t i, mlir::Operation *user) {
    return sizeFrom(numbers, i, user, 0);
  }
  /// Of each dimension of \p result, by the vector \p numbers.
  llvm::SmallVector<Known> sizesFrom(mlir::Value numbers,
                                     mlir::OpResult result);
  /// A new parameter that is element \p i of \p numbers, which is found out in
  /// front of \p user; \p name says what it is in messages.
  SizeExpression define(mlir::Value numbers, size_t i, mlir::Operation *user);
  SizeExpression define(mlir::Value numbers, size_t i, mlir::Operation *user,
                        std::string name);

private:
  Known sizeFrom(mlir::Value numbers, size_t i, mlir::Operation *user,
                 unsigned depth);
  Known sizeThrough(mlir::Value numbers, size_t i, mlir::Operation *user,
                    unsigned depth);
  /// Whether \p numbers are surely not negative, as parameters must be.
  bool isCount(mlir::Value numbers, unsigned depth = 0);

  SizeFacts &facts;
  ShapeValues &values;
  /// What isCount() has found out.
  llvm::DenseMap<mlir::Value, bool> counts;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_COMPUTEDSIZES_H
