//===- KeepSplitOperands.cpp - keep bf16 split activations ----------------===//

#include "backend/cpu/fusion/KeepSplitOperands.h"

#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/kernels/amx/TermSplitter.h"
#include "backend/cpu/shapes/SizeTable.h"
#include "backend/cpu/target/Target.h"
#include "graph/Types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral keepLabel = "keep-split-operands",
                              onceLabel = "split-once",
                              keepTermsPass = "cpu-keep-split-operands";

/// The split operand and split result that a kernel supports.
struct Ways {
  TileTermsOf terms;
  /// The input that it can read split.
  unsigned input = 0;
};

class TermsKeeper {
public:
  TermsKeeper(func::FuncOp function, const Target &target, PatternRun &run)
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
      splitOnce(kernels);
    if (sizes)
      sizes->setOf(module);
  }

private:
  /// Makes \p kernels store their results split if only kernels that read them
  /// split use them. Replaces the kernels in the list.
  void keepResults(MutableArrayRef<KernelOp> kernels) {
    for (KernelOp &kernel : kernels) {
      std::optional<TileTerms> terms = ways.lookup(kernel).terms.result;
      SmallVector<OpOperand *> readers;
      if (terms && readTermsOnly(kernel.getResult(0), *terms, readers) &&
          llvm::all_of(readers, [&](OpOperand *reader) {
            return gainOf(reader, *terms).saved >= 0;
          })) {
        const std::optional<Dim> bytes = bytesOf(kernel.getResult(0), *terms);
        if (!bytes)
          continue;
        kernel = keep(kernel, *terms, *bytes, readers);
        patterns.count(keepLabel);
      }
    }
  }

  /// Splits operands once that several of \p kernels would split.
  void splitOnce(ArrayRef<KernelOp> kernels) {
    llvm::MapVector<std::pair<Value, Block *>, SmallVector<OpOperand *>>
        readersOf;
    for (KernelOp kernel : kernels) {
      const Ways &own = ways.find(kernel)->second;
      if (!own.terms.operand)
        continue;
      OpOperand &read = kernel->getOpOperand(own.input);
      if (Value numbers = splitSource(read.get(), *own.terms.operand))
        readersOf[{numbers, kernel->getBlock()}].push_back(&read);
    }
    for (auto &[place, readers] : readersOf)
      while (readers.size() > 1)
        splitOnce(place.first, readers);
  }

  /// The value behind reshapes of \p value; null if it cannot be split there.
  static Value splitSource(Value value, const TileTerms &terms) {
    while (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>()) {
      // Images that are counted are not looked at.
      if (terms.areBlocked && hasNamedSizes(reshape.getType()))
        return {};
      value = reshape.getOperand();
    }
    // The splitting kernel takes rank 5 for a blocked layout.
    const RankedTensorType type = tensorOf(value);
    const bool hasRankOfBlocks = type.getRank() == 5;
    const bool areRows = !terms.areBlocked && !hasRankOfBlocks &&
                         type.getRank() > 1 &&
                         type.getShape().back() == terms.columns;
    const bool areBlocks = terms.areBlocked && hasRankOfBlocks;
    return type.getElementType().isF32() && (areRows || areBlocks) ? value
                                                                   : Value();
  }

  /// Splits \p numbers for the first of \p readers and for all others that can
  /// read the same split, and removes these from \p readers.
  void splitOnce(Value numbers, SmallVectorImpl<OpOperand *> &readers) {
    auto operandOf = [&](OpOperand *reader) {
      return *ways.find(reader->getOwner())->second.terms.operand;
    };
    TileTerms terms = operandOf(readers.front());
    if (!terms.isDynamic())
      terms.tileRows = terms.unitRows = TermSplitter::tileRows;
    SmallVector<OpOperand *> together;
    llvm::erase_if(readers, [&](OpOperand *reader) {
      TileTerms with = terms;
      with.makeRoomFor(operandOf(reader));
      const bool isOne =
          together.empty() || haveRowsOf(operandOf(reader), terms);
      if (isOne) {
        terms = with;
        together.push_back(reader);
      }
      return isOne;
    });
    double saved = 0, once = 0;
    llvm::erase_if(together, [&](OpOperand *reader) {
      const TileTermsGain gain = gainOf(reader, terms);
      if (gain.saved <= 0)
        return true;
      saved += gain.saved;
      once = std::max(once, gain.once);
      return false;
    });
    const std::optional<Dim> bytes =
        saved > once ? bytesOf(numbers, terms) : std::nullopt;
    if (!bytes)
      return;
    // A branch splits values from outside itself.
    Block *block = together.front()->getOwner()->getBlock();
    auto builder = OpBuilder::atBlockBegin(block);
    if (numbers.getParentBlock() == block)
      builder.setInsertionPointAfterValue(numbers);
    Value split = splitIn(builder, numbers, terms, *bytes);
    for (OpOperand *reader : together)
      readTerms(*reader, split, terms);
    patterns.count(onceLabel);
  }

  /// Builds a kernel that splits \p numbers into a buffer of \p bytes.
  static Value splitIn(OpBuilder &builder, Value numbers,
                       const TileTerms &terms, Dim bytes) {
    const RankedTensorType type = typeOfDims({bytes}, builder.getI8Type());
    auto kernel =
        builder.create<KernelOp>(numbers.getLoc(), type, ValueRange{numbers});
    Block &body = kernel.getBody().emplaceBlock();
    Value input = body.addArgument(numbers.getType(), numbers.getLoc());
    auto inside = OpBuilder::atBlockEnd(&body);
    inside.create<YieldOp>(numbers.getLoc(),
                           made<SplitTermsOp>(inside, type, input, terms));
    return kernel.getResult(0);
  }

  std::optional<Ways> waysOf(KernelOp kernel) const {
    if (kernel.getNumResults() != 1)
      return std::nullopt;
    Operation *root = rootOf(kernel);
    if (!root)
      return std::nullopt;
    Ways found;
    found.terms = createRootKernel(kernel, target)->possibleTerms();
    if (auto input = dyn_cast<BlockArgument>(root->getOperand(0));
        input && input.hasOneUse())
      found.input = input.getArgNumber();
    else
      found.terms.operand.reset();
    return found;
  }

  static Operation *rootOf(KernelOp kernel) {
    for (Operation &op : kernel.getBody().front())
      if (isRoot(&op))
        return &op;
    return nullptr;
  }

  /// Whether images or rows of both are as many, as dynamic sizes say.
  bool haveRowsOf(const TileTerms &a, const TileTerms &b) const {
    if (!a.haveNumbersOf(b))
      return false;
    return !a.isDynamic() ||
           (sizes->countOf(a.dynamicRows) == sizes->countOf(b.dynamicRows) &&
            sizes->expressionOf(a.width) == sizes->expressionOf(b.width));
  }

  TileTermsGain gainOf(OpOperand *reader, const TileTerms &operand) const {
    return createRootKernel(cast<KernelOp>(reader->getOwner()), target)
        ->gainBy(operand, target);
  }

  /// Whether all users of \p value can read it split as \p terms. Adds them to
  /// \p readers and makes room for their borders in \p terms.
  bool readTermsOnly(Value value, TileTerms &terms,
                     SmallVectorImpl<OpOperand *> &readers) const {
    for (OpOperand &use : value.getUses()) {
      if (isa<stablehlo::ReshapeOp>(use.getOwner())) {
        // Images that are counted are not looked at.
        if (terms.areBlocked && hasNamedSizes(value.getType()))
          return false;
        if (!readTermsOnly(use.getOwner()->getResult(0), terms, readers))
          return false;
        continue;
      }
      const auto reader = dyn_cast<KernelOp>(use.getOwner());
      const auto found = reader ? ways.find(reader) : ways.end();
      if (found == ways.end() || !found->second.terms.operand ||
          found->second.input != use.getOperandNumber() ||
          !haveRowsOf(*found->second.terms.operand, terms))
        return false;
      terms.makeRoomFor(*found->second.terms.operand);
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

  /// Of an image of dynamic height and width, or of dynamic rows; nothing on
  /// overflow.
  Size imageBytesOf(const TileTerms &terms) const {
    const TileTerms::Zeros zeros = terms.zeros();
    const TileTerms::DynamicBytes bytes = terms.dynamicBytes();
    const Size rows = sizes->countOf(terms.dynamicRows);
    Size positions = rows;
    if (terms.hasBorder()) {
      const SizeExpression height =
                               sizes->expressionOf(terms.dynamicRows.front()),
                           width = sizes->expressionOf(terms.width);
      positions = sumOf(positions, productOf(height, zeros.ofHeight));
      positions = sumOf(positions, productOf(width, zeros.ofWidth));
      positions = sumOf(positions, SizeExpression(zeros.more));
    }
    return sumOf(sumOf(productOf(positions, bytes.ofPosition),
                       productOf(rows, bytes.ofRow)),
                 SizeExpression(bytes.more));
  }

  /// How many bytes the terms of \p value take; nothing on overflow.
  std::optional<Dim> bytesOf(Value value, const TileTerms &terms) {
    if (!hasNamedSizes(value.getType()))
      return terms.bytes();
    const Size ofImage =
        terms.isDynamic() ? imageBytesOf(terms) : Size(terms.imageBytes());
    const Dim images = terms.areBlocked ? dimsOf(value).front() : Dim(1);
    const Size all = sumOf(productOf(ofImage, sizes->expressionOf(images)),
                           SizeExpression(terms.beyond * tileRowBytes));
    if (!all)
      return std::nullopt;
    const auto found = llvm::find(sizes->sizes, *all);
    const auto number = int64_t(found - sizes->sizes.begin());
    if (found == sizes->sizes.end())
      sizes->sizes.push_back(*all);
    return Dim::named(number);
  }

  /// Builds an operation on a split value.
  template <typename Op>
  static Value made(OpBuilder &builder, Type type, Value value,
                    const TileTerms &terms) {
    const TileBorder &around = terms.border;
    return builder.create<Op>(
        value.getLoc(), type, value, uint64_t(terms.images),
        uint64_t(terms.rows), uint64_t(terms.columns),
        uint64_t(terms.isDynamic() ? 1 : terms.width.value()),
        uint64_t(terms.tileRows), uint64_t(terms.unitRows),
        ArrayRef<int64_t>{around.top, around.left, around.bottom, around.right},
        uint64_t(terms.beyond));
  }

  /// Makes \p reader recombine its operand from \p bytes.
  static void readTerms(OpOperand &reader, Value bytes,
                        const TileTerms &terms) {
    auto kernel = cast<KernelOp>(reader.getOwner());
    BlockArgument input =
        kernel.getBody().getArgument(reader.getOperandNumber());
    const Type joined = input.getType();
    auto builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    input.setType(bytes.getType());
    Value numbers = made<RecombineTermsOp>(builder, joined, input, terms);
    input.replaceAllUsesExcept(numbers, numbers.getDefiningOp());
    Value whole = reader.get();
    reader.set(bytes);
    eraseUnused(whole);
  }

  /// In so many \p bytes.
  KernelOp keep(KernelOp kernel, const TileTerms &terms, Dim bytes,
                ArrayRef<OpOperand *> readers) {
    OpBuilder builder(kernel);
    const RankedTensorType type = typeOfDims({bytes}, builder.getI8Type());
    // The split buffer is a new value.
    auto stores =
        builder.create<KernelOp>(kernel.getLoc(), type, kernel.getInputs());
    stores.setConstantInputsAttr(kernel.getConstantInputsAttr());
    stores.getBody().takeBody(kernel.getBody());
    ways[stores] = ways.lookup(kernel);
    Operation *yield = stores.getBody().front().getTerminator();
    builder.setInsertionPoint(yield);
    yield->setOperand(
        0, made<SplitTermsOp>(builder, type, yield->getOperand(0), terms));
    for (OpOperand *reader : readers)
      readTerms(*reader, stores.getResult(0), terms);
    ways.erase(kernel);
    kernel.erase();
    return stores;
  }

  /// Erases unused reshapes, starting at \p value.
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

ArrayRef<PatternInfo> cpu::keepSplitOperandsPatterns() {
  static const PatternInfo infos[] = {
      {keepLabel,
       "y = kernel(x) { product }, kernel(y) { product } -> "
       "y = kernel(x) { split_terms(product) }, "
       "kernel(y) { product of recombine_terms }",
       keepTermsPass},
      {onceLabel,
       "kernel(x) { product }, kernel(x) { product } -> "
       "y = kernel(x) { split_terms(x) }, kernel(y) { product of "
       "recombine_terms }, "
       "kernel(y) { product of recombine_terms }",
       keepTermsPass}};
  return infos;
}

void cpu::keepSplitOperands(func::FuncOp function, const Target &target,
                            PatternRun &run) {
  if (target.hasMatrixUnits)
    TermsKeeper(function, target, run).run();
}
