//===- MatMulSums.cpp - the reduction of a register tile -----------------===//

#include "backend/cpu/kernels/gemm/MatMulSums.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void MatMulSums::emitStep(const Tile &tile, Value k, int64_t valid,
                          MutableArrayRef<Value> sums, int64_t set,
                          const ScalesAndZeros &numbers) const {
  const MatMulPanel &panel = tile.panel;
  const auto columns =
      loadColumns(arithmetic, panel, panel.source,
                  code.add(panel.offset, code.mul(k, panel.stride)),
                  streamsWeights && !fetchesNext(panel) && !widensPanels()
                      ? fetchedAhead(panel, k)
                      : Value(),
                  widensPanels() ? SmallVector<ScalesAndZeros>{numbers}
                                 : scalesAndZerosOfStep(panel, k, numbers));
  const int64_t size = tile.registers.sums(),
                sets = static_cast<int64_t>(sums.size()) / size;
  Value first = code.mul(k, arithmetic.kGroup * shape.aColumnStride);
  auto step = [&](ArrayRef<Value> b, int64_t i, int64_t count) {
    Value column = code.add(first, i * shape.aColumnStride);
    tile.registers.step(
        code, sums.slice((set + i) % sets * size, size), b, [&](int64_t row) {
          Value at = code.add(tile.aRows[row], column);
          return multiplied.loadSplat(code, operands.a, at, lanes, count);
        });
  };
  if (!arithmetic.widensRhs())
    return step(columns[0], 0, valid);
  for (int64_t i = 0; i < valid; ++i)
    step(columns[i], i, 1);
}

int64_t MatMulSums::stepsApart() const {
  const int64_t lineElements = cacheLineBytes / arithmetic.rhsBytes(),
                rowElements = panelVectors * vectorElements();
  return std::max<int64_t>(1, fetchingTiles() * lineElements / rowElements);
}

Value MatMulSums::firstFetched(const MatMulPanel &panel) const {
  const int64_t lineElements = cacheLineBytes / arithmetic.rhsBytes(),
                rowElements = panelVectors * vectorElements(),
                steps = operands.endDepth - operands.firstDepth;
  Value part = code.mul(code.rem(operands.unit, fetchingTiles()),
                        steps / stepsApart() * lineElements);
  return code.add(code.add(panel.offset, part),
                  panelElements() + operands.firstDepth * rowElements);
}

SmallVector<Value>
MatMulSums::reduceRange(const Tile &tile, const Range &range,
                        ValueRange initial,
                        const ScalesAndZeros &numbers) const {
  const int64_t size = tile.registers.sums();
  const int64_t turns = arithmetic.widensRhs() ? arithmetic.kGroup : 1;
  const int64_t sets = shape.givenDepth ? 1 : setsOfSums(size, range.steps);
  SmallVector<Value> sums = tile.registers.held(code, initial);
  for (int64_t set = 1; set < sets; ++set)
    llvm::append_range(sums,
                       tile.registers.held(code, tile.registers.zeros(code)));

  // One line of the next panel every few steps; a line may be prefetched twice,
  // to keep the loop's body short. So many multiply-adds hide the loop's
  // overhead; dynamic rows have a loop for each height.
  constexpr int64_t leastOfBody = 10;
  const int64_t mostApart = std::max<int64_t>(1, 4 / turns);
  const int64_t lineElements = cacheLineBytes / arithmetic.rhsBytes();
  const bool fetches = fetchesNext(tile.panel);
  const int64_t apart = fetches ? stepsApart() : 1;
  const int64_t enough = hasDynamicRows() ? llvm::divideCeil(leastOfBody, size)
                         : arithmetic.instruction == StepInstruction::PairSum
                             ? llvm::divideCeil(2 * leastOfBody, size)
                             : mostApart;
  const int64_t unrolled = std::min({apart, mostApart, enough});
  Value fetched;
  if (fetches)
    fetched = operands.fetched ? operands.fetched : firstFetched(tile.panel);

  auto step = [&](SmallVector<Value> &sums, int64_t number, Value k,
                  int64_t valid) {
    emitStep(tile, k, valid, sums, number * turns, numbers);
  };
  if (shape.givenDepth) {
    const int64_t group = arithmetic.kGroup;
    Value whole = code.div(operands.extents.depth, group);
    auto stepOf = [&](Value k, int64_t valid, ValueRange carried) {
      SmallVector<Value> next(carried);
      step(next, 0, k, valid);
      return next;
    };
    sums = code.loop(
        code.index(0), whole, 1, sums,
        [&](Value k, ValueRange carried) { return stepOf(k, group, carried); });
    Value left = code.sub(operands.extents.depth, code.mul(whole, group));
    for (int64_t valid = 1; valid < group; ++valid)
      sums = code.branch(
          code.equal(left, code.index(valid)),
          [&] { return stepOf(whole, valid, sums); }, [&] { return sums; });
    return tile.registers.rowsOf(code, sums);
  }
  // The last group may be incomplete.
  const int64_t whole =
      range.steps - (range.lastValid < arithmetic.kGroup ? 1 : 0);
  const int64_t group = llvm::divideCeil(sets, turns) * unrolled,
                left = range.steps - whole / group * group;
  // Subroutines get the number of steps, so that depths share their code.
  Value inLoop = tile.panel.steps ? code.sub(tile.panel.steps, left)
                                  : code.index(range.steps - left);
  sums = code.loop(
      code.index(0), code.div(inLoop, group), 1, sums,
      [&](Value i, ValueRange carried) {
        SmallVector<Value> next(carried);
        Value first = code.add(code.mul(i, group), range.first);
        for (int64_t k = 0; k < group; ++k)
          step(next, k, code.add(first, k), arithmetic.kGroup);
        if (fetches)
          code.prefetch(
              tile.panel.source,
              code.add(fetched, code.mul(i, lineElements * unrolled / apart)));
        return next;
      });
  for (int64_t k = 0; k < left; ++k)
    step(sums, k, code.add(code.add(range.first, inLoop), k),
         range.steps - left + k < whole ? arithmetic.kGroup : range.lastValid);
  for (int64_t set = sets - 1; set > 0; --set)
    for (int64_t i = 0; i < size; ++i) {
      Value &sum = sums[(set - 1) * size + i];
      sum = arithmetic.add(code, sum, sums[set * size + i]);
    }
  sums.resize(size);
  return tile.registers.rowsOf(code, sums);
}

