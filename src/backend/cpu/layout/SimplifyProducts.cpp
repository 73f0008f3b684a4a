#include "backend/cpu/layout/SimplifyProducts.h"

#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/quantized/Int8Products.h"
#include "backend/cpu/quantized/ZeroPointProducts.h"
#include "backend/cpu/target/PassSetting.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "graph/ArithmeticCount.h"
#include "graph/ExactSums.h"
#include "graph/ProductPrecision.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/TensorBuilder.h"
#include "passes/LowerQuantized.h"

using namespace mlir;
using sinter::nn::TensorBuilder;
using sinter::stablehlo::DotGeneralOp;
using sinter::stablehlo::ProductSide;

namespace sinter::cpu {

/// The operation on other operands, with a result of element type \p element.
static Value productOf(TensorBuilder &emit, DotGeneralOp op, Value lhs,
                       Value rhs, Type element) {
  Value product = emit.make<DotGeneralOp>(
      RankedTensorType::get(tensorOf(op.getResult()).getShape(), element), lhs,
      rhs, op.getDotDimensionNumbersAttr(), op.getPrecisionConfigAttr(),
      stablehlo::DotAlgorithmAttr());
  // An algorithm is one of the operands' types; how exact it is, is kept.
  if (op.getAlgorithmAttr())
    if (std::optional<Precision> asked = askedPrecision(op))
      setPrecision(product.getDefiningOp(), *asked);
  return product;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// Whether each sum over \p side's contracting dimensions has fewer than
/// \p length terms. Asked where the work does not count, of which open
/// dimensions say nothing.
static bool hasSumsBelow(int64_t length, const ProductSide &side) {
  const ArrayRef<int64_t> shape = tensorOf(side.value).getShape();
  int64_t terms = 1;
  for (int64_t dim : side.contracting)
    if (ShapedType::isDynamic(shape[dim]) ||
        llvm::MulOverflow(terms, shape[dim], terms))
      return false;
  return terms < length;
}

namespace {
/// Every pair of elements that a product multiplies, as one tensor of
/// dimensions [batching, free of the lhs, contracting, free of the rhs].
struct Pairs {
  nn::Sizes sizes;
  /// Where an operand's dimensions are.
  SmallVector<int64_t> places[2];
  SmallVector<int64_t> contracting;

  Pairs(TensorBuilder &emit, DotGeneralOp op) {
    const ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
    for (unsigned side : {0, 1})
      places[side].resize(tensorOf(op.getSide(side).value).getShape().size());
    add(0, emit.sizes(lhs.value), lhs.batching);
    add(0, emit.sizes(lhs.value), lhs.free());
    add(0, emit.sizes(lhs.value), lhs.contracting);
    add(1, emit.sizes(rhs.value), rhs.free());
    for (auto [i, dim] : llvm::enumerate(rhs.batching))
      places[1][dim] = i;
    for (auto [mine, its] : llvm::zip(rhs.contracting, lhs.contracting)) {
      places[1][mine] = places[0][its];
      contracting.push_back(places[0][its]);
    }
  }

  Value multiply(TensorBuilder &emit, Value lhs, Value rhs) const {
    return emit.mul(emit.broadcast(lhs, places[0], sizes),
                    emit.broadcast(rhs, places[1], sizes));
  }

private:
  void add(unsigned side, const nn::Sizes &from, ArrayRef<int64_t> dims) {
    for (int64_t dim : dims) {
      places[side][dim] = sizes.size();
      sizes.push_back(from[dim]);
    }
  }
};
} // namespace

/// Four products; for short sums, which may cancel, elementwise: a product's
/// kernel fuses multiplications with additions, and so rounds otherwise than
/// the multiplication of two complex numbers.
static Value complexProduct(TensorBuilder &emit, DotGeneralOp op) {
  constexpr int64_t shortest = 8;
  Type element = cast<ComplexType>(tensorOf(op.getResult()).getElementType())
                     .getElementType();
  Value lhs[] = {emit.make<stablehlo::RealOp>(op.getLhs()),
                 emit.make<stablehlo::ImagOp>(op.getLhs())};
  Value rhs[] = {emit.make<stablehlo::RealOp>(op.getRhs()),
                 emit.make<stablehlo::ImagOp>(op.getRhs())};
  const bool isShort = hasSumsBelow(shortest, op.getSide(0));
  const Pairs pairs(emit, op);
  auto part = [&](unsigned i, unsigned j) {
    return isShort ? pairs.multiply(emit, emit.convert(lhs[i], element),
                                    emit.convert(rhs[j], element))
                   : productOf(emit, op, lhs[i], rhs[j], element);
  };
  auto sum = [&](Value parts) {
    return isShort ? emit.sum(parts, pairs.contracting) : parts;
  };
  Value real = sum(emit.sub(part(0, 0), part(1, 1)));
  Value imaginary = sum(emit.add(part(0, 1), part(1, 0)));
  return emit.make<stablehlo::ComplexOp>(real, imaginary);
}

/// A float type whose sums are those of the operation; null if there is none.
static Type accumulatorOf(DotGeneralOp op) {
  MLIRContext *context = op.getContext();
  Type lhs = tensorOf(op.getLhs()).getElementType(),
       rhs = tensorOf(op.getRhs()).getElementType(),
       result = tensorOf(op.getResult()).getElementType();
  if (isa<FloatType>(lhs) && isa<FloatType>(rhs) && isa<FloatType>(result))
    return result.isF64() ? Type(Float64Type::get(context))
                          : Type(Float32Type::get(context));
  auto isNumber = [](Type type) {
    return isa<IntegerType>(type) && !type.isInteger(1);
  };
  if (!isNumber(lhs) || !isNumber(rhs) || !isNumber(result))
    return {};
  const IntegerRange sums = rangeOfSums(op, IntegerRange::of(op.getLhs()),
                                        IntegerRange::of(op.getRhs()));
  if (!holds(result, sums))
    return {};
  return firstHolding({Float32Type::get(context), Float64Type::get(context)},
                      sums);
}

/// By bytes, unless f32 holds the sums and takes less.
static Value asBytes(DotGeneralOp op, const PassSetting &setting) {
  const std::optional<Int8Product> product = Int8Product::match(op);
  if (!product)
    return {};
  const Type sums = accumulatorOf(op);
  if (sums && sums.isF32()) {
    const ProductSizes sizes = sizesOf(op);
    const Arithmetic bytes = Arithmetic::ofBytes(setting.target);
    if (setting.choose(
            op.getLoc(),
            alternativesForBytes(MatMulShape::dense(sizes.m, sizes.n, sizes.k),
                                 bytes, setting.target)) != "bytes")
      return {};
  }
  return product->emit(setting.target);
}

static Value asComputedBytes(DotGeneralOp op, const PassSetting &setting) {
  const Type sums = accumulatorOf(op);
  return asDistanceProduct(op, sums && sums.isF32(), setting);
}

/// What stands for the result; null where the operation stays.
static Value changeElements(DotGeneralOp op, const PassSetting &) {
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  Type element = tensorOf(op.getResult()).getElementType();
  if (isa<ComplexType>(element))
    return complexProduct(emit, op);
  Type accumulator = accumulatorOf(op);
  auto isAccumulator = [&](Value value) {
    return tensorOf(value).getElementType() == accumulator;
  };
  if (!accumulator || (isAccumulator(op.getLhs()) &&
                       isAccumulator(op.getRhs()) && element == accumulator))
    return {};
  Value sums = productOf(emit, op, emit.convert(op.getLhs(), accumulator),
                         emit.convert(op.getRhs(), accumulator), accumulator);
  if (isa<IntegerType>(element))
    sums.getDefiningOp()->setDiscardableAttr(exactProductAttribute,
                                             builder.getUnitAttr());
  return emit.convert(sums, element);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Whether \p side is one vector. The single row or column of a computed value
/// is one of many in a program where that dimension is dynamic: then short
/// sums, for which it makes little difference, are those of a matrix.
static bool isVector(const ProductSide &side) {
  constexpr int64_t shortest = 32;
  const ArrayRef<int64_t> shape = tensorOf(side.value).getShape();
  const SmallVector<int64_t> free = side.free();
  if (!llvm::all_of(free, [&](int64_t dim) { return shape[dim] == 1; }))
    return false;
  return free.empty() || isWeight(side.value) || !hasSumsBelow(shortest, side);
}

/// The sums over products of operand \p matrix and the other one, a vector, in
/// the matrix's order of dimensions.
static Value sumOfProducts(TensorBuilder &emit, DotGeneralOp op,
                           const Axes &axes, unsigned matrix) {
  const ProductSide from = op.getSide(matrix), to = op.getSide(1 - matrix);
  nn::Sizes sizes;
  SmallVector<int64_t> places;
  const nn::Sizes all = emit.sizes(to.value);
  for (auto [dim, list] : llvm::enumerate(axes.operands[1 - matrix]))
    if (auto place = axes.asLarge(list, axes.operands[matrix])) {
      places.push_back(*place);
      sizes.push_back(all[dim]);
    }
  Value spread = emit.broadcast(emit.reshape(to.value, sizes), places,
                                emit.sizes(from.value));
  return emit.sum(emit.mul(from.value, spread), from.contracting);
}

/// A product with a vector reads its matrix once, and so in the order of
/// memory.
static Value reduceByVector(DotGeneralOp op, const PassSetting &) {
  const ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  const bool isPacked = rhs.batching.empty() && isWeight(op.getRhs());
  Type element = tensorOf(op.getResult()).getElementType();
  const unsigned matrix = isVector(rhs) ? 0 : 1;
  if ((matrix == 1 && (!isVector(lhs) || isPacked)) ||
      lhs.contracting.empty() || !(element.isF32() || element.isF64()) ||
      tensorOf(op.getLhs()).getElementType() != element ||
      tensorOf(op.getRhs()).getElementType() != element)
    return {};
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  const Axes axes = *axesOf(op);
  Value sums = sumOfProducts(emit, op, axes, matrix);
  // Where the dimensions that are left are in the result.
  SmallVector<int64_t> places;
  for (size_t dim = 0; dim < axes.operands[matrix].size(); ++dim)
    if (auto place = axes.resultOf(matrix, dim))
      places.push_back(*place);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, places.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  if (!llvm::is_sorted(order))
    sums = emit.transpose(sums, order);
  nn::Sizes sizes;
  for (const ProductSide *side : {&lhs, &rhs}) {
    const nn::Sizes all = emit.sizes(side->value);
    for (int64_t dim : side == &lhs ? side->batching : ArrayRef<int64_t>())
      sizes.push_back(all[dim]);
    for (int64_t dim : side->free())
      sizes.push_back(all[dim]);
  }
  return emit.reshape(sums, sizes);
}

/// Whether \p op has so many operations, for what is exact in any order. Sums
/// of floats follow from their own length: a small product is computed as a
/// large one is, or as one of which nobody knows how large it will be.
static bool hasWork(DotGeneralOp op, double leastWork) {
  return !isa<IntegerType>(getElementTypeOrSelf(op.getType())) ||
         isOfUnknownSize(op.getLhs().getType()) ||
         isOfUnknownSize(op.getRhs().getType()) ||
         arithmeticCount(*op) >= leastWork;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Brings an operand's dimensions into the order batching, then free and
/// contracting ones, of which \p depthFirst says which come first; \p batching
/// and \p contracting become their numbers there.
static Value arrange(TensorBuilder &emit, Value operand,
                     SmallVector<int64_t> &batching,
                     SmallVector<int64_t> &contracting, bool depthFirst) {
  SmallVector<int64_t> order(batching);
  const SmallVector<int64_t> free =
      ProductSide{operand, batching, contracting}.free();
  llvm::append_range(order, depthFirst ? contracting : free);
  llvm::append_range(order, depthFirst ? free : contracting);
  const int64_t depthAt = batching.size() + (depthFirst ? 0 : free.size());
  for (auto [i, dim] : llvm::enumerate(batching))
    dim = i;
  for (auto [i, dim] : llvm::enumerate(contracting))
    dim = depthAt + i;
  if (llvm::is_sorted(order))
    return operand;
  return emit.transpose(operand, order);
}

/// Changes the operation, whose result stays what it is.
static Value arrangeDimensions(DotGeneralOp op, const PassSetting &) {
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  const ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  SmallVector<int64_t> dims[] = {
      llvm::to_vector(lhs.batching), llvm::to_vector(rhs.batching),
      llvm::to_vector(lhs.contracting), llvm::to_vector(rhs.contracting)};
  op.getLhsMutable().assign(
      arrange(emit, op.getLhs(), dims[0], dims[2], /*depthFirst=*/false));
  op.getRhsMutable().assign(
      arrange(emit, op.getRhs(), dims[1], dims[3], /*depthFirst=*/true));
  op.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
      op.getContext(), dims[0], dims[1], dims[2], dims[3]));
  return op.getResult();
}

namespace {
struct ProductRewrite {
  PatternInfo info;
  /// Whether it is for products that have a kernel as they stand, too.
  bool withKernel;
  /// Products of integers of fewer operations stay as they are.
  double leastWork;
  /// The result's value: of other operations, of this one, changed, or null
  /// where nothing was done.
  Value (*rewrite)(DotGeneralOp op, const PassSetting &setting);
};
} // namespace

static constexpr llvm::StringLiteral passName = "cpu-simplify-products";

static constexpr double leastWork = 4096;
/// Weights of bytes would be widened at each run otherwise.
static constexpr double leastWorkOfBytes = 1024;

/// In this order.
static const ProductRewrite rewrites[] = {
    {{"product-of-bytes",
      "dot_general(convert(x) - z, w) : i32 -> cpu.int8_product(x, w) - "
      "z * sums(w)",
      passName},
     /*withKernel=*/false,
     leastWorkOfBytes,
     asBytes},
    {{"product-of-computed-bytes",
      "dot_general(convert(x) - a, convert(y) - b) : i32 -> "
      "cpu.zero_point_product(x, y, a, b)",
      passName},
     /*withKernel=*/false,
     leastWork,
     asComputedBytes},
    {{"product-type",
      "dot_general(x, y) : bf16, i8, complex -> dot_general(convert(x), "
      "convert(y)) : f32, f64",
      passName},
     /*withKernel=*/false,
     leastWork,
     changeElements},
    {{"product-by-vector",
      "dot_general(matrix, vector) -> reduce(multiply(matrix, "
      "broadcast_in_dim(vector)))",
      passName},
     /*withKernel=*/true,
     /*leastWork=*/0,
     reduceByVector},
    {{"arrange-product",
      "dot_general(x, y) -> dot_general(transpose(x), transpose(y))", passName},
     /*withKernel=*/false,
     leastWork,
     arrangeDimensions}};

ArrayRef<PatternInfo> simplifyProductsPatterns() {
  static const std::vector<PatternInfo> infos = [] {
    std::vector<PatternInfo> all;
    for (const ProductRewrite &rewrite : rewrites)
      all.push_back(rewrite.info);
    return all;
  }();
  return infos;
}

void simplifyProducts(func::FuncOp function, const PassSetting &setting,
                      PatternRun &run) {
  for (const ProductRewrite &each : rewrites) {
    if (!run.isEnabled(each.info.label))
      continue;
    SmallVector<DotGeneralOp> found;
    function.walk([&](DotGeneralOp op) {
      if (each.withKernel >= isRoot(op) && hasWork(op, each.leastWork))
        found.push_back(op);
    });
    for (DotGeneralOp op : found) {
      Value value = each.rewrite(op, setting);
      if (!value)
        continue;
      if (value.getDefiningOp() == op) {
        run.count(each.info.label);
      } else {
        run.replace(each.info.label, op, value);
        op.erase();
      }
      run.graphIsWhole(each.info.label);
    }
  }
}

} // namespace sinter::cpu
