//===- MatMulInt8.cpp - int8 matmuls of two activations ------------------===//

#include "backend/cpu/kernels/gemm/MatMulInt8.h"

#include "backend/cpu/codegen/KernelFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Flips the top bit of the first \p valid \p bytes of each group of \p size.
static Value turned(VectorBuilder &code, Value bytes, int64_t size,
                    int64_t valid) {
  auto type = cast<VectorType>(bytes.getType());
  SmallVector<int8_t> bits(type.getNumElements(), 0);
  for (auto [i, bit] : llvm::enumerate(bits))
    if (int64_t(i) % size < valid)
      bit = -128;
  return code.create<arith::XOrIOp>(
      bytes, code.create<arith::ConstantOp>(
                 DenseElementsAttr::get(type, ArrayRef<int8_t>(bits))));
}

static Value splatOf(VectorBuilder &code, VectorType type, int64_t number) {
  return code.create<arith::ConstantOp>(DenseElementsAttr::get(
      type, code.builder.getIntegerAttr(type.getElementType(), number)));
}

/// Stores \p words, the 32-bit words with index \p word along k of the columns
/// of vector \p v.
void MatMulInt8::packWords(const MatMulPanel &panel, Value word, Value v,
                           Value words) const {
  const int64_t group = arithmetic.kGroup, parts = wordElements() / group;
  Value at =
      code.add(panel.offset, code.add(code.mul(word, parts * panel.stride),
                                      code.mul(v, lanes * group)));
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<int64_t> places;
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t i = 0; i < group; ++i)
        places.push_back(lane * wordElements() + part * group + i);
    Value own = parts == 1
                    ? words
                    : code.create<vector::ShuffleOp>(words, words, places);
    code.store(own, operands.scratch, code.add(at, part * panel.stride));
  }
}

/// For contiguous rows of B: a few of them form a 32-bit word of each column.
void MatMulInt8::packByteRows(const MatMulPanel &panel) const {
  const int64_t ofWord = wordElements();
  auto type = VectorType::get(
      {lanes}, storedType(arithmetic.rhs, code.builder.getContext()));
  Value depth = reductionDepth();
  Value base = code.add(operands.origin.b, panel.firstColumn);
  /// \p load returns row i of the word.
  auto pack = [&](Value word, auto load) {
    for (int64_t v = 0; v < panel.vectors; ++v) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < ofWord; ++i)
        rows.push_back(load(i, v));
      packWords(panel, word, code.index(v),
                ofWord == 4 ? code.interleavedBytes(rows)
                            : code.interleaved(rows[0], rows[1]));
    }
  };
  auto loadRow = [&](Value k, int64_t v) {
    const bool isWhole = v + 1 < panel.vectors;
    Value at = code.add(code.add(base, code.mul(k, shape.bStride)), v * lanes);
    Value row = panel.left && !isWhole
                    ? code.loadSome(operands.b, at, type, panel.left)
                    : code.loadFirst(operands.b, at, type,
                                     isWhole ? lanes : panel.valid);
    return shape.turnsB ? turned(code, row, 1, 1) : row;
  };
  Value whole = code.div(depth, ofWord);
  code.loop(code.index(0), whole, 1, [&](Value word) {
    Value first = code.mul(word, ofWord);
    pack(word,
         [&](int64_t i, int64_t v) { return loadRow(code.add(first, i), v); });
  });
  Value first = code.mul(whole, ofWord);
  auto packRest = [&] {
    pack(whole, [&](int64_t i, int64_t v) -> Value {
      Value k = code.add(first, i), isThere = code.less(k, depth);
      return code.branch(
          isThere, [&] { return IndexBuilder::Carried{loadRow(k, v)}; },
          [&] { return IndexBuilder::Carried{code.zero(type)}; })[0];
    });
  };
  code.when(code.less(first, depth), packRest);
}

