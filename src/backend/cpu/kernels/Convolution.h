//===- Convolution.h - generator of direct convolutions -------------------===//
//
// Two-dimensional convolution, one exact shape a kernel. Activations are
// blocked by channel: [N, C/L, H, W, L], where L is the number of f32 lanes of
// a vector and the last block is filled up with channels that nobody reads.
// (A product over pixels, 1x1 with stride 1, is the special case where all
// pixels form one row.)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONVOLUTION_H
#define SINTER_BACKEND_CPU_KERNELS_CONVOLUTION_H

#include "backend/cpu/kernels/Tiling.h"

#include <functional>

namespace sinter::cpu {

struct ConvolutionShape {
  int64_t batch = 1;
  int64_t inputChannels = 0, outputChannels = 0, groups = 1;
  int64_t inputHeight = 0, inputWidth = 0;
  int64_t outputHeight = 0, outputWidth = 0;
  int64_t kernelHeight = 1, kernelWidth = 1;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t dilationHeight = 1, dilationWidth = 1;
  /// Zeros before the first row and column (negative: rows left out); how many
  /// come after the last ones follows from the output's size.
  int64_t padTop = 0, padLeft = 0;
  /// The input is [N, C, H, W]: for the few channels of an image.
  bool hasPlanarInput = false;

  /// Output size for symmetric padding.
  void setPadding(int64_t height, int64_t width);
  double flops() const;
};

/// Where in the output, [N, K/L, H * W, L], a vector of results belongs: L
/// channels of one pixel.
struct ConvolutionPosition {
  mlir::Value batch, block, pixel;
  mlir::Value offset; ///< In elements from the start of the output.
};

/// Gets L channels of one pixel that are about to be stored, and returns what
/// is to be stored instead. Lanes beyond the last channel are zero.
using ConvolutionEpilogue =
    std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                              mlir::Value vector, const ConvolutionPosition &)>;

class Convolution {
public:
  /// Whether the shape can be computed: groups must consist of whole blocks of
  /// input and output channels.
  static bool supports(const ConvolutionShape &shape, const Target &target);

  Convolution(const ConvolutionShape &shape, const Target &target);

  int64_t tasks() const { return order.tasks(); }
  /// f32 elements of the packed weights.
  int64_t packedElements() const;
  /// Packs weights [K, C/groups, R, S] for the kernel. \p weights may be
  /// unaligned; \p packed has packedElements() elements.
  void pack(const void *weights, float *packed) const;

  /// Emits one task. \p input, \p weights, \p output are contiguous f32
  /// memrefs of any rank; \p epilogue may be null.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value weights,
             mlir::Value output, const ConvolutionEpilogue &epilogue) const;

private:
  struct Operands;
  /// Neighbouring tiles of a row that have the same code.
  struct Run {
    int64_t firstTile, tiles, columns;
    bool isInterior; ///< No tap of any column falls outside the input.
  };
  llvm::SmallVector<Run> runsOfRow() const;
  bool isInterior(int64_t firstColumn, int64_t columns) const;
  void buildUnit(Emitter &emitter, Operands &operands) const;
  void buildTile(Emitter &emitter, Operands &operands, mlir::Value firstColumn,
                 int64_t columns, bool isInterior) const;
  llvm::SmallVector<mlir::Value> reduce(Emitter &emitter, Operands &operands,
                                        mlir::Value firstColumn,
                                        int64_t columns, bool isInterior) const;
  int64_t reduction() const;

  ConvolutionShape shape;
  int64_t lanes;
  int64_t groupInputs, groupOutputs; ///< Channels of one group.
  int64_t groupVectors;              ///< Vectors that cover a group's outputs.
  int64_t panelVectors;              ///< Vectors of a whole panel.
  int64_t groupPanels;
  Partition columnTiles;
  bool unitIsTile; ///< A task computes one tile of a row, not the whole row.
  TaskOrder order;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONVOLUTION_H
