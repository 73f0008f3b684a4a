//===- Sampling.h - interpolated sampling of images -----------------------===//

#ifndef SINTER_FORMATS_IMPORT_SAMPLING_H
#define SINTER_FORMATS_IMPORT_SAMPLING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// How the points of a grid are sampled.
struct GridRules {
  /// Points outside of the image read zeros, or are mapped into the image.
  enum class Outside { Zeros, Border, Reflection };
  /// "linear", "nearest" or "cubic".
  std::string mode = "linear";
  Outside outside = Outside::Zeros;
  /// Whether -1 and 1 are the centres of the outermost pixels, or their edges.
  bool alignCorners = false;
  /// Whether a point half-way between two pixels rounds away from 0; else to
  /// even.
  bool roundsHalfAway = false;
};

/// Samples \p image [N, C, spatial...] at the points \p grid [N, out..., rank],
/// coordinates in [-1, 1] with that of the last dimension first.
mlir::Value sampleGrid(GraphBuilder &builder, mlir::Value image,
                       mlir::Value grid, const GridRules &rules);

/// Samples \p image [N, C, H, W] bilinearly at the points \p rows and
/// \p columns [N, P], in pixels from the centre of the first one; pixels
/// outside are 0. Returns [N, C, P].
mlir::Value samplePositions(GraphBuilder &builder, mlir::Value image,
                            mlir::Value rows, mlir::Value columns);

/// How regions of images are sampled.
struct RoiRules {
  /// The size of the result, and the samples per dimension of which each
  /// element is the mean (or the maximum); 0 for the number of pixels of a bin,
  /// rounded up (1024 at most), which differs between regions.
  int64_t bins[2];
  int64_t samples = 0;
  /// What regions are multiplied by.
  double scale = 1;
  bool halfPixel = false, maximum = false;
};

/// Samples each of \p regions [R, 4] (x1, y1, x2, y2) of the image at index
/// \p batch [R] in \p image [N, C, H, W]: [R, C, bins...].
mlir::Value alignRegions(GraphBuilder &builder, mlir::Value image,
                         mlir::Value regions, mlir::Value batch,
                         const RoiRules &rules);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_SAMPLING_H
