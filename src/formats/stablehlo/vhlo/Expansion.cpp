//===- Expansion.cpp - new operations in terms of old ones ----------------===//

#include "formats/stablehlo/vhlo/Expansion.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

//===----------------------------------------------------------------------===//
// Indices of batches
//===----------------------------------------------------------------------===//

/// The integer type for indices of type \p type below \p size: \p type or a
/// wider one.
Type typeForIndices(Type type, int64_t size) {
  auto integer = dyn_cast<IntegerType>(type);
  const auto fits = [&](unsigned width, bool isUnsigned) {
    return isUnsigned ? llvm::isUIntN(width, size) : llvm::isIntN(width, size);
  };
  if (!integer || fits(integer.getWidth(), integer.isUnsigned()))
    return type;
  return IntegerType::get(type.getContext(), fits(32, false) ? 32 : 64);
}

/// \p indices prefixed by the batch index for each of their \p batching
/// dimensions.
Value withBatchIndices(OpBuilder &builder, Location location, Value indices,
                       int64_t vectorDim, ArrayRef<int64_t> batching) {
  auto type = cast<RankedTensorType>(indices.getType());
  Type element = type.getElementType();
  for (int64_t dim : batching)
    element = typeForIndices(element, type.getDimSize(dim));
  if (element != type.getElementType()) {
    type = type.clone(element);
    indices = builder.create<stablehlo::ConvertOp>(location, type, indices);
  }
  SmallVector<int64_t> shape(type.getShape());
  if (vectorDim == type.getRank()) {
    shape.push_back(1);
    type = RankedTensorType::get(shape, element);
    indices = builder.create<stablehlo::ReshapeOp>(location, type, indices);
  }
  shape[vectorDim] = 1;
  const auto numbers = RankedTensorType::get(shape, element);
  SmallVector<Value> parts;
  for (int64_t dim : batching)
    parts.push_back(builder.create<stablehlo::IotaOp>(location, numbers, dim));
  parts.push_back(indices);
  shape[vectorDim] = type.getDimSize(vectorDim) + batching.size();
  return builder.create<stablehlo::ConcatenateOp>(
      location, RankedTensorType::get(shape, element), parts, vectorDim);
}

SmallVector<int64_t> merged(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> all(a);
  all.append(b.begin(), b.end());
  llvm::sort(all);
  return all;
}

SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> all(a);
  all.append(b.begin(), b.end());
  return all;
}

/// Whether sorted indices stay sorted: batch indices ascend and are compared
/// first.
bool staysSorted(ArrayRef<int64_t> batching, ArrayRef<int64_t> map) {
  return llvm::is_sorted(batching) && llvm::is_sorted(map);
}

/// gather with batching dimensions -> gather(operand, [batch indices, indices])
bool expandGather(Operation *op) {
  auto gather = cast<stablehlo::GatherOp>(op);
  const auto numbers = gather.getDimensionNumbers();
  auto type = cast<RankedTensorType>(gather.getStartIndices().getType());
  if (numbers.getOperandBatchingDims().empty() || !type.hasStaticShape())
    return false;
  OpBuilder builder(op);
  const auto batching = numbers.getStartIndicesBatchingDims();
  const auto map =
      joined(numbers.getOperandBatchingDims(), numbers.getStartIndexMap());
  op->setOperand(1, withBatchIndices(builder, op->getLoc(),
                                     gather.getStartIndices(),
                                     numbers.getIndexVectorDim(), batching));
  gather.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(
      op->getContext(), numbers.getOffsetDims(),
      merged(numbers.getOperandBatchingDims(), numbers.getCollapsedSliceDims()),
      {}, {}, map, numbers.getIndexVectorDim()));
  if (!staysSorted(batching, map))
    gather.setIndicesAreSorted(false);
  return true;
}

