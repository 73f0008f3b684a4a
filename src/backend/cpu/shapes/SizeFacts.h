//===- SizeFacts.h - symbolic sizes, and what is known of them ------------===//
//
// The sizes of a function are polynomials over parameters: those of its inputs,
// those that follow from others (a quotient, the smaller one of two) and those
// that the program computes. This is where they come from and where they are
// compared. With the inputs' dimensions N and S,
//
//   smallerOf(S, 512)    min(S, 512), a parameter of its own
//   broadcastOf(N, 1)    N
//   broadcastOf(N, S)    together(N, S), and a guard that they broadcast
//   dimOf(8 N S)         the dimension that stands in types for 8 N S
//
// It knows no operations and no values.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_SIZEFACTS_H
#define SINTER_BACKEND_CPU_SHAPES_SIZEFACTS_H

#include "backend/cpu/shapes/ShapeGuards.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/Result.h"

#include <map>
#include <unordered_map>

namespace sinter::cpu {

/// The sizes of a tensor.
using Dims = llvm::SmallVector<SizeExpression>;
/// A size, or that it has no expression.
using Known = std::optional<SizeExpression>;

/// The comparison that holds exactly where \p direction does not.
stablehlo::ComparisonDirection
oppositeOf(stablehlo::ComparisonDirection direction);

/// Unsupported: \p what of \p op, which the message names.
Error refused(mlir::Operation *op, const std::string &what);

class SizeFacts {
public:
  /// Begins with what is known of \p module already.
  explicit SizeFacts(mlir::ModuleOp module)
      : table(SizeTable::begunFor(module)) {}
  SizeFacts(const SizeFacts &) = delete;

  /// Parameters, what follows from them, and names.
  SizeTable table;
  /// What is required of the sizes, and proofs from that.
  ShapeGuards guards{table};
  /// Whether the program may compute sizes. False where they are followed and
  /// nothing is changed: what is unknown is a parameter of its own then.
  bool mayDefine = false;

  /// The parameter that is the dimension \p name of inputs. Fails where guards
  /// are of other ones. All of these come before other parameters.
  Result<SizeExpression> inputSize(const std::string &name);
  /// How many there are.
  uint32_t inputs() const { return static_cast<uint32_t>(numbers.size()); }
  /// A size of which nothing is known.
  SizeExpression unknownSize();
  /// What stands for \p size in a type: itself if it is a number, or else a
  /// name (graph/Dim.h). Requires that it is not negative.
  Dim dimOf(const SizeExpression &size);
  /// The number of elements; nothing on overflow.
  static Known countOf(llvm::ArrayRef<SizeExpression> sizes);

  /// Whether \p size follows from a number that the program computes.
  bool isComputed(const SizeExpression &size) const;
  /// Whether the two are the same, or must be: where numbers that are computed
  /// decide, it is taken for granted that they do.
  bool mustBeSame(const SizeExpression &a, const SizeExpression &b);
  /// The smaller one of the two; nothing where the program has to find out.
  Known smallerOf(const SizeExpression &a, const SizeExpression &b) {
    return chosen(a, b, /*smaller=*/true);
  }
  Known largerOf(const SizeExpression &a, const SizeExpression &b) {
    return chosen(a, b, /*smaller=*/false);
  }
  /// How many elements two sizes are together that are broadcast.
  Known broadcastOf(const SizeExpression &a, const SizeExpression &b);

  /// 1 or 0 where it is known whether two sizes compare so.
  Known compared(stablehlo::ComparisonDirection direction,
                 const SizeExpression &a, const SizeExpression &b) const;
  /// Takes it for granted that two sizes compare so; whether they can.
  bool requireComparison(stablehlo::ComparisonDirection direction,
                         const SizeExpression &a, const SizeExpression &b);
  /// Fails where guards hold for no sizes but 0.
  Result<void> checkGuards() const;

private:
  Known chosen(const SizeExpression &a, const SizeExpression &b, bool smaller);
  Known leastOfShifted(const SizeExpression &a, const SizeExpression &b);
  /// Whether \p size follows from sizes of inputs.
  bool isOfInputs(const SizeExpression &size);
  bool mayTakeAsEqual(const SizeExpression &a, const SizeExpression &b);
  /// Whether \p joined is what \p part and others are together.
  bool isJoinedOf(const SizeExpression &joined, const SizeExpression &part,
                  unsigned depth = 0) const;

  /// Of dimensions of inputs, by name.
  std::map<std::string, uint32_t> numbers;
  /// What table.sizes holds.
  std::unordered_map<SizeExpression, int64_t, SizeExpressionHash> numberOfSize;
  /// What isOfInputs() has found out: which parameters follow from sizes of
  /// inputs, of the first ones of the table's.
  llvm::DenseSet<uint32_t> followsInputs;
  size_t seenFollowing = 0;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_SIZEFACTS_H
