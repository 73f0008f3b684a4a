//===- MatMulPlan.cpp - tiling of matmuls ---------------------------------===//

#include "backend/cpu/kernels/gemm/MatMulPlan.h"

#include "runtime/MappedPages.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <span>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whether widening columns in each tile of rows is cheaper than once for all.
/// A conversion fits into idle issue slots; 8-bit floats take a dozen
/// instructions.
static bool widensInTiles(const MatMulShape &shape,
                          const Arithmetic &arithmetic) {
  const bool isFloat8 = isFloat(arithmetic.rhs) && arithmetic.rhsBytes() == 1;
  const bool isConversion =
      arithmetic.kGroup == 1 && shape.blocks.size == 0 && !isFloat8;
  return shape.widensInTiles || shape.bLayout != MatMulShape::BLayout::Packed ||
         isConversion || shape.m < MatMulPlan::leastWidenedRows(arithmetic);
}

int64_t MatMulPlan::leastWidenedRows(const Arithmetic &arithmetic) {
  const bool isFloat8 = isFloat(arithmetic.rhs) && arithmetic.rhsBytes() == 1;
  return isFloat8 ? 8 : 32;
}

/// Groups for panels of two vectors, with 16 registers.
static constexpr PanelGroup groupsOfPairs[] = {{1, 4}, {2, 2}, {3, 2}};

/// What the tiling is chosen for: of dynamic sizes, a block.
static MatMulShape ofTask(MatMulShape shape) {
  if (!shape.dynamic)
    return shape;
  // A plan of a dynamic depth is for some of it.
  constexpr int64_t depthOfPlan = 256;
  const auto &[rows, columns, depth] = *shape.dynamic;
  shape.m = MatMulShape::taskRows;
  shape.n = columns.upTo(MatMulShape::taskColumns);
  shape.k = depth.valueOr(depthOfPlan);
  shape.givenRows = true;
  shape.givenColumns = shape.clipsColumns = columns > MatMulShape::taskColumns;
  shape.givenDepth = depth.isDynamic();
  return shape;
}

/// What \p given is computed as.
static Arithmetic packingOf(const MatMulShape &shape, const Arithmetic &given,
                            const Target &target) {
  return shape.bLayout == MatMulShape::BLayout::Packed &&
                 shape.aColumnStride == 1
             ? given.ofPackedColumns(target)
             : given;
}

