//===- Attention.cpp - generator of fused attention -----------------------===//

#include "backend/cpu/kernels/attention/Attention.h"

#include "backend/cpu/kernels/attention/AttentionPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The fewest rows for which copying values pays off.
static constexpr int64_t leastRowsToPack = 24;
/// Of rows that are counted when the program runs so many are a task at most.
static constexpr int64_t mostDynamicRows = 128;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Attention::Attention(const AttentionShape &shape, const Target &target,
                     Type element)
    : shape(shape), target(target) {
  lanes = target.vectorBytes() / (element.getIntOrFloatBitWidth() / 8);
  vectorType = VectorType::get({lanes}, element);
  const bool countsHeads = shape.matrices().isStatic();
  for (const AttentionShape::Heads &each : shape.heads)
    matrices *= each.size.valueOr(1);
  const int64_t dynamicRows = shape.rows.upTo(mostDynamicRows);
  if (isDynamic())
    rowBlocks = {dynamicRows, 1, dynamicRows, 0};
  else
    rowBlocks = countsHeads
                    ? shape.rowBlocks()
                    : Partition::of(shape.rows.value(), mostDynamicRows);
  keyBlock = shape.keyBlock();
  scoresRow = llvm::alignTo(keyBlock, lanes);

  const int64_t mostRows = rowBlocks.sizeOf(0);
  int64_t end = 0;
  auto reserve = [&](int64_t elements) {
    int64_t begin = end;
    end += llvm::alignTo(elements, lanes);
    return begin;
  };
  greatestAt = reserve(mostRows);
  sumAt = reserve(mostRows);
  factorAt = reserve(mostRows);
  scoresAt = reserve(mostRows * scoresRow);
  valuesAt = reserve(packsValues(mostRows) ? keyBlock * widthPadded() : 0);
  sumsAt = reserve(sumsApart() ? mostRows * widthPadded() : 0);
  int64_t packed = 0;
  const int64_t last = isDynamic() ? 0 : shape.keys.value() % keyBlock;
  for (int64_t part : {int64_t(0), rowBlocks.count - 1})
    for (int64_t count : {keyBlock, last})
      if (count > 0)
        packed = std::max(
            packed, scoresOf(rowBlocks.sizeOf(part), count).scratchElements());
  packedAt = reserve(packed);
  scratchEnd = end;
}

int64_t Attention::widthPadded() const {
  return llvm::alignTo(shape.width, lanes);
}

bool Attention::packsValues(int64_t rows) const {
  return shape.valueRow != shape.width && rows >= leastRowsToPack;
}

int64_t Attention::scratchElements() const { return scratchEnd; }

std::vector<TaskExtent> Attention::taskExtents() const {
  std::vector<TaskExtent> parts;
  for (const AttentionShape::Heads &heads : shape.heads)
    parts.push_back({{heads.size}, 1});
  if (isDynamic())
    parts.push_back({{shape.rows}, rowBlocks.size});
  else
    parts.push_back({{rowBlocks.count}, 1});
  return parts;
}

/// The cost of an exponential in arithmetic operations.
static constexpr double ofExponential = 20;

double Attention::flopsPerElement() const {
  const double ofKey =
      (2.0 * double(shape.depth + shape.width) + ofExponential) /
      double(shape.width);
  return ofKey * double(shape.keys.valueOr(1));
}

double Attention::flops() const {
  if (shape.rows.isDynamic() || shape.keys.isDynamic())
    return 0;
  return double(matrices) * shape.rows.value() * shape.keys.value() *
         (2.0 * (shape.depth + shape.width) + ofExponential);
}

/// The matmul of rows of the query by \p count keys.
MatMul Attention::scoresOf(int64_t rows, int64_t count) const {
  MatMulShape product;
  product.m = rows;
  product.n = count;
  product.k = shape.depth;
  product.aRowStride = shape.queryRow;
  product.aColumnStride = shape.queryColumn;
  bool isTransposed = shape.keyColumn == 1;
  product.bLayout = isTransposed ? MatMulShape::BLayout::Transposed
                                 : MatMulShape::BLayout::Rows;
  product.bStride = isTransposed ? shape.keyRow : shape.keyColumn;
  product.cRowStride = scoresRow;
  product.givenRows = product.givenColumns = isDynamic();
  return MatMul(product, target, Arithmetic::of(vectorType.getElementType()));
}

