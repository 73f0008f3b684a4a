//===- Roofline.h - layers beside what the machine can do -----------------===//
//
// A picture of a run in the roofline model (Williams, Waterman, Patterson,
// 2009): operations for each byte of operands and results to the right,
// operations a second upwards, both by powers of two and ten. Level lines are
// what multiply-adds of a type reach, slanted ones what memory of each level
// can deliver; a dot is a layer, its area its share of the time.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_ROOFLINE_H
#define SINTER_DRIVER_ROOFLINE_H

#include "runtime/Executor.h"
#include "runtime/MachineCeilings.h"

#include <span>
#include <string>

namespace sinter::driver {

/// The picture of \p layers, those left out of which operations, bytes or time
/// are not known, as a stand-alone SVG file with \p title above it. What
/// several threads did counts for each of them as its part.
std::string rooflineSvg(const std::string &title,
                        const MachineCeilings &ceilings,
                        std::span<const LayerTime> layers);

} // namespace sinter::driver

#endif // SINTER_DRIVER_ROOFLINE_H
