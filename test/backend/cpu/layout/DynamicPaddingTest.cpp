//===- DynamicPaddingTest.cpp - samples beside padding --------------------===//
//
// What a sample gives has the same bits whatever is padded behind it, in a
// batch of samples of other lengths, if what is masked counts as exact zeros.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/WithoutMatrixUnits.h"

#include <random>

using namespace sinter;
using namespace sinter::test;

namespace {

/// A function of x, [N, S, 16], and m, [N, S]: 1 for what counts, 0 for what
/// does not.
struct PaddedCase {
  const char *name;
  const char *body;
  /// Whether the result has a row for each element of a sample.
  bool hasRows;
  /// Whether it has the same bits: of a row that a loop sums up, the last
  /// elements are added in an order that follows from its length.
  bool isSame = true;
};

void PrintTo(const PaddedCase &test, std::ostream *os) { *os << test.name; }

// What is masked is so far below all else that its exponential is 0.
#define ADDED_MASK                                                             \
  R"(
    %size = nn.shape %m : (tensor<?x?xf32>) -> tensor<2xi64>
    %unit = stablehlo.constant dense<1.0> : tensor<f32>
    %far = stablehlo.constant dense<1.0e9> : tensor<f32>
    %ones = stablehlo.dynamic_broadcast_in_dim %unit, %size, dims = [] :
        (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    %fars = stablehlo.dynamic_broadcast_in_dim %far, %size, dims = [] :
        (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    %less = stablehlo.subtract %m, %ones : tensor<?x?xf32>
    %below = stablehlo.multiply %less, %fars : tensor<?x?xf32>
    %n = stablehlo.slice %size [0:1] : (tensor<2xi64>) -> tensor<1xi64>
    %s = stablehlo.slice %size [1:2] : (tensor<2xi64>) -> tensor<1xi64>
    %one = stablehlo.constant dense<1> : tensor<1xi64>
  )"
#define ZEROED                                                                 \
  R"(
    %all = nn.shape %x : (tensor<?x?x16xf32>) -> tensor<3xi64>
    %wide = stablehlo.dynamic_broadcast_in_dim %m, %all, dims = [0, 1] :
        (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x16xf32>
    %z = stablehlo.multiply %x, %wide : tensor<?x?x16xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
  )"

const PaddedCase paddedCases[] = {
    {"attention", ADDED_MASK R"(
    %ms = stablehlo.concatenate %n, %one, %one, %s, dim = 0 :
        (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
        -> tensor<4xi64>
    %mask = stablehlo.dynamic_reshape %below, %ms :
        (tensor<?x?xf32>, tensor<4xi64>) -> tensor<?x1x1x?xf32>
    %two = stablehlo.constant dense<2> : tensor<1xi64>
    %eight = stablehlo.constant dense<8> : tensor<1xi64>
    %hs = stablehlo.concatenate %n, %s, %two, %eight, dim = 0 :
        (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
        -> tensor<4xi64>
    %h = stablehlo.dynamic_reshape %x, %hs :
        (tensor<?x?x16xf32>, tensor<4xi64>) -> tensor<?x?x2x8xf32>
    %q = stablehlo.transpose %h, dims = [0, 2, 1, 3] :
        (tensor<?x?x2x8xf32>) -> tensor<?x2x?x8xf32>
    %o = nn.attention %q, %q, %q, %mask scale = 0.7 :
        (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>,
         tensor<?x1x1x?xf32>) -> tensor<?x2x?x8xf32>
    %r = stablehlo.transpose %o, dims = [0, 2, 1, 3] :
        (tensor<?x2x?x8xf32>) -> tensor<?x?x2x8xf32>
    return %r : tensor<?x?x2x8xf32>
  })",
     true},
    {"scores, spelt out", ADDED_MASK R"(
    %t = stablehlo.dot_general %x, %x, batching_dims = [0] x [0],
        contracting_dims = [2] x [2] :
        (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x?xf32>
    %ts = nn.shape %t : (tensor<?x?x?xf32>) -> tensor<3xi64>
    %mask = stablehlo.dynamic_broadcast_in_dim %below, %ts, dims = [0, 2] :
        (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    %u = stablehlo.add %t, %mask : tensor<?x?x?xf32>
    %e = nn.softmax %u, axes = [2] : tensor<?x?x?xf32>
    %g = stablehlo.sine %e : tensor<?x?x?xf32>
    %r = stablehlo.dot_general %g, %x, batching_dims = [0] x [0],
        contracting_dims = [2] x [1] :
        (tensor<?x?x?xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    return %r : tensor<?x?x16xf32>
  })",
     true, false},
    {"rows by themselves", ZEROED R"(
    %i = stablehlo.iota dim = 0 : tensor<16x24xf32>
    %w = stablehlo.sine %i : tensor<16x24xf32>
    %y = stablehlo.dot_general %z, %w, contracting_dims = [2] x [0] :
        (tensor<?x?x16xf32>, tensor<16x24xf32>) -> tensor<?x?x24xf32>
    %r = nn.softmax %y, axes = [2] : tensor<?x?x24xf32>
    return %r : tensor<?x?x24xf32>
  })",
     true},
    {"neighbours", ZEROED R"(
    %i = stablehlo.iota dim = 2 : tensor<3x16x20xf32>
    %w = stablehlo.sine %i : tensor<3x16x20xf32>
    %r = stablehlo.convolution(%z, %w) dim_numbers =
        [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
        (tensor<?x?x16xf32>, tensor<3x16x20xf32>) -> tensor<?x?x20xf32>
    return %r : tensor<?x?x20xf32>
  })",
     true},
    {"sums of elements", ZEROED R"(
    %r = stablehlo.reduce(%z init: %zero) applies stablehlo.add across
        dimensions = [1] : (tensor<?x?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
    return %r : tensor<?x16xf32>
  })",
     false},
    {"products summed up", ZEROED R"(
    %r = stablehlo.dot_general %z, %z, batching_dims = [0] x [0],
        contracting_dims = [1] x [1] :
        (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x16x16xf32>
    return %r : tensor<?x16x16xf32>
  })",
     false},
};

