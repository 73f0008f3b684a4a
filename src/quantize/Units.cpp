//===- Units.cpp - the layers of a graph, as quantisation sees them -------===//

#include "quantize/Units.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Origin.h"
#include "graph/Quantization.h"
#include "graph/Source.h"
#include "graph/Types.h"
#include "graph/gradient/Gradient.h"
#include "graph/interfaces/Axes.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <set>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::quantize {

static bool isFloats(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Whether the operation only permutes the elements of its first operand.
static bool rearranges(Operation *op) {
  return isa<ReshapeOp, DynamicReshapeOp, TransposeOp>(op);
}

/// Whether an operation converts floats to another float type.
static bool changesFloatType(Operation *op) {
  return isa<ConvertOp>(op) && isFloats(op->getOperand(0)) &&
         isFloats(op->getResult(0));
}

/// The constant that \p value is, behind broadcasts, rearrangements and
/// conversions between floats; null for others.
static ConstantOp constantBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return constant;
    if (std::optional<Broadcast> repeated = Broadcast::of(value))
      value = repeated->operand;
    else if (rearranges(op) || changesFloatType(op))
      value = op->getOperand(0);
    else
      return {};
  }
  return {};
}

/// Whether \p value is a constant splat.
static bool isOneNumber(Value value) {
  ConstantOp constant = constantBehind(value);
  return constant && (tensorOf(constant.getResult()).getNumElements() == 1 ||
                      splatNumber(constant.getResult()));
}

/// Whether only the shape of an operand is used.
static bool usesShapeOnly(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<nn::ShapeOp>(op))
    return true;
  std::optional<Broadcast> repeated =
      op->getNumResults() == 1 ? Broadcast::of(op->getResult(0)) : std::nullopt;
  return repeated && repeated->operand != operand.get();
}

static bool isProduct(Operation *op) {
  return isa<ConvolutionOp, DotGeneralOp>(op);
}

/// If \p add adds a constant bias, one element a channel, to \p value, the
/// operand on the constant's side.
static OpOperand *biasOperand(AddOp add, Value value) {
  for (OpOperand &operand : add->getOpOperands()) {
    if (operand.get() == value)
      continue;
    ConstantOp constant = constantBehind(operand.get());
    if (!constant || !add->getResult(0).getType().isa<RankedTensorType>())
      return nullptr;
    const int64_t rank =
        llvm::count_if(tensorOf(constant.getResult()).getShape(),
                       [](int64_t size) { return size != 1; });
    return rank <= 1 ? &operand : nullptr;
  }
  return nullptr;
}

/// Whether an operation clamps to constant bounds.
static bool isClamp(Operation *op) {
  if (isa<nn::ReluOp>(op))
    return true;
  if (!isa<ClampOp, MaxOp, MinOp>(op))
    return false;
  const unsigned clamped = isa<ClampOp>(op) ? 1 : 0;
  for (OpOperand &operand : op->getOpOperands())
    if (operand.getOperandNumber() != clamped && !isOneNumber(operand.get()))
      return false;
  return true;
}

namespace {

using OperationsInFile = std::map<std::string, std::set<std::string>>;

/// Groups the operations of one block into units.
class UnitFinder {
public:
  UnitFinder(Block &block, Units &found, const OperationsInFile &inFile)
      : block(block), found(found), inFile(inFile) {}
  void run();

private:
  void joinSources();
  void joinParameters();
  void joinBiasesAndClamps();
  Value resultOf(Operation *leader) const;
  void describe(Unit &unit);
  void describeProduct(Unit &unit, Operation *product);
  void describeCore(Unit &unit, Operation *core);
  void sortOperands(Unit &unit);
  bool isInside(Unit &unit, Value value) const {
    Operation *op = value.getDefiningOp();
    return op && llvm::is_contained(unit.ops, op);
  }

  Block &block;
  Units &found;
  const OperationsInFile &inFile;
  llvm::EquivalenceClasses<Operation *> classes;
};

} // namespace

