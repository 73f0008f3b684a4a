#include "formats/paddle/write/SizesAndIndices.h"

#include "formats/import/WriterRule.h"

#include "graph/IntegerRange.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::paddle {

Var shapeOf(OperatorWriter &e, const Var &x) {
  return e.make("shape", {{"Input", x}}, {},
                e.typed({x.rank()}, IntegerType::get(e.op->getContext(), 32)));
}

Var upTo(OperatorWriter &e, const Var &end) {
  return e.make("range",
                {{"Start", e.integers({0}, {1})},
                 {"End", end},
                 {"Step", e.integers({1}, {1})}},
                {{"dtype", *e.typeNumber(e.i64())}},
                e.typed({ShapedType::kDynamic}, e.i64()));
}

Var count(OperatorWriter &e, int64_t size, ArrayRef<int64_t> shape) {
  return size <= formats::mostCounted
             ? e.integers(identity(size), shape)
             : e.reshape(upTo(e, e.integers({size}, {1})), shape);
}

Var sizeOf(OperatorWriter &e, Value value, int64_t dim) {
  const int64_t size = tensorOf(value).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return e.integers({size}, {1});
  Var sizes = shapeOf(e, e.operand(value));
  return e.cast(e.slice(sizes, {0}, {dim}, {dim + 1}, {1}), e.i64());
}

void SizeProduct::multiply(OperatorWriter &e, Value value, int64_t dim) {
  const int64_t size = tensorOf(value).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return multiply(size);
  Var read = sizeOf(e, value, dim);
  open = open ? e.binary("elementwise_mul", *open, read) : read;
}

Var SizeProduct::var(OperatorWriter &e) const {
  Var number = e.integers({factor}, {1});
  if (!open)
    return number;
  return factor == 1 ? *open : e.binary("elementwise_mul", *open, number);
}

SmallVector<SizeProduct> stridesOf(OperatorWriter &e, Value value,
                                   ArrayRef<int64_t> dims) {
  SmallVector<SizeProduct> strides(dims.size() + 1);
  SizeProduct all;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = all;
    all.multiply(e, value, dims[i]);
  }
  strides.back() = all;
  return strides;
}

Var reshape(OperatorWriter &e, const Var &x, ArrayRef<int64_t> shape,
            llvm::function_ref<Vars()> sizes) {
  if (llvm::count_if(shape, ShapedType::isDynamic) <= 1)
    return e.reshape(x, shape);
  Var whole =
      e.cast(e.concat(sizes(), 0), IntegerType::get(e.op->getContext(), 32));
  return e.make("reshape2", {{"X", x}, {"Shape", whole}},
                {{"shape", Ints(shape.size(), -1)}},
                e.typed(shape, x.element()));
}

Var countAlong(OperatorWriter &e, Value value, int64_t of, int64_t place,
               int64_t rank) {
  const int64_t size = tensorOf(value).getDimSize(of);
  Ints shape(rank, 1);
  shape[place] = size;
  if (!ShapedType::isDynamic(size))
    return count(e, size, shape);
  return e.reshape(upTo(e, sizeOf(e, value, of)), shape);
}

Var expand(OperatorWriter &e, const Var &x, ArrayRef<int64_t> shape,
           const Vars &sizes) {
  if (x.shape() == shape && x.type.hasStaticShape())
    return x;
  auto result = e.typed(shape, x.element());
  if (result.hasStaticShape())
    return e.make("expand_v2", {{"X", x}}, {{"shape", Ints(shape)}}, result);
  Var whole =
      e.cast(e.concat(sizes, 0), IntegerType::get(e.op->getContext(), 32));
  return e.make("expand_v2", {{"X", x}, {"Shape", whole}},
                {{"shape", dynamicShape(shape)}}, result);
}

/// Column \p k of the index vectors, as i64 of [batch...].
static Var column(OperatorWriter &e, const IndexedWindows &w, int64_t k) {
  Var indices = e.cast(e.operand(w.indices), e.i64());
  if (w.vectorDim == indices.rank())
    return indices;
  Var one = e.slice(indices, {w.vectorDim}, {k}, {k + 1}, {1});
  return e.squeeze(one, {w.vectorDim});
}

Var startIndices(OperatorWriter &e, const IndexedWindows &w, int64_t k) {
  Var first = column(e, w, k);
  if (!w.clamps)
    return first;
  const int64_t dim = w.mapped[k], size = w.shape[dim];
  const auto range = IntegerRange::of(w.indices);
  const bool isDynamic = ShapedType::isDynamic(size);
  if (!isDynamic && range.low >= 0 &&
      range.high <= static_cast<double>(size - w.sizes[dim]))
    return first;
  auto bounded = [&](const char *type, const Var &bound) {
    Var fit = first.rank() == 0 ? e.reshape(bound, {}) : bound;
    first =
        e.make(type, {{"X", first}, {"Y", fit}}, {{"axis", -1}}, first.type);
  };
  bounded("elementwise_max", e.integers({0}, {1}));
  bounded("elementwise_min",
          isDynamic ? e.binary("elementwise_sub", sizeOf(e, w.tensor, dim),
                               e.integers({w.sizes[dim]}, {1}))
                    : e.integers({size - w.sizes[dim]}, {1}));
  return first;
}

Var rowsOf(OperatorWriter &e, const IndexedWindows &w) {
  const Ints listed = w.listed(), batch = w.batchDims();
  const auto batchRank = static_cast<int64_t>(batch.size());
  const auto rank = batchRank + static_cast<int64_t>(listed.size());
  Ints shape;
  Vars sizes;
  auto addSize = [&](Value value, int64_t dim) {
    shape.push_back(tensorOf(value).getDimSize(dim));
    sizes.push_back(sizeOf(e, value, dim));
  };
  for (int64_t dim : batch)
    addSize(w.indices, dim);
  for (int64_t dim : listed) {
    if (ShapedType::isDynamic(w.sizes[dim])) {
      addSize(w.window, w.windowDims[dim]);
    } else {
      shape.push_back(w.sizes[dim]);
      sizes.push_back(e.integers({w.sizes[dim]}, {1}));
    }
  }
  Vars columns;
  for (auto [i, dim] : llvm::enumerate(listed)) {
    const auto place = batchRank + static_cast<int64_t>(i);
    std::optional<Var> first;
    auto batching = llvm::find(w.batching, dim);
    if (i < w.mapped.size()) {
      Ints axes;
      for (int64_t axis = batchRank; axis < rank; ++axis)
        axes.push_back(axis);
      first = e.unsqueeze(startIndices(e, w, static_cast<int64_t>(i)), axes);
    } else if (batching != w.batching.end()) {
      const int64_t along = w.indicesBatching[batching - w.batching.begin()];
      first =
          countAlong(e, w.indices, along, along - (along > w.vectorDim), rank);
    }
    const bool isDynamic = ShapedType::isDynamic(w.sizes[dim]);
    if (isDynamic || w.sizes[dim] > 1) {
      Ints within(rank, 1);
      within[place] = w.sizes[dim];
      Var offsets =
          isDynamic ? countAlong(e, w.window, w.windowDims[dim], place, rank)
                    : count(e, w.sizes[dim], within);
      first = first ? e.binary("elementwise_add", *first, offsets) : offsets;
    } else if (!first) {
      first = e.integers({0}, Ints(rank, 1));
    }
    columns.push_back(e.unsqueeze(expand(e, *first, shape, sizes), {rank}));
  }
  return e.concat(columns, rank);
}

} // namespace sinter::paddle
