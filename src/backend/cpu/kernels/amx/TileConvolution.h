//===- TileConvolution.h - AMX convolutions -------------------------------===//
//
// Convolutions of activations blocked by channel, [N, C/16, H, W, 16], by
// TileProduct. For 1x1 convolutions, positions are pixels. Else a task stages
// the rows of the image that some rows of results read, with padding, and a tap
// is an offset between positions: nothing is copied per tap.
//
// Where nobody knows how high and how wide images will be, tasks are those of
// DynamicImageTasks, and how many results a tile has, and how far its taps are
// apart, follows from the width as the program runs. A sum of products is taken
// in the same order for any sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILECONVOLUTION_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILECONVOLUTION_H

#include "backend/cpu/kernels/amx/DynamicImageTasks.h"
#include "backend/cpu/kernels/amx/TileProduct.h"
#include "backend/cpu/kernels/conv/Convolution.h"
#include "backend/cpu/kernels/conv/ZeroPoint.h"

namespace sinter::cpu {

/// The height and width of results by which it is decided what computes a
/// convolution of floats in any program, where there are matrix units: a
/// feature map of the deeper half of networks, which most of their layers are
/// in. By larger images Winograd's method would be taken for many channels,
/// whose weights a small image waits for.
inline constexpr int64_t sideOfChoice = 14;

class TileConvolution {
public:
  /// Whether AMX supports the convolution: a blocked layout, with one group, or
  /// several that are multiplied in blocks of 32 (or 64 int8) with zeros
  /// between them.
  static bool supports(const ConvolutionShape &shape, const Target &target);

  /// Where \p countsImages, nobody knows how many images there will be: the
  /// shape is that of one, and so are tasks.
  TileConvolution(const ConvolutionShape &shape, const Target &target,
                  const TileArithmetic &arithmetic,
                  const TileTermsOf &parts = {}, bool countsImages = false);

  /// The layout of a split operand, with the padding that it needs. The
  /// producer sets the rest, and other users may need more padding.
  std::optional<TileTerms> operandTerms() const;
  /// Whether a split operand is not slower. Rows of a tile are pixels of one
  /// row then, where they have strides or something around them; where sizes
  /// are dynamic, that counts as longer.
  TileTermsGain gainBy(const TileTerms &operand, const Target &target) const;
  /// The layout of a split result.
  std::optional<TileTerms> resultTerms() const;

  int64_t tasks() const { return shape.batch * cut.tasks(); }
  /// The extents whose product is an image's task count.
  std::vector<TaskExtent> taskExtents() const {
    return dynamic ? dynamic->taskExtents()
                   : std::vector<TaskExtent>{{{cut.tasks()}, 1}};
  }
  /// The staging tasks that run before, if pixels are staged for several tasks;
  /// else none.
  int64_t cutTasks() const;
  /// Whether unusual values are handled by a subroutine (TileVectors).
  bool hasSubroutines() const { return !arithmetic.isOfBytes(); }
  /// Per thread; with cutTasks(), of the memory that all tasks share.
  int64_t scratchBytes() const {
    if (parts.operand)
      return 0;
    return (cut.isShared ? shape.batch : 1) * product.scratchBytes();
  }
  int64_t packedBytes() const { return product.packedBytes(); }
  /// Packs weights [K, C/groups, R, S].
  void pack(const void *weights, void *packed) const;
  /// The estimated time of one thread for all tasks, without loading weights
  /// from beyond the cache.
  double seconds(const Target &target) const;

  /// Emits one task. \p scratch is bytes, \p weights the packed weights; the
  /// others are as for Convolution.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value weights,
             mlir::Value output, mlir::Value scratch,
             const BlockedEpilogue &epilogue, mlir::Value zero = {}) const;

