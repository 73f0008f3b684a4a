#include "backend/cpu/layout/AssignLayouts.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/layout/ConvolutionForm.h"
#include "graph/Constants.h"
#include "graph/nn/TensorBuilder.h"
#include "interpreter/Interpreter.h"
#include "passes/LowerQuantized.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

static constexpr llvm::StringLiteral label = "block-channels";

ArrayRef<PatternInfo> assignLayoutsPatterns() {
  static const PatternInfo infos[] = {
      {label,
       "convolution(x, w) -> cpu.unpack(cpu.convolution(cpu.pack(x), w))",
       "cpu-assign-layouts"}};
  return infos;
}

namespace {

/// Walks a block once, in order; what is computed on blocks is remembered
/// beside the plain value, and unpacked when somebody needs that.
class LayoutAssigner {
public:
  LayoutAssigner(Block &block, const Target &target, bool allowsFast,
                 PatternRun &run)
      : block(block), lanes(target.f32Lanes), allowsFast(allowsFast),
        patterns(run) {}

  void run();

private:
  bool rewrite(Operation *op);
  bool rewriteConvolution(stablehlo::ConvolutionOp op);
  template <typename Op> bool rewritePool(Op op, StringRef kind);
  bool rewriteElementwise(Operation *op);
  bool rewriteConcatenate(stablehlo::ConcatenateOp op);
  bool rewritePad(stablehlo::PadOp op);
  bool rewriteReduce(stablehlo::ReduceOp op);

  RankedTensorType blockedType(RankedTensorType plain) const;
  Value pack(TensorBuilder &emit, Value plain);
  /// The blocked form of an elementwise operand, if it costs no reorder.
  Value blockedOperand(TensorBuilder &emit, Value operand);
  Value blockedBroadcast(TensorBuilder &emit, stablehlo::BroadcastInDimOp op);
  void remember(Value plain, Value blocked) { blockedOf[plain] = blocked; }
  /// Unpacks the results of a replaced op that somebody still reads.
  void unpackWhereRead(Operation *op);

  Block &block;
  int64_t lanes;
  bool allowsFast;
  PatternRun &patterns;
  llvm::DenseMap<Value, Value> blockedOf;
  /// Broadcasts repeated in the blocked shape; no reason by themselves to
  /// compute on blocks.
  llvm::DenseMap<Value, Value> broadcastOf;
  SmallVector<Operation *> replaced;
};

} // namespace

RankedTensorType LayoutAssigner::blockedType(RankedTensorType plain) const {
  ArrayRef<int64_t> shape = plain.getShape();
  int64_t blocks = llvm::divideCeil(shape[1], lanes);
  return RankedTensorType::get({shape[0], blocks, shape[2], shape[3], lanes},
                               plain.getElementType());
}

