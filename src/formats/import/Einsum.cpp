// Einsum: contractions over labelled dimensions.
//
// Each operand is a tensor whose dimensions have labels. A label that occurs
// twice in an operand selects its diagonal. Operands are multiplied from left
// to right by dot_general; a label is summed as soon as no later term needs it.

#include "formats/import/Einsum.h"

#include "formats/import/Building.h"
#include "formats/import/SizeArithmetic.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::formats {

namespace {
/// Letters are their character codes; those of an ellipsis count from its last
/// dimension: ellipsisLabel, ellipsisLabel + 1, ...
using Label = int64_t;
using Labels = SmallVector<Label>;
constexpr Label ellipsisLabel = 1000;

struct Labelled {
  Value value;
  Labels labels;
};

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

class Contraction {
public:
  Contraction(GraphBuilder &builder, Equation equation)
      : builder(builder), equation(std::move(equation)) {}
  Value run(ArrayRef<Value> operands);

private:
  void dropBroadcast(std::vector<Labelled> &operands);
  void repeatUnknown(std::vector<Labelled> &operands);
  Labelled diagonal(Labelled operand);
  Labelled sumOver(Labelled operand, function_ref<bool(Label)> needed);
  Labelled multiply(Labelled lhs, Labelled rhs,
                    function_ref<bool(Label)> needed);
  Value finish(Labelled result);

  GraphBuilder &builder;
  Equation equation;
};
} // namespace

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

/// One term, in which an ellipsis stands for \p ellipsisRank dimensions.
static std::optional<Labels> readTerm(GraphBuilder &builder, StringRef term,
                                      int64_t ellipsisRank) {
  Labels labels;
  bool seen = false;
  while (!term.empty()) {
    if (term.consume_front("...")) {
      if (seen)
        return builder.fail("the equation has two ellipses in a term");
      seen = true;
      for (int64_t i = ellipsisRank; i-- > 0;)
        labels.push_back(ellipsisLabel + i);
      continue;
    }
    if (!llvm::isAlpha(term.front()))
      return builder.fail("the equation has a character that is no letter");
    labels.push_back(term.front());
    term = term.drop_front();
  }
  return labels;
}

/// Without `->`: the ellipsis, then the labels that occur once, in alphabetical
/// order.
static Labels implicitOutput(ArrayRef<Labels> inputs) {
  std::map<Label, int> counts;
  for (const Labels &labels : inputs)
    for (Label label : labels)
      ++counts[label];
  Labels output;
  for (auto [label, count] : llvm::reverse(counts))
    if (label >= ellipsisLabel)
      output.push_back(label);
  for (auto [label, count] : counts)
    if (label < ellipsisLabel && count == 1)
      output.push_back(label);
  return output;
}

static std::optional<Equation> readEquation(GraphBuilder &builder,
                                            std::string text,
                                            ArrayRef<Value> operands) {
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  bool hasOutput = StringRef(text).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != operands.size())
    return builder.fail("the equation has " + Twine(terms.size()) +
                        " terms for " + Twine(operands.size()) + " inputs");
  Equation equation;
  int64_t widest = 0;
  for (auto [term, operand] : llvm::zip_equal(terms, operands)) {
    int64_t letters = llvm::count_if(term, llvm::isAlpha);
    int64_t rest = builder.rank(operand) - letters;
    if (rest < 0 || (rest > 0 && !term.contains("...")))
      return builder.fail("a term of the equation has not the input's rank");
    auto labels = readTerm(builder, term, rest);
    if (!labels)
      return std::nullopt;
    equation.inputs.push_back(std::move(*labels));
    widest = std::max(widest, rest);
  }
  if (!hasOutput) {
    equation.output = implicitOutput(equation.inputs);
    return equation;
  }
  auto output = readTerm(builder, right, widest);
  if (!output)
    return std::nullopt;
  llvm::SmallDenseSet<Label> seen;
  for (Label label : *output) {
    bool known = llvm::any_of(equation.inputs, [&](const Labels &labels) {
      return llvm::is_contained(labels, label);
    });
    if (!known || !seen.insert(label).second)
      return builder.fail(
          "the equation's output has a label twice, or one that no "
          "input has");
  }
  equation.output = std::move(*output);
  return equation;
}

