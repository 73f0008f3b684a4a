//===- TileTimes.h - what products take on matrix units -------------------===//
//
// Beside what they take on vectors, for any kernel on matrix units (AMX).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COST_TILETIMES_H
#define SINTER_BACKEND_CPU_COST_TILETIMES_H

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/ProductTimes.h"
#include "backend/cpu/kernels/amx/TileArithmetic.h"
#include "backend/cpu/kernels/amx/TileMatrices.h"
#include "backend/cpu/kernels/conv/Winograd.h"

#include <algorithm>
#include <limits>

namespace sinter::cpu {

/// Bytes of the right-hand operand that a run reads from memory, as if no cache
/// held them.
template <typename Kernel, typename Shape>
double readBytes(const Kernel &kernel, const Shape &) {
  return double(kernel.packedBytes());
}
inline double readBytes(const TileMatrices &kernel, const MatMulShape &) {
  return kernel.readBytes();
}

template <typename Kernel, typename Shape>
Alternative timeOfTiles(const Shape &shape, const TileArithmetic &tiles,
                        const Target &target) {
  const Kernel kernel(shape, target, tiles);
  // Weights come from memory as those of other kernels do.
  return {tiles.name(),
          std::max(kernel.seconds(target),
                   readBytes(kernel, shape) / target.rates.memory)};
}

/// What matrix units do, and what it takes.
using TimeOfTiles = std::pair<TileArithmetic, Alternative>;

/// Of \p tiles those that are a way to compute \p shape, beside \p others.
/// Those that are less exact than f32 are where they save enough
/// (EstimateFigures.h).
template <typename Kernel, typename Shape>
llvm::SmallVector<TimeOfTiles>
worthwhile(const Alternatives &others, const Shape &shape,
           llvm::ArrayRef<TileArithmetic> tiles, const Target &target) {
  llvm::SmallVector<TimeOfTiles> some;
  if (!Kernel::supports(shape, target))
    return some;
  double ofExact = std::numeric_limits<double>::infinity(), ofFast = ofExact;
  for (const Alternative &each : others) {
    double &least = Winograd::formOf(each.kernel) ? ofFast : ofExact;
    least = std::min(least, each.seconds);
  }
  // The most exact stand last.
  for (const TileArithmetic &each : llvm::reverse(tiles)) {
    const Alternative time = timeOfTiles<Kernel>(shape, each, target);
    const bool isDefault = !each.isExact() && each.depth == 2;
    const double ofExactTime = each.products().size() < 3
                                   ? figures::twoMatmulsOfExact
                                   : figures::threeMatmulsOfExact;
    const double worthIt =
        std::min({ofExactTime * ofExact, ofExact - figures::noticedSeconds,
                  figures::matmulsOfWinograd * ofFast});
    if (!isDefault || time.seconds < worthIt)
      some.push_back({each, time});
    if (each.isExact())
      ofExact = std::min(ofExact, time.seconds);
  }
  return some;
}

/// \p all, and those of \p tiles that are a way, the best first.
template <typename Kernel, typename Shape>
Alternatives withTiles(Alternatives all, const Shape &shape,
                       llvm::ArrayRef<TileArithmetic> tiles,
                       const Target &target) {
  for (TimeOfTiles &each : worthwhile<Kernel>(all, shape, tiles, target))
    all.push_back(std::move(each.second));
  return bestFirst(std::move(all), target);
}

/// Adds the tiles that are worthwhile beside \p ofTypical, the times of
/// \p typical, to these, and what they take for \p shape to \p times.
template <typename Kernel, typename Shape>
void addTiles(Alternatives &ofTypical, Alternatives &times,
              const Shape &typical, const Shape &shape,
              llvm::ArrayRef<TileArithmetic> tiles, const Target &target) {
  for (const auto &[each, time] :
       worthwhile<Kernel>(ofTypical, typical, tiles, target)) {
    ofTypical.push_back(time);
    times.push_back(timeOfTiles<Kernel>(shape, each, target));
  }
}

/// \p times, before all others the one of what is best by \p ofTypical.
inline Alternatives inOrderOf(Alternatives ofTypical, Alternatives times,
                              const Target &target) {
  times = bestFirst(std::move(times), target);
  bringToFront(times, bestFirst(std::move(ofTypical), target).front().kernel);
  return times;
}

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COST_TILETIMES_H