void UnitFinder::joinSources() {
  llvm::DenseMap<int64_t, Operation *> firstOf;
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    classes.insert(&op);
    if (std::optional<int64_t> source = sourceOf(&op)) {
      auto [found, isNew] = firstOf.try_emplace(*source, &op);
      if (!isNew)
        classes.unionSets(found->second, &op);
    }
  }
}

/// Adds broadcasts and rearrangements of constants, and shape computations, to
/// the unit of their only user; likewise broadcasts for elementwise operations.
void UnitFinder::joinParameters() {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (isa<ConstantOp>(op) || op.getNumResults() != 1 || op.use_empty())
      continue;
    Value result = op.getResult(0);
    const bool isParameter = constantBehind(result) != nullptr;
    const bool isSize = isa<RankedTensorType>(result.getType()) &&
                        !isFloats(result) && isPure(&op) &&
                        op.getNumRegions() == 0;
    const bool isRepeated = Broadcast::of(result).has_value();
    if (!isParameter && !isSize && !isRepeated)
      continue;
    Operation *user = *result.user_begin();
    if (user->getBlock() == &block &&
        !user->hasTrait<OpTrait::IsTerminator>() &&
        llvm::all_of(result.getUsers(),
                     [&](Operation *each) { return each == user; }))
      classes.unionSets(user, &op);
  }
}

/// The only value of a unit that is used outside of it.
Value UnitFinder::resultOf(Operation *leader) const {
  Value result;
  for (auto member = classes.findLeader(leader); member != classes.member_end();
       ++member)
    for (Value value : (*member)->getResults()) {
      const bool isRead = llvm::any_of(value.getUsers(), [&](Operation *user) {
        Operation *inBlock = block.findAncestorOpInBlock(*user);
        return inBlock != user || classes.findValue(user) == classes.end() ||
               classes.getLeaderValue(user) != classes.getLeaderValue(*member);
      });
      if (!isRead)
        continue;
      if (result)
        return {};
      result = value;
    }
  return result;
}

void UnitFinder::joinBiasesAndClamps() {
  const auto readBy = [&](Value value, Operation *op) {
    Operation *leader = classes.getLeaderValue(op);
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return user->getBlock() == &block &&
             classes.findValue(user) != classes.end() &&
             (classes.getLeaderValue(user) == leader ||
              classes.getLeaderValue(user) ==
                  classes.getLeaderValue(value.getDefiningOp()));
    });
  };
  // Operations that end up in a unit that computes, and does not only move
  // elements.
  llvm::DenseSet<Operation *> computing;
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op) || op.getNumResults() != 1 ||
        !isFloats(op.getResult(0)))
      continue;
    if (isProduct(&op)) {
      computing.insert(&op);
      continue;
    }
    if (auto add = dyn_cast<AddOp>(op))
      for (Value side : add->getOperands()) {
        Operation *made = side.getDefiningOp();
        if (!made || made->getBlock() != &block || isa<ConstantOp>(made))
          continue;
        Value result = resultOf(made);
        if (isProduct(made) && biasOperand(add, side) &&
            (result == side || !result) && readBy(side, add))
          classes.unionSets(made, add);
      }
    // Conversions of accumulators to the network's type, and clamps.
    if (isClamp(&op) || changesFloatType(&op)) {
      Value clamped = op.getOperand(isa<ClampOp>(op) ? 1 : 0);
      Operation *made = clamped.getDefiningOp();
      if (made && made->getBlock() == &block && computing.contains(made) &&
          resultOf(made) == clamped && readBy(clamped, &op)) {
        classes.unionSets(made, &op);
        computing.insert(&op);
      }
    }
    auto rescale = dyn_cast<RescaleOpInterface>(op);
    if (isClamp(&op) || (rescale && rescale.absorbsRescaleOfResult()))
      computing.insert(&op);
  }
}