/// The matmul of weights of \p count keys by their values.
MatMul Attention::weightedValues(int64_t rows, int64_t count) const {
  MatMulShape product;
  product.m = rows;
  product.n = shape.width;
  product.k = count;
  product.aRowStride = scoresRow;
  product.bLayout = MatMulShape::BLayout::Rows;
  product.bStride =
      packsValues(rowBlocks.sizeOf(0)) ? widthPadded() : shape.valueRow;
  product.cRowStride = sumsApart() ? widthPadded() : shape.resultRow;
  product.givenRows = product.givenDepth = isDynamic();
  return MatMul(product, target, Arithmetic::of(vectorType.getElementType()));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// The rows of one task.
struct Attention::Block : AttentionPlace {
  /// The buffer and offset of accumulators over several blocks.
  Value sums, sumsBase;
  int64_t rows = 0; ///< Where that is dynamic, the most that there may be.
  Value rowCount;   ///< How many there are.
  Exponential exponential;
  const AttentionEpilogue *epilogue;
};

template <typename Op> static Value binary(VectorBuilder &e, Value a, Value b) {
  return e.builder.create<Op>(e.loc, a, b);
}

/// Loads the first \p valid lanes, with -inf in the others.
static Value loadScores(VectorBuilder &e, Value flat, Value offset,
                        VectorType type, int64_t valid) {
  int64_t lanes = type.getNumElements();
  if (valid == lanes)
    return e.load(flat, offset, type);
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), valid, true);
  Value mask = e.builder.create<arith::ConstantOp>(
      e.loc, DenseElementsAttr::get(
                 VectorType::get({lanes}, e.builder.getI1Type()), bits));
  Value nothing =
      splatNumber(e, type, -std::numeric_limits<double>::infinity());
  return e.builder.create<vector::MaskedLoadOp>(e.loc, type, flat, offset, mask,
                                                nothing);
}

void Attention::build(OpBuilder &builder, Location location, Value task,
                      const AttentionOperands &operands,
                      Exponential exponential,
                      const AttentionEpilogue &epilogue) const {
  VectorBuilder e(builder, location);
  Value blocks = e.index(rowBlocks.count);
  if (isDynamic())
    blocks =
        e.div(e.add(e.index(shape.rows), rowBlocks.size - 1), rowBlocks.size);
  Value part = e.rem(task, blocks);
  Block block{{e, shape, operands, e.div(task, blocks)}};
  block.exponential = exponential;
  block.epilogue = &epilogue;
  block.beginAt(e, rowBlocks.start(e, part));
  block.sums = sumsApart() ? block.scratch : block.result;
  block.sumsBase = sumsApart() ? e.index(sumsAt) : block.resultBase;
  if (isDynamic()) {
    block.rows = rowBlocks.size;
    block.rowCount = e.min(e.index(rowBlocks.size),
                           e.sub(e.index(shape.rows), block.firstRow));
    return buildDynamicRows(e, block);
  }
  rowBlocks.dispatch(e, part, [&](int64_t rows) {
    Block sized = block;
    sized.rows = rows;
    sized.rowCount = e.index(rows);
    buildRows(e, sized);
  });
}

/// Blocks of keys one after the other, the last of which may have fewer.
void Attention::buildDynamicRows(VectorBuilder &e, const Block &block) const {
  clearRows(e, block);
  auto blocksOf = [&](Value keys) {
    return e.div(e.add(keys, keyBlock - 1), keyBlock);
  };
  Value keys = e.index(shape.keys), blocks = blocksOf(keys);
  // A causal block of rows uses no keys after its last row.
  if (shape.isCausal)
    blocks = e.min(blocks, blocksOf(e.add(block.firstRow, block.rowCount)));
  e.loop(e.index(0), blocks, 1, [&](Value i) {
    Block counted = block;
    Value first = e.mul(i, keyBlock);
    counted.keyCount = e.min(e.index(keyBlock), e.sub(keys, first));
    buildKeys(e, counted, first, keyBlock);
  });
  divideRows(e, block);
}

