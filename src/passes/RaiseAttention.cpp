#include "passes/RaiseAttention.h"

#include "graph/ElementUses.h"
#include "graph/ProductPrecision.h"
#include "graph/UnitDimensions.h"
#include "graph/nn/NnOps.h"
#include "passes/Matching.h"
#include "passes/RulePass.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

namespace {

using Dims = SmallVector<int64_t>;

/// A value seen through transposes and reshapes that move dimensions of size 1:
/// dimension i of the original value is dimension dims[i] of `value`, or -1 for
/// one of size 1.
struct View {
  Value value;
  Dims dims;

  explicit View(Value value)
      : value(value), dims(llvm::to_vector(
                          llvm::seq<int64_t>(0, tensorOf(value).getRank()))) {}

  int64_t dimOf(int64_t dim) const { return dim < 0 ? -1 : dims[dim]; }

  /// Steps to the operand, if the value is such a transpose or reshape.
  bool pass() {
    Operation *op = value.getDefiningOp();
    auto moved = movedDimensions(op);
    if (!moved)
      return false;
    for (int64_t &dim : dims)
      dim = dim < 0 ? -1 : (*moved)[dim];
    value = op->getOperand(0);
    return true;
  }
};

/// Whether \p value has floats that f32 represents exactly.
static bool fitsF32(Value value) {
  Type element = tensorOf(value).getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 32;
}

/// A matmul's dimensions, if each operand has one contracting dimension and
/// some free ones: neither contracting nor batching.
struct Product {
  DotGeneralOp op;
  ArrayRef<int64_t> batching[2];
  int64_t contracting[2];
  Dims free[2];

  static std::optional<Product> of(DotGeneralOp op) {
    Product product{op, {}, {}, {}};
    for (unsigned i : {0u, 1u}) {
      const ProductSide side = op.getSide(i);
      product.batching[i] = side.batching;
      product.free[i] = side.free();
      if (side.contracting.size() != 1 || product.free[i].empty())
        return std::nullopt;
      product.contracting[i] = side.contracting.front();
    }
    return product;
  }

  /// The operand that has dimension \p dim of the result as a free one, and its
  /// index there.
  std::optional<std::pair<unsigned, int64_t>> freeOf(int64_t dim) {
    dim -= batching[0].size();
    for (unsigned operand : {0u, 1u}) {
      const int64_t count = free[operand].size();
      if (dim >= 0 && dim < count)
        return std::pair(operand, free[operand][dim]);
      dim -= count;
    }
    return std::nullopt;
  }
};

/// The operations between the attention weights and the matmul of query and
/// key. Dimensions are in the order of nn.attention: heads, queries, keys. The
/// first heads are those that both matmuls batch over; others only the query
/// has.
class Idiom {
public:
  /// Matches the matmul of the weights, which are operand \p side, and the
  /// values.
  static std::optional<Idiom> match(DotGeneralOp op, unsigned side) {
    auto outer = Product::of(op);
    if (!outer)
      return std::nullopt;
    Idiom idiom(*outer, side);
    if (!idiom.matchWeights() || !idiom.matchScores() ||
        !idiom.matchProduct() || !idiom.matchPrecision())
      return std::nullopt;
    return idiom;
  }

  Value build(OpBuilder &builder) const;

private:
  Idiom(const Product &outer, unsigned side)
      : outer(outer), side(side), batches(outer.batching[0].size()),
        heads(batches + outer.free[side].size() - 1),
        scores(outer.op->getOperand(side)) {}

  bool matchWeights();
  bool matchScores();
  bool matchStep(Operation *op);
  bool passConversion();
  bool matchMask(Value scoresSide, Value maskSide);
  bool matchChoice(SelectOp op);
  bool matchProduct();
  bool matchPrecision();
  bool areKnown() const;
  bool keepsDimensions() const;
  Value follow(Value operand, Dims &dims);
  /// Whether \p value is computed from a matmul by steps of the idiom.
  static bool leadsToProduct(Value value);

  Value buildMask(OpBuilder &builder) const;
  bool isCausal(Value mask) const;

