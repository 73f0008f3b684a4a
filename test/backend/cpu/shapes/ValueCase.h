//===- ValueCase.h - programs whose sizes follow from values --------------===//

#ifndef SINTER_TEST_BACKEND_CPU_SHAPES_VALUECASE_H
#define SINTER_TEST_BACKEND_CPU_SHAPES_VALUECASE_H

#include "TemporaryFolder.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "interpreter/Interpreter.h"
#include "runtime/DynamicProgram.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/ProgramFile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace sinter::test {

/// An input, and between what its elements are drawn.
struct DrawnInput {
  ElementType type;
  Shape shape;
  int64_t least = -4, most = 4;
};

struct ValueCase {
  std::string name;
  /// The function.
  std::string body;
  std::vector<DrawnInput> inputs;
  /// How many sizes it computes at least.
  size_t computed = 1;
  /// How many programs are nested in it, and in these.
  size_t nested = 0;
};

/// How many programs are nested in \p program.
inline size_t nestedIn(const Program &program) {
  size_t count = program.nested.size();
  for (const auto &each : program.nested)
    count += nestedIn(*each);
  return count;
}

/// Elements are zero with probability \p zeros.
inline Tensor draw(const DrawnInput &input, double zeros,
                   std::mt19937 &random) {
  Tensor tensor(input.type, input.shape);
  std::uniform_int_distribution<int64_t> number(input.least, input.most);
  std::bernoulli_distribution isZero(zeros);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t value = number(random);
    if (input.least <= 0 && isZero(random))
      value = 0;
    else if (value == 0 && zeros == 0)
      value = input.most;
    switch (input.type) {
    case ElementType::F32:
      tensor.mutableValues<float>()[i] = static_cast<float>(value);
      break;
    case ElementType::I64:
      tensor.mutableValues<int64_t>()[i] = value;
      break;
    case ElementType::I32:
      tensor.mutableValues<int32_t>()[i] = static_cast<int32_t>(value);
      break;
    default:
      tensor.mutableBytes()[i] = std::byte(value != 0);
    }
  }
  return tensor;
}

inline void expectAlmost(const Tensor &got, const Tensor &expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  ASSERT_EQ(got.type(), expected.type());
  if (got.type() != ElementType::F32) {
    EXPECT_TRUE(got.bytes() == 0 ||
                std::memcmp(got.data(), expected.data(), got.bytes()) == 0);
    return;
  }
  for (int64_t i = 0; i < got.size(); ++i) {
    const double a = got.at<float>(i), b = expected.at<float>(i);
    ASSERT_LE(std::abs(a - b), 1e-5 + 3e-5 * std::abs(b)) << "element " << i;
  }
}

/// Compiles \p test once, and runs it with values that give other sizes each
/// time, none and all among them: as the oracle, and the same bits on one and
/// two threads.
inline void checkValueCase(const ValueCase &test) {
  Model model = parseModel(test.body);
  ASSERT_TRUE(model.entry());
  auto program = compileRaised(test.body);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  EXPECT_GE(program->dynamic->parameters.size(), test.computed);
  EXPECT_EQ(nestedIn(*program), test.nested);
  auto shared = std::make_shared<const Program>(std::move(*program));
  // The second one is what a file keeps of the first.
  TemporaryFolder folder;
  ASSERT_TRUE(saveProgram(*shared, folder.file("values.sinter")));
  auto kept = loadProgram(folder.file("values.sinter"));
  ASSERT_TRUE(kept) << kept.error().message();
  auto one = ProgramExecutor::create(shared, std::make_shared<ThreadPool>(1));
  auto two = ProgramExecutor::create(*kept, std::make_shared<ThreadPool>(2));
  ASSERT_TRUE(one && two);
  std::mt19937 random(7);
  for (double zeros : {0.5, 1.0, 0.0, 0.9, 0.1, 0.5, 0.5, 0.3, 0.7, 0.8, 0.2,
                       0.6, 0.4, 0.95, 0.05, 0.5}) {
    SCOPED_TRACE(zeros);
    std::vector<Tensor> inputs;
    for (const DrawnInput &input : test.inputs)
      inputs.push_back(draw(input, zeros, random));
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = (*one)->run(inputs);
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_EQ(got->size(), expected->size());
    for (size_t i = 0; i < got->size(); ++i)
      expectAlmost((*got)[i], (*expected)[i]);
    auto again = (*two)->run(inputs);
    ASSERT_TRUE(again) << again.error().message();
    for (size_t i = 0; i < got->size(); ++i) {
      EXPECT_EQ((*got)[i].shape(), (*again)[i].shape());
      EXPECT_TRUE((*got)[i].bytes() == 0 ||
                  std::memcmp((*got)[i].data(), (*again)[i].data(),
                              (*got)[i].bytes()) == 0)
          << "two threads";
    }
  }
}

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_SHAPES_VALUECASE_H
