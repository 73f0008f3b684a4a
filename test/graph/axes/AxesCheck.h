//===- AxesCheck.h - axes held against what an operation computes ---------===//

#ifndef SINTER_TEST_GRAPH_AXES_AXESCHECK_H
#define SINTER_TEST_GRAPH_AXES_AXESCHECK_H

#include "graph/ElementUses.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "runtime/Random.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace sinter {

struct Choice;

/// Computes an operation on tensors of which slices were chosen, so that types
/// with a scale for each slice have those of the chosen ones; null for what is
/// there.
using Evaluation = std::function<Result<std::vector<Tensor>>(
    llvm::ArrayRef<Tensor>, const Choice *)>;

/// What was found of an operation's claims.
struct AxesFindings {
  /// Operations that were checked, those with an axis that is mixed between an
  /// operand and a result, and those where mixed axes were seen not to be kept.
  std::set<std::string> checked, mixed, refuted;
};

/// Slice i of what comes out is slice `slices[i]` of what was there.
using Slices = std::vector<int64_t>;

inline Slices randomSlices(int64_t size, uint64_t seed, bool isPermutation) {
  Slices slices(size);
  for (int64_t i = 0; i < size; ++i)
    slices[i] = isPermutation ? i : splitMix(seed, i) % size;
  for (int64_t i = size - 1; i > 0 && isPermutation; --i)
    std::swap(slices[i], slices[splitMix(seed, i) % (i + 1)]);
  return slices;
}

/// Slices that are chosen along an axis, of the operands and, where
/// `inResults`, of the results.
struct Choice {
  const Axes &axes;
  unsigned axis;
  const Slices &slices;
  bool inResults;

  /// What comes to \p index of a dimension of size \p size.
  int64_t sourceOf(int64_t index, const AxisList &dimension,
                   int64_t size) const {
    int64_t inner = 1, moved = 0;
    for (unsigned each : llvm::reverse(dimension)) {
      const int64_t part = dimension.size() > 1 ? axes.axes[each].size : size;
      const int64_t own = index % part;
      moved += inner * (each == axis ? slices[own] : own);
      index /= part;
      inner *= part;
    }
    return moved;
  }
};

/// The chosen slices of \p tensor, wherever its dimensions have the axis.
inline Tensor chosen(const Tensor &tensor, const TensorAxes &dimensions,
                     const Choice &choice) {
  Tensor result(tensor.type(), tensor.shape());
  const size_t width = byteSize(tensor.type());
  for (int64_t to = 0; to < tensor.size(); ++to) {
    int64_t rest = to, from = 0, stride = 1;
    for (int64_t i = tensor.rank() - 1; i >= 0; --i) {
      const int64_t size = tensor.dim(i);
      from += choice.sourceOf(rest % size, dimensions[i], size) * stride;
      rest /= size;
      stride *= size;
    }
    std::memcpy(result.mutableBytes() + to * width,
                tensor.data() + from * width, width);
  }
  return result;
}

/// The type with the scales of the chosen slices, if it has one for each.
inline mlir::Type chosenType(mlir::Type type, const TensorAxes &dimensions,
                             const Choice &choice) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  auto perAxis = mlir::dyn_cast<mlir::quant::UniformQuantizedPerAxisType>(
      tensor.getElementType());
  if (!perAxis)
    return type;
  const int64_t dimension = perAxis.getQuantizedDimension(),
                size = tensor.getDimSize(dimension);
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t from = choice.sourceOf(i, dimensions[dimension], size);
    scales.push_back(perAxis.getScales()[from]);
    zeroPoints.push_back(perAxis.getZeroPoints()[from]);
  }
  return tensor.clone(mlir::quant::UniformQuantizedPerAxisType::get(
      perAxis.getFlags(), perAxis.getStorageType(), perAxis.getExpressedType(),
      scales, zeroPoints, perAxis.getQuantizedDimension(),
      perAxis.getStorageTypeMin(), perAxis.getStorageTypeMax()));
}

