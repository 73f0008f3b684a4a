#include "backend/cpu/emit/AttentionKernel.h"

#include "backend/cpu/SetPrecisions.h"
#include "backend/cpu/emit/Math.h"
#include "backend/cpu/emit/OpenKernel.h"
#include "backend/cpu/emit/TileStages.h"
#include "backend/cpu/kernels/Attention.h"
#include "backend/cpu/kernels/Estimates.h"
#include "graph/ProductPrecision.h"
#include "graph/Types.h"

#include <numeric>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A tensor with the operation's dimensions in their order.
struct Ordered {
  SmallVector<int64_t> sizes;
  SmallVector<Distance> strides;

  Ordered(Value value, ArrayRef<int64_t> dims) {
    ArrayRef<int64_t> shape = shapeOf(value);
    SmallVector<Distance> inMemory(shape.size(), Distance(1));
    for (size_t i = shape.size() - 1; i-- > 0;)
      inMemory[i] = inMemory[i + 1].times(shape[i + 1]);
    for (int64_t dim : dims) {
      sizes.push_back(shape[dim]);
      strides.push_back(inMemory[dim]);
    }
  }
  const Distance &rowStride() const { return strides[strides.size() - 2]; }
};

/// Whether the generator has code for the operation's sizes, some of which are
/// named: rows lie evenly in memory, and elements of a key side by side.
bool keepsOpen(AttentionOp op) {
  const Ordered query(op.getQuery(), op.getQueryDims()),
      key(op.getKey(), op.getKeyDims()),
      value(op.getValue(), op.getValueDims()),
      result(op.getResult(), op.getResultDims());
  const size_t heads = query.sizes.size() - 2;
  for (size_t i = 0; i < heads; ++i)
    if (query.sizes[i] != key.sizes[i] &&
        (isNamed(query.sizes[i]) || isNamed(key.sizes[i])))
      return false;
  // What is the same of whatever size has one name.
  if (ArrayRef(key.sizes).drop_back() != ArrayRef(value.sizes).drop_back() ||
      query.sizes.back() != key.sizes.back())
    return false;
  if (Value mask = op.getMask()) {
    ArrayRef<int64_t> sizes = shapeOf(mask);
    for (size_t i = 0; i <= heads; ++i)
      if (sizes[i] != 1 && sizes[i] != query.sizes[i])
        return false;
    if (sizes.back() != key.sizes[heads])
      return false;
  }
  return query.strides.back().isNumber() && query.rowStride().isNumber() &&
         key.rowStride().isNumber() && key.strides.back().isNumber() &&
         key.strides.back().number == 1 && value.rowStride().isNumber() &&
         result.rowStride().isNumber() && !isNamed(query.sizes.back()) &&
         !isNamed(value.sizes.back());
}

AttentionShape shapeOfAttention(AttentionOp op) {
  Ordered query(op.getQuery(), op.getQueryDims());
  Ordered key(op.getKey(), op.getKeyDims());
  Ordered value(op.getValue(), op.getValueDims());
  Ordered result(op.getResult(), op.getResultDims());
  const size_t heads = query.sizes.size() - 2;
  AttentionShape shape;
  shape.rows = query.sizes[heads];
  shape.depth = query.sizes[heads + 1];
  shape.keys = key.sizes[heads];
  shape.width = value.sizes[heads + 1];
  shape.queryRow = query.rowStride().number;
  shape.queryColumn = query.strides.back().number;
  shape.keyRow = key.rowStride().number;
  shape.keyColumn = key.strides.back().number;
  shape.valueRow = value.rowStride().number;
  shape.resultRow = result.rowStride().number;
  shape.scale = op.getScale().convertToDouble();
  shape.isCausal = op.getCausal();
  SmallVector<Distance> maskStrides(heads + 2, Distance(0));
  if (Value mask = op.getMask()) {
    shape.mask = op.getChosen() ? AttentionShape::Mask::Chosen
                                : AttentionShape::Mask::Added;
    Ordered added(mask, llvm::to_vector(llvm::seq<int64_t>(0, heads + 2)));
    for (size_t i = 0; i <= heads; ++i)
      maskStrides[i] = added.sizes[i] == 1 ? Distance(0) : added.strides[i];
    shape.maskRow = maskStrides[heads];
  }
  for (size_t i = 0; i < heads; ++i)
    if (query.sizes[i] > 1)
      shape.heads.push_back(
          {query.sizes[i],
           query.sizes[i] == key.sizes[i] ? 1 : query.sizes[i] / key.sizes[i],
           query.strides[i], key.strides[i], value.strides[i], maskStrides[i],
           result.strides[i]});
  return shape;
}

class AttentionKernel : public AnchorKernel {
public:
  AttentionKernel(KernelOp kernel, AttentionOp op, const Target &target)
      : AnchorKernel(kernel, op, target), op(op),
        storesParts(hasWholeBlocks(target)),
        attention(shapeOfKernel(), target,
                  tensorOf(op.getQuery()).getElementType()),
        estimated(timesOf(target)) {
    if (usesTiles(estimated.front().kernel))
      tiles.emplace(shapeOfKernel(), target,
                    tilesNamed(estimated.front().kernel, tilesFor()));
  }

