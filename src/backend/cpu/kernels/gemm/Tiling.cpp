//===- Tiling.cpp - register tiles and tasks of matmuls -------------------===//

#include "backend/cpu/kernels/gemm/Tiling.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/kernels/gemm/DynamicRowTiles.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace sinter::cpu;

Partition Partition::of(int64_t length, int64_t limit) {
  int64_t count = llvm::divideCeil(length, limit);
  if (count == 0)
    return {0, 0, 0, 0};
  return {length, count, length / count, length % count};
}

Value Partition::start(VectorBuilder &code, Value part) const {
  Value regular = code.mul(part, size);
  if (longer == 0)
    return regular;
  return code.add(regular, code.min(part, code.index(longer)));
}

void Partition::dispatch(VectorBuilder &code, Value part,
                         llvm::function_ref<void(int64_t)> emit) const {
  if (longer == 0)
    return emit(size);
  code.when(
      code.less(part, code.index(longer)), [&] { emit(size + 1); },
      [&] { emit(size); });
}

int64_t sinter::cpu::mostRowsOf(const Arithmetic &arithmetic,
                                const Target &target, int64_t vectors) {
  if (arithmetic.takesRowPairs()) {
    // A pair of rows has its elements in a register; one or two more have
    // columns.
    const int64_t pairs = (target.vectorRegisters - 2) / (2 * vectors + 1);
    return target.isSmall ? 2 : std::max<int64_t>(2, 2 * pairs);
  }
  const int64_t rows = maxTileRows(target, vectors);
  if (!arithmetic.isOfBFloat16Groups())
    return rows;
  // LLVM loads the elements of rows into separate registers; 32 have room for
  // these and 24 accumulators.
  constexpr int64_t mostSums = 24;
  return std::clamp<int64_t>(mostSums / vectors, 1, rows);
}

int64_t sinter::cpu::maxTileRows(const Target &target, int64_t vectors) {
  int64_t elements = 1;
  if (!hasFewRegisters(target))
    elements = vectors < 3 ? 5 : 2;
  const int64_t rows = std::max<int64_t>(
      1, (target.vectorRegisters - vectors - elements) / vectors);
  // Each size of tile is code of its own, in which nothing is a loop.
  constexpr int64_t rowsOfSmallCode = 2;
  return target.isSmall ? std::min(rows, rowsOfSmallCode) : rows;
}

namespace {
/// The tiles of a matmul: rows by vectors.
struct Tiles {
  const Target &target;
  int64_t rows, vectors;
  /// The latency of an accumulation in cycles.
  double latency;
  /// The cycles to load a vector of weights.
  double weights = 0;

  /// The cycles of one reduction step of a tile.
  double tileCycles(int64_t tileRows, int64_t width) const {
    const double multiplies = double(tileRows) * double(width) / 2;
    // With a single vector the element is a memory operand of the multiply-add.
    const double loads = double(tileRows + width) / 2;
    return std::max({multiplies, loads, latency, weights * double(width)});
  }

  /// The cycles of all tiles, in panels of \p panel vectors.
  double cycles(int64_t panel) const {
    auto panelCycles = [&](int64_t width) {
      Partition tiles = Partition::of(rows, maxTileRows(target, panel));
      return double(tiles.longer) * tileCycles(tiles.size + 1, width) +
             double(tiles.count - tiles.longer) * tileCycles(tiles.size, width);
    };
    const int64_t whole = vectors / panel;
    double all = double(whole) * panelCycles(panel);
    if (vectors % panel)
      all += panelCycles(vectors % panel);
    return all;
  }
};
} // namespace

int64_t sinter::cpu::chooseTileVectors(const Target &target, int64_t rows,
                                       int64_t vectors, int64_t most,
                                       int64_t preferred) {
  const Tiles tiles{target, rows, vectors, /*latency=*/4};
  // A single row leaves registers for more columns.
  const int64_t apiece = rows == 1 ? 2 : 4;
  int64_t best = std::min(preferred, vectors);
  if (target.isSmall)
    return 1;
  for (int64_t candidate : {1, 2, 3, 4, 6, 8})
    if (candidate <= std::min(vectors, most) &&
        candidate * apiece <= target.vectorRegisters &&
        tiles.cycles(candidate) < 0.97 * tiles.cycles(best))
      best = candidate;
  return best;
}

bool sinter::cpu::hasFewRegisters(const Target &target) {
  constexpr int64_t few = 16;
  return target.vectorRegisters <= few;
}