void UnitFinder::run() {
  joinSources();
  joinParameters();
  joinBiasesAndClamps();
  // In the order of their last operations: users come after producers, wherever
  // the broadcasts of their constants are.
  llvm::DenseMap<Operation *, Operation *> lastOf;
  for (Operation &op : block.without_terminator())
    if (!isa<ConstantOp>(op))
      lastOf[classes.getLeaderValue(&op)] = &op;
  llvm::DenseMap<Operation *, unsigned> units;
  const size_t first = found.units.size();
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op) || lastOf[classes.getLeaderValue(&op)] != &op)
      continue;
    units[classes.getLeaderValue(&op)] = found.units.size();
    found.units.emplace_back();
  }
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    const unsigned number = units[classes.getLeaderValue(&op)];
    found.units[number].ops.push_back(&op);
    found.unitOf[&op] = number;
  }
  for (size_t i = first; i < found.units.size(); ++i)
    describe(found.units[i]);
}

//===----------------------------------------------------------------------===//
// Classification of units
//===----------------------------------------------------------------------===//

/// Sorts the unit's float operands from outside into constants and data.
void UnitFinder::sortOperands(Unit &unit) {
  for (Operation *op : unit.ops)
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isFloats(value) || isInside(unit, value) || usesShapeOnly(operand))
        continue;
      if (value.getDefiningOp<ConstantOp>())
        unit.constants.push_back(&operand);
      else
        unit.data.push_back(&operand);
    }
}

/// A mean over dimensions: the sum, divided by a scalar.
static bool isMean(ArrayRef<Operation *> computing) {
  if (computing.size() != 2)
    return false;
  auto reduce = dyn_cast<ReduceOp>(computing[0]);
  return reduce && reduce->getNumOperands() == 2 &&
         gradient::combinerOf(reduce->getRegion(0)) ==
             AddOp::getOperationName() &&
         isa<DivOp, MulOp>(computing[1]) &&
         isOneNumber(computing[1]->getOperand(1));
}

void UnitFinder::describe(Unit &unit) {
  SmallVector<Operation *> computing, moving, clamps, products;
  for (Operation *op : unit.ops) {
    if (unit.name.empty())
      unit.name = originOf(op->getLoc());
    if (op->getNumResults() != 1 || !isFloats(op->getResult(0))) {
      if (llvm::any_of(op->getResults(), isFloats) || op->getNumRegions() != 0)
        computing.push_back(op);
      continue;
    }
    if (constantBehind(op->getResult(0)))
      continue;
    if (isProduct(op))
      products.push_back(op);
    else if (rearranges(op) || changesFloatType(op) ||
             Broadcast::of(op->getResult(0)))
      moving.push_back(op);
    else if (isClamp(op))
      clamps.push_back(op);
    else
      computing.push_back(op);
  }
  unit.result = resultOf(unit.ops.front());
  Operation *named = !products.empty()    ? products.front()
                     : !computing.empty() ? computing.front()
                     : !clamps.empty()    ? clamps.front()
                     : !moving.empty()    ? moving.front()
                                          : unit.ops.front();
  unit.core = named;
  unit.op = named->getName().stripDialect().str();
  if (std::string name = originOf(named->getLoc()); !name.empty())
    unit.name = name;
  if (auto known = inFile.find(unit.name); known != inFile.end())
    unit.opsInFile = known->second;
  if (!unit.result || !isFloats(unit.result)) {
    unit.why = FloatReason::NoFloats;
    return;
  }
  const Type element = tensorOf(unit.result).getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16()) {
    unit.why = FloatReason::ElementType;
    return;
  }
  sortOperands(unit);
  for (OpOperand *operand : unit.data)
    if (tensorOf(operand->get()).getElementType() != element) {
      unit.why = FloatReason::MixedTypes;
      return;
    }
  if (products.size() == 1 && computing.size() <= 1)
    return describeProduct(unit, products.front());
  if (!products.empty()) {
    unit.why = FloatReason::ProductAmongOthers;
    return;
  }
  if (isMean(computing)) {
    unit.kind = UnitKind::Computes;
    unit.constants.clear();
    return;
  }
  if (computing.size() > 1) {
    unit.why = FloatReason::SeveralOperations;
    return;
  }
  if (computing.empty() && clamps.size() > 1) {
    unit.why = FloatReason::SeveralOperations;
    return;
  }
  if (!computing.empty())
    return describeCore(unit, computing.front());
  if (!clamps.empty())
    return describeCore(unit, clamps.front());
  unit.kind = unit.data.size() == 1 ? UnitKind::Moves : UnitKind::Other;
  if (unit.kind == UnitKind::Other)
    unit.why = FloatReason::NoIntegerForm;
}