  KernelPlan plan() const override {
    KernelPlan plan;
    plan.name = tiles ? estimated.front().kernel : "attention";
    plan.flops = attention.flops();
    plan.tasks = tiles ? tiles->tasks() : attention.tasks();
    if (!isOpen(kernel) || tiles)
      plan.alternatives = estimated;
    plan.scratchBytes =
        4 * (tiles ? tiles->scratchElements() : attention.scratchElements());
    plan.scratchType = ElementType::F32;
    plan.packings.resize(kernel.getInputs().size());
    if (isOpen(kernel)) {
      plan.flops = attention.flopsPerElement();
      const int64_t keys = shapeOfAttention(op).keys;
      plan.depth = isNamed(keys) ? keys : 1;
      if (keepsOpen(op))
        plan.taskParts = tiles ? tiles->taskParts() : attention.taskParts();
    }
    return plan;
  }

  TilePartsOf possibleParts() const override {
    return {{},
            tiles || hasEpilogue() || !storesParts
                ? std::nullopt
                : std::optional(rowsOfResult())};
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    const size_t inputs = kernel.getInputs().size();
    Value mask = op.getMask() ? memory[inputIndex(op.getMask())] : Value();
    AttentionEpilogue epilogue;
    if (hasEpilogue())
      epilogue = [this, memory](OpBuilder &builder, Location location,
                                Value vector, const AttentionPosition &at) {
        return epilogueAt(
            builder, location, vector, at.offset,
            [&](KernelBuilder &e) { return placeOf(e, at); }, memory);
      };
    epilogue.isLong = hasLongEpilogue();
    const AttentionOperands operands{memory[inputIndex(op.getQuery())],
                                     memory[inputIndex(op.getKey())],
                                     memory[inputIndex(op.getValue())],
                                     mask,
                                     memory[inputs],
                                     memory[inputs + 1]};
    auto exponential = [](OpBuilder &builder, Location location, Value x) {
      KernelBuilder code(builder, location);
      return emitExp(code, x);
    };
    if (tiles)
      return tiles->build(builder, location, task, operands, exponential,
                          epilogue);
    attention.build(builder, location, task, operands, exponential, epilogue);
  }

private:
  std::vector<AttentionTiles> tilesFor() const {
    return AttentionTiles::allOf(
        precisionOf(op),
        {numbersOf(op, 0), numbersOf(op, 1), numbersOf(op, 2)});
  }

  /// Where sizes are open, of typical ones: what is chosen is the same.
  Alternatives timesOf(const Target &target) const {
    const AttentionShape shape = shapeOfKernel();
    if (!isOpen(kernel))
      return alternativesFor(shape, target, tilesFor());
    return alternativesFor(typicalOf(shape), target,
                           keepsOpen(op) ? tilesFor()
                                         : std::vector<AttentionTiles>());
  }

  AttentionShape shapeOfKernel() const {
    AttentionShape shape = shapeOfAttention(op);
    shape.hasEpilogue = hasEpilogue();
    if (auto cut = dyn_cast_or_null<CutPartsOp>(kernel.rootOp())) {
      shape.parts = partsOf(cut, /*areBlocked=*/false);
      shape.parts->openRows = rowsOfResult().openRows;
    }
    return shape;
  }

  /// Whether blocks of columns are of one head each, and of whole vectors.
  bool hasWholeBlocks(const Target &target) const {
    const AttentionShape shape = shapeOfAttention(op);
    return target.hasMatrixUnits && target.f32Lanes == 16 &&
           getElementTypeOrSelf(op.getQuery()).isF32() &&
           getElementTypeOrSelf(yielded()).isF32() &&
           shape.width % TileParts::blockColumns == 0 &&
           (!isOpen(kernel) || keepsOpen(op));
  }

  /// The result as a matrix: what is behind the dimension of rows are columns.
  TileParts rowsOfResult() const {
    const ArrayRef<int64_t> sizes = shapeOf(op.getResult());
    const size_t rowDim = size_t(*std::prev(op.getResultDims().end(), 2));
    const ArrayRef<int64_t> rows = sizes.take_front(rowDim + 1);
    TileParts parts;
    parts.columns = shapeOfAttention(op).resultRow;
    if (hasNamed(rows))
      parts.openRows = rows.vec();
    else
      parts.rows = parts.width = std::accumulate(
          rows.begin(), rows.end(), int64_t(1), std::multiplies<>());
    return parts;
  }

  /// Heads, row and column as a place in the result.
  SmallVector<Value> placeOf(KernelBuilder &e,
                             const AttentionPosition &at) const {
    ArrayRef<int64_t> dims = op.getResultDims();
    const Ordered query(op.getQuery(), op.getQueryDims());
    const size_t heads = dims.size() - 2;
    SmallVector<Value> place(dims.size());
    size_t next = 0;
    for (size_t i = 0; i < heads; ++i)
      place[dims[i]] = query.sizes[i] > 1 ? at.heads[next++] : e.index(0);
    place[dims[heads]] = at.row;
    place[dims[heads + 1]] = at.column;
    return place;
  }

  mutable AttentionOp op;
  bool storesParts; ///< It could.
  Attention attention;
  Alternatives estimated;
  std::optional<TileAttention> tiles; ///< Where they are faster.
};

} // namespace

std::unique_ptr<AnchorKernel> cpu::createAttentionKernel(KernelOp kernel,
                                                         AttentionOp op,
                                                         const Target &target) {
  return std::make_unique<AttentionKernel>(kernel, op, target);
}
