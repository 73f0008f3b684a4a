//===- Channelwise.h - depthwise convolution and pooling ------------------===//
//
// Windows on each channel separately, on activations blocked by channel, [N,
// C/L, H, W, L]: each lane of a vector is a channel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_CHANNELWISE_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_CHANNELWISE_H

#include "backend/cpu/kernels/common/TaskExtent.h"
#include "backend/cpu/kernels/conv/Window.h"

namespace sinter::cpu {

struct WindowOperation;

/// A window on [batch, channels/L, H, W, L].
struct ChannelwiseShape : WindowShape {
  Dim batch = 1;
  int64_t channels = 0;
};

/// A kernel of windows of one channel each: a task is an output row of a block
/// of channels.
class ChannelwiseKernel {
public:
  /// The tasks of an image of static height: task t of image i is task
  /// i * tasks() + t of all.
  int64_t tasks() const;
  /// The extents whose product is the task count; sizes may be named.
  std::vector<TaskExtent> taskExtents() const {
    return {{{blocks}, 1}, {{shape.outputHeight}, 1}};
  }

protected:
  /// Tiles reserve registers for \p weights vectors besides accumulators and a
  /// pixel.
  ChannelwiseKernel(const ChannelwiseShape &shape, const Target &target,
                    const Arithmetic &arithmetic, int64_t lanes,
                    int64_t weights);

  void buildTask(VectorBuilder &code, mlir::Value task, mlir::Value input,
                 mlir::Value output, const BlockedEpilogue &epilogue,
                 const WindowOperation &operation) const;

  /// The element types in memory and of the accumulators.
  Arithmetic arithmetic;
  ChannelwiseShape shape;
  int64_t lanes, blocks;
  Partition tiles;
};

/// Convolution with as many groups as input and output channels.
class Depthwise : public ChannelwiseKernel {
public:
  Depthwise(const ChannelwiseShape &shape, const Target &target,
            const Arithmetic &arithmetic = {});

  double flops() const;
  /// Elements of the packed weights.
  int64_t packedElements() const;
  /// Packs weights [C, 1, R, S]; \p weights may be unaligned.
  void pack(const void *weights, void *packed) const;

  /// Emits one task. \p input and \p weights are contiguous memrefs of
  /// operands, of any rank, and \p output one of the epilogue's results;
  /// \p zero holds the zero point if that is in memory.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value weights,
             mlir::Value output, const BlockedEpilogue &epilogue,
             mlir::Value zero = {}) const;
};

/// Maximum or average over a window.
class Pooling : public ChannelwiseKernel {
public:
  enum class Kind {
    Maximum,          ///< NaN wins. Padding never does.
    AverageOfWindow,  ///< The sum divided by the window's size.
    AverageOfPresent, ///< The sum divided by the taps in the input.
  };

  /// Every window must contain at least one pixel of the input. \p element is
  /// f32, f16, bf16 or 8-bit: a maximum of 8-bit values is one of them, all
  /// other results are f32. Means of 8-bit values subtract the shape's zero
  /// point.
  Pooling(Kind kind, const ChannelwiseShape &shape, const Target &target,
          ElementType element = ElementType::F32);

  /// Emits one task. \p input is a contiguous memref of elements, \p output one
  /// of the epilogue's results.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value output,
             const BlockedEpilogue &epilogue) const;

private:
  WindowOperation operation(VectorBuilder &code) const;

  Kind kind;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_CHANNELWISE_H
