//===- MatMul.cpp - generator of matrix products --------------------------===//

#include "backend/cpu/kernels/MatMul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/MappedPages.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <span>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

MatMulShape MatMulShape::dense(int64_t m, int64_t n, int64_t k) {
  MatMulShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.aRowStride = k;
  shape.bStride = n;
  shape.cRowStride = n;
  return shape;
}

MatMul::MatMul(const MatMulShape &shape, const Target &target,
               const Arithmetic &arithmetic)
    : shape(shape), target(target), arithmetic(arithmetic),
      lanes(arithmetic.lanes(target)) {
  assert((arithmetic.kGroup == 1 ||
          (shape.bLayout == MatMulShape::BLayout::Packed &&
           shape.aColumnStride == 1)) &&
         "groups are packed");
  allVectors = llvm::divideCeil(shape.n, lanes);
  panelVectors = chooseTileVectors(target, shape.m, allVectors);
  rowTiles = Partition::of(shape.m, maxTileRows(target, panelVectors));
  const int64_t steps = arithmetic.steps(shape.k);
  depths = Partition::of(steps, steps);

  int64_t outer = 1;
  for (const MatMulShape::BatchDim &dim : shape.batch)
    outer *= dim.size;
  int64_t panels = llvm::divideCeil(allVectors, panelVectors);
  if (copiesPanels()) {
    // The rows of A stay in cache from panel to panel, and are enough to pay
    // for the copy.
    constexpr int64_t leastRows = 128;
    int64_t rows = std::max<int64_t>(
        leastRows, target.l2Bytes / 2 / (shape.k * arithmetic.bytes()));
    rowBlocks = Partition::of(rowTiles.count,
                              std::max<int64_t>(1, rows / rowTiles.size));
    order = {outer, rowBlocks.count, panels, 1};
  } else {
    chooseOrder(outer, panels);
  }
  streamsWeights = shape.bLayout == MatMulShape::BLayout::Packed &&
                   packedElements() * arithmetic.bytes() > target.l2Bytes / 2;
}

/// Where all rows and a panel of weights do not fit the second-level cache
/// together, rows are read once a panel or weights once a chunk of rows. Stages
/// of the reduction whose rows and panels fit read both once, and the sums once
/// a stage.
void MatMul::chooseOrder(int64_t outer, int64_t panels) {
  const int64_t rowBytes = shape.m * shape.k * arithmetic.bytes();
  const int64_t panelBytes = panelElements() * arithmetic.bytes();
  auto orderOf = [&](int64_t stages) {
    return TaskOrder::choose(target, outer, rowTiles.count, panels,
                             rowBytes / stages, panelBytes / stages);
  };
  order = orderOf(1);
  if (!shape.holdsSums || shape.bLayout != MatMulShape::BLayout::Packed)
    return;
  // Half of what fits: sums and the next panel come in besides.
  const int64_t wanted = std::max<int64_t>(
      1, llvm::divideCeil(rowBytes + panelBytes, target.l2Bytes * 3 / 8));
  const int64_t steps = arithmetic.steps(shape.k);
  const Partition stages =
      Partition::of(steps, llvm::divideCeil(steps, wanted));
  const TaskOrder staged = orderOf(stages.count);
  const double sums = 2.0 * shape.m * shape.n * arithmetic.sumBytes();
  if (staged.traffic * stages.count + sums * (stages.count - 1) >
      0.8 * order.traffic)
    return;
  depths = stages;
  order = staged;
}

bool MatMul::copiesPanels() const {
  return shape.bLayout == MatMulShape::BLayout::Transposed ||
         shape.bLayout == MatMulShape::BLayout::CopiedRows;
}

int64_t MatMul::panelElements() const {
  return arithmetic.steps(shape.k) * panelVectors * vectorElements();
}

int64_t MatMul::tasks() const { return order.tasks(); }

double MatMul::flops() const {
  return 2.0 * order.outer * shape.m * shape.n * shape.k;
}

int64_t MatMul::scratchElements() const {
  return copiesPanels() ? panelElements() : 0;
}

int64_t MatMul::packedElements() const {
  return arithmetic.steps(shape.k) * allVectors * vectorElements();
}