/// What \p with makes of a copy of \p op with the scales of the chosen slices.
template <typename Function>
auto withChosenTypes(mlir::Operation *op, const Choice &choice, Function with) {
  mlir::Block block;
  mlir::Operation *clone = op->clone();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    clone->setOperand(
        i, block.addArgument(
               chosenType(operand.getType(), choice.axes.operands[i], choice),
               op->getLoc()));
  for (auto [result, dimensions] :
       llvm::zip(clone->getResults(), choice.axes.results))
    if (choice.inResults)
      result.setType(chosenType(result.getType(), dimensions, choice));
  auto results = with(clone);
  clone->destroy();
  return results;
}

inline bool has(const TensorAxes &dimensions, unsigned axis) {
  return llvm::any_of(dimensions, [&](const AxisList &list) {
    return llvm::is_contained(list, axis);
  });
}

/// Sums in another order differ by rounding.
inline double toleranceOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::C128:
    return 1e-12;
  case ElementType::F32:
  case ElementType::C64:
    return 1e-5;
  case ElementType::F16:
    return 4e-3;
  case ElementType::BF16:
    return 3e-2;
  default:
    return isFloat(type) ? 0.6 : 0;
  }
}

inline bool areClose(const Tensor &got, const Tensor &want, double tolerance) {
  double largest = 0;
  for (int64_t i = 0; i < want.size(); ++i)
    if (std::isfinite(want.toDouble(i)))
      largest = std::max(largest, std::abs(want.toDouble(i)));
  for (int64_t i = 0; i < want.size(); ++i) {
    const double x = got.toDouble(i), y = want.toDouble(i);
    const bool isSame = x == y || (std::isnan(x) && std::isnan(y));
    if (!isSame && !(std::abs(x - y) <= tolerance * largest))
      return false;
  }
  return true;
}

/// \p axes with the sizes that \p op, whose types are static, gives those that
/// are not known, as far as its dimensions tell.
inline Axes resolved(Axes axes, mlir::Operation *op) {
  auto resolve = [&](mlir::Value value, const TensorAxes &dimensions,
                     bool isResult) {
    auto type = tensorOf(value);
    for (auto [i, list] : llvm::enumerate(dimensions)) {
      int64_t known = 1;
      llvm::SmallVector<unsigned> unknown;
      for (unsigned axis : list)
        if (mlir::ShapedType::isDynamic(axes.axes[axis].size))
          unknown.push_back(axis);
        else
          known *= axes.axes[axis].size;
      if (unknown.size() != 1 || known == 0 ||
          (!isResult && axes.areAll(list, AxisKind::Resized)))
        continue;
      axes.axes[unknown.front()].size = type.getDimSize(i) / known;
    }
  };
  for (unsigned round = 0; round < 2; ++round) {
    for (auto [value, dimensions] : llvm::zip(op->getResults(), axes.results))
      resolve(value, dimensions, /*isResult=*/true);
    for (auto [value, dimensions] : llvm::zip(op->getOperands(), axes.operands))
      resolve(value, dimensions, /*isResult=*/false);
  }
  return axes;
}

