//===- Equalize.cpp - equalises ranges of channels ------------------------===//

#include "quantize/Equalize.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "quantize/WeightChannels.h"

#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::quantize {

namespace {

/// A constant with one element, or slice, for each of the activation's channels
/// from `first` on, along `axis`.
struct ConstantSite {
  OpOperand *operand;
  int64_t axis;
  int64_t first = 0;
};

/// Channels of an activation, from `first` on, that lie along a dimension of a
/// value that it is computed from.
struct ChannelRange {
  Value value;
  int64_t axis, first, count;
};

/// An activation by whose channels factors can move.
struct Passage {
  Value activation;
  int64_t channels = 0;
  /// The constants of its producers, to be divided. Whether these include
  /// products, and norms or factors.
  SmallVector<ConstantSite> sources;
  bool isFromProduct = false, isFromFactor = false;
  /// Its users, whose weights are multiplied.
  SmallVector<const Unit *> users;
};

} // namespace

/// The constant behind \p side, an operand of an elementwise operation, if it
/// has one element for each slice along dimension \p axis of the result.
static std::optional<ConstantSite>
channelConstant(OpOperand &side, int64_t axis, int64_t channels) {
  OpOperand *operand = &side;
  std::optional<int64_t> dimension = axis;
  while (!operand->get().getDefiningOp<ConstantOp>()) {
    Operation *op = operand->get().getDefiningOp();
    if (!op || !op->hasOneUse())
      return std::nullopt;
    if (std::optional<Broadcast> repeated = Broadcast::of(operand->get())) {
      const auto *found = llvm::find(repeated->dimensions, *dimension);
      if (found == repeated->dimensions.end())
        return std::nullopt;
      dimension = found - repeated->dimensions.begin();
    } else if (isa<ReshapeOp>(op)) {
      std::optional<Axes> axes = axesOf(op);
      dimension = axes ? axes->operandOf(0, *dimension) : std::nullopt;
      if (!dimension)
        return std::nullopt;
    } else {
      return std::nullopt;
    }
    operand = &op->getOpOperand(0);
  }
  auto type = tensorOf(operand->get());
  if (*dimension >= type.getRank() || type.getDimSize(*dimension) != channels ||
      type.getNumElements() != channels)
    return std::nullopt;
  return ConstantSite{operand, *dimension};
}

/// The sources of a norm's scale and shift.
template <typename Op>
static bool takeNorm(Operation *op, const ChannelRange &range,
                     SmallVector<ConstantSite> &sources) {
  auto norm = dyn_cast<Op>(op);
  if (!norm)
    return false;
  const int64_t last = tensorOf(op->getResult(0)).getRank() - 1;
  for (OpOperand &operand : op->getOpOperands().drop_front()) {
    auto constant = operand.get().getDefiningOp<ConstantOp>();
    if (!constant || range.axis != last ||
        tensorOf(operand.get()).getShape() != ArrayRef<int64_t>{range.count})
      return false;
    sources.push_back({&operand, 0, range.first});
  }
  return true;
}

/// If a positive factor for each slice along dimension \p axis of the result of
/// \p op can move through it, the dimension of the operand.
static std::optional<int64_t> passes(Operation *op, int64_t axis) {
  auto rescale = dyn_cast<RescaleOpInterface>(op);
  if (!rescale || op->getNumResults() != 1)
    return std::nullopt;
  // Constants beside it would have to be divided, too.
  const auto isFloats = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && isa<FloatType>(type.getElementType());
  };
  const bool isAlone =
      llvm::none_of(op->getOperands().drop_front(), [&](Value value) {
        return isFloats(value) &&
               !(isa<MaxOp, MinOp>(op) && splatNumber(value) == 0.0);
      });
  const bool hasWay =
      llvm::any_of(rescale.getRescaleWays(), [](const RescaleWay &way) {
        return llvm::is_contained(way.operands, 0u);
      });
  std::optional<Axes> axes = axesOf(op);
  if (!isAlone || !hasWay || !axes)
    return std::nullopt;
  return axes->operandOf(0, axis);
}

