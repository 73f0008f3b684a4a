//===- Sampling.h - images read between the pixels -----------------------===//

#ifndef SINTER_FORMATS_IMPORT_SAMPLING_H
#define SINTER_FORMATS_IMPORT_SAMPLING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// How places of a grid are read.
struct GridRules {
  /// What lies outside of the image: nothing, or what brings the place inside.
  enum class Outside { Zeros, Border, Reflection };
  /// "linear", "nearest" or "cubic".
  std::string mode = "linear";
  Outside outside = Outside::Zeros;
  /// Whether -1 and 1 are the middles of the outermost pixels, or their edges.
  bool alignCorners = false;
  /// Whether the nearest pixel of a place in the middle of two is the farther
  /// one from 0; else the even one.
  bool roundsHalfAway = false;
};

/// The pixels of \p image [N, C, spatial...] at the places of \p grid
/// [N, out..., rank]: in [-1, 1], the place along the last dimension first.
mlir::Value sampleGrid(GraphBuilder &builder, mlir::Value image,
                       mlir::Value grid, const GridRules &rules);

/// The pixels of \p image [N, C, H, W] at the places \p rows and \p columns
/// [N, P], counted in pixels from the middle of the first one and read between
/// them linearly along both dimensions; what lies outside is 0. [N, C, P].
mlir::Value samplePlaces(GraphBuilder &builder, mlir::Value image,
                         mlir::Value rows, mlir::Value columns);

/// How regions of images are read.
struct RoiRules {
  /// The size of the result, and how many samples a dimension each of its
  /// elements is the mean (or the maximum) of; 0 for as many as it has pixels,
  /// rounded up (1024 at most), which differs from region to region.
  int64_t bins[2];
  int64_t samples = 0;
  /// What regions are multiplied by.
  double scale = 1;
  bool halfPixel = false, maximum = false;
};

/// The samples of each of \p regions [R, 4] (x1, y1, x2, y2) of the image of
/// \p image [N, C, H, W] that \p batch [R] names: [R, C, bins...].
mlir::Value alignRegions(GraphBuilder &builder, mlir::Value image,
                         mlir::Value regions, mlir::Value batch,
                         const RoiRules &rules);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_SAMPLING_H
