#include "passes/FoldConstants.h"

#include "graph/Constants.h"
#include "graph/Literals.h"
#include "graph/Model.h"
#include "graph/Quantization.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/Pass.h"
#include "passes/WidenedWeights.h"
#include "runtime/MappedPages.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static constexpr StringLiteral foldConstantLabel = "fold-constant";

ArrayRef<PatternInfo> foldConstantsPatterns() {
  static const PatternInfo infos[] = {{foldConstantLabel,
                                       "add(constant, constant) -> constant",
                                       "fold-constants"}};
  return infos;
}

static int64_t bytesOf(TypeRange types) {
  int64_t sum = 0;
  for (Type each : types) {
    auto type = dyn_cast<RankedTensorType>(each);
    quant::QuantizedType quantized = quantizedOf(each);
    std::optional<ElementType> element =
        type && type.hasStaticShape()
            ? elementTypeOf(quantized ? Type(storageOf(quantized))
                                      : type.getElementType())
            : std::nullopt;
    std::optional<int64_t> bytes =
        element ? byteCount(*element, type.getShape()) : std::nullopt;
    if (!bytes || llvm::AddOverflow(sum, *bytes, sum))
      return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

/// A broadcast or an iota: cheaper to run than to store.
static bool isRepetition(Operation *op) {
  return isa<BroadcastInDimOp, IotaOp>(op);
}

/// A constant, or a broadcast of one.
static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<ConstantOp>(op) ||
                (isRepetition(op) &&
                 llvm::all_of(op->getOperands(), [](Value operand) {
                   return isa_and_nonnull<ConstantOp>(operand.getDefiningOp());
                 })));
}

/// Whether the operation's regions use nothing from outside but constants.
static bool usesNothingOutside(Operation *op) {
  bool inside = true;
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(region, region, [&](OpOperand *operand) {
      inside &= isa_and_nonnull<ConstantOp>(operand->get().getDefiningOp());
    });
  return inside;
}

/// Whether the operation's value follows from constants.
static bool dependsOnConstantsOnly(Operation *op) {
  // A barrier must not be folded: it prevents computation across it.
  if (isa<ConstantOp, OptimizationBarrierOp>(op) || op->getNumResults() == 0 ||
      op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op) ||
      !canEvaluate(op))
    return false;
  return llvm::all_of(op->getOperands(), isConstant) && usesNothingOutside(op);
}

/// Whether \p value is dead once its users are folded, and these are together
/// no larger: the slices of a weight, for example.
static bool isReplacedByUsers(Value value) {
  int64_t sum = 0;
  for (Operation *user : value.getUsers())
    if (!dependsOnConstantsOnly(user) ||
        llvm::AddOverflow(sum, bytesOf(user->getResultTypes()), sum))
      return false;
  return sum <= bytesOf(value.getType());
}

static bool isSmallEnough(Operation *op, int64_t byteLimit) {
  if (isRepetition(op)) {
    // A few integers are a shape or indices; equal elements are stored once.
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    bool isEqual =
        op->getNumOperands() == 1 &&
        cast<RankedTensorType>(op->getOperand(0).getType()).getRank() == 0;
    return (type.getElementType().isIntOrIndex() || isEqual) &&
           type.hasStaticShape() &&
           type.getNumElements() <= largestDenseConstant;
  }
  int64_t bytes = bytesOf(op->getResultTypes());
  if (bytes <= byteLimit)
    return true;
  // A broadcast is no larger than its operand.
  SmallVector<Type> kept;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (isRepetition(source))
      llvm::append_range(kept, source->getOperandTypes());
    else
      kept.push_back(operand.getType());
  }
  return bytes <= bytesOf(kept) &&
         llvm::all_of(op->getOperands(), [](Value value) {
           return value.hasOneUse() || isReplacedByUsers(value);
         });
}

