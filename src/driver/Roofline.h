//===- Roofline.h - a roofline plot of layers -----------------------------===//
//
// A plot of a run in the roofline model (Williams, Waterman, Patterson, 2009):
// operations per byte of operands and results to the right, operations per
// second upwards, both logarithmic. Level lines are the peak rates of a type,
// slanted ones the bandwidths of memory; a dot is a layer, its area its share
// of the time.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_ROOFLINE_H
#define SINTER_DRIVER_ROOFLINE_H

#include "runtime/Executor.h"
#include "runtime/MachineCeilings.h"

#include <span>
#include <string>

namespace sinter::driver {

/// The plot of \p layers, without those of unknown operations, bytes or time,
/// as a self-contained SVG file with \p title above it. Work of several threads
/// is divided among them.
std::string rooflineSvg(const std::string &title,
                        const MachineCeilings &ceilings,
                        std::span<const LayerTime> layers);

} // namespace sinter::driver

#endif // SINTER_DRIVER_ROOFLINE_H
