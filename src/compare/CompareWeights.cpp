//===- CompareWeights.cpp - which weights of two models differ ------------===//

#include "compare/CompareWeights.h"

#include "runtime/TensorText.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace sinter {

using WeightsByName = std::map<std::string, const WeightFacts *>;

/// Names that several weights have are left out.
template <typename Key>
static WeightsByName byUnique(const std::vector<WeightFacts> &weights,
                              const Key &key) {
  WeightsByName found;
  std::set<std::string> several;
  for (const WeightFacts &each : weights)
    if (!found.emplace(key(each), &each).second)
      several.insert(key(each));
  for (const std::string &name : several)
    found.erase(name);
  return found;
}

static std::string nameOf(const WeightFacts &weight) { return weight.name; }

/// The layer, and which of its operands it is, by the rank.
static std::string placeOf(const WeightFacts &weight) {
  return weight.layer.empty() ? ""
                              : weight.layer + "\n" + weight.op + "\n" +
                                    std::to_string(weight.value.rank());
}

static std::string kindOf(const WeightFacts &weight) {
  return weight.op + "\n" + toString(weight.value.type(), weight.value.shape());
}

bool haveSameWeights(const ModelWeights &first, const ModelWeights &second) {
  std::set<std::string> names, others;
  for (const WeightFacts &each : first.stored)
    names.insert(each.name);
  for (const WeightFacts &each : second.stored)
    others.insert(each.name);
  return names == others;
}

static bool haveSameBits(const Tensor &one, const Tensor &other) {
  return one.type() == other.type() && one.shape() == other.shape() &&
         (one.bytes() == 0 ||
          std::memcmp(one.data(), other.data(), one.bytes()) == 0);
}

/// What folding a norm in f32 may lose, or storing in a narrower type.
static Tolerance roundingOf(const Tensor &one, const Tensor &other) {
  double epsilon = 1e-5;
  for (const Tensor *each : {&one, &other}) {
    if (each->type() == ElementType::F16)
      epsilon = std::max(epsilon, 0x1p-9);
    if (each->type() == ElementType::BF16 || byteSize(each->type()) == 1)
      epsilon = std::max(epsilon, 0x1p-6);
  }
  return {epsilon, 0, epsilon};
}

/// \p tensor with the same mean square in all slices of each dimension: without
/// the scales of channels, which the layers beside may have taken.
static Tensor balanced(const Tensor &tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.size()));
  for (int64_t i = 0; i < tensor.size(); ++i)
    values[static_cast<size_t>(i)] = tensor.toDouble(i);
  constexpr int sweeps = 8;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    size_t stride = values.size();
    for (const int64_t size : tensor.shape()) {
      const auto count = static_cast<size_t>(size);
      if (count == 0)
        return tensor;
      stride /= count;
      std::vector<double> squares(count);
      for (size_t i = 0; i < values.size(); ++i)
        squares[i / stride % count] += values[i] * values[i];
      const auto each = static_cast<double>(values.size() / count);
      for (size_t i = 0; i < values.size(); ++i)
        if (const double square = squares[i / stride % count]; square > 0)
          values[i] /= std::sqrt(square / each);
    }
  }
  return Tensor::of<double>(ElementType::F64, tensor.shape(), values);
}

namespace {

class WeightComparison {
public:
  WeightComparison(const ModelWeights &first, const ModelWeights &second)
      : first(first), second(second) {
    if (first.isQuantized == second.isQuantized)
      return;
    quantized.emplace();
    quantized->minDecibels = quantizedWeightDecibels;
  }

  WeightDifferences differing() {
    compareStored();
    compareFolded();
    WeightDifferences all;
    for (auto &[place, weight] : found)
      all.weights.push_back(std::move(weight));
    all.scaledLayers = std::move(scaled);
    return all;
  }

private:
  ComparedWeight compared(const WeightFacts &one, const WeightFacts &other,
                          bool isFolded, bool isBalanced = false) const {
    ComparedWeight weight;
    weight.values.name = one.name;
    weight.values.otherName = other.name;
    weight.layer = one.layer.empty() ? other.layer : one.layer;
    weight.isFolded = isFolded;
    compareInto(weight.values, isBalanced ? balanced(one.value) : one.value,
                isBalanced ? balanced(other.value) : other.value,
                quantized
                    ? *quantized
                    : CompareCriteria(roundingOf(one.value, other.value)));
    return weight;
  }

  void compareStored() {
    const WeightsByName others = byUnique(second.stored, nameOf);
    for (size_t i = 0; i < first.stored.size(); ++i) {
      const WeightFacts &each = first.stored[i];
      const auto other = others.find(each.name);
      if (other == others.end())
        continue;
      if (haveSameBits(each.value, other->second->value)) {
        same.insert(each.name);
        continue;
      }
      ComparedWeight weight = compared(each, *other->second, false);
      // Of one type they differ if any bit does.
      if (weight.values.differs() ||
          (!quantized && each.value.type() == other->second->value.type()))
        found.emplace(i, std::move(weight));
      else
        same.insert(each.name);
    }
  }

