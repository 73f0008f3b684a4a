//===- MatMulKernel.cpp - kernels of matrix products ----------------------===//

#include "backend/cpu/emit/MatMulKernel.h"

#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/emit/DynamicKernel.h"
#include "backend/cpu/emit/DynamicMatMulKernel.h"
#include "backend/cpu/emit/MatMulForm.h"
#include "backend/cpu/emit/ProductKernel.h"
#include "backend/cpu/emit/TileStages.h"
#include "backend/cpu/kernels/amx/TileMatMul.h"
#include "backend/cpu/kernels/amx/TileMatrices.h"
#include "backend/cpu/kernels/common/KernelBuilder.h"
#include "backend/cpu/precision/MarkAmplified.h"
#include "backend/cpu/precision/SetPrecisions.h"
#include "graph/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The operands of a product, of whichever operation.
static std::pair<stablehlo::ProductSide, stablehlo::ProductSide>
sidesOf(Operation *op, SmallVector<int64_t> &lhsContracting) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return {dot.getSide(0), dot.getSide(1)};
  auto ofWeights = [&](auto product)
      -> std::pair<stablehlo::ProductSide, stablehlo::ProductSide> {
    lhsContracting = product.lhsContracting();
    return {{product.getLhs(), {}, lhsContracting},
            {product.getWeights(), {}, product.getContracting()}};
  };
  if (auto product = dyn_cast<ZeroPointProductOp>(op))
    return {product.getSide(0), product.getSide(1)};
  if (auto product = dyn_cast<LowBitProductOp>(op))
    return ofWeights(product);
  return ofWeights(cast<Int8ProductOp>(op));
}

static std::optional<MatMulForm> formOf(Operation *op, bool hasConstantRhs) {
  SmallVector<int64_t> lhsContracting;
  auto [lhs, rhs] = sidesOf(op, lhsContracting);
  return MatMulForm::of(lhs, rhs, hasConstantRhs);
}

/// Of f32 or f64, as they are.
static bool isFloatProduct(stablehlo::DotGeneralOp op) {
  Type type = tensorOf(op.getResult()).getElementType();
  return (type.isF32() || type.isF64()) &&
         tensorOf(op.getLhs()).getElementType() == type &&
         tensorOf(op.getRhs()).getElementType() == type;
}

bool cpu::isMatMul(Operation *op) {
  if (isa<Int8ProductOp, LowBitProductOp>(op))
    return formOf(op, /*hasConstantRhs=*/true).has_value();
  if (isa<ZeroPointProductOp>(op)) {
    const auto form = formOf(op, /*hasConstantRhs=*/false);
    return isDynamicMatMul(op) || (form && form->shape.dynamicRows.empty() &&
                                   form->shape.aColumnStride == 1);
  }
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  return dot && isFloatProduct(dot) &&
         (formOf(op, /*hasConstantRhs=*/false) || isDynamicMatMul(dot));
}

bool cpu::hasRowsOfResults(Operation *op) {
  SmallVector<int64_t> lhsContracting;
  return sidesOf(op, lhsContracting).second.free().size() == 1;
}

/// Whether the right-hand side of \p op is packed when compiling.
static bool packsWeights(KernelOp kernel, Operation *op) {
  return !isa<ZeroPointProductOp>(op) &&
         isConstantInput(kernel, op->getOperand(1));
}

// The shape of dynamic rows says what is estimated of them, and is what
// decides.
static_assert(rowsOfChoice == unknownSizeEstimate);

namespace {

class MatMulKernel : public ProductKernel {
public:
  MatMulKernel(KernelOp kernel, Operation *op, const Target &target)
      : ProductKernel(kernel, op, target),
        form(*formOf(op, packsWeights(kernel, op))),
        arithmetic(arithmeticOf(op, target)),
        product(shapeOfProduct(), target, arithmetic) {
    const std::vector<TileArithmetic> ofTiles = tilesOf(op, target, isPacked());
    couldUseTiles = target.hasMatrixUnits && !ofTiles.empty();
    estimated = alternativesFor(nameOfKernel(), shapeOfProduct(),
                                product.flops(), arithmetic, target, ofTiles,
                                op->hasAttr(lastAttribute));
    if (!usesTiles(estimated.front().kernel))
      return;
    const TileArithmetic fastest =
        tilesNamed(estimated.front().kernel, ofTiles);
    if (isPacked())
      tiles.emplace(shapeOfProduct(), target, fastest,
                    partsOf(kernel, op, /*areBlocked=*/false));
    else
      matrices.emplace(shapeOfProduct(), target, fastest);
  }

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.name = estimated.front().kernel;
    plan.alternatives = estimated;
    if (hasDynamicRows() && isPacked() && couldUseTiles &&
        estimated.size() == 1)
      plan.alternatives.push_back(withoutWideTiles());
    plan.work = work();
    plan.sharing = sharing();
    if (tiles) {
      planTiles(plan, *tiles);
      plan.packings[inputIndex(rhs)] = {
          uint64_t(tiles->packedBytes()),
          [form = form, tiles = *tiles](const Tensor &weights,
                                        std::byte *packed) {
            tiles.pack(weights.data(), form.packedKStride, form.packedNStride,
                       packed);
          }};
      return plan;
    }
    if (matrices)
      plan.scratch = {uint64_t(matrices->scratchBytes()), ElementType::F32};
    else
      plan.scratch = {uint64_t(product.scratchElements()) *
                          byteSize(product.scratchType()),
                      product.scratchType()};
    if (isPacked())
      packOperands(plan);
    return plan;
  }