Value LayoutAssigner::pack(TensorBuilder &emit, Value plain) {
  Value &blocked = blockedOf[plain];
  if (!blocked)
    blocked = emit.make<PackOp>(blockedType(tensorOf(plain)), plain);
  return blocked;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// What operations on a constant make of it, however large it is.
static std::optional<Tensor> valueOf(Value value) {
  if (std::optional<Tensor> constant = constantTensor(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<stablehlo::ReverseOp, stablehlo::TransposeOp,
                  stablehlo::ReshapeOp, stablehlo::PadOp>(op))
    return std::nullopt;
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> known = valueOf(operand);
    if (!known)
      return std::nullopt;
    operands.push_back(std::move(*known));
  }
  Result<std::vector<Tensor>> results = evaluate(op, operands);
  if (!results)
    return std::nullopt;
  return results->front();
}

/// Whether bringing the operands into blocks costs more than the products do.
static bool isTiny(stablehlo::ConvolutionOp op) {
  constexpr int64_t mostProducts = 1024;
  auto kernel = tensorOf(op.getRhs()), result = tensorOf(op.getResult());
  if (!kernel.hasStaticShape() || !result.hasStaticShape())
    return false;
  std::optional<int64_t> weights = elementCount(kernel.getShape()),
                         places = elementCount(result.getShape());
  int64_t features = kernel.getDimSize(
      op.getDimensionNumbers().getKernelOutputFeatureDimension());
  return weights && places && features > 0 && *places <= mostProducts &&
         *weights / features <= mostProducts &&
         *places * (*weights / features) <= mostProducts;
}

bool LayoutAssigner::rewriteConvolution(stablehlo::ConvolutionOp op) {
  // What stands in blocks already need not be brought there.
  if (isTiny(op) && !blockedOf.count(op.getLhs()))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  std::optional<ConvolutionForm> form = ConvolutionForm::of(op, lanes);
  if (!form)
    return false;
  Value plain = form->plainInput(emit);
  auto type = tensorOf(plain);
  // The few channels of an image are read where they are.
  bool isPlanar = !blockedOf.count(plain) && form->groups == 1 &&
                  type.getDimSize(1) < lanes;
  Value input = isPlanar ? plain : pack(emit, plain);
  Value weights = form->plainWeights(emit);
  if (std::optional<Tensor> known = valueOf(weights);
      known && weights != op.getRhs())
    weights =
        makeConstant(builder, op.getLoc(), *known, constantName(op.getRhs()));
  auto resultType = form->resultType(type);
  Value result = emit.make<ConvolutionOp>(
      blockedType(resultType), input, weights,
      static_cast<uint64_t>(resultType.getDimSize(1)),
      static_cast<uint64_t>(form->groups), DenseI64ArrayAttr(),
      allowsFast && !op->hasAttr(exactProductAttribute), form->strides,
      form->dilations, form->paddingLow);
  if (form->upscale != std::array<int64_t, 2>{1, 1}) {
    // Pixels that each became a window of pixels are put in their places.
    result = form->spread(emit, result, lanes);
    if (!result)
      return false;
  }
  if (form->isPlainResult(op)) {
    remember(op.getResult(), result);
    return true;
  }
  Value unpacked = emit.make<UnpackOp>(form->finalType(type), result);
  remember(unpacked, result);
  op.getResult().replaceAllUsesWith(form->plainResult(emit, unpacked, op));
  return true;
}

/// Whether f32, in which pools are computed, holds every number of a type.
static bool fitsF32(Type element) {
  unsigned widest = isa<FloatType>(element)     ? 32
                    : isa<IntegerType>(element) ? 16
                                                : 0;
  return widest && element.getIntOrFloatBitWidth() <= widest;
}

template <typename Op> bool LayoutAssigner::rewritePool(Op op, StringRef kind) {
  auto found = blockedOf.find(op.getOperand());
  auto type = tensorOf(op.getResult());
  Type element = type.getElementType();
  if (found == blockedOf.end() || type.getRank() != 4 || !fitsF32(element) ||
      (kind != "max" && !isa<FloatType>(element)))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  // Every window must meet the operand.
  auto from = tensorOf(op.getOperand());
  for (int64_t i = 0; i < 2; ++i) {
    int64_t reach = (op.getWindow()[i] - 1) * op.getDilations()[i];
    int64_t last = (type.getDimSize(i + 2) - 1) * op.getStrides()[i] -
                   op.getPaddingLow()[i];
    if (reach < op.getPaddingLow()[i] || last >= from.getDimSize(i + 2) ||
        op.getDilations()[i] != 1)
      return false;
  }
  Type f32 = builder.getF32Type();
  Value result = emit.make<PoolOp>(
      blockedType(type).clone(f32), emit.convert(found->second, f32),
      builder.getStringAttr(kind), op.getWindow(), op.getStrides(),
      op.getDilations(), op.getPaddingLow());
  remember(op.getResult(), emit.convert(result, element));
  return true;
}

/// "average_window" or "average_present"; nothing where the divisor is neither.
static std::optional<StringRef> averageKind(nn::AveragePoolOp op) {
  auto isZero = [](int64_t each) { return each == 0; };
  bool noPadding = llvm::all_of(op.getPaddingLow(), isZero) &&
                   llvm::all_of(op.getPaddingHigh(), isZero);
  if (noPadding)
    return "average_window";
  if (!op.getCountPadding())
    return "average_present";
  if (llvm::all_of(op.getCeilPadding(), isZero))
    return "average_window";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Broadcasts along channels from a vector that is cut into blocks; along other
/// dimensions as it was.
Value LayoutAssigner::blockedBroadcast(TensorBuilder &emit,
                                       stablehlo::BroadcastInDimOp op) {
  auto from = tensorOf(op.getOperand());
  RankedTensorType to = blockedType(tensorOf(op.getResult()));
  SmallVector<int64_t> dims;
  SmallVector<int64_t> shape;
  Value x = op.getOperand();
  int64_t channelPlace = -1;
  for (auto [index, dim] : llvm::enumerate(op.getBroadcastDimensions())) {
    if (from.getDimSize(index) == 1)
      continue;
    if (dim == 1)
      channelPlace = dims.size();
    dims.push_back(dim);
    shape.push_back(from.getDimSize(index));
  }
  // Dimension numbers must rise for the reshape to only drop ones.
  if (!llvm::is_sorted(dims))
    return {};
  x = emit.reshape(x, shape);
  if (channelPlace >= 0) {
    if (dims.size() != 1)
      return {};
    int64_t missing = to.getDimSize(1) * lanes - shape[0];
    if (missing)
      x = emit.make<stablehlo::PadOp>(
          x, emit.scalar(0, from.getElementType()), ArrayRef<int64_t>{0},
          ArrayRef<int64_t>{missing}, ArrayRef<int64_t>{0});
    x = emit.reshape(x, {to.getDimSize(1), lanes});
    return emit.broadcast(x, {1, 4}, to.getShape());
  }
  return emit.broadcast(x, dims, to.getShape());
}

Value LayoutAssigner::blockedOperand(TensorBuilder &emit, Value operand) {
  if (Value blocked = blockedOf.lookup(operand))
    return blocked;
  auto broadcast = operand.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast)
    return {};
  auto [entry, isNew] = broadcastOf.try_emplace(operand);
  if (isNew)
    entry->second = blockedBroadcast(emit, broadcast);
  return entry->second;
}

bool LayoutAssigner::rewriteElementwise(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() && !isa<stablehlo::SelectOp>(op) &&
      !isa<stablehlo::ClampOp>(op))
    return false;
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool anyBlocked = llvm::any_of(op->getOperands(), [&](Value operand) {
    return blockedOf.count(operand);
  });
  if (type.getRank() != 4 || !anyBlocked)
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op->getLoc());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (tensorOf(operand).getRank() == 0) {
      operands.push_back(operand);
      continue;
    }
    Value blocked = blockedOperand(emit, operand);
    operands.push_back(blocked ? blocked : pack(emit, operand));
  }
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(blockedType(type));
  state.attributes = op->getDiscardableAttrDictionary();
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *onBlocks = builder.create(state);
  patterns.changed(onBlocks);
  remember(op->getResult(0), onBlocks->getResult(0));
  return true;
}

