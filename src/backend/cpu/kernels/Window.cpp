//===- Window.cpp - windows that slide over rows of pixels ----------------===//

#include "backend/cpu/kernels/Window.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter::cpu;

void WindowShape::setPadding(int64_t height, int64_t width) {
  auto size = [](int64_t input, int64_t padding, int64_t kernel,
                 int64_t dilation, int64_t stride) {
    return (input + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  };
  padTop = height;
  padLeft = width;
  outputHeight =
      size(inputHeight, height, kernelHeight, dilationHeight, strideHeight);
  outputWidth =
      size(inputWidth, width, kernelWidth, dilationWidth, strideWidth);
}

/// Where a tap that reads place * stride + \p first lies in \p input elements.
static OutputPlaces placesOf(int64_t first, int64_t stride, int64_t input,
                             int64_t output) {
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
  OutputPlaces inner = {0, outputWidth};
  for (int64_t s = 0; s < kernelWidth; ++s) {
    inner.begin = std::max(inner.begin, columnsOf(s).begin);
    inner.end = std::min(inner.end, columnsOf(s).end);
  }
  inner.end = std::max(inner.begin, inner.end);
  return inner;
}

bool WindowShape::isInterior(int64_t firstColumn, int64_t columns) const {
  return inputColumn(firstColumn, 0) >= 0 &&
         inputColumn(firstColumn + columns - 1, kernelWidth - 1) < inputWidth;
}

RowTaps RowTaps::of(VectorBuilder &code, const WindowShape &window,
                    Value outputRow) {
  RowTaps taps;
  taps.inputRow = code.sub(code.mul(outputRow, window.strideHeight),
                           code.index(window.padTop));
  taps.first = code.index(0);
  taps.end = code.index(window.kernelHeight);
  // How many tap rows it takes to cover `distance` input rows.
  auto steps = [&](Value distance) {
    Value positive = code.max(code.index(0), distance);
    return code.div(code.add(positive, window.dilationHeight - 1),
                    window.dilationHeight);
  };
  const int64_t lastRow = (window.outputHeight - 1) * window.strideHeight -
                          window.padTop +
                          (window.kernelHeight - 1) * window.dilationHeight;
  if (window.padTop > 0)
    taps.first = steps(code.sub(code.index(0), taps.inputRow));
  if (lastRow >= window.inputHeight)
    taps.end = code.min(taps.end, steps(code.sub(code.index(window.inputHeight),
                                                 taps.inputRow)));
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