/// The use of the constant that is the kernel of \p convolution with its groups
/// moved from the inputs to the outputs; null where there is none.
///
///   [g * i, o, ...] -> [g, i, o, ...] -> [i, g, o, ...] -> [i, g * o, ...]
static OpOperand *groupedKernel(ConvolutionOp convolution) {
  const auto numbers = convolution.getDimensionNumbers();
  const auto groups = static_cast<int64_t>(convolution.getFeatureGroupCount());
  auto merged = convolution.getRhs().getDefiningOp<ReshapeOp>();
  auto swapped =
      merged ? merged.getOperand().getDefiningOp<TransposeOp>() : TransposeOp();
  auto split =
      swapped ? swapped.getOperand().getDefiningOp<ReshapeOp>() : ReshapeOp();
  auto constant =
      split ? split.getOperand().getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant || numbers.getKernelInputFeatureDimension() != 0 ||
      numbers.getKernelOutputFeatureDimension() != 1)
    return nullptr;
  const ArrayRef<int64_t> shape = tensorOf(constant.getResult()).getShape();
  if (shape.size() < 2 || shape[0] % groups != 0)
    return nullptr;
  SmallVector<int64_t> splitShape = {groups, shape[0] / groups},
                       whole = {shape[0] / groups, groups * shape[1]};
  llvm::append_range(splitShape, shape.drop_front());
  llvm::append_range(whole, shape.drop_front(2));
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, splitShape.size()));
  std::swap(order[0], order[1]);
  return tensorOf(split.getResult()).getShape() == ArrayRef(splitShape) &&
                 swapped.getPermutation() == ArrayRef(order) &&
                 tensorOf(merged.getResult()).getShape() == ArrayRef(whole)
             ? &split->getOpOperand(0)
             : nullptr;
}

void UnitFinder::describeProduct(Unit &unit, Operation *product) {
  Value value = product->getResult(0);
  for (Operation *op : unit.ops) {
    auto add = dyn_cast<AddOp>(op);
    if (!add)
      continue;
    OpOperand *side = add->getOperand(0) == value || add->getOperand(1) == value
                          ? biasOperand(add, value)
                          : nullptr;
    if (!side) {
      unit.why = FloatReason::NoBias;
      return;
    }
    ConstantOp constant = constantBehind(side->get());
    for (OpOperand *each : unit.constants)
      if (each->get() == constant.getResult())
        unit.bias = each;
    unit.biasIsOwn = sourceOf(add) == sourceOf(product);
  }
  for (Operation *op : unit.ops)
    if (op != product && !isa<AddOp>(op) && isFloats(op->getResult(0)) &&
        !constantBehind(op->getResult(0)) && !isClamp(op) && !rearranges(op) &&
        !changesFloatType(op)) {
      unit.why = FloatReason::InLargerNode;
      return;
    }
  for (OpOperand &operand : product->getOpOperands())
    if (operand.get().getDefiningOp<ConstantOp>()) {
      unit.weights.operand = &operand;
      unit.weights.side = operand.getOperandNumber();
    }
  auto convolution = dyn_cast<ConvolutionOp>(product);
  if (!unit.weights.operand && convolution)
    if (OpOperand *grouped = groupedKernel(convolution)) {
      unit.weights.operand = grouped;
      unit.weights.side = 1;
      unit.weights.depthGroups =
          static_cast<int64_t>(convolution.getFeatureGroupCount());
    }
  if (!unit.weights.operand || unit.data.size() != 1) {
    unit.why = unit.data.size() == 1 ? FloatReason::ComputedWeights
                                     : FloatReason::TwoActivations;
    return;
  }
  std::optional<Axes> axes = axesOf(product);
  const unsigned number = unit.weights.side;
  if (axes) {
    const TensorAxes &own = axes->operands[number],
                     &other = axes->operands[1 - number];
    SmallVector<int64_t> channels, depths;
    for (auto [dimension, list] : llvm::enumerate(own)) {
      if (axes->resultOf(number, dimension))
        channels.push_back(dimension);
      else if (axes->areAll(list, AxisKind::Reduced))
        depths.push_back(dimension);
    }
    if (channels.size() == 1)
      unit.weights.channelAxis = channels.front();
    if (depths.size() == 1)
      for (auto [dimension, list] : llvm::enumerate(other))
        if (list == own[depths.front()]) {
          unit.weights.depthAxis = depths.front();
          unit.weights.activationAxis = dimension;
        }
  }
  if (convolution) {
    auto numbers = convolution.getDimensionNumbers();
    unit.weights.channelAxis = numbers.getKernelOutputFeatureDimension();
    if (convolution.getBatchGroupCount() == 1) {
      unit.weights.depthAxis = numbers.getKernelInputFeatureDimension();
      unit.weights.activationAxis = numbers.getInputFeatureDimension();
    }
  }
  unit.kind = UnitKind::Product;
}

