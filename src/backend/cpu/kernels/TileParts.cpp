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

TileParts::Zeros TileParts::zeros() const {
  const int64_t aboveAndBelow = border.top + border.bottom;
  return {gap(), aboveAndBelow,
          aboveAndBelow * gap() + border.left + border.right - gap()};
}

int64_t TileParts::positions() const {
  const Zeros zeros = this->zeros();
  return rows + rows / width * zeros.ofHeight + width * zeros.ofWidth +
         zeros.more;
}

int64_t TileParts::unitTiles() const {
  return llvm::divideCeil(unitRows, tileRows);
}

int64_t TileParts::tiles() const {
  return llvm::divideCeil(rows, unitRows) * unitTiles();
}

int64_t TileParts::imageBytes() const {
  const auto words = uint64_t(tiles() * blocks() * wordBytes);
  return parts * blocks() * positions() * tileRowBytes +
         int64_t(llvm::alignTo(words, tileRowBytes));
}

TileParts::OpenBytes TileParts::openBytes() const {
  // Words end where a line does.
  return {parts * blocks() * tileRowBytes, blocks() * wordBytes,
          tileRowBytes - 1};
}

Value TileParts::rowCount(VectorBuilder &code) const {
  if (!isOpen())
    return code.index(rows);
  Value count = code.index(1);
  for (int64_t size : openRows)
    count = code.mul(count, size);
  return count;
}

/// Of an image.
Value TileParts::height(VectorBuilder &code) const {
  return code.index(isOpen() ? openRows.front() : rows / width);
}

Value TileParts::rowPositions(VectorBuilder &code) const {
  return code.add(code.index(width), gap());
}

Value TileParts::firstPosition(VectorBuilder &code) const {
  return code.add(code.mul(rowPositions(code), border.top), border.left);
}

Value TileParts::lastZeros(VectorBuilder &code) const {
  return code.add(code.mul(rowPositions(code), border.bottom), border.right);
}

Value TileParts::positions(VectorBuilder &code) const {
  if (!hasBorder())
    return rowCount(code);
  const Zeros zeros = this->zeros();
  Value around = code.add(code.mul(height(code), zeros.ofHeight),
                          code.mul(code.index(width), zeros.ofWidth));
  return code.add(code.add(rowCount(code), around), zeros.more);
}

Value TileParts::planeBytes(VectorBuilder &code) const {
  return code.mul(positions(code), blocks() * tileRowBytes);
}

TileParts::Image TileParts::imageIn(VectorBuilder &code, Value memory,
                                    Value number) const {
  Value bytes = code.index(isOpen() ? 0 : imageBytes());
  if (isOpen()) {
    Value words = code.add(code.mul(rowCount(code), blocks() * wordBytes),
                           tileRowBytes - 1);
    bytes = code.add(
        code.mul(planeBytes(code), parts),
        code.mul(code.div(words, tileRowBytes), code.index(tileRowBytes)));
  }
  return {code.flatten(memory), code.mul(number, bytes)};
}

Value TileParts::linePlace(VectorBuilder &code, const Image &image, Value block,
                           Value position) const {
  Value line = code.add(code.mul(block, positions(code)), position);
  return code.add(image.start, code.mul(line, tileRowBytes));
}

