//===- SampleSizes.cpp - sizes of dynamic dimensions to check a model at --===//

#include "engine/SampleSizes.h"

#include "runtime/Strings.h"

#include <algorithm>
#include <cstring>

namespace sinter {

std::string SampleSizes::text() const {
  std::string text;
  for (const auto &[symbol, size] : chosen)
    text +=
        (text.empty() ? "" : ", ") + (symbol + " = ") + std::to_string(size);
  return text;
}

std::string toString(std::span<const SampleSizes> sizes) {
  std::string text;
  for (const SampleSizes &each : sizes)
    text += (text.empty() ? "" : "; ") + each.text();
  return text;
}

namespace {

/// A possible minimum or divisor of a dimension.
constexpr int64_t candidates[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,
                                  10,  12,  14,  15,  16,  20,  24,  28,  30,
                                  32,  40,  48,  56,  64,  80,  96,  112, 128,
                                  160, 192, 224, 256, 299, 320, 384, 512};

/// The dimensions of one symbol.
struct Symbol {
  std::string name;
  std::vector<std::pair<size_t, size_t>> places;
  /// Whether it is always a first dimension: a model accepts any batch, and
  /// each sample costs the same.
  bool isBatch = true;
};

using Sizes = std::vector<int64_t>;

class Chooser {
public:
  Chooser(const ModelDescription &model, const std::vector<Shape> &known,
          const AllowsShapes &allows)
      : known(known), allows(allows) {
    for (size_t i = 0; i < known.size(); ++i)
      for (size_t dim = 0; dim < known[i].size(); ++dim)
        if (known[i][dim] < 0)
          add(symbolOf(model.inputs[i], dim), i, dim);
  }

  std::vector<SampleSizes> choose() {
    if (symbols.empty())
      return {{known, {}}};
    const std::optional<Sizes> least = smallest();
    if (!least)
      return {};
    std::vector<Sizes> all = {*least};
    for (const Sizes &more : {odd(*least), large(*least)})
      if (std::ranges::find(all, more) == all.end())
        all.push_back(more);
    std::vector<SampleSizes> samples;
    for (const Sizes &sizes : all) {
      samples.push_back({shapesOf(sizes), {}});
      for (size_t i = 0; i < symbols.size(); ++i)
        samples.back().chosen.emplace_back(symbols[i].name, sizes[i]);
    }
    return samples;
  }

private:
  void add(std::string name, size_t input, size_t dim) {
    auto found = std::ranges::find(symbols, name, &Symbol::name);
    if (found == symbols.end())
      found = symbols.insert(symbols.end(), Symbol{std::move(name), {}});
    found->places.emplace_back(input, dim);
    found->isBatch &= dim == 0;
  }

  std::vector<Shape> shapesOf(const Sizes &sizes) const {
    std::vector<Shape> shapes = known;
    for (size_t i = 0; i < symbols.size(); ++i)
      for (const auto &[input, dim] : symbols[i].places)
        shapes[input][dim] = sizes[i];
    return shapes;
  }

  bool fits(const Sizes &sizes) const { return allows(shapesOf(sizes)); }

  /// Equal sizes first, which many models need; then each symbol alone.
  std::optional<Sizes> smallest() const {
    for (const bool hasBatch : {true, false})
      for (const int64_t size : candidates) {
        Sizes sizes;
        for (const Symbol &symbol : symbols)
          sizes.push_back(hasBatch && symbol.isBatch ? 1 : size);
        if (!fits(sizes))
          continue;
        for (int64_t &each : sizes)
          shrink(sizes, each);
        return sizes;
      }
    return std::nullopt;
  }

  void shrink(Sizes &sizes, int64_t &each) const {
    const int64_t before = each;
    for (const int64_t size : candidates) {
      if (size >= before)
        break;
      each = size;
      if (fits(sizes))
        return;
    }
    each = before;
  }

  /// All symbols by \p choices at once, in order; else each alone, if that is
  /// allowed with the others at \p least.
  Sizes choose(const Sizes &least, const std::vector<Sizes> &choices) const {
    for (const Sizes &choice : choices)
      if (fits(choice))
        return choice;
    Sizes sizes = least;
    for (const Sizes &choice : choices)
      for (size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] != least[i])
          continue;
        sizes[i] = choice[i];
        if (!fits(sizes))
          sizes[i] = least[i];
      }
    return sizes;
  }

  Sizes odd(const Sizes &least) const {
    const int64_t most = *std::ranges::max_element(least);
    std::vector<Sizes> choices(5);
    for (size_t i = 0; i < least.size(); ++i) {
      const bool isBatch = symbols[i].isBatch;
      const int64_t number = static_cast<int64_t>(i);
      choices[4].push_back((most | 1) + 4);
      choices[0].push_back(isBatch ? 3 : (least[i] | 1) + 4 + 2 * number);
      choices[1].push_back(isBatch ? 3 : (most | 1) + 4);
      choices[2].push_back(isBatch ? 3 : 3 * least[i]);
      choices[3].push_back(isBatch ? 3 : 3 * most);
    }
    return choose(least, choices);
  }

  Sizes large(const Sizes &least) const {
    const int64_t most = *std::ranges::max_element(least);
    std::vector<Sizes> choices(5);
    for (size_t i = 0; i < least.size(); ++i) {
      const bool isBatch = symbols[i].isBatch;
      const int64_t number = static_cast<int64_t>(i);
      choices[4].push_back(most + 34);
      choices[0].push_back(isBatch ? 4 : least[i] + 34 - number);
      choices[1].push_back(isBatch ? 4 : most + 34);
      choices[2].push_back(isBatch ? 4 : 2 * ((most + 32) / most * most));
      choices[3].push_back(isBatch ? 4 : 2 * least[i]);
    }
    return choose(least, choices);
  }

  const std::vector<Shape> &known;
  const AllowsShapes &allows;
  std::vector<Symbol> symbols;
};

} // namespace

std::vector<SampleSizes> sampleSizes(const ModelDescription &model,
                                     const std::vector<Shape> &shapes,
                                     const AllowsShapes &allows) {
  return Chooser(model, shapes, allows).choose();
}

Tensor repeatedTo(const Tensor &tensor, const Shape &shape) {
  Tensor result(tensor.type(), shape);
  const size_t bytes = byteSize(tensor.type());
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t from = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      from = from * tensor.shape()[dim] + index[dim] % tensor.shape()[dim];
    std::memcpy(result.mutableBytes() + i * bytes, tensor.data() + from * bytes,
                bytes);
    for (size_t dim = shape.size(); dim-- > 0 && ++index[dim] == shape[dim];)
      index[dim] = 0;
  }
  return holdStrings(std::move(result));
}

} // namespace sinter