/// The result's type, as the last line of \p body says it.
std::string resultTypeOf(const std::string &body) {
  const size_t at = body.rfind(" : ") + 3;
  return body.substr(at, body.find('\n', at) - at);
}

/// The first \p rows rows of sample \p number.
std::vector<float> rowsOf(const Tensor &tensor, int64_t number, int64_t rows,
                          bool hasRows) {
  int64_t each = 1;
  for (size_t i = hasRows ? 2 : 1; i < tensor.shape().size(); ++i)
    each *= tensor.shape()[i];
  const int64_t all = hasRows ? tensor.shape()[1] * each : each,
                count = hasRows ? rows * each : each;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(tensor.at<float>(number * all + i));
  return values;
}

class DynamicPadding : public ::testing::TestWithParam<PaddedCase> {};

} // namespace

TEST_P(DynamicPadding, LeavesSamplesAsTheyAre) {
  const std::string text = GetParam().body;
  const std::string body = "(" + argument("%x", {batch, length, 16}) + ", " +
                           argument("%m", {batch, length}) + ") -> " +
                           resultTypeOf(text) + " {\n" + text;
  Model model = parseModel(body);
  ASSERT_TRUE(model.entry());
  auto program = compileRaised(body, optionsWithoutMatrixUnits());
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto shared = std::make_shared<const Program>(std::move(*program));
  std::vector<std::unique_ptr<ProgramExecutor>> executors;
  for (int threads : {1, 2})
    executors.push_back(std::move(*ProgramExecutor::create(
        shared, std::make_shared<ThreadPool>(threads))));
  std::mt19937 random(7);
  auto pick = [&](std::initializer_list<int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int round = 0; round < 24; ++round) {
    // Samples of their lengths, one of them as long as the batch but for what
    // is padded behind all.
    std::vector<int64_t> lengths(pick({1, 2, 3, 5}));
    for (int64_t &each : lengths)
      each = pick({1, 2, 5, 8, 16, 33, 64, 100, 257});
    const int64_t padded = *std::max_element(lengths.begin(), lengths.end()) +
                           pick({0, 0, 1, 7, 64, 300});
    const auto samples = static_cast<int64_t>(lengths.size());
    Tensor inputs[] = {Tensor(ElementType::F32, {samples, padded, 16}),
                       Tensor(ElementType::F32, {samples, padded})};
    fillRandom(inputs[0], round + 1);
    for (int64_t i = 0; i < samples; ++i)
      for (int64_t j = 0; j < padded; ++j)
        inputs[1].set<float>(i * padded + j, j < lengths[i] ? 1 : 0);
    ProgramExecutor &executor = *executors[round % 2];
    auto together = executor.run(inputs);
    ASSERT_TRUE(together) << together.error().message();
    if (round % 8 == 0) {
      auto expected = interpret(model.entry(), inputs);
      ASSERT_TRUE(expected) << expected.error().message();
      expectClose((*together)[0], (*expected)[0], 1e-4, 1e-4);
    }
    for (int64_t i = 0; i < samples; ++i) {
      SCOPED_TRACE("length " + std::to_string(lengths[i]) + ", padded to " +
                   std::to_string(padded) + ", sample " + std::to_string(i) +
                   " of " + std::to_string(samples));
      Tensor alone[] = {Tensor(ElementType::F32, {1, lengths[i], 16}),
                        Tensor(ElementType::F32, {1, lengths[i]})};
      for (int64_t k = 0; k < lengths[i] * 16; ++k)
        alone[0].set<float>(k, inputs[0].at<float>(i * padded * 16 + k));
      for (int64_t k = 0; k < lengths[i]; ++k)
        alone[1].set<float>(k, 1);
      auto single = executors[(round + 1) % 2]->run(alone);
      ASSERT_TRUE(single) << single.error().message();
      const bool hasRows = GetParam().hasRows;
      const auto got = rowsOf((*together)[0], i, lengths[i], hasRows),
                 wanted = rowsOf((*single)[0], 0, lengths[i], hasRows);
      if (GetParam().isSame)
        EXPECT_EQ(got, wanted);
      else
        for (size_t k = 0; k < got.size(); ++k)
          ASSERT_NEAR(got[k], wanted[k], 1e-5) << "element " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Open, DynamicPadding,
                         ::testing::ValuesIn(paddedCases));
