//===- ObservedValues.cpp - follows values through the passes -------------===//

#include "engine/compiler/ObservedValues.h"

#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/TensorNames.h"
#include "engine/compiler/ValueFlow.h"
#include "graph/Constants.h"
#include "graph/Origin.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/DenseSet.h"

#include <map>

using namespace mlir;

namespace sinter {

ObservedValues::ObservedValues(const Model &model,
                               const std::vector<int64_t> &wanted)
    : wanted(wanted) {
  if (!wanted.empty())
    numbers.number(model.module());
}

void ObservedValues::insertProbes(const Model &model) const {
  if (wanted.empty())
    return;
  llvm::DenseSet<int64_t> chosen(wanted.begin(), wanted.end());
  std::vector<NumberedValue> values = ValueNumbers::valuesOf(model.module());
  std::erase_if(values, [&](const NumberedValue &value) {
    return !chosen.contains(value.number);
  });
  ValueNumbers::remove(model.module());
  observe(values);
}

/// Not constants or their broadcasts, which are no computation.
static bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op) &&
         !(op->getNumOperands() == 1 &&
           op->getOperand(0).getDefiningOp<stablehlo::ConstantOp>());
}

/// The facts of the numbered values of \p model.
static std::vector<ValueFacts> factsOf(const Model &model,
                                       const TensorNames &names) {
  std::vector<ValueFacts> all;
  std::map<std::string, size_t> uses;
  Block *body = &model.entry().front();
  const ValueFlow flow(model.entry());
  for (auto [value, number] : ValueNumbers::valuesOf(model.module())) {
    if (!canBeObserved(value) || !isComputed(value))
      continue;
    ValueFacts facts;
    facts.number = number;
    facts.name = names.nameOf(value);
    facts.origin = originOf(value.getLoc());
    facts.op = value.getDefiningOp()->getName().getStringRef().str();
    facts.type = typeText(value.getType());
    const auto type = cast<RankedTensorType>(value.getType());
    const std::optional<ElementType> element =
        elementTypeOf(type.getElementType());
    if (element && type.hasStaticShape())
      facts.bytes = byteCount(*element, Shape(type.getShape())).value_or(0);
    facts.isInside = value.getParentBlock() != body;
    facts.fromInputs = flow.fromInputs(value);
    facts.toOutputs = flow.toOutputs(value);
    facts.unfolded = ValueFlow::unfolded(value);
    ++uses[facts.name];
    all.push_back(std::move(facts));
  }
  for (ValueFacts &facts : all)
    facts.isNamed = !facts.name.empty() && uses[facts.name] == 1;
  return all;
}

/// For each numbered value that was quantised and dequantised: the number of
/// what it was before.
static llvm::DenseMap<int64_t, int64_t> roundedNumbers(const Model &model) {
  llvm::DenseMap<Value, int64_t> numbers;
  for (auto [value, number] : ValueNumbers::valuesOf(model.module()))
    numbers.try_emplace(value, number);
  llvm::DenseMap<int64_t, int64_t> rounded;
  for (const auto &[value, number] : numbers)
    if (const auto before = numbers.find(ValueFlow::rounded(value));
        before != numbers.end())
      rounded[number] = before->second;
  return rounded;
}

/// Where passes leave only the rounded value of a named one, that has its name.
static void
nameRounded(std::vector<ValueFacts> &values,
            const llvm::DenseMap<int64_t, int64_t> &roundedNumbers) {
  llvm::DenseMap<int64_t, ValueFacts *> gone;
  for (ValueFacts &value : values)
    if (!value.isLeft && value.isNamed)
      gone[value.number] = &value;
  for (ValueFacts &value : values)
    if (const auto before = roundedNumbers.find(value.number);
        value.isLeft && before != roundedNumbers.end())
      if (ValueFacts *named = gone.lookup(before->second)) {
        value.name = named->name;
        value.isNamed = std::exchange(named->isNamed, false);
      }
}

Result<RunFacts> MlirCompilerModel::runFacts(const CompileRequest &request,
                                             bool compiled) {
  Result<Model> model = modelFor(request);
  if (!model)
    return model.takeError();
  // Before numbering: nodes are identified by all attributes of their
  // operations.
  const TensorNames names(*model);
  ValueNumbers numbers;
  numbers.number(model->module());
  RunFacts facts;
  facts.values = factsOf(*model, names);
  if (!compiled && !request.interpretsRewritten)
    return facts;
  const llvm::DenseMap<int64_t, int64_t> rounded = roundedNumbers(*model);
  Result<Rewriting> done = rewriteForKernels(*model, request.passes, &numbers);
  if (!done)
    return done.takeError();
  llvm::DenseSet<int64_t> left;
  for (auto [value, number] : ValueNumbers::valuesOf(model->module()))
    if (canBeObserved(value))
      left.insert(number);
  for (ValueFacts &value : facts.values)
    value.isLeft = left.contains(value.number);
  nameRounded(facts.values, rounded);
  facts.passes = std::move(done->passSteps);
  facts.label = std::move(done->lastStep.label);
  facts.op = std::move(done->lastStep.op);
  facts.location = std::move(done->lastStep.location);
  return facts;
}

} // namespace sinter
