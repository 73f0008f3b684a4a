//===- TileVectors.cpp - products of unusual values, on vectors -----------===//

#include "backend/cpu/kernels/amx/TileVectors.h"

#include "backend/cpu/codegen/Subroutine.h"
#include "backend/cpu/kernels/amx/TileRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Values of a block of k, in two halves.
static constexpr int64_t blockNumbers = 32;

//===----------------------------------------------------------------------===//
// Arguments of the subroutine
//===----------------------------------------------------------------------===//

static constexpr Value TileVectorImage::*imageMembers[] = {
    &TileVectorImage::memory,    &TileVectorImage::start,
    &TileVectorImage::shift,     &TileVectorImage::width,
    &TileVectorImage::row,       &TileVectorImage::column,
    &TileVectorImage::rowStride, &TileVectorImage::columnStride,
    &TileVectorImage::imageRows, &TileVectorImage::imageColumns,
    &TileVectorImage::ofPixel,   &TileVectorImage::ofBlock,
    &TileVectorImage::ofHalf,    &TileVectorImage::depth};

static constexpr Value TileVectorTile::*tileMembers[] = {
    &TileVectorTile::weights,       &TileVectorTile::sums,
    &TileVectorTile::rows,          &TileVectorTile::position,
    &TileVectorTile::rowStep,       &TileVectorTile::firstBlock,
    &TileVectorTile::blocks,        &TileVectorTile::tapRows,
    &TileVectorTile::tapColumns,    &TileVectorTile::tapRowStep,
    &TileVectorTile::tapColumnStep, &TileVectorTile::panel,
    &TileVectorTile::line,          &TileVectorTile::columnTiles,
    &TileVectorTile::unscaleLine,   &TileVectorTile::firstSum};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The offset and count of the values of a block: none outside the image.
static SmallVector<Value> lineOfImage(VectorBuilder &code, ValueRange values,
                                      Value position, Value block) {
  const auto image = withMembers<TileVectorImage>(values, imageMembers);
  Value shifted = code.add(position, image.shift);
  Value row = code.mul(code.add(code.div(shifted, image.width), image.row),
                       image.rowStride),
        column =
            code.mul(code.add(code.rem(shifted, image.width), image.column),
                     image.columnStride);
  auto isWithin = [&](Value number, Value count) {
    return code.both(code.less(code.index(-1), number),
                     code.less(number, count));
  };
  Value isThere = code.both(isWithin(row, image.imageRows),
                            isWithin(column, image.imageColumns));
  Value pixel = code.add(code.mul(row, image.imageColumns), column);
  Value offset =
      code.add(image.start, code.add(code.mul(block, image.ofBlock),
                                     code.mul(pixel, image.ofPixel)));
  Value count = code.sub(image.depth, code.mul(block, blockNumbers));
  return {offset, code.select(isThere, count, code.index(0))};
}

static std::array<Value, 2> pairOfImage(VectorBuilder &code, ValueRange values,
                                        ValueRange line, Value pair) {
  const auto image = withMembers<TileVectorImage>(values, imageMembers);
  Value at = code.add(code.mul(code.div(pair, 8), image.ofHalf),
                      code.mul(code.rem(pair, 8), 2));
  Value both = code.loadSome(image.memory, code.add(line[0], at),
                             VectorType::get({2}, code.builder.getF32Type()),
                             code.sub(line[1], code.mul(pair, 2)));
  std::array<Value, 2> numbers;
  for (int64_t i : {0, 1})
    numbers[size_t(i)] =
        code.create<vector::ExtractOp>(both, ArrayRef<int64_t>{i});
  return numbers;
}

