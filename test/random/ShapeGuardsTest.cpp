//===- ShapeGuardsTest.cpp - sizes that do not fit are refused ------------===//
//
// Every operation by itself in a program of dynamic dimensions, at sizes that
// fit, and with each dimension of each operand at 0, at 1 and one larger: the
// results are those of the operation of these static sizes, or a guard says
// that they do not fit. Never another result, and with SINTER_GUARD_BUFFERS=1
// no access beyond a tensor.
//
// The forms of every fourth operation, or of every SINTER_FORMS_EVERY-th.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/shapes ComputedSizes DynamicOperations EnteredRegions
// Covers: backend/cpu/shapes OperationGuards ResultSizes ShapeGuards
// Covers: backend/cpu/shapes ShapeValues SizeFacts SizeTable

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "interpreter/Interpreter.h"
#include "passes/Pipelines.h"
#include "passes/Specialize.h"
#include "random/Judging.h"
#include "random/OperationForms.h"
#include "runtime/Random.h"

using namespace mlir;
using namespace sinter::test;

namespace sinter {
namespace {

/// The program of \p unknown as a session makes it.
Result<std::unique_ptr<ProgramExecutor>> executorOf(Model unknown) {
  SpecializeOptions open;
  open.leavesDynamic = true;
  if (Result<void> done = specialize(unknown, open); !done)
    return done.takeError();
  if (Result<void> done = cpu::collectGuards(unknown.entry()); !done)
    return done.takeError();
  if (auto done = simplify(unknown); !done)
    return done.takeError();
  if (Result<void> done = cpu::dropRepetitions(unknown.entry()); !done)
    return done.takeError();
  if (auto done = raiseForKernels(unknown); !done)
    return done.takeError();
  Result<Program> program = cpu::compileForCpu(unknown, optionsFor({}));
  if (!program)
    return program.takeError();
  return ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                                 std::make_shared<ThreadPool>(1));
}

/// What the operation gives at these sizes; an error where they do not fit.
Result<std::vector<Tensor>> expectedOf(const Model &unknown,
                                       const std::vector<Tensor> &inputs) {
  Model fixed = unknown.clone();
  std::map<std::string, Shape> shapes;
  for (auto [spec, input] : llvm::zip_equal(fixed.inputs(), inputs))
    shapes[spec.name] = input.shape();
  if (Result<void> done = specialize(fixed, shapes); !done)
    return done.takeError();
  if (failed(mlir::verify(fixed.module())))
    return invalidModel("sizes do not fit");
  return interpret(fixed.entry(), inputs);
}

std::vector<Tensor> inputsOf(const Model &model,
                             const std::vector<Shape> &shapes) {
  std::vector<Tensor> inputs;
  for (auto [spec, shape] : llvm::zip_equal(model.inputs(), shapes)) {
    inputs.emplace_back(spec.type, shape);
    fillRandom(inputs.back(), inputs.size(), {-2, 2, 5});
  }
  return inputs;
}

/// The shapes of \p known, and those with one dynamic dimension of \p unknown
/// changed.
std::vector<std::vector<Shape>> variationsOf(const Model &known,
                                             const Model &unknown) {
  std::vector<Shape> fit;
  for (const TensorSpec &spec : known.inputs())
    fit.push_back(spec.shape);
  std::vector<std::vector<Shape>> all = {fit};
  for (auto [i, spec] : llvm::enumerate(unknown.inputs()))
    for (auto [dimension, size] : llvm::enumerate(spec.shape)) {
      if (size >= 0)
        continue;
      const int64_t own = fit[i][dimension];
      for (int64_t other : {int64_t(0), int64_t(1), own + 1})
        if (other != own) {
          all.push_back(fit);
          all.back()[i][dimension] = other;
        }
    }
  return all;
}

struct Counts {
  int64_t forms = 0, compiled = 0, right = 0, refused = 0, narrow = 0;
};

void check(const Model &known, const Model &unknown, Counts &counts) {
  ++counts.forms;
  auto executor = executorOf(unknown.clone());
  const std::string text = test::textOf(unknown);
  if (!executor) {
    EXPECT_EQ(executor.error().kind, ErrorKind::Unsupported)
        << executor.error().message() << "\n"
        << text;
    return;
  }
  ++counts.compiled;
  for (const std::vector<Shape> &shapes : variationsOf(known, unknown)) {
    std::string sizes = "of";
    for (const Shape &shape : shapes)
      sizes += " " + testing::PrintToString(shape);
    SCOPED_TRACE(sizes + "\n" + text);
    const std::vector<Tensor> inputs = inputsOf(unknown, shapes);
    auto expected = expectedOf(unknown, inputs);
    auto got = (*executor)->run(inputs);
    if (got && expected) {
      ++counts.right;
      EXPECT_EQ(comparedWith(*got, *expected, "").message, "");
      continue;
    }
    // Nothing is computed of what does not fit.
    if (got &&
        llvm::all_of(*got, [](const Tensor &each) { return each.size() == 0; }))
      continue;
    if (got) {
      ADD_FAILURE() << "runs, though " << expected.error().message();
      continue;
    }
    EXPECT_EQ(got.error().kind, ErrorKind::InvalidModel)
        << got.error().message();
    ++(expected ? counts.narrow : counts.refused);
  }
}

/// Whether what \p op computes follows from its operands alone.
bool isDeterminate(Operation *op) {
  return !op->hasAttr("replica_groups") && !op->hasAttr("source_target_pairs");
}

} // namespace

TEST(ShapeGuards, MisfitsAreRefused) {
  const uint64_t every = fromEnvironment("SINTER_FORMS_EVERY", 4);
  uint64_t number = 0;
  Counts counts;
  forEachOperation([&](const Model &model, Operation *op) {
    if (++number % every != 0 || !isDeterminate(op))
      return;
    forEachDynamicForm(model, op,
                       [&](const Model &known, const Model &unknown) {
                         check(known, unknown, counts);
                       });
  });
  EXPECT_GT(counts.right, 0);
  EXPECT_GT(counts.refused, 0);
  std::cout << counts.forms << " forms, " << counts.compiled << " compiled; "
            << counts.right << " runs right, " << counts.refused << " refused, "
            << counts.narrow << " refused that another program computes\n";
}

} // namespace sinter
