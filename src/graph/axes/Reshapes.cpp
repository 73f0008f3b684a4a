// Axes of reshapes: dimensions split and merge.

#include "graph/axes/Axes.h"

#include "graph/Dim.h"
#include "graph/SizeSources.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/Support/MathExtras.h"
#include <deque>
#include <map>
#include <numeric>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {
namespace {

/// A static size, or a dynamic one with a symbol.
struct Size {
  int64_t number = 1;
  std::optional<int64_t> symbol;

  bool operator==(const Size &) const = default;
  int64_t value() const { return symbol ? ShapedType::kDynamic : number; }
  bool isOne() const { return !symbol && number == 1; }
};

/// A dimension, or the factor of it that is not yet matched.
struct Part {
  int64_t dimension;
  Size size;
};
using Parts = SmallVector<Part>;

/// A product of sizes: the static factor and the sorted symbols.
using Product = std::pair<int64_t, SmallVector<int64_t>>;

} // namespace

/// Products of the first 0, 1, 2, ... of \p parts; up to one that is too large.
static std::vector<Product> productsOf(ArrayRef<Part> parts) {
  std::vector<Product> products = {{1, {}}};
  for (const Part &part : parts) {
    Product next = products.back();
    if (llvm::MulOverflow(next.first, part.size.number, next.first))
      break;
    if (part.size.symbol)
      next.second.insert(llvm::upper_bound(next.second, *part.size.symbol),
                         *part.size.symbol);
    products.push_back(std::move(next));
  }
  return products;
}

/// Where both sides can be split, since they have as many elements before (or
/// after) the split: counts of parts. From (0, 0) to all parts.
static std::vector<std::pair<size_t, size_t>> cutsOf(const Parts &from,
                                                     const Parts &to) {
  std::map<size_t, size_t> cuts = {{0, 0}, {from.size(), to.size()}};
  auto meet = [](ArrayRef<Part> lhs, ArrayRef<Part> rhs, auto found) {
    std::map<Product, size_t> places;
    for (auto [i, product] : llvm::enumerate(productsOf(rhs)))
      places.try_emplace(product, i);
    for (auto [i, product] : llvm::enumerate(productsOf(lhs)))
      if (auto place = places.find(product); place != places.end())
        found(i, place->second);
  };
  meet(from, to, [&](size_t i, size_t j) { cuts.try_emplace(i, j); });
  Parts fromEnd(llvm::reverse(from)), toEnd(llvm::reverse(to));
  meet(fromEnd, toEnd, [&](size_t i, size_t j) {
    cuts.try_emplace(from.size() - i, to.size() - j);
  });
  // Dynamic sizes may be 1; then splits of the two kinds could cross.
  std::vector<std::pair<size_t, size_t>> sorted;
  for (auto cut : cuts)
    if (sorted.empty() || cut.second > sorted.back().second)
      sorted.push_back(cut);
  if (sorted.back() != std::pair(from.size(), to.size()))
    return {{0, 0}, {from.size(), to.size()}};
  return sorted;
}

namespace {

/// Finds the common axes of two lists of parts with equal element counts.
class Matching {
public:
  explicit Matching(Builder &builder) : builder(builder) {}

  void match(const Parts &from, const Parts &to) {
    auto cuts = cutsOf(from, to);
    for (size_t i = 1; i < cuts.size(); ++i) {
      auto [fromBegin, toBegin] = cuts[i - 1];
      auto [fromEnd, toEnd] = cuts[i];
      matchBlock(ArrayRef(from).slice(fromBegin, fromEnd - fromBegin),
                 ArrayRef(to).slice(toBegin, toEnd - toBegin));
    }
  }

  /// Appends the axes that were found at the end of the dimensions, innermost
  /// first, to those that were found at the start.
  void finish() {
    for (const auto &[places, kind, size] : llvm::reverse(fromEnd))
      builder.add(kind, places, size);
  }

private:
  static std::optional<int64_t> commonFactor(const Size &lhs, const Size &rhs) {
    if (lhs.symbol || rhs.symbol)
      return std::nullopt;
    return std::gcd(lhs.number, rhs.number);
  }

