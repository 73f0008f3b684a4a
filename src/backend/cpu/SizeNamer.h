//===- SizeNamer.h - follows sizes through a function ---------------------===//
//
// What NameSizes does its work with: NameSizes.cpp goes from operation to
// operation, ResultSizes.cpp says how large results are,
// RepeatedSizes.cpp what is repeated, ShapeArithmetic.cpp
// what integers that sizes are computed of stand for, ScaledSizes.cpp floats,
// ValueSizes.cpp makes parameters of those that stand for nothing that is
// known.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SIZENAMER_H
#define SINTER_BACKEND_CPU_SIZENAMER_H

#include "backend/cpu/SizeTable.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/nn/NnAssume.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Result.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace sinter::cpu {

using Dims = llvm::SmallVector<SizeExpression>;
using Known = std::optional<SizeExpression>;

/// Whether \p size, of parameters that are sizes, is surely one, too.
inline bool isSurelySize(const SizeExpression &size) {
  return llvm::all_of(size.terms(),
                      [](const auto &term) { return term.factor >= 0; });
}

/// \p from less \p what; nothing on overflow.
inline Known differenceOf(const SizeExpression &from,
                          const SizeExpression &what) {
  const Known less = SizeExpression::productOf(what, -1);
  return less ? SizeExpression::sumOf(from, *less) : Known();
}

/// `size` / `divisor`, a power of two.
struct ScaledSize {
  SizeExpression size;
  int64_t divisor = 1;
};

/// Goes through a function and says how large everything is.
class SizeNamer {
public:
  explicit SizeNamer(mlir::func::FuncOp function) : function(function) {}

  Result<void> run();
  /// Follows sizes as far as they can be, and changes nothing but broadcasts.
  void dropRepetitions();

private:
  /// A size of which nothing is known.
  SizeExpression unknownSize();
  void nameArguments(bool inTypes = true);
  Result<void> follow(mlir::Operation *op);
  /// Branches and loops.
  Result<void> followRegions(mlir::Operation *op);
  Result<void> followIn(mlir::Block &block);
  Result<void> joinBranches(stablehlo::IfOp op);
  Result<void> checkCarried(stablehlo::WhileOp loop);
  /// The sizes of a result, as far as they have an expression.
  llvm::SmallVector<Known> sizesOf(mlir::OpResult result);
  llvm::SmallVector<Known> sizesByAxes(mlir::OpResult result);
  llvm::SmallVector<Known> reshapedSizes(mlir::Value operand,
                                         mlir::RankedTensorType type);
  llvm::SmallVector<Known> productSizes(mlir::Operation *op);
  llvm::SmallVector<Known> productSizes(DistanceProductOp op);
  llvm::SmallVector<Known> attentionSizes(AttentionOp op);
  llvm::SmallVector<Known> paddedSizes(stablehlo::PadOp op);
  llvm::SmallVector<Known> blockedSizes(mlir::Operation *op);
  /// The sizes of a result whose last dimensions have windows.
  llvm::SmallVector<Known> windowedSizes(mlir::OpResult result);
  /// How many places \p window has in \p size elements.
  Known windowedSize(const SizeExpression &size,
                     const stablehlo::WindowDimension &window);
  /// Takes it for granted that two sizes are the same.
  bool expectEqual(const SizeExpression &a, const SizeExpression &b);
  void solve(const SizeExpression &zero);
  Known reduced(const SizeExpression &size) const;
  /// Whether that was taken for granted.
  bool areExpectedEqual(const SizeExpression &a, const SizeExpression &b) const;
  llvm::SmallVector<Known> broadcastSizes(nn::BroadcastLikeOp op);
  llvm::SmallVector<Known> slicedSizes(stablehlo::RealDynamicSliceOp op);
  llvm::SmallVector<Known> gatheredSizes(stablehlo::DynamicGatherOp op);
  /// How many elements two sizes are together that are broadcast.
  Known joinedSize(const SizeExpression &a, const SizeExpression &b);
  bool mayTakeAsEqual(const SizeExpression &a, const SizeExpression &b);
  /// Whether \p joined is what \p part and others are together.
  bool isJoinedOf(const SizeExpression &joined, const SizeExpression &part,
                  unsigned depth = 0) const;
  /// Whether \p size follows from sizes of inputs.
  bool isOfInputs(const SizeExpression &size);
  llvm::SmallVector<Known> calledSizes(mlir::OpResult result);
  void setSizes(mlir::Value value, const Dims &sizes);
  Result<void> replaceDynamic(mlir::Operation *op, const Dims &sizes);
  /// \p operand, whose dimensions are \p places of a result of \p sizes, with
  /// as many elements as that has there wherever it may have 1 or as many.
  Result<mlir::Value> repeatedWhereOne(mlir::Operation *op, mlir::Value operand,
                                       llvm::ArrayRef<int64_t> places,
                                       const Dims &sizes);
  mlir::Value repeatedAlong(mlir::Operation *user, mlir::Value value,
                            int64_t dim, const SizeExpression &size);
  bool isSurelyWithin(const SizeExpression &size, const SizeExpression &all,
                      unsigned depth = 0) const;
  Result<mlir::Value> partOf(stablehlo::RealDynamicSliceOp op,
                             const Dims &result);
  Result<mlir::Value> partFrom(stablehlo::RealDynamicSliceOp op,
                               const Dims &result);
  bool repeatsNothing(nn::BroadcastLikeOp like) const;
  Result<void> joinOperands(mlir::Operation *op);
  mlir::Value withSizes(mlir::Operation *user, mlir::Value value,
                        const Dims &sizes);
  Result<void> checkReshape(mlir::Operation *op, mlir::Value operand,
                            const Dims &sizes);

