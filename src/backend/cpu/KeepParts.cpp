//===- KeepParts.cpp - numbers between products on tiles stay in parts ----===//

#include "backend/cpu/KeepParts.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/SizeTable.h"
#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/emit/Anchors.h"
#include "backend/cpu/kernels/PartsCutter.h"
#include "graph/Types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral keepLabel = "keep-parts", onceLabel = "cut-once",
                              passName = "cpu-keep-parts";

/// What a kernel could read and store in parts.
struct Ways {
  TilePartsOf parts;
  /// The input that it could read so.
  unsigned input = 0;
};

class PartsKeeper {
public:
  PartsKeeper(func::FuncOp function, const Target &target, PatternRun &run)
      : function(function), target(target), patterns(run) {}

  void run() {
    auto module = function->getParentOfType<ModuleOp>();
    sizes = SizeTable::of(module);
    SmallVector<KernelOp> kernels;
    function.walk([&](KernelOp kernel) {
      if (const std::optional<Ways> found = waysOf(kernel)) {
        ways.try_emplace(kernel, *found);
        kernels.push_back(kernel);
      }
    });
    if (patterns.isEnabled(keepLabel))
      keepResults(kernels);
    if (patterns.isEnabled(onceLabel))
      cutOnce(kernels);
    if (sizes)
      sizes->setOf(module);
  }

private:
  /// Lets those of \p kernels store parts that only others read. What becomes
  /// of them stands in their place.
  void keepResults(MutableArrayRef<KernelOp> kernels) {
    for (KernelOp &kernel : kernels) {
      std::optional<TileParts> parts = ways.lookup(kernel).parts.result;
      SmallVector<OpOperand *> readers;
      if (parts && readPartsOnly(kernel.getResult(0), *parts, readers) &&
          llvm::all_of(readers, [&](OpOperand *reader) {
            return gainOf(reader, *parts).saved >= 0;
          })) {
        const std::optional<int64_t> bytes =
            bytesOf(kernel.getResult(0), *parts);
        if (!bytes)
          continue;
        kernel = keep(kernel, *parts, *bytes, readers);
        patterns.count(keepLabel);
      }
    }
  }

  /// What several of \p kernels cut for themselves.
  void cutOnce(ArrayRef<KernelOp> kernels) {
    llvm::MapVector<std::pair<Value, Block *>, SmallVector<OpOperand *>>
        readersOf;
    for (KernelOp kernel : kernels) {
      const Ways &own = ways.find(kernel)->second;
      if (!own.parts.operand)
        continue;
      OpOperand &read = kernel->getOpOperand(own.input);
      if (Value numbers = cutFrom(read.get(), *own.parts.operand))
        readersOf[{numbers, kernel->getBlock()}].push_back(&read);
    }
    for (auto &[place, readers] : readersOf)
      while (readers.size() > 1)
        cutOnce(place.first, readers);
  }

  /// Where the numbers lie that \p value is; none where they cannot be cut
  /// there.
  static Value cutFrom(Value value, const TileParts &parts) {
    while (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>()) {
      // Images that are counted are not looked at.
      if (parts.areBlocked && hasNamedSizes(reshape.getType()))
        return {};
      value = reshape.getOperand();
    }
    // What is of rank 5 is blocked, for who cuts it.
    const RankedTensorType type = tensorOf(value);
    const bool hasRankOfBlocks = type.getRank() == 5;
    const bool areRows = !parts.areBlocked && !hasRankOfBlocks &&
                         type.getRank() > 1 &&
                         type.getShape().back() == parts.columns;
    const bool areBlocks = parts.areBlocked && hasRankOfBlocks;
    return type.getElementType().isF32() && (areRows || areBlocks) ? value
                                                                   : Value();
  }

  /// For the first of \p readers and others that can read the same parts, which
  /// are taken away from there.
  void cutOnce(Value numbers, SmallVectorImpl<OpOperand *> &readers) {
    auto operandOf = [&](OpOperand *reader) {
      return *ways.find(reader->getOwner())->second.parts.operand;
    };
    TileParts parts = operandOf(readers.front());
    if (!parts.isOpen())
      parts.tileRows = parts.unitRows = PartsCutter::tileRows;
    SmallVector<OpOperand *> together;
    llvm::erase_if(readers, [&](OpOperand *reader) {
      TileParts with = parts;
      with.makeRoomFor(operandOf(reader));
      const bool isOne =
          together.empty() || haveRowsOf(operandOf(reader), parts);
      if (isOne) {
        parts = with;
        together.push_back(reader);
      }
      return isOne;
    });
    double saved = 0, once = 0;
    llvm::erase_if(together, [&](OpOperand *reader) {
      const TilePartsGain gain = gainOf(reader, parts);
      if (gain.saved <= 0)
        return true;
      saved += gain.saved;
      once = std::max(once, gain.once);
      return false;
    });
    const std::optional<int64_t> bytes =
        saved > once ? bytesOf(numbers, parts) : std::nullopt;
    if (!bytes)
      return;
    // A branch cuts what it reads from outside.
    Block *block = together.front()->getOwner()->getBlock();
    auto builder = OpBuilder::atBlockBegin(block);
    if (numbers.getParentBlock() == block)
      builder.setInsertionPointAfterValue(numbers);
    Value cut = cutIn(builder, numbers, parts, *bytes);
    for (OpOperand *reader : together)
      readParts(*reader, cut, parts);
    patterns.count(onceLabel);
  }

