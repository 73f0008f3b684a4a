//===- MatMulColumns.cpp - columns of B ----------------------------------===//

#include "backend/cpu/kernels/gemm/MatMulColumns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

MatMulColumns::ScalesAndZeros
MatMulColumns::scalesAndZerosOf(const MatMulPanel &panel, Value block) const {
  const int64_t vectors = panel.vectors, columns = shape.blocks.columns;
  Value row = columns
                  ? code.mul(block, shape.blockColumns())
                  : code.add(panel.numbers, code.mul(block, vectors * lanes));
  auto load = [&](Value from, std::optional<ElementType> element) {
    SmallVector<Value> loaded;
    for (int64_t v = 0; element && v < vectors; ++v) {
      auto type = VectorType::get(
          {lanes}, storedType(*element, code.builder.getContext()));
      Value number;
      if (columns) {
        Value place = code.div(code.add(panel.firstColumn, v * lanes), columns);
        number = code.loadSplat(from, code.add(row, place), type);
      } else {
        number = code.load(from, code.add(row, v * lanes), type);
      }
      loaded.push_back(converted(code, number, *element, multiplied.rhs));
    }
    return loaded;
  };
  return {load(operands.numbers.scales, shape.blocks.scale),
          load(operands.numbers.zeros, shape.blocks.zero)};
}

SmallVector<MatMulColumns::ScalesAndZeros>
MatMulColumns::scalesAndZerosOfStep(const MatMulPanel &panel, Value step,
                                    const ScalesAndZeros &all) const {
  if (!shape.blocks.columns)
    return {all};
  SmallVector<ScalesAndZeros> ofProducts;
  Value first = code.mul(step, packing.kGroup);
  for (int64_t i = 0; i < packing.kGroup; ++i)
    ofProducts.push_back(scalesAndZerosOf(panel, code.add(first, i)));
  return ofProducts;
}

Value MatMulColumns::panelDistance(const MatMulPanel &panel) const {
  return panel.steps ? code.mul(panel.steps, panelVectors * vectorElements())
                     : code.index(panelElements());
}

Value MatMulColumns::fetchedAhead(const MatMulPanel &panel, Value step) const {
  const int64_t whole = weightPrefetchBytes / packing.rhsBytes();
  const int64_t panels = panel.vectors / panelVectors;
  if (panels <= 1)
    return code.index(whole);
  // The elements of a row of the whole group.
  const int64_t row = panelVectors * vectorElements();
  Value steps = panel.steps ? panel.steps : code.index(packing.steps(shape.k));
  Value ahead = code.min(steps, code.index(whole / panels / row));
  Value inPanel = code.mul(ahead, row);
  return code.select(
      code.less(step, code.sub(steps, ahead)), inPanel,
      code.add(inPanel, code.mul(panelDistance(panel), panels - 1)));
}

std::pair<Value, Value> MatMulColumns::loadPair(Value source, Value at) const {
  OpBuilder &b = code.builder;
  constexpr int64_t halfBits = 16, upperHalf = -(int64_t(1) << halfBits);
  auto words = VectorType::get({lanes}, b.getI32Type());
  auto floats = VectorType::get({lanes}, b.getF32Type());
  auto all = [&](int64_t number) -> Value {
    return b.create<arith::ConstantOp>(
        code.loc, DenseElementsAttr::get(words, int32_t(number)));
  };
  Value both = code.bitsAs(
      code.load(source, at, VectorType::get({2 * lanes}, b.getBF16Type())),
      words);
  Value lower = b.create<arith::ShLIOp>(code.loc, both, all(halfBits));
  Value upper = b.create<arith::AndIOp>(code.loc, both, all(upperHalf));
  return {b.create<arith::BitcastOp>(code.loc, floats, lower),
          b.create<arith::BitcastOp>(code.loc, floats, upper)};
}

SmallVector<SmallVector<Value>>
MatMulColumns::loadColumns(const Arithmetic &stored, const MatMulPanel &panel,
                           Value source, Value row, Value ahead,
                           ArrayRef<ScalesAndZeros> numbers) const {
  const bool widens = stored.widensRhs();
  VectorType type = stored.rhsType(code.builder.getContext(), lanes);
  const int64_t elements = type.getNumElements();
  SmallVector<SmallVector<Value>> columns(widens ? stored.kGroup : 1);
  auto add = [&](int64_t v, SmallVector<Value> widened) {
    for (auto [i, element] : llvm::enumerate(widened)) {
      const ScalesAndZeros &own = numbers[numbers.size() == 1 ? 0 : i];
      if (!own.zeros.empty())
        element = code.subVectors(element, own.zeros[v]);
      if (!own.scales.empty())
        element = code.mulVectors(element, own.scales[v]);
      columns[i].push_back(element);
    }
  };
  for (int64_t v = 0; v < panel.vectors; ++v) {
    bool isWhole = panel.isPadded || v + 1 < panel.vectors;
    // Vectors after those of a panel are in the next one.
    Value ofPanel = code.mul(panelDistance(panel), v / panelVectors);
    Value at = code.add(code.add(row, ofPanel), v % panelVectors * elements);
    if (ahead && beginsLine(v % panelVectors * elements, stored.rhsBytes()))
      code.prefetch(source, code.add(at, ahead));
    if (widens &&
        isPaired(v % panelVectors, std::min(panelVectors, panel.vectors))) {
      const auto [first, second] = loadPair(source, at);
      add(v, {first});
      add(++v, {second});
      continue;
    }
    Value loaded = panel.left && !isWhole
                       ? code.loadSome(source, at, type, panel.left)
                       : code.loadFirst(source, at, type,
                                        isWhole ? elements : panel.valid);
    if (!widens) {
      columns[0].push_back(loaded);
      continue;
    }
    add(v, stored.widened(code, loaded));
  }
  return columns;
}

