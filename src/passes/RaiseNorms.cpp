#include "passes/RaiseNorms.h"

#include "graph/nn/NnOps.h"
#include "passes/Matching.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

namespace {

/// Which forms of a norm are matched.
enum class Spelling {
  exact,   ///< f32 and f64, computed as `nn` computes it
  relaxed, ///< f32 and f64, up to a different order of operations
  narrow,  ///< f16 and bf16, whose rounding exceeds that
};

/// Follows a norm from its last operation to its operand. The operations that
/// it has seen are in `inside`.
class NormMatcher {
public:
  explicit NormMatcher(Spelling spelling) : spelling(spelling) {}

  bool isRelaxed() const { return spelling != Spelling::exact; }

  /// Whether the spelling applies to the type of \p value.
  bool accepts(Value value) const {
    return spelling == Spelling::narrow ? isHalf(value)
                                        : isWideFloatTensor(value);
  }

  /// The value with one element for each row of \p wide, which broadcasts it
  /// along the last dimensions. The first one found determines these.
  Value rowsOf(Value wide) {
    auto broadcast = wide.getDefiningOp<BroadcastInDimOp>();
    auto type = tensorOf(wide);
    if (!broadcast || !type.hasStaticShape())
      return {};
    auto from = tensorOf(broadcast.getOperand());
    int64_t end = 0;
    for (auto [size, dim] :
         llvm::zip(from.getShape(), broadcast.getBroadcastDimensions()))
      if (size != 1) {
        // In order, without gaps other than the broadcast dimensions.
        for (; end < dim; ++end)
          if (type.getDimSize(end) != 1)
            return {};
        if (end++ != dim)
          return {};
      }
    rows.assign(type.getShape().begin(), type.getShape().begin() + end);
    llvm::erase(rows, 1);
    inside.insert(broadcast);
    return unshaped(broadcast.getOperand());
  }

  /// \p x where \p value is the mean over its last dimensions.
  Value meanOf(Value value) {
    Value sum = unshaped(value);
    Operation *division = sum.getDefiningOp();
    if (!isa_and_nonnull<DivOp, MulOp>(division) ||
        !splatValue(division->getOperand(1)))
      return {};
    inside.insert(division);
    auto reduce = unshaped(division->getOperand(0)).getDefiningOp<ReduceOp>();
    if (!reduce || reduce.getInputs().size() != 1 ||
        soleOperation(reduce.getBody()) != AddOp::getOperationName() ||
        splatValue(reduce.getInitValues()[0]) != 0.0)
      return {};
    Value x = unwidened(reduce.getInputs()[0]);
    auto type = tensorOf(x);
    int64_t first = type.getRank() - reduce.getDimensions().size();
    if (!type.hasStaticShape() || reduce.getDimensions().empty() ||
        !accepts(x) ||
        llvm::any_of(reduce.getDimensions(),
                     [&](int64_t dim) { return dim < first; }) ||
        (axis && *axis != first))
      return {};
    SmallVector<int64_t> kept(type.getShape().take_front(first));
    llvm::erase(kept, 1);
    if (ArrayRef(kept) != ArrayRef(rows))
      return {};
    axis = first;
    inside.insert(reduce);
    return divides(division, type) ? x : Value();
  }

  /// v where \p value is v + epsilon.
  Value withoutEpsilon(Value value) {
    auto sum = unshaped(value).getDefiningOp<AddOp>();
    std::optional<double> number =
        sum ? splatValue(sum.getRhs()) : std::nullopt;
    if (!number || !(*number >= 0))
      return {};
    epsilon = *number;
    inside.insert(sum);
    return sum.getLhs();
  }

  /// Whether \p value is the mean of \p x times itself.
  bool isMeanSquare(Value value, Value x) {
    Value square = meanOf(value);
    auto product = square ? square.getDefiningOp<MulOp>() : MulOp();
    if (!product || product.getLhs() != x || product.getRhs() != x)
      return false;
    inside.insert(product);
    return true;
  }