  TileTermsOf possibleTerms() const override {
    return possibleTermsOf(tiles, yielded());
  }
  TileTermsGain gainBy(const TileTerms &, const Target &target) const override {
    return tiles->gainByTerms(target);
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    MatMulRequest request = requestIn(memory);
    if (tiles && isCutStage(*tiles, stage))
      return tiles->buildCut(builder, location, task, request.a,
                             request.scratch);
    if (tiles)
      return tiles->build(builder, location, task, request);
    if (matrices) {
      VectorBuilder code(builder, location);
      TileRegisters registers = matrices->registersIn(code);
      request.zeros = zerosOfTiles(builder, location, memory);
      return matrices->build(code, registers, task, request);
    }
    request.zeros = zerosIn(builder, location, memory);
    request.stage = static_cast<int64_t>(stage);
    if (scales())
      request.numbers.scales = memory[inputIndex(scales())];
    if (zeros())
      request.numbers.zeros = memory[inputIndex(zeros())];
    product.build(builder, location, task, request);
  }

private:
  bool hasDynamicRows() const { return !form.shape.dynamicRows.empty(); }

  /// Without the stage that brings rows together for tiles. Static where there
  /// is no code for dynamic rows.
  KernelWork work() const {
    const double flopsOfElement = 2.0 * double(form.shape.k);
    if (tiles && hasDynamicRows())
      return DynamicTaskLoop{tiles->taskExtents(), flopsOfElement};
    if (hasDynamicRows() && product.keepsRowsDynamic())
      return DynamicTaskLoop{{{form.shape.dynamicRows, product.taskRows()},
                              {{product.panels()}, 1}},
                             flopsOfElement};
    if (tiles)
      return TaskLoop{tiles->tasks(), product.flops()};
    if (matrices)
      return TaskLoop{matrices->tasks(), product.flops()};
    const int64_t stages = isPacked() ? product.stages() : 1;
    const double flops = product.flops() / double(stages);
    if (stages == 1)
      return TaskLoop{product.tasks(), flops};
    const Stages::Stage each{product.tasks(), flops};
    return Stages{std::vector(size_t(stages), each)};
  }

  CodeSharing sharing() const {
    const bool mayReadDistances =
        !tiles && !matrices && product.mayTellDistances();
    if (isDynamic(kernel))
      return sharingOfDynamic(mayReadDistances);
    // Most of the code is the reduction, whatever its depth is.
    const bool readsTable = isa<Int8ProductOp>(root) && isPacked() &&
                            product.stages() == 1 && hasLongEpilogue() &&
                            mayReadDistances;
    return readsTable ? CodeSharing::AnyNumbers : CodeSharing::None;
  }

  /// Adds the packings of weights, and of the numbers of their blocks.
  void packOperands(KernelPlan &plan) const {
    plan.packings[inputIndex(rhs)] = {
        uint64_t(product.packedElements() * arithmetic.rhsBytes()),
        [form = form, product = product](const Tensor &weights,
                                         std::byte *packed) {
          product.pack(weights.data(), form.packedKStride, form.packedNStride,
                       packed);
        }};
    for (Value numbers : {scales(), zeros()})
      if (numbers) {
        const auto bytes = int64_t(byteSize(elementOf(numbers)));
        plan.packings[inputIndex(numbers)] = {
            uint64_t(product.packedNumbers() * bytes),
            [bytes, product = product](const Tensor &tensor,
                                       std::byte *packed) {
              product.packNumbers(tensor.data(), bytes, packed);
            }};
      }
  }

  static ElementType elementOf(Value value) {
    return *elementTypeOf(tensorOf(value).getElementType());
  }

  /// Of blocks of weights; null where there are none.
  Value scales() const {
    auto op = dyn_cast<LowBitProductOp>(root);
    return op ? op.getScales() : Value();
  }
  Value zeros() const {
    auto op = dyn_cast<LowBitProductOp>(root);
    return op ? op.getZeros() : Value();
  }

  bool isPacked() const {
    return form.shape.bLayout == MatMulShape::BLayout::Packed;
  }
  StringRef nameOfKernel() const {
    return isPacked() ? "matmul-packed" : "matmul";
  }

  MatMulShape shapeOfProduct() const {
    MatMulShape shape = form.shape;
    if (auto op = dyn_cast<ZeroPointProductOp>(root))
      shape.turnsB = op.getTurned();
    if (auto op = dyn_cast<LowBitProductOp>(root)) {
      shape.blocks.size = static_cast<int64_t>(op.getBlock());
      shape.blocks.columns = static_cast<int64_t>(op.getColumns());
      if (scales())
        shape.blocks.scale = elementOf(scales());
      if (zeros())
        shape.blocks.zero = elementOf(zeros());
    }
    shape.holdsSums = tensorOf(yielded()).getElementType() ==
                      tensorOf(root->getResult(0)).getElementType();
    return shape;
  }

  MatMulForm form;
  Arithmetic arithmetic;
  MatMul product;
  Alternatives estimated;
  bool couldUseTiles = false; ///< If more were known of sizes.
  /// Where they are faster: by weights, or of two activations.
  std::optional<TileMatMul> tiles;
  std::optional<TileMatrices> matrices;
};

} // namespace

std::unique_ptr<RootKernel>
cpu::createMatMulKernel(KernelOp kernel, Operation *op, const Target &target) {
  const bool isPacked = packsWeights(kernel, op);
  const bool isClosed = !isa<ZeroPointProductOp>(op) && formOf(op, isPacked);
  if (isDynamicMatMul(op) &&
      (!isClosed || (!isPacked && hasDynamicTiles(op, target))))
    return createDynamicMatMulKernel(kernel, op, target);
  return std::make_unique<MatMulKernel>(kernel, op, target);
}
