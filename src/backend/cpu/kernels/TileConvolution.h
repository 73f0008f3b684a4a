//===- TileConvolution.h - convolutions on matrix units -------------------===//
//
// Convolutions of activations blocked by channel, [N, C/16, H, W, 16], by
// TileProduct. Where each result reads one pixel (1x1), positions are those
// pixels. Else a task brings the rows of the images together that some rows of
// results read, with what they read outside of the image, and a tap is a
// distance between positions: nothing is copied once a tap.
//
// Where nobody knows how high and how wide images will be, tasks are those of
// OpenImageCut, and how many results a tile has, and how far its taps are
// apart, follows from the width as the program runs. A sum of products is taken
// in the same order for any sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILECONVOLUTION_H
#define SINTER_BACKEND_CPU_KERNELS_TILECONVOLUTION_H

#include "backend/cpu/kernels/Convolution.h"
#include "backend/cpu/kernels/OpenImageCut.h"
#include "backend/cpu/kernels/TileProduct.h"
#include "backend/cpu/kernels/ZeroPoint.h"

namespace sinter::cpu {

/// The height and width of results by which it is decided what computes a
/// convolution of floats in any program, where there are matrix units: a
/// feature map of the deeper half of networks, which most of their layers are
/// in. By larger images Winograd's method would be taken for many channels,
/// whose weights a small image waits for.
inline constexpr int64_t sideOfChoice = 14;

class TileConvolution {
public:
  /// Whether tiles compute such a convolution: blocked, of one group or of some
  /// that are multiplied by blocks of 32 (or 64 bytes) with zeros between them.
  static bool supports(const ConvolutionShape &shape, const Target &target);

  /// Where \p countsImages, nobody knows how many images there will be: the
  /// shape is that of one, and so are tasks.
  TileConvolution(const ConvolutionShape &shape, const Target &target,
                  const TileArithmetic &arithmetic,
                  const TilePartsOf &parts = {}, bool countsImages = false);

  /// How pixels would lie that it reads in parts, with what it reads outside of
  /// an image; who stores them says the rest, and other readers may want more
  /// around them.
  std::optional<TileParts> operandParts() const;
  /// Whether it takes no longer where pixels lie so. Rows of a tile are pixels
  /// of one row then, where they have strides or something around them; where
  /// sizes are open, that counts as longer.
  TilePartsGain gainBy(const TileParts &operand, const Target &target) const;
  /// How it would store its results in parts.
  std::optional<TileParts> resultParts() const;

  int64_t tasks() const { return shape.batch * cut.tasks(); }
  /// What the number of an image's tasks is the product of.
  std::vector<TaskPart> taskParts() const {
    return open ? open->taskParts() : std::vector<TaskPart>{{{cut.tasks()}, 1}};
  }
  /// Those that have to be done before, where pixels are brought together for
  /// several tasks; else none.
  int64_t cutTasks() const;
  /// Whether unusual numbers have a subroutine (TileVectors).
  bool hasSubroutines() const { return !arithmetic.isOfBytes(); }
  /// Of each thread; with cutTasks() of what all tasks share.
  int64_t scratchBytes() const {
    if (parts.operand)
      return 0;
    return (cut.isShared ? shape.batch : 1) * product.scratchBytes();
  }
  int64_t packedBytes() const { return product.packedBytes(); }
  /// Packs weights [K, C/groups, R, S].
  void pack(const void *weights, void *packed) const;
  /// What one thread should take for all tasks, but for weights that come from
  /// beyond the cache.
  double seconds(const Target &target) const;

  /// Emits one task. \p scratch is of bytes, \p weights what was packed; the
  /// others are as for Convolution.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value weights,
             mlir::Value output, mlir::Value scratch,
             const BlockedEpilogue &epilogue, mlir::Value zero = {}) const;

  /// Emits one of the tasks before.
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
    // Of windows: the column that the first position of a row has, counted from
    // where the padding begins, and the positions of a row.
    mlir::Value firstColumn, rowPositions;
  };
  struct Part;
  OpenImageCut openCutFor(const Target &target) const;
  void buildPart(VectorBuilder &code, const Part &part, mlir::Value input,
                 mlir::Value weights, mlir::Value output, mlir::Value scratch,
                 const BlockedEpilogue &epilogue, mlir::Value zero) const;
  TileProduct productOf(int64_t positions, int64_t cutPositions = 0) const;
  TileCut cutFor(const Target &target) const;
  /// What is cut into tiles of one height.
  int64_t tiledRow() const {
    return isPointwise ? shape.outputPixels() : shape.outputWidth;
  }
  /// Of what is brought together at once, or in memory in parts.
  int64_t allPositions() const;
  mlir::Value originInParts(VectorBuilder &code) const;
  TileBorder operandBorder() const;
  void setArea(TileParts &of, int64_t height, int64_t width) const;
  struct PixelRange {
    mlir::Value first = {}, end = {};
  };
  PixelRange pixelsOf(VectorBuilder &code, mlir::Value first,
                      mlir::Value count) const;
  /// Whether all pixels have their place before any task runs.
  bool findsPixels() const { return parts.operand || cut.isShared; }
  /// Tiles of a unit: rows of results, or a pair of tiles of pixels.
  int64_t unitTiles() const { return isPointwise ? 2 : rowTiles; }
  int64_t allTiles() const;
  /// Positions that so many units read.
  int64_t positionsOf(int64_t units) const;
  int64_t inputRowsOf(int64_t outputRows) const;
  /// Pixels or rows of an image that tasks before bring together, and the
  /// positions of each.
  int64_t stagedUnits() const;
  int64_t unitPositions() const { return isPointwise ? 1 : rowPositions(); }
  Image imageOf(VectorBuilder &code, mlir::Value input, mlir::Value batch,
                mlir::Value zero) const;
  TileProduct::Staged stagedOf(VectorBuilder &code, mlir::Value scratch,
                               mlir::Value batch) const;
  /// Of the columns that a row of results reads.
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
  TileVectorNumbers numbersOf(VectorBuilder &code, const Image &image,
                              mlir::Value first,
                              mlir::Value firstPosition) const;
  mlir::Value
  forBlocks(VectorBuilder &code, mlir::Value carried,
            llvm::function_ref<mlir::Value(mlir::Value block, int64_t channels,
                                           mlir::Value carried)>
                body) const;
  /// Brings \p count pixels or rows of what is read together, from \p first
  /// on, those of \p firstPosition on.
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
  TilePartsOf parts;
  bool countsImages;
  bool isPointwise;
  int64_t tileRows; ///< Results of a tile, at most where areas are open.
  int64_t rowTiles; ///< Tiles of a row of results, or of all pixels.
  std::optional<OpenImageCut> open; ///< Where the area is.
  TileCut cut;
  int64_t cutUnits; ///< Pixels or rows of a task before; 0 without.
  TileProduct product;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILECONVOLUTION_H
