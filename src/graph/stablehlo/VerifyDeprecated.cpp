// Constraints of operations that others have replaced, and of random numbers.

#include "graph/stablehlo/Einsum.h"
#include "graph/stablehlo/Verify.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::stablehlo {

std::optional<Einsum> parseEinsum(StringRef text, size_t count) {
  auto [operands, result] = text.split("->");
  Einsum einsum;
  operands.split(einsum.operands, ',');
  einsum.result = result.trim();
  auto areLetters = [](StringRef labels) {
    return llvm::all_of(labels, [](char c) { return llvm::isAlpha(c); });
  };
  for (StringRef &labels : einsum.operands)
    labels = labels.trim();
  if (!text.contains("->") || einsum.operands.size() != count ||
      !llvm::all_of(einsum.operands, areLetters) || !areLetters(einsum.result))
    return std::nullopt;
  for (char label : einsum.result)
    if (einsum.result.count(label) != 1 ||
        llvm::none_of(einsum.operands,
                      [&](StringRef each) { return each.contains(label); }))
      return std::nullopt;
  return einsum;
}

static LogicalResult verifyEinsum(Operation *op, StringRef config) {
  std::optional<Einsum> einsum = parseEinsum(config, op->getNumOperands());
  if (!einsum)
    return op->emitOpError("cannot understand the einsum '") << config << "'";
  llvm::SmallDenseMap<char, int64_t> sizes;
  auto check = [&](Value value, StringRef labels) -> LogicalResult {
    auto type = tensorOf(value);
    if (type.getRank() != static_cast<int64_t>(labels.size()))
      return op->emitOpError("has '") << labels << "' for " << type;
    for (auto [label, size] : llvm::zip_equal(labels, type.getShape())) {
      if (ShapedType::isDynamic(size))
        continue;
      auto [known, isNew] = sizes.try_emplace(label, size);
      if (!isNew && known->second != size)
        return op->emitOpError("has sizes ")
               << known->second << " and " << size << " for '"
               << StringRef(&label, 1) << "'";
    }
    return success();
  };
  for (auto [operand, labels] :
       llvm::zip_equal(op->getOperands(), einsum->operands))
    if (failed(check(operand, labels)))
      return failure();
  return check(op->getResult(0), einsum->result);
}

LogicalResult EinsumOp::verify() {
  return verifyEinsum(*this, getEinsumConfig());
}

LogicalResult UnaryEinsumOp::verify() {
  return verifyEinsum(*this, getEinsumConfig());
}

LogicalResult TorchIndexSelectOp::verify() {
  auto operand = tensorOf(getOperand()), index = tensorOf(getIndex());
  int64_t rank = operand.getRank(), dim = getDim(), batch = getBatchDims();
  if (dim < -rank || dim >= rank)
    return emitOpError("dim is not a dimension of the operand");
  dim += dim < 0 ? rank : 0;
  if (batch < 0 || batch > dim || batch > index.getRank())
    return emitOpError("batch_dims is not at most dim and the rank of index");
  if (!index.getElementType().isIntOrIndex())
    return emitOpError("index is not a tensor of integers");
  for (int64_t i = 0; i < batch; ++i)
    if (differ(operand.getDimSize(i), index.getDimSize(i)))
      return emitOpError("operand and index differ in batch dimension ") << i;
  SmallVector<int64_t> shape(operand.getShape().take_front(dim));
  llvm::append_range(shape, index.getShape().drop_front(batch));
  llvm::append_range(shape, operand.getShape().drop_front(dim + 1));
  if (failed(verifyCompatibleShape(shape, tensorOf(getResult()).getShape())))
    return emitOpError("the result's shape does not follow from the operands'");
  return success();
}

LogicalResult RngBitGeneratorOp::verify() {
  if (!compatibleTypes(getInitialState().getType(), getOutputState().getType()))
    return emitOpError("(C1) output_state differs from initial_state in type");
  auto state = tensorOf(getInitialState());
  bool isPhilox = getRngAlgorithm() == RngAlgorithm::PHILOX;
  if (getRngAlgorithm() == RngAlgorithm::DEFAULT || state.getRank() != 1 ||
      state.isDynamicDim(0))
    return success();
  int64_t size = state.getDimSize(0);
  if (size != 2 && !(isPhilox && size == 3))
    return emitOpError("(C2) initial_state has ")
           << size << " elements instead of 2" << (isPhilox ? " or 3" : "");
  return success();
}

} // namespace sinter::stablehlo
