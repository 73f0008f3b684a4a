//===- TreeTraversal.cpp - rows through ensembles of decision trees -------===//

#include "backend/cpu/kernels/trees/TreeTraversal.h"

#include "backend/cpu/kernels/common/VectorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <numeric>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Vectors that go side by side, so that one computes while others wait for
/// their gathers.
static constexpr int64_t sideBySide = 4;

namespace sinter::cpu {

/// Writes the code of a task.
class TreeCode {
public:
  TreeCode(const TreeTraversal &traversal, OpBuilder &builder,
           Location location, const TreeTraversal::Memory &memory)
      : shape(traversal.shape), layout(traversal.shape.layout),
        lanes(traversal.lanes), rowsOfTask(traversal.rowsOfTask),
        code(builder, location), memory(memory), i32(builder.getI32Type()),
        i64(builder.getI64Type()), f64(builder.getF64Type()),
        element(shape.isDouble ? f64 : Type(builder.getF32Type())),
        compared(layout.isWide ? f64 : Type(builder.getF32Type())) {}

  void build(Value task);

private:
  /// A vector of paths: their places, and what is there.
  struct Paths {
    Value place, number, control;
  };

  VectorType vectorOf(Type type, int64_t count = 0) const {
    return VectorType::get({count == 0 ? lanes : count}, type);
  }
  Value splat(Value scalar) {
    return code.create<vector::SplatOp>(vectorOf(scalar.getType()), scalar);
  }
  Value splatNumber(Type type, int64_t number) {
    return code.create<arith::ConstantOp>(DenseElementsAttr::get(
        vectorOf(type), code.builder.getIntegerAttr(type, number)));
  }
  Value laneNumbers(int64_t first) {
    SmallVector<int32_t> numbers(lanes);
    std::iota(numbers.begin(), numbers.end(), static_cast<int32_t>(first));
    return code.create<arith::ConstantOp>(
        code.builder.getI32VectorAttr(numbers));
  }
  Value asInteger(Value index) {
    return code.create<arith::IndexCastOp>(i32, index);
  }
  Value asIndex(Value integer) {
    return code.create<arith::IndexCastOp>(code.builder.getIndexType(),
                                           integer);
  }
  Value gather(Value flat, Value offset, Value indices);
  Value evenOrOdd(Value pairs, int64_t first);
  Value distanceOf(Value control);
  Value bitOf(Value control, unsigned bit);
  Value isMoving(Value control);
  Paths load(Value place);
  Paths step(const Paths &paths, Value row, Value rowOffset);
  SmallVector<Paths> walk(ArrayRef<Value> places, Value row,
                          ArrayRef<Value> rowOffsets);

  bool isSum() const {
    return shape.aggregate == TreeShape::Aggregate::Sum ||
           shape.aggregate == TreeShape::Aggregate::Average;
  }
  Value neutral();
  Value combined(Value a, Value b);
  Value weightOf(const Paths &paths);
  Value rowWeight(const Paths &paths, Value target);
  void accumulate(Value weight, Value offset);
  void forTargets(
      llvm::function_ref<void(Value target, Value start, Value end)> body);
  Value rootAt(Value tree) {
    return code.create<memref::LoadOp>(memory.roots, tree);
  }
  void store(Value number, Value row, Value target);

  // The lanes are rows.
  void goOverRows(Value first, Value rows);
  void goThroughTree(Value root, Value target, Value first, Value rows);
  // The lanes are trees.
  void goOverTrees(Value row);
  Value sumOfTrees(Value row, Value start, Value end);
  void addRowsOfTrees(Value row, Value start, Value end);
  SmallVector<Paths> walkTrees(Value row, Value first, Value end,
                               int64_t vectors, SmallVector<Value> &areTrees);
  Value reduced(Value vector);

  const TreeShape &shape;
  const nn::TreeLayout &layout;
  int64_t lanes, rowsOfTask;
  VectorBuilder code;
  const TreeTraversal::Memory &memory;
  Type i32, i64, f64, element, compared;
};

} // namespace sinter::cpu

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// The elements offset + indices of \p flat.
Value TreeCode::gather(Value flat, Value offset, Value indices) {
  const auto type = vectorOf(cast<MemRefType>(flat.getType()).getElementType());
  Value all = code.create<arith::ConstantOp>(
      DenseElementsAttr::get(vectorOf(code.builder.getI1Type()), true));
  return code.create<vector::GatherOp>(type, flat, offset, indices, all,
                                       code.zero(type));
}

