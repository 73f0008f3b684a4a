//===- CpuDialect.cpp - the CPU backend's own operations ------------------===//

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/ElementalOp.h"
#include "backend/cpu/ir/TreeOps.h"
#include "graph/Dim.h"

using namespace mlir;
using namespace sinter::cpu;

#include "backend/cpu/ir/CpuDialect.cpp.inc"

#include "backend/cpu/ir/ElementalOp.cpp.inc"

#define GET_OP_CLASSES
#include "backend/cpu/ir/CpuOps.cpp.inc"

void CpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "backend/cpu/ir/CpuOps.cpp.inc"
      >();
  addOperations<TreeEnsembleOp>();
}

void HostCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getPure())
    effects.emplace_back(MemoryEffects::Write::get());
}

void DefineSizesOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}

/// What \p type has as many elements as: the product of the static sizes, and
/// the keys of the others.
static std::pair<sinter::Dim, SmallVector<uint64_t>>
countOf(RankedTensorType type) {
  std::pair<sinter::Dim, SmallVector<uint64_t>> count = {1, {}};
  for (sinter::Dim size : sinter::dimsOf(type))
    if (size.isDynamic())
      count.second.push_back(size.key());
    else
      count.first *= size;
  llvm::sort(count.second);
  return count;
}

/// Whether \p inner is \p outer, perhaps in another shape.
static bool isSameMemory(Type outer, Type inner) {
  auto a = cast<RankedTensorType>(outer), b = cast<RankedTensorType>(inner);
  if (sinter::hasNamedSizes(a) && sinter::hasNamedSizes(b))
    return a.getElementType() == b.getElementType() && countOf(a) == countOf(b);
  return a.hasStaticShape() && b.hasStaticShape() &&
         a.getElementType() == b.getElementType() &&
         a.getNumElements() == b.getNumElements();
}

Operation *KernelOp::rootOp() {
  return getBody().front().getTerminator()->getOperand(0).getDefiningOp();
}

namespace {

/// Writes operations as bytes that are the same where their text would be,
/// which takes a tenth of the time: names, types and attributes are unique in
/// their context, so that addresses tell them apart. Locations are left out.
class StructureWriter {
public:
  explicit StructureWriter(std::string &bytes) : bytes(bytes) {}

  /// \p op, whose operands are values that were written, or stand outside.
  void write(Operation *op) {
    address(op->getName().getAsOpaquePointer());
    address(op->getAttrDictionary().getAsOpaquePointer());
    count(op->getNumOperands());
    for (Value operand : op->getOperands()) {
      count(numbers.lookup(operand));
      address(operand.getType().getAsOpaquePointer());
    }
    define(op->getResults());
    count(op->getNumRegions());
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        define(block.getArguments());
        for (Operation &inside : block)
          write(&inside);
      }
  }

private:
  void define(ValueRange values) {
    count(values.size());
    for (Value value : values) {
      numbers[value] = unsigned(numbers.size()) + 1;
      address(value.getType().getAsOpaquePointer());
    }
  }
  void count(size_t number) { append(static_cast<uint32_t>(number)); }
  void address(const void *each) { append(each); }
  template <typename T> void append(T each) {
    bytes.append(reinterpret_cast<const char *>(&each), sizeof(each));
  }

  std::string &bytes;
  llvm::DenseMap<Value, unsigned> numbers;
};

} // namespace

std::string KernelOp::structure() {
  std::string bytes;
  StructureWriter(bytes).write(*this);
  return bytes;
}

/// Whether what \p op says of its inputs and results is of some that it has.
bool KernelOp::readsWhereItWrites(unsigned input) {
  Block &body = getBody().front();
  const Value result = body.getTerminator()->getOperand(0);
  auto isElementwise = [](Operation *op) {
    auto elemental = dyn_cast_or_null<ElementalOpInterface>(op);
    return elemental && elemental.kind() == Kind::Elementwise &&
           op->getNumRegions() == 0;
  };
  if (getNumResults() != 1 || getRows() ||
      body.getArgument(input).getType() != result.getType() ||
      !isElementwise(rootOp()))
    return false;
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    // What is repeated is smaller: the same elements may be in other places.
    if (auto repeat = dyn_cast<sinter::stablehlo::BroadcastInDimOp>(op))
      return dimsOf(repeat.getOperand()) != dimsOf(result);
    return isElementwise(&op) || isa<sinter::stablehlo::ConstantOp>(op);
  });
}

static LogicalResult verifyMarks(KernelOp op) {
  const auto inputs = static_cast<int64_t>(op.getInputs().size());
  auto isInput = [&](int64_t i) { return i >= 0 && i < inputs; };
  if (std::optional<ArrayRef<int64_t>> constants = op.getConstantInputs()) {
    for (int64_t i : *constants)
      if (!isInput(i))
        return op.emitOpError("says that input ")
               << i << " is constant, and has " << inputs << " inputs";
    for (size_t i = 1; i < constants->size(); ++i)
      if ((*constants)[i - 1] >= (*constants)[i])
        return op.emitOpError("does not name its constant inputs in order");
  }
  Block &body = op.getBody().front();
  Value result = body.getTerminator()->getOperand(0);
  if (op.getRows()) {
    const auto rows = static_cast<int64_t>(*op.getRows());
    const int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    if (rows < 0 || rows > rank)
      return op.emitOpError("says that ")
             << rows << " dimensions number rows, and yields " << rank;
  }
  if (!op.getUpdated())
    return success();
  const auto updated = static_cast<int64_t>(*op.getUpdated());
  if (!isInput(updated))
    return op.emitOpError("says that it updates input ")
           << updated << ", and has " << inputs << " inputs";
  if (!isSameMemory(op.getInputs()[updated].getType(),
                    op.getResult(0).getType()))
    return op.emitOpError("updates ")
           << op.getInputs()[updated].getType() << " and gives "
           << op.getResult(0).getType();
  Operation *root = op.rootOp();
  BlockArgument memory = body.getArgument(updated);
  // Elements are replaced that are not read, or each is read where it is
  // written.
  const bool hasNoElementUse =
      memory.hasOneUse() && root && *memory.user_begin() == root;
  if (!hasNoElementUse && !op.readsWhereItWrites(updated))
    return op.emitOpError("updates an input that it reads besides");
  return success();
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  Operation *yield = block.getTerminator();
  if (!isa<YieldOp>(yield))
    return emitOpError("must end with cpu.yield");
  if (getNumResults() == 0)
    return emitOpError("has no results");
  if (block.getNumArguments() != getInputs().size() ||
      yield->getNumOperands() != getNumResults())
    return emitOpError("has ")
           << getInputs().size() << " inputs and " << getNumResults()
           << " results, and its region others";
  for (auto [input, argument] : llvm::zip(getInputs(), block.getArguments()))
    if (!isSameMemory(input.getType(), argument.getType()))
      return emitOpError("sees input ")
             << input.getType() << " as " << argument.getType();
  for (auto [result, value] : llvm::zip(getResults(), yield->getOperands()))
    if (!isSameMemory(result.getType(), value.getType()))
      return emitOpError("yields ")
             << value.getType() << " as " << result.getType();
  return verifyMarks(*this);
}