//===----------------------------------------------------------------------===//
// The contraction
//===----------------------------------------------------------------------===//

/// Keeps the elements whose coordinates agree where a label is repeated.
Labelled Contraction::diagonal(Labelled operand) {
  for (size_t i = 0; i < operand.labels.size(); ++i) {
    for (size_t j = i + 1; operand.value && j < operand.labels.size(); ++j) {
      if (operand.labels[i] != operand.labels[j])
        continue;
      Dims sizes = builder.dims(operand.value);
      auto first = static_cast<int64_t>(i), second = static_cast<int64_t>(j);
      Value same =
          builder.compare(iota(builder, {sizes[i], sizes[j]}, 0, builder.i64()),
                          iota(builder, {sizes[i], sizes[j]}, 1, builder.i64()),
                          ComparisonDirection::EQ);
      Value mask = builder.broadcastInDim(same, sizes, {first, second});
      Value kept = select(builder, mask, operand.value,
                          builder.scalar(builder.element(operand.value), 0));
      operand.value =
          builder.reduce<stablehlo::AddOp>(kept, {second}, 0, false);
      operand.labels.erase(operand.labels.begin() + second);
      --j;
    }
  }
  return operand;
}

/// Removes dimensions of size 1 whose label has another size elsewhere.
void Contraction::dropBroadcast(std::vector<Labelled> &operands) {
  std::map<Label, int64_t> sizes;
  for (Labelled &operand : operands)
    for (auto [label, size] :
         llvm::zip_equal(operand.labels, builder.shape(operand.value)))
      if (auto &known = sizes.try_emplace(label, 1).first->second; known == 1)
        known = size;
  for (Labelled &operand : operands) {
    Ints axes;
    Labels kept;
    for (auto [i, label] : llvm::enumerate(operand.labels)) {
      if (builder.size(operand.value, i) == 1 && sizes[label] != 1)
        axes.push_back(i);
      else
        kept.push_back(label);
    }
    if (axes.empty())
      continue;
    operand.value = builder.squeeze(operand.value, axes);
    operand.labels = std::move(kept);
  }
}

/// Broadcasts operands whose size for a label may or may not be 1. A graph that
/// is compiled relies on equal sizes instead, which its shape guards check; one
/// that is written as StableHLO has no guards.
void Contraction::repeatUnknown(std::vector<Labelled> &operands) {
  if (!builder.expandsBroadcasts())
    return;
  struct Use {
    Labelled *operand;
    int64_t dimension;
  };
  std::map<Label, SmallVector<Use>> uses;
  for (Labelled &operand : operands)
    for (auto [i, label] : llvm::enumerate(operand.labels))
      uses[label].push_back({&operand, static_cast<int64_t>(i)});
  SizeArithmetic sizes(builder);
  for (const auto &[label, all] : uses) {
    const Use &first = all.front();
    const bool areSame = llvm::all_of(all, [&](const Use &use) {
      return builder.known().sameSize(first.operand->value, first.dimension,
                                      use.operand->value, use.dimension);
    });
    if (areSame)
      continue;
    // Sizes are equal, or one of them is 1; 0 if one is 0.
    Dim common = 1;
    for (const Use &use : all) {
      const Dim own = builder.dim(use.operand->value, use.dimension);
      common = sizes.multiply(
          sizes.max(common, own),
          sizes.multiply(sizes.isAtLeast(common, 1), sizes.isAtLeast(own, 1)));
    }
    for (const Use &use : all) {
      Dims wanted = builder.dims(use.operand->value);
      wanted[use.dimension] = common;
      use.operand->value = builder.broadcastInDim(
          use.operand->value, wanted,
          llvm::to_vector(llvm::seq<int64_t>(0, wanted.size())));
      if (!use.operand->value)
        return;
    }
  }
}