/// Every second element of \p pairs, from \p first on.
Value TreeCode::evenOrOdd(Value pairs, int64_t first) {
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < lanes; ++i)
    places.push_back(2 * i + first);
  return code.create<vector::ShuffleOp>(pairs, pairs, places);
}

TreeCode::Paths TreeCode::load(Value place) {
  if (layout.isWide) {
    Value word = code.create<arith::AddIOp>(place, place);
    return {
        place,
        code.bitsAs(gather(memory.nodes, code.index(0), word), vectorOf(f64)),
        gather(memory.nodes, code.index(1), word)};
  }
  Value pairs = code.bitsAs(gather(memory.nodes, code.index(0), place),
                            vectorOf(i32, 2 * lanes));
  return {place, code.bitsAs(evenOrOdd(pairs, 0), vectorOf(compared)),
          evenOrOdd(pairs, 1)};
}

Value TreeCode::distanceOf(Value control) {
  const Type type = getElementTypeOrSelf(control.getType());
  return code.create<arith::ShRUIOp>(control,
                                     splatNumber(type, layout.distanceShift()));
}

Value TreeCode::isMoving(Value control) {
  Value distance = distanceOf(control);
  return code.create<arith::CmpIOp>(
      arith::CmpIPredicate::ne, distance,
      code.zero(cast<VectorType>(distance.getType())));
}

/// Whether bit \p bit is set.
Value TreeCode::bitOf(Value control, unsigned bit) {
  const auto type = cast<VectorType>(control.getType());
  Value masked = code.create<arith::AndIOp>(
      control, splatNumber(type.getElementType(), int64_t(1) << bit));
  return code.create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked,
                                    code.zero(type));
}

/// One level on. Lane i reads the row that begins at \p row + rowOffset[i]; all
/// that at \p row if \p rowOffset is null.
TreeCode::Paths TreeCode::step(const Paths &paths, Value row, Value rowOffset) {
  const Type type = getElementTypeOrSelf(paths.control.getType());
  auto narrowed = [&](Value vector) -> Value {
    return layout.isWide ? code.create<arith::TruncIOp>(vectorOf(i32), vector)
                         : vector;
  };
  Value feature = narrowed(code.create<arith::AndIOp>(
      code.create<arith::ShRUIOp>(
          paths.control, splatNumber(type, nn::TreeLayout::featureShift)),
      splatNumber(type, (int64_t(1) << layout.featureBits) - 1)));
  if (rowOffset)
    feature = code.create<arith::AddIOp>(feature, rowOffset);
  Value x = gather(memory.x, row, feature);
  if (element != compared)
    x = code.create<arith::ExtFOp>(vectorOf(compared), x);
  // Whether the second child is next.
  Value isSecond =
      code.create<arith::CmpFOp>(arith::CmpFPredicate::UGT, x, paths.number);
  if (layout.hasEqual) {
    Value isLess =
        code.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, paths.number);
    isSecond = code.create<arith::OrIOp>(
        isSecond, code.create<arith::AndIOp>(
                      isLess, bitOf(paths.control, nn::TreeLayout::equalBit)));
  }
  if (layout.knowsNaN) {
    Value isNumber =
        code.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, x, x);
    Value isOther = code.create<arith::CmpIOp>(
        arith::CmpIPredicate::eq, bitOf(paths.control, nn::TreeLayout::nanBit),
        code.zero(vectorOf(code.builder.getI1Type())));
    isSecond = code.create<arith::AndIOp>(
        isSecond, code.create<arith::OrIOp>(isNumber, isOther));
  }
  isSecond = code.create<arith::AndIOp>(isSecond, isMoving(paths.control));
  Value distance = narrowed(distanceOf(paths.control));
  Value second = code.create<arith::ExtUIOp>(vectorOf(i32), isSecond);
  return load(code.create<arith::AddIOp>(
      code.create<arith::AddIOp>(paths.place, distance), second));
}