  void common(int64_t from, int64_t to, int64_t size, bool atEnd) {
    SmallVector<Place, 2> places = {operand(0, from), result(to)};
    if (atEnd)
      fromEnd.push_back({places, AxisKind::Kept, size});
    else
      builder.add(AxisKind::Kept, places, size);
  }

  /// Removes common factors from one end of the two lists.
  void takeCommon(std::deque<Part> &from, std::deque<Part> &to, bool atEnd) {
    auto next = [&](std::deque<Part> &parts) -> Part & {
      return atEnd ? parts.back() : parts.front();
    };
    auto drop = [&](std::deque<Part> &parts) {
      if (!next(parts).size.isOne())
        return;
      atEnd ? parts.pop_back() : parts.pop_front();
    };
    while (!from.empty() && !to.empty()) {
      std::optional<int64_t> factor =
          commonFactor(next(from).size, next(to).size);
      if (!factor || *factor == 1)
        return;
      common(next(from).dimension, next(to).dimension, *factor, atEnd);
      next(from).size.number /= *factor;
      next(to).size.number /= *factor;
      drop(from);
      drop(to);
    }
  }

  void matchBlock(ArrayRef<Part> fromParts, ArrayRef<Part> toParts) {
    std::deque<Part> from(fromParts.begin(), fromParts.end()),
        to(toParts.begin(), toParts.end());
    takeCommon(from, to, /*atEnd=*/false);
    takeCommon(from, to, /*atEnd=*/true);
    // The rests have equal element counts, so a single dimension is determined.
    if (from.size() == 1 || to.size() == 1) {
      for (const Part &part : from.size() == 1 ? to : from) {
        auto [i, j] = from.size() == 1
                          ? std::pair(from[0].dimension, part.dimension)
                          : std::pair(part.dimension, to[0].dimension);
        int64_t size = part.size.value();
        if (from.size() == to.size() && ShapedType::isDynamic(size))
          size = from[0].size.value();
        common(i, j, size, /*atEnd=*/false);
      }
      return;
    }
    for (const Part &part : from)
      builder.add(AxisKind::Mixed, {operand(0, part.dimension)},
                  part.size.value());
    for (const Part &part : to)
      builder.add(AxisKind::Mixed, {result(part.dimension)}, part.size.value());
  }

  struct Late {
    SmallVector<Place, 2> places;
    AxisKind kind;
    int64_t size;
  };
  Builder &builder;
  std::vector<Late> fromEnd;
};

/// The dimensions of size 1 before each part, by the part's index.
using Units = std::map<size_t, SmallVector<int64_t>>;

} // namespace

/// The dimensions of sizes other than 1, and those of size 1 between them.
static std::pair<Parts, Units> partsOf(ArrayRef<Size> sizes) {
  std::pair<Parts, Units> result;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    auto dimension = static_cast<int64_t>(i);
    if (size.isOne())
      result.second[result.first.size()].push_back(dimension);
    else
      result.first.push_back({dimension, size});
  }
  return result;
}

/// Matches dimensions of size 1 between the same two parts, in order.
static void matchUnits(Builder &builder, const Parts &from, const Parts &to,
                       const Units &fromUnits, const Units &toUnits) {
  for (auto [i, j] : cutsOf(from, to)) {
    auto lhs = fromUnits.find(i), rhs = toUnits.find(j);
    if (lhs == fromUnits.end() || rhs == toUnits.end())
      continue;
    for (auto [one, other] : llvm::zip(lhs->second, rhs->second))
      builder.keep({operand(0, one), result(other)});
  }
}

static bool isNothing(const Size &size) {
  return !size.symbol && size.number == 0;
}