/// The weights of \p op, a product, as a source.
static std::optional<ConstantSite>
productSource(Operation *op, const ChannelRange &range, const Units &units) {
  auto unit = units.unitOf.find(op);
  if (unit == units.unitOf.end())
    return std::nullopt;
  const Unit &product = units.units[unit->second];
  std::optional<Axes> axes = axesOf(op);
  if (product.kind != UnitKind::Product || !product.weights.channelAxis ||
      !axes)
    return std::nullopt;
  const unsigned number = product.weights.side;
  const int64_t own = *product.weights.channelAxis;
  if (tensorOf(product.weights.operand->get()).getDimSize(own) != range.count)
    return std::nullopt;
  const std::optional<int64_t> along =
      isa<ConvolutionOp>(op)
          ? std::optional<int64_t>(cast<ConvolutionOp>(op)
                                       .getDimensionNumbers()
                                       .getOutputFeatureDimension())
          : axes->resultOf(number, own);
  if (along != range.axis)
    return std::nullopt;
  return ConstantSite{product.weights.operand, own, range.first};
}

/// The ranges of channels that \p op concatenates to \p range; none where one
/// of them is dynamic.
static SmallVector<ChannelRange> operandRanges(ConcatenateOp op,
                                               const ChannelRange &range) {
  SmallVector<ChannelRange> ranges;
  const bool isAlongChannels =
      static_cast<int64_t>(op.getDimension()) == range.axis;
  int64_t first = range.first;
  for (Value input : op.getInputs()) {
    ChannelRange operandRange = {input, range.axis, first, range.count};
    if (isAlongChannels) {
      operandRange.count = tensorOf(input).getDimSize(range.axis);
      first += operandRange.count;
    }
    if (ShapedType::isDynamic(operandRange.count))
      return {};
    ranges.push_back(operandRange);
  }
  return ranges;
}

/// Goes one operation up from \p range: its producer is a source of the
/// passage, or has operands with the same channels, which become \p next.
static bool climb(Passage &passage, const ChannelRange &range,
                  const Units &units, SmallVector<ChannelRange> &next) {
  Operation *op = range.value.getDefiningOp();
  if (!op)
    return false;
  SmallVector<ConstantSite> &sources = passage.sources;
  if (isa<ConvolutionOp, DotGeneralOp>(op)) {
    const std::optional<ConstantSite> source = productSource(op, range, units);
    if (!source)
      return false;
    sources.push_back(*source);
    passage.isFromProduct = true;
    return true;
  }
  if (takeNorm<nn::LayerNormOp>(op, range, sources) ||
      takeNorm<nn::RmsNormOp>(op, range, sources)) {
    passage.isFromFactor = true;
    return true;
  }
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    next.append(operandRanges(concatenate, range));
    return !next.empty();
  }
  ChannelRange above = range;
  if (isa<AddOp, MulOp>(op)) {
    for (OpOperand &side : op->getOpOperands())
      if (auto found = channelConstant(side, range.axis, range.count)) {
        sources.push_back({found->operand, found->axis, range.first});
        passage.isFromFactor |= isa<MulOp>(op);
        above.value = op->getOperand(1 - side.getOperandNumber());
        if (isa<AddOp>(op))
          next.push_back(above);
        return true;
      }
    return false;
  }
  const std::optional<int64_t> before = passes(op, range.axis);
  if (!before)
    return false;
  above.value = op->getOperand(0);
  above.axis = *before;
  next.push_back(above);
  return true;
}

/// Goes up from the activation, whose channels lie along \p axis, to all of its
/// sources.
static bool findSources(Passage &passage, int64_t axis, const Units &units) {
  constexpr int most = 256;
  SmallVector<ChannelRange> ranges = {
      {passage.activation, axis, 0, passage.channels}};
  for (int i = 0; i < most && !ranges.empty(); ++i) {
    const ChannelRange range = ranges.pop_back_val();
    SmallVector<ChannelRange> next;
    if ((i != 0 && !hasOneElementUse(range.value)) ||
        !climb(passage, range, units, next))
      return false;
    ranges.append(next);
  }
  return ranges.empty();
}