/// All paths from \p places to their leaves.
SmallVector<TreeCode::Paths> TreeCode::walk(ArrayRef<Value> places, Value row,
                                            ArrayRef<Value> rowOffsets) {
  SmallVector<Value> carried;
  auto carry = [](const Paths &paths, SmallVectorImpl<Value> &list) {
    list.append({paths.place, paths.number, paths.control});
  };
  auto pathsIn = [](ValueRange list, size_t i) -> Paths {
    return {list[3 * i], list[3 * i + 1], list[3 * i + 2]};
  };
  for (Value place : places)
    carry(load(place), carried);
  IndexBuilder::Carried ends = code.repeat(
      carried,
      [&](ValueRange list) -> Value {
        Value any;
        for (size_t i = 0; i < places.size(); ++i) {
          Value moving = isMoving(pathsIn(list, i).control);
          any = any ? code.create<arith::OrIOp>(any, moving) : moving;
        }
        return code.create<vector::ReductionOp>(vector::CombiningKind::OR, any);
      },
      [&](ValueRange list) {
        IndexBuilder::Carried next;
        for (size_t i = 0; i < places.size(); ++i)
          carry(step(pathsIn(list, i), row,
                     rowOffsets.empty() ? Value() : rowOffsets[i]),
                next);
        return next;
      });
  SmallVector<Paths> all;
  for (size_t i = 0; i < places.size(); ++i)
    all.push_back(pathsIn(ends, i));
  return all;
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// What adds nothing: NaN in minima and maxima, whose combination with a number
/// is the number.
Value TreeCode::neutral() {
  const double number = isSum() ? 0 : std::numeric_limits<double>::quiet_NaN();
  return code.create<arith::ConstantOp>(DenseElementsAttr::get(
      vectorOf(f64), code.builder.getF64FloatAttr(number).getValue()));
}

Value TreeCode::combined(Value a, Value b) {
  if (isSum())
    return code.create<arith::AddFOp>(a, b);
  if (shape.aggregate == TreeShape::Aggregate::Minimum)
    return code.create<arith::MinNumFOp>(a, b);
  return code.create<arith::MaxNumFOp>(a, b);
}

/// What leaves without rows give.
Value TreeCode::weightOf(const Paths &paths) {
  return layout.isWide
             ? paths.number
             : code.create<arith::ExtFOp>(vectorOf(f64), paths.number);
}

/// Combines the vector of scratch at \p offset with \p weight.
void TreeCode::accumulate(Value weight, Value offset) {
  Value sum = code.load(memory.scratch, offset, vectorOf(f64));
  code.store(combined(sum, weight), memory.scratch, offset);
}

/// Calls \p body with the trees of each target, from `start` to `end`; once
/// with all, and target 0, where leaves have rows.
void TreeCode::forTargets(
    llvm::function_ref<void(Value target, Value start, Value end)> body) {
  if (layout.hasRows || shape.targets == 1)
    return body(code.index(0), code.index(0), code.index(shape.trees));
  code.loop(code.index(0), code.index(shape.targets), 1, [&](Value target) {
    Value at = code.add(target, shape.trees);
    body(target, asIndex(rootAt(at)), asIndex(rootAt(code.add(at, 1))));
  });
}

/// Stores what the trees give \p target together.
void TreeCode::store(Value number, Value row, Value target) {
  if (shape.aggregate == TreeShape::Aggregate::Average)
    number = code.create<arith::DivFOp>(
        number, code.create<arith::ConstantOp>(code.builder.getF64FloatAttr(
                    static_cast<double>(shape.trees))));
  if (!isSum())
    number = code.create<arith::SelectOp>(
        code.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, number, number),
        code.create<arith::ConstantOp>(code.builder.getF64FloatAttr(0)),
        number);
  if (element != f64)
    number = code.create<arith::TruncFOp>(element, number);
  code.builder.create<memref::StoreOp>(
      code.loc, number, memory.result,
      code.add(code.mul(row, shape.targets), target));
}

//===----------------------------------------------------------------------===//
// Many rows
//===----------------------------------------------------------------------===//