MatMulPlan::MatMulPlan(const MatMulShape &whole, const Target &target,
                       const Arithmetic &given)
    : shape(ofTask(whole)), target(target),
      packing(packingOf(shape, given, target)),
      multiplied(packing.widensRhs() ? packing.ofWidened() : packing),
      isWidenedInTiles(widensInTiles(shape, packing)),
      arithmetic(widensPanels() ? multiplied : packing),
      lanes(packing.lanes(target)) {
  const bool isPacked = shape.bLayout == MatMulShape::BLayout::Packed;
  assert((packing.kGroup == 1 || (isPacked && packing.widensRhs()) ||
          ((isPacked || packsBytes()) && shape.aColumnStride == 1)) &&
         "groups are packed");
  assert(
      (shape.blocks.size == 0 ||
       (isPacked && packing.widensRhs() &&
        (shape.blocks.columns || shape.blocks.size % packing.kGroup == 0))) &&
      "blocks are of packed groups");
  assert((shape.blocks.columns == 0 ||
          (shape.blocks.size == 1 && (shape.blocks.columns % lanes == 0 ||
                                      shape.blocks.columns >= shape.n))) &&
         "a vector has one number");
  allVectors = llvm::divideCeil(shape.n, lanes);
  const int64_t most = packing.widensRhs() ? 4 : 8;
  const bool isStreamed =
      isPacked && shape.k * shape.n * packing.rhsBytes() > target.l2Bytes;
  // Otherwise columns are widened, or not packed.
  const bool isPlain = isPacked && !shape.dynamicRows.empty() &&
                       !packing.widensRhs() && isFloat(packing.accumulator);
  // A matmul inside another kernel is generated once per program, so its code
  // size does not matter. Not measured with more registers.
  const bool isPart = shape.givenRows && hasFewRegisters(target);
  // Broad tiles have fewer rows, so that their code is shorter.
  const int64_t preferred = hasFewRegisters(target) ? 2 : broadTileVectors;
  // If only tall tiles leave a remainder of columns, that needs its own code
  // and a shorter task, which costs more than reading weights from a near cache
  // for fewer rows.
  const bool panelStays =
      shape.k * broadTileVectors * lanes * packing.rhsBytes() <=
      4 * target.l2Bytes;
  const bool onlyTallLeave = !hasFewRegisters(target) &&
                             allVectors % broadTileVectors == 0 &&
                             allVectors % tallTileVectors != 0;
  const bool readsOften = isStreamed && !(panelStays && onlyTallLeave);
  const bool hasLowTiles =
      packing.isOfBFloat16Groups() || packing.takesRowPairs();
  panelVectors =
      hasDynamicRows()
          ? chooseDynamicTileVectors(target, shape.m, allVectors, most, isPlain,
                                     (readsOften || isPart) && !hasLowTiles)
          : chooseTileVectors(target, shape.m, allVectors, most, preferred);
  const int64_t steps = arithmetic.steps(shape.k);
  floatSets = chooseFloatSets(steps);
  int64_t rows =
      std::max<int64_t>(1, maxTileRows(target, panelVectors) / floatSets);
  rows = std::min(rows, mostRowsOf(packing, target, panelVectors));
  // If one panel has all columns, and tiles are small, enough rows to keep the
  // multipliers busy suffice: nothing is reread.
  const int64_t sumsOfRow = panelVectors * floatSets;
  if (hasDynamicRows() && floatSets > 1) {
    rows = std::max<int64_t>(1, DynamicRowTiles::busySums / sumsOfRow);
  } else if (isPlain &&
             panelElements() * packing.rhsBytes() <= target.l1Bytes) {
    // Rereading it is free as long as there are fewer loads than products, and
    // lower tiles have less code.
    rows =
        std::clamp<int64_t>(2 * DynamicRowTiles::busySums / sumsOfRow, 1, rows);
  }
  if (shape.givenRows)
    rows = std::min(rows, shape.m);
  rowTiles = Partition::of(shape.m, rows);
  if (hasDynamicRows()) {
    const int64_t count = llvm::divideCeil(shape.m, rows);
    rowTiles = {count * rows, count, rows, 0};
  }
  if (isPlain && floatSets == 1 && panelVectors == 2 &&
      rowTiles.size * panelVectors < 2 * DynamicRowTiles::busySums)
    panelGroups = groupsOfPairs;
  depths = Partition::of(steps, steps);

  int64_t outer = 1;
  if (!shape.dynamic)
    for (const MatMulShape::BatchDim &dim : shape.batch)
      outer *= dim.size.value();
  int64_t panels = llvm::divideCeil(allVectors, panelVectors);
  if (copiesPanels()) {
    // The rows of A stay in cache from panel to panel, and are enough to
    // amortise the copy.
    const int64_t leastRows = widensPanels() ? 256 : 128;
    int64_t rows = std::max<int64_t>(
        leastRows, target.l2Bytes / 2 / (shape.k * arithmetic.lhsBytes()));
    if (widensPanels() && !hasDynamicRows())
      chooseStages(std::min(rows, shape.m), panels);
    const int64_t tiles = std::max<int64_t>(1, rows / rowTiles.size);
    rowBlocks = Partition::of(rowTiles.count, tiles);
    if (widensPanels() && hasDynamicRows()) {
      const int64_t count = llvm::divideCeil(rowTiles.count, tiles);
      rowBlocks = {count * tiles, count, tiles, 0};
    }
    order = {outer, rowBlocks.count, panels, 1};
  } else if (hasDynamicRows()) {
    chooseDynamicOrder(outer, panels);
  } else {
    chooseOrder(outer, panels);
  }
  streamsWeights = shape.bLayout == MatMulShape::BLayout::Packed &&
                   packedElements() * packing.rhsBytes() > target.l2Bytes / 2;
}

