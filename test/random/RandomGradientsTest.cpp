//===- RandomGradientsTest.cpp - gradients of random programs -------------===//
//
// Random programs with all floats in f64, differentiated, against differences
// along random directions and along the gradient; every fourth a second time.
// Where a program jumps or bends there are no differences to hold it against:
// such directions are counted. SINTER_RANDOM_SEED and SINTER_RANDOM_GRADIENTS
// choose which programs, and how many.
//
//===----------------------------------------------------------------------===//
//
// Covers: graph/stablehlo WholeTensors

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/interfaces/Differentiable.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "random/Judging.h"
#include "random/RandomProgram.h"
#include "random/WideFloats.h"
#include "reducer/Reduce.h"
#include "runtime/Random.h"

#include <cstring>
#include <gtest/gtest.h>
#include <iostream>
#include <numeric>
#include <set>

using namespace mlir;

namespace sinter {
namespace {

using namespace sinter::test;

using Numbers = std::vector<double>;

enum class Outcome {
  Agrees,   ///< along one direction at least
  NoNumber, ///< something on the way there or back is no finite number
  Constant, ///< there is nothing to differentiate, or by
  Bends,    ///< along all directions
  Differs,
  HasNone, ///< no gradient could be built, or it cannot be computed
};

struct Finding {
  Outcome outcome = Outcome::Constant;
  std::string message;
  /// Directions that were compared, and that were left out.
  int compared = 0, left = 0;
  /// What gives the gradients.
  std::optional<Model> gradient;
};

bool hasGradient(ElementType type) {
  return type == ElementType::F64 || type == ElementType::C128;
}

double dot(const Numbers &a, const Numbers &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double normOf(const Numbers &a) { return std::sqrt(dot(a, a)); }

bool isFinite(const Numbers &a) {
  return llvm::all_of(a, [](double each) { return std::isfinite(each); });
}

/// Of f64 and of pairs of them.
Tensor tensorOfNumbers(const Tensor &like, const Numbers &numbers) {
  Tensor tensor(like.type(), like.shape());
  if (!numbers.empty())
    std::memcpy(tensor.mutableBytes(), numbers.data(),
                numbers.size() * sizeof(double));
  return tensor;
}

/// A program as a function that gives a number: the sum of its results, each
/// element times a weight.
class WeightedSum {
public:
  WeightedSum(const Model &model, uint64_t seed) : model(model) {
    for (const TensorSpec &spec : model.inputs()) {
      inputs.emplace_back(spec.type, spec.shape);
      fillRandom(inputs.back(), seed + inputs.size(), {-2, 2, 16});
    }
    for (const TensorSpec &spec : model.outputs()) {
      weights.emplace_back(spec.type, spec.shape);
      if (hasGradient(spec.type))
        fillRandom(weights.back(), seed + 70 + weights.size(), {-1, 1, 16});
    }
  }

  /// No number where the program cannot be run; magnitudes are summed up in
  /// \p size.
  double at(const std::vector<Tensor> &point, double *size = nullptr) const {
    auto results = interpret(model.entry(), point);
    if (!results)
      return std::nan("");
    double sum = 0;
    for (auto [result, weight] : llvm::zip_equal(*results, weights)) {
      if (!hasGradient(result.type()))
        continue;
      const Numbers a = doublesOf(result), b = doublesOf(weight);
      sum += dot(a, b);
      for (size_t i = 0; size && i < a.size(); ++i)
        *size += std::abs(a[i] * b[i]);
    }
    return sum;
  }

  bool givesNumbers() const {
    bool isEverywhere = true;
    auto results = interpret(model.entry(), inputs,
                             [&](Operation *, ArrayRef<Tensor> values) {
                               for (const Tensor &value : values)
                                 if (hasGradient(value.type()))
                                   isEverywhere &= isFinite(doublesOf(value));
                             });
    return results && isEverywhere;
  }

  const Model &model;
  std::vector<Tensor> inputs, weights;
};

/// The model that gives the gradients of the sum by all arguments of floats.
std::optional<Model> gradientOf(const WeightedSum &sum, std::string &message) {
  Model gradient = sum.model.clone();
  func::FuncOp entry = gradient.entry();
  Operation *end = entry.front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> outputs, seeds, inputs;
  for (auto [output, weight] : llvm::zip_equal(end->getOperands(), sum.weights))
    if (hasGradient(weight.type())) {
      outputs.push_back(output);
      seeds.push_back(makeConstant(builder, entry.getLoc(), weight));
    }
  for (auto [argument, input] :
       llvm::zip_equal(entry.getArguments(), sum.inputs))
    if (hasGradient(input.type()))
      inputs.push_back(argument);
  FirstError error(gradient.context());
  auto gradients = backpropagate(builder, outputs, seeds, inputs);
  if (failed(gradients)) {
    message = error.take();
    return std::nullopt;
  }
  for (auto [each, input] : llvm::zip_equal(*gradients, inputs))
    if (!each) {
      auto type = cast<RankedTensorType>(input.getType());
      each = makeConstant(builder, entry.getLoc(),
                          Tensor(*elementTypeOf(type.getElementType()),
                                 Shape(type.getShape())));
    }
  end->setOperands(*gradients);
  entry.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), TypeRange(*gradients)));
  if (failed(verify(gradient.module()))) {
    message = "not valid: " + error.take();
    return std::nullopt;
  }
  return gradient;
}