  /// The scores' dimension that is the operation's \p dim; -1 where one of size
  /// 1 is missing.
  int64_t dimOf(int64_t dim) const { return scores.dims[positions[dim]]; }
  /// The size of the operation's \p dim.
  int64_t sizeOf(int64_t dim) const {
    return tensorOf(outer.op->getOperand(side)).getShape()[positions[dim]];
  }

  Product outer;
  unsigned side;
  int64_t batches, heads;
  View scores;    ///< As far as they were followed.
  Dims positions; ///< Of the operation's dimensions in the outer operand.
  double scale = 1;
  Value mask;       ///< The summand or, with `fill`, the condition;
  Dims maskDims;    ///< its dimension for each of the operation's, or -1;
  Type maskElement; ///< The element type of summand or `fill`.
  std::optional<double> fill;
  /// The precision that the model asks of its matmuls.
  std::optional<sinter::Precision> precision;
  bool isHidden =
      false; ///< whether the condition holds where scores are masked out
  Value query, key;
  Dims queryDims, keyDims;
};

/// The scores or weights before a conversion to a narrower type or back, which
/// nn.attention does not do; null if there is none.
Value behindConversion(Value value) {
  auto conversion = value.getDefiningOp<ConvertOp>();
  return conversion && fitsF32(conversion) && fitsF32(conversion.getOperand())
             ? Value(conversion.getOperand())
             : Value();
}

/// The scalar that \p op multiplies one operand by, and that operand.
std::optional<std::pair<Value, double>> factorOf(Operation *op) {
  if (!isa_and_nonnull<MulOp, DivOp>(op))
    return std::nullopt;
  if (auto number = splatValue(op->getOperand(1))) {
    if (isa<DivOp>(op))
      number = 1 / *number;
    if (!std::isfinite(*number))
      return std::nullopt;
    return std::pair(op->getOperand(0), *number);
  }
  if (auto number = splatValue(op->getOperand(0));
      number && isa<MulOp>(op) && std::isfinite(*number))
    return std::pair(op->getOperand(1), *number);
  return std::nullopt;
}

bool Idiom::matchWeights() {
  if (outer.free[1 - side].size() != 1)
    return false;
  positions.assign(outer.batching[side].begin(), outer.batching[side].end());
  // The longest one indexes the queries.
  int64_t queries =
      *std::max_element(outer.free[side].begin(), outer.free[side].end(),
                        [&](int64_t a, int64_t b) {
                          return tensorOf(scores.value).getShape()[a] <
                                 tensorOf(scores.value).getShape()[b];
                        });
  llvm::copy_if(outer.free[side], std::back_inserter(positions),
                [&](int64_t dim) { return dim != queries; });
  positions.push_back(queries);
  positions.push_back(outer.contracting[side]);
  if (!ShapedType::isDynamic(sizeOf(heads + 1)) && sizeOf(heads + 1) < 2)
    return false;
  while (hasOneElementUse(scores.value) && (scores.pass() || passConversion()))
    ;
  auto softmax = scores.value.getDefiningOp<nn::SoftmaxOp>();
  if (!softmax || !hasOneElementUse(softmax) ||
      softmax.getAxes() != ArrayRef<int64_t>(dimOf(heads + 1)))
    return false;
  scores.value = softmax.getOperand();
  return true;
}

bool Idiom::matchScores() {
  while (!scores.value.getDefiningOp<DotGeneralOp>())
    if (Operation *op = scores.value.getDefiningOp();
        !op || !hasOneElementUse(op->getResult(0)) || !matchStep(op))
      return false;
  return hasOneElementUse(scores.value);
}

bool Idiom::passConversion() {
  Value before = behindConversion(scores.value);
  if (before)
    scores.value = before;
  return before != nullptr;
}

bool Idiom::matchStep(Operation *op) {
  if (scores.pass() || passConversion())
    return true;
  if (auto factor = factorOf(op)) {
    scores.value = factor->first;
    scale *= factor->second;
    return true;
  }
  if (auto choice = dyn_cast<SelectOp>(op))
    return matchChoice(choice);
  if (!isa<AddOp>(op))
    return false;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  return leadsToProduct(lhs) ? matchMask(lhs, rhs) : matchMask(rhs, lhs);
}

bool Idiom::leadsToProduct(Value value) {
  constexpr int mostSteps = 8;
  for (int step = 0; step < mostSteps; ++step) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<DotGeneralOp>(op))
      return true;
    if (auto factor = factorOf(op))
      value = factor->first;
    else if (isa_and_nonnull<TransposeOp, ReshapeOp>(op))
      value = op->getOperand(0);
    else if (Value before = behindConversion(value))
      value = before;
    else
      return false;
  }
  return false;
}

