#include "formats/onnx/write/Quantized.h"

#include "formats/onnx/write/QuantizedProducts.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/UnitDimensions.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Real numbers around what computes
//===----------------------------------------------------------------------===//

namespace {

class Rewriting {
public:
  Rewriting(func::FuncOp function, std::map<std::string, int64_t> &unsupported)
      : function(function), unsupported(unsupported) {}
  void run();

private:
  bool isMoved(Operation *op) const;
  bool canCompute(Operation *op) const;
  bool isExactSum(Operation *op) const;
  void compute(Operation *op);
  Value real(Value value, OpBuilder &builder);
  void mergeDequantized();

  func::FuncOp function;
  std::map<std::string, int64_t> &unsupported;
  /// What a value stood for before it was quantised, where that is as good.
  DenseMap<Value, Value> reals;
  /// The dequantised form in a block.
  DenseMap<std::pair<Block *, Value>, Value> dequantized;
};

} // namespace

/// The constant that \p value repeats.
static stablehlo::ConstantOp repeatedConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      return constant;
    if (!GraphWriter::isBroadcast(op) && !isa<stablehlo::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

/// Whether the operation is the same on storage elements.
bool Rewriting::isMoved(Operation *op) const {
  if (keepsProductForm(op))
    return true;
  if (isa<stablehlo::UniformDequantizeOp, stablehlo::ConstantOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>() ||
      isa<stablehlo::IfOp, stablehlo::CaseOp, stablehlo::WhileOp>(op))
    return true;
  if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op))
    return !quantizedOf(op->getOperand(0).getType());
  if (op->getNumRegions() != 0 || !takesStorage(op) || op->getNumResults() != 1)
    return false;
  return keepsParameters(op, parametersOf);
}

/// Whether quantising what the operation makes of real numbers is what it does:
/// a reduction does so step by step, which only shows where sums are cut off.
bool Rewriting::canCompute(Operation *op) const {
  if (op->getNumRegions() == 0)
    return op->getNumResults() == 1 && isPure(op);
  if (!isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op) ||
      op->getNumResults() != 1)
    return false;
  auto name = stablehlo::soleOperation(op->getRegion(0));
  quant::QuantizedType type = quantizedOf(op->getResult(0).getType());
  return name && type &&
         (*name == "stablehlo.maximum" || *name == "stablehlo.minimum" ||
          (*name == "stablehlo.add" &&
           type.getStorageTypeIntegralWidth() == 32));
}

/// Whether the operation gives sums of products of integers as they are, or
/// computes with such sums alone.
bool Rewriting::isExactSum(Operation *op) const {
  quant::QuantizedType type = quantizedOf(op->getResult(0).getType());
  if (!type || type.getStorageTypeIntegralWidth() < 32)
    return false;
  auto isSum = [&](Value value) { return reals.contains(value); };
  if (llvm::any_of(op->getOperands(), isSum))
    return llvm::all_of(op->getOperands(), [&](Value value) {
      return quantizedOf(value.getType()) == type &&
             (isSum(value) || repeatedConstant(value));
    });
  return hasScalesOfSums(op);
}

Value Rewriting::real(Value value, OpBuilder &builder) {
  quant::QuantizedType type = quantizedOf(value.getType());
  if (!type)
    return value;
  if (Value same = reals.lookup(value))
    return same;
  // A constant is dequantised before it is repeated.
  if (Operation *repeated = value.getDefiningOp();
      repeated && !isa<stablehlo::ConstantOp>(repeated) &&
      repeatedConstant(value)) {
    IRMapping mapping;
    mapping.map(repeated->getOperand(0),
                real(repeated->getOperand(0), builder));
    // Of others only the shape is read.
    for (Value other : repeated->getOperands().drop_front())
      if (Value same = reals.lookup(other); same && !mapping.contains(other))
        mapping.map(other, same);
    Operation *onReals = builder.clone(*repeated, mapping);
    onReals->getResult(0).setType(
        tensorOf(value).clone(type.getExpressedType()));
    return onReals->getResult(0);
  }
  Value &known = dequantized[{builder.getInsertionBlock(), value}];
  if (!known)
    known = builder.create<stablehlo::UniformDequantizeOp>(
        value.getLoc(), tensorOf(value).clone(type.getExpressedType()), value);
  return known;
}