TileVectorValues TileVectorImage::numbers() const {
  return {valuesOfMembers<TileVectorImage>(*this, imageMembers), lineOfImage,
          pairOfImage};
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static VectorType floatsIn(VectorBuilder &code) {
  return VectorType::get({16}, code.builder.getF32Type());
}

static VectorType wordsIn(VectorBuilder &code) {
  return VectorType::get({16}, code.builder.getI32Type());
}

Value cpu::tileWordsAt(VectorBuilder &code, Value weights, Value line) {
  Type element = cast<MemRefType>(weights.getType()).getElementType();
  const int64_t elements =
      tileRowBytes / int64_t(element.getIntOrFloatBitWidth() / 8);
  return code.bitsAs(code.load(weights, code.mul(line, elements),
                               VectorType::get({elements}, element)),
                     wordsIn(code));
}

Value cpu::tileUnscaleAt(VectorBuilder &code, Value weights, Value line) {
  return code.create<vector::ExtractOp>(
      code.bitsAs(tileWordsAt(code, weights, line), floatsIn(code)),
      ArrayRef<int64_t>{0});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// The body of the subroutine.
class VectorProduct {
public:
  VectorProduct(VectorBuilder &code, const TileArithmetic &arithmetic,
                int64_t group, const TileVectorValues &numbers,
                const TileVectorTile &tile)
      : code(code), arithmetic(arithmetic), group(group), numbers(numbers),
        tile(tile) {}

  void build() {
    unscale = code.create<vector::SplatOp>(
        floatsIn(code), tileUnscaleAt(code, tile.weights, tile.unscaleLine));
    code.loop(code.index(0), tile.rows, 1, [&](Value i) {
      Value first = code.add(tile.position, code.mul(i, tile.rowStep));
      Value sums =
          code.add(tile.firstSum, code.mul(i, TileRegisters::panelColumns));
      code.loop(code.index(0), tile.columnTiles, 1, [&](Value c) {
        code.store(sumOf(first, c), tile.sums, code.add(sums, code.mul(c, 16)));
      });
    });
  }

private:
  /// The accumulator of a row whose values start at position \p first, for
  /// register \p c of columns.
  Value sumOf(Value first, Value c) {
    auto over = [&](Value count, Value carried, auto body) {
      return code.loop(code.index(0), count, 1, carried,
                       [&](Value i, ValueRange inner) {
                         return IndexBuilder::Carried{body(i, inner[0])};
                       })[0];
    };
    return over(tile.blocks, code.zero(floatsIn(code)), [&](Value b, Value s) {
      return over(tile.tapRows, s, [&](Value row, Value s) {
        return over(tile.tapColumns, s, [&](Value column, Value s) {
          Value number =
              code.add(code.mul(code.add(code.mul(b, tile.tapRows), row),
                                tile.tapColumns),
                       column);
          Value tap = code.add(code.mul(row, tile.tapRowStep),
                               code.mul(column, tile.tapColumnStep));
          return addStep(number, code.add(first, tap),
                         code.add(tile.firstBlock, b), c, s);
        });
      });
    });
  }

  /// Adds the products of a block of values.
  Value addStep(Value number, Value position, Value block, Value c, Value sum) {
    const SmallVector<Value> line =
        numbers.lineAt(code, numbers.values, position, block);
    Value step = code.mul(code.mul(number, tile.columnTiles),
                          arithmetic.rhsTerms * mostTileRows);
    Value weights =
        code.add(code.add(tile.line, step), code.mul(c, mostTileRows));
    return code.loop(
        code.index(0), code.index(mostTileRows), 1, sum,
        [&](Value pair, ValueRange carried) -> IndexBuilder::Carried {
          const auto both = numbers.pairOf(code, numbers.values, line, pair);
          const auto own = weightsAt(code.add(weights, pair));
          Value sum = carried[0];
          for (size_t i : {0, 1}) {
            Value k = code.add(code.mul(block, blockNumbers),
                               code.add(code.mul(pair, 2), int64_t(i)));
            sum = code.fma(forOwnColumns(both[i], k, c), own[i], sum);
          }
          return {sum};
        })[0];
  }

  /// The weights of two neighbours along k for all columns of a register,
  /// recombined from their terms.
  std::array<Value, 2> weightsAt(Value line) {
    auto constant = [&](uint32_t bits) -> Value {
      return code.create<arith::ConstantOp>(
          DenseElementsAttr::get(wordsIn(code), int32_t(bits)));
    };
    Value upper = constant(0xffff0000), shift = constant(16);
    Value ofPart = code.mul(tile.columnTiles, mostTileRows);
    std::array<Value, 2> pair;
    for (int64_t part = arithmetic.rhsTerms; part-- > 0;) {
      Value both = tileWordsAt(code, tile.weights,
                               code.add(line, code.mul(ofPart, part)));
      Value halves[] = {code.create<arith::ShLIOp>(both, shift),
                        code.create<arith::AndIOp>(both, upper)};
      for (size_t i : {0, 1}) {
        Value number = code.bitsAs(halves[i], floatsIn(code));
        pair[i] = pair[i] ? code.addVectors(pair[i], number) : number;
      }
    }
    for (Value &each : pair)
      each = code.mulVectors(each, unscale);
    return pair;
  }

  /// \p number for the columns of register \p c of the panel whose group
  /// contains index \p k, and zero for others.
  Value forOwnColumns(Value number, Value k, Value c) {
    Value all = code.create<vector::SplatOp>(floatsIn(code), number);
    if (group == 0 || group >= blockNumbers)
      return all;
    auto splat = [&](Value index) -> Value {
      return code.create<vector::SplatOp>(
          wordsIn(code),
          code.create<arith::IndexCastOp>(code.builder.getI32Type(), index));
    };
    SmallVector<int32_t> apart;
    for (int64_t lane = 0; lane < 16; ++lane)
      apart.push_back(int32_t(lane / group));
    Value column = code.add(code.mul(tile.panel, TileRegisters::panelColumns),
                            code.mul(c, 16));
    Value groups = code.addVectors(
        splat(code.div(column, group)),
        code.create<arith::ConstantOp>(code.builder.getI32VectorAttr(apart)));
    Value own = code.create<arith::CmpIOp>(arith::CmpIPredicate::eq, groups,
                                           splat(code.div(k, group)));
    return code.create<arith::SelectOp>(own, all, code.zero(floatsIn(code)));
  }

  VectorBuilder &code;
  const TileArithmetic &arithmetic;
  int64_t group;
  const TileVectorValues &numbers;
  const TileVectorTile &tile;
  Value unscale; ///< A vector.
};
} // namespace

void cpu::multiplyOnVectors(VectorBuilder &code,
                            const TileArithmetic &arithmetic, int64_t group,
                            const TileVectorValues &numbers,
                            const TileVectorTile &tile) {
  SmallVector<Value> arguments = numbers.values;
  llvm::append_range(arguments,
                     valuesOfMembers<TileVectorTile>(tile, tileMembers));
  auto write = [&](OpBuilder &builder, ValueRange given) {
    VectorBuilder inner(builder, code.loc);
    const size_t count = numbers.values.size();
    TileVectorValues own = numbers;
    own.values = llvm::to_vector(given.take_front(count));
    VectorProduct(
        inner, arithmetic, group, own,
        withMembers<TileVectorTile>(given.drop_front(count), tileMembers))
        .build();
  };
  callSubroutine(code.builder, code.loc, arguments, {tile.sums}, write);
}
