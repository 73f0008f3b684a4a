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
#include "graph/Types.h"
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
#include "random/Judging.h"
#include "random/OperationForms.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace sinter::test;

namespace sinter {
namespace {

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
  known.leavesDynamic = true;
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
    if (!plan && plan.error().message().find(sign) != std::string::npos)
      return plan.error().message();
  return "";
}

/// Whether what \p op computes follows from its operands alone, to the digits
/// that are compared.
bool isComparable(Operation *op) {
  return !op->hasAttr("replica_groups") && !op->hasAttr("source_target_pairs");
}

} // namespace

TEST(UnknownSizes, NobodyComputesWithThem) {
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
    open.leavesDynamic = true;
    const std::string text = test::textOf(unknown);
    if (!expected || !specialize(unknown, open))
      return;
    if (number % 16 == 0 && (!simplify(unknown) || !raiseForKernels(unknown)))
      return;
    auto got = test::compiledResults(unknown, inputs);
    // The program is for other sizes than these.
    if (!got && got.error().kind == ErrorKind::InvalidModel)
      return;
    if (!got) {
      EXPECT_EQ(got.error().kind, ErrorKind::Unsupported)
          << got.error().message() << "\n"
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
