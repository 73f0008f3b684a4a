#include "backend/cpu/weights/LowBitProducts.h"

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/DeadCode.h"
#include "backend/cpu/ir/ProductSides.h"
#include "backend/cpu/target/PassSetting.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "backend/cpu/weights/RepeatedConstant.h"
#include "graph/Constants.h"
#include "graph/IntegerRange.h"
#include "graph/ProductPrecision.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/Sums.h"

#include <numeric>

using namespace mlir;
using sinter::nn::TensorBuilder;
using sinter::stablehlo::DotGeneralOp;
using sinter::stablehlo::isNarrowFloat;
using sinter::stablehlo::ProductSide;

namespace sinter::cpu {

static constexpr llvm::StringLiteral narrowLabel = "low-bit-product",
                                     narrowPass = "cpu-low-bit-products";

static constexpr int64_t leastBlock = 16;
/// The most operations between the weights and the matmul.
static constexpr unsigned mostSteps = 64;

static bool rearrangesOrSlices(Operation *op) {
  return isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::SliceOp>(
      op);
}

/// Whether \p to represents all values of \p from.
static bool isWider(Type from, Type to) {
  if (isa<FloatType>(from))
    return isa<FloatType>(to) &&
           from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  auto narrow = dyn_cast<IntegerType>(from);
  if (!narrow || narrow.getWidth() == 1)
    return false;
  if (isa<FloatType>(to))
    return narrow.getWidth() <= 8 && to.getIntOrFloatBitWidth() >= 16;
  auto wide = dyn_cast<IntegerType>(to);
  return wide && wide.getWidth() > narrow.getWidth() && !wide.isUnsigned();
}

/// Whether the floats of \p value are stored in its type: a constant, or a
/// rounding, possibly moved.
static bool isStored(Value value) {
  for (unsigned i = 0; i < mostSteps; ++i) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<stablehlo::ConstantOp>(op))
      return op != nullptr;
    if (isa<stablehlo::ConvertOp>(op))
      return elementOf(op->getOperand(0)).getIntOrFloatBitWidth() >
                 elementOf(value).getIntOrFloatBitWidth() &&
             isWeight(value);
    if (!rearrangesOrSlices(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

namespace {

/// Scales or zero points of weights.
struct Numbers {
  RepeatedConstant constant;
  /// The number of moves between them and the matmul.
  size_t moves;
};

/// The right operand of a matmul, decomposed.
struct LowBitWeights {
  Value elements;
  /// The data movement of the elements, the last operation first.
  SmallVector<Operation *> moves;
  std::optional<Numbers> scales, zeros;
  /// Whether zero points are subtracted in a type that holds integers only up
  /// to 256.
  bool isNarrowDifference = false;

  static std::optional<LowBitWeights> match(Value rhs);

private:
  /// If one operand of \p op is a repeated constant, stores it to \p found and
  /// returns the other operand.
  Value without(Operation *op, std::optional<Numbers> &found) const;
};

/// Scales or zero points, indexed by the depth and the columns of the matmul.
struct MatrixNumbers {
  Tensor numbers;
  RepeatedConstant::Digits depth, columns;
  /// The number of neighbours along the depth that share a value.
  int64_t repetition;

  bool areOfColumns(int64_t size) const { return repetition >= size; }
  /// A tensor [depth / block, width / group]: one value for \p block neighbours
  /// along the depth and \p group along the columns.
  Tensor ofBlocks(int64_t depth, int64_t block, int64_t width,
                  int64_t group = 1) const;
  /// The value, if there is only one.
  std::optional<double> single() const {
    if (numbers.size() != 1)
      return std::nullopt;
    return numbers.toDouble(0);
  }
};

} // namespace

Value LowBitWeights::without(Operation *op,
                             std::optional<Numbers> &found) const {
  for (unsigned i : {1U, 0U}) {
    if (i == 0 && !isa<stablehlo::MulOp>(op))
      break;
    if (auto constant = RepeatedConstant::of(op->getOperand(i))) {
      found = Numbers{std::move(*constant), moves.size()};
      return op->getOperand(1 - i);
    }
  }
  return {};
}

std::optional<LowBitWeights> LowBitWeights::match(Value rhs) {
  LowBitWeights result;
  Value value = rhs;
  for (unsigned i = 0; value && i < mostSteps; ++i) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    // The weights of a half-precision matmul, as they are.
    const Type element = elementOf(value);
    if ((element.isF16() || element.isBF16()) && !result.scales &&
        !result.zeros && isStored(value)) {
      result.elements = value;
      return result;
    }
    if (rearrangesOrSlices(op)) {
      result.moves.push_back(op);
      value = op->getOperand(0);
    } else if (isa<stablehlo::ConvertOp>(op)) {
      Value from = op->getOperand(0);
      const Type type = elementOf(from);
      if (!isWider(type, elementOf(value)))
        return std::nullopt;
      const bool isElement =
          isNarrowInteger(type)
              ? isWeight(from)
              : isNarrowFloat(type) && !result.zeros && isStored(from);
      if (isElement) {
        result.elements = from;
        return result;
      }
      value = from;
    } else if (isa<stablehlo::MulOp>(op) && !result.scales && !result.zeros &&
               elementOf(value).isF32()) {
      value = result.without(op, result.scales);
    } else if (isa<stablehlo::SubtractOp>(op) && !result.zeros) {
      result.isNarrowDifference = isNarrowFloat(elementOf(value));
      value = result.without(op, result.zeros);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Tensor MatrixNumbers::ofBlocks(int64_t size, int64_t block, int64_t width,
                               int64_t group) const {
  const int64_t rows = llvm::divideCeil(size, block);
  std::vector<int64_t> places(llvm::divideCeil(width, group));
  for (size_t n = 0; n < places.size(); ++n)
    places[n] = RepeatedConstant::offsetOf(columns, int64_t(n) * group);
  Tensor result(numbers.type(), {rows, int64_t(places.size())});
  const size_t bytes = byteSize(numbers.type());
  auto *to = reinterpret_cast<char *>(result.mutableBytes());
  const auto *from = reinterpret_cast<const char *>(numbers.data());
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = RepeatedConstant::offsetOf(depth, row * block);
    for (int64_t place : places) {
      std::memcpy(to, from + (first + place) * bytes, bytes);
      to += bytes;
    }
  }
  return result;
}

/// The largest block size along \p along, of \p size elements, such that all
/// elements of a block are equal at each of the \p acrossSize positions of
/// \p across: for constants that were expanded.
static int64_t equalNeighbours(const Tensor &numbers,
                               ArrayRef<RepeatedConstant::Digit> along,
                               int64_t size,
                               ArrayRef<RepeatedConstant::Digit> across,
                               int64_t acrossSize) {
  const size_t bytes = byteSize(numbers.type());
  const auto *from = reinterpret_cast<const char *>(numbers.data());
  std::vector<int64_t> places(acrossSize);
  for (int64_t n = 0; n < acrossSize; ++n)
    places[n] = RepeatedConstant::offsetOf(across, n);
  auto areEqual = [&](int64_t a, int64_t b) {
    return llvm::all_of(places, [&](int64_t place) {
      return std::memcmp(from + (a + place) * bytes, from + (b + place) * bytes,
                         bytes) == 0;
    });
  };
  int64_t common = 0;
  for (int64_t k = 1; k < size && common != 1; ++k)
    if (!areEqual(RepeatedConstant::offsetOf(along, k - 1),
                  RepeatedConstant::offsetOf(along, k)))
      common = std::gcd(common, k);
  return common == 0 ? size : common;
}

/// \p numbers, through the moves up to the matmul, as a matrix of \p side.
static std::optional<MatrixNumbers> asMatrix(const Numbers &numbers,
                                             ArrayRef<Operation *> moves,
                                             const ProductSide &side,
                                             int64_t size, int64_t width) {
  std::optional<RepeatedConstant> at = numbers.constant;
  for (Operation *op : llvm::reverse(moves.take_front(numbers.moves))) {
    at = at->through(op);
    if (!at)
      return std::nullopt;
  }
  auto depth = at->along(side.contracting), columns = at->along(side.free());
  if (!depth || !columns)
    return std::nullopt;
  MatrixNumbers matrix{at->numbers(), *depth, *columns,
                       RepeatedConstant::repetition(*depth)};
  if (matrix.repetition < size)
    matrix.repetition =
        std::max(matrix.repetition, equalNeighbours(matrix.numbers, *depth,
                                                    size, *columns, width));
  return matrix;
}

/// Whether 8-bit integers minus \p numbers are exact in every float type.
static bool areSmallIntegers(const Tensor &numbers) {
  for (int64_t i = 0; i < numbers.size(); ++i)
    if (const double number = numbers.toDouble(i);
        number != std::trunc(number) || number < -128 || number > 255)
      return false;
  return true;
}

/// The narrowest type that holds all integers of \p range.
static IntegerType narrowestFor(IntegerRange range, MLIRContext *context) {
  for (unsigned width : {2U, 4U, 8U})
    for (auto sign : {IntegerType::Signless, IntegerType::Unsigned}) {
      auto type = IntegerType::get(context, width, sign);
      const IntegerRange all = IntegerRange::ofType(type);
      if (range.low >= all.low && range.high <= all.high)
        return type;
    }
  return {};
}

namespace {

/// Builds a low-bit matmul.
class LowBitProduct {
public:
  LowBitProduct(DotGeneralOp op, const PassSetting &setting)
      : op(op), setting(setting), builder(op), emit(builder, op.getLoc()),
        rhs(op.getSide(1)) {
    for (int64_t dim : rhs.contracting)
      depth *= tensorOf(rhs.value).getShape()[dim];
    for (int64_t dim : rhs.free())
      width *= tensorOf(rhs.value).getShape()[dim];
  }

  /// The result; null if there is no such form.
  Value run();

private:
  bool isCandidate();
  bool chooseBlock();
  bool chooseColumns();
  void moveElements();
  void narrowElements();
  void dropZero();
  bool isBestNarrow();
  /// Whether scales are per block; scales per column are applied after the
  /// accumulation.
  bool scalesBlocks() const {
    return scales && (blockColumns != 0 || !scales->areOfColumns(depth));
  }
  Tensor ofBlocks(const MatrixNumbers &numbers) const {
    return numbers.ofBlocks(depth, block, width,
                            std::max<int64_t>(1, blockColumns));
  }
  Value tensorOfNumbers(const MatrixNumbers &numbers);
  Value zeroPoints();
  Value timesColumns(Value product);

  DotGeneralOp op;
  const PassSetting &setting;
  OpBuilder builder;
  TensorBuilder emit;
  const ProductSide rhs;
  int64_t depth = 1, width = 1;
  std::optional<LowBitWeights> weights;
  std::optional<MatrixNumbers> scales, zeros;
  Value elements;
  int64_t block = 0; ///< 0: there are no blocks.
  /// If blocks are along the columns, how many columns share a value.
  int64_t blockColumns = 0;
};

} // namespace

/// Whether everything but the weights allows a low-bit matmul.
bool LowBitProduct::isCandidate() {
  const ProductSide lhs = op.getSide(0);
  auto isFloat = [](Value value) {
    const Type type = elementOf(value);
    return type.isF32() || type.isF16() || type.isBF16();
  };
  return lhs.batching.empty() && !rhs.contracting.empty() && width > 1 &&
         depth > 0 && sizesOf(op).m > 0 && isMatrix(rhs) &&
         isFloat(op.getLhs()) && isFloat(op.getRhs()) &&
         isFloat(op.getResult());
}

/// Whether scales and zero points that are not per column have a common block
/// size: along the depth, or along the columns of each row.
bool LowBitProduct::chooseBlock() {
  for (const std::optional<MatrixNumbers> *each : {&scales, &zeros}) {
    if (!*each || (*each)->areOfColumns(depth))
      continue;
    const int64_t size = (*each)->repetition;
    if (size < leastBlock ||
        (block != 0 && block % size != 0 && size % block != 0))
      return chooseColumns();
    block = block == 0 ? size : std::min(block, size);
  }
  // Zero points per column have one block.
  if (zeros && block == 0)
    block = depth;
  return true;
}

bool LowBitProduct::chooseColumns() {
  block = 1;
  blockColumns = width;
  for (const std::optional<MatrixNumbers> *each : {&scales, &zeros}) {
    if (!*each)
      continue;
    const MatrixNumbers &matrix = **each;
    int64_t size = RepeatedConstant::repetition(matrix.columns);
    if (size < width)
      size = std::max(size, equalNeighbours(matrix.numbers, matrix.columns,
                                            width, matrix.depth, depth));
    if (size < width)
      blockColumns =
          blockColumns == width ? size : std::gcd(blockColumns, size);
  }
  return blockColumns == width ||
         blockColumns % LowBitProductOp::columnUnit == 0;
}

void LowBitProduct::moveElements() {
  elements = weights->elements;
  const Type type = elementOf(elements);
  for (Operation *move : llvm::reverse(weights->moves)) {
    IRMapping mapping;
    mapping.map(move->getOperand(0), elements);
    Operation *copy = builder.clone(*move, mapping);
    copy->setDiscardableAttrs(DictionaryAttr::get(op.getContext()));
    elements = copy->getResult(0);
    elements.setType(tensorOf(elements).clone(type));
  }
}

/// Subtracts a common zero point from the elements if these stay as narrow.
void LowBitProduct::dropZero() {
  std::optional<double> zero = zeros ? zeros->single() : std::nullopt;
  if (!zero || !isNarrowInteger(elementOf(elements)) ||
      *zero != std::trunc(*zero) || std::abs(*zero) > 255)
    return;
  if (*zero != 0) {
    const IntegerRange range = IntegerRange::of(elements);
    IntegerType type =
        narrowestFor({range.low - *zero, range.high - *zero}, op.getContext());
    IntegerType now = narrowestFor(range, op.getContext());
    if (!type || !now || type.getWidth() > now.getWidth())
      return;
    Value wide = emit.convert(elements, builder.getI32Type());
    elements =
        emit.convert(emit.sub(wide, emit.splat(*zero, tensorOf(wide))), type);
  }
  zeros.reset();
}

/// Narrows integers to the fewest bits; fewer than eight need blocks of whole
/// 32-bit words.
void LowBitProduct::narrowElements() {
  auto now = dyn_cast<IntegerType>(elementOf(elements));
  if (!now)
    return;
  IntegerType type = narrowestFor(IntegerRange::of(elements), op.getContext());
  const bool cutsDepth = block != depth && blockColumns == 0;
  if (type.getWidth() < 8 && cutsDepth && block % (32 / type.getWidth()) != 0)
    type = IntegerType::get(op.getContext(), 8, type.getSignedness());
  if (block == depth && blockColumns == 0 && type.getWidth() < 8)
    block = llvm::alignTo(depth, 32 / type.getWidth());
  elements = emit.convert(elements, type);
}

/// Whether widening weights in registers is faster than loading them wide.
bool LowBitProduct::isBestNarrow() {
  const Target &target = setting.target;
  auto typeOf = [](Value value) { return *elementTypeOf(elementOf(value)); };
  MatMulShape shape = MatMulShape::dense(sizesOf(op).m, width, depth);
  shape.holdsSums = true;
  shape.blocks.size = block;
  shape.blocks.columns = blockColumns;
  if (scalesBlocks())
    shape.blocks.scale = scales->numbers.type();
  if (zeros)
    shape.blocks.zero = typeOf(zeroPoints());
  const Arithmetic narrow = Arithmetic::ofNarrow(
      ElementType::F32, typeOf(elements), ElementType::F32, target);
  return setting.choose(op.getLoc(),
                        alternativesForWeights(shape, narrow, target)) ==
         "narrow-weights";
}

Value LowBitProduct::tensorOfNumbers(const MatrixNumbers &numbers) {
  return makeConstant(builder, op.getLoc(), ofBlocks(numbers));
}

/// The zero points as 8-bit integers if they fit, else as f32.
Value LowBitProduct::zeroPoints() {
  const Tensor numbers = ofBlocks(*zeros);
  SmallVector<double> values;
  double low = 0, high = 0;
  bool areIntegers = true;
  for (int64_t i = 0; i < numbers.size(); ++i) {
    values.push_back(numbers.toDouble(i));
    low = std::min(low, values.back());
    high = std::max(high, values.back());
    areIntegers &= values.back() == std::trunc(values.back());
  }
  const ElementType type = !areIntegers                 ? ElementType::F32
                           : low >= 0 && high <= 255    ? ElementType::UI8
                           : low >= -128 && high <= 127 ? ElementType::I8
                                                        : ElementType::F32;
  return makeConstant(builder, op.getLoc(),
                      tensorOfDoubles(type, numbers.shape(), values));
}

/// Multiplies the result by the scales per column.
Value LowBitProduct::timesColumns(Value product) {
  auto type = tensorOf(product);
  if (std::optional<double> scale = scales->single())
    return *scale == 1 ? product : emit.mul(product, *scale);
  Value numbers = emit.convert(
      makeConstant(builder, op.getLoc(), scales->ofBlocks(depth, depth, width)),
      builder.getF32Type());
  SmallVector<int64_t> sizes, places;
  for (int64_t dim : rhs.free()) {
    places.push_back(type.getRank() - int64_t(rhs.free().size()) +
                     int64_t(sizes.size()));
    sizes.push_back(tensorOf(rhs.value).getShape()[dim]);
  }
  return emit.mul(product, emit.broadcast(emit.reshape(numbers, sizes), places,
                                          emit.sizes(product)));
}

Value LowBitProduct::run() {
  if (!isCandidate())
    return {};
  weights = LowBitWeights::match(op.getRhs());
  if (!weights)
    return {};
  if (elementOf(weights->elements).isF16() && !setting.target.convertsF16)
    return {};
  for (auto [from, to] : {std::pair(&weights->scales, &scales),
                          std::pair(&weights->zeros, &zeros)}) {
    if (!*from)
      continue;
    *to = asMatrix(**from, weights->moves, rhs, depth, width);
    if (!*to)
      return {};
  }
  if (weights->isNarrowDifference && !areSmallIntegers(zeros->numbers))
    return {};
  // The CPU must convert the scales, too.
  if (scales && scales->numbers.type() == ElementType::F16 &&
      !setting.target.convertsF16)
    return {};
  moveElements();
  dropZero();
  if (!chooseBlock())
    return {};
  narrowElements();
  if (!isBestNarrow())
    return {};
  const Type f32 = builder.getF32Type();
  Value lhs =
      withContractedLast(emit, emit.convert(op.getLhs(), f32), op.getSide(0));
  Value product = builder.create<LowBitProductOp>(
      op.getLoc(),
      RankedTensorType::get(tensorOf(op.getResult()).getShape(), f32), lhs,
      computedLater(elements),
      scalesBlocks() ? tensorOfNumbers(*scales) : Value(),
      zeros ? zeroPoints() : Value(),
      builder.getDenseI64ArrayAttr(rhs.contracting),
      builder.getI64IntegerAttr(block),
      blockColumns == 0 ? IntegerAttr()
                        : builder.getI64IntegerAttr(blockColumns));
  if (std::optional<Precision> asked = askedPrecision(op))
    setPrecision(product.getDefiningOp(), *asked);
  if (scales && !scalesBlocks())
    product = timesColumns(product);
  return emit.convert(product, elementOf(op.getResult()));
}

ArrayRef<PatternInfo> lowBitProductsPatterns() {
  static const PatternInfo infos[] = {
      {narrowLabel,
       "dot_general(x, (convert(w : i8) - z) * s) -> cpu.low_bit_product(x, w, "
       "z) * s",
       narrowPass}};
  return infos;
}

void formLowBitProducts(func::FuncOp function, const PassSetting &setting,
                        PatternRun &run) {
  if (!run.isEnabled(narrowLabel))
    return;
  SmallVector<DotGeneralOp> found;
  function.walk([&](DotGeneralOp op) { found.push_back(op); });
  for (DotGeneralOp op : found) {
    Value value = LowBitProduct(op, setting).run();
    if (!value)
      continue;
    run.replace(narrowLabel, op, value);
    op.erase();
    run.graphIsWhole(narrowLabel);
  }
  // Constant folding would evaluate the old weights.
  if (!found.empty())
    removeDeadCode(function);
}

} // namespace sinter::cpu