/// The groups with an operation that will not become constant, and those that
/// are to stay.
static llvm::DenseSet<int64_t> lastingGroups(ModuleOp module,
                                             const WholeNodes &whole) {
  llvm::DenseSet<int64_t> lasting;
  llvm::DenseSet<Value> constant;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool known =
        isa<ConstantOp>(op) ||
        (op->getNumResults() && !whole.lasts(op) && isMemoryEffectFree(op) &&
         canEvaluate(op) && usesNothingOutside(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value value) { return constant.contains(value); }));
    const std::optional<int64_t> group = sourceOf(op);
    // Operations of a loop's condition go when the loop does.
    const bool isHeld = group && sourceOf(op->getParentOp()) == group;
    if (known)
      constant.insert(op->result_begin(), op->result_end());
    else if (group && !isHeld)
      lasting.insert(*group);
  });
  return lasting;
}

/// The name that the result of \p op inherits from its only weight.
static StringRef inheritedName(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      !op->getOperand(0).hasOneUse() ||
      !isa<ReshapeOp, TransposeOp, ReverseOp, ConvertOp>(op))
    return "";
  return constantName(op->getOperand(0));
}

/// The element that all elements of \p value are equal to, as a tensor of rank
/// 0.
static std::optional<Tensor> equalElement(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant
                   ? dyn_cast<DenseIntOrFPElementsAttr>(constant.getValue())
                   : DenseIntOrFPElementsAttr();
  if (!dense || !dense.isSplat())
    return std::nullopt;
  return toTensor(
      dense.resizeSplat(dense.getType().clone(ArrayRef<int64_t>())));
}

/// The element that all elements of \p op's result are equal to, for an
/// elementwise operation on splats: however large these are, one element is
/// computed.
static std::optional<Tensor> equalResult(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
      op->getNumRegions() != 0 || op->getNumOperands() == 0)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() < 2 ||
      !isa<FloatType, IntegerType>(type.getElementType()))
    return std::nullopt;
  SmallVector<Tensor> numbers;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> number = equalElement(operand);
    if (!number)
      return std::nullopt;
    numbers.push_back(std::move(*number));
  }
  OpBuilder builder(op);
  IRMapping mapping;
  SmallVector<Operation *> made;
  for (auto [operand, number] : llvm::zip_equal(op->getOperands(), numbers)) {
    Value constant = makeConstant(builder, op->getLoc(), number);
    made.push_back(constant.getDefiningOp());
    mapping.map(operand, constant);
  }
  made.push_back(builder.clone(*op, mapping));
  made.back()->getResult(0).setType(type.clone(ArrayRef<int64_t>()));
  Result<std::vector<Tensor>> results = evaluate(made.back(), numbers);
  for (Operation *each : llvm::reverse(made))
    each->erase();
  if (!results || tensorTypeOf(results->front().type(), type.getShape(),
                               op->getContext()) != type)
    return std::nullopt;
  return std::move(results->front());
}

/// The type of the storage elements of \p result, if it only moves elements of
/// quantised constants; null for other quantised types; the type itself if it
/// is not quantised.
static Type typeOfElements(OpResult result) {
  if (!quantizedOf(result.getType()))
    return result.getType();
  Operation *op = result.getOwner();
  const bool areMoved =
      op->hasTrait<traits::MovesElements>() && op->getNumResults() == 1 &&
      quantizedOf(result.getType()).getStorageTypeIntegralWidth() < 32 &&
      llvm::all_of(
          op->getOperands(),
          [](Value operand) { return bool(quantizedOf(operand.getType())); });
  return areMoved ? Type(storageOf(tensorOf(result))) : Type();
}

/// A constant of \p elements in place of \p result. Quantised elements of one
/// constant keep its storedAsAttribute.
static Value constantFor(OpBuilder &builder, OpResult result,
                         const Tensor &elements, StringRef name) {
  Operation *op = result.getOwner();
  if (!quantizedOf(result.getType()))
    return makeConstant(builder, op->getLoc(), elements, name);
  auto constant =
      builder.create<ConstantOp>(op->getLoc(), result.getType(),
                                 toAttribute(elements, name, op->getContext()));
  if (!name.empty())
    constant->setAttr(nameAttribute, builder.getStringAttr(name));
  Value before = op->getOperand(0);
  quant::QuantizedType stored = storedAs(before);
  if (auto shift = stored ? shiftBetween(quantizedOf(before.getType()), stored)
                          : std::nullopt;
      shift && op->getNumOperands() == 1)
    if (auto moved =
            movedBy(quantizedOf(result.getType()), storageOf(stored), *shift))
      constant->setDiscardableAttr(storedAsAttribute, TypeAttr::get(moved));
  return constant;
}

