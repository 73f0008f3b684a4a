// Constraints of deprecated operations and of random number generators.

#include "graph/stablehlo/Einsum.h"
#include "graph/stablehlo/Verify.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::stablehlo {

SmallVector<int64_t, 2> ranksOf(ValueRange values) {
  return llvm::map_to_vector<2>(
      values, [](Value value) { return tensorOf(value).getRank(); });
}

/// Expands `...` in `a...b` to \p dimensions digits. Nothing if there is
/// anything but letters and dots.
static std::optional<std::string> spellOut(StringRef labels,
                                           int64_t dimensions) {
  auto areLetters = [](StringRef part) {
    return llvm::all_of(part, [](char c) { return llvm::isAlpha(c); });
  };
  auto [before, after] = labels.split("...");
  if (!areLetters(before) || !areLetters(after))
    return std::nullopt;
  std::string digits;
  if (before.size() != labels.size())
    for (int64_t i = dimensions; i-- > 0;)
      digits += static_cast<char>('0' + i);
  return before.str() + digits + after.str();
}

std::optional<Einsum> parseEinsum(StringRef text, ArrayRef<int64_t> ranks) {
  constexpr StringLiteral dots = "...";
  constexpr int64_t mostDigits = 10;
  auto [inputs, output] = text.split("->");
  SmallVector<StringRef, 2> operands;
  inputs.split(operands, ',');
  if (!text.contains("->") || operands.size() != ranks.size())
    return std::nullopt;
  Einsum einsum;
  int64_t most = 0;
  for (auto [labels, rank] : llvm::zip_equal(operands, ranks)) {
    labels = labels.trim();
    int64_t meant = 0;
    if (labels.contains(dots))
      meant = rank - static_cast<int64_t>(labels.size() - dots.size());
    if (meant < 0 || meant > mostDigits)
      return std::nullopt;
    std::optional<std::string> spelt = spellOut(labels, meant);
    if (!spelt)
      return std::nullopt;
    einsum.operands.push_back(*spelt);
    most = std::max(most, meant);
  }
  if (most > 0 && !output.contains(dots))
    return std::nullopt;
  std::optional<std::string> result = spellOut(output.trim(), most);
  if (!result)
    return std::nullopt;
  einsum.result = *result;
  for (char label : einsum.result)
    if (StringRef(einsum.result).count(label) != 1 ||
        llvm::none_of(einsum.operands,
                      [&](StringRef each) { return each.contains(label); }))
      return std::nullopt;
  return einsum;
}

static LogicalResult verifyEinsum(Operation *op, StringRef config) {
  std::optional<Einsum> einsum =
      parseEinsum(config, ranksOf(op->getOperands()));
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