/// For contiguous columns of B: square blocks of 32-bit words are transposed in
/// registers.
void MatMulInt8::packByteColumns(const MatMulPanel &panel) const {
  const int64_t ofWord = wordElements(), blockDepth = lanes * ofWord;
  auto elements = VectorType::get(
      {blockDepth}, storedType(arithmetic.rhs, code.builder.getContext()));
  auto words = VectorType::get({lanes}, code.builder.getF32Type());
  auto square = VectorType::get({lanes, lanes}, words.getElementType());
  auto packBlock = [&](Value k, int64_t count, Value v, int64_t columns) {
    Value block =
        code.create<arith::ConstantOp>(code.builder.getZeroAttr(square));
    for (int64_t n = 0; n < columns; ++n) {
      Value from = code.add(columnOfB(panel, v, n), k);
      Value row = code.loadFirst(operands.b, from, elements, count);
      if (shape.turnsB)
        row = turned(code, row, blockDepth, count);
      block = code.create<vector::InsertOp>(code.bitsAs(row, words), block,
                                            ArrayRef<int64_t>{n});
    }
    Value transposed =
        code.create<vector::TransposeOp>(block, ArrayRef<int64_t>{1, 0});
    Value first = code.div(k, ofWord);
    for (int64_t i = 0; i < int64_t(llvm::divideCeil(count, ofWord)); ++i) {
      Value row =
          code.create<vector::ExtractOp>(transposed, ArrayRef<int64_t>{i});
      packWords(panel, code.add(first, i), v, code.bitsAs(row, elements));
    }
  };
  forColumnBlocks(panel, blockDepth, packBlock);
}

void MatMulInt8::packBytes(MatMulPanel &panel) const {
  panel.source = operands.scratch;
  panel.offset = code.index(panelColumns() * sumElements());
  if (shape.bLayout == MatMulShape::BLayout::Transposed)
    packByteColumns(panel);
  else
    packByteRows(panel);
  if (operands.zeros.lhs)
    sumColumns(panel);
}

/// Stores zeroA (k zeroB - sum b) of each column at the start of the scratch
/// buffer.
void MatMulInt8::sumColumns(const MatMulPanel &panel) const {
  MLIRContext *context = code.builder.getContext();
  const VectorType sumType = arithmetic.sumType(context, lanes),
                   columnType = arithmetic.rhsType(context, lanes);
  Value depth = reductionDepth(), ones = arithmetic.splat(code, 1, lanes);
  Value steps =
      code.div(code.add(depth, arithmetic.kGroup - 1), arithmetic.kGroup);
  auto splat = [&](Value number) {
    return code.create<vector::SplatOp>(sumType, number);
  };
  Value all;
  if (operands.zeros.rhs)
    all = splat(code.create<arith::MulIOp>(
        operands.zeros.rhs,
        code.create<arith::IndexCastOp>(sumType.getElementType(), depth)));
  Value factor = splat(operands.zeros.lhs);
  code.loop(code.index(0), code.index(panel.vectors), 1, [&](Value v) {
    Value first = code.add(panel.offset, code.mul(v, vectorElements()));
    Value sums =
        code.loop(code.index(0), steps, 1, code.zero(sumType),
                  [&](Value step, ValueRange carried) {
                    Value at = code.add(first, code.mul(step, panel.stride));
                    Value columns = code.load(operands.scratch, at, columnType);
                    return IndexBuilder::Carried{arithmetic.multiplyAdd(
                        code, ones, columns, carried[0])};
                  })[0];
    sums = code.subVectors(all ? all : code.zero(sumType), sums);
    sums = code.create<arith::MulIOp>(sums, factor);
    code.store(code.bitsAs(sums, inScratch(sumType)), operands.scratch,
               code.mul(v, lanes * sumElements()));
  });
}

VectorType MatMulInt8::inScratch(VectorType sums) const {
  return VectorType::get({lanes * sumElements()},
                         storedType(arithmetic.rhs, sums.getContext()));
}