/// Follows the scores, and finds the mask's dimensions among theirs.
bool Idiom::matchMask(Value scoresSide, Value maskSide) {
  // A factor behind the mask would also scale the mask.
  if (mask || scale != 1)
    return false;
  maskElement = tensorOf(scoresSide).getElementType();
  View seen(maskSide);
  while (seen.pass())
    ;
  for (int64_t dim = 0; dim < heads + 2; ++dim)
    maskDims.push_back(seen.dimOf(dimOf(dim)));
  mask = seen.value;
  if (auto broadcast = mask.getDefiningOp<BroadcastInDimOp>()) {
    mask = broadcast.getOperand();
    ArrayRef<int64_t> dimensions = broadcast.getBroadcastDimensions();
    for (int64_t &dim : maskDims) {
      const auto *found = llvm::find(dimensions, dim);
      dim = found == dimensions.end() ? -1 : found - dimensions.begin();
    }
  }
  // With dynamic dimensions, broadcast operands are aligned at the last
  // dimension.
  if (auto broadcast = mask.getDefiningOp<nn::BroadcastLikeOp>()) {
    mask = broadcast.getOperand();
    const int64_t added =
        tensorOf(broadcast.getResult()).getRank() - tensorOf(mask).getRank();
    for (int64_t &dim : maskDims)
      dim = dim < added ? -1 : dim - added;
  }
  scores.value = scoresSide;
  int64_t along = maskDims.back();
  return along >= 0 && tensorOf(mask).getDimSize(along) == sizeOf(heads + 1);
}

bool Idiom::matchChoice(SelectOp op) {
  if (tensorOf(op.getPred()).getRank() != tensorOf(op).getRank())
    return false;
  Value seen = op.getOnTrue(), hidden = op.getOnFalse();
  fill = splatValue(hidden);
  if (!fill) {
    std::swap(seen, hidden);
    fill = splatValue(hidden);
    isHidden = true;
  }
  // The mask is 0 where scores are visible.
  return fill && *fill != 0 && matchMask(seen, op.getPred());
}

/// Matches the matmul of query and key, with their scales and transposes.
bool Idiom::matchProduct() {
  auto inner = Product::of(scores.value.getDefiningOp<DotGeneralOp>());
  if (!inner)
    return false;
  auto keys = inner->freeOf(dimOf(heads + 1));
  if (!keys)
    return false;
  const unsigned keySide = keys->first, querySide = 1 - keySide;
  const int64_t shared = inner->batching[0].size();
  // Dimensions of size 1 are recreated at any index, but kept where shapes are
  // dynamic.
  const bool isKnown = tensorOf(outer.op->getResult(0)).hasStaticShape() &&
                       !ShapedType::isDynamic(sizeOf(heads + 1));
  for (int64_t i = 0; i <= heads; ++i) {
    int64_t dim = isKnown && sizeOf(i) == 1 ? -1 : dimOf(i);
    auto own = inner->freeOf(dim);
    if (dim < 0) {
      queryDims.push_back(-1);
      keyDims.push_back(-1);
    } else if (i < batches && dim < shared) {
      queryDims.push_back(inner->batching[querySide][dim]);
      keyDims.push_back(inner->batching[keySide][dim]);
    } else if (i >= batches && own && own->first == querySide) {
      queryDims.push_back(own->second);
      keyDims.push_back(-1);
    } else {
      return false;
    }
  }
  keyDims.back() = keys->second;
  queryDims.push_back(inner->contracting[querySide]);
  keyDims.push_back(inner->contracting[keySide]);
  auto followed = [&](Value operand, Dims &dims) {
    const Dims own = dims;
    const double soFar = scale;
    Value behind = follow(operand, dims);
    if (isKnown || !llvm::is_contained(dims, -1))
      return behind;
    // A reshape on the way adds a dimension of size 1.
    dims = own;
    scale = soFar;
    return operand;
  };
  query = followed(inner->op->getOperand(querySide), queryDims);
  key = followed(inner->op->getOperand(keySide), keyDims);
  return std::isfinite(scale) && fitsF32(query) && fitsF32(key) &&
         (areKnown() || keepsDimensions());
}

