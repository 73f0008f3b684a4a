//===- ConvolutionPhases.cpp - transposed convolutions by ordinary ones ---===//

#include "backend/cpu/layout/ConvolutionPhases.h"

#include <numeric>

using namespace mlir;
using sinter::nn::Size;
using sinter::nn::Sizes;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

namespace {

/// Results phase, phase + count, phase + 2 * count, ... along one dimension.
struct Phase {
  int64_t firstTap = 0, taps = 0; ///< Every tapStep-th tap.
  int64_t start = 0; ///< The input's element under the first tap, first result.
};

/// The phases along one dimension, and what their windows have in common.
struct Dimension {
  SmallVector<Phase> phases;
  int64_t tapStep = 1;
  int64_t stride = 1, windowDilation = 1;
  /// Results of the convolution, and of a phase.
  Size outputSize = 0, results = 0;
  /// Of the last results of phases so many are not needed.
  int64_t surplus = 0;

  Dimension(TensorBuilder &emit, const PlainConvolution &plain,
            int64_t dimension);

  int64_t count() const { return static_cast<int64_t>(phases.size()); }
  /// The padding behind the input by which a window of \p taps that begins at
  /// \p start has \p more places than a phase has results.
  int64_t paddingBehind(int64_t start, int64_t taps, int64_t more) const;
  /// What part of its results \p more places are; nothing to speak of where it
  /// is not known.
  double partOf(int64_t more) const {
    return results.isKnown() ? double(more) / double(results.known()) : 0;
  }

private:
  void findPhases(const stablehlo::WindowDimension &window);

  /// The input's elements, and by how many more a phase has results.
  int64_t inputSize, excess;
};

/// Numbers of phases, one of each dimension.
using Choice = SmallVector<int64_t, 3>;

/// Phases that one convolution computes: along each dimension some that have
/// equally many taps.
using Family = SmallVector<SmallVector<int64_t>, 3>;

class PhaseWriter {
public:
  using Compute = llvm::function_ref<Value(const PlainConvolution &)>;

  PhaseWriter(TensorBuilder &emit, const PlainConvolution &plain, int64_t lanes,
              Compute compute)
      : emit(emit), plain(plain), lanes(lanes), compute(compute) {
    for (int64_t i = 0; i < plain.spatialRank(); ++i)
      dimensions.emplace_back(emit, plain, i);
  }

  Value run();

private:
  SmallVector<SmallVector<int64_t>> familiesOf(const Dimension &dimension);
  bool isWorthJoining(const Family &family) const;
  void computeFamily(const Family &family);
  Value kernelOf(const Choice &choice);
  Value partOf(Value joined, const Family &family, const Choice &choice,
               int64_t index, int64_t count);
  Value interleave();
  Sizes phaseSizes() const;

  size_t indexOf(const Choice &choice) const {
    int64_t index = 0;
    for (auto [dimension, phase] : llvm::zip_equal(dimensions, choice))
      index = index * dimension.count() + phase;
    return index;
  }

  TensorBuilder &emit;
  const PlainConvolution &plain;
  int64_t lanes;
  Compute compute;
  SmallVector<Dimension, 3> dimensions;
  SmallVector<Value> results; ///< By indexOf; all of the same shape.
};

} // namespace

