//===- Window.cpp - sliding windows over rows of pixels -------------------===//

#include "backend/cpu/kernels/conv/Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value WindowShape::inputPixels(VectorBuilder &code) const {
  return code.mul(code.own(inputHeight), inputWidth);
}
Value WindowShape::outputPixels(VectorBuilder &code) const {
  return code.mul(code.own(outputHeight), outputWidth);
}
bool WindowShape::hasDynamicHeight() const {
  return inputHeight.isDynamic() || outputHeight.isDynamic();
}
bool WindowShape::hasDynamicWidth() const {
  return inputWidth.isDynamic() || outputWidth.isDynamic();
}

WindowShape WindowShape::nominal() const {
  WindowShape shape = *this;
  if (hasDynamicHeight()) {
    shape.outputHeight = estimatedHeight;
    shape.inputHeight = estimatedHeight * strideHeight;
  }
  if (hasDynamicWidth()) {
    shape.outputWidth = estimatedWidth;
    shape.inputWidth = estimatedWidth * strideWidth;
  }
  return shape;
}

void WindowShape::setPadding(int64_t height, int64_t width) {
  auto size = [](Dim input, int64_t padding, int64_t kernel, int64_t dilation,
                 int64_t stride) {
    return (input + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  };
  padTop = height;
  padLeft = width;
  outputHeight =
      size(inputHeight, height, kernelHeight, dilationHeight, strideHeight);
  outputWidth =
      size(inputWidth, width, kernelWidth, dilationWidth, strideWidth);
}

/// The output places for which index place * stride + \p first is within
/// \p inputSize elements.
static OutputPlaces placesOf(int64_t first, int64_t stride, Dim inputSize,
                             Dim outputSize) {
  const int64_t input = inputSize.value(), output = outputSize.value();
  OutputPlaces places;
  places.begin = first >= 0 ? 0 : llvm::divideCeil(-first, stride);
  places.end =
      input <= first ? 0 : std::min(output, (input - 1 - first) / stride + 1);
  places.begin = std::min(places.begin, output);
  places.end = std::max(places.begin, places.end);
  return places;
}

OutputPlaces WindowShape::rowsOf(int64_t r) const {
  return placesOf(r * dilationHeight - padTop, strideHeight, inputHeight,
                  outputHeight);
}

OutputPlaces WindowShape::columnsOf(int64_t s) const {
  return placesOf(s * dilationWidth - padLeft, strideWidth, inputWidth,
                  outputWidth);
}

OutputPlaces WindowShape::innerColumns() const {
  OutputPlaces inner = {0, outputWidth.value()};
  for (int64_t s = 0; s < kernelWidth; ++s) {
    inner.begin = std::max(inner.begin, columnsOf(s).begin);
    inner.end = std::min(inner.end, columnsOf(s).end);
  }
  inner.end = std::max(inner.begin, inner.end);
  return inner;
}

bool WindowShape::isInterior(int64_t firstColumn, int64_t columns) const {
  return inputColumn(firstColumn, 0) >= 0 &&
         Dim(inputColumn(firstColumn + columns - 1, kernelWidth - 1)) <
             inputWidth;
}

/// How many taps it takes to cover \p distance pixels; none if it is negative.
static Value tapsAcross(VectorBuilder &code, Value distance, int64_t dilation) {
  Value positive = code.max(code.index(0), distance);
  return code.div(code.add(positive, dilation - 1), dilation);
}

RowTaps RowTaps::of(VectorBuilder &code, const WindowShape &window,
                    Value outputRow) {
  RowTaps taps;
  taps.inputRow = code.sub(code.mul(outputRow, window.strideHeight),
                           code.index(window.padTop));
  taps.first = code.index(0);
  taps.end = code.index(window.kernelHeight);
  auto steps = [&](Value distance) {
    return tapsAcross(code, distance, window.dilationHeight);
  };
  // Where heights are not known, the last row may reach beyond the input.
  const bool reachesBeyond =
      window.hasDynamicHeight() ||
      (window.outputHeight - 1) * window.strideHeight - window.padTop +
              (window.kernelHeight - 1) * window.dilationHeight >=
          window.inputHeight;
  if (window.padTop > 0)
    taps.first = steps(code.sub(code.index(0), taps.inputRow));
  if (reachesBeyond)
    taps.end = code.min(
        taps.end, steps(code.sub(code.own(window.inputHeight), taps.inputRow)));
  // In an input without columns no row has taps.
  if (window.hasDynamicWidth() && (window.padLeft > 0 || window.padRight > 0)) {
    taps.end = code.min(
        taps.end, code.mul(code.index(window.inputWidth), window.kernelHeight));
    taps.first = code.min(taps.first, taps.end);
  }
  return taps;
}

/// Whether the same taps of the same columns of both tiles are inside the
/// input: then one code serves both.
static bool areAlike(const WindowShape &window, int64_t first, int64_t second,
                     int64_t columns) {
  if (window.isInterior(first, columns) && window.isInterior(second, columns))
    return true;
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t s = 0; s < window.kernelWidth; ++s)
      if (window.hasInputColumn(first + column, s) !=
          window.hasInputColumn(second + column, s))
        return false;
  return true;
}

