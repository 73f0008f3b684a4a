//===- UnknownSizesTest.cpp - nobody computes with what is not known ------===//
//
// Every operation by itself, with one dimension of one operand unknown, and
// with all of an operand's: an unknown dimension is a number that no size is,
// and what somebody makes of it is neither known nor unknown.
//
// Some of these forms run, too, and compute what the operation does: every
// eighth, or SINTER_FORMS_EVERY.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/CompareWithInterpreter.h"
#include "differential/Judging.h"
#include "differential/RandomProgram.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/axes/AxesSamples.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Pipelines.h"
#include "passes/RefineTypes.h"
#include "passes/Specialize.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>
#include <set>

using namespace mlir;

namespace sinter {
namespace {

/// Unknown dimensions of an operation's operands: of an operand, one or all.
struct Opened {
  unsigned operand = 0;
  std::optional<int64_t> dimension;
};

bool isAlone(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(op->getRegions(), above);
  return !op->hasTrait<OpTrait::IsTerminator>() && op->getNumOperands() > 0 &&
         above.empty() && llvm::all_of(op->getOperandTypes(), isTensor) &&
         llvm::all_of(op->getResultTypes(), isTensor);
}

bool isConstant(Value value) {
  return value.getDefiningOp<stablehlo::ConstantOp>() != nullptr;
}

/// A function of \p op alone, whose operands are arguments but for constants.
Model aloneOf(const Model &model, Operation *op) {
  Model alone = model.clone();
  alone.module().getBody()->clear();
  auto builder = OpBuilder::atBlockBegin(alone.module().getBody());
  SmallVector<Type> arguments;
  for (Value operand : op->getOperands())
    if (!isConstant(operand))
      arguments.push_back(operand.getType());
  auto function = builder.create<func::FuncOp>(
      op->getLoc(), "main",
      builder.getFunctionType(arguments, op->getResultTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  unsigned next = 0;
  for (Value operand : op->getOperands())
    if (isConstant(operand))
      builder.clone(*operand.getDefiningOp(), mapping);
    else if (!mapping.contains(operand))
      mapping.map(operand, function.getArgument(next++));
    else
      ++next;
  Operation *copy = builder.clone(*op, mapping);
  // The same value twice is two arguments.
  next = 0;
  for (OpOperand &operand : copy->getOpOperands())
    if (!isConstant(operand.get()))
      operand.set(function.getArgument(next++));
  builder.create<func::ReturnOp>(op->getLoc(), copy->getResults());
  return alone;
}

Operation *onlyIn(const Model &model) {
  return model.entry().front().getTerminator()->getPrevNode();
}

/// Gives the operation's results the types that follow from its operands', or
/// nothing but their ranks; whether it is one then.
bool inferAgain(Operation *op) {
  SmallVector<Type> types;
  auto inferring = dyn_cast<InferTypeOpInterface>(op);
  if (inferring) {
    if (failed(inferring.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
            op->getRegions(), types)) ||
        types.size() != op->getNumResults())
      return false;
  } else {
    for (Type type : op->getResultTypes())
      types.push_back(cast<RankedTensorType>(type).clone(SmallVector<int64_t>(
          cast<RankedTensorType>(type).getRank(), ShapedType::kDynamic)));
  }
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    // Scales are chosen, not inferred.
    Type element = getElementTypeOrSelf(result.getType());
    result.setType(cast<RankedTensorType>(type).clone(element));
  }
  return succeeded(verify(op));
}

/// Whether the operation is one with these dimensions unknown.
bool open(const Model &model, Opened opened) {
  Operation *op = onlyIn(model);
  Value operand = op->getOperand(opened.operand);
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!opened.dimension || opened.dimension == i)
      shape[i] = ShapedType::kDynamic;
  operand.setType(type.clone(shape));
  if (!inferAgain(op))
    return false;
  func::FuncOp function = model.entry();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      op->getResultTypes()));
  return true;
}

/// The first type with a size that is none, or "".
std::string wrongType(const Model &model) {
  std::string wrong;
  auto look = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && wrong.empty() &&
        llvm::any_of(tensor.getShape(), [](int64_t size) {
          return size < 0 && !ShapedType::isDynamic(size);
        }))
      llvm::raw_string_ostream(wrong) << tensor;
  };
  model.module().walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), look);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), look);
  });
  return wrong;
}

