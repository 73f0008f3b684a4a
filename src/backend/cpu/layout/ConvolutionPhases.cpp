//===- ConvolutionPhases.cpp - transposed convolutions by ordinary ones ---===//

#include "backend/cpu/layout/ConvolutionPhases.h"

#include <numeric>

using namespace mlir;
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
  int64_t inputSize = 0, outputSize = 0;

  Dimension(const stablehlo::WindowDimension &window, int64_t inputSize,
            int64_t outputSize);

  int64_t count() const { return static_cast<int64_t>(phases.size()); }
  /// Results of a phase; of the last ones perhaps one that is not needed.
  int64_t results() const { return llvm::divideCeil(outputSize, count()); }
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
      dimensions.emplace_back(plain.window[i], plain.inputSize(i),
                              plain.outputSize(i));
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
Dimension::Dimension(const stablehlo::WindowDimension &window,
                     int64_t inputSize, int64_t outputSize)
    : inputSize(inputSize), outputSize(outputSize) {
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
    places *= 1 + double(shift) / double(dimension.results());
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
  SmallVector<int64_t> limits(tensorOf(plain.kernel).getShape());
  for (auto [dimension, index] : llvm::zip_equal(dimensions, choice)) {
    starts.push_back(dimension.phases[index].firstTap);
    strides.push_back(dimension.tapStep);
  }
  return emit.make<stablehlo::SliceOp>(plain.kernel, starts, limits, strides);
}

/// Of the result of a family, [N, groups, count, K / groups, places...], what
/// belongs to one phase: [N, K, results...].
Value PhaseWriter::partOf(Value joined, const Family &family,
                          const Choice &choice, int64_t index, int64_t count) {
  SmallVector<int64_t> shape(tensorOf(joined).getShape());
  SmallVector<int64_t> split = {plain.batch(), plain.groups, count,
                                plain.groupOutputs()};
  split.append(shape.begin() + 2, shape.end());
  SmallVector<int64_t> starts(split.size(), 0), limits(split);
  SmallVector<int64_t> strides(split.size(), 1);
  starts[2] = index;
  limits[2] = index + 1;
  SmallVector<int64_t> result = {plain.batch(), plain.outputs()};
  for (size_t i = 0; i < choice.size(); ++i) {
    const Dimension &dimension = dimensions[i];
    starts[i + 4] = (dimension.phases[choice[i]].start -
                     startsOf(dimension, family[i]).first) /
                    dimension.stride;
    limits[i + 4] = starts[i + 4] + dimension.results();
    result.push_back(dimension.results());
  }
  return emit.reshape(emit.make<stablehlo::SliceOp>(emit.reshape(joined, split),
                                                    starts, limits, strides),
                      result);
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
      SmallVector<int64_t> shape = {plain.batch(), plain.outputs()};
      for (const Dimension &each : dimensions)
        shape.push_back(each.results());
      auto type =
          RankedTensorType::get(shape, tensorOf(plain.input).getElementType());
      for (const Choice &choice : choices)
        results[indexOf(choice)] = emit.splat(0, type);
      return;
    }
    placeWindow(window, dimension.inputSize, first,
                (last - first) / dimension.stride + dimension.results());
  }
  // The kernels of all phases, beside each other in each group.
  SmallVector<Value> kernels;
  for (const Choice &choice : choices) {
    Value kernel = kernelOf(choice);
    SmallVector<int64_t> shape(tensorOf(kernel).getShape());
    shape[0] = plain.groupOutputs();
    shape.insert(shape.begin(), {plain.groups, 1});
    kernels.push_back(emit.reshape(kernel, shape));
  }
  Value joined = emit.concatenate(kernels, 1);
  SmallVector<int64_t> shape(tensorOf(joined).getShape().drop_front(2));
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
      SmallVector<int64_t> shape(tensorOf(values[first]).getShape());
      SmallVector<int64_t> single(shape);
      single.insert(single.begin() + i + 3, 1);
      shape[i + 2] *= dimensions[i].count();
      SmallVector<Value> pieces;
      for (Value piece : ArrayRef(values).slice(first, count))
        pieces.push_back(emit.reshape(piece, single));
      joined.push_back(emit.reshape(emit.concatenate(pieces, i + 3), shape));
    }
    values = joined;
  }
  Value whole = values[0];
  for (int64_t i = 0; i < plain.spatialRank(); ++i)
    if (tensorOf(whole).getDimSize(i + 2) != dimensions[i].outputSize)
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
  for (const stablehlo::WindowDimension &each : plain.window) {
    isDilated |= each.baseDilation != 1;
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