void Attention::buildRows(VectorBuilder &e, const Block &block) const {
  if (isOneBlock()) {
    buildKeys(e, block, e.index(0), keyBlock);
    if (shape.parts)
      storeTerms(e, block);
    return;
  }
  clearRows(e, block);
  const int64_t keys = shape.keys.value(), whole = keys / keyBlock,
                last = keys % keyBlock;
  // A causal block of rows uses no keys after its last row.
  Value seen = e.add(block.firstRow, block.rows);
  Value blocks = e.index(whole);
  if (shape.isCausal)
    blocks = e.min(blocks, e.div(e.add(seen, keyBlock - 1), keyBlock));
  e.loop(e.index(0), blocks, 1,
         [&](Value i) { buildKeys(e, block, e.mul(i, keyBlock), keyBlock); });
  auto emitLast = [&] { buildKeys(e, block, e.index(whole * keyBlock), last); };
  if (last > 0 && shape.isCausal)
    e.when(e.less(e.index(whole * keyBlock), seen), emitLast);
  else if (last > 0)
    emitLast();
  divideRows(e, block);
}

void Attention::buildKeys(VectorBuilder &e, const Block &block, Value first,
                          int64_t count) const {
  buildScores(e, block, first, count);
  e.loop(e.index(0), block.rowCount, 1,
         [&](Value row) { buildWeights(e, block, first, row, count); });
  buildSums(e, block, first, count);
}

void Attention::buildScores(VectorBuilder &e, const Block &block, Value first,
                            int64_t count) const {
  MatMul product = scoresOf(block.rows, count);
  MatMulRequest request{block.query, block.key, block.scratch};
  request.origin = {block.queryBase,
                    e.add(block.keyBase, e.mul(first, shape.keyRow)),
                    e.index(scoresAt)};
  request.extents = {block.rowCount, block.keyCount, {}};
  // Where sizes are dynamic, buildWeights does that: there it is written once.
  if (!isDynamic())
    request.epilogue = [&](OpBuilder &builder, Location loc, Value vector,
                           const MatMulPosition &at) {
      VectorBuilder inner(builder, loc);
      return block.finishScores(inner, first, vector, at.row, at.column);
    };
  // Columns are packed into the end of the scratch buffer.
  if (int64_t elements = product.scratchElements()) {
    auto type = MemRefType::get(
        {elements}, vectorType.getElementType(),
        StridedLayoutAttr::get(e.builder.getContext(), packedAt, {1}));
    request.scratch = e.builder.create<memref::ReinterpretCastOp>(
        e.loc, type, block.scratch, packedAt, ArrayRef<int64_t>{elements},
        ArrayRef<int64_t>{1});
  }
  Value tasks = e.index(product.tasks());
  // A task is a panel of columns.
  const int64_t columns = product.panelColumns();
  if (isDynamic())
    tasks = e.div(e.add(block.keyCount, columns - 1), columns);
  e.loop(e.index(0), tasks, 1,
         [&](Value task) { product.build(e.builder, e.loc, task, request); });
}

/// Finishes the scores of a row, which start at \p base, for all existing keys;
/// returns the maximum of each lane.
Value Attention::finishDynamicRow(VectorBuilder &e, const Block &block,
                                  Value first, Value row, Value base) const {
  auto finish = [&](const Block &keys, Value i, Value so) {
    Value at = e.add(base, i);
    Value score = keys.finishScores(
        e, first, e.load(block.scratch, at, vectorType), row, i);
    e.store(score, block.scratch, at);
    return greater(e, score, so);
  };
  // Vectors with a key for each lane need no mask.
  Block whole = block;
  whole.keyCount = Value();
  Value wholeEnd = e.mul(e.div(block.keyCount, lanes), lanes);
  Value nothing =
      splatNumber(e, vectorType, -std::numeric_limits<double>::infinity());
  SmallVector<Value> greatest = e.loop(
      e.index(0), wholeEnd, lanes, nothing, [&](Value i, ValueRange carried) {
        return SmallVector<Value>{finish(whole, i, carried[0])};
      });
  return e.branch(
      e.less(wholeEnd, block.keyCount),
      [&] { return SmallVector<Value>{finish(block, wholeEnd, greatest[0])}; },
      [&] { return greatest; })[0];
}