/// Axes of a reshape from sizes to sizes.
static Axes reshaped(Operation *op, ArrayRef<Size> from, ArrayRef<Size> to) {
  Builder builder(op);
  if (llvm::any_of(from, isNothing) || llvm::any_of(to, isNothing))
    return builder.take();
  auto [fromParts, fromUnits] = partsOf(from);
  auto [toParts, toUnits] = partsOf(to);
  Matching matching(builder);
  matching.match(fromParts, toParts);
  matching.finish();
  matchUnits(builder, fromParts, toParts, fromUnits, toUnits);
  return builder.take();
}

/// The sizes of a type. Names are their own symbols; sizes without one have
/// symbols from \p first on.
static SmallVector<Size> sizesOf(Value value, int64_t first) {
  SmallVector<Size> sizes;
  for (auto [i, size] : llvm::enumerate(dimsOf(value)))
    if (size.isUnknown())
      sizes.push_back({1, first + static_cast<int64_t>(i)});
    else if (size.isNamed())
      sizes.push_back({1, static_cast<int64_t>(size.key())});
    else
      sizes.push_back({size.value(), std::nullopt});
  return sizes;
}

/// The element count determines the only dynamic size of one side, and if there
/// is one on each, whether the two are equal.
static void matchOnlyUnknown(MutableArrayRef<Size> from,
                             MutableArrayRef<Size> to) {
  auto isUnknown = [](const Size &size) { return size.symbol.has_value(); };
  auto known = [](ArrayRef<Size> sizes) {
    int64_t product = 1;
    for (const Size &size : sizes)
      if (llvm::MulOverflow(product, size.number, product))
        return int64_t(0);
    return product;
  };
  const auto ofFrom = llvm::count_if(from, isUnknown),
             ofTo = llvm::count_if(to, isUnknown);
  const int64_t lhs = known(from), rhs = known(to);
  if (ofFrom > 1 || ofTo > 1 || lhs == 0 || rhs == 0)
    return;
  if (ofFrom && ofTo) {
    if (lhs == rhs)
      llvm::find_if(to, isUnknown)->symbol =
          llvm::find_if(from, isUnknown)->symbol;
  } else if (ofTo && lhs % rhs == 0) {
    *llvm::find_if(to, isUnknown) = {lhs / rhs, std::nullopt};
  } else if (ofFrom && rhs % lhs == 0) {
    *llvm::find_if(from, isUnknown) = {rhs / lhs, std::nullopt};
  }
}

static Axes ofReshape(ReshapeOp op) {
  SmallVector<Size> from = sizesOf(op.getOperand(), 0),
                    to = sizesOf(op.getResult(), from.size());
  matchOnlyUnknown(from, to);
  return reshaped(op, from, to);
}

static Axes ofDynamicReshape(DynamicReshapeOp op) {
  SmallVector<Size> from = sizesOf(op.getOperand(), 0),
                    to = sizesOf(op.getResult(), from.size());
  Value operand = shapeSource(op.getOperand());
  SmallVector<SizeSource> sources = sourcesOfSizes(op.getOutputShape());
  if (sources.size() == to.size())
    for (auto [size, source] : llvm::zip_equal(to, sources))
      if (size.symbol && source.of == operand)
        size = from[source.dimension];
  matchOnlyUnknown(from, to);
  return reshaped(op, from, to);
}

/// The bits stay the same: the last dimension may hold the pieces of an
/// element.
static Axes sameBits(BitcastConvertOp op) {
  Builder builder(op);
  for (int64_t i = 0; i < std::min(builder.rankOf(0), builder.resultRank());
       ++i)
    builder.keep({operand(0, i), result(i)});
  return builder.take();
}

void attachReshapes(MLIRContext *c) {
  attach<ReshapeOp, ofReshape>(c);
  attach<DynamicReshapeOp, ofDynamicReshape>(c);
  attach<BitcastConvertOp, sameBits>(c);
}

} // namespace sinter::axes
