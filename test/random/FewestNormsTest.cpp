// Small networks with batch norms in odd places: simplified, they keep no more
// scales and shifts than an exhaustive search leaves. SINTER_RANDOM_SEED
// chooses which, SINTER_RANDOM_PROGRAMS how many.
//
// Covers: passes AffineRegion

#include "random/RandomNorms.h"

#include "graph/Model.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "passes/AffinePlan.h"
#include "passes/Matching.h"
#include "passes/Pipelines.h"
#include "random/Judging.h"
#include "runtime/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <set>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace {

using namespace sinter::test;

/// Linear equations, to which others are added one by one.
class Equations {
public:
  using Row = std::map<int, double>;

  /// sum of row[i] * x[i] = number. Whether all have a solution yet.
  bool add(Row row, double number) {
    for (auto each = row.begin(); each != row.end();)
      if (auto known = solved.find(each->first);
          known != solved.end() && each->second != 0) {
        const double factor = each->second;
        const auto &[other, otherNumber] = known->second;
        for (auto [i, coefficient] : other)
          row[i] -= factor * coefficient;
        number -= factor * otherNumber;
        each = row.begin();
        std::erase_if(row,
                      [](auto &one) { return std::abs(one.second) < 1e-9; });
        each = row.begin();
      } else {
        ++each;
      }
    std::erase_if(row, [](auto &one) { return std::abs(one.second) < 1e-9; });
    if (row.empty())
      return std::abs(number) < 1e-5;
    const int pivot = row.rbegin()->first;
    const double factor = row.rbegin()->second;
    for (auto &[i, coefficient] : row)
      coefficient /= factor;
    solved[pivot] = {std::move(row), number / factor};
    return true;
  }

private:
  /// Each has a coefficient of 1 for the unknown by which it is found, which is
  /// the last of its own.
  std::map<int, std::pair<Row, double>> solved;
};

/// The same of bits.
class BitEquations {
public:
  bool add(std::set<int> row, bool bit) {
    while (!row.empty()) {
      auto known = solved.find(*row.rbegin());
      if (known == solved.end()) {
        const int pivot = *row.rbegin();
        solved[pivot] = {std::move(row), bit};
        return true;
      }
      for (int each : known->second.first)
        if (!row.insert(each).second)
          row.erase(each);
      bit ^= known->second.second;
    }
    return !bit;
  }

private:
  std::map<int, std::pair<std::set<int>, bool>> solved;
};

/// What scales and shifts a value's channels, or one use of it, or does one of
/// both.
struct Cut {
  Value value;
  OpOperand *use = nullptr;
  bool scales, shifts;
  double elements;
};

/// Finds where scales and shifts may stay so that there are few. Each channel
/// of each value may be held scaled and shifted, v = d v' + t: what operations
/// ask of these numbers is one system of equations for log |d|, one for the
/// signs and one for t, which do not depend on each other. Where a scale and a
/// shift stay, those in front and behind have nothing to do with each other.
class NormSearch {
public:
  explicit NormSearch(func::FuncOp function, int64_t channelDimension)
      : function(function), channelDimension(channelDimension) {
    for (Operation &op : function.getBody().front()) {
      for (Value value : op.getResults())
        addCuts(value);
      if (op.getNumResults() == 1 && isTensor(op.getResult(0)) &&
          ClipForm::of(&op))
        clips.push_back(&op);
    }
    for (Value value : function.getArguments())
      addCuts(value);
  }

  /// Whether all operations are such that the search knows.
  bool isComplete() {
    holds(std::vector<Cut>());
    return !isUnknown;
  }

  /// Less than \p count of them that have at most \p elements.
  std::optional<std::vector<Cut>> findFewer(size_t count, double elements) {
    for (size_t fewer = 0; fewer < count && fewer < 3; ++fewer)
      if (auto found = find(fewer, 0, elements, {}))
        return found;
    return std::nullopt;
  }

private:
  using Unknowns = std::vector<int>;