/// Computes the weights of a row's scores, relative to the maximum so far.
void Attention::buildWeights(VectorBuilder &e, const Block &block, Value first,
                             Value row, int64_t count) const {
  Type element = vectorType.getElementType();
  Value base = e.add(e.index(scoresAt), e.mul(row, scoresRow));
  const int64_t whole = count / lanes * lanes, rest = count - whole;
  // Where keys are dynamic, what is behind them has been hidden.
  Value wholeEnd =
      isDynamic() ? e.mul(e.div(e.add(block.keyCount, lanes - 1), lanes), lanes)
                  : e.index(whole);
  auto overRow = [&](Value start, auto step) {
    Value end = e.loop(e.index(0), wholeEnd, lanes, start,
                       [&](Value i, ValueRange carried) {
                         return SmallVector<Value>{step(i, lanes, carried[0])};
                       })[0];
    return rest ? step(e.index(whole), rest, end) : end;
  };
  Value nothing =
      splatNumber(e, vectorType, -std::numeric_limits<double>::infinity());
  Value greatest =
      isDynamic()
          ? finishDynamicRow(e, block, first, row, base)
          : overRow(nothing, [&](Value i, int64_t valid, Value so) {
              return greater(e,
                             loadScores(e, block.scratch, e.add(base, i),
                                        vectorType, valid),
                             so);
            });
  // No lane is NaN here: NaN scores propagate through the sum.
  Value most = e.builder.create<vector::ReductionOp>(
      e.loc, vector::CombiningKind::MAXNUMF, greatest,
      arith::FastMathFlags::nnan);
  Value before;
  if (!isOneBlock()) {
    before = loadNumber(e, block.scratch, e.add(row, greatestAt));
    most = greater(e, most, before);
    storeNumber(e, most, block.scratch, e.add(row, greatestAt));
    // If all keys are masked so far, weights are zero.
    Value lowest =
        splatNumber(e, element, -std::numeric_limits<double>::infinity());
    Value isNothing = e.builder.create<arith::CmpFOp>(
        e.loc, arith::CmpFPredicate::OEQ, most, lowest);
    most = e.select(isNothing, splatNumber(e, element, 0), most);
  }
  Value shift = e.builder.create<vector::SplatOp>(e.loc, vectorType, most);
  Value sums = overRow(
      splatNumber(e, vectorType, 0), [&](Value i, int64_t valid, Value so) {
        Value at = e.add(base, i);
        Value x = loadScores(e, block.scratch, at, vectorType, valid);
        Value weight =
            block.exponential(e.builder, e.loc, e.subVectors(x, shift));
        e.store(weight, block.scratch, at);
        return e.addVectors(so, weight);
      });
  Value sum = e.builder.create<vector::ReductionOp>(
      e.loc, vector::CombiningKind::ADD, sums, arith::FastMathFlags::reassoc);
  Value factorPlace = e.add(row, factorAt), sumPlace = e.add(row, sumAt);
  if (isOneBlock()) {
    Value one = splatNumber(e, element, 1);
    storeNumber(e, binary<arith::DivFOp>(e, one, sum), block.scratch,
                factorPlace);
    return;
  }
  Value factor = block.exponential(e.builder, e.loc,
                                   binary<arith::SubFOp>(e, before, most));
  storeNumber(e, factor, block.scratch, factorPlace);
  Value total = loadNumber(e, block.scratch, sumPlace);
  total =
      binary<arith::AddFOp>(e, binary<arith::MulFOp>(e, total, factor), sum);
  storeNumber(e, total, block.scratch, sumPlace);
}

void Attention::buildSums(VectorBuilder &e, const Block &block, Value first,
                          int64_t count) const {
  MatMul product = weightedValues(block.rows, count);
  MatMulRequest request{block.scratch, block.value, block.sums};
  Value begin = e.add(block.valueBase, e.mul(first, shape.valueRow));
  if (packsValues(rowBlocks.sizeOf(0))) {
    Value end = isDynamic() ? block.keyCount : e.index(count);
    e.loop(e.index(0), end, 1, [&](Value i) {
      Value from = e.add(begin, e.mul(i, shape.valueRow));
      Value to = e.add(e.index(valuesAt), e.mul(i, widthPadded()));
      for (int64_t v = 0; v < shape.width; v += lanes)
        e.store(e.loadFirst(block.value, e.add(from, v), vectorType,
                            std::min(lanes, shape.width - v)),
                block.scratch, e.add(to, v));
    });
    request.b = block.scratch;
    begin = e.index(valuesAt);
  }
  request.origin = {e.index(scoresAt), begin, block.sumsBase};
  request.extents = {block.rowCount, {}, block.keyCount};
  request.epilogue = [&](OpBuilder &builder, Location loc, Value vector,
                         const MatMulPosition &at) -> Value {
    VectorBuilder inner(builder, loc);
    auto type = cast<VectorType>(vector.getType());
    Value factor =
        inner.loadSplat(block.scratch, inner.add(at.row, factorAt), type);
    if (isOneBlock())
      return finished(inner, block,
                      binary<arith::MulFOp>(inner, vector, factor), at.row,
                      at.column, at.offset);
    return inner.fma(inner.load(block.sums, at.offset, type), factor, vector);
  };
  request.epilogue.isLong = isOneBlock() && block.epilogue->isLong;
  Value tasks = isDynamic() ? product.tasksFor(e, block.rowCount)
                            : e.index(product.tasks());
  e.loop(e.index(0), tasks, 1,
         [&](Value task) { product.build(e.builder, e.loc, task, request); });
}

