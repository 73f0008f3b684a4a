//===- DynamicMatMulKernel.cpp - kernels of products of dynamic sizes -----===//

#include "backend/cpu/emit/DynamicMatMulKernel.h"

#include "backend/cpu/emit/ProductKernel.h"
#include "backend/cpu/kernels/amx/TileMatrices.h"
#include "backend/cpu/kernels/gemm/MatMul.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// An operand, whose dimensions lie one after the other in memory.
struct Matrix {
  ArrayRef<Dim> shape;
  SmallVector<Distance> strides;

  explicit Matrix(Value value)
      : shape(dimsOf(value)), strides(shape.size(), Distance(1)) {
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i].times(shape[i]);
  }

  /// The sizes other than 1 of \p dims, and how far apart their elements are,
  /// taken as one dimension; nothing if they do not lie evenly.
  struct Collapsed {
    std::vector<Dim> sizes;
    Distance stride = 1;
  };
  std::optional<Collapsed> collapse(ArrayRef<int64_t> dims) const {
    Collapsed all;
    Distance next;
    for (int64_t dim : llvm::reverse(dims)) {
      if (shape[dim] == 1)
        continue;
      if (all.sizes.empty())
        all.stride = strides[dim];
      else if (strides[dim] != next)
        return std::nullopt;
      all.sizes.insert(all.sizes.begin(), shape[dim]);
      next = strides[dim].times(shape[dim]);
    }
    return all;
  }
};

} // namespace

/// What code takes as an index: a number, or one dynamic size.
static std::optional<Dim> asIndex(const Distance &distance) {
  if (distance.isNumber())
    return distance.number;
  if (distance.sizes.size() == 1 && distance.number == 1)
    return distance.sizes.front();
  return std::nullopt;
}

/// The one size that there is: 1, a product of numbers, or one dynamic size.
static std::optional<Dim> soleSize(ArrayRef<Dim> sizes) {
  Dim size = 1;
  for (Dim each : sizes)
    if (size == 1)
      size = each;
    else if (size.isDynamic() || each.isDynamic())
      return std::nullopt;
    else
      size *= each;
  return size;
}

static std::optional<MatMulShape> formOf(const stablehlo::ProductSide &left,
                                         const stablehlo::ProductSide &right,
                                         Value product) {
  const Matrix lhs(left.value), rhs(right.value), result(product);
  if (isStaticShape(lhs.shape) && isStaticShape(rhs.shape))
    return std::nullopt;
  auto isEmpty = [](ArrayRef<Dim> sizes) {
    return llvm::is_contained(sizes, Dim(0));
  };
  if (isEmpty(lhs.shape) || isEmpty(rhs.shape))
    return std::nullopt;
  const auto rows = lhs.collapse(left.free()),
             columns = rhs.collapse(right.free()),
             lhsDepth = lhs.collapse(left.contracting),
             rhsDepth = rhs.collapse(right.contracting);
  if (!rows || !columns || !lhsDepth || !rhsDepth)
    return std::nullopt;
  const auto width = soleSize(columns->sizes),
             depth = soleSize(lhsDepth->sizes),
             rhsLength = soleSize(rhsDepth->sizes),
             aRow = asIndex(rows->stride), aColumn = asIndex(lhsDepth->stride),
             bColumn = asIndex(columns->stride),
             bRow = asIndex(rhsDepth->stride);
  if (!width || !depth || !rhsLength || !aRow || !aColumn || !bColumn || !bRow)
    return std::nullopt;
  MatMulShape shape;
  shape.dynamic = {rows->sizes, *width,
                   depth->isDynamic() ? *rhsLength : *depth};
  shape.aRowStride = *aRow;
  shape.aColumnStride = *aColumn;
  shape.cRowStride = *width;
  shape.bLayout = MatMulShape::BLayout::Rows;
  if (*bColumn == 1 || *width == 1) {
    shape.bStride = *bRow;
  } else if (*bRow == 1 && shape.dynamic->depth.isStatic()) {
    shape.bStride = *bColumn;
    shape.bLayout = MatMulShape::BLayout::Transposed;
  } else {
    return std::nullopt;
  }
  for (auto [i, dims] :
       llvm::enumerate(llvm::zip_equal(left.batching, right.batching))) {
    auto [mine, theirs] = dims;
    const Dim size =
        lhs.shape[mine].isDynamic() ? rhs.shape[theirs] : lhs.shape[mine];
    if (size != 1)
      shape.batch.push_back(
          {size, lhs.strides[mine], rhs.strides[theirs], result.strides[i]});
  }
  return shape;
}

static std::optional<MatMulShape> formOf(Operation *op) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return formOf(dot.getSide(0), dot.getSide(1), dot.getResult());
  auto distances = dyn_cast<ZeroPointProductOp>(op);
  if (!distances)
    return std::nullopt;
  auto shape =
      formOf(distances.getSide(0), distances.getSide(1), distances.getResult());
  if (!shape || shape->aColumnStride != 1)
    return std::nullopt;
  shape->turnsB = distances.getTurned();
  return shape;
}

bool cpu::isDynamicMatMul(Operation *op) { return formOf(op).has_value(); }

