//===- TileParts.cpp - activations that lie as matrix units read them -----===//

#include "backend/cpu/kernels/TileParts.h"

#include "backend/cpu/kernels/TileRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <bit>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Of a vector, and of a line of 64 bytes.
static constexpr int64_t wordLanes = 16;
static constexpr int64_t wordBytes = 4;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int64_t TileParts::blocks() const {
  return llvm::divideCeil(columns, blockColumns);
}

void TileParts::makeRoomFor(const TileParts &reader) {
  border.top = std::max(border.top, reader.border.top);
  border.left = std::max(border.left, reader.border.left);
  border.bottom = std::max(border.bottom, reader.border.bottom);
  border.right = std::max(border.right, reader.border.right);
  beyond = std::max(beyond, reader.beyond);
}

int64_t TileParts::firstPosition() const {
  return border.top * rowPositions() + border.left;
}

int64_t TileParts::lastZeros() const {
  return border.bottom * rowPositions() + border.right;
}

int64_t TileParts::positions() const {
  return firstPosition() + rows + (rows / width - 1) * gap() + lastZeros();
}

int64_t TileParts::unitTiles() const {
  return llvm::divideCeil(unitRows, tileRows);
}

int64_t TileParts::tiles() const {
  return llvm::divideCeil(rows, unitRows) * unitTiles();
}

int64_t TileParts::imageBytes() const {
  const auto words = uint64_t(tiles() * blocks() * wordBytes);
  return parts * planeBytes() + int64_t(llvm::alignTo(words, tileRowBytes));
}

TileParts::Image TileParts::imageIn(VectorBuilder &code, Value memory,
                                    Value number) const {
  return {code.flatten(memory), code.mul(number, imageBytes())};
}

Value TileParts::linePlace(VectorBuilder &code, const Image &image, Value block,
                           Value position) const {
  Value line = code.add(code.mul(block, positions()), position);
  return code.add(image.start, code.mul(line, tileRowBytes));
}

Value TileParts::positionOf(VectorBuilder &code, Value row) const {
  Value position = code.add(row, firstPosition());
  if (gap() == 0)
    return position;
  return code.add(position, code.mul(code.div(row, width), gap()));
}

/// The row at \p position or, for zeros, one that there is.
Value TileParts::rowAt(VectorBuilder &code, Value position) const {
  if (!hasBorder())
    return position;
  Value inImage =
      code.max(code.index(0), code.sub(position, code.index(firstPosition())));
  Value row =
      code.min(code.div(inImage, rowPositions()), code.index(rows / width - 1));
  Value column =
      code.min(code.rem(inImage, rowPositions()), code.index(width - 1));
  return code.add(code.mul(row, width), column);
}

Value TileParts::tileOf(VectorBuilder &code, Value row) const {
  Value first = code.mul(code.div(row, unitRows), unitTiles());
  if (unitTiles() == 1)
    return first;
  return code.add(first, code.div(code.rem(row, unitRows), tileRows));
}

