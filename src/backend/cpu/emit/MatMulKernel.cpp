//===- MatMulKernel.cpp - kernels of matrix products ----------------------===//

#include "backend/cpu/emit/MatMulKernel.h"

#include "backend/cpu/emit/KernelBuilder.h"
#include "backend/cpu/emit/MatMulForm.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static ElementType elementOf(Value value) {
  return *elementTypeOf(tensorOf(value).getElementType());
}

/// Of f32 or f64, as they are.
static bool isFloatProduct(stablehlo::DotGeneralOp op) {
  Type type = tensorOf(op.getResult()).getElementType();
  return (type.isF32() || type.isF64()) &&
         tensorOf(op.getLhs()).getElementType() == type &&
         tensorOf(op.getRhs()).getElementType() == type;
}

/// Whether the weights are a constant of the program, which can be packed.
static bool isPackable(Value weights) {
  if (auto argument = dyn_cast<BlockArgument>(weights)) {
    auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
    auto constants = kernel ? kernel.getConstantInputs() : std::nullopt;
    return constants &&
           llvm::is_contained(*constants, int64_t(argument.getArgNumber()));
  }
  return isa_and_nonnull<stablehlo::ConstantOp, ComputedConstantOp>(
      weights.getDefiningOp());
}

/// Sums of bytes by packed weights, from rows whose elements are neighbours.
static bool isByteProduct(stablehlo::DotGeneralOp op) {
  auto isOfBits = [](Value value, unsigned width) {
    return tensorOf(value).getElementType().isInteger(width);
  };
  if (!isOfBits(op.getLhs(), 8) || !isOfBits(op.getRhs(), 8) ||
      !isOfBits(op.getResult(), 32) || !isPackable(op.getRhs()))
    return false;
  auto form = MatMulForm::of(op, /*hasConstantRhs=*/true);
  return form && form->shape.bLayout == MatMulShape::BLayout::Packed &&
         (form->shape.aColumnStride == 1 || form->shape.k == 1);
}

bool cpu::isMatMul(stablehlo::DotGeneralOp op) {
  return isByteProduct(op) ||
         (isFloatProduct(op) &&
          MatMulForm::of(op, /*hasConstantRhs=*/false).has_value());
}

static Arithmetic arithmeticOf(stablehlo::DotGeneralOp op,
                               const Target &target) {
  const ElementType lhs = elementOf(op.getLhs()), rhs = elementOf(op.getRhs());
  return isByte(lhs) ? Arithmetic::ofBytes(lhs, rhs, target)
                     : Arithmetic{lhs, rhs, elementOf(op.getResult())};
}

namespace {

class MatMulKernel : public AnchorKernel {
public:
  MatMulKernel(KernelOp kernel, stablehlo::DotGeneralOp op,
               const Target &target)
      : AnchorKernel(kernel, op), op(op),
        form(*MatMulForm::of(op, isConstantInput(op.getRhs()))),
        arithmetic(arithmeticOf(op, target)),
        product(shapeOfProduct(), target, arithmetic) {}

  KernelPlan plan() const override {
    KernelPlan plan;
    plan.flops = product.flops();
    plan.tasks = product.tasks();
    plan.packings.resize(kernel.getInputs().size());
    plan.scratchBytes = product.scratchElements() * arithmetic.rhsBytes();
    plan.scratchType = arithmetic.rhs;
    plan.name = "matmul";
    if (form.shape.bLayout != MatMulShape::BLayout::Packed)
      return plan;
    plan.name = "matmul-packed";
    if (product.stages() > 1)
      plan.stages.assign(product.stages(),
                         {product.tasks(), product.flops() / product.stages()});
    plan.packings[inputIndex(op.getRhs())] = {
        uint64_t(product.packedElements() * arithmetic.rhsBytes()),
        [form = form, product = product](const Tensor &weights,
                                         std::byte *packed) {
          product.pack(weights.data(), form.packedKStride, form.packedNStride,
                       packed);
        }};
    return plan;
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    size_t inputs = kernel.getInputs().size();
    Value scratch = product.scratchElements() ? memory[inputs + 1] : Value();
    MatMulEpilogue epilogue;
    if (hasEpilogue())
      epilogue = [this, memory](OpBuilder &builder, Location location,
                                Value vector, const MatMulPosition &at) {
        return epilogueAt(
            builder, location, vector, at.offset,
            [&](KernelBuilder &e) { return placeOf(e, at); }, memory);
      };
    epilogue.isLong = hasLongEpilogue();
    product.build(builder, location, task, memory[inputIndex(op.getLhs())],
                  memory[inputIndex(op.getRhs())], memory[inputs], scratch,
                  epilogue, nullptr, static_cast<int64_t>(stage));
  }

private:
  MatMulShape shapeOfProduct() const {
    MatMulShape shape = form.shape;
    shape.holdsSums = tensorOf(yielded()).getElementType() ==
                      tensorOf(op.getResult()).getElementType();
    return shape;
  }

  /// Batch, row and column as a place in the product's result.
  SmallVector<Value> placeOf(KernelBuilder &e, const MatMulPosition &at) const {
    ArrayRef<int64_t> shape = tensorOf(op.getResult()).getShape();
    size_t batches =
        op.getDotDimensionNumbers().getLhsBatchingDimensions().size();
    SmallVector<Value> place;
    size_t next = 0;
    for (size_t i = 0; i < batches; ++i)
      place.push_back(shape[i] > 1 ? at.batch[next++] : e.index(0));
    // The row number, taken apart from the last dimension on.
    SmallVector<Value> rows;
    Value rest = at.row;
    for (size_t i = shape.size() - 1; i-- > batches;) {
      bool isFirst = i == batches;
      rows.push_back(isFirst ? rest : e.rem(rest, shape[i]));
      rest = e.div(rest, shape[i]);
    }
    place.append(rows.rbegin(), rows.rend());
    place.push_back(at.column);
    return place;
  }

  mutable stablehlo::DotGeneralOp op;
  MatMulForm form;
  Arithmetic arithmetic;
  MatMul product;
};

} // namespace

std::unique_ptr<AnchorKernel>
cpu::createMatMulKernel(KernelOp kernel, stablehlo::DotGeneralOp op,
                        const Target &target) {
  return std::make_unique<MatMulKernel>(kernel, op, target);
}
