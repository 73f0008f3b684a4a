//===- SizedFacts.cpp - what follows from the sizes of inputs -------------===//

#include "backend/cpu/shapes/InferDimensions.h"
#include "engine/compiler/DescribeModel.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/NamedSizes.h"
#include "graph/ArithmeticCount.h"
#include "graph/Origin.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"

#include <functional>

using namespace mlir;

namespace sinter {

namespace {

/// Counts the multiply-adds of a graph whose sizes are static or named.
class MultiplyAddCount {
public:
  explicit MultiplyAddCount(const cpu::SizeTable &table) : table(table) {}

  /// Nothing if a size is not known, or the number is too large.
  std::optional<SizeExpression> of(Block &block) {
    std::optional<SizeExpression> sum = SizeExpression(0);
    for (Operation &op : block.without_terminator()) {
      const std::optional<SizeExpression> own = of(op);
      sum = own && sum ? SizeExpression::sumOf(*sum, *own) : std::nullopt;
    }
    return sum;
  }

  bool hasLoop = false;
  /// The first operation whose work is not known.
  Operation *unknown = nullptr;

private:
  std::optional<SizeExpression> of(Operation &op);
  std::optional<SizeExpression> inRegions(Operation &op);

  const cpu::SizeTable &table;
};

} // namespace

/// The value for large sizes, by which branches are compared.
static int64_t atLargeSizes(const SizeExpression &work, size_t parameters) {
  constexpr int64_t large = 128;
  return work.at(std::vector<int64_t>(parameters, large))
      .value_or(std::numeric_limits<int64_t>::max());
}

/// Of control flow: the branch with more work, or a loop's condition and body.
std::optional<SizeExpression> MultiplyAddCount::inRegions(Operation &op) {
  std::optional<SizeExpression> all = SizeExpression(0);
  const bool isLoop = isa<stablehlo::WhileOp>(op);
  for (Region &region : op.getRegions()) {
    if (region.empty())
      continue;
    const std::optional<SizeExpression> own = of(region.front());
    if (!own || !all)
      all = std::nullopt;
    else if (isLoop)
      all = SizeExpression::sumOf(*all, *own);
    else if (atLargeSizes(*own, table.parameters.size()) >
             atLargeSizes(*all, table.parameters.size()))
      all = own;
  }
  hasLoop |= isLoop && !(all && all->number() == 0);
  return all;
}

std::optional<SizeExpression> MultiplyAddCount::of(Operation &op) {
  if (isa<stablehlo::IfOp, stablehlo::CaseOp, stablehlo::WhileOp>(op))
    return inRegions(op);
  std::optional<SizeExpression> sum = SizeExpression(0);
  for (const DimProduct &factors : multiplyAdds(op)) {
    std::optional<SizeExpression> product = SizeExpression(1);
    for (Dim factor : factors)
      product =
          product && !factor.isUnknown()
              ? SizeExpression::productOf(*product, table.expressionOf(factor))
              : std::nullopt;
    sum = sum && product ? SizeExpression::sumOf(*sum, *product) : std::nullopt;
  }
  if (!isa<nn::DeferredOp>(op))
    return sum;
  unknown = unknown ? unknown : &op;
  return std::nullopt;
}

/// "of '/conv1' (convolution)".
static std::string ofOperation(Operation *op) {
  const std::string name = originOf(op->getLoc());
  return "of " + (name.empty() ? "" : "'" + name + "' ") + "(" +
         op->getName().stripDialect().str() + ")";
}

static ModelFlops flopsOf(func::FuncOp entry, const cpu::SizeTable &table) {
  MultiplyAddCount count(table);
  const std::optional<SizeExpression> once = count.of(entry.front());
  const auto flops =
      once ? SizeExpression::productOf(*once, SizeExpression(2)) : std::nullopt;
  ModelFlops all;
  if (flops && flops->number())
    all.number = flops->number();
  else if (flops)
    all.formula = flops->text(table.parameters);
  else if (count.unknown)
    all.note =
        "the size " + ofOperation(count.unknown) + " follows from no input's";
  else
    all.note = "there are too many terms";
  if (flops && count.hasLoop)
    all.note = "the body of a loop counts once";
  return all;
}

/// The outputs of \p model, whose dynamic sizes have the names that the results
/// of \p named have.
static Result<std::vector<ModelOutput>> outputsOf(const Model &model,
                                                  const NamedSizes *named) {
  Result<ModelDescription> description = describeModel(model);
  Result<Storage> storage = Storage::of(model);
  if (!description || !storage)
    return description ? storage.takeError() : description.takeError();
  std::vector<ModelOutput> outputs = std::move(description->outputs);
  if (!named)
    return outputs;
  const OperandRange results =
      named->model.entry().front().getTerminator()->getOperands();
  for (auto [output, number] : llvm::zip_equal(outputs, storage->outputs())) {
    const auto type = dyn_cast<RankedTensorType>(results[number].getType());
    if (!type || dimsOf(type).size() != output.shape.size())
      continue;
    output.symbols.resize(output.shape.size());
    for (auto [symbol, size, known] :
         llvm::zip_equal(output.symbols, dimsOf(type), output.shape))
      if (known < 0 && named->isOfInputs(size))
        symbol = named->nameOf(size);
  }
  return outputs;
}

Result<SizedFacts> MlirCompilerModel::sizedFacts(const NamedShapes &shapes) {
  Result<std::vector<Shape>> known = knownShapes(description(), shapes, {});
  if (!known)
    return known.takeError();
  CompileRequest request;
  request.values.resize(description().inputs.size());
  const bool isDynamic = llvm::any_of(
      *known, [](const Shape &shape) { return llvm::is_contained(shape, -1); });
  (isDynamic ? request.dynamic : request.shapes) = std::move(*known);
  Result<Model> model = modelFor(request);
  if (!model)
    return model.takeError();
  std::optional<NamedSizes> named;
  std::string whyNot;
  if (cpu::hasUnknownSizes(model->entry())) {
    if (Result<NamedSizes> found = NamedSizes::of(model->clone()))
      named = std::move(*found);
    else
      whyNot = found.error().message();
  }
  SizedFacts facts;
  // Without names, the sizes that matter may be static all the same.
  facts.flops = named ? flopsOf(named->model.entry(), named->table)
                      : flopsOf(model->entry(), cpu::SizeTable());
  if (!whyNot.empty() && !facts.flops.number)
    facts.flops.note = whyNot;
  auto outputs = outputsOf(*model, named ? &*named : nullptr);
  if (!outputs)
    return outputs.takeError();
  facts.outputs = std::move(*outputs);
  addSymbols(description().outputs, facts.outputs);
  return facts;
}

} // namespace sinter