bool MatMulPlan::mayTellDistances() const {
  constexpr int64_t few = 6;
  return hasFewRegisters(target) || rowTiles.sizeOf(0) <= few;
}

/// The number of accumulator sets for few columns. It does not depend on the
/// rows, so that results do not, either.
int64_t MatMulPlan::chooseFloatSets(int64_t steps) const {
  const bool hasFewColumns = shape.bLayout == MatMulShape::BLayout::Packed &&
                             !packing.widensRhs() && steps >= 16;
  return hasFewColumns ? std::max<int64_t>(1, 4 / allVectors) : 1;
}

int64_t MatMulPlan::setsOfSums(int64_t sums, int64_t steps) const {
  if (isFloat(arithmetic.accumulator))
    return floatSets;
  return std::max<int64_t>(1, std::min(8 / sums, steps / 4));
}

/// If all rows and a panel of weights do not fit the second-level cache
/// together, rows are read once per panel or weights once per chunk of rows.
/// Stages of the reduction whose rows and panels fit read both once, and the
/// accumulators once per stage.
void MatMulPlan::chooseOrder(int64_t outer, int64_t panels) {
  const int64_t rowBytes = shape.m * shape.k * arithmetic.lhsBytes();
  const int64_t panelBytes = panelElements() * packing.rhsBytes();
  auto orderOf = [&](int64_t stages) {
    return TaskOrder::choose(target, outer, rowTiles.count, panels,
                             rowBytes / stages, panelBytes / stages);
  };
  order = orderOf(1);
  if (!shape.holdsSums || shape.bLayout != MatMulShape::BLayout::Packed ||
      shape.blocks.size != 0 || floatSets > 1)
    return;
  // Half of the capacity: accumulators and the next panel are loaded, too.
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

/// As many rows as fit the second-level cache with a panel form a chunk, which
/// uses one panel after the other, whatever their total number; or a fixed
/// number, if so few would fit that weights were read more often than rows.
/// There is one stage.
void MatMulPlan::chooseDynamicOrder(int64_t outer, int64_t panels) {
  constexpr int64_t most = 32;
  const int64_t tileBytes = rowTiles.size * shape.k * arithmetic.lhsBytes();
  const int64_t room =
      target.l2Bytes * 3 / 4 - 2 * panelElements() * packing.rhsBytes();
  const int64_t fitting = std::clamp<int64_t>(room / tileBytes, 1, most);
  // The traffic of a tile: weights once per chunk, and rows once per panel if
  // they do not stay.
  const int64_t weightBytes = panels * panelElements() * packing.rhsBytes();
  const bool rowsStay =
      weightBytes / fitting <= weightBytes / most + tileBytes * panels;
  order = {outer, rowTiles.count, panels,
           shape.widensInTiles ? 1
           : rowsStay          ? fitting
                               : most};
}

/// If a task's rows and a widened panel do not fit the second-level cache
/// together, rows are read once per panel: stages that fit read them once, and
/// the accumulators once per stage. Stages have whole blocks, or groups.
void MatMulPlan::chooseStages(int64_t rows, int64_t panels) {
  const int64_t bytes = (rows + panelVectors * lanes) * shape.k *
                        std::max(arithmetic.lhsBytes(), arithmetic.rhsBytes());
  if (!shape.holdsSums || bytes <= target.l2Bytes * 3 / 4)
    return;
  depthUnit = std::max(shape.blocks.size, packing.kGroup);
  const int64_t units = llvm::divideCeil(shape.k, depthUnit);
  const int64_t wanted = llvm::divideCeil(bytes, target.l2Bytes * 3 / 8);
  const Partition stages =
      Partition::of(units, llvm::divideCeil(units, wanted));
  // The elements that are read for a row.
  const double whole = double(panels) * double(shape.k);
  const double staged =
      double(shape.k) + 2.0 * double(shape.n) * double(stages.count - 1);
  if (staged > 0.8 * whole) {
    depthUnit = 1;
    return;
  }
  depths = stages;
}

int64_t MatMulPlan::firstStep(int64_t stage) const {
  return std::min(arithmetic.steps(shape.k), depths.start(stage) * depthUnit);
}

bool MatMulPlan::copiesPanels() const {
  return shape.bLayout == MatMulShape::BLayout::Transposed ||
         shape.bLayout == MatMulShape::BLayout::CopiedRows || widensPanels() ||
         packsBytes();
}

int64_t MatMulPlan::panelElements() const {
  return packing.steps(shape.k) * panelVectors * lanes * packing.rhsGroup();
}

int64_t MatMulPlan::bytePanelElements() const {
  return int64_t(llvm::alignTo(shape.k, wordElements())) * panelColumns();
}

int64_t MatMulPlan::tasks() const { return order.tasks(); }

double MatMulPlan::flops() const {
  return 2.0 * order.outer * shape.m * shape.n * shape.k;
}

int64_t MatMulPlan::widenedVectors() const {
  if (!packing.widensRhs())
    return 0;
  const int64_t times = widensPanels() ? rowBlocks.count : rowTiles.count;
  return times * allVectors * packing.steps(shape.k) * packing.kGroup;
}

int64_t MatMulPlan::scratchElements() const {
  if (!copiesPanels())
    return 0;
  // An int8 panel is preceded by the initial accumulators of its columns.
  if (packsBytes())
    return panelColumns() * sumElements() +
           (shape.givenDepth ? wordElements() * scratchOfDepth()
                             : bytePanelElements());
  // Whole groups are widened.
  const int64_t longest = std::min(shape.k, depths.sizeOf(0) * depthUnit);
  const int64_t rows =
      widensPanels() ? packing.steps(longest) * packing.kGroup : shape.k;
  return rows * panelVectors * vectorElements();
}

int64_t MatMulPlan::packedElements() const {
  return packing.steps(shape.k) * allVectors * lanes * packing.rhsGroup();
}

int64_t MatMulPlan::packedNumbers() const {
  // Whole groups are widened.
  if (shape.blocks.columns)
    return packing.steps(shape.k) * packing.kGroup * shape.blockColumns();
  return shape.blockCount() * allVectors * lanes;
}

void MatMulPlan::packPanels(
    int64_t rows, llvm::function_ref<void(int64_t row, int64_t column,
                                          int64_t valid, int64_t width)>
                      packRow) const {
  for (int64_t first = 0; first < allVectors; first += panelVectors) {
    const int64_t width = std::min(panelVectors, allVectors - first) * lanes;
    const int64_t column = first * lanes;
    for (int64_t row = 0; row < rows; ++row)
      packRow(row, column, std::min(width, shape.n - column), width);
  }
}

void MatMulPlan::packNumbers(const void *numbers, int64_t bytes,
                             void *packed) const {
  auto *from = static_cast<const char *>(numbers);
  auto *to = static_cast<char *>(packed);
  if (shape.blocks.columns) {
    const int64_t given = shape.k * shape.blockColumns() * bytes;
    std::memcpy(to, from, given);
    std::memset(to + given, 0, packedNumbers() * bytes - given);
    return;
  }
  packPanels(shape.blockCount(), [&](int64_t row, int64_t column, int64_t valid,
                                     int64_t width) {
    std::memcpy(to, from + (row * shape.n + column) * bytes, valid * bytes);
    std::memset(to + valid * bytes, 0, (width - valid) * bytes);
    to += width * bytes;
  });
}

/// Packs the elements of a step of a panel: \p columns times \p depth, with
/// \p group adjacent ones per column.
template <typename T>
static void packStep(const char *from, int64_t kStride, int64_t nStride,
                     int64_t columns, int64_t depth, int64_t group, char *to) {
  for (int64_t i = 0; i < depth; ++i)
    for (int64_t n = 0; n < columns; ++n)
      std::memcpy(to + (n * group + i) * sizeof(T),
                  from + (n * nStride + i * kStride) * sizeof(T), sizeof(T));
}

/// The same for the lowest \p bits bits of bytes, packed densely.
static void packBits(const char *from, int64_t kStride, int64_t nStride,
                     int64_t columns, int64_t depth, int64_t bits,
                     int64_t columnBytes, char *to) {
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t i = 0; i < depth; ++i)
      to[n * columnBytes + i * bits / 8] |= static_cast<char>(
          (from[n * nStride + i * kStride] & ((1 << bits) - 1))
          << (i * bits % 8));
}