void sinter::cpu::forEachTile(
    VectorBuilder &code, const WindowShape &window, const Partition &tiles,
    llvm::function_ref<void(const ColumnTile &)> emit) {
  int64_t tile = 0;
  while (tile < tiles.count) {
    const int64_t start = tiles.start(tile);
    const int64_t columns = tiles.sizeOf(tile);
    const bool isInterior = window.isInterior(start, columns);
    int64_t next = tile + 1;
    while (next < tiles.count && tiles.sizeOf(next) == columns &&
           areAlike(window, start, tiles.start(next), columns))
      ++next;
    if (next == tile + 1)
      emit({code.index(start), columns, isInterior, start});
    else
      code.loop(code.index(start), code.index(start + (next - tile) * columns),
                columns, [&](Value firstColumn) {
                  emit({firstColumn, columns, isInterior, start});
                });
    tile = next;
  }
}

ColumnTile::Reach ColumnTile::reach(const WindowShape &window, int64_t column,
                                    int64_t s) const {
  if (isInterior)
    return Reach::Inside;
  if (edgeColumn)
    return window.hasInputColumn(*edgeColumn + column, s) ? Reach::Inside
                                                          : Reach::Outside;
  // The tile may begin or end with the row.
  const int64_t fromFirst =
      column * window.strideWidth + s * window.dilationWidth;
  const int64_t toLast = (columns - 1 - column) * window.strideWidth +
                         (window.kernelWidth - 1 - s) * window.dilationWidth;
  return fromFirst < window.padLeft || toLast < window.padRight ? Reach::Unknown
                                                                : Reach::Inside;
}

Value ColumnTile::inputColumn(VectorBuilder &code, const WindowShape &window,
                              int64_t column, Value s) const {
  Value first = code.sub(code.mul(firstColumn, window.strideWidth),
                         code.index(window.padLeft));
  return code.add(code.add(first, column * window.strideWidth),
                  code.mul(s, window.dilationWidth));
}

Value ColumnTile::isInside(VectorBuilder &code, const WindowShape &window,
                           int64_t column, Value s) const {
  return code.inRange(inputColumn(code, window, column, s), window.inputWidth);
}

std::pair<Value, Value>
ColumnTile::tapsInside(VectorBuilder &code, const WindowShape &window) const {
  auto columnsFrom = [&](int64_t column) {
    return inputColumn(code, window, column, code.index(0));
  };
  Value before = code.sub(code.index(0), columnsFrom(columns - 1));
  Value until = code.sub(code.index(window.inputWidth), columnsFrom(0));
  return {tapsAcross(code, before, window.dilationWidth),
          code.min(code.index(window.kernelWidth),
                   tapsAcross(code, until, window.dilationWidth))};
}

DynamicTiles DynamicTiles::of(int64_t most, ArrayRef<int64_t> parts,
                              int64_t least) {
  DynamicTiles tiles{{most}, least, most};
  for (int64_t part : parts)
    if (const int64_t size = most * part / 14;
        size > 1 && size < tiles.sizes.back())
      tiles.sizes.push_back(size);
  if (most > 1)
    tiles.sizes.push_back(1);
  return tiles;
}