  void addCuts(Value value) {
    if (!isTensor(value) || value.use_empty())
      return;
    const double elements = AffineCost::of(value).elements;
    auto add = [&](OpOperand *use) {
      for (auto [scales, shifts] :
           {std::pair(true, false), {false, true}, {true, true}})
        cuts.push_back(
            {value, use, scales, shifts, (scales + shifts) * elements});
    };
    add(nullptr);
    if (!value.hasOneUse())
      for (OpOperand &use : value.getUses())
        add(&use);
  }
  static bool isTensor(Value value) {
    return isa<RankedTensorType>(value.getType()) && isFloatTensor(value) &&
           !followsFromConstants(value);
  }

  std::optional<std::vector<Cut>>
  find(size_t count, size_t first, double elements, std::vector<Cut> chosen) {
    if (count == 0)
      return holds(chosen) && costOfBounds(chosen) <= elements
                 ? std::optional(chosen)
                 : std::nullopt;
    for (size_t i = first; i < cuts.size(); ++i) {
      if (cuts[i].elements > elements)
        continue;
      chosen.push_back(cuts[i]);
      if (auto found =
              find(count - 1, i + 1, elements - cuts[i].elements, chosen))
        return found;
      chosen.pop_back();
    }
    return std::nullopt;
  }

  Unknowns fresh(size_t count) {
    Unknowns list(count);
    for (int &each : list)
      each = next++;
    return list;
  }
  int64_t channelsOf(Value value) {
    auto type = tensorOf(value);
    return type.getDimSize(type.getRank() == 4 ? channelDimension : 1);
  }

  /// What clips of bounds that have to change cost.
  double costOfBounds(const std::vector<Cut> &chosen) {
    double cost = 0;
    std::set<Operation *> kept;
    for (Operation *clip : clips) {
      keepsBounds = kept;
      keepsBounds.insert(clip);
      if (holds(chosen))
        kept = keepsBounds;
      else
        cost += sinter::costOfBounds(clip->getResult(0)).elements;
    }
    keepsBounds.clear();
    return cost;
  }

  bool holds(const std::vector<Cut> &chosen);
  bool holds(Operation *op);
  const Unknowns &of(OpOperand &use) { return uses[&use]; }
  void give(Value value, const Unknowns &produced);

  // Of unknown -1 the scale is 1 and the shift 0.
  void scales(std::initializer_list<std::pair<int, double>> row,
              double factor = 1) {
    Equations::Row known;
    std::set<int> odd;
    for (auto [i, coefficient] : row)
      if (i >= 0) {
        known[i] += coefficient;
        if (!odd.insert(i).second)
          odd.erase(i);
      }
    isConsistent &= sizes.add(known, std::log(std::abs(factor)));
    isConsistent &= signs.add(odd, factor < 0);
  }
  void shifts(std::initializer_list<std::pair<int, double>> row,
              double number = 0) {
    Equations::Row known;
    for (auto [i, coefficient] : row)
      if (i >= 0)
        known[i] += coefficient;
    isConsistent &= offsets.add(known, number);
  }
  void same(int one, int other) {
    scales({{one, 1}, {other, -1}});
    shifts({{one, 1}, {other, -1}});
  }
  void positive(int one) {
    if (one >= 0)
      isConsistent &= signs.add({one}, false);
  }

  func::FuncOp function;
  int64_t channelDimension;
  std::vector<Cut> cuts, current;
  std::vector<Operation *> clips;
  std::set<Operation *> keepsBounds;
  std::map<OpOperand *, Unknowns> uses;
  Equations sizes, offsets;
  BitEquations signs;
  int next = 0;
  bool isConsistent = true, isUnknown = false;
};

void NormSearch::give(Value value, const Unknowns &produced) {
  auto behind = [&](const Cut &cut, const Unknowns &list) {
    const Unknowns after = fresh(list.size());
    for (auto [one, other] : llvm::zip_equal(list, after)) {
      if (!cut.scales)
        scales({{one, 1}, {other, -1}});
      if (!cut.shifts)
        shifts({{one, 1}, {other, -1}});
    }
    return after;
  };
  Unknowns list = produced;
  for (const Cut &cut : current)
    if (cut.value == value && !cut.use)
      list = behind(cut, list);
  for (OpOperand &use : value.getUses()) {
    uses[&use] = list;
    for (const Cut &cut : current)
      if (cut.use == &use)
        uses[&use] = behind(cut, list);
  }
}

