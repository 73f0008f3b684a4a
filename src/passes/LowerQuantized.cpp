//===- LowerQuantized.cpp - quantised tensors as integers -----------------===//

#include "passes/LowerQuantized.h"

#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/Pools.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "passes/DivideByScale.h"
#include "passes/Groups.h"
#include "passes/QuantizedForms.h"
#include "passes/RescaleFunction.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sinter;

static RankedTensorType withElement(Type type, Type element) {
  return cast<RankedTensorType>(type).clone(element);
}

namespace {

class Lowering {
public:
  explicit Lowering(func::FuncOp function) : function(function) {}

  Result<void> run() {
    SmallVector<Operation *> arithmetic;
    function.walk([&](Operation *op) {
      if (op == function || !hasQuantizedType(op))
        return;
      if (!takesStorage(op) || !keepsParameters(op))
        arithmetic.push_back(op);
    });
    changeTypes();
    for (Operation *op : arithmetic)
      if (Result<void> done = lower(op); !done)
        return done;
    dropCasts();
    return {};
  }

private:
  /// Whether \p op, if it moves elements, keeps their scales and zero points.
  static bool keepsParameters(Operation *op) {
    if (!op->hasTrait<sinter::traits::MovesElements>() ||
        op->getNumResults() != 1)
      return true;
    return sinter::keepsParameters(op, roundedParametersOf);
  }