/// Whether \p value is the least or greatest of its type, with which a maximum
/// or minimum begins.
static bool isLimit(Value value, bool isLeast) {
  quant::QuantizedType type = quantizedOf(value.getType());
  std::optional<Tensor> tensor = constantTensor(value);
  return type && tensor && tensor->size() == 1 &&
         tensor->toInteger(0) ==
             (isLeast ? type.getStorageTypeMin() : type.getStorageTypeMax());
}

/// What a reduction begins with, in place of the limit of a quantised type.
static Value infinityFor(Operation *op, OpBuilder &builder) {
  if (!isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op))
    return {};
  const bool isLeast =
      stablehlo::soleOperation(op->getRegion(0)) == "stablehlo.maximum";
  if (!isLimit(op->getOperand(1), isLeast))
    return {};
  auto element = cast<FloatType>(
      quantizedOf(op->getOperand(1).getType()).getExpressedType());
  auto type = RankedTensorType::get({}, element);
  return builder.create<stablehlo::ConstantOp>(
      op->getLoc(), type,
      DenseElementsAttr::get(
          type, APFloat::getInf(element.getFloatSemantics(), isLeast)));
}

/// Gives the arguments and results of a region real numbers.
static void retype(Region &region) {
  auto change = [](Value value) {
    if (quant::QuantizedType type = quantizedOf(value.getType()))
      value.setType(tensorOf(value).clone(type.getExpressedType()));
  };
  for (Block &block : region) {
    llvm::for_each(block.getArguments(), change);
    for (Operation &op : block)
      llvm::for_each(op.getResults(), change);
  }
}

void Rewriting::compute(Operation *op) {
  OpBuilder builder(op);
  if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op)) {
    op->setOperand(0, real(op->getOperand(0), builder));
    return;
  }
  IRMapping mapping;
  Value beginning = infinityFor(op, builder);
  for (Value operand : op->getOperands())
    mapping.map(operand, beginning && operand == op->getOperands().back()
                             ? beginning
                             : real(operand, builder));
  const bool isExact = isExactSum(op);
  Operation *onReals = builder.clone(*op, mapping);
  removeSource(onReals);
  for (Region &region : onReals->getRegions())
    retype(region);
  Value result = op->getResult(0), made = onReals->getResult(0);
  if (quant::QuantizedType type = quantizedOf(result.getType())) {
    made.setType(tensorOf(result).clone(type.getExpressedType()));
    Value quantized = builder.create<stablehlo::UniformQuantizeOp>(
        op->getLoc(), result.getType(), made);
    if (isExact)
      reals[quantized] = made;
    made = quantized;
  }
  result.replaceAllUsesWith(made);
  op->erase();
}

/// One node of each block for what is dequantised there, by the name that it
/// had.
void Rewriting::mergeDequantized() {
  llvm::DenseSet<Operation *> made;
  for (auto [place, value] : dequantized)
    made.insert(value.getDefiningOp());
  DenseMap<std::tuple<Block *, Value, Type>, Operation *> first;
  function.walk([&](stablehlo::UniformDequantizeOp op) {
    Operation *&known = first[{op->getBlock(), op.getOperand(), op.getType()}];
    if (!known) {
      known = op;
      return;
    }
    if (!made.contains(known) && !made.contains(op))
      return;
    if (made.contains(known) && made.erase(op) == 0) {
      made.erase(known);
      known->setLoc(op->getLoc());
      known->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    }
    op.replaceAllUsesWith(known->getResult(0));
    op.erase();
  });
}

/// A vector is dequantised before it gets more dimensions: only as a vector can
/// it be the bias of a node.
static void dequantizeAsVector(stablehlo::UniformDequantizeOp op) {
  auto reshape = op.getOperand().getDefiningOp<stablehlo::ReshapeOp>();
  auto vector =
      reshape ? reshape.getOperand().getDefiningOp<stablehlo::ConstantOp>()
              : stablehlo::ConstantOp();
  if (!vector || tensorOf(vector).getRank() != 1 || !movedDimensions(reshape))
    return;
  OpBuilder builder(op);
  Value numbers = builder.create<stablehlo::UniformDequantizeOp>(
      op.getLoc(), tensorOf(vector).clone(elementOf(op.getResult())), vector);
  op.replaceAllUsesWith(
      builder.create<stablehlo::ReshapeOp>(op.getLoc(), op.getType(), numbers)
          .getResult());
  op.erase();
}