void MatMul::pack(const void *b, int64_t kStride, int64_t nStride,
                  void *packed) const {
  const int64_t bytes = arithmetic.bytes(), group = arithmetic.kGroup;
  auto *from = static_cast<const char *>(b);
  auto *to = static_cast<char *>(packed);
  for (int64_t first = 0; first < allVectors; first += panelVectors) {
    int64_t width = std::min(panelVectors, allVectors - first) * lanes;
    int64_t column = first * lanes;
    int64_t valid = std::min(width, shape.n - column);
    for (int64_t k = 0; k < shape.k; k += group, to += width * group * bytes) {
      const char *row = from + (k * kStride + column * nStride) * bytes;
      if (nStride == 1 && group == 1) {
        std::memcpy(to, row, valid * bytes);
        std::memset(to + valid * bytes, 0, (width - valid) * bytes);
        continue;
      }
      const int64_t depth = std::min(group, shape.k - k);
      std::memset(to, 0, width * group * bytes);
      for (int64_t n = 0; n < valid; ++n)
        for (int64_t i = 0; i < depth; ++i)
          std::memcpy(to + (n * group + i) * bytes,
                      row + (n * nStride + i * kStride) * bytes, bytes);
    }
    // Nobody reads these columns again, and the weight may be a large part of
    // the memory.
    if (kStride == 1)
      releasePages(std::as_bytes(
          std::span(from + column * nStride * bytes, valid * nStride * bytes)));
  }
}

/// The buffers, flat, and where the matrices of this task begin in them.
struct MatMul::Operands {
  Value a, b, c, scratch;
  Value aBase, bBase, cBase;
  MatMulPosition position;
  const MatMulEpilogue *epilogue;
  int64_t firstDepth, endDepth; ///< The steps of the reduction.
  Value unit;                   ///< The number of the tile's rows.
};

/// A panel of columns.
struct MatMul::Panel {
  Value firstColumn;
  int64_t vectors; ///< How many vectors it has,
  int64_t valid;   ///< and how many lanes of the last one are columns of B.
  Value source;    ///< The buffer that its rows are read from,
  Value offset;    ///< where its first row is there,
  int64_t stride;  ///< and how far apart rows are.
  bool isPadded;   ///< Whole vectors can be read.
};

void MatMul::build(OpBuilder &builder, Location location, Value task, Value a,
                   Value b, Value c, Value scratch,
                   const MatMulEpilogue &epilogue, const MatMulOrigin *origin,
                   int64_t stage) const {
  Emitter emitter(builder, location);
  Operands operands{emitter.flatten(a),
                    emitter.flatten(b),
                    emitter.flatten(c),
                    scratch ? emitter.flatten(scratch) : Value(),
                    emitter.index(0),
                    emitter.index(0),
                    emitter.index(0),
                    {},
                    &epilogue,
                    depths.start(stage),
                    depths.start(stage + 1),
                    {}};
  if (origin) {
    operands.aBase = origin->a;
    operands.bBase = origin->b;
    operands.cBase = origin->c;
  }
  TaskOrder::Task place = order.decode(emitter, task);

  Value rest = place.outer;
  operands.position.batch.resize(shape.batch.size());
  for (size_t d = shape.batch.size(); d-- > 0;) {
    const MatMulShape::BatchDim &dim = shape.batch[d];
    Value i = d == 0 ? rest : emitter.rem(rest, dim.size);
    rest = emitter.div(rest, dim.size);
    operands.position.batch[d] = i;
    auto advance = [&](Value &base, int64_t stride) {
      base = emitter.add(base, emitter.mul(i, stride));
    };
    advance(operands.aBase, dim.aStride);
    advance(operands.bBase, dim.bStride);
    advance(operands.cBase, dim.cStride);
  }

  auto emitPanel = [&](int64_t vectors, int64_t valid) {
    Panel panel{emitter.mul(place.panel, panelVectors * lanes),
                vectors,
                valid,
                operands.b,
                Value(),
                vectors * vectorElements(),
                true};
    switch (shape.bLayout) {
    case MatMulShape::BLayout::Packed:
      panel.offset = emitter.mul(place.panel, panelElements());
      break;
    case MatMulShape::BLayout::Rows:
      panel.offset = emitter.add(operands.bBase, panel.firstColumn);
      panel.stride = shape.bStride;
      panel.isPadded = false;
      break;
    case MatMulShape::BLayout::CopiedRows:
      panel.source = operands.scratch;
      panel.offset = emitter.index(0);
      copyRows(emitter, operands, panel);
      break;
    case MatMulShape::BLayout::Transposed:
      panel.source = operands.scratch;
      panel.offset = emitter.index(0);
      packTransposed(emitter, operands, panel);
      break;
    }
    buildPanel(emitter, operands, panel, place.unit);
  };

  // Only the last panel can differ from the others.
  int64_t lastVectors = allVectors - (order.panels - 1) * panelVectors;
  int64_t lastValid = shape.n - (allVectors - 1) * lanes;
  bool lastDiffers = lastVectors != panelVectors || lastValid != lanes;
  if (!lastDiffers || order.panels == 1)
    return emitPanel(lastVectors, lastValid);
  emitter.branch(
      emitter.less(place.panel, emitter.index(order.panels - 1)),
      [&] { emitPanel(panelVectors, lanes); },
      [&] { emitPanel(lastVectors, lastValid); });
}