  /// Gives every quantised value its storage type. Its quantised type is
  /// remembered.
  void changeTypes() {
    auto change = [&](Value value) {
      quant::QuantizedType type = quantizedOf(value.getType());
      if (!type)
        return;
      quantizedTypes[value] = type;
      value.setType(storageOf(tensorOf(value)));
      // The value is now storage elements, which must not be compared with the
      // quantised ones.
      if (Operation *op = value.getDefiningOp())
        op->removeDiscardableAttr(traceAttribute);
    };
    function.walk([&](Operation *op) {
      llvm::for_each(op->getResults(), change);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), change);
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
        changeConstant(constant);
    });
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.getBody().getArgumentTypes(),
        function.getBody().front().getTerminator()->getOperandTypes()));
  }

  /// Drops casts between storage elements and quantised ones, which have one
  /// type now.
  void dropCasts() {
    function.walk([](stablehlo::BitcastConvertOp op) {
      if (op.getOperand().getType() != op.getType())
        return;
      op.getResult().replaceAllUsesWith(op.getOperand());
      op.erase();
    });
  }

  static void changeConstant(stablehlo::ConstantOp op) {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (dense && dense.getType() != type &&
        dense.getElementType().isIntOrFloat() &&
        dense.getElementType().getIntOrFloatBitWidth() ==
            type.getElementType().getIntOrFloatBitWidth())
      op.setValueAttr(dense.bitcast(type.getElementType()));
  }

  Result<void> lower(Operation *op) {
    for (auto values :
         {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values)
        if (quant::QuantizedType type = quantizedTypes.lookup(value))
          if (!roundedParametersOf(type))
            return unsupported(op->getName().getStringRef().str() +
                               " has a quantised type that is not uniform");
    OpBuilder builder(op);
    Value result;
    if (isa<stablehlo::UniformDequantizeOp>(op))
      result = convert(builder, numbers(builder, op->getOperand(0)),
                       getElementTypeOrSelf(op->getResult(0)));
    else if (isa<stablehlo::UniformQuantizeOp>(op))
      result = quantize(builder, op, QuantizedRounding::AfterZeroPoint);
    else if (isa<nn::QuantizeOp>(op))
      result = quantize(builder, op, QuantizedRounding::BeforeZeroPoint);
    else if (auto scales = scalesOf(op))
      result = product(builder, op, *scales);
    else if (addsAccumulators(op))
      result = sumOfAccumulators(builder, op);
    else if (selectsElements(op))
      result = selectedElements(builder, op);
    else if (auto pool = dyn_cast<nn::AveragePoolOp>(op); pool && hasMean(pool))
      result = mean(builder, pool);
    if (result)
      replace(op->getResult(0), result);
    else
      lowerAsFloats(builder, op);
    op->erase();
    return {};
  }

  /// Replaces \p was by \p is, with the same quantised type.
  void replace(Value was, Value is) {
    was.replaceAllUsesWith(is);
    if (quant::QuantizedType quantizedType = quantizedTypes.lookup(was)) {
      quantizedTypes.erase(was);
      quantizedTypes[is] = quantizedType;
    }
  }

  /// dequantize_op_quantize.
  void lowerAsFloats(OpBuilder &builder, Operation *op) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (quantizedTypes.contains(operand))
        mapping.map(operand, expressed(builder, operand));
    Operation *onFloats = builder.clone(*op, mapping);
    onFloats->removeDiscardableAttr(traceAttribute);
    for (auto [was, is] : llvm::zip(op->getResults(), onFloats->getResults())) {
      quant::QuantizedType quantizedType = quantizedTypes.lookup(was);
      if (!quantizedType) {
        replace(was, is);
        continue;
      }
      is.setType(withElement(was.getType(), quantizedType.getExpressedType()));
      replace(was,
              quantized(builder, is, was, QuantizedRounding::AfterZeroPoint));
    }
  }

  /// \p op as it is, on storage elements.
  Value onStorage(OpBuilder &builder, Operation *op) {
    Operation *copy = builder.clone(*op);
    copy->removeDiscardableAttr(traceAttribute);
    return copy->getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // Selections and means
  //===--------------------------------------------------------------------===//

  /// Whether each element of \p op's result is one of its operand, selected by
  /// its index.
  static bool selectsByIndex(Operation *op) {
    auto resize = dyn_cast<nn::ResizeOp>(op);
    return resize && resize.getMode() == "nearest" &&
           resize.getCoordinates() != "tf_crop_and_resize";
  }

  /// Whether \p op selects elements by their order, which storage elements of
  /// one type have, too, or by index. (Wider storage is rounded in the
  /// dequantised form.)
  bool selectsElements(Operation *op) const {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        !(isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ClampOp,
              nn::MaxPoolOp>(op) ||
          selectsByIndex(op)))
      return false;
    auto pool = dyn_cast<nn::MaxPoolOp>(op);
    quant::QuantizedType type = quantizedTypes.lookup(op->getOperand(0));
    return isa_and_nonnull<quant::UniformQuantizedType>(type) &&
           storageOf(type).getWidth() <= 8 &&
           quantizedTypes.contains(op->getResult(0)) &&
           llvm::all_of(op->getOperands(),
                        [&](Value each) {
                          return quantizedTypes.lookup(each) == type;
                        }) &&
           (!pool || nn::meetsElements(pool));
  }

  /// Applies \p op to storage elements, and rescales the result to its scale.
  Value selectedElements(OpBuilder &builder, Operation *op) {
    quant::QuantizedType from = quantizedTypes.lookup(op->getOperand(0)),
                         to = quantizedTypes.lookup(op->getResult(0));
    Value elements = onStorage(builder, op);
    elements.setType(withElement(elements.getType(), storageOf(from)));
    if (from == to && survives(from))
      return elements;
    quantizedTypes[elements] = from;
    return rescaled(builder, elements, op->getResult(0),
                    roundingOf(*roundedParametersOf(to),
                               QuantizedRounding::AfterZeroPoint));
  }

  /// Whether \p pool averages per-tensor quantised elements of at most 8 bits.
  bool hasMean(nn::AveragePoolOp pool) const {
    auto from = dyn_cast_or_null<quant::UniformQuantizedType>(
             quantizedTypes.lookup(pool.getOperand())),
         to = dyn_cast_or_null<quant::UniformQuantizedType>(
             quantizedTypes.lookup(pool.getResult()));
    return from && to && storageOf(from).getWidth() <= 8 &&
           from.getExpressedType().isF32() && to.getExpressedType().isF32();
  }

  /// The mean of elements minus their zero point, which are summed exactly,
  /// times one factor.
  Value mean(OpBuilder &builder, nn::AveragePoolOp pool) {
    quant::QuantizedType from = quantizedTypes.lookup(pool.getOperand());
    const QuantizationParameters parameters = *roundedParametersOf(from);
    nn::TensorBuilder emit(builder, pool.getLoc());
    Value numbers = emitCentred(
        emit, convert(builder, pool.getOperand(), builder.getF32Type()),
        parameters);
    IRMapping mapping;
    mapping.map(pool.getOperand(), numbers);
    Operation *copy = builder.clone(*pool, mapping);
    copy->removeDiscardableAttr(traceAttribute);
    Value means = copy->getResult(0);
    means.setType(withElement(means.getType(), builder.getF32Type()));
    return requantized(builder, means, centredRange(from).reach(),
                       {parameters.scales, parameters.axis}, pool.getResult(),
                       QuantizedRounding::AfterZeroPoint);
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// The scales of a product that is computed in integers.
  std::optional<ProductScales> scalesOf(Operation *op) const {
    if (op->getNumOperands() == 0)
      return std::nullopt;
    return productScales(
        op, llvm::map_to_vector(op->getOperands(), [&](Value operand) {
          return quantizedTypes.lookup(operand);
        }));
  }

  IntegerRange rangeOfSums(Operation *op) const {
    IntegerRange ranges[] = {{1, 1}, {1, 1}};
    for (auto [range, operand] : llvm::zip(ranges, op->getOperands()))
      range = centredRange(quantizedTypes.lookup(beforeShift(operand)));
    return sinter::rangeOfSums(op, ranges[0], ranges[1]);
  }

  /// Whether all operands have 8-bit storage. Depthwise convolutions do not
  /// count: they have a kernel of floats.
  bool isOfBytes(Operation *op) const {
    auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
    return !(convolution && convolution.isDepthwise()) &&
           op->getNumOperands() == 2 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return quantizedTypes.lookup(beforeShift(operand))
                        .getStorageTypeIntegralWidth() <= 8;
           });
  }

  /// An accumulator type that represents every sum exactly, floats first: these
  /// have the fast kernels, and sums of integers in them do not depend on the
  /// order.
  Type accumulatorOf(Operation *op) const {
    const IntegerRange sums = rangeOfSums(op);
    MLIRContext *context = op->getContext();
    Type i32 = IntegerType::get(context, 32);
    if (isOfBytes(op) && holds(i32, sums))
      return i32;
    Type f64 = Float64Type::get(context);
    SmallVector<Type> types = {Float32Type::get(context), f64, i32,
                               IntegerType::get(context, 64)};
    // Of the floats, convolutions have a kernel for f32 alone.
    if (isa<stablehlo::ConvolutionOp>(op))
      types.erase(types.begin() + 1);
    Type found = firstHolding(types, sums);
    return found ? found : f64;
  }

  Value product(OpBuilder &builder, Operation *op,
                const ProductScales &scales) {
    for (Value operand : op->getOperands())
      centreConstant(builder, operand);
    Type accumulator = accumulatorOf(op);
    const IntegerRange range = rangeOfSums(op);
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value given = beforeShift(operand);
      Value moved = convert(builder, given, accumulator);
      nn::TensorBuilder emit(builder, moved.getLoc());
      mapping.map(operand, emitCentred(emit, moved,
                                       *roundedParametersOf(
                                           quantizedTypes.lookup(given))));
    }
    Operation *sums = builder.clone(*op, mapping);
    sums->removeDiscardableAttr(traceAttribute);
    Value result = op->getResult(0), sum = sums->getResult(0);
    sum.setType(withElement(result.getType(), accumulator));
    sums->setDiscardableAttr(exactProductAttribute, builder.getUnitAttr());
    quant::QuantizedType quantizedType = quantizedTypes.lookup(result);
    if (!quantizedType)
      return convert(builder, scaled(builder, sum, scales, op),
                     getElementTypeOrSelf(result));
    if (storageOf(quantizedType).getWidth() == 32 &&
        areScalesOfSums(*roundedParametersOf(quantizedType), scales)) {
      Value stored = convert(builder, sum, storageOf(quantizedType));
      rangesOfSums[stored] = range;
      if (accumulator.isF32())
        floatsOf[stored] = sum;
      return stored;
    }
    return requantized(builder, sum, range.reach(), scales, result,
                       QuantizedRounding::AfterZeroPoint);
  }

  /// Whether \p op adds accumulators of one scale without overflow of their
  /// storage.
  bool addsAccumulators(Operation *op) const {
    if (!isa<stablehlo::AddOp>(op))
      return false;
    quant::QuantizedType type = quantizedTypes.lookup(op->getResult(0));
    auto isLike = [&](Value operand) {
      return quantizedTypes.lookup(operand) == type;
    };
    if (!type || storageOf(type).getWidth() != 32 ||
        !llvm::all_of(op->getOperands(), isLike) ||
        !roundedParametersOf(type)->isSymmetric())
      return false;
    IntegerRange lhs = rangeOf(op->getOperand(0)),
                 rhs = rangeOf(op->getOperand(1));
    return holds(storageOf(type), {lhs.low + rhs.low, lhs.high + rhs.high});
  }

  /// Adds in f32, if one of the accumulators is in f32 and it represents them
  /// all.
  Value sumOfAccumulators(OpBuilder &builder, Operation *op) {
    IntegerRange range;
    bool isInF32 = false;
    for (Value operand : op->getOperands()) {
      const IntegerRange own = rangeOf(operand);
      range = {range.low + own.low, range.high + own.high};
      isInF32 |= floatsOf.contains(operand);
    }
    const Type f32 = builder.getF32Type();
    if (!isInF32 || !holds(f32, range) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          return holds(f32, rangeOf(operand));
        }))
      return onStorage(builder, op);
    nn::TensorBuilder emit(builder, op->getLoc());
    Value sum = emit.add(convert(builder, op->getOperand(0), f32),
                         convert(builder, op->getOperand(1), f32));
    Value stored = convert(builder, sum,
                           storageOf(quantizedTypes.lookup(op->getResult(0))));
    rangesOfSums[stored] = range;
    floatsOf[stored] = sum;
    return stored;
  }

  IntegerRange rangeOf(Value storage) const {
    auto found = rangesOfSums.find(storage);
    return found != rangesOfSums.end() ? found->second
                                       : IntegerRange::of(storage);
  }

  /// \p sum times its scales, in f64 if that is the expressed type, else in
  /// f32.
  Value scaled(OpBuilder &builder, Value sum, const ProductScales &scales,
               Operation *op) {
    Type expressed = getElementTypeOrSelf(op->getResult(0));
    Value number = convert(builder, sum,
                           expressed.isF64() ? Type(builder.getF64Type())
                                             : Type(builder.getF32Type()));
    nn::TensorBuilder emit(builder, op->getLoc());
    return emit.mul(number,
                    emitSpread(emit, scales.factors, scales.axis, number));
  }

  /// With even zero points both roundings agree, except where the sum of a
  /// quotient and a zero point is rounded to a tie. The quotient decides there,
  /// so that a model gives the same bits in either form.
  static QuantizedRounding roundingOf(const QuantizationParameters &parameters,
                                      QuantizedRounding rounding) {
    return llvm::all_of(parameters.zeroPoints,
                        [](int64_t zero) { return zero % 2 == 0; }) &&
                   !parameters.isSymmetric()
               ? QuantizedRounding::BeforeZeroPoint
               : rounding;
  }

  /// Requantises \p numbers, whose zero point is 0 and whose magnitude is at
  /// most \p reach, from \p scales to the type of \p like: a multiplication, a
  /// rounding and a clamp.
  Value requantized(OpBuilder &builder, Value numbers, double reach,
                    const ProductScales &scales, Value like,
                    QuantizedRounding rounding) {
    quant::QuantizedType type = quantizedTypes.lookup(like);
    const QuantizationParameters to = *roundedParametersOf(type);
    rounding = roundingOf(to, rounding);
    ProductScales factors = scales;
    if (factors.axis < 0 && to.axis >= 0)
      factors = {SmallVector<double>(to.scales.size(), scales.factors.front()),
                 to.axis};
    bool isInF32 = storageOf(type).getWidth() <= 8;
    for (auto [i, factor] : llvm::enumerate(factors.factors))
      isInF32 &= !missesMiddles(factor, to.scales[to.axis < 0 ? 0 : i], reach);
    nn::TensorBuilder emit(builder, like.getLoc());
    auto times = [&](Type compute) {
      Value number = convert(builder, numbers, compute);
      return emit.mul(number,
                      emitSpread(emit, factors.factors, factors.axis, number));
    };
    if (!isInF32)
      return emitQuantized(emit, times(builder.getF64Type()), type, rounding);
    for (auto [i, factor] : llvm::enumerate(factors.factors))
      factor /= to.scales[to.axis < 0 ? 0 : i];
    return emitRounded(emit, times(builder.getF32Type()), type, rounding);
  }

  /// \p operand as storage elements of the quantised type of \p like, where
  /// these differ by the addition of one integer; null else.
  Value shifted(OpBuilder &builder, Value operand, Value like) {
    quant::QuantizedType from = quantizedTypes.lookup(operand),
                         to = quantizedTypes.lookup(like);
    auto shift = from && to ? shiftBetween(from, to) : std::nullopt;
    if (!shift || !survives(from) ||
        !boundsOf(to).contains(boundsOf(from).least + *shift) ||
        !boundsOf(to).contains(boundsOf(from).greatest + *shift))
      return {};
    nn::TensorBuilder emit(builder, like.getLoc());
    Value wide = emit.convert(operand, builder.getI32Type());
    if (*shift != 0)
      wide = emit.add(wide, emitSpread(emit, {double(*shift)}, -1, wide));
    Value moved = emit.convert(wide, storageOf(to));
    if (moved != operand)
      beforeShifts[moved] = beforeShift(operand);
    return moved;
  }

  /// Weights that were converted to the unsigned storage type of activations
  /// have its middle as zero point: as signed bytes they have 0, and products
  /// need no correction.
  void centreConstant(OpBuilder &builder, Value operand) {
    auto constant = operand.getDefiningOp<stablehlo::ConstantOp>();
    quant::QuantizedType type = quantizedTypes.lookup(operand);
    auto parameters =
        constant && type ? roundedParametersOf(type) : std::nullopt;
    if (!parameters || parameters->isSymmetric() ||
        storageOf(type).getWidth() != 8 || beforeShifts.contains(operand) ||
        !llvm::all_equal(parameters->zeroPoints))
      return;
    const int64_t zero = parameters->zeroPoints.front();
    auto bytes = IntegerType::get(builder.getContext(), 8);
    const IntegerBounds all = boundsOf(bytes), had = boundsOf(type);
    quant::QuantizedType centred =
        all.contains(had.least - zero) && all.contains(had.greatest - zero)
            ? movedBy(type, bytes, -zero)
            : quant::QuantizedType();
    std::optional<Tensor> elements =
        centred ? constantTensor(operand) : std::nullopt;
    if (!elements)
      return;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(constant);
    Value moved = makeConstant(builder, constant.getLoc(),
                               sinter::shifted(*elements, bytes, -zero),
                               constantName(operand));
    quantizedTypes[moved] = centred;
    beforeShifts[operand] = moved;
  }

  /// The storage elements that \p storage was shifted from, or itself.
  Value beforeShift(Value storage) const {
    Value before = beforeShifts.lookup(storage);
    return before ? before : storage;
  }

  /// Lowers a quantisation of floats or of other storage elements.
  Value quantize(OpBuilder &builder, Operation *op,
                 QuantizedRounding rounding) {
    return rescaled(builder, op->getOperand(0), op->getResult(0), rounding);
  }

  /// \p operand, floats or storage elements, as storage elements of the type of
  /// \p like.
  Value rescaled(OpBuilder &builder, Value operand, Value like,
                 QuantizedRounding rounding) {
    quant::QuantizedType from = quantizedTypes.lookup(operand),
                         to = quantizedTypes.lookup(like);
    if (Value moved = shifted(builder, operand, like))
      return moved;
    const auto parameters = from ? roundedParametersOf(from) : std::nullopt;
    const auto wanted = to ? roundedParametersOf(to) : std::nullopt;
    const bool meetsAxis = parameters && wanted &&
                           (parameters->axis < 0 || wanted->axis < 0 ||
                            parameters->axis == wanted->axis);
    if (from && storageOf(from).getWidth() < 32)
      return rescaledElements(builder, operand, like, rounding);
    // Narrower floats round the dequantised values, wider ones need more
    // precision.
    if (!meetsAxis || !to.getExpressedType().isF32() ||
        !from.getExpressedType().isF32() || !parameters->isSymmetric())
      return quantized(builder, expressed(builder, operand), like, rounding);
    return requantized(builder, operand, rangeOf(operand).reach(),
                       {parameters->scales, parameters->axis}, like, rounding);
  }

  /// \p operand, which are not accumulators, as elements of the type of
  /// \p like: by one factor where that gives the same for all elements.
  Value rescaledElements(OpBuilder &builder, Value operand, Value like,
                         QuantizedRounding rounding) {
    quant::QuantizedType from = quantizedTypes.lookup(operand),
                         to = quantizedTypes.lookup(like);
    nn::TensorBuilder emit(builder, like.getLoc());
    const auto function = RescaleFunction::between(from, to, rounding);
    if (!function || !function->isOneFactor())
      return emitQuantized(emit, expressed(builder, operand), to, rounding);
    Value distances =
        emitCentred(emit, convert(builder, operand, builder.getF32Type()),
                    *roundedParametersOf(from));
    SmallVector<double> factors;
    for (size_t i = 0; i < function->count(); ++i)
      factors.push_back(function->factor(i));
    return emitRounded(
        emit,
        emit.mul(distances,
                 emitSpread(emit, factors, function->axis(), distances)),
        to, rounding);
  }

  //===--------------------------------------------------------------------===//
  // Floats and storage
  //===--------------------------------------------------------------------===//

  Value convert(OpBuilder &builder, Value value, Type element) const {
    if (getElementTypeOrSelf(value) == element)
      return value;
    if (Value floats = floatsOf.lookup(value); floats && element.isF32())
      return floats;
    return builder.create<stablehlo::ConvertOp>(
        value.getLoc(), withElement(value.getType(), element), value);
  }

  /// A type in which the product of \p type's elements and scales is exact, or
  /// rounded to the expressed type.
  static Type productType(quant::QuantizedType type) {
    unsigned width = type.getStorageTypeIntegralWidth();
    MLIRContext *context = type.getContext();
    // 32-bit accumulators are rounded to 24 bits before they are scaled.
    bool fits = type.getExpressedType().isF32() ? width <= 16 || width == 32
                                                : width <= 8;
    return fits && !type.getExpressedType().isF64()
               ? Type(Float32Type::get(context))
               : Float64Type::get(context);
  }

  /// Dequantises \p storage, unrounded or rounded to the expressed type.
  Value numbers(OpBuilder &builder, Value storage) {
    quant::QuantizedType type = quantizedTypes.lookup(storage);
    nn::TensorBuilder emit(builder, storage.getLoc());
    const Type compute = productType(type);
    Value floats = compute.isF32() ? floatsOf.lookup(storage) : Value();
    return emitDequantized(emit, floats ? floats : storage, type, compute);
  }

  /// Dequantises \p value to the expressed type; returns a value that was not
  /// quantised.
  Value expressed(OpBuilder &builder, Value value) {
    quant::QuantizedType type = quantizedTypes.lookup(value);
    return type ? convert(builder, numbers(builder, value),
                          type.getExpressedType())
                : value;
  }

  /// Whether \p reals are computed elementwise from the accumulators of an
  /// integer product: these are rounded differently from a float product's in
  /// any case.
  static bool dependsOnAccumulators(Value reals) {
    constexpr size_t mostOperations = 64;
    llvm::SetVector<Operation *> found;
    auto add = [&](Value value) {
      if (Operation *op = value.getDefiningOp())
        found.insert(op);
    };
    add(reals);
    for (size_t i = 0; i < std::min(found.size(), mostOperations); ++i) {
      if (found[i]->hasAttr(exactProductAttribute))
        return true;
      if (found[i]->hasTrait<OpTrait::Elementwise>() ||
          isa<stablehlo::ConvertOp>(found[i]))
        llvm::for_each(found[i]->getOperands(), add);
    }
    return false;
  }

  /// The storage elements nearest to \p reals in the type of \p like.
  Value quantized(OpBuilder &builder, Value reals, Value like,
                  QuantizedRounding rounding) {
    nn::TensorBuilder emit(builder, like.getLoc());
    quant::QuantizedType type = quantizedTypes.lookup(like);
    const QuantizationParameters parameters = *roundedParametersOf(type);
    if (getElementTypeOrSelf(reals).getIntOrFloatBitWidth() >= 32)
      rounding = roundingOf(parameters, rounding);
    const bool isOfBytes =
        storageOf(type).getWidth() <= 8 && getElementTypeOrSelf(reals).isF32();
    if (isOfBytes && parameters.axis < 0 && dependsOnAccumulators(reals))
      if (Value quotients =
              dividedByScale(emit, reals, parameters.scales.front()))
        return emitRounded(emit, quotients, type, rounding);
    return emitQuantized(emit, reals, type, rounding);
  }

  func::FuncOp function;
  DenseMap<Value, quant::QuantizedType> quantizedTypes;
  /// For storage elements that were shifted from others with the same real
  /// values: those others.
  DenseMap<Value, Value> beforeShifts;
  /// The ranges of accumulators in storage elements.
  DenseMap<Value, IntegerRange> rangesOfSums;
  /// Accumulators that are computed in f32, by the integers that they are
  /// converted to: conversions of these to f32 use them directly.
  DenseMap<Value, Value> floatsOf;
};

} // namespace

bool sinter::hasQuantized(func::FuncOp function) {
  auto result = function.walk([](Operation *op) {
    auto isQuantized = [](Type type) { return bool(quantizedOf(type)); };
    bool found = llvm::any_of(op->getResultTypes(), isQuantized);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), isQuantized);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

Result<void> sinter::lowerQuantized(func::FuncOp function) {
  if (!hasQuantized(function))
    return {};
  return Lowering(function).run();
}