/// Whether all shapes are static, so that dimensions of size 1 can be
/// recreated.
bool Idiom::areKnown() const {
  return llvm::all_of(
             llvm::concat<const Value>(ArrayRef<Value>{query, key},
                                       ArrayRef<Value>{outer.op->getOperand(0),
                                                       outer.op->getOperand(1),
                                                       outer.op->getResult(0)}),
             [](Value value) { return tensorOf(value).hasStaticShape(); }) &&
         (!mask || tensorOf(mask).hasStaticShape());
}

/// Whether every tensor has all dimensions, so that none has to be added.
bool Idiom::keepsDimensions() const {
  auto areAll = [](ArrayRef<int64_t> dims, Value value) {
    return static_cast<int64_t>(dims.size()) == tensorOf(value).getRank() &&
           !llvm::is_contained(dims, -1);
  };
  return heads == batches && areAll(queryDims, query) && areAll(keyDims, key) &&
         (!mask || areAll(maskDims, mask));
}

/// The source of \p operand behind transposes and factors, which become part of
/// the scale; \p dims become its dimensions.
Value Idiom::follow(Value operand, Dims &dims) {
  View view(operand);
  while (Operation *op = view.value.getDefiningOp()) {
    if (view.pass())
      continue;
    auto factor = factorOf(op);
    if (!factor || !hasOneElementUse(op->getResult(0)))
      break;
    view.value = factor->first;
    scale *= factor->second;
  }
  for (int64_t &dim : dims)
    dim = view.dimOf(dim);
  return view.value;
}

/// \p value with its dimensions in the order \p dims; -1 adds one of size 1,
/// and dimensions that are not in \p dims have size 1.
static Value arrange(OpBuilder &builder, Value value, ArrayRef<int64_t> dims) {
  Location loc = value.getLoc();
  // The new ones in front, so that the contiguous dimension stays the last.
  const int64_t added = llvm::count(dims, -1);
  Dims shape(added, 1), targets(tensorOf(value).getRank(), -1), permutation;
  for (int64_t dim = 0; dim < tensorOf(value).getRank(); ++dim)
    if (llvm::is_contained(dims, dim)) {
      targets[dim] = shape.size();
      shape.push_back(tensorOf(value).getShape()[dim]);
    }
  int64_t placed = 0;
  for (int64_t dim : dims)
    permutation.push_back(dim < 0 ? placed++ : targets[dim]);
  if (tensorOf(value).getShape() != ArrayRef(shape))
    value = builder.create<ReshapeOp>(
        loc, RankedTensorType::get(shape, tensorOf(value).getElementType()),
        value);
  if (llvm::is_sorted(permutation))
    return value;
  return builder.create<TransposeOp>(loc, value, permutation);
}

/// The additive mask, with all the operation's dimensions; 0 where a select
/// leaves the scores as they are.
Value Idiom::buildMask(OpBuilder &builder) const {
  if (!mask)
    return {};
  Location loc = mask.getLoc();
  Value value = arrange(builder, mask, maskDims);
  ArrayRef<int64_t> shape = tensorOf(value).getShape();
  if (!fill)
    return value;
  auto added = RankedTensorType::get(shape, maskElement);
  Value seen = makeSplat(builder, loc, added, 0);
  Value hidden = makeSplat(builder, loc, added, *fill);
  if (isHidden)
    std::swap(seen, hidden);
  return builder.create<SelectOp>(loc, added, value, seen, hidden);
}

/// Whether \p added masks out in each row just the columns behind its own
/// index.
bool Idiom::isCausal(Value added) const {
  constexpr int64_t mostCompared = int64_t(1) << 24;
  auto type = tensorOf(added);
  if (!type.hasStaticShape())
    return false;
  int64_t columns = type.getShape().back();
  int64_t rows = type.getDimSize(heads);
  if (type.getNumElements() != rows * columns || rows < 2 ||
      type.getNumElements() > mostCompared)
    return false;
  std::optional<Tensor> numbers = constantValue(added);
  if (!numbers)
    return false;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double number = numbers->toDouble(i * columns + j);
      if (j <= i ? number != 0 : number > -1e30)
        return false;
    }
  return true;
}