/// The derivative along a direction, by differences.
struct Slope {
  double value;
  /// Whether the function is smooth enough there for 1e-6 of \p norm.
  bool isSmooth;
};

Slope slopeAlong(const WeightedSum &sum, size_t k, const Numbers &direction,
                 double norm) {
  constexpr double steps[] = {2e-4, 1e-4, 5e-5};
  const Numbers here = doublesOf(sum.inputs[k]);
  std::vector<Tensor> point = sum.inputs;
  double size = 0;
  const double middle = sum.at(point, &size);
  double central[3], bend[3];
  for (int s = 0; s < 3; ++s) {
    double values[2];
    for (int side : {0, 1}) {
      Numbers moved = here;
      for (size_t i = 0; i < moved.size(); ++i)
        moved[i] += (side ? steps[s] : -steps[s]) * direction[i];
      point[k] = tensorOfNumbers(sum.inputs[k], moved);
      values[side] = sum.at(point);
    }
    central[s] = (values[1] - values[0]) / (2 * steps[s]);
    bend[s] = (values[1] - 2 * middle + values[0]) / steps[s];
  }
  // What the error of fourth order leaves, twice.
  const double first = (4 * central[1] - central[0]) / 3;
  const double value = (4 * central[2] - central[1]) / 3;
  const double noise = 1e-7 * std::max(norm, 1e-2);
  // At a kink the slopes to both sides stay apart as steps get smaller.
  const bool isKink = std::abs(bend[2]) > 0.5 * std::abs(bend[0]) + noise;
  // Rounding of the sum's terms may say more than the slope.
  const bool isLost = size * 1e-11 > noise;
  return {value, std::abs(first - value) <= noise && !isKink && !isLost};
}

Finding check(const Model &model, uint64_t seed) {
  WeightedSum sum(model, seed);
  auto isFloat = [](const Tensor &each) {
    return hasGradient(each.type()) && each.size() > 0;
  };
  Finding finding;
  if (!llvm::any_of(sum.inputs, isFloat) || !llvm::any_of(sum.weights, isFloat))
    return finding;
  finding.outcome = Outcome::NoNumber;
  if (!sum.givesNumbers())
    return finding;
  finding.gradient = gradientOf(sum, finding.message);
  finding.outcome = Outcome::HasNone;
  if (!finding.gradient)
    return finding;
  auto gradients = interpret(finding.gradient->entry(), sum.inputs);
  if (!gradients) {
    finding.message = gradients.error().message();
    return finding;
  }
  size_t next = 0;
  for (size_t k = 0; k < sum.inputs.size(); ++k) {
    if (!hasGradient(sum.inputs[k].type()))
      continue;
    const Numbers gradient = doublesOf((*gradients)[next++]);
    if (gradient.empty())
      continue;
    if (!isFinite(gradient)) {
      // A slope is infinite somewhere, as that of a root of zero is.
      finding.outcome = Outcome::NoNumber;
      return finding;
    }
    const double norm = normOf(gradient);
    Tensor drawn(sum.inputs[k].type(), sum.inputs[k].shape());
    fillRandom(drawn, seed + 130 + k, {-1, 1, 16});
    std::vector<Numbers> directions = {doublesOf(drawn)};
    if (norm > 0)
      directions.push_back(gradient);
    for (Numbers &direction : directions) {
      const double length = normOf(direction);
      for (double &each : direction)
        each /= length;
      const Slope slope = slopeAlong(sum, k, direction, norm);
      ++(slope.isSmooth ? finding.compared : finding.left);
      const double got = dot(gradient, direction);
      if (!slope.isSmooth ||
          std::abs(got - slope.value) <= 1e-6 * std::max(norm, 1e-2))
        continue;
      finding.outcome = Outcome::Differs;
      finding.message = "argument " + std::to_string(k) + ": " +
                        std::to_string(got) + " where differences give " +
                        std::to_string(slope.value);
      return finding;
    }
  }
  finding.outcome = finding.compared ? Outcome::Agrees : Outcome::Bends;
  return finding;
}

