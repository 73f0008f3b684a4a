//===- DepthwiseGradient.cpp - gradients of depthwise weights -------------===//

#include "backend/cpu/kernels/conv/DepthwiseGradient.h"

#include "backend/cpu/target/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

DepthwiseGradient::DepthwiseGradient(const ChannelwiseShape &shape,
                                     const Target &target)
    : shape(shape), lanes(target.f32Lanes),
      blocks(llvm::divideCeil(shape.channels, lanes)),
      // Half of the registers hold accumulators, each with a latency of four
      // cycles.
      pixels(llvm::bit_floor<uint64_t>(std::clamp<int64_t>(
          target.vectorRegisters / 2 / shape.kernelWidth, 1, 4))) {}

int64_t DepthwiseGradient::tasks() const {
  return shape.batch.valueOr(1) * blocks;
}

double DepthwiseGradient::flops() const {
  return 2.0 * double(tasks() * lanes) *
         double(shape.outputPixels().value() * shape.taps());
}

namespace {

/// Emits the gradients of all taps, for one block of channels of an image.
struct GradientTask {
  VectorBuilder &code;
  const ChannelwiseShape &shape;
  int64_t lanes, pixels;
  Value input, gradient, sums;
  VectorType type;
  Value plane = {};

  using Sums = IndexBuilder::Carried;

  void emit(Value task) {
    plane = task;
    for (int64_t r = 0; r < shape.kernelHeight; ++r) {
      Sums totals = sumRow(r);
      for (auto [s, total] : llvm::enumerate(totals)) {
        Value tap = code.add(code.mul(plane, shape.taps()),
                             r * shape.kernelWidth + int64_t(s));
        code.store(total, sums, code.mul(tap, lanes));
      }
    }
  }

private:
  /// The sums of the taps of row \p r. Long rows are summed separately: sums of
  /// partial sums lose less precision.
  Sums sumRow(int64_t r) {
    constexpr int64_t longRow = 64;
    const OutputPlaces rows = shape.rowsOf(r);
    const Sums zeros(pixels * shape.kernelWidth, code.zero(type));
    Sums all = code.loop(code.index(rows.begin), code.index(rows.end), 1, zeros,
                         [&](Value row, ValueRange carried) {
                           if (shape.outputWidth < longRow)
                             return sumColumns(r, row, carried);
                           Sums here = sumColumns(r, row, zeros);
                           for (auto [sum, total] : llvm::zip(here, carried))
                             sum = code.addVectors(sum, total);
                           return here;
                         });
    for (int64_t half = pixels / 2; half > 0; half /= 2)
      for (int64_t i = 0; i < half * shape.kernelWidth; ++i)
        all[i] = code.addVectors(all[i], all[i + half * shape.kernelWidth]);
    all.resize(shape.kernelWidth);
    return all;
  }

  /// Adds the contribution of output row \p row to \p carried: several columns
  /// at a time where all taps are in the input, the others tap by tap.
  Sums sumColumns(int64_t r, Value row, ValueRange carried) {
    const OutputPlaces inner = shape.innerColumns();
    Value outputRow = code.mul(
        code.add(code.mul(plane, shape.outputHeight), row), shape.outputWidth);
    Value inputRow =
        code.add(code.mul(plane, shape.inputHeight),
                 code.sub(code.mul(row, shape.strideHeight),
                          code.index(shape.padTop - r * shape.dilationHeight)));
    inputRow = code.mul(inputRow, shape.inputWidth);

    auto gradientAt = [&](Value column) {
      return code.load(gradient, code.mul(code.add(outputRow, column), lanes),
                       type);
    };
    auto addTap = [&](Value dy, Value column, int64_t s, Value sum) {
      Value at = code.add(code.mul(column, shape.strideWidth),
                          s * shape.dilationWidth - shape.padLeft);
      Value x = code.load(input, code.mul(code.add(inputRow, at), lanes), type);
      return code.fma(x, dy, sum);
    };
    auto addPixel = [&](Value column, int64_t pixel, Sums &next) {
      Value dy = gradientAt(column);
      for (int64_t s = 0; s < shape.kernelWidth; ++s) {
        Value &sum = next[pixel * shape.kernelWidth + s];
        sum = addTap(dy, column, s, sum);
      }
    };
    const int64_t whole = inner.end - (inner.end - inner.begin) % pixels;
    Sums totals = code.loop(code.index(inner.begin), code.index(whole), pixels,
                            carried, [&](Value column, ValueRange inside) {
                              Sums next(inside);
                              for (int64_t pixel = 0; pixel < pixels; ++pixel)
                                addPixel(code.add(column, pixel), pixel, next);
                              return next;
                            });
    for (int64_t column = whole; column < inner.end; ++column)
      addPixel(code.index(column), column - whole, totals);
    for (int64_t s = 0; s < shape.kernelWidth; ++s) {
      const OutputPlaces columns = shape.columnsOf(s);
      const OutputPlaces edges[] = {
          {columns.begin, std::min(columns.end, inner.begin)},
          {std::max(columns.begin, inner.end), columns.end}};
      for (const OutputPlaces &edge : edges)
        totals[s] = code.loop(
            code.index(edge.begin), code.index(std::max(edge.begin, edge.end)),
            1, {totals[s]}, [&](Value column, ValueRange inside) {
              return Sums{addTap(gradientAt(column), column, s, inside[0])};
            })[0];
    }
    return totals;
  }
};

} // namespace

void DepthwiseGradient::build(OpBuilder &builder, Location location, Value task,
                              Value input, Value gradient, Value sums) const {
  VectorBuilder code(builder, location);
  GradientTask{code,
               shape,
               lanes,
               pixels,
               code.flatten(input),
               code.flatten(gradient),
               code.flatten(sums),
               VectorType::get({lanes}, builder.getF32Type())}
      .emit(task);
}