/// One operation must compute both matmuls as exactly as either asks for.
bool Idiom::matchPrecision() {
  const auto ofScores =
                 askedPrecision(scores.value.getDefiningOp<DotGeneralOp>()),
             ofSums = askedPrecision(outer.op);
  precision = ofScores ? ofScores : ofSums;
  if (ofScores && ofSums)
    precision = std::min(*ofScores, *ofSums);
  // If only one asks, it is unknown whether the other may have less than f32.
  return ofScores.has_value() == ofSums.has_value() ||
         precision == sinter::Precision::Exact;
}

Value Idiom::build(OpBuilder &builder) const {
  DotGeneralOp product = outer.op;
  Location loc = product.getLoc();
  Value values = product->getOperand(1 - side);
  Dims valueDims(outer.batching[1 - side]);
  valueDims.append(heads - batches, -1);
  valueDims.push_back(outer.contracting[1 - side]);
  valueDims.push_back(outer.free[1 - side].front());
  View view(values);
  while (view.pass())
    ;
  for (int64_t &dim : valueDims)
    dim = view.dimOf(dim);
  Value queries = arrange(builder, query, queryDims);
  Value keys = arrange(builder, key, keyDims);
  values = arrange(builder, view.value, valueDims);
  Value added = buildMask(builder);
  bool causal = added && isCausal(added);
  if (causal)
    added = {};
  // All in one type, which is f32 where theirs differ.
  Type element = tensorOf(product).getElementType();
  for (Value each : {queries, keys, values, added})
    if (each && tensorOf(each).getElementType() != element)
      element = builder.getF32Type();
  for (Value *each : {&queries, &keys, &values, &added})
    if (*each && tensorOf(*each).getElementType() != element)
      *each =
          builder.create<ConvertOp>(loc, tensorOf(*each).clone(element), *each);
  SmallVector<int64_t> shape(tensorOf(queries).getShape());
  shape.back() = tensorOf(values).getShape().back();
  Value result = builder.create<nn::AttentionOp>(
      loc, RankedTensorType::get(shape, element), queries, keys, values, added,
      builder.getF64FloatAttr(scale),
      causal ? builder.getUnitAttr() : UnitAttr(),
      fill && !causal ? builder.getUnitAttr() : UnitAttr());
  if (precision)
    setPrecision(result.getDefiningOp(), *precision);
  if (auto type = tensorOf(result).clone(tensorOf(product).getElementType());
      type != result.getType())
    result = builder.create<ConvertOp>(loc, type, result);
  // The matmul's dimensions are its left operand's first.
  Dims order = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  for (int64_t dim : outer.free[side])
    order.push_back(llvm::find(positions, dim) - positions.begin());
  order.insert(side == 0 ? order.end() : order.begin() + batches, heads + 1);
  if (llvm::is_sorted(order))
    return result;
  return builder.create<TransposeOp>(loc, result, order);
}

} // namespace

static Value raiseAttention(DotGeneralOp op, OpBuilder &builder) {
  for (Value value : {op.getLhs(), op.getRhs(), op.getResult()})
    if (!fitsF32(value))
      return {};
  for (unsigned side : {0u, 1u})
    if (auto idiom = Idiom::match(op, side))
      return idiom->build(builder);
  return {};
}

ArrayRef<RewriteRule> raiseAttentionRules() {
  static const std::vector<RewriteRule> rules = {
      rule<DotGeneralOp, raiseAttention>(
          "raise-attention",
          "dot_general(softmax(dot_general(q, k) * s + m), v) "
          "-> attention(q, k, v, m)")};
  return rules;
}

namespace {
struct RaiseAttention : RulePass<RaiseAttention> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseAttention)
  using RulePass::RulePass;
  StringRef getArgument() const final { return "raise-attention"; }
  StringRef getDescription() const final {
    return "Raise spelled-out attention to one operation";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect>();
  }
  RuleList tables() const { return {raiseAttentionRules()}; }
};
} // namespace

std::unique_ptr<Pass> createRaiseAttention(std::shared_ptr<PatternRun> run) {
  return std::make_unique<RaiseAttention>(std::move(run));
}

} // namespace sinter