bool NormSearch::holds(const std::vector<Cut> &chosen) {
  current = chosen;
  uses.clear();
  sizes = offsets = {};
  signs = {};
  next = 0;
  isConsistent = true;
  for (Value argument : function.getArguments())
    give(argument, Unknowns(channelsOf(argument), -1));
  for (Operation &op : function.getBody().front())
    if (!holds(&op) || isUnknown)
      return false;
  return true;
}

bool NormSearch::holds(Operation *op) {
  if (isa<func::ReturnOp>(op)) {
    for (OpOperand &use : op->getOpOperands())
      for (int each : of(use))
        same(each, -1);
    return isConsistent;
  }
  // Their bias is a constant, or made.
  if (isa<nn::RnnOp, nn::GruOp, nn::LstmOp>(op)) {
    for (Value result : op->getResults())
      give(result, Unknowns(tensorOf(result).getShape().back(), -1));
    return isConsistent;
  }
  if (op->getNumResults() != 1 || !isTensor(op->getResult(0)))
    return true;
  const Value result = op->getResult(0);
  auto operand = [&](unsigned i) -> const Unknowns & {
    return of(op->getOpOperand(i));
  };
  if (isa<ConvolutionOp, DotGeneralOp>(op)) {
    if (!followsFromConstants(op->getOperand(1)))
      isUnknown = true;
    if (cast<ChannelwiseAffineOpInterface>(op).readsPadding())
      for (int each : operand(0))
        shifts({{each, 1}});
    give(result, fresh(channelsOf(result)));
    return isConsistent;
  }
  if (auto step = affineStep(op)) {
    const auto own = llvm::find_if(op->getOpOperands(), [&](OpOperand &use) {
      return use.get() == step->from;
    });
    const Unknowns from = of(*own), to = fresh(from.size());
    const auto numbers = step->affine.channels(
        tensorOf(result).getRank() == 4 ? channelDimension : 1,
        static_cast<int64_t>(from.size()));
    if (!numbers || llvm::is_contained(numbers->scale, 0.0)) {
      isUnknown = true;
      return false;
    }
    for (size_t i = 0; i < from.size(); ++i) {
      scales({{to[i], 1}, {from[i], -1}}, numbers->scale[i]);
      shifts({{to[i], 1}, {from[i], -numbers->scale[i]}}, numbers->shift[i]);
    }
    give(result, to);
    return isConsistent;
  }
  if (auto form = ClipForm::of(op)) {
    const auto own = llvm::find_if(op->getOpOperands(), [&](OpOperand &use) {
      return use.get() == form->operand;
    });
    const Unknowns from = of(*own);
    if (form->low && form->high)
      for (int each : from)
        positive(each);
    if (keepsBounds.contains(op))
      for (int each : from) {
        shifts({{each, 1}});
        if (isa<nn::ReluOp>(op))
          positive(each);
        else
          scales({{each, 1}});
      }
    give(result, from);
    return isConsistent;
  }
  if (isa<nn::LeakyReluOp>(op)) {
    for (int each : operand(0)) {
      positive(each);
      shifts({{each, 1}});
    }
    give(result, operand(0));
    return isConsistent;
  }
  if (isa<nn::MaxPoolOp>(op)) {
    for (int each : operand(0))
      positive(each);
    give(result, operand(0));
    return isConsistent;
  }
  if (auto pool = dyn_cast<nn::AveragePoolOp>(op)) {
    if (pool.getCountPadding() &&
        llvm::any_of(pool.getPaddingLow(),
                     [](int64_t each) { return each != 0; }))
      for (int each : operand(0))
        shifts({{each, 1}});
    give(result, operand(0));
    return isConsistent;
  }
  if (isa<nn::ResizeOp>(op)) {
    give(result, operand(0));
    return isConsistent;
  }
  if (isa<AddOp, SubtractOp, MulOp, MaxOp>(op)) {
    // A square would take the root of a scale.
    isUnknown |= isa<MulOp>(op) && op->getOperand(0) == op->getOperand(1);
    const Unknowns a = operand(0), b = operand(1), to = fresh(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      if (isa<MulOp>(op)) {
        scales({{to[i], 1}, {a[i], -1}, {b[i], -1}});
        for (int each : {a[i], b[i], to[i]})
          shifts({{each, 1}});
        continue;
      }
      scales({{to[i], 1}, {a[i], -1}});
      scales({{to[i], 1}, {b[i], -1}});
      if (isa<MaxOp>(op)) {
        positive(to[i]);
        shifts({{to[i], 1}, {a[i], -1}});
        shifts({{to[i], 1}, {b[i], -1}});
      } else {
        shifts({{to[i], 1}, {a[i], -1}, {b[i], isa<AddOp>(op) ? -1.0 : 1.0}});
      }
    }
    give(result, to);
    return isConsistent;
  }
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    Unknowns all = operand(0);
    const bool isOfChannels =
        static_cast<int64_t>(concatenate.getDimension()) ==
        (tensorOf(result).getRank() == 4 ? channelDimension : 1);
    for (OpOperand &use : op->getOpOperands().drop_front())
      if (isOfChannels)
        all.insert(all.end(), of(use).begin(), of(use).end());
      else
        for (auto [one, other] : llvm::zip_equal(all, of(use)))
          same(one, other);
    give(result, all);
    return isConsistent;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    const int64_t from = slice.getStartIndices()[channelDimension],
                  to = slice.getLimitIndices()[channelDimension];
    give(result, Unknowns(operand(0).begin() + from, operand(0).begin() + to));
    return isConsistent;
  }
  if (isa<ReshapeOp>(op)) {
    const auto before = tensorOf(op->getOperand(0)), after = tensorOf(result);
    if (after.getRank() != 2) {
      give(result, operand(0));
      return isConsistent;
    }
    Unknowns all;
    const auto channels = static_cast<int64_t>(operand(0).size()),
               count = after.getDimSize(1);
    for (int64_t i = 0; i < count; ++i)
      all.push_back(operand(0)[channelDimension == 1 && before.getRank() == 4
                                   ? i / (count / channels)
                                   : i % channels]);
    give(result, all);
    return isConsistent;
  }
  if (isa<TransposeOp>(op) && tensorOf(result).getRank() == 3) {
    give(result, operand(0));
    return isConsistent;
  }
  // Of shuffled channels.
  if (isa<TransposeOp>(op) && tensorOf(result).getRank() == 5) {
    const int64_t rows = tensorOf(result).getDimSize(1),
                  columns = tensorOf(result).getDimSize(2);
    Unknowns all;
    for (int64_t i = 0; i < rows * columns; ++i)
      all.push_back(operand(0)[i % columns * rows + i / columns]);
    give(result, all);
    return isConsistent;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    const Unknowns from = operand(0), to = fresh(from.size());
    double count = 1;
    bool isDynamic = false;
    for (int64_t dimension : reduce.getDimensions()) {
      const int64_t size = tensorOf(op->getOperand(0)).getDimSize(dimension);
      isDynamic |= ShapedType::isDynamic(size);
      count *= static_cast<double>(size);
    }
    for (size_t i = 0; i < from.size(); ++i) {
      scales({{to[i], 1}, {from[i], -1}});
      if (isDynamic) {
        shifts({{from[i], 1}});
        shifts({{to[i], 1}});
      } else {
        shifts({{to[i], 1}, {from[i], -count}});
      }
    }
    give(result, to);
    return isConsistent;
  }
  isUnknown = true;
  return false;
}

