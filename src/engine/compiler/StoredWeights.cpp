#include "engine/compiler/StoredWeights.h"

#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Quantized.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter {

/// The named constant whose elements \p op dequantises; null for other
/// operands.
static stablehlo::ConstantOp elementsOf(stablehlo::UniformDequantizeOp op) {
  Value elements = op.getOperand();
  if (auto cast = elements.getDefiningOp<stablehlo::BitcastConvertOp>())
    elements = cast.getOperand();
  auto constant = elements.getDefiningOp<stablehlo::ConstantOp>();
  return constant && !constantName(constant.getResult()).empty()
             ? constant
             : stablehlo::ConstantOp();
}

/// All uses of \p constant, if they are dequantisations to one type.
static SmallVector<stablehlo::UniformDequantizeOp>
readersOf(stablehlo::ConstantOp constant) {
  SmallVector<stablehlo::UniformDequantizeOp> readers;
  SmallVector<Operation *> open(constant->getUsers());
  while (!open.empty()) {
    Operation *user = open.pop_back_val();
    if (isa<stablehlo::BitcastConvertOp>(user)) {
      llvm::append_range(open, user->getUsers());
      continue;
    }
    auto reader = dyn_cast<stablehlo::UniformDequantizeOp>(user);
    if (!reader ||
        (!readers.empty() && (reader.getOperand().getType() !=
                                  readers.front().getOperand().getType() ||
                              reader.getType() != readers.front().getType())))
      return {};
    readers.push_back(reader);
  }
  return readers;
}

/// Replaces \p constant by its float values for \p readers.
static std::optional<StoredWeight>
expand(stablehlo::ConstantOp constant,
       ArrayRef<stablehlo::UniformDequantizeOp> readers) {
  stablehlo::UniformDequantizeOp first = readers.front();
  const Type stored = first.getOperand().getType();
  const auto real = cast<RankedTensorType>(first.getType());
  quant::QuantizedType type = quantizedOf(stored);
  std::optional<QuantizationParameters> parameters = parametersOf(type);
  std::optional<Tensor> elements = constantTensor(constant.getResult());
  if (!parameters || !elements || real.getRank() == 0 ||
      !real.getElementType().isF32() ||
      cast<RankedTensorType>(stored).getShape() !=
          cast<RankedTensorType>(constant.getType()).getShape())
    return std::nullopt;
  Result<Tensor> numbers = interpreter::dequantized(*elements, stored);
  if (!numbers)
    return std::nullopt;
  OpBuilder builder(constant);
  builder.setInsertionPointAfter(constant);
  const std::string name = constantName(constant.getResult()).str();
  Value weight = makeConstant(builder, constant.getLoc(), *numbers, name);
  Value rounded =
      parameters->isSymmetric()
          ? builder
                .create<stablehlo::UniformQuantizeOp>(constant.getLoc(), stored,
                                                      weight)
                .getResult()
          : builder.create<nn::QuantizeOp>(constant.getLoc(), stored, weight)
                .getResult();
  for (stablehlo::UniformDequantizeOp reader : readers)
    reader.getOperandMutable().assign(rounded);
  return StoredWeight{type.getStorageTypeIntegralWidth(), !type.isSigned(),
                      *parameters, boundsOf(type)};
}

/// Removes dead code, the arithmetic of roundings that became one operation,
/// except constants.
static void eraseUnread(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op) && !isa<stablehlo::ConstantOp>(op))
      op.erase();
}

StoredWeights expandStoredWeights(Model &model) {
  eraseUnread(model.entry().front());
  // Raising may have left another copy for uses of plain integers.
  llvm::StringMap<unsigned> copies;
  for (auto constant : model.entry().front().getOps<stablehlo::ConstantOp>())
    if (!constant->use_empty())
      ++copies[constantName(constant.getResult())];
  StoredWeights weights;
  for (auto constant : llvm::make_early_inc_range(
           model.entry().front().getOps<stablehlo::ConstantOp>())) {
    const StringRef name = constantName(constant.getResult());
    if (name.empty() || copies.lookup(name) != 1 ||
        !isa<IntegerType, quant::QuantizedType>(
            tensorOf(constant).getElementType()))
      continue;
    SmallVector<stablehlo::UniformDequantizeOp> readers = readersOf(constant);
    if (readers.empty())
      continue;
    if (std::optional<StoredWeight> weight = expand(constant, readers))
      weights[name] = std::move(*weight);
  }
  return weights;
}

std::vector<std::string> integerWeights(Model &model) {
  llvm::SetVector<StringRef> names;
  model.entry().walk([&](stablehlo::UniformDequantizeOp op) {
    if (stablehlo::ConstantOp constant = elementsOf(op))
      names.insert(constantName(constant.getResult()));
  });
  return {names.begin(), names.end()};
}

Result<Tensor> elementsOf(const StoredWeight &weight, const Tensor &numbers,
                          MLIRContext *context) {
  auto storage = IntegerType::get(context, weight.bits,
                                  weight.isUnsigned ? IntegerType::Unsigned
                                                    : IntegerType::Signless);
  quant::QuantizedType type = quantizedElement(
      storage, Float32Type::get(context), weight.parameters, weight.bounds);
  return interpreter::quantized(numbers,
                                RankedTensorType::get(numbers.shape(), type),
                                /*roundsFirst=*/true);
}

} // namespace sinter