  /// The pairs of folded weights: of the same layer, or else, where both models
  /// have as many of one kind, in order.
  std::vector<std::pair<const WeightFacts *, const WeightFacts *>>
  pairs() const {
    std::vector<std::pair<const WeightFacts *, const WeightFacts *>> all;
    std::set<const WeightFacts *> taken;
    const WeightsByName others = byUnique(second.folded, placeOf);
    for (const auto &[place, weight] : byUnique(first.folded, placeOf))
      if (const auto other = others.find(place);
          !place.empty() && other != others.end()) {
        all.emplace_back(weight, other->second);
        taken.insert({weight, other->second});
      }
    std::map<std::string, std::vector<const WeightFacts *>> left, right;
    for (const WeightFacts &each : first.folded)
      if (!taken.contains(&each))
        left[kindOf(each)].push_back(&each);
    for (const WeightFacts &each : second.folded)
      if (!taken.contains(&each))
        right[kindOf(each)].push_back(&each);
    for (const auto &[kind, list] : left)
      if (const auto other = right.find(kind);
          other != right.end() && other->second.size() == list.size())
        for (size_t i = 0; i < list.size(); ++i)
          all.emplace_back(list[i], other->second[i]);
    return all;
  }

  /// The index of the stored weight of the same layer and rank in \p model, of
  /// which \p folded was made.
  static std::optional<size_t> sourceOf(const WeightFacts &folded,
                                        const ModelWeights &model) {
    for (size_t i = 0; i < model.stored.size(); ++i)
      if (model.stored[i].layer == folded.layer && !folded.layer.empty() &&
          (model.stored[i].value.rank() > 1) == (folded.value.rank() > 1))
        return i;
    return std::nullopt;
  }

  /// Kernels alone: quantising corrects biases, and scales them with kernels.
  void compareQuantized(const WeightFacts &one, const WeightFacts &other) {
    if (one.value.rank() < 2)
      return;
    const std::optional<size_t> source = sourceOf(one, first),
                                otherSource = sourceOf(other, second);
    const WeightFacts &stored = source ? first.stored[*source] : one,
                      &otherStored =
                          otherSource ? second.stored[*otherSource] : other;
    // Only one of them may have taken the scale of what is beside.
    double decibels = -HUGE_VAL;
    for (const WeightFacts *left : {&one, &stored})
      for (const WeightFacts *right : {&other, &otherStored})
        if (const ComparedWeight as = compared(*left, *right, true);
            as.values.problem.empty())
          decibels = std::max(decibels, as.values.similarity.decibels());
    ComparedWeight weight = compared(one, other, true, /*isBalanced=*/true);
    constexpr double gainOfScales = 6;
    if (weight.values.problem.empty() &&
        weight.values.similarity.decibels() > decibels + gainOfScales &&
        !weight.values.differs())
      scaled.push_back(weight.layer);
    if (decibels >= quantizedWeightDecibels || !weight.values.differs())
      return;
    weight.values.name = stored.name;
    weight.values.otherName = otherStored.name;
    found.insert_or_assign(source ? *source
                                  : first.stored.size() + indexOf(one),
                           std::move(weight));
  }

  size_t indexOf(const WeightFacts &folded) const {
    return static_cast<size_t>(&folded - first.folded.data());
  }

  void compareFolded() {
    for (const auto &[one, other] : pairs()) {
      const std::optional<size_t> source = sourceOf(*one, first);
      if (quantized) {
        compareQuantized(*one, *other);
        continue;
      }
      ComparedWeight weight = compared(*one, *other, true);
      if (!weight.values.differs()) {
        // What differs there was folded into this.
        if (source && found.contains(*source))
          found.erase(*source);
        continue;
      }
      // A weight that is the same in both files is not what differs.
      if (source &&
          (found.contains(*source) ||
           (same.contains(first.stored[*source].name) && !found.empty())))
        continue;
      if (source)
        weight.values.name = first.stored[*source].name;
      if (const auto own = sourceOf(*other, second))
        weight.values.otherName = second.stored[*own].name;
      found.emplace(source ? *source : first.stored.size() + indexOf(*one),
                    std::move(weight));
    }
  }

  const ModelWeights &first, &second;
  /// Where one of the models is quantised.
  std::optional<CompareCriteria> quantized;
  /// By the index among the stored weights of the first model, or behind these
  /// among the folded ones.
  std::map<size_t, ComparedWeight> found;
  std::vector<std::string> scaled;
  /// The names of weights that are the same.
  std::set<std::string> same;
};

} // namespace

WeightDifferences differingWeights(const ModelWeights &first,
                                   const ModelWeights &second) {
  return WeightComparison(first, second).differing();
}

} // namespace sinter