/// What scales and shifts and is no bias: how many do, and of how many
/// elements.
struct Left {
  size_t count = 0;
  double elements = 0;
};
Left leftIn(func::FuncOp function) {
  Left left;
  auto counts = [](Operation *op) {
    auto step = affineStep(op);
    return step && !step->affine.dimensions.empty() && !isBias(*step) &&
           !followsFromConstants(op->getResult(0));
  };
  function.walk([&](Operation *op) {
    if (!counts(op))
      return;
    const Value result = op->getResult(0);
    left.elements +=
        AffineCost::ofStep(result, affineStep(op)->affine).elements;
    // A multiplication, and the addition behind it.
    if (!result.hasOneUse() || !counts(*result.getUsers().begin()))
      ++left.count;
  });
  return left;
}

void eraseDead(func::FuncOp function) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

TEST(FewestNormsTest, NoMoreStayThanSearchLeaves) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1),
                 count = fromEnvironment("SINTER_RANDOM_PROGRAMS", 600);
  RandomNormsOptions options;
  int64_t searched = 0, worse = 0, norms = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    options.layers = 5 + static_cast<int>(seed % 5);
    const RandomFolding drawn = randomNorms(seed, options);
    std::shared_ptr<MLIRContext> context = makeContext();
    Model model(context,
                parseSourceString<ModuleOp>(drawn.text, context.get()));
    ASSERT_TRUE(model.module()) << drawn.text;
    // What says where the channels of images are.
    if (drawn.text.find("dim_numbers = ") == std::string::npos)
      continue;
    eraseDead(model.entry());
    const Left before = leftIn(model.entry());
    Model simplified = model.clone();
    // What is left when slices and the like are gone may go, too.
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(simplify(simplified)) << "seed " << seed;
    const Left left = leftIn(simplified.entry());
    if (before.count == 0)
      continue;
    NormSearch search(model.entry(),
                      drawn.text.find("[b, 0, 1, f]") == std::string::npos ? 1
                                                                           : 3);
    if (!search.isComplete())
      continue;
    ++searched;
    norms += static_cast<int64_t>(left.count);
    const auto fewer = search.findFewer(left.count, left.elements);
    if (!fewer)
      continue;
    ++worse;
    std::cout << "seed " << seed << ": " << left.count << " stay of "
              << left.elements << " elements, where " << fewer->size()
              << " would do\n"
              << textOf(model) << "simplified:\n"
              << textOf(simplified);
  }
  std::cout << worse << " of " << searched << " graphs keep more, " << norms
            << " norms stay\n";
  EXPECT_GT(searched, static_cast<int64_t>(count / 3));
  // Where a shift comes back to itself by sums of sums, concatenations of
  // concatenations are in the way, or steps that a file spells out could only
  // become one, more may stay: 13 of 5,471.
  EXPECT_LE(worse, searched / 200);
}