//===----------------------------------------------------------------------===//
// Data movement and reductions
//===----------------------------------------------------------------------===//

bool LayoutAssigner::rewriteConcatenate(stablehlo::ConcatenateOp op) {
  if (op.getDimension() != 1 || tensorOf(op.getResult()).getRank() != 4)
    return false;
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op.getInputs())) {
    Value blocked = blockedOf.lookup(operand);
    bool isLast = index + 1 == op.getInputs().size();
    if (!blocked || (!isLast && tensorOf(operand).getDimSize(1) % lanes != 0))
      return false;
    operands.push_back(blocked);
  }
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(), emit.concatenate(operands, 1));
  return true;
}

bool LayoutAssigner::rewritePad(stablehlo::PadOp op) {
  Value blocked = blockedOf.lookup(op.getOperand());
  if (!blocked || op.getEdgePaddingLow()[1] != 0 ||
      op.getEdgePaddingHigh()[1] != 0 || op.getInteriorPadding()[1] != 0)
    return false;
  auto widened = [](ArrayRef<int64_t> list) {
    SmallVector<int64_t> wide(list);
    wide.push_back(0);
    return wide;
  };
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(),
           emit.make<stablehlo::PadOp>(blocked, op.getPaddingValue(),
                                       widened(op.getEdgePaddingLow()),
                                       widened(op.getEdgePaddingHigh()),
                                       widened(op.getInteriorPadding())));
  return true;
}