/// What \p op says of its axes where some sizes of its operands, as far as
/// they are no constants, and of its results are unknown. An operand that then
/// has the shape of its result has it where they are known.
inline Axes axesOfDynamic(mlir::Operation *op, uint64_t seed) {
  uint64_t drawn = 0;
  auto opened = [&](mlir::Value value) -> mlir::Type {
    auto type = tensorOf(value);
    llvm::SmallVector<int64_t> sizes(type.getShape());
    // Whether a broadcast_in_dim repeats a dimension, its type has to say.
    const bool keepsOnes =
        op->getName().getStringRef() == "stablehlo.broadcast_in_dim";
    for (int64_t &size : sizes)
      if (splitMix(seed, ++drawn) % 2 && !(keepsOnes && size == 1))
        size = mlir::ShapedType::kDynamic;
    return mlir::RankedTensorType::get(sizes, type.getElementType());
  };
  mlir::Block block;
  mlir::Operation *clone = op->clone();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    mlir::Operation *source = operand.getDefiningOp();
    if (!source || source->getNumOperands() != 0)
      clone->setOperand(i, block.addArgument(opened(operand), op->getLoc()));
  }
  for (mlir::Value result : clone->getResults())
    result.setType(opened(result));
  Axes axes = *axesOf(clone);
  mlir::Value same = operandOfSameShape(clone);
  for (auto [i, operand] : llvm::enumerate(clone->getOperands()))
    if (operand == same)
      EXPECT_EQ(tensorOf(op->getOperand(i)).getShape(),
                tensorOf(op->getResult(0)).getShape())
          << "operand " << i;
  clone->destroy();
  return axes;
}

class AxesCheck {
public:
  AxesCheck(mlir::Operation *op, Axes own, llvm::ArrayRef<Tensor> operands,
            const Evaluation &evaluate, uint64_t seed, AxesFindings &findings)
      : op(op), operands(operands), evaluate(evaluate), seed(seed),
        findings(findings), name(op->getName().getStringRef()),
        axes(std::move(own)) {}

  void run() {
    checkSizes();
    if (!areSizesRight)
      return;
    auto computed = evaluate(operands, nullptr);
    if (!computed)
      return;
    results = std::move(*computed);
    findings.checked.insert(name);
    for (unsigned axis = 0; axis < axes.axes.size(); ++axis)
      checkAxis(axis);
  }

private:
  void checkSizes() {
    ASSERT_EQ(axes.operands.size(), op->getNumOperands());
    ASSERT_EQ(axes.results.size(), op->getNumResults());
    for (auto [value, dimensions] : llvm::zip(op->getOperands(), axes.operands))
      checkSizes(value, dimensions, /*isResult=*/false);
    for (auto [value, dimensions] : llvm::zip(op->getResults(), axes.results))
      checkSizes(value, dimensions, /*isResult=*/true);
  }