/// The rows of a task through one tree. Scratch has a row of sums a target. The
/// last vectors read the last row over and over.
void TreeCode::goThroughTree(Value root, Value target, Value first,
                             Value rows) {
  const int64_t block = sideBySide * lanes;
  Value row = code.mul(first, shape.features);
  Value last = splat(asInteger(code.sub(rows, 1)));
  code.loop(code.index(0), rows, block, [&](Value begin) {
    SmallVector<Value> places(sideBySide, splat(root)), offsets;
    for (int64_t i = 0; i < sideBySide; ++i) {
      Value number = code.create<arith::MinSIOp>(
          code.create<arith::AddIOp>(splat(asInteger(begin)),
                                     laneNumbers(i * lanes)),
          last);
      offsets.push_back(
          code.create<arith::MulIOp>(number, splatNumber(i32, shape.features)));
    }
    SmallVector<Paths> ends = walk(places, row, offsets);
    auto sumAt = [&](Value k, int64_t i) {
      return code.add(code.mul(k, rowsOfTask), code.add(begin, i * lanes));
    };
    if (!layout.hasRows) {
      for (auto [i, paths] : llvm::enumerate(ends))
        accumulate(weightOf(paths), sumAt(target, static_cast<int64_t>(i)));
      return;
    }
    code.loop(code.index(0), code.index(shape.targets), 1, [&](Value k) {
      for (auto [i, paths] : llvm::enumerate(ends))
        accumulate(rowWeight(paths, k), sumAt(k, static_cast<int64_t>(i)));
    });
  });
}

void TreeCode::goOverRows(Value first, Value rows) {
  const int64_t vectors = shape.targets * rowsOfTask;
  code.loop(code.index(0), code.index(vectors), lanes, [&](Value offset) {
    code.store(neutral(), memory.scratch, offset);
  });
  forTargets([&](Value target, Value start, Value end) {
    code.loop(start, end, 1, [&](Value tree) {
      goThroughTree(rootAt(tree), target, first, rows);
    });
  });
  code.loop(code.index(0), rows, 1, [&](Value row) {
    code.loop(code.index(0), code.index(shape.targets), 1, [&](Value target) {
      Value offset = code.add(code.mul(target, rowsOfTask), row);
      store(code.create<memref::LoadOp>(memory.scratch, offset),
            code.add(first, row), target);
    });
  });
}

//===----------------------------------------------------------------------===//
// Few rows
//===----------------------------------------------------------------------===//

/// Sends row \p row through trees \p first, first + 1, ...; lanes from \p end
/// on go through the last one, and are not set in \p areTrees.
SmallVector<TreeCode::Paths> TreeCode::walkTrees(Value row, Value first,
                                                 Value end, int64_t vectors,
                                                 SmallVector<Value> &areTrees) {
  Value last = splat(asInteger(code.sub(end, 1)));
  SmallVector<Value> places;
  for (int64_t i = 0; i < vectors; ++i) {
    Value number = code.create<arith::AddIOp>(splat(asInteger(first)),
                                              laneNumbers(i * lanes));
    areTrees.push_back(
        code.create<arith::CmpIOp>(arith::CmpIPredicate::sle, number, last));
    places.push_back(gather(memory.roots, code.index(0),
                            code.create<arith::MinSIOp>(number, last)));
  }
  return walk(places, code.mul(row, shape.features), {});
}

Value TreeCode::reduced(Value vector) {
  using vector::CombiningKind;
  const CombiningKind kind = isSum() ? CombiningKind::ADD
                             : shape.aggregate == TreeShape::Aggregate::Minimum
                                 ? CombiningKind::MINNUMF
                                 : CombiningKind::MAXNUMF;
  return code.create<vector::ReductionOp>(
      kind, vector,
      isSum() ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none);
}

/// The weights of trees \p start to \p end without rows, together.
Value TreeCode::sumOfTrees(Value row, Value start, Value end) {
  auto added = [&](Value first, Value sum, int64_t vectors) {
    SmallVector<Value> areTrees;
    SmallVector<Paths> ends = walkTrees(row, first, end, vectors, areTrees);
    for (auto [paths, isTree] : llvm::zip(ends, areTrees))
      sum = combined(sum, code.create<arith::SelectOp>(isTree, weightOf(paths),
                                                       neutral()));
    return IndexBuilder::Carried{sum};
  };
  Value sums =
      code.loop(start, end, sideBySide * lanes, {neutral()},
                [&](Value first, ValueRange sums) {
                  Value isMany = code.less(code.add(first, lanes), end);
                  return code.branch(
                      isMany, [&] { return added(first, sums[0], sideBySide); },
                      [&] { return added(first, sums[0], 1); });
                })[0];
  return reduced(sums);
}

