//===- Channelwise.h - depthwise convolution and pooling ------------------===//
//
// Windows that treat every channel by itself, on activations blocked by
// channel, [N, C/L, H, W, L]: each lane of a vector is a channel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CHANNELWISE_H
#define SINTER_BACKEND_CPU_KERNELS_CHANNELWISE_H

#include "backend/cpu/kernels/TaskPart.h"
#include "backend/cpu/kernels/Window.h"

namespace sinter::cpu {

struct WindowOperation;

/// A window on [batch, channels/L, H, W, L].
struct ChannelwiseShape : WindowShape {
  int64_t batch = 1, channels = 0;
};

/// What goes over windows of one channel each: a task is an output row of a
/// block of channels.
class ChannelwiseKernel {
public:
  /// Of an image: task t of image i is task i * tasks() + t of all.
  int64_t tasks() const;
  /// What they are the product of; sizes may be named.
  std::vector<TaskPart> taskParts() const {
    return {{{blocks}, 1}, {{shape.outputHeight}, 1}};
  }

protected:
  /// Tiles leave registers for \p weights vectors besides sums and a pixel.
  ChannelwiseKernel(const ChannelwiseShape &shape, const Target &target,
                    const Arithmetic &arithmetic, int64_t lanes,
                    int64_t weights);

  void buildTask(VectorBuilder &code, mlir::Value task, mlir::Value input,
                 mlir::Value output, const BlockedEpilogue &epilogue,
                 const WindowOperation &operation) const;

  /// Elements as they lie in memory, and what they are combined in.
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
  /// operands, of any rank, and \p output one of what the epilogue gives; \p
  /// zero is one of the zero point where that is in memory.
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
    AverageOfPresent, ///< The sum divided by how many taps are in the input.
  };

  /// Every window must meet the input in at least one pixel. Of \p element,
  /// f32, f16, bf16 or bytes: the greatest of bytes is one of them, all else is
  /// f32. Bytes count in means as their distances from the shape's zero point.
  Pooling(Kind kind, const ChannelwiseShape &shape, const Target &target,
          ElementType element = ElementType::F32);

  /// Emits one task. \p input is a contiguous memref of elements, \p output one
  /// of what the epilogue gives.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value output,
             const BlockedEpilogue &epilogue) const;

private:
  WindowOperation operation(VectorBuilder &code) const;

  Kind kind;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CHANNELWISE_H
