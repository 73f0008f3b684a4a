//===- TileTerms.cpp - activations stored as bf16 terms for AMX -----------===//

#include "backend/cpu/kernels/amx/TileTerms.h"

#include "backend/cpu/kernels/amx/TileRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <bit>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The 32-bit lanes of a vector, and of a line of 64 bytes.
static constexpr int64_t wordLanes = 16;
static constexpr int64_t wordBytes = 4;

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

int64_t TileTerms::blocks() const {
  return llvm::divideCeil(columns, blockColumns);
}

void TileTerms::makeRoomFor(const TileTerms &reader) {
  border.top = std::max(border.top, reader.border.top);
  border.left = std::max(border.left, reader.border.left);
  border.bottom = std::max(border.bottom, reader.border.bottom);
  border.right = std::max(border.right, reader.border.right);
  beyond = std::max(beyond, reader.beyond);
}

TileTerms::Zeros TileTerms::zeros() const {
  const int64_t aboveAndBelow = border.top + border.bottom;
  return {gap(), aboveAndBelow,
          aboveAndBelow * gap() + border.left + border.right - gap()};
}

int64_t TileTerms::positions() const {
  const Zeros zeros = this->zeros();
  const int64_t columns = width.value();
  return rows + rows / columns * zeros.ofHeight + columns * zeros.ofWidth +
         zeros.more;
}

int64_t TileTerms::unitTiles() const {
  return llvm::divideCeil(unitRows, tileRows);
}

int64_t TileTerms::tiles() const {
  return llvm::divideCeil(rows, unitRows) * unitTiles();
}

int64_t TileTerms::imageBytes() const {
  const auto words = uint64_t(tiles() * blocks() * wordBytes);
  return parts * blocks() * positions() * tileRowBytes +
         int64_t(llvm::alignTo(words, tileRowBytes));
}

TileTerms::DynamicBytes TileTerms::dynamicBytes() const {
  // The magnitudes are padded to a whole line.
  return {parts * blocks() * tileRowBytes, blocks() * wordBytes,
          tileRowBytes - 1};
}

Value TileTerms::rowCount(VectorBuilder &code) const {
  if (!isDynamic())
    return code.index(rows);
  Value count = code.index(1);
  for (Dim size : dynamicRows)
    count = code.mul(count, size);
  return count;
}

/// The height of an image.
Value TileTerms::height(VectorBuilder &code) const {
  return code.index(isDynamic() ? dynamicRows.front()
                                : Dim(rows / width.value()));
}

Value TileTerms::rowPositions(VectorBuilder &code) const {
  return code.add(code.index(width), gap());
}

Value TileTerms::firstPosition(VectorBuilder &code) const {
  return code.add(code.mul(rowPositions(code), border.top), border.left);
}

Value TileTerms::lastZeros(VectorBuilder &code) const {
  return code.add(code.mul(rowPositions(code), border.bottom), border.right);
}

Value TileTerms::positions(VectorBuilder &code) const {
  if (!hasBorder())
    return rowCount(code);
  const Zeros zeros = this->zeros();
  Value around = code.add(code.mul(height(code), zeros.ofHeight),
                          code.mul(code.index(width), zeros.ofWidth));
  return code.add(code.add(rowCount(code), around), zeros.more);
}

Value TileTerms::planeBytes(VectorBuilder &code) const {
  return code.mul(positions(code), blocks() * tileRowBytes);
}

TileTerms::Image TileTerms::imageIn(VectorBuilder &code, Value memory,
                                    Value number) const {
  Value bytes = code.index(isDynamic() ? 0 : imageBytes());
  if (isDynamic()) {
    Value words = code.add(code.mul(rowCount(code), blocks() * wordBytes),
                           tileRowBytes - 1);
    bytes = code.add(
        code.mul(planeBytes(code), parts),
        code.mul(code.div(words, tileRowBytes), code.index(tileRowBytes)));
  }
  return {code.flatten(memory), code.mul(number, bytes)};
}

Value TileTerms::linePlace(VectorBuilder &code, const Image &image, Value block,
                           Value position) const {
  Value line = code.add(code.mul(block, positions(code)), position);
  return code.add(image.start, code.mul(line, tileRowBytes));
}

Value TileTerms::positionOf(VectorBuilder &code, Value row) const {
  if (!hasBorder())
    return row;
  Value position = code.add(row, firstPosition(code));
  if (gap() == 0)
    return position;
  return code.add(position, code.mul(code.div(row, code.index(width)), gap()));
}