/// Where nothing is rounded, nothing changes.
TEST(FewestNormsTest, JointMovesGiveTheSameBits) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1),
                 count = fromEnvironment("SINTER_RANDOM_PROGRAMS", 1500);
  RandomNormsOptions options;
  options.isExact = true;
  int64_t moved = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    options.layers = 5 + static_cast<int>(seed % 5);
    const RandomFolding drawn = randomNorms(seed, options);
    std::shared_ptr<MLIRContext> context = makeContext();
    Model model(context,
                parseSourceString<ModuleOp>(drawn.text, context.get()));
    ASSERT_TRUE(model.module()) << drawn.text;
    Model simplified = model.clone();
    auto report = simplify(simplified);
    ASSERT_TRUE(report) << "seed " << seed;
    if (report->patterns["move-affine-jointly"] == 0)
      continue;
    ++moved;
    for (const Shape &shape : drawn.shapes) {
      std::vector<Tensor> inputs = {Tensor(ElementType::F64, shape)};
      for (int64_t i = 0; i < inputs.front().size(); ++i)
        inputs.front().set<double>(
            i, (static_cast<double>(splitMix(seed, i) % 33) - 16) / 8);
      auto expected = interpret(model.entry(), inputs),
           got = interpret(simplified.entry(), inputs);
      ASSERT_TRUE(expected) << expected.error().message() << "\n" << drawn.text;
      ASSERT_TRUE(got) << got.error().message();
      for (int64_t i = 0; i < (*expected)[0].size(); ++i)
        ASSERT_EQ((*got)[0].toDouble(i), (*expected)[0].toDouble(i))
            << "seed " << seed << ", element " << i << "\n"
            << drawn.text;
    }
  }
  std::cout << moved << " moved jointly\n";
  EXPECT_GT(moved, static_cast<int64_t>(count / 50));
}

} // namespace
} // namespace sinter