/// The passages of a graph, one for each activation that products use.
static std::vector<Passage> findPassages(const Units &units) {
  llvm::MapVector<Value, SmallVector<const Unit *>> users;
  for (const Unit &unit : units.units)
    if (unit.kind == UnitKind::Product && unit.weights.activationAxis)
      users[unit.data.front()->get()].push_back(&unit);
  std::vector<Passage> passages;
  for (auto &[value, products] : users) {
    const int64_t axis = *products.front()->weights.activationAxis;
    const int64_t channels = tensorOf(value).getDimSize(axis);
    llvm::SmallPtrSet<OpOperand *, 4> uses;
    for (const Unit *product : products)
      if (product->weights.activationAxis == axis)
        uses.insert(product->data.front());
    const bool isReadByOthers =
        llvm::any_of(value.getUses(), [&](OpOperand &use) {
          return !uses.contains(&use) && !usesShapeOnly(use);
        });
    Passage passage{value, channels, {}, false, false, products};
    if (!isReadByOthers && !ShapedType::isDynamic(channels) && channels > 1 &&
        findSources(passage, axis, units))
      passages.push_back(std::move(passage));
  }
  return passages;
}

//===----------------------------------------------------------------------===//
// Which factors
//===----------------------------------------------------------------------===//

namespace {

/// The weights that multiply an activation, and statistics of its channels.
class NoiseEstimate {
public:
  static std::optional<NoiseEstimate> of(const Passage &passage,
                                         const TensorProfile &profile);

  /// The factors range(x)^power / range(w)^(1 - power), 1 where a channel is
  /// empty.
  std::vector<double> factors(double power) const;
  /// The noise of the products' results, with the channels divided by
  /// \p factors.
  double noise(const std::vector<double> &factors) const;

private:
  std::vector<double> noiseByChannel(const std::vector<double> &factors) const;

  struct WeightUse {
    Tensor weights;
    WeightChannels channels;
  };
  std::vector<WeightUse> users;
  const ChannelProfile *profile = nullptr;
  /// How many elements of each channel were seen.
  double seen = 0;
  /// The largest magnitude of each channel in activation, widened, and weights.
  std::vector<double> ranges, weightRanges;
  bool areDepthwise = true;
};

} // namespace

/// The fewer elements of a channel were seen, the less is known of its range:
/// with n elements its range is moved towards that of the tensor by 1 /
/// sqrt(n).
std::optional<NoiseEstimate> NoiseEstimate::of(const Passage &passage,
                                               const TensorProfile &profile) {
  const ChannelProfile &channelwise = profile.channels;
  const auto channels = static_cast<size_t>(passage.channels);
  if (channelwise.least.size() != channels ||
      channelwise.square.size() != channels)
    return std::nullopt;
  NoiseEstimate estimate;
  estimate.profile = &channelwise;
  estimate.seen = std::max(1.0, static_cast<double>(profile.elements) /
                                    static_cast<double>(channels));
  estimate.ranges.resize(channels);
  estimate.weightRanges.resize(channels);
  const double whole = std::max(-profile.least, profile.greatest);
  for (size_t i = 0; i < channels; ++i)
    if (const double range =
            std::max({0.0, -channelwise.least[i], channelwise.greatest[i]});
        range > 0)
      estimate.ranges[i] = range + (whole - range) / std::sqrt(estimate.seen);
  for (const Unit *unit : passage.users) {
    std::optional<Tensor> weights =
        constantTensor(unit->weights.operand->get());
    if (!weights)
      return std::nullopt;
    std::optional<WeightChannels> channels =
        WeightChannels::of(unit->weights, *weights, passage.channels);
    if (!channels)
      return std::nullopt;
    estimate.areDepthwise &= channels->isDepthwise();
    for (int64_t i = 0; i < weights->size(); ++i) {
      const double magnitude = std::abs(weights->toDouble(i));
      if (!std::isfinite(magnitude))
        return std::nullopt;
      double &range = estimate.weightRanges[channels->inputOf(i)];
      range = std::max(range, magnitude);
    }
    estimate.users.push_back({std::move(*weights), *channels});
  }
  return estimate;
}