  /// Emits one of the staging tasks.
  void buildCut(mlir::OpBuilder &builder, mlir::Location location,
                mlir::Value task, mlir::Value input, mlir::Value scratch,
                mlir::Value zero = {}) const;

private:
  /// Channels of a block of activations.
  static constexpr int64_t lanes = 16;
  /// An image in its buffer, or some columns of its results.
  struct Image {
    mlir::Value flat, start, pixels;
    ZeroPoint zero;
    // For windows: the column of the first position of a row, counted from the
    // start of the padding, and the positions of a row.
    mlir::Value firstColumn, rowPositions;
  };
  struct Part;
  DynamicImageTasks dynamicTasksFor(const Target &target) const;
  void buildPart(VectorBuilder &code, const Part &part, mlir::Value input,
                 mlir::Value weights, mlir::Value output, mlir::Value scratch,
                 const BlockedEpilogue &epilogue, mlir::Value zero) const;
  TileProduct productOf(int64_t positions, int64_t cutPositions = 0) const;
  TileTasks cutFor(const Target &target) const;
  /// The length that is split into tiles of one height.
  int64_t tiledRow() const {
    return (isPointwise ? shape.outputPixels() : shape.outputWidth).value();
  }
  /// The positions that are staged at once, or of the split operand.
  int64_t allPositions() const;
  mlir::Value originInTerms(VectorBuilder &code) const;
  TileBorder operandBorder() const;
  void setArea(TileTerms &of, Dim height, Dim width) const;
  struct PixelRange {
    mlir::Value first = {}, end = {};
  };
  PixelRange pixelsOf(VectorBuilder &code, mlir::Value first,
                      mlir::Value count) const;
  /// Whether all pixels are staged before any task runs.
  bool findsPixels() const { return parts.operand || cut.isShared; }
  /// Tiles of a unit: rows of results, or a pair of tiles of pixels.
  int64_t unitTiles() const { return isPointwise ? 2 : rowTiles; }
  int64_t allTiles() const;
  /// The positions that \p units units read.
  int64_t positionsOf(int64_t units) const;
  int64_t inputRowsOf(int64_t outputRows) const;
  /// The pixels or rows of an image that staging tasks handle, and the
  /// positions of each.
  int64_t stagedUnits() const;
  int64_t unitPositions() const { return isPointwise ? 1 : rowPositions(); }
  Image imageOf(VectorBuilder &code, mlir::Value input, mlir::Value batch,
                mlir::Value zero) const;
  TileProduct::Staged stagedOf(VectorBuilder &code, mlir::Value scratch,
                               mlir::Value batch) const;
  /// The positions of the columns that a row of results reads.
  int64_t rowPositions() const;
  mlir::Value offsetOf(VectorBuilder &code, const Image &image,
                       mlir::Value block, int64_t half,
                       mlir::Value pixel) const;
  llvm::SmallVector<mlir::Value> load(VectorBuilder &code, const Image &image,
                                      mlir::Value block, mlir::Value pixel,
                                      int64_t channels,
                                      mlir::Value isThere = {}) const;
  mlir::Value pixelOf(VectorBuilder &code, mlir::Value result) const;
  struct Pixel {
    mlir::Value number, isThere;
  };
  Pixel paddedPixel(VectorBuilder &code, const Image &image, mlir::Value row,
                    mlir::Value position) const;
  TileVectorValues valuesOf(VectorBuilder &code, const Image &image,
                            mlir::Value first, mlir::Value firstPosition) const;
  mlir::Value
  forBlocks(VectorBuilder &code, mlir::Value carried,
            llvm::function_ref<mlir::Value(mlir::Value block, int64_t channels,
                                           mlir::Value carried)>
                body) const;
  /// Stages \p count pixels or rows from \p first on, at positions from
  /// \p firstPosition on.
  mlir::Value stage(VectorBuilder &code, const Image &image, mlir::Value first,
                    mlir::Value count, mlir::Value firstPosition,
                    mlir::Value carried, TileProduct::Put put) const;
  mlir::Value stagePixels(VectorBuilder &code, const Image &image,
                          mlir::Value first, mlir::Value count,
                          mlir::Value firstPosition, mlir::Value carried,
                          TileProduct::Put put) const;
  mlir::Value stageRows(VectorBuilder &code, const Image &image,
                        mlir::Value first, mlir::Value count,
                        mlir::Value firstPosition, mlir::Value carried,
                        TileProduct::Put put) const;

  ConvolutionShape shape;
  TileArithmetic arithmetic;
  TileTermsOf parts;
  bool countsImages;
  bool isPointwise;
  int64_t tileRows; ///< Results of a tile, at most where areas are dynamic.
  int64_t rowTiles; ///< Tiles of a row of results, or of all pixels.
  std::optional<DynamicImageTasks> dynamic; ///< Where the area is.
  TileTasks cut;
  int64_t cutUnits; ///< Pixels or rows of a staging task; 0 without.
  TileProduct product;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILECONVOLUTION_H