namespace {

/// The cost of a row in tiles of \p columns: each costs one column more.
Value costOfRow(VectorBuilder &code, Value width, int64_t columns,
                int64_t least) {
  Value count = code.div(code.add(width, columns - 1), columns);
  return code.mul(count, std::max(columns, least) + 1);
}

/// Calls \p emit with each of the sizes, in the branch for the widths where it
/// is best. None but the last (1) may be larger than \p width.
void dispatchSizes(VectorBuilder &code, Value width, const DynamicTiles &tiles,
                   llvm::function_ref<void(int64_t)> emit) {
  const ArrayRef<int64_t> sizes = tiles.sizes;
  Value best, bestCost;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    Value cost = costOfRow(code, width, size, tiles.least);
    if (!best) {
      best = code.index(int64_t(i));
      bestCost = cost;
      continue;
    }
    Value isBetter = code.less(cost, bestCost);
    if (i > 0)
      isBetter = code.create<arith::OrIOp>(
          isBetter, code.less(width, code.index(sizes[i - 1])));
    best = code.select(isBetter, code.index(int64_t(i)), best);
    bestCost = code.select(isBetter, cost, bestCost);
  }
  auto from = [&](auto &self, size_t i) -> void {
    if (i + 1 == sizes.size())
      return emit(sizes[i]);
    code.when(
        code.equal(best, code.index(int64_t(i))), [&] { emit(sizes[i]); },
        [&] { self(self, i + 1); });
  };
  from(from, 0);
}

/// Tiles of \p columns of a row of named width, first those at no edge, then
/// the others: in a loop of both, LLVM would keep sums that the code for edges
/// has no registers for in memory throughout.
void forTilesAndEdges(VectorBuilder &code, const WindowShape &window,
                      Value width, int64_t columns,
                      llvm::function_ref<void(const ColumnTile &)> emit) {
  const Value latest = code.sub(width, columns);
  const Value count = code.div(code.add(width, columns - 1), columns);
  // Columns before `first` read before the start of the input, those from
  // `fits` on after its end.
  const int64_t first = std::max<int64_t>(
      0, llvm::divideCeilSigned(window.padLeft, window.strideWidth));
  const int64_t reach = (window.kernelWidth - 1) * window.dilationWidth;
  const Value fits =
      code.div(code.max(code.index(0), code.add(code.index(window.inputWidth),
                                                window.padLeft - reach +
                                                    window.strideWidth - 1)),
               window.strideWidth);
  const Value begin = code.select(code.less(latest, code.index(first)), count,
                                  code.index(llvm::divideCeil(first, columns)));
  const Value end =
      code.max(begin, code.select(code.less(fits, width),
                                  code.div(fits, columns), count));
  auto emitTile = [&](Value number, bool isInterior) {
    emit(
        {code.min(code.mul(number, columns), latest), columns, isInterior, {}});
  };
  code.loop(begin, end, 1, [&](Value number) { emitTile(number, true); });
  const Value inner = code.sub(end, begin);
  code.loop(code.index(0), code.sub(count, inner), 1, [&](Value number) {
    const Value skipped =
        code.select(code.less(number, begin), code.index(0), inner);
    emitTile(code.add(number, skipped), false);
  });
}

} // namespace

void sinter::cpu::forEachDynamicTile(
    VectorBuilder &code, const WindowShape &window, const DynamicTiles &tiles,
    llvm::function_ref<void(const ColumnTile &)> emit) {
  Value width = code.index(window.outputWidth);
  const bool hasEdges = window.padLeft > 0 || window.padRight > 0;
  dispatchSizes(code, width, tiles, [&](int64_t columns) {
    // Most tiles of a long row are at no edge.
    if (hasEdges && columns >= tiles.leastInner)
      return forTilesAndEdges(code, window, width, columns, emit);
    Value latest = code.sub(width, columns);
    code.loop(code.index(0), width, columns, [&](Value start) {
      Value first = columns == 1 ? start : code.min(start, latest);
      emit({first, columns, /*isInterior=*/!hasEdges, {}});
    });
  });
}

void sinter::cpu::forDynamicTileAt(
    VectorBuilder &code, Value width, Value first, const DynamicTiles &tiles,
    llvm::function_ref<void(const ColumnTile &)> emit) {
  Value left = code.sub(width, first);
  const ArrayRef<int64_t> sizes = tiles.sizes;
  // The smallest that holds the rest, if the row has that many columns.
  auto from = [&](auto &self, size_t i) -> void {
    const int64_t columns = sizes[i];
    auto here = [&] {
      Value end = code.min(width, code.add(first, sizes.front()));
      // More than one iteration only in rows shorter than the next size.
      code.loop(first, end, columns, [&](Value start) {
        emit({code.min(start, code.sub(width, columns)),
              columns,
              /*isInterior=*/true,
              {}});
      });
    };
    if (i + 1 == sizes.size())
      return here();
    Value isTooLarge = code.create<arith::OrIOp>(
        code.less(width, code.index(columns)),
        code.less(left, code.index(sizes[i + 1] + 1)));
    code.when(isTooLarge, [&] { self(self, i + 1); }, here);
  };
  from(from, 0);
}
