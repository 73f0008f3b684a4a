//===- WeightGradient.cpp - gradients of a convolution's weights ----------===//

#include "backend/cpu/kernels/conv/WeightGradient.h"

#include "backend/cpu/target/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The last block may have fewer input channels; all lanes of output channels
/// are computed.
static int64_t blocksOf(int64_t channels, int64_t lanes) {
  return llvm::divideCeil(channels, lanes);
}

/// Two blocks share the loaded input.
static int64_t tileBlocksOf(int64_t outputBlocks) {
  return outputBlocks % 2 == 0 ? 2 : 1;
}

int64_t WeightGradientShape::parts(int64_t lanes) const {
  constexpr int64_t wanted = 16;
  const int64_t outputBlocks = blocksOf(outputs, lanes);
  const int64_t others =
      blocksOf(inputs, lanes) * (outputBlocks / tileBlocksOf(outputBlocks));
  const int64_t most = std::max<int64_t>(wanted / others, 1);
  if (batch.isDynamic())
    return most;
  const int64_t images = batch.value();
  return llvm::divideCeil(images,
                          llvm::divideCeil(images, std::min(most, images)));
}

WeightGradient::WeightGradient(const WeightGradientShape &shape,
                               const Target &target)
    : shape(shape), lanes(target.f32Lanes),
      inputBlocks(blocksOf(shape.inputs, lanes)),
      outputBlocks(blocksOf(shape.outputs, lanes)),
      tileBlocks(tileBlocksOf(outputBlocks)),
      // Besides the accumulators there are a vector of each block and its other
      // factor.
      tileInputs(llvm::bit_floor<uint64_t>(
          std::clamp<int64_t>((target.vectorRegisters - tileBlocks - 2) /
                                  (tileBlocks * shape.kernelWidth),
                              1, lanes))) {}

int64_t WeightGradient::tasks() const {
  return shape.parts(lanes) * (outputBlocks / tileBlocks) * inputBlocks;
}

double WeightGradient::flops() const {
  return 2.0 * double(shape.batch.valueOr(1)) * double(shape.inputs) *
         double(shape.outputs) *
         double(shape.outputPixels().value() * shape.taps());
}

namespace {

/// Emits the sums of one task.
struct WeightTask {
  VectorBuilder &code;
  const WeightGradientShape &shape;
  int64_t lanes, inputBlocks, outputBlocks, tileBlocks, tileInputs;
  Value input, gradient, sums;
  VectorType type;
  Value part = {}, outputBlock = {}, inputBlock = {};

  using Sums = IndexBuilder::Carried;

  void emit(Value task) {
    inputBlock = code.rem(task, inputBlocks);
    Value rest = code.div(task, inputBlocks);
    const int64_t tiles = outputBlocks / tileBlocks;
    outputBlock = code.mul(code.rem(rest, tiles), tileBlocks);
    part = code.div(rest, tiles);
    clear();
    const int64_t parts = shape.parts(lanes), rows = groupRows();
    // An index of a number folds, one of a name is read.
    Value all = code.index(shape.batch),
          images = code.div(code.add(all, parts - 1), parts);
    Value begin = code.mul(part, images),
          end = code.min(code.add(begin, images), all);
    code.loop(begin, end, 1, [&](Value image) {
      code.loop(code.index(0), code.index(shape.outputHeight), rows,
                [&](Value first) {
                  Value end = code.min(code.add(first, rows),
                                       code.index(shape.outputHeight));
                  addRows(image, first, end);
                });
    });
  }

private:
  /// Enough rows to amortise loading and storing of accumulators, few enough
  /// for their pixels to stay in the first-level cache.
  int64_t groupRows() const {
    constexpr int64_t pixels = 64;
    return std::clamp<int64_t>(pixels / shape.outputWidth.value(), 1,
                               shape.outputHeight.value());
  }

  /// The offset of the sums of output block \p b (of the tile), tap (r, s) and
  /// input channel \p c.
  Value offsetOf(int64_t b, Value r, int64_t s, Value c) {
    Value at = code.add(code.mul(part, outputBlocks), code.add(outputBlock, b));
    at = code.add(code.mul(at, inputBlocks), inputBlock);
    at = code.add(code.mul(at, shape.kernelHeight), r);
    at = code.add(code.mul(at, shape.kernelWidth), s);
    return code.mul(code.add(code.mul(at, lanes), c), lanes);
  }

  /// The computed input channels of a block: all, unless there is only one,
  /// incomplete block.
  int64_t usedInputs() const {
    return std::min(lanes, int64_t(llvm::alignTo(shape.inputs, tileInputs)));
  }

  void clear() {
    Value zero = code.zero(type);
    code.loop(code.index(0), code.index(shape.kernelHeight), 1, [&](Value r) {
      code.loop(code.index(0), code.index(lanes), 1, [&](Value c) {
        for (int64_t b = 0; b < tileBlocks; ++b)
          for (int64_t s = 0; s < shape.kernelWidth; ++s)
            code.store(zero, sums, offsetOf(b, r, s, c));
      });
    });
  }

  /// Adds the contribution of output rows [first, end) of an image.
  void addRows(Value image, Value first, Value end) {
    code.loop(code.index(0), code.index(usedInputs()), tileInputs,
              [&](Value c) {
                code.loop(code.index(0), code.index(shape.kernelHeight), 1,
                          [&](Value r) { addTapRow(image, first, end, c, r); });
              });
  }

