#include "backend/cpu/emit/AttentionKernel.h"

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/emit/DynamicKernel.h"
#include "backend/cpu/emit/Math.h"
#include "backend/cpu/emit/TileStages.h"
#include "backend/cpu/kernels/attention/Attention.h"
#include "backend/cpu/precision/SetPrecisions.h"
#include "graph/ProductPrecision.h"
#include "graph/Types.h"

#include <numeric>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A tensor with the operation's dimensions in their order.
struct Ordered {
  SmallVector<Dim> sizes;
  SmallVector<Distance> strides;

  Ordered(Value value, ArrayRef<int64_t> dims) {
    ArrayRef<Dim> shape = dimsOf(value);
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
bool keepsDynamic(AttentionOp op) {
  const Ordered query(op.getQuery(), op.getQueryDims()),
      key(op.getKey(), op.getKeyDims()),
      value(op.getValue(), op.getValueDims()),
      result(op.getResult(), op.getResultDims());
  const size_t heads = query.sizes.size() - 2;
  for (size_t i = 0; i < heads; ++i)
    if (query.sizes[i] != key.sizes[i] &&
        (query.sizes[i].isDynamic() || key.sizes[i].isDynamic()))
      return false;
  // What is the same of whatever size has one name.
  if (ArrayRef(key.sizes).drop_back() != ArrayRef(value.sizes).drop_back() ||
      query.sizes.back() != key.sizes.back())
    return false;
  if (Value mask = op.getMask()) {
    ArrayRef<Dim> sizes = dimsOf(mask);
    for (size_t i = 0; i <= heads; ++i)
      if (sizes[i] != 1 && sizes[i] != query.sizes[i])
        return false;
    if (sizes.back() != key.sizes[heads])
      return false;
  }
  return query.strides.back().isNumber() && query.rowStride().isNumber() &&
         key.rowStride().isNumber() && key.strides.back().isNumber() &&
         key.strides.back().number == 1 && value.rowStride().isNumber() &&
         result.rowStride().isNumber() && query.sizes.back().isStatic() &&
         value.sizes.back().isStatic();
}

/// How many heads of the query use one of the key's.
int64_t sharedHeads(Dim query, Dim key) {
  return query == key ? 1 : query.valueOr(1) / key.valueOr(1);
}

/// What the generator has no code for is anything (keepsDynamic).
AttentionShape shapeOfAttention(AttentionOp op) {
  Ordered query(op.getQuery(), op.getQueryDims());
  Ordered key(op.getKey(), op.getKeyDims());
  Ordered value(op.getValue(), op.getValueDims());
  Ordered result(op.getResult(), op.getResultDims());
  const size_t heads = query.sizes.size() - 2;
  AttentionShape shape;
  shape.rows = query.sizes[heads];
  shape.depth = query.sizes[heads + 1].valueOr(1);
  shape.keys = key.sizes[heads];
  shape.width = value.sizes[heads + 1].valueOr(1);
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
      shape.heads.push_back({query.sizes[i],
                             sharedHeads(query.sizes[i], key.sizes[i]),
                             query.strides[i], key.strides[i], value.strides[i],
                             maskStrides[i], result.strides[i]});
  return shape;
}

class AttentionKernel : public RootKernel {
public:
  AttentionKernel(KernelOp kernel, AttentionOp op, const Target &target)
      : RootKernel(kernel, op, target), op(op),
        storesTerms(hasWholeBlocks(target)),
        attention(shapeOfKernel(), target,
                  tensorOf(op.getQuery()).getElementType()),
        estimated(timesOf(target)) {
    if (usesTiles(estimated.front().kernel))
      tiles.emplace(shapeOfKernel(), target,
                    tilesNamed(estimated.front().kernel, tilesFor()));
  }

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.name = tiles ? estimated.front().kernel : "attention";
    if (!isDynamic(kernel) || tiles)
      plan.alternatives = estimated;
    plan.scratch.bytes =
        4 * (tiles ? tiles->scratchElements() : attention.scratchElements());
    plan.scratch.type = ElementType::F32;
    if (isDynamic(kernel) && keepsDynamic(op)) {
      const Dim keys = shapeOfAttention(op).keys;
      plan.work = DynamicTaskLoop{
          tiles ? tiles->taskExtents() : attention.taskExtents(),
          attention.flopsPerElement(), keys.isDynamic() ? keys : Dim(1)};
    } else {
      plan.work = TaskLoop{tiles ? tiles->tasks() : attention.tasks(),
                           attention.flops()};
    }
    return plan;
  }

  TileTermsOf possibleTerms() const override {
    return {{},
            tiles || hasEpilogue() || !storesTerms
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
            [&](KernelBuilder &e) { return coordinatesOf(e, at); }, memory);
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
        {operandTypeOf(op, 0), operandTypeOf(op, 1), operandTypeOf(op, 2)});
  }

  /// Where sizes are dynamic, of typical ones: what is chosen is the same.
  Alternatives timesOf(const Target &target) const {
    const AttentionShape shape = shapeOfKernel();
    if (!isDynamic(kernel))
      return alternativesFor(shape, target, tilesFor());
    return alternativesFor(typicalOf(shape), target,
                           keepsDynamic(op) ? tilesFor()
                                            : std::vector<AttentionTiles>());
  }

  AttentionShape shapeOfKernel() const {
    AttentionShape shape = shapeOfAttention(op);
    shape.hasEpilogue = hasEpilogue();
    if (auto cut = dyn_cast_or_null<SplitTermsOp>(kernel.rootOp())) {
      shape.parts = partsOf(cut, /*areBlocked=*/false);
      shape.parts->dynamicRows = rowsOfResult().dynamicRows;
    }
    return shape;
  }

  /// Whether blocks of columns are of one head each, and of whole vectors.
  bool hasWholeBlocks(const Target &target) const {
    const AttentionShape shape = shapeOfAttention(op);
    return target.hasMatrixUnits && target.f32Lanes == 16 &&
           getElementTypeOrSelf(op.getQuery()).isF32() &&
           getElementTypeOrSelf(yielded()).isF32() &&
           shape.width % TileTerms::blockColumns == 0 &&
           (!isDynamic(kernel) || keepsDynamic(op));
  }

  /// The result as a matrix: what is behind the dimension of rows are columns.
  TileTerms rowsOfResult() const {
    const ArrayRef<Dim> sizes = dimsOf(op.getResult());
    const size_t rowDim = size_t(*std::prev(op.getResultDims().end(), 2));
    const ArrayRef<Dim> rows = sizes.take_front(rowDim + 1);
    TileTerms parts;
    parts.columns = shapeOfAttention(op).resultRow;
    if (hasNamedDim(rows))
      parts.dynamicRows = rows.vec();
    else
      parts.width = parts.rows =
          std::accumulate(rows.begin(), rows.end(), Dim(1), std::multiplies<>())
              .value();
    return parts;
  }

  /// The coordinates of heads, row and column in the result.
  SmallVector<Value> coordinatesOf(KernelBuilder &e,
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
  bool storesTerms; ///< It could.
  Attention attention;
  Alternatives estimated;
  std::optional<TileAttention> tiles; ///< Where they are faster.
};

} // namespace

std::unique_ptr<RootKernel> cpu::createAttentionKernel(KernelOp kernel,
                                                       AttentionOp op,
                                                       const Target &target) {
  return std::make_unique<AttentionKernel>(kernel, op, target);
}