Value TileParts::wordPlace(VectorBuilder &code, const Image &image, Value tile,
                           Value block) const {
  Value word = code.add(code.mul(tile, blocks()), block);
  return code.add(image.start,
                  code.add(code.mul(word, wordBytes), parts * planeBytes()));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Value constantWord(VectorBuilder &code, uint32_t bits) {
  return code.create<arith::ConstantOp>(
      code.builder.getI32IntegerAttr(int32_t(bits)));
}

static VectorType vectorOfWords(VectorBuilder &code) {
  return VectorType::get({wordLanes}, code.builder.getI32Type());
}

static Value constantWords(VectorBuilder &code, uint32_t bits) {
  return code.create<arith::ConstantOp>(
      DenseElementsAttr::get(vectorOfWords(code), int32_t(bits)));
}

static Value loadWord(VectorBuilder &code, Value memory, Value place) {
  OpBuilder &b = code.builder;
  Value bytes =
      code.load(memory, place, VectorType::get({wordBytes}, b.getI8Type()));
  return code.create<vector::ExtractOp>(
      code.bitsAs(bytes, VectorType::get({1}, b.getI32Type())),
      ArrayRef<int64_t>{0});
}

/// Whether numbers of which \p magnitude is the largest are stored as they are.
static Value isUnusual(VectorBuilder &code, Value magnitude) {
  return code.create<arith::CmpIOp>(
      arith::CmpIPredicate::ugt, magnitude,
      constantWord(code, std::bit_cast<uint32_t>(mostUsualMagnitude)));
}

namespace {
/// Cuts numbers in either way, by the same instructions.
class EitherCutter {
public:
  /// \p areKept: as they are.
  EitherCutter(VectorBuilder &code, Value areKept)
      : code(code), words(vectorOfWords(code)),
        floats(VectorType::get({wordLanes}, code.builder.getF32Type())) {
    scale = code.bitsAs(either(areKept, std::bit_cast<uint32_t>(1.0f),
                               std::bit_cast<uint32_t>(tileScale)),
                        floats);
    half = either(areKept, 0, 0x8000);
    kept = either(areKept, 0xffffffff, 0);
    upper = constantWords(code, 0xffff0000);
    shift = constantWords(code, 16);
  }

  /// The parts of 32 numbers, 64 bytes each.
  std::array<Value, TileParts::parts> split(ArrayRef<Value> numbers) {
    std::array<Value, 2> first, second;
    for (int i : {0, 1}) {
      Value scaled = code.mulVectors(numbers[i], scale);
      Value bits = code.bitsAs(scaled, words);
      first[i] = rounded(bits);
      Value rest = code.subVectors(
          scaled,
          code.bitsAs(code.create<arith::AndIOp>(first[i], upper), floats));
      // One or the other, by one instruction.
      Value part = rounded(code.bitsAs(rest, words)),
            lower = code.create<arith::ShLIOp>(bits, shift);
      Value change = code.create<arith::AndIOp>(
          code.create<arith::XOrIOp>(part, lower), kept);
      second[i] = code.create<arith::XOrIOp>(part, change);
    }
    return {asRow(first), asRow(second)};
  }

private:
  Value either(Value condition, uint32_t a, uint32_t b) {
    return code.create<vector::SplatOp>(
        words, code.create<arith::SelectOp>(condition, constantWord(code, a),
                                            constantWord(code, b)));
  }
  Value rounded(Value bits) { return code.create<arith::AddIOp>(bits, half); }
  Value asRow(const std::array<Value, 2> &both) {
    return code.bitsAs(
        upperHalves(code, both[0], both[1]),
        VectorType::get({tileRowBytes}, code.builder.getI8Type()));
  }

  VectorBuilder &code;
  VectorType words, floats;
  Value scale, half, kept, upper, shift;
};
} // namespace

void TileParts::store(VectorBuilder &code, const Image &image, Value block,
                      Value first, Value count, NumbersOf numbersOf) const {
  const VectorType words = vectorOfWords(code);
  const bool isInARow = gap() == 0 || unitRows == width;
  Value firstPosition = positionOf(code, first);
  // Once or, where a number is unusual, once more.
  auto storeRows = [&](Value areKept) {
    EitherCutter cutter(code, areKept);
    Value magnitude = constantWords(code, 0x7fffffff);
    Value most = code.loop(
        code.index(0), count, 1, constantWords(code, 0),
        [&](Value i, ValueRange carried) -> IndexBuilder::Carried {
          const std::array<Value, 2> numbers = numbersOf(i);
          Value position = isInARow ? code.add(firstPosition, i)
                                    : positionOf(code, code.add(first, i));
          Value place = linePlace(code, image, block, position);
          for (auto [part, row] : llvm::enumerate(cutter.split(numbers)))
            code.store(row, image.memory,
                       code.add(place, int64_t(part) * planeBytes()));
          Value largest = carried[0];
          for (Value each : numbers)
            largest = code.create<arith::MaxUIOp>(
                largest, code.create<arith::AndIOp>(code.bitsAs(each, words),
                                                    magnitude));
          return {largest};
        })[0];
    return code.create<vector::ReductionOp>(vector::CombiningKind::MAXUI, most);
  };
  Value none = constantWord(code, 0);
  Value most = code.repeat(
      IndexBuilder::Carried{code.boolean(false), code.boolean(true), none},
      [](ValueRange carried) { return carried[1]; },
      [&](ValueRange carried) -> IndexBuilder::Carried {
        Value largest = storeRows(carried[0]);
        // Those that are kept are so by now.
        Value isAgain = code.create<arith::SelectOp>(
            carried[0], code.boolean(false), isUnusual(code, largest));
        return {code.boolean(true), isAgain, largest};
      })[2];
  Value word = code.create<vector::SplatOp>(
      VectorType::get({1}, code.builder.getI32Type()), most);
  code.store(
      code.bitsAs(word, VectorType::get({wordBytes}, code.builder.getI8Type())),
      image.memory, wordPlace(code, image, tileOf(code, first), block));
  if (hasBorder())
    storeBorder(code, image, block, first, count);
}

void TileParts::storeZeros(VectorBuilder &code, const Image &image, Value block,
                           Value position, Value count) const {
  Value zero =
      code.zero(VectorType::get({tileRowBytes}, code.builder.getI8Type()));
  Value place = linePlace(code, image, block, position);
  code.loop(code.index(0), count, 1, [&](Value i) {
    Value line = code.add(place, code.mul(i, tileRowBytes));
    for (int64_t part = 0; part < parts; ++part)
      code.store(zero, image.memory, code.add(line, part * planeBytes()));
  });
}

/// Zeros before the first of all rows and behind the last one of each row of
/// pixels, where \p count rows from \p first on have it.
void TileParts::storeBorder(VectorBuilder &code, const Image &image,
                            Value block, Value first, Value count) const {
  if (firstPosition() > 0)
    code.when(code.equal(first, code.index(0)), [&] {
      storeZeros(code, image, block, code.index(0),
                 code.index(firstPosition()));
    });
  Value end = code.div(code.add(first, count), width);
  code.loop(code.div(first, width), end, 1, [&](Value row) {
    Value last = code.add(code.mul(row, width), width - 1);
    Value zeros = code.select(code.equal(row, code.index(rows / width - 1)),
                              code.index(lastZeros()), code.index(gap()));
    storeZeros(code, image, block, code.add(positionOf(code, last), 1), zeros);
  });
}

Value TileParts::largest(VectorBuilder &code, const Image &image, Value first,
                         Value end) const {
  auto beginOf = [&](Value unit) {
    return wordPlace(code, image, code.mul(unit, unitTiles()), code.index(0));
  };
  Value begin = beginOf(code.div(first, unitRows)),
        last = beginOf(code.add(code.div(code.sub(end, 1), unitRows), 1));
  const auto line = VectorType::get({tileRowBytes}, code.builder.getI8Type());
  Value whole =
      code.add(begin, code.mul(code.div(code.sub(last, begin), tileRowBytes),
                               tileRowBytes));
  Value most = code.create<vector::ReductionOp>(
      vector::CombiningKind::MAXUI,
      code.loop(begin, whole, tileRowBytes, constantWords(code, 0),
                [&](Value place, ValueRange carried) -> IndexBuilder::Carried {
                  Value found =
                      code.bitsAs(code.load(image.memory, place, line),
                                  vectorOfWords(code));
                  return {code.create<arith::MaxUIOp>(carried[0], found)};
                })[0]);
  return code.loop(whole, last, wordBytes, most,
                   [&](Value place, ValueRange carried) {
                     return IndexBuilder::Carried{code.create<arith::MaxUIOp>(
                         carried[0], loadWord(code, image.memory, place))};
                   })[0];
}

std::array<Value, 2> TileParts::numbersAt(VectorBuilder &code,
                                          const Image &image, Value position,
                                          Value block, Value pair) const {
  Type f32 = code.builder.getF32Type();
  Value place = code.add(linePlace(code, image, block, position),
                         code.mul(pair, wordBytes));
  Value both[] = {loadWord(code, image.memory, place),
                  loadWord(code, image.memory, code.add(place, planeBytes()))};
  Value areKept = isUnusual(
      code, loadWord(code, image.memory,
                     wordPlace(code, image, tileOf(code, rowAt(code, position)),
                               block)));
  Value upper = constantWord(code, 0xffff0000), shift = constantWord(code, 16);
  Value unscale = code.create<arith::ConstantOp>(
      code.builder.getF32FloatAttr(1 / tileScale));
  std::array<Value, 2> numbers;
  for (int i : {0, 1}) {
    Value part[2];
    for (int j : {0, 1})
      part[j] = i == 0 ? code.create<arith::ShLIOp>(both[j], shift)
                       : code.create<arith::AndIOp>(both[j], upper);
    Value kept = code.create<arith::OrIOp>(
        part[0], code.create<arith::ShRUIOp>(part[1], shift));
    Value sum = code.create<arith::MulFOp>(
        code.create<arith::AddFOp>(code.create<arith::BitcastOp>(f32, part[0]),
                                   code.create<arith::BitcastOp>(f32, part[1])),
        unscale);
    numbers[size_t(i)] = code.create<arith::SelectOp>(
        areKept, code.create<arith::BitcastOp>(f32, kept), sum);
  }
  return numbers;
}