/// Whether \p op, of the elements of a constant that a broadcast repeats, was
/// replaced by a broadcast of its value for each of these.
static bool foldBeforeBroadcast(Operation *op, PatternRun &run) {
  auto repeated = op->getNumOperands() == 1
                      ? op->getOperand(0).getDefiningOp<BroadcastInDimOp>()
                      : BroadcastInDimOp();
  if (!repeated || !op->hasTrait<OpTrait::Elementwise>() ||
      op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  auto from = dyn_cast<RankedTensorType>(repeated.getOperand().getType()),
       to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape() ||
      from.getNumElements() >= to.getNumElements() ||
      !isa<FloatType, IntegerType>(to.getElementType()))
    return false;
  std::optional<Tensor> elements = constantTensor(repeated.getOperand());
  if (!elements)
    return false;
  const auto type = from.clone(to.getElementType());
  IRMapping mapping;
  mapping.map(op->getOperand(0), repeated.getOperand());
  OwningOpRef<Operation *> ofEach = op->clone(mapping);
  ofEach->getResult(0).setType(type);
  Result<std::vector<Tensor>> results = evaluate(*ofEach, {*elements});
  if (!results ||
      tensorTypeOf(results->front().type(), results->front().shape(),
                   op->getContext()) != type)
    return false;
  OpBuilder builder(op);
  Value each = makeConstant(builder, op->getLoc(), results->front());
  Value result = builder.create<BroadcastInDimOp>(
      op->getLoc(), to, each, repeated.getBroadcastDimensions());
  run.replaced(foldConstantLabel, op->getResult(0), result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

/// Whether \p op was replaced by its value, or with \p mayRepeat by one that is
/// repeated.
static bool foldOne(Operation *op, PatternRun &run, bool mayRepeat) {
  if (std::optional<Tensor> number = equalResult(op)) {
    OpBuilder builder(op);
    Value result = op->getResult(0);
    auto attribute = toDenseAttribute(*number, op->getContext())
                         .resizeSplat(cast<RankedTensorType>(result.getType()));
    Value constant =
        builder.create<ConstantOp>(op->getLoc(), result.getType(), attribute);
    run.replaced(foldConstantLabel, result, constant);
    result.replaceAllUsesWith(constant);
    op->erase();
    return true;
  }
  if (mayRepeat && foldBeforeBroadcast(op, run))
    return true;
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> tensor = constantValue(operand);
    if (!tensor)
      return false;
    operands.push_back(std::move(*tensor));
  }
  // Errors are left to be reported at run time.
  Result<std::vector<Tensor>> results = evaluate(op, operands);
  if (!results)
    return false;
  // A weight in a mapped file is hardly used again.
  for (const Tensor &operand : operands)
    releasePages({operand.data(), operand.bytes()});
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), *results))
    if (typeOfElements(result) !=
        tensorTypeOf(tensor.type(), tensor.shape(), op->getContext()))
      return false;
  OpBuilder builder(op);
  StringRef name = inheritedName(op);
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), *results)) {
    Value constant = constantFor(builder, result, tensor, name);
    if (!name.empty() && isLiteral(op->getOperand(0).getDefiningOp()))
      setLiteral(constant.getDefiningOp());
    run.replaced(foldConstantLabel, result, constant);
    result.replaceAllUsesWith(constant);
  }
  op->erase();
  return true;
}

/// Whether \p op converts integers of 8 bits or less, booleans excepted.
static bool widensBytes(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  auto from = convert ? dyn_cast<IntegerType>(
                            tensorOf(convert.getOperand()).getElementType())
                      : IntegerType();
  return from && from.getWidth() > 1 && from.getWidth() <= 8;
}