/// Calls \p body with one number of each of \p lists, the last fastest.
static void forEachChoice(ArrayRef<SmallVector<int64_t>> lists,
                          llvm::function_ref<void(const Choice &)> body) {
  SmallVector<size_t> at(lists.size(), 0);
  while (true) {
    Choice choice;
    for (auto [list, index] : llvm::zip_equal(lists, at))
      choice.push_back(list[index]);
    body(choice);
    size_t d = lists.size();
    while (d > 0 && ++at[d - 1] == lists[d - 1].size())
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

/// Result y meets tap t where D divides y * S - P + t * E, at the quotient: D
/// and E are the dilations of input and window, S the stride, P the padding.
void Dimension::findPhases(const stablehlo::WindowDimension &window) {
  const int64_t base = window.baseDilation;
  const int64_t common = std::gcd(base, window.windowDilation);
  tapStep = base / common;
  windowDilation = window.windowDilation / common;
  stride = window.stride / std::gcd(base, window.stride);
  for (int64_t y = 0; y < base / std::gcd(base, window.stride); ++y) {
    Phase phase;
    auto place = [&](int64_t tap) {
      return y * window.stride - window.paddingLow +
             tap * window.windowDilation;
    };
    while (phase.firstTap < tapStep && place(phase.firstTap) % base != 0)
      ++phase.firstTap;
    if (phase.firstTap < std::min(tapStep, window.size)) {
      phase.taps = llvm::divideCeil(window.size - phase.firstTap, tapStep);
      phase.start = place(phase.firstTap) / base;
    }
    phases.push_back(phase);
  }
}

/// As many results as D * size + rest, if the stride is 1: a phase has
/// ceil(rest / D) more than there are elements.
Dimension::Dimension(TensorBuilder &emit, const PlainConvolution &plain,
                     int64_t dimension)
    : inputSize(plain.inputSize(dimension)) {
  const stablehlo::WindowDimension &window = plain.window[dimension];
  findPhases(window);
  if (const int64_t known = plain.outputSize(dimension);
      !ShapedType::isDynamic(known)) {
    outputSize = known;
    results = llvm::divideCeil(known, count());
    excess = results.known() - inputSize;
    surplus = results.known() * count() - known;
    return;
  }
  const int64_t base = window.baseDilation;
  const int64_t rest = window.paddingLow + window.paddingHigh -
                       (window.size - 1) * window.windowDilation + 1 - base;
  excess = llvm::divideCeilSigned(rest, base);
  surplus = excess * base - rest;
  const Size size = Size::of(plain.input, dimension + 2);
  outputSize = emit.sum(emit.product(size, base), rest);
  results = emit.sum(size, excess);
}

int64_t Dimension::paddingBehind(int64_t start, int64_t taps,
                                 int64_t more) const {
  // start + (results + more - 1) * stride + (taps - 1) * dilation + 1 - size
  const int64_t reach =
      start + (more - 1) * stride + (taps - 1) * windowDilation + 1;
  return results.isKnown() ? reach + results.known() * stride - inputSize
                           : reach + excess;
}

/// Phases with equally many taps whose windows are whole strides apart.
SmallVector<SmallVector<int64_t>>
PhaseWriter::familiesOf(const Dimension &dimension) {
  SmallVector<SmallVector<int64_t>> families;
  for (auto [i, phase] : llvm::enumerate(dimension.phases)) {
    auto fits = [&, &phase = phase](ArrayRef<int64_t> family) {
      const Phase &first = dimension.phases[family[0]];
      return first.taps == phase.taps &&
             (phase.start - first.start) % dimension.stride == 0;
    };
    auto found = llvm::find_if(families, fits);
    if (found == families.end())
      families.push_back({static_cast<int64_t>(i)});
    else
      found->push_back(static_cast<int64_t>(i));
  }
  return families;
}

static std::pair<int64_t, int64_t> startsOf(const Dimension &dimension,
                                            ArrayRef<int64_t> family) {
  int64_t first = dimension.phases[family[0]].start, last = first;
  for (int64_t phase : family) {
    first = std::min(first, dimension.phases[phase].start);
    last = std::max(last, dimension.phases[phase].start);
  }
  return {first, last};
}

/// Joined phases compute a few results too many; phases by themselves fill
/// their last block of channels less. One channel a group has a kernel of its
/// own, joined ones do not.
bool PhaseWriter::isWorthJoining(const Family &family) const {
  if (plain.isDepthwise())
    return false;
  double phases = 1, places = 1;
  for (auto [dimension, list] : llvm::zip_equal(dimensions, family)) {
    auto [first, last] = startsOf(dimension, list);
    int64_t shift = (last - first) / dimension.stride;
    phases *= double(list.size());
    places *= 1 + dimension.partOf(shift);
  }
  auto filled = [&](double channels) {
    return std::ceil(channels / double(lanes));
  };
  const auto channels = double(plain.groupOutputs());
  return filled(phases * channels) * places <= phases * filled(channels) * 1.1;
}

/// The taps of one phase of each dimension, [K, C / groups, taps...].
Value PhaseWriter::kernelOf(const Choice &choice) {
  SmallVector<int64_t> starts(2, 0), strides(2, 1);
  for (auto [dimension, index] : llvm::zip_equal(dimensions, choice)) {
    starts.push_back(dimension.phases[index].firstTap);
    strides.push_back(dimension.tapStep);
  }
  return emit.slice(plain.kernel, starts, emit.sizes(plain.kernel), strides);
}

/// Of the result of a family, [N, groups, count, K / groups, places...], what
/// belongs to one phase: [N, K, results...].
Value PhaseWriter::partOf(Value joined, const Family &family,
                          const Choice &choice, int64_t index, int64_t count) {
  Sizes split = {plain.batch(), plain.groups, count, plain.groupOutputs()};
  llvm::append_range(split, emit.sizes(joined).drop_front(2));
  SmallVector<int64_t> starts(split.size(), 0), strides(split.size(), 1);
  Sizes limits = split;
  starts[2] = index;
  limits[2] = index + 1;
  for (size_t i = 0; i < choice.size(); ++i) {
    const Dimension &dimension = dimensions[i];
    starts[i + 4] = (dimension.phases[choice[i]].start -
                     startsOf(dimension, family[i]).first) /
                    dimension.stride;
    limits[i + 4] = emit.sum(dimension.results, starts[i + 4]);
  }
  return emit.reshape(
      emit.slice(emit.reshape(joined, split), starts, limits, strides),
      phaseSizes());
}

/// [N, K, results...]
Sizes PhaseWriter::phaseSizes() const {
  Sizes sizes = {plain.batch(), plain.outputs()};
  for (const Dimension &each : dimensions)
    sizes.push_back(each.results);
  return sizes;
}

void PhaseWriter::computeFamily(const Family &family) {
  SmallVector<Choice> choices;
  forEachChoice(family,
                [&](const Choice &choice) { choices.push_back(choice); });
  const auto count = static_cast<int64_t>(choices.size());
  PlainConvolution part = plain;
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    auto [first, last] = startsOf(dimension, family[i]);
    stablehlo::WindowDimension &window = part.window[i];
    window = {};
    window.size = dimension.phases[family[i][0]].taps;
    window.stride = dimension.stride;
    window.windowDilation = dimension.windowDilation;
    if (window.size == 0) {
      // Nothing meets these results.
      for (const Choice &choice : choices)
        results[indexOf(choice)] =
            emit.splat(0, phaseSizes(), tensorOf(plain.input).getElementType());
      return;
    }
    window.paddingLow = -first;
    window.paddingHigh = dimension.paddingBehind(
        first, window.size, (last - first) / dimension.stride);
  }
  // The kernels of all phases, beside each other in each group.
  SmallVector<Value> kernels;
  for (const Choice &choice : choices) {
    Value kernel = kernelOf(choice);
    Sizes shape = emit.sizes(kernel);
    shape[0] = plain.groupOutputs();
    shape.insert(shape.begin(), {plain.groups, 1});
    kernels.push_back(emit.reshape(kernel, shape));
  }
  Value joined = emit.concatenate(kernels, 1);
  Sizes shape = emit.sizes(joined).drop_front(2);
  shape[0] = plain.outputs() * count;
  part.kernel = emit.reshape(joined, shape);
  Value result = compute(part);
  for (auto [i, choice] : llvm::enumerate(choices))
    results[indexOf(choice)] =
        partOf(result, family, choice, static_cast<int64_t>(i), count);
}

/// Puts the results of the phases into their places, one dimension after the
/// other, the last one first.
Value PhaseWriter::interleave() {
  SmallVector<Value> values = results;
  for (int64_t i = plain.spatialRank() - 1; i >= 0; --i) {
    const auto count = static_cast<size_t>(dimensions[i].count());
    if (count == 1)
      continue;
    SmallVector<Value> joined;
    for (size_t first = 0; first < values.size(); first += count) {
      Sizes shape = emit.sizes(values[first]), single(shape);
      single.insert(single.begin() + i + 3, 1);
      shape[i + 2] = emit.product(shape[i + 2], dimensions[i].count());
      SmallVector<Value> pieces;
      for (Value piece : ArrayRef(values).slice(first, count))
        pieces.push_back(emit.reshape(piece, single));
      joined.push_back(emit.reshape(emit.concatenate(pieces, i + 3), shape));
    }
    values = joined;
  }
  Value whole = values[0];
  for (int64_t i = 0; i < plain.spatialRank(); ++i)
    if (dimensions[i].surplus != 0)
      whole = emit.slice(whole, i + 2, 0, dimensions[i].outputSize);
  return whole;
}

Value PhaseWriter::run() {
  size_t count = 1;
  SmallVector<SmallVector<SmallVector<int64_t>>> families;
  SmallVector<SmallVector<int64_t>> numbers;
  for (const Dimension &dimension : dimensions) {
    count *= dimension.phases.size();
    families.push_back(familiesOf(dimension));
    numbers.push_back(llvm::to_vector(
        llvm::seq<int64_t>(0, int64_t(families.back().size()))));
  }
  results.resize(count);
  forEachChoice(numbers, [&](const Choice &choice) {
    Family family;
    for (auto [list, index] : llvm::zip_equal(families, choice))
      family.push_back(list[index]);
    if (isWorthJoining(family))
      return computeFamily(family);
    forEachChoice(family, [&](const Choice &single) {
      Family alone;
      for (int64_t phase : single)
        alone.push_back({phase});
      computeFamily(alone);
    });
  });
  return interleave();
}

bool hasPhases(const PlainConvolution &plain) {
  constexpr int64_t mostPhases = 64;
  bool isDilated = false;
  int64_t count = 1;
  for (auto [i, each] : llvm::enumerate(plain.window)) {
    isDilated |= each.baseDilation != 1;
    if (each.stride != 1 &&
        ShapedType::isDynamic(plain.inputSize(static_cast<int64_t>(i))))
      return false;
    int64_t phases =
        each.baseDilation / std::gcd(each.baseDilation, each.stride);
    if (phases > mostPhases)
      return false;
    count *= phases;
    if (count > mostPhases)
      return false;
  }
  return isDilated;
}

Value computeByPhases(
    TensorBuilder &emit, const PlainConvolution &plain, int64_t lanes,
    llvm::function_ref<Value(const PlainConvolution &)> compute) {
  return PhaseWriter(emit, plain, lanes, compute).run();
}

} // namespace sinter::cpu