Value TileParts::positionOf(VectorBuilder &code, Value row) const {
  if (!hasBorder())
    return row;
  Value position = code.add(row, firstPosition(code));
  if (gap() == 0)
    return position;
  return code.add(position, code.mul(code.div(row, code.index(width)), gap()));
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
  return code.add(image.start, code.add(code.mul(word, wordBytes),
                                        code.mul(planeBytes(code), parts)));
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
                      Value first, Value count, bool areInARow,
                      NumbersOf numbersOf) const {
  const VectorType words = vectorOfWords(code);
  const bool isDense = areInARow || gap() == 0;
  Value plane = planeBytes(code), firstPosition = positionOf(code, first);
  Value firstColumn =
      isDense ? code.index(0) : code.rem(first, code.index(width));
  // Once or, where a number is unusual, once more.
  auto storeRows = [&](Value areKept) {
    EitherCutter cutter(code, areKept);
    Value magnitude = constantWords(code, 0x7fffffff);
    auto storeRow = [&](Value i, Value position, Value largest) {
      const std::array<Value, 2> numbers = numbersOf(i);
      Value place = linePlace(code, image, block, position);
      for (auto [part, row] : llvm::enumerate(cutter.split(numbers)))
        code.store(row, image.memory,
                   code.add(place, code.mul(plane, int64_t(part))));
      for (Value each : numbers)
        largest = code.create<arith::MaxUIOp>(
            largest,
            code.create<arith::AndIOp>(code.bitsAs(each, words), magnitude));
      return largest;
    };
    IndexBuilder::Carried carried = {constantWords(code, 0)};
    if (!isDense)
      llvm::append_values(carried, firstPosition, firstColumn);
    Value most = code.loop(
        code.index(0), count, 1, carried,
        [&](Value i, ValueRange own) -> IndexBuilder::Carried {
          if (isDense)
            return {storeRow(i, code.add(firstPosition, i), own[0])};
          Value next = code.add(own[2], 1);
          Value isLast = code.equal(next, code.index(width));
          return {storeRow(i, own[1], own[0]),
                  code.add(own[1], code.select(isLast, code.index(1 + gap()),
                                               code.index(1))),
                  code.select(isLast, code.index(0), next)};
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
  Value bytes =
      code.bitsAs(word, VectorType::get({wordBytes}, code.builder.getI8Type()));
  auto storeWord = [&](Value tile) {
    code.store(bytes, image.memory, wordPlace(code, image, tile, block));
  };
  if (isOpen())
    code.loop(code.index(0), count, 1,
              [&](Value i) { storeWord(code.add(first, i)); });
  else
    storeWord(tileOf(code, first));
  if (hasBorder())
    storeBorder(code, image, block, first, count);
}

void TileParts::storeZeros(VectorBuilder &code, const Image &image, Value block,
                           Value position, Value count) const {
  Value zero =
      code.zero(VectorType::get({tileRowBytes}, code.builder.getI8Type()));
  Value place = linePlace(code, image, block, position),
        plane = planeBytes(code);
  code.loop(code.index(0), count, 1, [&](Value i) {
    Value line = code.add(place, code.mul(i, tileRowBytes));
    for (int64_t part = 0; part < parts; ++part)
      code.store(zero, image.memory, code.add(line, code.mul(plane, part)));
  });
}

/// Zeros before the first of all rows and behind the last one of each row of
/// pixels, where \p count rows from \p first on have it.
void TileParts::storeBorder(VectorBuilder &code, const Image &image,
                            Value block, Value first, Value count) const {
  Value columns = code.index(width);
  if (border.top > 0 || border.left > 0)
    code.when(code.equal(first, code.index(0)), [&] {
      storeZeros(code, image, block, code.index(0), firstPosition(code));
    });
  code.loop(code.div(first, columns), code.div(code.add(first, count), columns),
            1, [&](Value row) {
              Value isLast = code.equal(row, code.sub(height(code), 1));
              Value end = code.mul(code.add(row, 1), columns);
              storeZeros(
                  code, image, block,
                  code.add(positionOf(code, code.sub(end, 1)), 1),
                  code.select(isLast, lastZeros(code), code.index(gap())));
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

namespace {
/// What numbers are found by, as a subroutine is handed it.
struct Places {
  Value memory, start, positions, planeBytes, blocks;
  Value firstPosition, rowPositions, height, width;
  Value unitRows, unitTiles, tileRows;
};
} // namespace

static constexpr Value Places::*placeMembers[] = {
    &Places::memory,       &Places::start,     &Places::positions,
    &Places::planeBytes,   &Places::blocks,    &Places::firstPosition,
    &Places::rowPositions, &Places::height,    &Places::width,
    &Places::unitRows,     &Places::unitTiles, &Places::tileRows};

/// The row at \p position or, for zeros, one that there is.
static Value rowAt(VectorBuilder &code, const Places &at, Value position) {
  Value inImage = code.max(code.index(0), code.sub(position, at.firstPosition));
  Value row = code.min(code.div(inImage, at.rowPositions),
                       code.sub(at.height, 1)),
        column =
            code.min(code.rem(inImage, at.rowPositions), code.sub(at.width, 1));
  return code.add(code.mul(row, at.width), column);
}

/// Where a block is at \p position, and whether parts are halves of bits there.
static SmallVector<Value> lineAt(VectorBuilder &code, ValueRange values,
                                 Value position, Value block) {
  const auto at = withMembers<Places>(values, placeMembers);
  Value row = rowAt(code, at, position);
  Value tile = code.add(code.mul(code.div(row, at.unitRows), at.unitTiles),
                        code.div(code.rem(row, at.unitRows), at.tileRows));
  Value word = code.add(code.mul(tile, at.blocks), block);
  Value place =
      code.add(code.add(at.start, code.mul(at.planeBytes, TileParts::parts)),
               code.mul(word, wordBytes));
  Value line = code.add(code.mul(block, at.positions), position);
  return {code.add(at.start, code.mul(line, tileRowBytes)),
          isUnusual(code, loadWord(code, at.memory, place))};
}

static std::array<Value, 2> pairOf(VectorBuilder &code, ValueRange values,
                                   ValueRange line, Value pair) {
  const auto at = withMembers<Places>(values, placeMembers);
  Type f32 = code.builder.getF32Type();
  Value place = code.add(line[0], code.mul(pair, wordBytes));
  Value both[] = {loadWord(code, at.memory, place),
                  loadWord(code, at.memory, code.add(place, at.planeBytes))};
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
        line[1], code.create<arith::BitcastOp>(f32, kept), sum);
  }
  return numbers;
}

TileVectorNumbers TileParts::numbers(VectorBuilder &code,
                                     const Image &image) const {
  Places at;
  at.memory = image.memory;
  at.start = image.start;
  at.positions = positions(code);
  at.planeBytes = planeBytes(code);
  at.blocks = code.index(blocks());
  // Without zeros a position is a row: an image of one column.
  at.firstPosition = hasBorder() ? firstPosition(code) : code.index(0);
  at.rowPositions = hasBorder() ? rowPositions(code) : code.index(1);
  at.height = hasBorder() ? height(code) : rowCount(code);
  at.width = code.index(hasBorder() ? width : 1);
  at.unitRows = code.index(unitRows);
  at.unitTiles = code.index(unitTiles());
  at.tileRows = code.index(tileRows);
  return {valuesOfMembers<Places>(at, placeMembers), lineAt, pairOf};
}