/// What tiles may multiply for \p op; nothing where they cannot.
static std::vector<TileArithmetic>
tilesFor(Operation *op, const MatMulShape &shape, const Target &target) {
  if (!TileMatrices::supports(shape, target))
    return {};
  return tilesOf(op, target, /*hasWeights=*/false);
}

static constexpr StringRef onVectors = "matmul";

/// What could compute the product, by the times that decide. Products of bytes
/// are the same in any kernel.
static Alternatives alternativesOf(Operation *op, const MatMulShape &shape,
                                   const Target &target) {
  const MatMulShape typical =
      typicalOf(shape.dynamic->depth.valueOr(mostDepthOfChoice));
  return alternativesFor(
      onVectors, typical,
      2.0 * double(typical.m) * double(typical.n) * double(typical.k),
      arithmeticOf(op, target), target, tilesFor(op, shape, target));
}

/// The kernels among which the depth decides, the one of the shortest first.
static SmallVector<KernelOfDepth>
kernelsOf(Operation *op, const MatMulShape &shape, const Target &target) {
  const Arithmetic arithmetic = arithmeticOf(op, target);
  if (shape.dynamic->depth.isDynamic() && isFloat(arithmetic.accumulator))
    return kernelsOfDepths(onVectors, arithmetic, target,
                           tilesFor(op, shape, target));
  return {{0, alternativesOf(op, shape, target).front().kernel}};
}

bool cpu::hasDynamicTiles(Operation *op, const Target &target) {
  return llvm::any_of(
      kernelsOf(op, *formOf(op), target),
      [](const KernelOfDepth &each) { return usesTiles(each.kernel); });
}

namespace {

class DynamicMatMulKernel : public ProductKernel {
public:
  DynamicMatMulKernel(KernelOp kernel, Operation *op, const Target &target)
      : ProductKernel(kernel, op, target), shape(*formOf(op)),
        product(shape, target, arithmeticOf(op, target)),
        estimated(alternativesOf(op, shape, target)),
        tilesAreSmall(hasFewRegisters(target)) {
    const std::vector<TileArithmetic> ofTiles = tilesFor(op, shape, target);
    for (const KernelOfDepth &each : kernelsOf(op, shape, target)) {
      Way way{each.mostDepth, {}};
      if (usesTiles(each.kernel))
        way.tiles.emplace(shape, target, tilesNamed(each.kernel, ofTiles));
      ways.push_back(std::move(way));
    }
  }

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.name = estimated.front().kernel;
    plan.alternatives = estimated;
    plan.sharing = sharingOfDynamic(tilesAreSmall);
    plan.work = DynamicTaskLoop{
        shape.taskExtents(), 2.0 * double(shape.dynamic->depth.valueOr(1)),
        shape.dynamic->depth.isDynamic() ? shape.dynamic->depth : Dim(1)};
    const uint64_t elementBytes = byteSize(product.scratchType());
    Scratch &scratch = plan.scratch;
    scratch.type = product.scratchType();
    for (const Way &way : ways) {
      if (way.tiles) {
        scratch.type = ElementType::F32;
        scratch.bytes =
            std::max(scratch.bytes, uint64_t(way.tiles->scratchBytes()));
        continue;
      }
      scratch.bytes = std::max(
          scratch.bytes, uint64_t(product.scratchElements()) * elementBytes);
      scratch.size = shape.dynamic->depth;
      scratch.bytesEach = uint64_t(product.scratchOfDepth()) * elementBytes;
    }
    return plan;
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    if (!tilesOfWays())
      return emitOnVectors(builder, location, task, memory);
    VectorBuilder code(builder, location);
    TileRegisters registers = tilesOfWays()->registersIn(code);
    SmallVector<int64_t> depths;
    for (const Way &way : ways)
      depths.push_back(way.mostDepth);
    auto emit = [&](size_t number) {
      const Way &way = ways[number];
      if (!way.tiles)
        return emitOnVectors(builder, location, task, memory);
      MatMulRequest request = requestIn(memory);
      request.zeros = zerosOfTiles(builder, location, memory);
      way.tiles->build(code, registers, task, request);
    };
    code.dispatch(code.index(shape.dynamic->depth), depths, emit);
  }

private:
  /// For depths up to that many, but for the last one; without tiles on
  /// vectors.
  struct Way {
    int64_t mostDepth;
    std::optional<TileMatrices> tiles;
  };

  const TileMatrices *tilesOfWays() const {
    for (const Way &way : ways)
      if (way.tiles)
        return &*way.tiles;
    return nullptr;
  }

  void emitOnVectors(OpBuilder &builder, Location location, Value task,
                     ValueRange memory) const {
    MatMulRequest request = requestIn(memory);
    if (!product.scratchElements())
      request.scratch = {};
    request.zeros = zerosIn(builder, location, memory);
    product.build(builder, location, task, request);
  }

  MatMulShape shape;
  MatMul product;
  Alternatives estimated;
  bool tilesAreSmall;
  std::vector<Way> ways; ///< The one of the shortest depths first.
};

} // namespace

std::unique_ptr<RootKernel>
cpu::createDynamicMatMulKernel(KernelOp kernel, Operation *op,
                               const Target &target) {
  return std::make_unique<DynamicMatMulKernel>(kernel, op, target);
}