void MatMul::buildPanel(Emitter &emitter, Operands &operands,
                        const Panel &panel, Value unit) const {
  auto emitUnit = [&](Value unit) {
    operands.unit = unit;
    Value firstRow = rowTiles.start(emitter, unit);
    rowTiles.dispatch(emitter, unit, [&](int64_t rows) {
      buildTile(emitter, operands, panel, firstRow, rows);
    });
  };
  if (!copiesPanels())
    return emitUnit(unit);
  emitter.loop(rowBlocks.start(emitter, unit),
               rowBlocks.start(emitter, emitter.add(unit, 1)), 1,
               [&](Value tile) { emitUnit(tile); });
}

void MatMul::buildTile(Emitter &emitter, Operands &operands, const Panel &panel,
                       Value firstRow, int64_t rows) const {
  SmallVector<Value> sums = reduce(emitter, operands, panel, firstRow, rows);
  const bool isLast = operands.endDepth == depths.length;
  forTile(emitter, operands, panel, firstRow, rows,
          [&](size_t i, int64_t valid) {
            Value result = emitter.first(sums[i], valid);
            if (isLast && *operands.epilogue)
              result = (*operands.epilogue)(emitter.builder, emitter.loc,
                                            result, operands.position);
            emitter.store(result, operands.c, operands.position.offset);
          });
}

void MatMul::forTile(
    Emitter &emitter, Operands &operands, const Panel &panel, Value firstRow,
    int64_t rows,
    llvm::function_ref<void(size_t i, int64_t valid)> body) const {
  size_t i = 0;
  for (int64_t row = 0; row < rows; ++row) {
    MatMulPosition &position = operands.position;
    position.row = emitter.add(firstRow, row);
    Value rowOffset = emitter.add(operands.cBase,
                                  emitter.mul(position.row, shape.cRowStride));
    for (int64_t v = 0; v < panel.vectors; ++v) {
      position.column = emitter.add(panel.firstColumn, v * lanes);
      position.offset = emitter.add(rowOffset, position.column);
      body(i++, v + 1 == panel.vectors ? panel.valid : lanes);
    }
  }
}

/// Weights come from beyond the second-level cache, since other products have
/// been there since they were last read. Where several tiles share a panel,
/// each fetches its part of the next one, so that the time of a whole panel
/// hides what that takes to come.
bool MatMul::fetchesNext() const {
  return shape.bLayout == MatMulShape::BLayout::Packed &&
         order.chunk >= leastFetchingTiles;
}

void MatMul::emitStep(Emitter &emitter, const Operands &operands,
                      const Panel &panel, const RegisterTile &tile, Value aBase,
                      Value k, int64_t valid,
                      MutableArrayRef<Value> sums) const {
  VectorType type = arithmetic.operandType(emitter.builder.getContext(), lanes);
  Value bRow = emitter.add(panel.offset, emitter.mul(k, panel.stride));
  SmallVector<Value> b;
  for (int64_t v = 0; v < panel.vectors; ++v) {
    bool isWhole = panel.isPadded || v + 1 < panel.vectors;
    Value at = emitter.add(bRow, v * vectorElements());
    b.push_back(emitter.loadFirst(panel.source, at, type,
                                  isWhole ? vectorElements() : panel.valid));
    if (streamsWeights && !fetchesNext())
      emitter.prefetch(panel.source, emitter.add(at, weightPrefetchDistance));
  }
  Value column = emitter.add(
      aBase, emitter.mul(k, arithmetic.kGroup * shape.aColumnStride));
  tile.step(emitter, sums, b, [&](int64_t row) {
    Value at = emitter.add(column, row * shape.aRowStride);
    return arithmetic.loadSplat(emitter, operands.a, at, lanes, valid);
  });
}