SmallVector<Value> MatMulSums::reduceBlocks(const Tile &tile,
                                            ValueRange sums) const {
  const int64_t group = arithmetic.kGroup;
  // Separate accumulators of a block and of all blocks need registers for both.
  const bool sumsApart = !hasDynamicRows() &&
                         tile.size() <= target.vectorRegisters / 4 &&
                         shape.blocks.scale && shape.blockCount() > 1;
  auto block = [&](Value number, ValueRange sums, int64_t products) {
    const int64_t steps = arithmetic.steps(products);
    const Range range{code.mul(number, shape.blocks.size / group), steps,
                      products - (steps - 1) * group};
    ScalesAndZeros numbers = scalesAndZerosOf(tile.panel, number);
    if (!sumsApart)
      return reduceRange(tile, range, sums, numbers);
    SmallVector<Value> scales;
    std::swap(scales, numbers.scales);
    SmallVector<Value> result =
        reduceRange(tile, range, tile.registers.zeros(code), numbers);
    for (int64_t i = 0; i < tile.size(); ++i)
      result[i] = code.fma(result[i], scales[i % tile.panel.vectors], sums[i]);
    return result;
  };
  const int64_t whole = shape.k / shape.blocks.size,
                rest = shape.k % shape.blocks.size;
  SmallVector<Value> result =
      code.loop(code.index(0), code.index(whole), 1, sums,
                [&](Value number, ValueRange carried) {
                  return block(number, carried, shape.blocks.size);
                });
  return rest ? block(code.index(whole), result, rest) : result;
}

SmallVector<Value> MatMulSums::reduce(const MatMulPanel &panel,
                                      const MatMulRows &rows) const {
  Tile tile{
      RegisterTile(rows.count, panel.vectors, multiplied, lanes), panel, {}};
  Value first = code.add(operands.origin.a, rowOfA(rows.first));
  if (hasDynamicRows())
    first = code.hidden(first);
  for (int64_t row = 0; row < rows.count; ++row)
    tile.aRows.push_back(
        rows.mayLack(row)
            ? code.add(operands.origin.a, rowOfA(rowAt(rows, row)))
            : code.add(first, rowOfA(code.index(row))));
  SmallVector<Value> sums = firstSums(tile.registers, rows);
  if (operands.firstDepth > 0)
    forTile(panel, rows,
            [&](size_t i, int64_t valid, const MatMulPosition &position) {
              sums[i] = code.loadFirst(
                  operands.c, position.offset,
                  arithmetic.sumType(code.builder.getContext(), lanes), valid);
            });
  if (shape.blocks.size != 0 && !shape.blocks.columns && !widensPanels())
    return reduceBlocks(tile, sums);
  const int64_t end = operands.endDepth, group = arithmetic.kGroup;
  return reduceRange(tile,
                     {code.index(operands.firstDepth),
                      end - operands.firstDepth,
                      std::min(group, shape.k - (end - 1) * group)},
                     sums, {});
}