/// What is wrong with what becomes of \p model, an operation of unknown sizes,
/// or "".
std::string wrongOf(Model &model) {
  if (std::string wrong = wrongType(model); !wrong.empty())
    return "inferred " + wrong;
  if (failed(refineTypes(model.module())))
    return "";
  if (std::string wrong = wrongType(model); !wrong.empty())
    return "refined to " + wrong;
  Model decomposed = model.clone();
  Operation *op = onlyIn(decomposed);
  if (auto known = dyn_cast<DecomposableOpInterface>(op)) {
    OpBuilder builder(op);
    if (succeeded(known.decompose(builder)))
      if (std::string wrong = wrongType(decomposed); !wrong.empty())
        return "decomposed to " + wrong;
  }
  SpecializeOptions known;
  known.leavesOpen = true;
  if (!specialize(model, known) || !simplify(model))
    return "";
  if (std::string wrong = wrongType(model); !wrong.empty())
    return "simplified to " + wrong;
  if (!raiseForKernels(model))
    return "";
  if (std::string wrong = wrongType(model); !wrong.empty())
    return "raised to " + wrong;
  Result<Program> plan = cpu::planForCpu(model);
  // As what is made of an unknown size reads, or what is made with it.
  for (const char *sign : {"-92233", "not sound"})
    if (!plan && plan.error().message.find(sign) != std::string::npos)
      return plan.error().message;
  return "";
}

/// Calls \p check with each operation by itself, as it is and with unknown
/// dimensions.
using Check = llvm::function_ref<void(const Model &known, Model &unknown)>;

void forEachForm(const Model &model, Operation *op, Check check) {
  if (!isAlone(op))
    return;
  const Model known = aloneOf(model, op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (isConstant(operand.get()))
      continue;
    const int64_t rank = tensorOf(operand.get()).getRank();
    for (int64_t dimension = rank == 1 ? 0 : -1; dimension < rank;
         ++dimension) {
      Model unknown = known.clone();
      Opened opened{operand.getOperandNumber(), {}};
      if (dimension >= 0)
        opened.dimension = dimension;
      if (open(unknown, opened))
        check(known, unknown);
    }
  }
}

void forEachForm(const Model &model, Check check) {
  FirstError quiet(model.context());
  for (Operation &op : model.entry().front().without_terminator())
    forEachForm(model, &op, check);
}

/// Of operations that random programs draw, and of samples of the others.
void forEachForm(Check check) {
  for (const std::string &name : drawableOperations()) {
    RandomProgramOptions options;
    options.only = {name};
    options.operations = 2;
    for (uint64_t seed = 1; seed <= 6; ++seed)
      forEachForm(randomProgram(seed, options), check);
  }
  auto context = makeContext();
  for (const std::string &text : axesSamples(1)) {
    Model model(context, parseSourceString<ModuleOp>(text, context.get()));
    ASSERT_TRUE(model.module()) << text;
    forEachForm(model, check);
  }
}

/// Whether what \p op computes follows from its operands alone, to the digits
/// that are compared.
bool isComparable(Operation *op) {
  return !op->hasAttr("replica_groups") && !op->hasAttr("source_target_pairs");
}

} // namespace

TEST(UnknownSizes, NobodyComputesWithThem) {
  SKIP_IF_SIZES_MAY_WRAP();
  std::set<std::string> operations;
  int64_t forms = 0;
  forEachForm([&](const Model &, Model &unknown) {
    operations.insert(onlyIn(unknown)->getName().getStringRef().str());
    ++forms;
    const std::string text = test::textOf(unknown);
    EXPECT_EQ(wrongOf(unknown), "") << text;
  });
  EXPECT_GT(operations.size(), 150u);
  EXPECT_GT(forms, 1000);
  std::cout << operations.size() << " operations, " << forms << " forms\n";
}

TEST(UnknownSizes, ComputeTheSame) {
  SKIP_IF_SIZES_MAY_WRAP();
  const uint64_t every = test::fromEnvironment("SINTER_FORMS_EVERY", 8);
  uint64_t number = 0, run = 0;
  forEachForm([&](const Model &known, Model &unknown) {
    if (++number % every != 0 || !isComparable(onlyIn(unknown)))
      return;
    std::vector<Tensor> inputs;
    for (const TensorSpec &spec : known.inputs()) {
      inputs.emplace_back(spec.type, spec.shape);
      fillRandom(inputs.back(), number + inputs.size(), {-2, 2, 5});
    }
    auto expected = interpret(known.entry(), inputs);
    SpecializeOptions open;
    open.leavesOpen = true;
    const std::string text = test::textOf(unknown);
    if (!expected || !specialize(unknown, open))
      return;
    if (number % 16 == 0 && (!simplify(unknown) || !raiseForKernels(unknown)))
      return;
    auto got = test::compiledResults(unknown, inputs);
    // The program is for larger sizes than these.
    if (!got && got.error().message.find("is negative") != std::string::npos)
      return;
    if (!got) {
      EXPECT_EQ(got.error().kind, ErrorKind::Unsupported)
          << got.error().message << "\n"
          << text;
      return;
    }
    ++run;
    EXPECT_EQ(test::comparedWith(*got, *expected, "").message, "") << text;
  });
  EXPECT_GT(run, number / every / 4);
  std::cout << run << " forms ran\n";
}

} // namespace sinter