void UnitFinder::describeCore(Unit &unit, Operation *core) {
  auto rescale = dyn_cast<RescaleOpInterface>(core);
  if (!rescale) {
    unit.why = FloatReason::NoIntegerForm;
    return;
  }
  const SmallVector<RescaleWay> ways = rescale.getRescaleWays();
  const bool moves = llvm::any_of(ways, [&](const RescaleWay &way) {
    return way.ranges == RescaleRanges::Any &&
           llvm::all_of(core->getOpOperands(), [&](OpOperand &operand) {
             return !isFloats(operand.get()) ||
                    llvm::is_contained(way.operands,
                                       operand.getOperandNumber()) ||
                    operand.get().getDefiningOp<ConstantOp>();
           });
  });
  if (unit.data.empty()) {
    unit.why = FloatReason::OnlyConstants;
    return;
  }
  if (moves && !isClamp(core)) {
    // The result of a look-up in a constant table is not an activation yet.
    const bool isFromConstant =
        core->getNumOperands() != 0 && constantBehind(core->getOperand(0));
    unit.kind = isFromConstant ? UnitKind::Other : UnitKind::Moves;
    if (isFromConstant)
      unit.why = FloatReason::ConstantTable;
    return;
  }
  if (!rescale.absorbsRescaleOfResult() && !isClamp(core)) {
    unit.why = FloatReason::NoIntegerForm;
    return;
  }
  // An operation on a scalar is no work, and eight bits are not enough for it.
  if (!isClamp(core) && llvm::any_of(core->getOperands(), [](Value value) {
        return isFloats(value) && isOneNumber(value);
      })) {
    unit.why = FloatReason::SingleValue;
    return;
  }
  if (isClamp(core))
    unit.constants.clear();
  unit.isNorm = isa<nn::LayerNormOp, nn::RmsNormOp>(core);
  unit.kind = UnitKind::Computes;
}

Units findUnits(const Model &model) {
  Units found;
  func::FuncOp entry = model.entry();
  const OperationsInFile inFile = operationsInFile(model.module());
  UnitFinder(entry.front(), found, inFile).run();
  // The blocks of branches and loops; the bodies of reductions and the like
  // have no units.
  entry.walk([&](Operation *op) {
    if (!isa<IfOp, CaseOp, WhileOp>(op))
      return;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        UnitFinder(block, found, inFile).run();
  });
  return found;
}

} // namespace sinter::quantize