void Rewriting::run() {
  function.walk(dequantizeAsVector);
  // Nodes take operands of any storage type.
  function.walk([](stablehlo::UniformQuantizeOp op) {
    const bool isMultiplied = llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(user);
    });
    if (Value before = beforeShift(op); isMultiplied && before != op) {
      op.replaceAllUsesWith(before);
      op.erase();
    }
  });
  keepProductForms(function);
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    if (!hasQuantizedType(op) || isMoved(op))
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : ops) {
    if (canCompute(op)) {
      compute(op);
      continue;
    }
    ++unsupported[op->getName().getStringRef().str() +
                  " (of quantised numbers)"];
  }
  mergeDequantized();
  function.walk([&](stablehlo::UniformDequantizeOp op) {
    if (Value same = reals.lookup(op.getOperand())) {
      op.replaceAllUsesWith(same);
      op.erase();
    }
  });
  // What repeated constants for operations that compute has no reader now.
  SmallVector<Operation *> moving;
  function.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && hasQuantizedType(op) &&
        !isa<stablehlo::ConstantOp>(op) && !reals.contains(op->getResult(0)))
      moving.push_back(op);
  });
  for (Operation *op : llvm::reverse(moving))
    if (isOpTriviallyDead(op))
      op->erase();
  for (auto [quantized, same] : reals)
    if (quantized.use_empty())
      quantized.getDefiningOp()->erase();
}

void computeWithRealNumbers(func::FuncOp function,
                            std::map<std::string, int64_t> &unsupported) {
  Rewriting(function, unsupported).run();
}

//===----------------------------------------------------------------------===//
// QuantizeLinear and DequantizeLinear
//===----------------------------------------------------------------------===//

namespace {

/// A quantised type as the inputs of the two nodes.
class Linear {
public:
  /// Nothing where ONNX has no such type; says why to \p e.
  static std::optional<Linear> of(NodeWriter &e, Type quantized);

  Name scale() const { return list(expressed, parameters.scales, "scale"); }
  Name zeroPoint() const {
    return list(storage(), numbersOf(parameters.zeroPoints), "zero_point");
  }
  NodeAttributes attributes() const {
    NodeAttributes all;
    if (parameters.axis >= 0)
      all.push_back({"axis", parameters.axis});
    return all;
  }
  bool isWide() const { return width == 32; }
  bool isSymmetric() const { return parameters.isSymmetric(); }
  Type storage() const { return storageOf(type); }
  /// \p x without what is outside the range of the type, where that is smaller
  /// than its storage element's.
  Name withinRange(const Name &x, int64_t rank) const;
  /// round(x / scale) + zero point, in 32 bits.
  Name wideQuantized(const Name &x, int64_t rank) const;
  /// The zero point taken from 32 bits.
  Name centred(const Name &x, int64_t rank) const;

private:
  Linear(NodeWriter &e, quant::QuantizedType type,
         QuantizationParameters parameters)
      : e(e), type(type), expressed(type.getExpressedType()),
        parameters(std::move(parameters)),
        width(type.getStorageTypeIntegralWidth()) {}

  static SmallVector<double> numbersOf(ArrayRef<int64_t> integers) {
    return SmallVector<double>(integers.begin(), integers.end());
  }
  Name list(Type element, ArrayRef<double> numbers, StringRef name,
            int64_t trailing = 0) const;
  /// So many dimensions stand behind that of the scales.
  int64_t behind(int64_t rank) const {
    return parameters.axis < 0 ? 0 : rank - 1 - parameters.axis;
  }

  NodeWriter &e;
  quant::QuantizedType type;
  Type expressed;
  QuantizationParameters parameters;
  unsigned width;
};

} // namespace

Name Linear::list(Type element, ArrayRef<double> numbers, StringRef name,
                  int64_t trailing) const {
  Shape shape;
  if (parameters.axis >= 0) {
    shape = {static_cast<int64_t>(numbers.size())};
    shape.insert(shape.end(), trailing, 1);
  }
  return e.constant(
      tensorOfDoubles(*sinter::elementTypeOf(element), shape, numbers), name);
}

std::optional<Linear> Linear::of(NodeWriter &e, Type quantized) {
  auto type = dyn_cast<quant::QuantizedType>(quantized);
  auto parameters = type ? parametersOf(type) : std::nullopt;
  const unsigned width = type ? type.getStorageTypeIntegralWidth() : 0;
  Type expressed = type ? type.getExpressedType() : Type();
  const bool isKnown = (width == 4 || width == 8 || width == 16 || width == 32);
  if (!parameters || !isKnown || (width == 32 && !type.isSigned())) {
    (void)e.unsupported("of numbers quantised so");
    return std::nullopt;
  }
  if (!expressed.isF32() && !expressed.isF16() && !expressed.isBF16()) {
    (void)e.unsupported("of quantised numbers that stand for f64");
    return std::nullopt;
  }
  if (!expressed.isF32())
    e.need(19);
  if (width == 4 || width == 16)
    e.need(21);
  return Linear(e, type, std::move(*parameters));
}