  /// The axes of a dimension are as large as it.
  void checkSizes(mlir::Value value, const TensorAxes &dimensions,
                  bool isResult) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!type)
      return;
    ASSERT_EQ(static_cast<int64_t>(dimensions.size()), type.getRank());
    llvm::SmallVector<int64_t> sizes = axes.sizesOf(dimensions);
    for (int64_t i = 0; i < type.getRank(); ++i) {
      ASSERT_FALSE(dimensions[i].empty()) << "dimension " << i;
      bool isResized = axes.areAll(dimensions[i], AxisKind::Resized);
      if (!isResult && isResized)
        continue;
      if (mlir::ShapedType::isDynamic(sizes[i]))
        continue;
      areSizesRight &= sizes[i] == type.getDimSize(i);
      EXPECT_EQ(sizes[i], type.getDimSize(i)) << "dimension " << i;
    }
  }

  /// Whether the axis shares a dimension with one of unknown size.
  bool isUnresolved(unsigned axis) const {
    auto isDynamic = [&](const AxisList &list) {
      return llvm::is_contained(list, axis) &&
             llvm::any_of(list, [&](unsigned each) {
               return mlir::ShapedType::isDynamic(axes.axes[each].size);
             });
    };
    auto isAnyDynamic = [&](const TensorAxes &each) {
      return llvm::any_of(each, isDynamic);
    };
    return llvm::any_of(axes.operands, isAnyDynamic) ||
           llvm::any_of(axes.results, isAnyDynamic);
  }

  bool isOfOperand(unsigned axis) const {
    return llvm::any_of(
        axes.operands, [&](const TensorAxes &each) { return has(each, axis); });
  }
  bool isOfResult(unsigned axis) const {
    return llvm::any_of(
        axes.results, [&](const TensorAxes &each) { return has(each, axis); });
  }

  /// Whether choosing slices before, and after where \p inResults, agree.
  bool holds(unsigned axis, const Slices &slices, bool inResults,
             bool isExact) const {
    const Choice choice{axes, axis, slices, inResults};
    std::vector<Tensor> moved;
    for (auto [tensor, dimensions] : llvm::zip(operands, axes.operands))
      moved.push_back(has(dimensions, axis) ? chosen(tensor, dimensions, choice)
                                            : tensor);
    auto got = evaluate(moved, &choice);
    if (!got)
      return false;
    for (unsigned i = 0; i < results.size(); ++i) {
      Tensor want = results[i];
      if (inResults && has(axes.results[i], axis))
        want = chosen(want, axes.results[i], choice);
      if (!areClose((*got)[i], want, isExact ? 0 : toleranceOf(want.type())))
        return false;
    }
    return true;
  }

  void checkAxis(unsigned axis) {
    const auto [kind, size] = axes.axes[axis];
    if (kind == AxisKind::Resized || mlir::ShapedType::isDynamic(size) ||
        size == 0 || isUnresolved(axis))
      return;
    const uint64_t salt = seed * 131 + axis;
    const Slices any = randomSlices(size, salt, /*isPermutation=*/false),
                 permutation = randomSlices(size, salt, /*isPermutation=*/true);
    const bool ofOperand = isOfOperand(axis), ofResult = isOfResult(axis);
    switch (kind) {
    case AxisKind::Kept:
      EXPECT_TRUE(ofResult) << "axis " << axis;
      EXPECT_TRUE(holds(axis, any, /*inResults=*/true, /*isExact=*/true))
          << "axis " << axis << " is not kept";
      return;
    case AxisKind::Reduced:
      EXPECT_FALSE(ofResult) << "axis " << axis;
      EXPECT_TRUE(holds(axis, permutation, true, /*isExact=*/false))
          << "axis " << axis << " is not reduced in any order";
      return;
    case AxisKind::Repeated:
      checkRepeated(axis, any);
      EXPECT_TRUE(holds(axis, any, /*inResults=*/false, true))
          << "axis " << axis << " is not repeated";
      return;
    default:
      if (!ofOperand || !ofResult || size == 1)
        return;
      findings.mixed.insert(name);
      if (!holds(axis, any, true, /*isExact=*/false))
        findings.refuted.insert(name);
    }
  }

  void checkRepeated(unsigned axis, const Slices &slices) const {
    const Choice choice{axes, axis, slices, /*inResults=*/true};
    for (auto [tensor, dimensions] : llvm::zip(results, axes.results))
      if (has(dimensions, axis))
        EXPECT_TRUE(areClose(chosen(tensor, dimensions, choice), tensor, 0))
            << "axis " << axis << " is not repeated";
  }

  mlir::Operation *op;
  llvm::ArrayRef<Tensor> operands;
  const Evaluation &evaluate;
  uint64_t seed;
  AxesFindings &findings;
  std::string name;
  Axes axes;
  bool areSizesRight = true;
  std::vector<Tensor> results;
};

/// Expects that \p op, whose types are static, has the axes that it says:
/// choosing slices along an axis of the operands and then computing (by
/// \p evaluate) gives what computing and then choosing gives. So where some of
/// its sizes are unknown, too.
inline void checkAxes(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                      const Evaluation &evaluate, uint64_t seed,
                      AxesFindings &findings) {
  AxesCheck(op, *axesOf(op), operands, evaluate, seed, findings).run();
  SCOPED_TRACE("of unknown sizes");
  AxesFindings others;
  Axes open = resolved(axesOfDynamic(op, seed), op);
  AxesCheck(op, std::move(open), operands, evaluate, seed, others).run();
}

} // namespace sinter

#endif // SINTER_TEST_GRAPH_AXES_AXESCHECK_H
