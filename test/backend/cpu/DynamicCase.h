//===- DynamicCase.h - a function that one program runs at all sizes ------===//
//
// Against the oracle, over drawn sizes: the same bits on one and two threads,
// for each sample whatever else is in the batch, and (where the case says so)
// in a program of these sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_BACKEND_CPU_DYNAMICCASE_H
#define SINTER_TEST_BACKEND_CPU_DYNAMICCASE_H

#include "TemporaryFolder.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "interpreter/Interpreter.h"
#include "passes/Pipelines.h"
#include "passes/Specialize.h"
#include "runtime/DynamicProgram.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/ProgramFile.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace sinter::test {

/// -1 is N, -2 is S.
inline constexpr int64_t batch = -1, length = -2;

struct DynamicCase {
  std::string name;
  /// The function, with its arguments' shapes as in `inputs`.
  std::string body;
  std::vector<std::vector<int64_t>> inputs;
  /// Sizes of S; {1} where there is none.
  std::vector<int64_t> lengths;
  /// Whether a program of the sizes gives the same bits.
  bool isAsClosed = true;
  double relative = 3e-5, absolute = 1e-5;
  /// The least S for which it does.
  int64_t closedFrom = 0;
};

inline std::string argument(const std::string &name,
                            const std::vector<int64_t> &shape,
                            const std::string &element = "f32") {
  std::string type, symbols;
  for (int64_t size : shape) {
    type += (size < 0 ? "?" : std::to_string(size)) + "x";
    symbols +=
        std::string(symbols.empty() ? "" : ", ") + (size == batch    ? "\"N\""
                                                    : size == length ? "\"S\""
                                                                     : "\"\"");
  }
  return name + ": tensor<" + type + element + "> {sinter.dims = [" + symbols +
         "]}";
}

inline std::vector<Tensor> inputsOf(const DynamicCase &test, int64_t n,
                                    int64_t s) {
  std::vector<Tensor> inputs;
  uint64_t seed = 1;
  for (const auto &sizes : test.inputs) {
    Shape shape;
    for (int64_t size : sizes)
      shape.push_back(size == batch ? n : size == length ? s : size);
    inputs.emplace_back(ElementType::F32, shape);
    fillRandom(inputs.back(), seed++);
  }
  return inputs;
}

/// Sample \p number of \p tensor, whose first dimension is the batch.
inline Tensor sampleOf(const Tensor &tensor, int64_t number) {
  Shape shape = tensor.shape();
  const int64_t count = shape[0];
  shape[0] = 1;
  Tensor sample(tensor.type(), shape);
  const size_t bytes = tensor.bytes() / count;
  if (bytes != 0)
    std::memcpy(sample.mutableBytes(), tensor.data() + number * bytes, bytes);
  return sample;
}

inline bool isSame(const Tensor &a, const Tensor &b) {
  return a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

inline void expectClose(const Tensor &got, const Tensor &expected,
                        double relative = 3e-5, double absolute = 1e-5) {
  ASSERT_EQ(got.shape(), expected.shape());
  if (got.type() != ElementType::F32) {
    ASSERT_TRUE(isSame(got, expected));
    return;
  }
  for (int64_t i = 0; i < got.size(); ++i) {
    const double a = got.at<float>(i), b = expected.at<float>(i);
    ASSERT_LE(std::abs(a - b), absolute + relative * std::abs(b))
        << "element " << i;
  }
}

/// What a program of the sizes of \p inputs gives.
inline Result<std::vector<Tensor>> runClosed(const std::string &body,
                                             std::span<const Tensor> inputs,
                                             const cpu::CpuOptions &options) {
  Model model = parseModel(body);
  std::map<std::string, Shape> shapes;
  for (auto [described, input] : llvm::zip_equal(model.inputs(), inputs))
    shapes[described.name] = input.shape();
  if (auto done = specialize(model, shapes); !done)
    return done.takeError();
  if (auto done = simplify(model); !done)
    return done.takeError();
  if (auto done = raiseForKernels(model); !done)
    return done.takeError();
  auto program = cpu::compileForCpu(model, options);
  if (!program)
    return program.takeError();
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(1));
  if (!executor)
    return executor.takeError();
  return (*executor)->run(inputs);
}

inline void checkProgram(const DynamicCase &test,
                         const cpu::CpuOptions &options) {
  Model model = parseModel(test.body);
  ASSERT_TRUE(model.entry());
  auto program = compileRaised(test.body, options);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto shared = std::make_shared<const Program>(std::move(*program));
  // The second one is what a file keeps of the first.
  TemporaryFolder folder;
  ASSERT_TRUE(saveProgram(*shared, folder.file("open.sinter")));
  auto kept = loadProgram(folder.file("open.sinter"));
  ASSERT_TRUE(kept) << kept.error().message();
  std::vector<std::unique_ptr<ProgramExecutor>> executors;
  executors.push_back(std::move(
      *ProgramExecutor::create(shared, std::make_shared<ThreadPool>(1))));
  executors.push_back(std::move(
      *ProgramExecutor::create(*kept, std::make_shared<ThreadPool>(2))));
  // Sizes go up and down, so that memory is used again.
  for (int64_t n : {2, 1, 3, 0, 17})
    for (int64_t s : test.lengths) {
      SCOPED_TRACE("N = " + std::to_string(n) + ", S = " + std::to_string(s));
      std::vector<Tensor> inputs = inputsOf(test, n, s);
      auto expected = interpret(model.entry(), inputs);
      ASSERT_TRUE(expected) << expected.error().message();
      auto got = executors[0]->run(inputs);
      ASSERT_TRUE(got) << got.error().message();
      expectClose((*got)[0], (*expected)[0], test.relative, test.absolute);
      auto again = executors[1]->run(inputs);
      ASSERT_TRUE(again) << again.error().message();
      EXPECT_TRUE(isSame((*got)[0], (*again)[0])) << "two threads";
      if (test.isAsClosed && s >= test.closedFrom && (n == 1 || n == 17)) {
        auto closed = runClosed(test.body, inputs, options);
        ASSERT_TRUE(closed) << closed.error().message();
        EXPECT_TRUE(isSame((*got)[0], (*closed)[0]))
            << "a program of the sizes";
      }
      for (int64_t i = 0; i < n; i += 2) {
        std::vector<Tensor> alone;
        for (const Tensor &input : inputs)
          alone.push_back(sampleOf(input, i));
        auto one = executors[1]->run(alone);
        ASSERT_TRUE(one) << one.error().message();
        EXPECT_TRUE(isSame((*one)[0], sampleOf((*got)[0], i)))
            << "sample " << i << " alone";
      }
    }
}

/// Kernels of products that \p body's program has.
inline std::string productsOf(const std::string &body,
                              const cpu::CpuOptions &options) {
  Result<Program> program = compileRaised(body, options);
  if (!program)
    return program.error().message();
  std::string names;
  for (const Step &step : program->steps)
    if (step.kernelName != "loops")
      names += (names.empty() ? "" : " ") + step.kernelName;
  return names;
}

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_DYNAMICCASE_H