Value MatMulColumns::columnOfB(const MatMulPanel &panel, Value vector,
                               int64_t number) const {
  Value column =
      code.add(code.add(panel.firstColumn, code.mul(vector, lanes)), number);
  // The last column replaces missing ones.
  if (shape.givenColumns)
    column = code.min(column, code.sub(operands.extents.columns, 1));
  return code.add(operands.origin.b, code.mul(column, shape.bStride));
}

void MatMulColumns::forColumnBlocks(
    const MatMulPanel &panel, int64_t depth,
    llvm::function_ref<void(Value, int64_t, Value, int64_t)> body) const {
  const int64_t whole = shape.k / depth * depth;
  auto ofVector = [&](Value v, int64_t columns) {
    if (whole > 0)
      code.loop(code.index(0), code.index(whole), depth,
                [&](Value k) { body(k, depth, v, columns); });
    if (whole < shape.k)
      body(code.index(whole), shape.k - whole, v, columns);
  };
  const int64_t wholeVectors = panel.vectors - (panel.valid < lanes ? 1 : 0);
  code.loop(code.index(0), code.index(wholeVectors), 1,
            [&](Value v) { ofVector(v, lanes); });
  if (wholeVectors < panel.vectors)
    ofVector(code.index(wholeVectors), panel.valid);
}

/// Widens a stage's range of the panel at \p packed into the scratch buffer.
void MatMulColumns::widenPanel(const MatMulPanel &panel, Value packed) const {
  const int64_t group = packing.kGroup;
  const int64_t stride = panel.vectors * lanes * packing.rhsGroup();
  auto widen = [&](Value first, int64_t steps, const ScalesAndZeros &numbers) {
    code.loop(code.index(0), code.index(steps), 1, [&](Value i) {
      Value step = code.add(first, i);
      const auto columns = loadColumns(
          packing, panel, operands.b, code.add(packed, code.mul(step, stride)),
          streamsWeights ? fetchedAhead(panel, step) : Value(),
          scalesAndZerosOfStep(panel, step, numbers));
      Value to = code.mul(code.sub(code.mul(step, group), operands.firstDepth),
                          panel.stride);
      for (const auto &[k, column] : llvm::enumerate(columns))
        for (const auto &[v, vector] : llvm::enumerate(column))
          code.store(
              vector, operands.scratch,
              code.add(to, int64_t(k) * panel.stride + int64_t(v) * lanes));
    });
  };
  const int64_t size = shape.blocks.size, begin = operands.firstDepth,
                end = operands.endDepth;
  if (size == 0 || shape.blocks.columns)
    return widen(code.index(begin / group), packing.steps(end - begin), {});
  code.loop(code.index(begin / size), code.index(end / size), 1,
            [&](Value block) {
              widen(code.mul(block, size / group), size / group,
                    scalesAndZerosOf(panel, block));
            });
  Value last = code.index(end / size);
  if (const int64_t rest = end % size)
    widen(code.mul(last, size / group), packing.steps(rest),
          scalesAndZerosOf(panel, last));
}

void MatMulColumns::copyRows(const MatMulPanel &panel) const {
  VectorType type = arithmetic.rhsType(code.builder.getContext(), lanes);
  Value first = code.add(operands.origin.b, panel.firstColumn);
  code.loop(code.index(0), code.index(shape.k), 1, [&](Value k) {
    Value from = code.add(first, code.mul(k, shape.bStride));
    Value to = code.mul(k, panel.stride);
    for (int64_t v = 0; v < panel.vectors; ++v) {
      int64_t valid = v + 1 == panel.vectors ? panel.valid : lanes;
      code.store(
          code.loadFirst(operands.b, code.add(from, v * lanes), type, valid),
          operands.scratch, code.add(to, v * lanes));
    }
  });
}

/// Packs columns of the transposed B, which are contiguous, into rows of the
/// panel: square blocks of a vector's size are transposed in registers.
void MatMulColumns::packTransposed(const MatMulPanel &panel) const {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  VectorType type = arithmetic.rhsType(builder.getContext(), lanes);
  auto square = VectorType::get({lanes, lanes}, type.getElementType());
  auto copyBlock = [&](Value k, int64_t count, Value v, int64_t columns) {
    Value block =
        builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(square));
    for (int64_t n = 0; n < columns; ++n) {
      Value from = code.add(columnOfB(panel, v, n), k);
      Value row = code.loadFirst(operands.b, from, type, count);
      block = builder.create<vector::InsertOp>(loc, row, block,
                                               ArrayRef<int64_t>{n});
    }
    Value transposed = builder.create<vector::TransposeOp>(
        loc, block, ArrayRef<int64_t>{1, 0});
    for (int64_t i = 0; i < count; ++i) {
      Value row = builder.create<vector::ExtractOp>(loc, transposed,
                                                    ArrayRef<int64_t>{i});
      Value to =
          code.add(code.mul(code.add(k, i), panel.stride), code.mul(v, lanes));
      code.store(row, operands.scratch, to);
    }
  };
  forColumnBlocks(panel, lanes, copyBlock);
}