Labelled Contraction::sumOver(Labelled operand,
                              function_ref<bool(Label)> needed) {
  Ints axes;
  Labels kept;
  for (auto [i, label] : llvm::enumerate(operand.labels)) {
    if (needed(label))
      kept.push_back(label);
    else
      axes.push_back(i);
  }
  if (axes.empty())
    return operand;
  // Rounded after the whole sum.
  return {builder.reduce<stablehlo::AddOp>(widened(builder, operand.value),
                                           axes, 0, false),
          kept};
}

Labelled Contraction::multiply(Labelled lhs, Labelled rhs,
                               function_ref<bool(Label)> needed) {
  if (!lhs.value || !rhs.value)
    return {};
  if (builder.element(lhs.value) != builder.element(rhs.value)) {
    lhs.value = widened(builder, lhs.value);
    rhs.value = widened(builder, rhs.value);
  }
  Ints lhsBatch, rhsBatch, lhsContract, rhsContract, shape;
  Labels labels, free;
  Ints freeSizes;
  for (auto [i, label] : llvm::enumerate(lhs.labels)) {
    auto found = llvm::find(rhs.labels, label);
    int64_t size = builder.size(lhs.value, i);
    if (found == rhs.labels.end()) {
      free.push_back(label);
      freeSizes.push_back(size);
      continue;
    }
    int64_t other = found - rhs.labels.begin();
    (needed(label) ? lhsBatch : lhsContract).push_back(i);
    (needed(label) ? rhsBatch : rhsContract).push_back(other);
    if (needed(label)) {
      labels.push_back(label);
      shape.push_back(
          ShapedType::isDynamic(size) ? builder.size(rhs.value, other) : size);
    }
  }
  labels.append(free);
  shape.append(freeSizes);
  for (auto [i, label] : llvm::enumerate(rhs.labels)) {
    if (llvm::is_contained(lhs.labels, label))
      continue;
    labels.push_back(label);
    shape.push_back(builder.size(rhs.value, i));
  }
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      builder.context(), lhsBatch, rhsBatch, lhsContract, rhsContract);
  Value product = builder.typed<stablehlo::DotGeneralOp>(
      builder.tensorType(shape, builder.element(lhs.value)), lhs.value,
      rhs.value, numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return {product, labels};
}

/// Transposes the dimensions to the output's order, including those that have
/// size 1 in every operand.
Value Contraction::finish(Labelled result) {
  if (!result.value)
    return {};
  Ints permutation;
  for (Label label : equation.output)
    permutation.push_back(llvm::find(result.labels, label) -
                          result.labels.begin());
  return builder.transpose(result.value, permutation);
}

Value Contraction::run(ArrayRef<Value> values) {
  std::vector<Labelled> operands;
  for (auto [value, labels] : llvm::zip_equal(values, equation.inputs)) {
    operands.push_back(diagonal({value, labels}));
    if (!operands.back().value)
      return {};
  }
  dropBroadcast(operands);
  repeatUnknown(operands);
  Labelled result;
  for (size_t i = 0; i < operands.size(); ++i) {
    auto neededAfter = [&](Label label) {
      return llvm::is_contained(equation.output, label) ||
             llvm::any_of(ArrayRef(operands).drop_front(i + 1),
                          [&](const Labelled &later) {
                            return llvm::is_contained(later.labels, label);
                          });
    };
    if (i == 0) {
      result = sumOver(operands[0], neededAfter);
    } else {
      // An intermediate contraction is not rounded.
      if (operands.size() > 2)
        result.value = widened(builder, result.value);
      Labelled next = sumOver(operands[i], [&](Label label) {
        return neededAfter(label) || llvm::is_contained(result.labels, label);
      });
      result = multiply(result, next, neededAfter);
    }
    if (!result.value)
      return {};
  }
  return finish(result);
}

Value einsum(GraphBuilder &builder, std::string equation,
             ArrayRef<Value> operands) {
  if (builder.failed() || operands.empty())
    return {};
  auto read = readEquation(builder, std::move(equation), operands);
  if (!read)
    return {};
  Value result = Contraction(builder, std::move(*read)).run(operands);
  return builder.cast(result, builder.element(operands[0]));
}

} // namespace sinter::formats