std::vector<double> NoiseEstimate::factors(double power) const {
  std::vector<double> factors(ranges.size(), 1);
  double sum = 0, count = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    // A row with a single channel has its own scale: its range is free.
    const double weight = areDepthwise ? 1 : weightRanges[i];
    if (!(ranges[i] > 0) || !(weight > 0))
      continue;
    factors[i] = std::pow(ranges[i], power) / std::pow(weight, 1 - power);
    sum += std::log(factors[i]);
    ++count;
  }
  // On average nothing changes, and no channel by more than the range of floats
  // allows.
  constexpr double most = 1e4;
  const double middle = count > 0 ? std::exp(sum / count) : 1;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i] > 0 && (areDepthwise || weightRanges[i] > 0))
      factors[i] =
          static_cast<float>(std::clamp(factors[i] / middle, 1 / most, most));
  return factors;
}

/// For each channel, divided by its factor: the mean square of rounding and
/// clipping errors. The tail beyond the n elements that were seen is assumed to
/// be exponential, with the root mean square as its mean: an element exceeds
/// the largest one by more than d with the probability exp(-d / mean) / n.
/// Channels with spare range are clipped less.
std::vector<double>
NoiseEstimate::noiseByChannel(const std::vector<double> &factors) const {
  constexpr double steps = 255;
  double least = 0, greatest = 0;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!(ranges[i] > 0))
      continue;
    least = std::min(least, profile->least[i] / factors[i]);
    greatest = std::max(greatest, profile->greatest[i] / factors[i]);
  }
  const double step = (greatest - least) / steps;
  std::vector<double> noise(factors.size(), step * step / 12);
  for (size_t i = 0; i < factors.size(); ++i) {
    const double mean = std::sqrt(profile->square[i]) / factors[i];
    if (!(ranges[i] > 0) || !(mean > 0))
      continue;
    double beyond =
        std::exp((profile->greatest[i] / factors[i] - greatest) / mean);
    if (profile->least[i] < 0)
      beyond += std::exp((least - profile->least[i] / factors[i]) / mean);
    noise[i] += 2 * mean * mean * beyond / seen;
  }
  return noise;
}

double NoiseEstimate::noise(const std::vector<double> &factors) const {
  constexpr double weightSteps = 127;
  const std::vector<double> ofChannel = noiseByChannel(factors);
  double noise = 0;
  for (const WeightUse &user : users) {
    std::vector<double> rowRange(user.channels.outputs()),
        rowPower(user.channels.outputs());
    for (int64_t i = 0; i < user.weights.size(); ++i) {
      const int64_t input = user.channels.inputOf(i),
                    output = user.channels.outputOf(i);
      const double weight = user.weights.toDouble(i) * factors[input];
      noise += ofChannel[input] * weight * weight;
      rowRange[output] = std::max(rowRange[output], std::abs(weight));
      rowPower[output] +=
          profile->square[input] / (factors[input] * factors[input]);
    }
    for (size_t row = 0; row < rowRange.size(); ++row) {
      const double rowStep = rowRange[row] / weightSteps;
      noise += rowStep * rowStep / 12 * rowPower[row];
    }
  }
  return noise;
}

//===----------------------------------------------------------------------===//
// Moving them
//===----------------------------------------------------------------------===//