SmallVector<Value> MatMul::reduce(Emitter &emitter, Operands &operands,
                                  const Panel &panel, Value firstRow,
                                  int64_t rows) const {
  RegisterTile tile(rows, panel.vectors, arithmetic, lanes);
  // A small tile has too few sums to keep the multipliers busy: several sets of
  // them take turns over the reduction.
  const int64_t size = rows * panel.vectors;
  const int64_t depth = operands.endDepth - operands.firstDepth;
  const int64_t sets = std::max<int64_t>(1, std::min(8 / size, depth / 4));
  SmallVector<Value> sums;
  for (int64_t set = 0; set < sets; ++set)
    llvm::append_range(sums, tile.zeros(emitter));
  if (operands.firstDepth > 0)
    forTile(
        emitter, operands, panel, firstRow, rows, [&](size_t i, int64_t valid) {
          sums[i] = emitter.loadFirst(
              operands.c, operands.position.offset,
              arithmetic.sumType(emitter.builder.getContext(), lanes), valid);
        });

  const int64_t lineElements = cacheLineBytes / arithmetic.bytes();
  const int64_t rowElements = panelVectors * vectorElements();
  const int64_t apart =
      fetchesNext()
          ? std::max<int64_t>(1, order.chunk * lineElements / rowElements)
          : 1;
  Value fetched;
  if (fetchesNext()) {
    Value part = emitter.mul(emitter.rem(operands.unit, order.chunk),
                             depth / apart * lineElements);
    fetched = emitter.add(emitter.add(panel.offset, part),
                          panelElements() + operands.firstDepth * rowElements);
  }

  Value aBase =
      emitter.add(operands.aBase, emitter.mul(firstRow, shape.aRowStride));
  auto step = [&](SmallVector<Value> &sums, int64_t set, Value k,
                  int64_t valid) {
    emitStep(emitter, operands, panel, tile, aBase, k, valid,
             MutableArrayRef<Value>(sums).slice(set * size, size));
  };
  // The last group may have fewer products.
  const int64_t whole =
      std::min(operands.endDepth, shape.k / arithmetic.kGroup) -
      operands.firstDepth;
  const int64_t group = sets * apart, groups = whole / group;
  sums = emitter.loop(
      emitter.index(0), emitter.index(groups), 1, sums,
      [&](Value i, ValueRange carried) {
        SmallVector<Value> next(carried);
        Value first = emitter.add(emitter.mul(i, group), operands.firstDepth);
        for (int64_t k = 0; k < group; ++k)
          step(next, k % sets, emitter.add(first, k), arithmetic.kGroup);
        if (fetchesNext())
          emitter.prefetch(panel.source,
                           emitter.add(fetched, emitter.mul(i, lineElements)));
        return next;
      });
  for (int64_t k = operands.firstDepth + groups * group; k < operands.endDepth;
       ++k)
    step(sums, 0, emitter.index(k),
         std::min(arithmetic.kGroup, shape.k - k * arithmetic.kGroup));
  for (int64_t set = sets - 1; set > 0; --set)
    for (int64_t i = 0; i < size; ++i) {
      Value &sum = sums[(set - 1) * size + i];
      sum = arithmetic.add(emitter, sum, sums[set * size + i]);
    }
  sums.resize(size);
  return sums;
}

void MatMul::copyRows(Emitter &emitter, Operands &operands,
                      const Panel &panel) const {
  VectorType type = arithmetic.operandType(emitter.builder.getContext(), lanes);
  Value first = emitter.add(operands.bBase, panel.firstColumn);
  emitter.loop(emitter.index(0), emitter.index(shape.k), 1, [&](Value k) {
    Value from = emitter.add(first, emitter.mul(k, shape.bStride));
    Value to = emitter.mul(k, panel.stride);
    for (int64_t v = 0; v < panel.vectors; ++v) {
      int64_t valid = v + 1 == panel.vectors ? panel.valid : lanes;
      emitter.store(emitter.loadFirst(operands.b, emitter.add(from, v * lanes),
                                      type, valid),
                    operands.scratch, emitter.add(to, v * lanes));
    }
  });
}

/// Packs columns of the transposed B, which are contiguous, into rows of the
/// panel: square blocks of a vector's size are transposed in registers.
void MatMul::packTransposed(Emitter &emitter, Operands &operands,
                            const Panel &panel) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  VectorType type = arithmetic.operandType(builder.getContext(), lanes);
  auto square = VectorType::get({lanes, lanes}, type.getElementType());
  auto copyBlock = [&](Value k, int64_t count, int64_t v) {
    int64_t columns = v + 1 == panel.vectors ? panel.valid : lanes;
    Value block =
        builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(square));
    for (int64_t n = 0; n < columns; ++n) {
      Value column = emitter.add(panel.firstColumn, v * lanes + n);
      Value from = emitter.add(
          emitter.add(operands.bBase, emitter.mul(column, shape.bStride)), k);
      Value row = emitter.loadFirst(operands.b, from, type, count);
      block = builder.create<vector::InsertOp>(loc, row, block,
                                               ArrayRef<int64_t>{n});
    }
    Value transposed = builder.create<vector::TransposeOp>(
        loc, block, ArrayRef<int64_t>{1, 0});
    for (int64_t i = 0; i < count; ++i) {
      Value row = builder.create<vector::ExtractOp>(loc, transposed,
                                                    ArrayRef<int64_t>{i});
      Value to =
          emitter.add(emitter.mul(emitter.add(k, i), panel.stride), v * lanes);
      emitter.store(row, operands.scratch, to);
    }
  };
  int64_t whole = shape.k / lanes * lanes;
  for (int64_t v = 0; v < panel.vectors; ++v) {
    if (whole > 0)
      emitter.loop(emitter.index(0), emitter.index(whole), lanes,
                   [&](Value k) { copyBlock(k, lanes, v); });
    if (whole < shape.k)
      copyBlock(emitter.index(whole), shape.k - whole, v);
  }
}