Value TileTerms::tileOf(VectorBuilder &code, Value row) const {
  Value first = code.mul(code.div(row, unitRows), unitTiles());
  if (unitTiles() == 1)
    return first;
  return code.add(first, code.div(code.rem(row, unitRows), tileRows));
}

Value TileTerms::wordPlace(VectorBuilder &code, const Image &image, Value tile,
                           Value block) const {
  Value word = code.add(code.mul(tile, blocks()), block);
  return code.add(image.start, code.add(code.mul(word, wordBytes),
                                        code.mul(planeBytes(code), parts)));
}

//===----------------------------------------------------------------------===//
// Values
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

/// Whether values with the largest magnitude \p magnitude are stored as their
/// exact bits.
static Value isUnusual(VectorBuilder &code, Value magnitude) {
  return code.create<arith::CmpIOp>(
      arith::CmpIPredicate::ugt, magnitude,
      constantWord(code, std::bit_cast<uint32_t>(mostUsualMagnitude)));
}

namespace {
/// Splits values into bf16 terms or into halves of bits, by the same
/// instructions.
class EitherCutter {
public:
  /// \p areKept: halves of bits.
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

  /// The terms of 32 values, 64 bytes each.
  std::array<Value, TileTerms::parts> split(ArrayRef<Value> numbers) {
    std::array<Value, 2> first, second;
    for (int i : {0, 1}) {
      Value scaled = code.mulVectors(numbers[i], scale);
      Value bits = code.bitsAs(scaled, words);
      first[i] = rounded(bits);
      Value rest = code.subVectors(
          scaled,
          code.bitsAs(code.create<arith::AndIOp>(first[i], upper), floats));
      // Selects one of them, by one instruction (vpternlog).
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

void TileTerms::store(VectorBuilder &code, const Image &image, Value block,
                      Value first, Value count, bool areInARow,
                      ValuesOf valuesOf) const {
  const VectorType words = vectorOfWords(code);
  const bool isDense = areInARow || gap() == 0;
  Value plane = planeBytes(code), firstPosition = positionOf(code, first);
  Value firstColumn =
      isDense ? code.index(0) : code.rem(first, code.index(width));
  // Once or, if a value is unusual, once more as halves.
  auto storeRows = [&](Value areKept) {
    EitherCutter cutter(code, areKept);
    Value magnitude = constantWords(code, 0x7fffffff);
    auto storeRow = [&](Value i, Value position, Value largest) {
      const std::array<Value, 2> numbers = valuesOf(i);
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
        // The second round is the last.
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
  if (isDynamic())
    code.loop(code.index(0), count, 1,
              [&](Value i) { storeWord(code.add(first, i)); });
  else
    storeWord(tileOf(code, first));
  if (hasBorder())
    storeBorder(code, image, block, first, count);
}

void TileTerms::storeZeros(VectorBuilder &code, const Image &image, Value block,
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

/// Stores zeros before the first row and after each row of pixels, if these are
/// among the \p count rows from \p first on.
void TileTerms::storeBorder(VectorBuilder &code, const Image &image,
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

Value TileTerms::largest(VectorBuilder &code, const Image &image, Value first,
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
/// The arguments by which a subroutine locates values.
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

/// The row at \p position or, for padding, any valid one.
static Value rowAt(VectorBuilder &code, const Places &at, Value position) {
  Value inImage = code.max(code.index(0), code.sub(position, at.firstPosition));
  Value row = code.min(code.div(inImage, at.rowPositions),
                       code.sub(at.height, 1)),
        column =
            code.min(code.rem(inImage, at.rowPositions), code.sub(at.width, 1));
  return code.add(code.mul(row, at.width), column);
}

/// The offset of a block at \p position, and whether it has halves of bits.
static SmallVector<Value> lineAt(VectorBuilder &code, ValueRange values,
                                 Value position, Value block) {
  const auto at = withMembers<Places>(values, placeMembers);
  Value row = rowAt(code, at, position);
  Value tile = code.add(code.mul(code.div(row, at.unitRows), at.unitTiles),
                        code.div(code.rem(row, at.unitRows), at.tileRows));
  Value word = code.add(code.mul(tile, at.blocks), block);
  Value place =
      code.add(code.add(at.start, code.mul(at.planeBytes, TileTerms::parts)),
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

TileVectorValues TileTerms::numbers(VectorBuilder &code,
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
  at.width = code.index(hasBorder() ? width : Dim(1));
  at.unitRows = code.index(unitRows);
  at.unitTiles = code.index(unitTiles());
  at.tileRows = code.index(tileRows);
  return {valuesOfMembers<Places>(at, placeMembers), lineAt, pairOf};
}