/// Multiplies each slice of the constant along \p axis by its factor, from
/// \p factorOf.
static void scaleConstant(OpOperand &operand,
                          llvm::function_ref<double(int64_t)> factorOf) {
  std::optional<Tensor> tensor = constantTensor(operand.get());
  std::vector<double> numbers;
  numbers.reserve(tensor->size());
  for (int64_t i = 0; i < tensor->size(); ++i)
    numbers.push_back(tensor->toDouble(i) * factorOf(i));
  OpBuilder builder(operand.getOwner());
  const std::string name = constantName(operand.get()).str();
  operand.set(
      makeConstant(builder, operand.get().getLoc(),
                   tensorOfDoubles(tensor->type(), tensor->shape(), numbers),
                   name.empty() || StringRef(name).ends_with("_equalized")
                       ? name
                       : name + "_equalized"));
}

static void moveFactors(const Passage &passage,
                        const std::vector<double> &factors) {
  for (const ConstantSite &site : passage.sources) {
    const Tensor tensor = *constantTensor(site.operand->get());
    int64_t inner = 1;
    for (int64_t i = site.axis + 1; i < tensor.rank(); ++i)
      inner *= tensor.dim(i);
    scaleConstant(*site.operand, [&](int64_t element) {
      return 1 / factors[site.first + element / inner % tensor.dim(site.axis)];
    });
  }
  for (const Unit *user : passage.users) {
    const Tensor weights = *constantTensor(user->weights.operand->get());
    const WeightChannels channels =
        *WeightChannels::of(user->weights, weights, passage.channels);
    scaleConstant(*user->weights.operand, [&](int64_t element) {
      return factors[channels.inputOf(element)];
    });
  }
}

static bool haveConstants(const Passage &passage) {
  return llvm::all_of(passage.sources, [](const ConstantSite &site) {
    return constantTensor(site.operand->get()).has_value();
  });
}

std::vector<Equalized> equalize(const Model &model, ProfileOf profileOf,
                                const QuantizeOptions &options) {
  constexpr double powers[] = {0.25, 0.5, 0.75, 1};
  // A smaller gain is not worth it: every change rounds floats again.
  constexpr double leastGain = 0.1;
  std::vector<Equalized> all;
  const Units units = findUnits(model);
  for (const Passage &passage : findPassages(units)) {
    const TensorProfile *profile = profileOf(passage.activation);
    const bool isWanted = (!passage.isFromProduct || options.equalize) &&
                          (!passage.isFromFactor || options.smooth);
    if (!isWanted || !profile || profile->notFinite || !haveConstants(passage))
      continue;
    std::optional<NoiseEstimate> estimate =
        NoiseEstimate::of(passage, *profile);
    if (!estimate)
      continue;
    const double before =
        estimate->noise(std::vector<double>(passage.channels, 1));
    Equalized best;
    best.of.tensor = profile->name;
    for (double power : powers) {
      std::vector<double> factors = estimate->factors(power);
      const double gain = 10 * std::log10(before / estimate->noise(factors));
      if (std::isfinite(gain) && gain > std::max(best.gain, leastGain)) {
        best.gain = gain;
        best.of.factors = std::move(factors);
      }
    }
    if (best.of.factors.empty())
      continue;
    moveFactors(passage, best.of.factors);
    all.push_back(std::move(best));
  }
  return all;
}

bool applyFactors(const Model &model,
                  llvm::function_ref<Value(StringRef)> valueOf,
                  const std::vector<EqualizedTensor> &factors) {
  const Units units = findUnits(model);
  llvm::DenseMap<Value, const EqualizedTensor *> wanted;
  for (const EqualizedTensor &each : factors) {
    Value value = valueOf(each.tensor);
    if (!value)
      return false;
    wanted[value] = &each;
  }
  for (const Passage &passage : findPassages(units)) {
    auto found = wanted.find(passage.activation);
    if (found == wanted.end())
      continue;
    if (found->second->factors.size() !=
            static_cast<size_t>(passage.channels) ||
        !haveConstants(passage))
      return false;
    moveFactors(passage, found->second->factors);
    wanted.erase(found);
  }
  return wanted.empty();
}

} // namespace sinter::quantize