  /// Whether \p value is the variance of \p x, of which \p centred is x - mean.
  bool isVariance(Value value, Value x, Value centred, Value mean) {
    NormMatcher before = *this;
    if (isMeanSquare(value, centred))
      return true;
    *this = std::move(before);
    if (!isRelaxed())
      return false;
    value = unshaped(value);
    if (auto max = value.getDefiningOp<MaxOp>()) {
      bool isLeft = splatValue(max.getLhs()) == 0.0;
      if (!isLeft && splatValue(max.getRhs()) != 0.0)
        return false;
      inside.insert(max);
      value = unshaped(isLeft ? max.getRhs() : max.getLhs());
    }
    auto difference = value.getDefiningOp<SubtractOp>();
    auto square = difference
                      ? unshaped(difference.getRhs()).getDefiningOp<MulOp>()
                      : MulOp();
    if (!square || square.getLhs() != square.getRhs() ||
        unshaped(square.getLhs()) != mean ||
        !isMeanSquare(difference.getLhs(), x))
      return false;
    inside.insert(difference);
    inside.insert(square);
    return true;
  }

  /// Whether only \p root and operations inside use the results of those
  /// inside. Other users of \p x in f32 do not matter.
  bool isClosed(Operation *root, Value x) const {
    return llvm::all_of(inside, [&](Operation *op) {
      if (isa<ConvertOp>(op) && op->getOperand(0) == x)
        return true;
      return llvm::all_of(op->getUsers(), [&](Operation *user) {
        return user == root || inside.contains(user);
      });
    });
  }

  /// The f16 or bf16 value that \p value is the conversion of to f32; else
  /// \p value.
  Value unwidened(Value value) {
    auto convert = value.getDefiningOp<ConvertOp>();
    if (spelling != Spelling::narrow || !convert ||
        !tensorOf(value).getElementType().isF32() ||
        !isHalf(convert.getOperand()))
      return value;
    inside.insert(convert);
    return convert.getOperand();
  }

  /// The source of \p value behind reshapes that only add or drop dimensions of
  /// size 1 and, for f16 and bf16, behind conversions.
  Value unshaped(Value value) {
    auto proper = [](Value v) {
      SmallVector<int64_t> sizes(tensorOf(v).getShape());
      llvm::erase(sizes, 1);
      return sizes;
    };
    while (Operation *op = value.getDefiningOp()) {
      if (Value rounded = unrounded(value)) {
        value = rounded;
        continue;
      }
      if (!isa<ReshapeOp, BroadcastInDimOp>(op) ||
          !tensorOf(value).hasStaticShape() ||
          !tensorOf(op->getOperand(0)).hasStaticShape() ||
          proper(value) != proper(op->getOperand(0)))
        break;
      if (auto broadcast = dyn_cast<BroadcastInDimOp>(op);
          broadcast && !llvm::is_sorted(broadcast.getBroadcastDimensions()))
        break;
      inside.insert(op);
      value = op->getOperand(0);
    }
    return value;
  }

  Spelling spelling;
  std::optional<int64_t> axis;
  double epsilon = 0;
  llvm::SetVector<Operation *> inside;

private:
  static bool isHalf(Value value) {
    Type type = tensorOf(value).getElementType();
    return type.isF16() || type.isBF16();
  }

  /// The operand of \p value if that is a conversion between f32 and f16 or
  /// bf16; null otherwise.
  Value unrounded(Value value) {
    if (Value narrow = unwidened(value); narrow != value)
      return narrow;
    auto convert = value.getDefiningOp<ConvertOp>();
    if (spelling != Spelling::narrow || !convert || !isHalf(value) ||
        !tensorOf(convert.getOperand()).getElementType().isF32())
      return {};
    inside.insert(convert);
    return convert.getOperand();
  }

  /// Whether a division or multiplication by a scalar divides by the size of
  /// the reduced dimensions.
  bool divides(Operation *division, RankedTensorType type) const {
    double count = 1;
    for (int64_t size : type.getShape().drop_front(*axis))
      count *= size;
    Value by = division->getOperand(1);
    std::optional<double> number = splatValue(by);
    auto rounded = [&](double value) {
      return tensorOfDoubles(*elementTypeOf(tensorOf(by).getElementType()), {1},
                             value)
          .toDouble(0);
    };
    if (isa<DivOp>(division))
      return number == rounded(count);
    int exponent = 0;
    return (isRelaxed() || std::frexp(count, &exponent) == 0.5) &&
           number == rounded(1 / count);
  }