/// Interleaves paired vectors of a step of a panel, at \p to, in 32-bit lanes.
void MatMulPlan::pairVectors(char *to, int64_t vectors) const {
  auto at = [&](int64_t v, int64_t i) {
    return to + (v * lanes + i) * int64_t(sizeof(uint16_t));
  };
  SmallVector<uint16_t> pair(size_t(2 * lanes));
  for (int64_t v = 0; v < vectors; ++v) {
    if (!isPaired(v, vectors))
      continue;
    for (int64_t i = 0; i < 2 * lanes; ++i)
      std::memcpy(&pair[size_t(i)], at(v + i % 2, i / 2), sizeof(uint16_t));
    std::memcpy(at(v, 0), pair.data(), pair.size() * sizeof(uint16_t));
  }
}

void MatMulPlan::pack(const void *b, int64_t kStride, int64_t nStride,
                      void *packed) const {
  const int64_t bytes = packing.rhsBytes(), group = packing.kGroup;
  const int64_t groupBytes = packing.rhsGroup() * bytes;
  const int64_t bits = groupBytes * 8 / group;
  const int64_t steps = packing.steps(shape.k);
  const auto packElements = bytes == 1   ? packStep<uint8_t>
                            : bytes == 2 ? packStep<uint16_t>
                            : bytes == 4 ? packStep<uint32_t>
                                         : packStep<uint64_t>;
  auto *from = static_cast<const char *>(b);
  auto *to = static_cast<char *>(packed);
  packPanels(
      steps, [&](int64_t step, int64_t column, int64_t valid, int64_t width) {
        const int64_t k = step * group, depth = std::min(group, shape.k - k);
        const char *row = from + (k * kStride + column * nStride) * bytes;
        if (nStride == 1 && group == 1) {
          std::memcpy(to, row, valid * bytes);
          std::memset(to + valid * bytes, 0, (width - valid) * bytes);
        } else {
          if (bits < 8 || depth < group || valid < width)
            std::memset(to, 0, width * groupBytes);
          if (bits < 8)
            packBits(row, kStride, nStride, valid, depth, bits, groupBytes, to);
          else
            packElements(row, kStride, nStride, valid, depth, group, to);
        }
        pairVectors(to, width / lanes);
        to += width * groupBytes;
        // These columns are not used again, and the weight may be a large part
        // of the memory.
        if (kStride == 1 && step + 1 == steps)
          releasePages(std::as_bytes(std::span(from + column * nStride * bytes,
                                               valid * nStride * bytes)));
      });
}

/// Weights come from beyond the second-level cache, since other kernels have
/// evicted them. If several tiles share a panel, each prefetches its share of
/// the next one, so that the time of a whole panel hides the latency. Weights
/// below an eighth of that cache load quickly, and the unrolling for prefetches
/// would be most of such a matmul's code.
bool MatMulPlan::fetchesNext() const {
  const bool areFew =
      !shape.dynamicRows.empty() &&
      packedElements() * packing.rhsBytes() <= target.l2Bytes / 8;
  return shape.bLayout == MatMulShape::BLayout::Packed && !areFew &&
         shape.blocks.size == 0 && order.chunk >= leastFetchingTiles;
}