/// Whether every use of \p value, or of a broadcast of it, adds it to something
/// that is not constant.
static bool isAdded(Value value) {
  constexpr unsigned mostSteps = 3;
  SmallVector<std::pair<Value, unsigned>> values = {{value, mostSteps}};
  while (!values.empty()) {
    auto [each, left] = values.pop_back_val();
    for (OpOperand &use : each.getUses()) {
      Operation *user = use.getOwner();
      if (isa<AddOp>(user) &&
          !isConstant(user->getOperand(1 - use.getOperandNumber())))
        continue;
      if (left == 0 || use.getOperandNumber() != 0 ||
          !isa<BroadcastInDimOp, DynamicBroadcastInDimOp, nn::BroadcastLikeOp,
               ReshapeOp>(user))
        return false;
      values.push_back({user->getResult(0), left - 1});
    }
  }
  return !value.use_empty();
}

/// Whether \p op converts the 32-bit integers of a bias, which a product adds
/// to its accumulators: the factor behind that is their scale.
static bool widensBias(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  return convert && isFloatTensor(convert) &&
         tensorOf(convert.getOperand())
             .getElementType()
             .isSignlessInteger(32) &&
         !convert->use_empty() &&
         llvm::all_of(convert->getUses(), [](OpOperand &use) {
           auto scaled = dyn_cast<MulOp>(use.getOwner());
           return scaled &&
                  isConstant(scaled->getOperand(1 - use.getOperandNumber())) &&
                  isAdded(scaled);
         });
}

bool foldConstants(ModuleOp module, int64_t byteLimit, PatternRun &run) {
  if (!run.isEnabled(foldConstantLabel))
    return false;
  const WholeNodes whole(module);
  llvm::DenseSet<int64_t> lasting = lastingGroups(module, whole);
  SmallVector<Operation *> candidates;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<ConstantOp>(op))
      candidates.push_back(op);
  });
  bool changed = false;
  llvm::DenseSet<Operation *> erased;
  for (Operation *op : candidates) {
    if (!run.mayStep())
      break;
    // Dead operations need not be computed.
    if (erased.contains(op) || op->use_empty())
      continue;
    const std::optional<int64_t> group = sourceOf(op);
    // Where nothing is exported, only what is large stays in its node.
    const bool staysInGroup =
        group && lasting.contains(*group) &&
        (whole.areKept() || bytesOf(op->getResultTypes()) > byteLimit);
    if (staysInGroup || (!group && whole.contains(op)) ||
        ((run.keepsQuantizedConstants || whole.areKept()) &&
         isa<UniformDequantizeOp>(op)) ||
        (run.keepsQuantizedConstants && widensWeight(op)) ||
        widensByteWeight(op) ||
        (run.keepsBytes &&
         (isa<UniformDequantizeOp>(op) || widensBytes(op) || widensBias(op))) ||
        !dependsOnConstantsOnly(op) || !isSmallEnough(op, byteLimit))
      continue;
    SmallVector<Operation *> inside;
    op->walk([&](Operation *each) { inside.push_back(each); });
    if (!foldOne(op, run, !whole.areKept()))
      continue;
    erased.insert(inside.begin(), inside.end());
    run.count(foldConstantLabel);
    run.graphIsWhole(foldConstantLabel);
    changed = true;
  }
  return changed;
}

namespace {
struct FoldConstants : LabelledPass<FoldConstants> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldConstants)
  FoldConstants(std::shared_ptr<PatternRun> run, int64_t limit)
      : LabelledPass(std::move(run)) {
    byteLimit = limit;
  }
  FoldConstants(const FoldConstants &other) : LabelledPass(other) {}
  StringRef getArgument() const final { return "fold-constants"; }
  StringRef getDescription() const final { return "Fold constants"; }
  void runOnOperation() final {
    foldConstants(getOperation(), byteLimit, patternRun());
  }
  Option<int64_t> byteLimit{
      *this, "byte-limit", llvm::cl::init(defaultConstantByteLimit),
      llvm::cl::desc("Largest constant made of smaller ones")};
};
} // namespace

std::unique_ptr<Pass> createFoldConstants(std::shared_ptr<PatternRun> run,
                                          int64_t byteLimit) {
  return std::make_unique<FoldConstants>(std::move(run), byteLimit);
}

} // namespace sinter