int64_t sinter::cpu::chooseDynamicTileVectors(const Target &target,
                                              int64_t rows, int64_t vectors,
                                              int64_t most, bool readsPanels,
                                              bool manyRows) {
  // Half a vector per cycle, from the second-level cache: a panel that many
  // tiles share does not fit the first.
  const Tiles tiles{target, rows, vectors, /*latency=*/4,
                    /*weights=*/readsPanels ? 2.0 : 0.0};
  std::vector<int64_t> candidates;
  for (int64_t candidate : {1, 2, 3, 4, 6})
    if (candidate <= std::min(vectors, most) &&
        candidate * 4 <= target.vectorRegisters)
      candidates.push_back(candidate);
  double fastest = std::numeric_limits<double>::infinity();
  for (int64_t candidate : candidates)
    fastest = std::min(fastest, tiles.cycles(candidate));
  std::erase_if(candidates, [&](int64_t candidate) {
    return tiles.cycles(candidate) > 1.05 * fastest;
  });
  // Tiles of 9 rows with 32 registers: nearly any number of rows is a sum of
  // nines and eights.
  constexpr int64_t rowsOfMany = 9;
  if (manyRows && llvm::is_contained(candidates, tallTileVectors) &&
      maxTileRows(target, tallTileVectors) >= rowsOfMany)
    return tallTileVectors;
  auto rowsOf = [&](int64_t candidate) {
    return maxTileRows(target, candidate);
  };
  if (manyRows && hasFewRegisters(target))
    return *std::ranges::max_element(candidates, {}, rowsOf);
  if (llvm::is_contained(candidates, broadTileVectors) &&
      !hasFewRegisters(target))
    return broadTileVectors;
  auto codeOf = [&](int64_t candidate) {
    const DynamicRowTiles rowTiles(maxTileRows(target, candidate), candidate);
    return candidate * rowTiles.rowsOfCode() +
           vectors % candidate * rowTiles.withTwoHeights().rowsOfCode();
  };
  return *std::ranges::min_element(candidates, {}, codeOf);
}

double sinter::cpu::cyclesOfStep(const Target &target, int64_t rows,
                                 int64_t vectors) {
  const Tiles tiles{target, rows, vectors, /*latency=*/4};
  return tiles.cycles(chooseTileVectors(target, rows, vectors, /*most=*/8));
}

void sinter::cpu::dispatchPanel(VectorBuilder &code, Value panel,
                                int64_t panels, int64_t panelVectors,
                                int64_t vectors,
                                llvm::function_ref<void(int64_t)> emit) {
  const int64_t last = vectors - (panels - 1) * panelVectors;
  if (last == panelVectors || panels == 1)
    return emit(last);
  code.when(
      code.less(panel, code.own(panels - 1)), [&] { emit(panelVectors); },
      [&] { emit(last); });
}

SmallVector<Value> RegisterTile::zeros(VectorBuilder &code) const {
  return SmallVector<Value>(
      rows * vectors,
      code.zero(arithmetic.sumType(code.builder.getContext(), lanes)));
}

WaitingRows::WaitingRows(VectorBuilder &code, VectorType type, int64_t rows,
                         int64_t vectors)
    : kept(createScratch(
          code.builder, code.loc,
          MemRefType::get({rows * vectors * type.getNumElements()},
                          type.getElementType()))),
      type(type), vectors(vectors) {}

void WaitingRows::keep(VectorBuilder &code, Value first,
                       ValueRange results) const {
  const int64_t lanes = type.getNumElements();
  Value at = code.mul(first, vectors * lanes);
  for (auto [i, result] : llvm::enumerate(results))
    code.store(result, kept, code.add(at, int64_t(i) * lanes));
}

void WaitingRows::forEach(VectorBuilder &code, Value rows,
                          llvm::function_ref<void(Value row, ValueRange)> body,
                          Value begin, Value apart) const {
  const int64_t lanes = type.getNumElements(), ofRow = vectors * lanes;
  // The offset of a row is incremented, which is cheaper than computing it.
  Value first = begin ? code.mul(begin, ofRow) : code.index(0);
  Value step = apart ? code.mul(apart, ofRow) : code.index(ofRow);
  code.loop(code.index(0), rows, 1, first, [&](Value row, ValueRange carried) {
    SmallVector<Value> results;
    for (int64_t v = 0; v < vectors; ++v)
      results.push_back(code.load(kept, code.add(carried[0], v * lanes), type));
    body(row, results);
    return IndexBuilder::Carried{code.add(carried[0], step)};
  });
}

void sinter::cpu::forRows(
    VectorBuilder &code, ValueRange results, int64_t vectors,
    llvm::function_ref<void(Value row, ValueRange)> body) {
  const auto count = static_cast<int64_t>(results.size()) / vectors;
  WaitingRows waiting(code, cast<VectorType>(results[0].getType()), count,
                      vectors);
  waiting.keep(code, code.index(0), results);
  waiting.forEach(code, code.index(count), body);
}

