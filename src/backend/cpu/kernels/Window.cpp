//===- Window.cpp - windows that slide over rows of pixels ----------------===//

#include "backend/cpu/kernels/Window.h"

#include "graph/NamedSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value WindowShape::inputPixels(VectorBuilder &code) const {
  return code.mul(code.index(inputHeight), inputWidth);
}
Value WindowShape::outputPixels(VectorBuilder &code) const {
  return code.mul(code.index(outputHeight), outputWidth);
}
/// Whether \p size is a name, or has none yet.
static bool isOpenSize(int64_t size) {
  return isNamed(size) || ShapedType::isDynamic(size);
}
bool WindowShape::hasOpenHeight() const {
  return isOpenSize(inputHeight) || isOpenSize(outputHeight);
}
bool WindowShape::hasOpenWidth() const {
  return isOpenSize(inputWidth) || isOpenSize(outputWidth);
}

WindowShape WindowShape::nominal() const {
  // A feature map in the middle of a network.
  constexpr int64_t pixels = 56;
  WindowShape shape = *this;
  if (hasOpenHeight()) {
    shape.outputHeight = pixels;
    shape.inputHeight = pixels * strideHeight;
  }
  if (hasOpenWidth()) {
    shape.outputWidth = pixels;
    shape.inputWidth = pixels * strideWidth;
  }
  return shape;
}

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
  // Where heights are not known, the last row may reach beyond the input.
  const bool reachesBeyond =
      window.hasOpenHeight() ||
      (window.outputHeight - 1) * window.strideHeight - window.padTop +
              (window.kernelHeight - 1) * window.dilationHeight >=
          window.inputHeight;
  if (window.padTop > 0)
    taps.first = steps(code.sub(code.index(0), taps.inputRow));
  if (reachesBeyond)
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

namespace {

/// Emits the tiles of a row of named width.
struct OpenRow {
  VectorBuilder &code;
  const WindowShape &window;
  llvm::function_ref<void(const ColumnTile &)> emit;

  Value width() const { return code.index(window.outputWidth); }
  int64_t reach() const {
    return (window.kernelWidth - 1) * window.dilationWidth;
  }
  /// The first output column none of whose taps lies before the input.
  int64_t leftEdge() const {
    return llvm::divideCeil(std::max<int64_t>(window.padLeft, 0),
                            window.strideWidth);
  }
  /// A window of many columns that is like this one at the left edge, and such
  /// that the last column reaches \p beyond pixels behind the input.
  WindowShape edgeOf(int64_t columns, int64_t beyond) const {
    WindowShape edge = window;
    edge.outputWidth = columns;
    edge.inputWidth = edge.inputColumn(columns - 1, 0) + reach() + 1 - beyond;
    return edge;
  }

  /// How many output columns at the right edge may reach behind the input.
  int64_t rightEdge() const {
    return llvm::divideCeil(std::max<int64_t>(window.padRight, 0),
                            window.strideWidth);
  }
  /// How far the last column reaches behind the input: no further than the
  /// padding, and by less than a stride less.
  Value beyond() const {
    Value last = code.add(code.mul(code.sub(width(), 1), window.strideWidth),
                          reach() + 1 - window.padLeft);
    return code.sub(last, code.index(window.inputWidth));
  }

  void interior(Value first, int64_t columns) const {
    emit({first, columns, /*isInterior=*/true, 0});
  }
  void left(int64_t columns) const {
    if (leftEdge() == 0)
      return interior(code.index(0), columns);
    // Far enough from the other edge.
    emit({code.index(0), columns, /*isInterior=*/false, 0,
          edgeOf(2 * columns + reach() + leftEdge() + 1, 0)});
  }
  void right(int64_t columns) const {
    Value first = code.sub(width(), columns);
    const int64_t most = window.padRight, least = most - window.strideWidth + 1;
    auto variant = [&](auto &self, int64_t pixels) -> void {
      if (pixels <= 0)
        return interior(first, columns);
      const int64_t many = 2 * columns + reach() + leftEdge() + 1;
      auto here = [&] {
        emit({first, columns, /*isInterior=*/false, many - columns,
              edgeOf(many, pixels)});
      };
      if (pixels == least)
        return here();
      code.when(code.equal(beyond(), code.index(pixels)), here,
                [&] { self(self, pixels - 1); });
    };
    variant(variant, most);
  }

  /// Tiles of \p columns, where there are at least two of them.
  void tiles(int64_t columns) const {
    left(columns);
    Value behind = code.sub(width(), columns);
    Value latest = code.sub(behind, columns);
    code.loop(code.index(columns), behind, columns, [&](Value start) {
      interior(code.max(code.index(leftEdge()), code.min(start, latest)),
               columns);
    });
    right(columns);
  }

  void columns() const {
    code.loop(code.index(0), width(), 1, [&](Value column) {
      Value input = code.sub(code.mul(column, window.strideWidth),
                             code.index(window.padLeft));
      auto steps = [&](Value distance) {
        Value positive = code.max(code.index(0), distance);
        return code.min(code.index(window.kernelWidth),
                        code.div(code.add(positive, window.dilationWidth - 1),
                                 window.dilationWidth));
      };
      ColumnTile one{column, 1, /*isInterior=*/true, 0};
      one.firstTap = steps(code.sub(code.index(0), input));
      one.endTap = steps(code.sub(code.index(window.inputWidth), input));
      emit(one);
    });
  }
};

} // namespace

void sinter::cpu::forEachOpenTile(
    VectorBuilder &code, const WindowShape &window, int64_t most,
    llvm::function_ref<void(const ColumnTile &)> emit) {
  const OpenRow row{code, window, emit};
  const int64_t least = std::max<int64_t>(2, row.leftEdge() + row.rightEdge());
  const int64_t half = most / 2;
  auto covered = [&](int64_t columns) {
    Value parts = code.div(code.add(row.width(), columns - 1), columns);
    return code.mul(parts, columns);
  };
  auto isWide = [&](int64_t columns) {
    return code.less(code.index(2 * columns - 1), row.width());
  };
  auto narrow = [&] {
    if (half < least)
      return row.columns();
    code.when(isWide(half), [&] { row.tiles(half); }, [&] { row.columns(); });
  };
  if (most < least)
    return row.columns();
  // Small tiles take an eighth longer for as many columns.
  Value isBetter = half < least ? code.boolean(true)
                                : code.less(code.mul(covered(most), 8),
                                            code.mul(covered(half), 9));
  code.when(
      code.both(isWide(most), isBetter), [&] { row.tiles(most); }, narrow);
}