  SmallVector<int64_t> rows;
};

/// A norm of x, whose root is one of the last operations.
struct Norm {
  Value x;
  int64_t axis;
  double epsilon;
  bool isCentred;
  /// A scale that was multiplied inside.
  Value scale;
};

} // namespace

/// The norm that \p centred, multiplied or divided by the broadcast of
/// \p deviation, is.
static std::optional<Norm> matchNorm(NormMatcher matcher, Operation *root,
                                     Value centred, Value deviation,
                                     bool isInverse, Value scale = {}) {
  Value rows = matcher.rowsOf(deviation);
  Operation *function = rows ? rows.getDefiningOp() : nullptr;
  if (!function ||
      !(isInverse ? isa<RsqrtOp>(function) : isa<SqrtOp>(function)))
    return std::nullopt;
  matcher.inside.insert(function);
  Value variance = matcher.withoutEpsilon(function->getOperand(0));
  if (!variance)
    return std::nullopt;
  NormMatcher before = matcher;
  if (auto difference = centred.getDefiningOp<SubtractOp>()) {
    Value x = difference.getLhs();
    Value mean = matcher.rowsOf(difference.getRhs());
    matcher.inside.insert(difference);
    if (mean && matcher.meanOf(mean) == x &&
        matcher.isVariance(variance, x, centred, mean) &&
        matcher.isClosed(root, x))
      return Norm{x, *matcher.axis, matcher.epsilon, true, scale};
  }
  if (before.isMeanSquare(variance, centred) && before.isClosed(root, centred))
    return Norm{centred, *before.axis, before.epsilon, false, scale};
  return std::nullopt;
}

/// The type in which a norm of \p x is computed.
static Type computeTypeOf(Value x) {
  Type type = tensorOf(x).getElementType();
  return type.isF64() ? type : Float32Type::get(type.getContext());
}

static Value build(const Norm &norm, Value scale, Value bias, Location location,
                   OpBuilder &builder) {
  auto type = tensorOf(norm.x);
  auto normalised = RankedTensorType::get(type.getShape().drop_front(norm.axis),
                                          type.getElementType());
  auto fitted = [&](Value value) -> Value {
    return value && value.getType() != normalised
               ? builder.create<ReshapeOp>(location, normalised, value)
               : value;
  };
  scale = fitted(scale);
  bias = fitted(bias);
  if (!scale)
    scale = makeSplat(builder, location, normalised, 1);
  auto axis = builder.getI64IntegerAttr(norm.axis);
  auto epsilon = builder.getF64FloatAttr(norm.epsilon);
  auto compute = TypeAttr::get(computeTypeOf(norm.x));
  if (!norm.isCentred)
    return builder.create<nn::RmsNormOp>(location, type, norm.x, scale, axis,
                                         epsilon, compute);
  SmallVector<int64_t> shape(type.getShape());
  std::fill(shape.begin() + norm.axis, shape.end(), 1);
  Type statistics = RankedTensorType::get(shape, compute.getValue());
  return builder
      .create<nn::LayerNormOp>(location,
                               TypeRange{type, statistics, statistics}, norm.x,
                               scale, bias, axis, epsilon, compute)
      .getResult();
}

/// The operand of \p wide if that broadcasts along the dimensions before
/// \p axis: it has the normalised dimensions, with or without dimensions of
/// size 1 before them.
static Value trailing(Value wide, int64_t axis) {
  auto broadcast = wide.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast)
    return {};
  Value value = broadcast.getOperand();
  auto type = tensorOf(wide), from = tensorOf(value);
  int64_t more = type.getRank() - from.getRank();
  ArrayRef<int64_t> sizes = type.getShape().drop_front(axis);
  bool isAligned = more <= axis &&
                   from.getShape().take_back(sizes.size()) == sizes &&
                   llvm::equal(broadcast.getBroadcastDimensions(),
                               llvm::seq<int64_t>(more, type.getRank())) &&
                   llvm::all_of(from.getShape().drop_back(sizes.size()),
                                [](int64_t size) { return size == 1; });
  return isAligned ? value : Value();
}