  /// The elements of a short vector of integers, or a number.
  void followElements(mlir::Operation *op);
  void setNumbers(mlir::Operation *op);
  /// The same of numbers that a size is computed of in floats.
  void followScaled(mlir::Operation *op);
  std::vector<std::optional<ScaledSize>> scaledOf(mlir::Value value) const;
  Known roundedSize(const ScaledSize &number, mlir::Operation *op);
  void countSize(stablehlo::GetDimensionSizeOp op);
  Result<void> checkLimits() const;
  /// Element \p i of \p numbers as a size of what \p user gives: a parameter
  /// that \p numbers defines where nothing is known of it.
  Known sizeFrom(mlir::Value numbers, size_t i, mlir::Operation *user);
  Known sizeFrom(mlir::Value numbers, size_t i, mlir::Operation *user,
                 unsigned depth);
  Known sizeThrough(mlir::Value numbers, size_t i, mlir::Operation *user,
                    unsigned depth);
  /// Whether \p numbers are surely not negative, as parameters must be.
  bool isCount(mlir::Value numbers, unsigned depth = 0);
  /// The parameter that element \p i of \p numbers is, by a name of its own.
  SizeExpression define(mlir::Value numbers, size_t i, mlir::Operation *user);
  SizeExpression define(mlir::Value numbers, size_t i, mlir::Operation *user,
                        std::string name);
  /// Of each dimension of \p result, by the vector \p numbers.
  llvm::SmallVector<Known> sizesFrom(mlir::Value numbers,
                                     mlir::OpResult result);
  /// Whether \p size follows from a number that the program computes.
  bool isComputed(const SizeExpression &size) const;
  /// Whether the two are the same, or must be: where numbers that are computed
  /// decide, it is taken for granted that they do.
  bool mustBeSame(const SizeExpression &a, const SizeExpression &b);
  void countSizes(nn::ShapeOp op);
  /// A size as a number that the program counts.
  mlir::Value counted(nn::TensorBuilder &emit, const SizeExpression &size,
                      mlir::Type element);
  std::vector<Known> elementsOf(mlir::Value value) const {
    auto found = elements.find(value);
    return found == elements.end() ? std::vector<Known>() : found->second;
  }
  const Dims &dimsOf(mlir::Value value) const {
    return dims.find(value)->second;
  }

  /// \p size as a number that is computed before \p user.
  mlir::Value numberOf(const SizeExpression &size, mlir::Operation *user);

  /// The number of elements; nothing on overflow.
  static Known countOf(llvm::ArrayRef<SizeExpression> sizes);

  int64_t nameOf(const SizeExpression &size);
  /// Takes it for granted that \p size is not negative.
  void expectPositive(const SizeExpression &size);
  /// The same of a parameter that may be no size.
  void expectSize(const SizeExpression &size);
  /// Takes it for granted that \p size elements hold a slice, unless there is
  /// nothing in what is made of such slices, a tensor of sizes \p result.
  void expectSlice(const SizeExpression &slice, const SizeExpression &size,
                   const Dims &result);
  /// Takes it for granted that two sizes compare so; whether they can.
  bool expectComparison(stablehlo::ComparisonDirection direction,
                        const SizeExpression &a, const SizeExpression &b);
  Result<void> takeForGranted(nn::AssumeOp op);
  /// The smaller one of the two, or the larger one, if one is a number.
  Known chosen(const SizeExpression &a, const SizeExpression &b, bool smaller);
  Known leastOfShifted(const SizeExpression &a, const SizeExpression &b);
  Error refused(mlir::Operation *op, const std::string &what) const;

  mlir::func::FuncOp function;
  SizeTable table;
  /// What table.sizes and table.limits hold.
  std::unordered_map<SizeExpression, int64_t, SizeExpressionHash> numberOfSize;
  std::unordered_set<SizeExpression, SizeExpressionHash> knownLimits;
  /// What is taken to be the same.
  std::vector<std::pair<SizeExpression, SizeExpression>> equal;
  /// What parameters are by that, none of which has one that is here already.
  std::map<uint32_t, SizeExpression> replaced;
  /// What isOfInputs() has found out: which parameters follow from sizes of
  /// inputs, of the first ones of the table's.
  llvm::DenseSet<uint32_t> followsInputs;
  size_t seenFollowing = 0;
  /// Parameters from this number on are computed; none is where sizes are
  /// followed and nothing is changed.
  uint32_t firstComputed = 0;
  bool mayDefine = false;
  llvm::DenseMap<mlir::Value, Dims> dims;
  llvm::DenseMap<mlir::Value, std::vector<Known>> elements;
  llvm::DenseMap<mlir::Value, std::vector<std::optional<ScaledSize>>> scaled;
  /// What isCount() has found out.
  llvm::DenseMap<mlir::Value, bool> counts;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SIZENAMER_H