/// Over all pixels: the result is small, and plain again.
bool LayoutAssigner::rewriteReduce(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1 ||
      op.getDimensions() != ArrayRef<int64_t>{2, 3})
    return false;
  Value blocked = blockedOf.lookup(op.getInputs()[0]);
  if (!blocked)
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  auto type = tensorOf(blocked);
  auto reducedType = RankedTensorType::get(
      {type.getDimSize(0), type.getDimSize(1), lanes}, type.getElementType());
  auto reduced = builder.create<stablehlo::ReduceOp>(
      op.getLoc(), TypeRange(reducedType), ValueRange(blocked),
      op.getInitValues(), op.getDimensions());
  IRMapping mapping;
  op.getBody().cloneInto(&reduced.getBody(), mapping);
  Value flat = emit.reshape(reduced.getResult(0),
                            {type.getDimSize(0), type.getDimSize(1) * lanes});
  int64_t channels = tensorOf(op.getResult(0)).getDimSize(1);
  if (channels != type.getDimSize(1) * lanes)
    flat = emit.slice(flat, 1, 0, channels);
  op.getResult(0).replaceAllUsesWith(flat);
  return true;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

bool LayoutAssigner::rewrite(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](stablehlo::ConvolutionOp op) { return rewriteConvolution(op); })
      .Case([&](nn::MaxPoolOp op) { return rewritePool(op, "max"); })
      .Case([&](nn::AveragePoolOp op) {
        std::optional<StringRef> kind = averageKind(op);
        return kind && rewritePool(op, *kind);
      })
      .Case([&](stablehlo::ConcatenateOp op) { return rewriteConcatenate(op); })
      .Case([&](stablehlo::PadOp op) { return rewritePad(op); })
      .Case([&](stablehlo::ReduceOp op) { return rewriteReduce(op); })
      .Default([&](Operation *op) { return rewriteElementwise(op); });
}

void LayoutAssigner::unpackWhereRead(Operation *op) {
  for (Value result : op->getResults()) {
    Value blocked = blockedOf.lookup(result);
    if (!blocked || result.use_empty())
      continue;
    OpBuilder builder(op);
    builder.setInsertionPointAfterValue(blocked);
    TensorBuilder emit(builder, op->getLoc());
    Value plain = emit.make<UnpackOp>(result.getType(), blocked);
    patterns.replaced(label, result, plain);
    result.replaceAllUsesWith(plain);
  }
}

void LayoutAssigner::run() {
  // Early-increment: new ops stand before the one they replace.
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (rewrite(&op))
      replaced.push_back(&op);
  // From the last to the first, so that a reader that is itself replaced is
  // gone before its operands are looked at.
  for (Operation *op : llvm::reverse(replaced)) {
    unpackWhereRead(op);
    patterns.count(label);
    op->erase();
  }
}

/// What stands in branches and loops has layouts of its own.
static void assignIn(Block &block, const Target &target, bool allowsFast,
                     PatternRun &run) {
  LayoutAssigner(block, target, allowsFast, run).run();
  for (Operation &op : block)
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        assignIn(region.front(), target, allowsFast, run);
}

void assignLayouts(func::FuncOp function, const Target &target, bool allowsFast,
                   PatternRun &run) {
  if (run.isEnabled(label))
    assignIn(function.getBody().front(), target, allowsFast, run);
}

} // namespace sinter::cpu
