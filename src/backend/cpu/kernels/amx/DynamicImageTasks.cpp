//===- DynamicImageTasks.cpp - tasks on matrix units of images of any size
//---===//

#include "backend/cpu/kernels/amx/DynamicImageTasks.h"

#include "backend/cpu/kernels/amx/TileInstructions.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter::cpu;

int64_t DynamicImageTasks::positionsOf(int64_t rows, int64_t columns) const {
  constexpr int64_t beyond = mostTileRows - 1;
  if (isFlat)
    return columns + beyond;
  return ((rows - 1) * window.strideHeight +
          (window.kernelHeight - 1) * window.dilationHeight + 1) *
             ((columns - 1) * window.strideWidth +
              (window.kernelWidth - 1) * window.dilationWidth + 1) +
         beyond * window.strideWidth;
}

DynamicImageTasks DynamicImageTasks::choose(const WindowShape &window,
                                            bool isFlat, int64_t mostPositions,
                                            int64_t panels, double seconds) {
  // More pixels hardly reduce weight traffic; with fewer rows each row of the
  // image is read for several rectangles.
  constexpr int64_t enoughPixels = 512, enoughRows = 16, someRows = 8;
  DynamicImageTasks cut;
  cut.window = window;
  cut.isFlat = isFlat;
  cut.chunks = PanelChunks::choose(panels, seconds);
  auto fits = [&](int64_t rows, int64_t columns) {
    return cut.positionsOf(rows, columns) <= mostPositions;
  };
  cut.mostColumns = isFlat ? enoughPixels : 4 * mostTileRows;
  const int64_t leastRows = isFlat ? 1 : someRows;
  while (cut.mostColumns > mostTileRows && !fits(leastRows, cut.mostColumns))
    cut.mostColumns /= 2;
  while (!isFlat && cut.mostRows < enoughRows &&
         fits(cut.mostRows + 1, cut.mostColumns))
    ++cut.mostRows;
  return cut;
}

int64_t DynamicImageTasks::mostTiles() const {
  return mostRows * llvm::divideCeil(mostColumns, mostTileRows);
}

std::vector<TaskExtent> DynamicImageTasks::taskExtents() const {
  if (isFlat)
    return {{{window.outputHeight, window.outputWidth}, mostColumns},
            {{chunks.most()}, 1}};
  return {{{window.outputHeight}, mostRows},
          {{window.outputWidth}, mostColumns},
          {{chunks.most()}, 1}};
}

static Value ceilOf(VectorBuilder &code, Value a, Value b) {
  return code.div(code.add(a, code.sub(b, code.index(1))), b);
}

DynamicImageTasks::Pieces DynamicImageTasks::rows(VectorBuilder &code) const {
  if (isFlat)
    return {code.index(1), code.index(1), code.index(1)};
  Value all = code.index(window.outputHeight);
  // An image without any has no tasks, but the code that is before them.
  Value count =
      code.max(code.index(1), ceilOf(code, all, code.index(mostRows)));
  return {all, count, ceilOf(code, all, count)};
}

DynamicImageTasks::Pieces
DynamicImageTasks::columns(VectorBuilder &code) const {
  Value all = code.index(window.outputWidth);
  if (isFlat)
    all = code.mul(all, window.outputHeight);
  Value count =
      code.max(code.index(1), ceilOf(code, all, code.index(mostColumns)));
  return {all, count, ceilOf(code, all, count)};
}

Value DynamicImageTasks::tasks(VectorBuilder &code) const {
  return code.mul(code.mul(rows(code).count, columns(code).count),
                  chunks.most());
}

Value DynamicImageTasks::tileRows(VectorBuilder &code) const {
  Value size = code.max(code.index(1), columns(code).size);
  return ceilOf(code, size, ceilOf(code, size, code.index(mostTileRows)));
}

DynamicImageTasks::Task DynamicImageTasks::task(VectorBuilder &code,
                                                Value number) const {
  const Pieces ofRows = rows(code), ofColumns = columns(code);
  const PanelChunks::Task own =
      chunks.task(code, code.mul(ofRows.count, ofColumns.count), number);
  Task task;
  task.firstRow = code.mul(code.div(own.part, ofColumns.count), ofRows.size);
  task.firstColumn =
      code.mul(code.rem(own.part, ofColumns.count), ofColumns.size);
  task.rows = code.min(ofRows.size, code.sub(ofRows.all, task.firstRow));
  task.columns =
      code.min(ofColumns.size, code.sub(ofColumns.all, task.firstColumn));
  task.firstPanel = own.firstPanel;
  task.endPanel = own.endPanel;
  // The last pieces may be empty.
  task.isAny = code.both(own.isAny,
                         code.both(code.less(task.firstRow, ofRows.all),
                                   code.less(task.firstColumn, ofColumns.all)));
  return task;
}