SmallVector<Value> RegisterTile::held(VectorBuilder &code,
                                      ValueRange results) const {
  return arithmetic.takesRowPairs() ? pairs().paired(code, results)
                                    : SmallVector<Value>(results);
}

SmallVector<Value> RegisterTile::rowsOf(VectorBuilder &code,
                                        ValueRange accumulators) const {
  return arithmetic.takesRowPairs() ? pairs().apart(code, accumulators)
                                    : SmallVector<Value>(accumulators);
}

void RegisterTile::step(VectorBuilder &code,
                        MutableArrayRef<Value> accumulators, ArrayRef<Value> b,
                        llvm::function_ref<Value(int64_t)> a) const {
  if (arithmetic.takesRowPairs())
    return pairs().step(code, accumulators, b, a);
  const bool widens = arithmetic.widensRhs() && arithmetic.kGroup == 1;
  const Arithmetic multiplied = widens ? arithmetic.ofWidened() : arithmetic;
  SmallVector<Value> columns(b);
  if (widens)
    for (Value &column : columns)
      column = arithmetic.widened(code, column).front();
  SmallVector<Value> elements;
  for (int64_t row = 0; row < rows; ++row)
    elements.push_back(a(row));
  auto multiply = [&](int64_t row, int64_t v) {
    Value &accumulator = accumulators[row * vectors + v];
    if (elements[row])
      accumulator =
          multiplied.multiplyAdd(code, elements[row], columns[v], accumulator);
  };
  // Either the elements are in registers for one column after the other, or the
  // columns for one element after the other: 12 accumulators leave room for
  // three and one.
  if (rows < vectors)
    for (int64_t v = 0; v < vectors; ++v)
      for (int64_t row = 0; row < rows; ++row)
        multiply(row, v);
  else
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < vectors; ++v)
        multiply(row, v);
}

TaskOrder::Task TaskOrder::decode(VectorBuilder &code, Value task) const {
  Value outerIndex = code.div(task, units * panels);
  Value inner = code.rem(task, units * panels);
  if (chunk >= units)
    return {outerIndex, code.rem(inner, units), code.div(inner, units)};
  if (chunk == 1)
    return {outerIndex, code.div(inner, panels), code.rem(inner, panels)};
  Value chunkIndex = code.div(inner, chunk * panels);
  Value inChunk = code.rem(inner, chunk * panels);
  Value firstUnit = code.mul(chunkIndex, chunk);
  // The last chunk may have fewer units.
  Value size =
      code.min(code.index(chunk), code.sub(code.index(units), firstUnit));
  return {outerIndex, code.add(firstUnit, code.rem(inChunk, size)),
          code.div(inChunk, size)};
}

TaskOrder::Task TaskOrder::decode(VectorBuilder &code, Value task,
                                  Value units) const {
  Value most = code.own(chunk), ofChunk = code.own(chunk * panels);
  Value firstUnit = code.mul(code.div(task, ofChunk), most);
  Value inChunk = code.rem(task, ofChunk);
  Value size = code.min(most, code.sub(units, firstUnit));
  return {code.index(0), code.add(firstUnit, code.rem(inChunk, size)),
          code.div(inChunk, size)};
}

TaskOrder TaskOrder::choose(const Target &target, int64_t outer, int64_t units,
                            int64_t panels, int64_t rowBytes,
                            int64_t panelBytes) {
  const int64_t budget = target.l2Bytes * 3 / 4;
  const int64_t weightBytes = panels * panelBytes;
  int64_t best = units;
  double bestTraffic = 0;
  for (int64_t chunks = 1; chunks <= units; chunks *= 2) {
    int64_t chunk = llvm::divideCeil(units, chunks);
    double chunkBytes = double(rowBytes) * chunk / units;
    // Rows stay in cache from panel to panel if a chunk and a panel fit
    // together; weights stay from chunk to chunk if all of them and a chunk
    // fit.
    bool rowsStay = chunkBytes + panelBytes <= budget;
    bool weightsStay = chunkBytes + weightBytes <= budget;
    double traffic = double(rowBytes) * (rowsStay ? 1 : panels) +
                     double(weightBytes) * (weightsStay ? 1 : chunks);
    if (chunks == 1 || traffic < 0.95 * bestTraffic) {
      best = chunk;
      bestTraffic = traffic;
    }
    if (chunk == 1)
      break;
  }
  return {outer, units, panels, best, bestTraffic};
}