  /// The parts of \p numbers, so many \p bytes, by a kernel at \p builder.
  static Value cutIn(OpBuilder &builder, Value numbers, const TileParts &parts,
                     int64_t bytes) {
    const RankedTensorType type = typeOfSizes({bytes}, builder.getI8Type());
    auto kernel =
        builder.create<KernelOp>(numbers.getLoc(), type, ValueRange{numbers});
    Block &body = kernel.getBody().emplaceBlock();
    Value input = body.addArgument(numbers.getType(), numbers.getLoc());
    auto inside = OpBuilder::atBlockEnd(&body);
    inside.create<YieldOp>(numbers.getLoc(),
                           made<CutPartsOp>(inside, type, input, parts));
    return kernel.getResult(0);
  }

  std::optional<Ways> waysOf(KernelOp kernel) const {
    if (kernel.getNumResults() != 1)
      return std::nullopt;
    Operation *anchor = anchorOf(kernel);
    if (!anchor)
      return std::nullopt;
    Ways found;
    found.parts = createAnchorKernel(kernel, target)->possibleParts();
    if (auto input = dyn_cast<BlockArgument>(anchor->getOperand(0));
        input && input.hasOneUse())
      found.input = input.getArgNumber();
    else
      found.parts.operand.reset();
    return found;
  }

  static Operation *anchorOf(KernelOp kernel) {
    for (Operation &op : kernel.getBody().front())
      if (isAnchor(&op))
        return &op;
    return nullptr;
  }

  /// Whether images or rows of both are as many, as open sizes say.
  bool haveRowsOf(const TileParts &a, const TileParts &b) const {
    if (!a.haveNumbersOf(b))
      return false;
    return !a.isOpen() ||
           (sizes->countOf(a.openRows) == sizes->countOf(b.openRows) &&
            sizes->expressionOf(a.width) == sizes->expressionOf(b.width));
  }

  TilePartsGain gainOf(OpOperand *reader, const TileParts &operand) const {
    return createAnchorKernel(cast<KernelOp>(reader->getOwner()), target)
        ->gainBy(operand, target);
  }

  /// Whether all that read \p value, whose parts would be \p parts, can read
  /// these; they are \p readers then, for all of which there is room.
  bool readPartsOnly(Value value, TileParts &parts,
                     SmallVectorImpl<OpOperand *> &readers) const {
    for (OpOperand &use : value.getUses()) {
      if (isa<stablehlo::ReshapeOp>(use.getOwner())) {
        // Images that are counted are not looked at.
        if (parts.areBlocked && hasNamedSizes(value.getType()))
          return false;
        if (!readPartsOnly(use.getOwner()->getResult(0), parts, readers))
          return false;
        continue;
      }
      const auto reader = dyn_cast<KernelOp>(use.getOwner());
      const auto found = reader ? ways.find(reader) : ways.end();
      if (found == ways.end() || !found->second.parts.operand ||
          found->second.input != use.getOperandNumber() ||
          !haveRowsOf(*found->second.parts.operand, parts))
        return false;
      parts.makeRoomFor(*found->second.parts.operand);
      readers.push_back(&use);
    }
    return !value.use_empty();
  }

  using Size = std::optional<SizeExpression>;

  static Size sumOf(const Size &a, const Size &b) {
    return a && b ? SizeExpression::sumOf(*a, *b) : std::nullopt;
  }
  static Size productOf(const Size &a, const SizeExpression &b) {
    return a ? SizeExpression::productOf(*a, b) : std::nullopt;
  }

  /// Of an image of open height and width, or of open rows; nothing on
  /// overflow.
  Size imageBytesOf(const TileParts &parts) const {
    const TileParts::Zeros zeros = parts.zeros();
    const TileParts::OpenBytes bytes = parts.openBytes();
    const Size rows = sizes->countOf(parts.openRows);
    Size positions = rows;
    if (parts.hasBorder()) {
      const SizeExpression height = sizes->expressionOf(parts.openRows.front()),
                           width = sizes->expressionOf(parts.width);
      positions = sumOf(positions, productOf(height, zeros.ofHeight));
      positions = sumOf(positions, productOf(width, zeros.ofWidth));
      positions = sumOf(positions, SizeExpression(zeros.more));
    }
    return sumOf(sumOf(productOf(positions, bytes.ofPosition),
                       productOf(rows, bytes.ofRow)),
                 SizeExpression(bytes.more));
  }