  /// The same for tap row \p r and the tile's input channels from \p c on.
  /// Accumulators are in registers in the order block, column of the window,
  /// channel.
  void addTapRow(Value image, Value first, Value end, Value c, Value r) {
    // Output rows for which the tap is in the input.
    Value above =
        code.sub(code.index(shape.padTop), code.mul(r, shape.dilationHeight));
    auto rowsUpTo = [&](Value distance) {
      return code.div(
          code.max(code.add(distance, shape.strideHeight - 1), code.index(0)),
          shape.strideHeight);
    };
    Value begin = code.max(first, rowsUpTo(above));
    Value stop = code.min(end, rowsUpTo(code.add(above, shape.inputHeight)));
    Sums before;
    forEachSum([&](int64_t b, int64_t s, int64_t channel) {
      before.push_back(
          code.load(sums, offsetOf(b, r, s, code.add(c, channel)), type));
    });
    Sums after =
        code.loop(begin, stop, 1, before, [&](Value row, ValueRange carried) {
          Value outputRow =
              rowOf(image, outputBlocks, outputBlock, shape.outputHeight, row);
          Value inputRow =
              rowOf(image, inputBlocks, inputBlock, shape.inputHeight,
                    code.sub(code.mul(row, shape.strideHeight), above));
          return addColumns(outputRow, inputRow, c, carried);
        });
    size_t next = 0;
    forEachSum([&](int64_t b, int64_t s, int64_t channel) {
      code.store(after[next++], sums, offsetOf(b, r, s, code.add(c, channel)));
    });
  }

  void forEachSum(
      llvm::function_ref<void(int64_t b, int64_t s, int64_t channel)> body) {
    for (int64_t b = 0; b < tileBlocks; ++b)
      for (int64_t s = 0; s < shape.kernelWidth; ++s)
        for (int64_t channel = 0; channel < tileInputs; ++channel)
          body(b, s, channel);
  }
  size_t accumulatorIndex(int64_t b, int64_t s, int64_t channel) const {
    return (b * shape.kernelWidth + s) * tileInputs + channel;
  }

  /// The index of row \p row of block \p block of \p image among all rows.
  Value rowOf(Value image, int64_t blocks, Value block, Dim height, Value row) {
    return code.add(code.mul(code.add(code.mul(image, blocks), block), height),
                    row);
  }

  /// Adds a row: columns for which all taps are in the input together, the
  /// others tap by tap.
  Sums addColumns(Value outputRow, Value inputRow, Value c,
                  ValueRange carried) {
    const int64_t rowStride = shape.outputPixels().value();
    auto gradientAt = [&](Value column, int64_t b) {
      Value pixel = code.add(code.mul(outputRow, shape.outputWidth), column);
      return code.load(gradient,
                       code.mul(code.add(pixel, b * rowStride), lanes), type);
    };
    auto inputAt = [&](Value column, int64_t s, int64_t channel) {
      Value at = code.add(code.mul(column, shape.strideWidth),
                          s * shape.dilationWidth - shape.padLeft);
      Value pixel = code.add(code.mul(inputRow, shape.inputWidth), at);
      return code.loadSplat(
          input, code.add(code.mul(pixel, lanes), code.add(c, channel)), type);
    };
    auto addTaps = [&](Value column, int64_t firstTap, int64_t endTap,
                       Sums &next) {
      SmallVector<Value> dy;
      for (int64_t b = 0; b < tileBlocks; ++b)
        dy.push_back(gradientAt(column, b));
      for (int64_t s = firstTap; s < endTap; ++s)
        for (int64_t channel = 0; channel < tileInputs; ++channel) {
          Value x = inputAt(column, s, channel);
          for (int64_t b = 0; b < tileBlocks; ++b) {
            Value &sum = next[accumulatorIndex(b, s, channel)];
            sum = code.fma(x, dy[b], sum);
          }
        }
    };
    auto over = [&](int64_t begin, int64_t end, int64_t firstTap,
                    int64_t endTap, const Sums &before) {
      if (end <= begin)
        return before;
      return Sums(code.loop(code.index(begin), code.index(end), 1, before,
                            [&](Value column, ValueRange inside) {
                              Sums next(inside);
                              addTaps(column, firstTap, endTap, next);
                              return next;
                            }));
    };
    const OutputPlaces inner = shape.innerColumns();
    Sums all = over(inner.begin, inner.end, 0, shape.kernelWidth, carried);
    for (int64_t s = 0; s < shape.kernelWidth; ++s) {
      const OutputPlaces columns = shape.columnsOf(s);
      all = over(columns.begin, std::min(columns.end, inner.begin), s, s + 1,
                 all);
      all =
          over(std::max(columns.begin, inner.end), columns.end, s, s + 1, all);
    }
    return all;
  }
};

} // namespace

void WeightGradient::build(OpBuilder &builder, Location location, Value task,
                           Value input, Value gradient, Value sums) const {
  VectorBuilder code(builder, location);
  WeightTask{code,
             shape,
             lanes,
             inputBlocks,
             outputBlocks,
             tileBlocks,
             tileInputs,
             code.flatten(input),
             code.flatten(gradient),
             code.flatten(sums),
             VectorType::get({lanes}, builder.getF32Type())}
      .emit(task);
}