/// The same of the gradient's gradient.
Finding checkTwice(const Model &model, uint64_t seed) {
  Finding first = check(model, seed);
  if (first.outcome != Outcome::Agrees)
    return first;
  Finding second = check(*first.gradient, seed);
  if (second.outcome == Outcome::Differs || second.outcome == Outcome::HasNone)
    second.message += " (the second time)";
  return second;
}

RandomProgramOptions differentiable() {
  // What rounds lets gradients through as if it did not, what looks at bits has
  // none, and random bits are not the same again where a type is another one.
  const std::set<std::string> without = {
      "stablehlo.bitcast_convert", "stablehlo.reduce_precision",
      "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize",
      "stablehlo.rng_bit_generator"};
  RandomProgramOptions options;
  for (const std::string &name : drawableOperations())
    if (!without.contains(name))
      options.only.push_back(name);
  return options;
}

bool isWrong(const Finding &finding) {
  return finding.outcome == Outcome::Differs ||
         finding.outcome == Outcome::HasNone;
}

std::string reduced(Model model, const Finding &finding,
                    llvm::function_ref<Finding(const Model &)> again) {
  ReduceOptions options;
  options.isInteresting = [&](const Model &candidate) {
    return again(candidate).outcome == finding.outcome;
  };
  options.mostAttempts = 500;
  if (auto done = reduceProgram(model, options); !done)
    return done.error().message();
  return textOf(model);
}

TEST(RandomGradientsTest, AreThoseOfDifferences) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1);
  const uint64_t count = fromEnvironment("SINTER_RANDOM_GRADIENTS", 1000);
  const RandomProgramOptions options = differentiable();
  std::map<Outcome, int> outcomes;
  int compared = 0, left = 0, twice = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Model model = withWideFloats(randomProgram(seed, options));
    ASSERT_TRUE(succeeded(verify(model.module()))) << "seed " << seed;
    const bool isTwice = seed % 4 == 0;
    auto judge = [&](const Model &candidate) {
      return isTwice ? checkTwice(candidate, seed) : check(candidate, seed);
    };
    const Finding finding = judge(model);
    ++outcomes[finding.outcome];
    compared += finding.compared;
    left += finding.left;
    twice += isTwice && finding.outcome == Outcome::Agrees;
    if (isWrong(finding))
      ADD_FAILURE() << "seed " << seed << ": " << finding.message << "\n"
                    << reduced(std::move(model), finding, judge);
  }
  std::cout << "programs " << first << " to " << first + count - 1 << ": "
            << outcomes[Outcome::Agrees] << " compared (" << twice
            << " of them twice), " << outcomes[Outcome::Constant]
            << " with nothing to differentiate, " << outcomes[Outcome::NoNumber]
            << " with no finite numbers, " << outcomes[Outcome::Bends]
            << " that bend; " << compared << " directions compared, " << left
            << " left out\n";
  // Most programs say something.
  EXPECT_GE(outcomes[Outcome::Agrees], static_cast<int>(count / 3));
}

} // namespace
} // namespace sinter