  /// How many bytes the parts of \p value take, or the name of that; nothing on
  /// overflow.
  std::optional<int64_t> bytesOf(Value value, const TileParts &parts) {
    if (!hasNamedSizes(value.getType()))
      return parts.bytes();
    const Size ofImage =
        parts.isOpen() ? imageBytesOf(parts) : Size(parts.imageBytes());
    const int64_t images =
        parts.areBlocked ? shapeOf(tensorOf(value)).front() : 1;
    const Size all = sumOf(productOf(ofImage, sizes->expressionOf(images)),
                           SizeExpression(parts.beyond * tileRowBytes));
    if (!all)
      return std::nullopt;
    const auto found = llvm::find(sizes->sizes, *all);
    const auto number = int64_t(found - sizes->sizes.begin());
    if (found == sizes->sizes.end())
      sizes->sizes.push_back(*all);
    return nameOfSize(number);
  }

  /// An operation on parts, at \p builder.
  template <typename Op>
  static Value made(OpBuilder &builder, Type type, Value value,
                    const TileParts &parts) {
    const TileBorder &around = parts.border;
    return builder.create<Op>(
        value.getLoc(), type, value, uint64_t(parts.images),
        uint64_t(parts.rows), uint64_t(parts.columns),
        uint64_t(parts.isOpen() ? 1 : parts.width), uint64_t(parts.tileRows),
        uint64_t(parts.unitRows),
        ArrayRef<int64_t>{around.top, around.left, around.bottom, around.right},
        uint64_t(parts.beyond));
  }

  /// Lets \p reader have its numbers from \p bytes.
  static void readParts(OpOperand &reader, Value bytes,
                        const TileParts &parts) {
    auto kernel = cast<KernelOp>(reader.getOwner());
    BlockArgument input =
        kernel.getBody().getArgument(reader.getOperandNumber());
    const Type joined = input.getType();
    auto builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    input.setType(bytes.getType());
    Value numbers = made<JoinPartsOp>(builder, joined, input, parts);
    input.replaceAllUsesExcept(numbers, numbers.getDefiningOp());
    Value whole = reader.get();
    reader.set(bytes);
    eraseUnused(whole);
  }

  /// In so many \p bytes, or as many as that name stands for.
  KernelOp keep(KernelOp kernel, const TileParts &parts, int64_t bytes,
                ArrayRef<OpOperand *> readers) {
    OpBuilder builder(kernel);
    const RankedTensorType type = typeOfSizes({bytes}, builder.getI8Type());
    // Bytes are another value than the numbers.
    auto stores =
        builder.create<KernelOp>(kernel.getLoc(), type, kernel.getInputs());
    stores.setConstantInputsAttr(kernel.getConstantInputsAttr());
    stores.getBody().takeBody(kernel.getBody());
    ways[stores] = ways.lookup(kernel);
    Operation *yield = stores.getBody().front().getTerminator();
    builder.setInsertionPoint(yield);
    yield->setOperand(
        0, made<CutPartsOp>(builder, type, yield->getOperand(0), parts));
    for (OpOperand *reader : readers)
      readParts(*reader, stores.getResult(0), parts);
    ways.erase(kernel);
    kernel.erase();
    return stores;
  }

  /// Erases reshapes that nobody reads, of which \p value is the last.
  static void eraseUnused(Value value) {
    auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
    if (!reshape || !reshape->use_empty())
      return;
    Value from = reshape.getOperand();
    reshape.erase();
    eraseUnused(from);
  }

  func::FuncOp function;
  const Target &target;
  PatternRun &patterns;
  std::optional<SizeTable> sizes; ///< Where some are open.
  DenseMap<Operation *, Ways> ways;
};

} // namespace

ArrayRef<PatternInfo> cpu::keepPartsPatterns() {
  static const PatternInfo infos[] = {
      {keepLabel,
       "y = kernel(x) { product }, kernel(y) { product } -> "
       "y = kernel(x) { cut_parts(product) }, "
       "kernel(y) { product of join_parts }",
       passName},
      {onceLabel,
       "kernel(x) { product }, kernel(x) { product } -> "
       "y = kernel(x) { cut_parts(x) }, kernel(y) { product of join_parts }, "
       "kernel(y) { product of join_parts }",
       passName}};
  return infos;
}

void cpu::keepParts(func::FuncOp function, const Target &target,
                    PatternRun &run) {
  if (target.hasMatrixUnits)
    PartsKeeper(function, target, run).run();
}