Name Linear::withinRange(const Name &x, int64_t rank) const {
  const IntegerBounds all = boundsOf(storageOf(type)), some = boundsOf(type);
  Name result = x;
  auto bound = [&](StringRef opType, int64_t limit) {
    SmallVector<double> numbers;
    for (auto [scale, zero] :
         llvm::zip_equal(parameters.scales, parameters.zeroPoints))
      numbers.push_back(static_cast<double>(limit - zero) * scale);
    result = e.make(opType,
                    {result, list(expressed, numbers, "limit", behind(rank))});
  };
  if (some.least > all.least)
    bound("Max", some.least);
  if (some.greatest < all.greatest)
    bound("Min", some.greatest);
  return result;
}

Name Linear::wideQuantized(const Name &x, int64_t rank) const {
  Type f64 = Float64Type::get(type.getContext());
  Name value = e.cast(x, expressed, f64);
  value =
      e.make("Round", {e.make("Div", {value, list(f64, parameters.scales,
                                                  "scale", behind(rank))})});
  if (!isSymmetric())
    value = e.make("Add", {value, list(f64, numbersOf(parameters.zeroPoints),
                                       "zero_point", behind(rank))});
  value = e.make(
      "Clip",
      {value, e.scalar(f64, static_cast<double>(type.getStorageTypeMin())),
       e.scalar(f64, static_cast<double>(type.getStorageTypeMax()))});
  return e.cast(value, f64, storage());
}

Name Linear::centred(const Name &x, int64_t rank) const {
  return isSymmetric()
             ? x
             : e.make("Sub",
                      {x, list(storage(), numbersOf(parameters.zeroPoints),
                               "zero_point", behind(rank))});
}

template <typename Op>
static LogicalResult writeQuantize(NodeWriter &e, Op op) {
  std::optional<Linear> linear = Linear::of(e, elementOf(op));
  if (!linear)
    return failure();
  const int64_t rank = tensorOf(op).getRank();
  Name x = e.operand(op.getOperand());
  if (linear->isWide())
    return e.alias(linear->wideQuantized(x, rank));
  return e.result(
      "QuantizeLinear",
      {linear->withinRange(x, rank), linear->scale(), linear->zeroPoint()},
      linear->attributes());
}

static LogicalResult writeDequantize(NodeWriter &e,
                                     stablehlo::UniformDequantizeOp op) {
  std::optional<Linear> linear = Linear::of(e, elementOf(op.getOperand()));
  if (!linear)
    return failure();
  Name x = e.operand(op.getOperand());
  if (linear->isWide())
    return e.result(
        "DequantizeLinear",
        {linear->centred(x, tensorOf(op).getRank()), linear->scale()},
        linear->attributes());
  return e.result("DequantizeLinear", {x, linear->scale(), linear->zeroPoint()},
                  linear->attributes());
}

std::optional<LinearNames> linearNames(NodeWriter &e, Type quantized) {
  std::optional<Linear> linear = Linear::of(e, quantized);
  if (!linear)
    return std::nullopt;
  return LinearNames{linear->scale(), linear->zeroPoint()};
}

/// Storage elements as what they mean, and back: they are what is written.
static LogicalResult writeBitcast(NodeWriter &e,
                                  stablehlo::BitcastConvertOp op) {
  auto stored = [](Type type) -> Type {
    auto quantized = dyn_cast<quant::QuantizedType>(type);
    return quantized ? Type(storageOf(quantized)) : type;
  };
  if (stored(elementOf(op.getOperand())) != stored(elementOf(op.getResult())))
    return e.unsupported("to another type");
  return e.alias(e.operand(op.getOperand()));
}

WriterRules quantizedRules() {
  static const WriterRule rules[] = {
      writerRule<writeQuantize<stablehlo::UniformQuantizeOp>>(),
      writerRule<writeQuantize<nn::QuantizeOp>>(),
      writerRule<writeDequantize>(), writerRule<writeBitcast>()};
  return rules;
}

} // namespace sinter::onnx
