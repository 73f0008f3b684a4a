//===- MatMulKernel.cpp - kernels of matrix products ----------------------===//

#include "backend/cpu/emit/MatMulKernel.h"

#include "backend/cpu/emit/KernelBuilder.h"
#include "backend/cpu/emit/MatMulForm.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// What the generator multiplies. Another arithmetic is another row.
static constexpr Arithmetic arithmetics[] = {
    {ElementType::F32, ElementType::F32}, {ElementType::F64, ElementType::F64}};

/// That of \p op; nothing if there is none.
static std::optional<Arithmetic> arithmeticOf(stablehlo::DotGeneralOp op) {
  auto typeOf = [](Value value) {
    return elementTypeOf(tensorOf(value).getElementType());
  };
  for (const Arithmetic &arithmetic : arithmetics)
    if (typeOf(op.getLhs()) == arithmetic.operand &&
        typeOf(op.getRhs()) == arithmetic.operand &&
        typeOf(op.getResult()) == arithmetic.accumulator)
      return arithmetic;
  return std::nullopt;
}

bool cpu::isMatMul(stablehlo::DotGeneralOp op) {
  return arithmeticOf(op) &&
         MatMulForm::of(op, /*hasConstantRhs=*/false).has_value();
}

namespace {

class MatMulKernel : public AnchorKernel {
public:
  MatMulKernel(KernelOp kernel, stablehlo::DotGeneralOp op,
               const Target &target)
      : AnchorKernel(kernel, op), op(op),
        form(*MatMulForm::of(op, isConstantInput(op.getRhs()))),
        arithmetic(*arithmeticOf(op)),
        product(shapeOfProduct(), target, arithmetic) {}

  KernelPlan plan() const override {
    KernelPlan plan;
    plan.flops = product.flops();
    plan.tasks = product.tasks();
    plan.packings.resize(kernel.getInputs().size());
    plan.scratchBytes = product.scratchElements() * arithmetic.bytes();
    plan.scratchType = arithmetic.operand;
    plan.name = "matmul";
    if (form.shape.bLayout != MatMulShape::BLayout::Packed)
      return plan;
    plan.name = "matmul-packed";
    if (product.stages() > 1)
      plan.stages.assign(product.stages(),
                         {product.tasks(), product.flops() / product.stages()});
    plan.packings[inputIndex(op.getRhs())] = {
        uint64_t(product.packedElements() * arithmetic.bytes()),
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