/// The weight that leaves with rows give to \p target.
Value TreeCode::rowWeight(const Paths &paths, Value target) {
  Value number = code.bitsAs(paths.number, vectorOf(layout.isWide ? i64 : i32));
  if (layout.isWide)
    number = code.create<arith::TruncIOp>(vectorOf(i32), number);
  Value weight = gather(
      memory.weights, target,
      code.create<arith::MulIOp>(number, splatNumber(i32, shape.targets)));
  return getElementTypeOrSelf(weight.getType()) == f64
             ? weight
             : code.create<arith::ExtFOp>(vectorOf(f64), weight);
}

/// The same with rows: scratch has a vector of sums a target.
void TreeCode::addRowsOfTrees(Value row, Value start, Value end) {
  Value count = code.index(shape.targets);
  code.loop(code.index(0), count, 1, [&](Value target) {
    code.store(neutral(), memory.scratch, code.mul(target, lanes));
  });
  auto add = [&](Value first, int64_t vectors) {
    SmallVector<Value> areTrees;
    SmallVector<Paths> ends = walkTrees(row, first, end, vectors, areTrees);
    code.loop(code.index(0), count, 1, [&](Value target) {
      for (auto [paths, isTree] : llvm::zip(ends, areTrees))
        accumulate(code.create<arith::SelectOp>(
                       isTree, rowWeight(paths, target), neutral()),
                   code.mul(target, lanes));
    });
  };
  code.loop(start, end, sideBySide * lanes, [&](Value first) {
    code.when(
        code.less(code.add(first, lanes), end), [&] { add(first, sideBySide); },
        [&] { add(first, 1); });
  });
  code.loop(code.index(0), count, 1, [&](Value target) {
    Value sums =
        code.load(memory.scratch, code.mul(target, lanes), vectorOf(f64));
    store(reduced(sums), row, target);
  });
}

void TreeCode::goOverTrees(Value row) {
  forTargets([&](Value target, Value start, Value end) {
    if (layout.hasRows)
      addRowsOfTrees(row, start, end);
    else
      store(sumOfTrees(row, start, end), row, target);
  });
}

/// Most rows go side by side; what is left over, as long as that is little, one
/// by one.
void TreeCode::build(Value task) {
  const int64_t block = sideBySide * lanes, worthABlock = block * 5 / 8;
  Value first = code.mul(task, rowsOfTask);
  Value rows =
      code.min(code.sub(code.index(shape.rows), first), code.index(rowsOfTask));
  Value blocks = code.div(code.add(rows, block - worthABlock), block);
  Value together = code.min(code.mul(blocks, block), rows);
  code.when(code.less(code.index(0), together),
            [&] { goOverRows(first, together); });
  code.loop(together, rows, 1,
            [&](Value row) { goOverTrees(code.add(first, row)); });
}

//===----------------------------------------------------------------------===//
// TreeTraversal
//===----------------------------------------------------------------------===//

TreeTraversal::TreeTraversal(const TreeShape &shape, const Target &target)
    : shape(shape),
      lanes(shape.layout.isWide ? std::max<int64_t>(target.f32Lanes / 2, 2)
                                : target.f32Lanes) {
  // Some microseconds, and more rows of small ensembles.
  constexpr double taskFlops = 65536;
  const int64_t block = sideBySide * lanes;
  rowsOfTask = 2 * block;
  while (rowsOfTask < 16 * block &&
         static_cast<double>(rowsOfTask) * flops() < taskFlops)
    rowsOfTask *= 2;
}

uint64_t TreeTraversal::scratchBytes() const {
  return uint64_t(shape.targets) * uint64_t(rowsOfTask) * sizeof(double);
}

/// A path of a balanced tree is about as long as its deepest one; of others,
/// shorter.
double TreeTraversal::flops() const {
  const double levels = std::min<double>(double(shape.layout.depth), 16);
  const double weights = shape.layout.hasRows ? double(shape.targets) : 1;
  return double(shape.trees) * (levels * 4 + weights + 1);
}

void TreeTraversal::build(OpBuilder &builder, Location location, Value task,
                          const Memory &memory) const {
  TreeCode(*this, builder, location, memory).build(task);
}