static Value built(std::optional<Norm> norm, Operation *root,
                   OpBuilder &builder) {
  if (!norm || norm->x.getType() != root->getResult(0).getType())
    return {};
  Value scale = norm->scale ? trailing(norm->scale, norm->axis) : Value();
  if (norm->scale && !scale)
    return {};
  return build(*norm, scale, {}, root->getLoc(), builder);
}

template <Spelling spelling>
static Value raiseNorm(MulOp op, OpBuilder &builder) {
  NormMatcher matcher(spelling);
  if (!matcher.accepts(op))
    return {};
  for (auto [centred, factor] :
       {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    if (auto norm = matchNorm(matcher, op, centred, factor, true))
      return built(norm, op, builder);
    auto scaled = factor.template getDefiningOp<MulOp>();
    if (!matcher.isRelaxed() || !scaled)
      continue;
    NormMatcher inner = matcher;
    inner.inside.insert(scaled);
    for (auto [deviation, scale] : {std::pair(scaled.getLhs(), scaled.getRhs()),
                                    {scaled.getRhs(), scaled.getLhs()}})
      if (auto norm = matchNorm(inner, op, centred, deviation, true, scale))
        return built(norm, op, builder);
  }
  return {};
}

template <Spelling spelling>
static Value raiseDividedNorm(DivOp op, OpBuilder &builder) {
  NormMatcher matcher(spelling);
  if (!matcher.accepts(op))
    return {};
  return built(matchNorm(matcher, op, op.getLhs(), op.getRhs(), false), op,
               builder);
}

/// The norm that \p value is, if it has no bias and only one use.
static std::optional<Norm> plainNorm(Value value, Value &scale) {
  if (!value.hasOneUse())
    return std::nullopt;
  if (auto rms = value.getDefiningOp<nn::RmsNormOp>()) {
    scale = rms.getScale();
    return Norm{rms.getOperand(),
                static_cast<int64_t>(rms.getAxis()),
                rms.getEpsilon().convertToDouble(),
                false,
                {}};
  }
  auto norm = value.getDefiningOp<nn::LayerNormOp>();
  if (!norm || norm.getBias() || !norm.getMean().use_empty() ||
      !norm.getInverseDeviation().use_empty() ||
      norm.getComputeType() != computeTypeOf(value))
    return std::nullopt;
  scale = norm.getScale();
  return Norm{norm.getOperand(),
              static_cast<int64_t>(norm.getAxis()),
              norm.getEpsilon().convertToDouble(),
              true,
              {}};
}

static Value scaleNorm(MulOp op, OpBuilder &builder) {
  for (auto [value, factor] :
       {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    Value one;
    auto norm = plainNorm(value, one);
    Value scale = norm ? trailing(factor, norm->axis) : Value();
    auto rms = value.getDefiningOp<nn::RmsNormOp>();
    if (scale && splatValue(one) == 1.0 &&
        (!rms || rms.getComputeType() == computeTypeOf(value)))
      return build(*norm, scale, {}, op.getLoc(), builder);
  }
  return {};
}

static Value shiftNorm(AddOp op, OpBuilder &builder) {
  for (auto [value, offset] :
       {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    Value scale;
    auto norm = plainNorm(value, scale);
    Value bias =
        norm && norm->isCentred ? trailing(offset, norm->axis) : Value();
    if (bias)
      return build(*norm, scale, bias, op.getLoc(), builder);
  }
  return {};
}

/// What \p op reshapes; null where it does not.
static Value reshapedBy(Operation *op) {
  return isa_and_nonnull<ReshapeOp, DynamicReshapeOp>(op) ? op->getOperand(0)
                                                          : Value();
}

/// Whether \p op, which reshapes, does so to the shape of \p like.
static bool reshapesLike(Operation *op, Value like) {
  if (op->getResult(0).getType() != like.getType())
    return false;
  auto reshape = dyn_cast<DynamicReshapeOp>(op);
  auto shape = reshape ? reshape.getOutputShape().getDefiningOp<nn::ShapeOp>()
                       : nn::ShapeOp();
  return !reshape || (shape && shape.getOperand() == like);
}

/// \p numbers of groups, for each channel of them.
static Value ofChannels(Value numbers, int64_t channels, OpBuilder &builder) {
  const auto type = tensorOf(numbers);
  const int64_t groups = type.getDimSize(0);
  Value each = builder.create<BroadcastInDimOp>(
      numbers.getLoc(), type.clone({groups, channels / groups}), numbers,
      builder.getDenseI64ArrayAttr({0}));
  return builder.create<ReshapeOp>(numbers.getLoc(), type.clone({channels}),
                                   each);
}

/// A group that lies in one row is normalised as a channel; as many images and
/// groups make rows of the same channels.
static Value joinGroups(Operation *op, OpBuilder &builder) {
  Value rows = reshapedBy(op);
  auto norm = rows ? rows.getDefiningOp<nn::GroupNormOp>() : nn::GroupNormOp();
  Value x = norm && norm->hasOneUse()
                ? reshapedBy(norm.getOperand().getDefiningOp())
                : Value();
  if (!x || !reshapesLike(op, x))
    return {};
  const auto image = tensorOf(x), row = tensorOf(rows);
  const auto groups = static_cast<int64_t>(norm.getGroups());
  if (image.getRank() < 3 || row.getRank() != 3 ||
      row.getDimSize(1) != groups || image.isDynamicDim(0) ||
      row.getDimSize(0) != image.getDimSize(0) || image.isDynamicDim(1) ||
      image.getDimSize(1) % groups != 0)
    return {};
  const int64_t channels = image.getDimSize(1);
  return builder.create<nn::GroupNormOp>(
      norm.getLoc(), x, ofChannels(norm.getScale(), channels, builder),
      ofChannels(norm.getBias(), channels, builder), norm.getGroupsAttr(),
      norm.getEpsilonAttr());
}

ArrayRef<RewriteRule> raiseNormsRules() {
  constexpr unsigned loose = reassociate | contract | reciprocal;
  static const std::vector<RewriteRule> rules = {
      rule<MulOp, raiseNorm<Spelling::exact>>(
          "raise-norm", "c * rsqrt(mean(c * c) + epsilon) -> layer_norm(x), or "
                        "rms_norm(x)"),
      rule<MulOp, raiseNorm<Spelling::relaxed>>(
          "raise-norm-relaxed",
          "(x - mean) * (rsqrt(variance + epsilon) * scale) -> layer_norm(x, "
          "scale)",
          loose),
      rule<DivOp, raiseDividedNorm<Spelling::relaxed>>(
          "raise-norm-relaxed",
          "(x - mean) * (rsqrt(variance + epsilon) * scale) -> layer_norm(x, "
          "scale)",
          loose),
      rule<MulOp, raiseNorm<Spelling::narrow>>(
          "raise-narrow-norm",
          "(x - mean) * rsqrt(variance + epsilon) : f16 -> layer_norm(x)",
          contract),
      rule<DivOp, raiseDividedNorm<Spelling::narrow>>(
          "raise-narrow-norm",
          "(x - mean) * rsqrt(variance + epsilon) : f16 -> layer_norm(x)",
          contract),
      rule<MulOp, scaleNorm>(
          "scale-norm", "layer_norm(x, 1) * scale -> layer_norm(x, scale)"),
      rule<AddOp, shiftNorm>(
          "shift-norm", "layer_norm(x, scale) + b -> layer_norm(x, scale, b)"),
      rule<ReshapeOp, joinGroups>(
          "join-groups", "reshape(group_norm(reshape(x))) -> group_norm(x)"),
      rule<DynamicReshapeOp, joinGroups>(
          "join-groups", "reshape(group_norm(reshape(x))) -> group_norm(x)"),
  };
  return rules;
}

} // namespace sinter