/// Applies the epilogue to \p vector, at \p row of the block.
Value Attention::finished(VectorBuilder &e, const Block &block, Value vector,
                          Value row, Value column, Value offset) const {
  if (!*block.epilogue)
    return vector;
  return (*block.epilogue)(
      e.builder, e.loc, vector,
      {block.heads, e.add(block.firstRow, row), column, offset});
}

/// Calls \p body with the vectors of the block's rows of accumulators.
void Attention::forRowVectors(
    VectorBuilder &e, const Block &block,
    llvm::function_ref<void(Value, int64_t, Value, VectorType)> body) const {
  const int64_t stride = sumsApart() ? widthPadded() : shape.resultRow;
  e.loop(e.index(0), block.rowCount, 1, [&](Value row) {
    Value base = e.add(block.sumsBase, e.mul(row, stride));
    for (int64_t v = 0; v < shape.width; v += lanes)
      body(row, v, e.add(base, v),
           VectorType::get({std::min(lanes, shape.width - v)},
                           vectorType.getElementType()));
  });
}

void Attention::clearRows(VectorBuilder &e, const Block &block) const {
  Type element = vectorType.getElementType();
  Value zero = splatNumber(e, element, 0);
  Value lowest =
      splatNumber(e, element, -std::numeric_limits<double>::infinity());
  e.loop(e.index(0), block.rowCount, 1, [&](Value row) {
    storeNumber(e, lowest, block.scratch, e.add(row, greatestAt));
    storeNumber(e, zero, block.scratch, e.add(row, sumAt));
  });
  forRowVectors(e, block, [&](Value, int64_t, Value sums, VectorType type) {
    e.store(e.zero(type), block.sums, sums);
  });
}

/// Stores rows of the block split, each row with its own magnitude, since
/// blocks of rows have several heights.
void Attention::storeTerms(VectorBuilder &e, const Block &block) const {
  const TileTerms &parts = *shape.parts;
  const TileTerms::Image image = parts.imageIn(e, block.result, e.index(0));
  e.loop(e.index(0), block.rowCount, 1, [&](Value row) {
    Value first = e.add(block.resultBase, e.mul(row, shape.resultRow));
    Value number = e.div(first, shape.resultRow),
          firstBlock =
              e.div(e.rem(first, shape.resultRow), TileTerms::blockColumns);
    Value sums = e.add(block.sumsBase, e.mul(row, widthPadded()));
    Value factor;
    if (!isOneBlock())
      factor = binary<arith::DivFOp>(
          e, splatNumber(e, vectorType, 1),
          e.loadSplat(block.scratch, e.add(row, sumAt), vectorType));
    e.loop(
        e.index(0), e.index(shape.width), TileTerms::blockColumns,
        [&](Value column) {
          auto valuesOf = [&](Value) {
            std::array<Value, 2> numbers;
            for (int64_t half : {0, 1}) {
              Value number =
                  e.load(block.sums, e.add(e.add(sums, column), half * lanes),
                         vectorType);
              numbers[size_t(half)] =
                  factor ? binary<arith::MulFOp>(e, number, factor) : number;
            }
            return numbers;
          };
          parts.store(e, image,
                      e.add(firstBlock, e.div(column, TileTerms::blockColumns)),
                      number, e.index(1), /*areInARow=*/true, valuesOf);
        });
  });
}

void Attention::divideRows(VectorBuilder &e, const Block &block) const {
  if (shape.parts)
    return storeTerms(e, block);
  forRowVectors(
      e, block, [&](Value row, int64_t column, Value sums, VectorType type) {
        Value sum = e.loadSplat(block.scratch, e.add(row, sumAt), type);
        Value factor = binary<arith::DivFOp>(e, splatNumber(e, type, 1), sum);
        Value value =
            binary<arith::MulFOp>(e, e.load(block.sums, sums, type), factor);
        Value offset =
            e.add(e.add(block.resultBase, e.mul(row, shape.resultRow)), column);
        e.store(finished(e, block, value, row, e.index(column), offset),
                block.result, offset);
      });
}