// One loop, whatever heights tiles may have.
void MatMulInt8::sumRows(Value firstRow, Value rows, int64_t most) {
  if (!operands.zeros.rhs || operands.firstDepth > 0)
    return;
  const VectorType type = arithmetic.sumType(code.builder.getContext(), lanes);
  operands.rowSums =
      createScratch(code.builder, code.loc,
                    MemRefType::get({most * lanes}, type.getElementType()));
  operands.firstSummed = firstRow;
  code.loop(code.index(0), rows, 1, [&](Value row) {
    code.store(sumOfRow(code.add(firstRow, row)), operands.rowSums,
               code.mul(row, lanes));
  });
}

/// -zeroB sum a, in all lanes.
Value MatMulInt8::sumOfRow(Value row) const {
  MLIRContext *context = code.builder.getContext();
  const VectorType sumType = arithmetic.sumType(context, lanes),
                   type = arithmetic.lhsType(context, lanes);
  const int64_t elements = type.getNumElements();
  Value ones = splatOf(code, arithmetic.rhsType(context, lanes), 1);
  auto add = [&](Value part, Value sums) {
    return arithmetic.multiplyAdd(code, part, ones, sums);
  };
  Value depth = reductionDepth();
  Value end = code.mul(code.div(depth, elements), elements);
  Value first = code.add(operands.origin.a, rowOfA(row));
  auto step = [&](Value k, Value sums) {
    return add(code.load(operands.a, code.add(first, k), type), sums);
  };
  // Short loops inside the loop over rows would cost as much as their bodies.
  constexpr int64_t mostUnrolled = 4;
  Value sums = code.zero(sumType);
  if (!shape.givenDepth && shape.k <= mostUnrolled * elements)
    for (int64_t k = 0; k + elements <= shape.k; k += elements)
      sums = step(code.index(k), sums);
  else
    sums = code.loop(code.index(0), end, elements, sums,
                     [&](Value k, ValueRange carried) {
                       return IndexBuilder::Carried{step(k, carried[0])};
                     })[0];
  Value rest = code.add(first, end);
  if (shape.givenDepth)
    sums =
        add(code.loadSome(operands.a, rest, type, code.sub(depth, end)), sums);
  else if (const int64_t left = shape.k % elements)
    sums = add(code.loadFirst(operands.a, rest, type, left), sums);
  Value sum =
      code.create<vector::ReductionOp>(vector::CombiningKind::ADD, sums);
  Value none =
      code.create<arith::ConstantOp>(code.builder.getZeroAttr(sum.getType()));
  return code.create<vector::SplatOp>(
      sumType, code.create<arith::SubIOp>(
                   none, code.create<arith::MulIOp>(sum, operands.zeros.rhs)));
}

SmallVector<Value> MatMulInt8::firstSums(const RegisterTile &tile,
                                         const MatMulRows &rows) const {
  SmallVector<Value> sums = tile.zeros(code);
  if (operands.firstDepth > 0)
    return sums;
  const VectorType type = arithmetic.sumType(code.builder.getContext(), lanes);
  const int64_t vectors = tile.vectors;
  if (operands.zeros.lhs)
    for (int64_t v = 0; v < vectors; ++v) {
      Value ofColumns = code.bitsAs(
          code.load(operands.scratch, code.index(v * lanes * sumElements()),
                    inScratch(type)),
          type);
      for (int64_t row = 0; row < tile.rows; ++row)
        sums[row * vectors + v] = ofColumns;
    }
  if (operands.zeros.rhs)
    for (int64_t row = 0; row < tile.rows; ++row) {
      Value number = code.sub(rowAt(rows, row), operands.firstSummed);
      Value ofRow = code.load(operands.rowSums, code.mul(number, lanes), type);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = sums[row * vectors + v];
        sum = operands.zeros.lhs ? code.addVectors(sum, ofRow) : ofRow;
      }
    }
  return sums;
}