/// scatter with batching dimensions -> scatter(.., [batch indices, indices],
/// ..)
bool expandScatter(Operation *op) {
  auto scatter = cast<stablehlo::ScatterOp>(op);
  const auto numbers = scatter.getScatterDimensionNumbers();
  auto type = cast<RankedTensorType>(scatter.getScatterIndices().getType());
  if (numbers.getInputBatchingDims().empty() || !type.hasStaticShape())
    return false;
  OpBuilder builder(op);
  const auto batching = numbers.getScatterIndicesBatchingDims();
  const auto map = joined(numbers.getInputBatchingDims(),
                          numbers.getScatterDimsToOperandDims());
  op->setOperand(scatter.getInputs().size(),
                 withBatchIndices(builder, op->getLoc(),
                                  scatter.getScatterIndices(),
                                  numbers.getIndexVectorDim(), batching));
  scatter.setScatterDimensionNumbersAttr(
      stablehlo::ScatterDimensionNumbersAttr::get(
          op->getContext(), numbers.getUpdateWindowDims(),
          merged(numbers.getInputBatchingDims(),
                 numbers.getInsertedWindowDims()),
          {}, {}, map, numbers.getIndexVectorDim()));
  if (!staysSorted(batching, map))
    scatter.setIndicesAreSorted(false);
  return true;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// tan(x) -> sine(x) / cosine(x)
Value realTan(OpBuilder &builder, Location location, Value operand) {
  const Type type = operand.getType();
  Value sine = builder.create<stablehlo::SineOp>(location, type, operand);
  Value cosine = builder.create<stablehlo::CosineOp>(location, type, operand);
  return builder.create<stablehlo::DivOp>(location, type, sine, cosine);
}

/// tan(a + bi) -> (tan(a) + i tanh(b)) / (1 - i tan(a) tanh(b))
Value complexTan(OpBuilder &builder, Location location, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  const auto real =
      type.clone(cast<ComplexType>(type.getElementType()).getElementType());
  Value a = builder.create<stablehlo::RealOp>(location, real, operand);
  Value b = builder.create<stablehlo::ImagOp>(location, real, operand);
  Value tan = realTan(builder, location, a);
  Value tanh = builder.create<stablehlo::TanhOp>(location, real, b);
  Value product = builder.create<stablehlo::MulOp>(location, real, tan, tanh);
  Value negated = builder.create<stablehlo::NegOp>(location, real, product);
  Value one = builder.create<stablehlo::ConstantOp>(
      location, real,
      DenseElementsAttr::get(real,
                             builder.getFloatAttr(real.getElementType(), 1.0)));
  Value above = builder.create<stablehlo::ComplexOp>(location, type, tan, tanh);
  Value below =
      builder.create<stablehlo::ComplexOp>(location, type, one, negated);
  return builder.create<stablehlo::DivOp>(location, type, above, below);
}

bool expandTan(Operation *op) {
  const Value operand = op->getOperand(0);
  auto type = cast<RankedTensorType>(operand.getType());
  const bool isComplex = isa<ComplexType>(type.getElementType());
  if ((isComplex && !type.hasStaticShape()) || op->hasAttr("result_accuracy"))
    return false;
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(
      isComplex ? complexTan(builder, op->getLoc(), operand)
                : realTan(builder, op->getLoc(), operand));
  op->erase();
  return true;
}

/// Axes of a mesh -> the processes of each group, short ones filled with -1.
bool expandGroups(Operation *op) {
  const Attribute axes = op->getAttr("replica_groups");
  if (!isa_and_nonnull<stablehlo::ReplicaGroupMeshAxesAttr>(axes))
    return false;
  const auto groups = stablehlo::replicaGroups(op, axes);
  if (!groups)
    return false;
  size_t longest = 0;
  for (const auto &group : *groups)
    longest = std::max(longest, group.size());
  SmallVector<int64_t> ids;
  for (const auto &group : *groups) {
    ids.append(group.begin(), group.end());
    ids.append(longest - group.size(), -1);
  }
  Builder builder(op->getContext());
  const auto type = RankedTensorType::get(
      {static_cast<int64_t>(groups->size()), static_cast<int64_t>(longest)},
      builder.getI64Type());
  op->setAttr("replica_groups", DenseElementsAttr::get(type, ArrayRef(ids)));
  return true;
}

/// composite -> call of its decomposition
bool expandComposite(Operation *op) {
  auto decomposition = op->getAttrOfType<FlatSymbolRefAttr>("decomposition");
  if (!decomposition || op->getNumRegions() != 0)
    return false;
  OpBuilder builder(op);
  auto call = builder.create<func::CallOp>(
      op->getLoc(), decomposition, op->getResultTypes(), op->getOperands());
  op->replaceAllUsesWith(call);
  op->erase();
  return true;
}

/// A feature of a version that can be expanded for older ones.
struct Downgrade {
  Version since;
  /// Null: any operation.
  const char *operation;
  bool (*expand)(Operation *);
};

constexpr Downgrade downgrades[] = {
    {{0, 19}, "stablehlo.composite", expandComposite},
    {{1, 1}, "stablehlo.gather", expandGather},
    {{1, 1}, "stablehlo.scatter", expandScatter},
    {{1, 4}, "stablehlo.tan", expandTan},
    {{1, 16}, nullptr, expandGroups},
};

} // namespace

void expandFor(ModuleOp module, Version target) {
  for (const Downgrade &downgrade : downgrades) {
    if (target >= downgrade.since)
      continue;
    module.walk([&](Operation *op) {
      if (!downgrade.operation ||
          op->getName().getStringRef() == downgrade.operation)
        downgrade.expand(op);
    });
  }
}

} // namespace sinter::vhlo
