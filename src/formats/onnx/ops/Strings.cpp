// StringConcat, StringNormalizer, StringSplit, RegexFullMatch.

#include "formats/import/Building.h"
#include "formats/import/TextBuilding.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "graph/text/TextOps.h"
#include "runtime/StringFunctions.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

static LogicalResult importStringConcat(NodeContext &node) {
  Values both = node.broadcastTogether({node.operand(0), node.operand(1)});
  if (both.empty())
    return failure();
  if (!areStrings(node, both[0]) || !areStrings(node, both[1]))
    return node.fail("the inputs are no strings");
  return node.result(
      node.typed<text::ConcatOp>(both[0].getType(), both[0], both[1]));
}

static LogicalResult importRegexFullMatch(NodeContext &node) {
  Value x = node.operand(0);
  const std::string pattern = node.getString("pattern", "");
  if (!areStrings(node, x))
    return node.fail("the input is no tensor of strings");
  if (!node.hasAttribute("pattern"))
    return node.fail("attribute 'pattern' is missing");
  if (Result<StringPattern> good = StringPattern::of(pattern); !good)
    return node.fail("attribute 'pattern': " + good.error().message());
  return node.result(
      node.typed<text::FullMatchOp>(node.tensorType(node.shape(x), node.i1()),
                                    x, node.builder().getStringAttr(pattern)));
}

static LogicalResult importStringSplit(NodeContext &node) {
  Value x = node.operand(0);
  if (!areStrings(node, x))
    return node.fail("the input is no tensor of strings");
  const int64_t most = node.getInt("maxsplit", -1);
  Ints shape(node.shape(x));
  shape.push_back(ShapedType::kDynamic);
  OperationState state(node.location(), text::SplitOp::getOperationName());
  text::SplitOp::build(
      node.builder(), state,
      {node.tensorType(shape, node.element(x)),
       node.tensorType(node.shape(x), node.i64())},
      x, node.builder().getStringAttr(node.getString("delimiter", "")),
      most < 0 ? IntegerAttr() : node.builder().getI64IntegerAttr(most));
  Operation *op = node.create(state);
  return op ? node.results({op->getResult(0), op->getResult(1)}) : failure();
}

/// What a StringNormalizer does to the case of the strings it keeps; nothing
/// for an unknown name.
enum class CaseChange { None, Lower, Upper };
static std::optional<CaseChange> caseChangeOf(NodeContext &node) {
  const std::string name = node.getString("case_change_action", "NONE");
  if (name == "NONE" || name == "LOWER" || name == "UPPER")
    return name == "NONE"    ? CaseChange::None
           : name == "LOWER" ? CaseChange::Lower
                             : CaseChange::Upper;
  node.fail("attribute 'case_change_action' is not NONE, LOWER or UPPER");
  return std::nullopt;
}

/// \p x in the case of \p change.
static Value inCase(NodeContext &node, Value x, CaseChange change,
                    StringRef locale) {
  return change == CaseChange::None || !x
             ? x
             : withCase(node, x, change == CaseChange::Upper, locale);
}

/// \p stops in the case of \p change; nothing if they have none.
static std::optional<std::vector<std::string>>
stopsInCase(NodeContext &node, std::vector<std::string> stops,
            CaseChange change, StringRef locale) {
  if (change == CaseChange::None)
    return stops;
  for (std::string &stop : stops) {
    const std::optional<std::string> changed =
        sinter::withCase(stop, change == CaseChange::Upper, locale);
    if (!changed)
      return node.fail("attribute 'stopwords' is not in UTF-8");
    stop = *changed;
  }
  return stops;
}

/// The strings \p x [C] whose \p keys are none of \p stops; a single empty one
/// if none is left.
static Value withoutStops(NodeContext &node, Value x, Value keys,
                          const std::vector<std::string> &stops) {
  if (!x || !keys)
    return {};
  Value place = findIn(node, keys, stops);
  Value isKept =
      node.compare(place, node.one(place, 0), ComparisonDirection::LT);
  // An empty string behind them is there if nothing else is.
  Value isThere = node.reduce<stablehlo::OrOp>(isKept, {0}, 0, true);
  if (!isThere)
    return {};
  Value flags = node.concatenate(
      ValueRange({isKept, node.op<stablehlo::NotOp>(isThere)}), 0);
  Value all = node.concatenate(ValueRange({x, stringConstant(node, {""})}), 0);
  if (!flags || !all)
    return {};
  Value places = node.squeeze(
      node.typed<nn::NonZeroOp>(
          node.tensorType({1, ShapedType::kDynamic}, node.i64()), flags),
      {0});
  return places ? node.op<nn::TakeOp>(all, places, uint64_t(0)) : Value();
}

static LogicalResult importStringNormalizer(NodeContext &node) {
  Value x = node.operand(0);
  if (!areStrings(node, x))
    return node.fail("the input is no tensor of strings");
  const std::optional<CaseChange> change = caseChangeOf(node);
  const bool isSensitive = node.getBool("is_case_sensitive", false);
  const std::string locale = node.getString("locale", "en_US");
  const std::vector<std::string> stops = node.getStrings("stopwords");
  if (!change || node.failed())
    return failure();
  const int64_t rank = node.rank(x);
  if (rank != 1 && (rank != 2 || node.size(x, 0) > 1))
    return node.fail("the input is neither [C] nor [1, C]");
  if (rank == 2)
    x = node.squeeze(x, {0});
  Value changed = inCase(node, x, *change, locale);
  if (!stops.empty()) {
    const CaseChange compared = isSensitive ? CaseChange::None
                                : *change == CaseChange::None
                                    ? CaseChange::Lower
                                    : *change;
    const auto known = stopsInCase(node, stops, compared, locale);
    if (!known)
      return failure();
    Value keys =
        compared == *change ? changed : inCase(node, x, compared, locale);
    changed = withoutStops(node, changed, keys, *known);
  }
  return node.result(rank == 2 && changed ? node.unsqueeze(changed, {0})
                                          : changed);
}

llvm::ArrayRef<Operator> stringOperators() {
  static const Operator table[] = {
      {"RegexFullMatch", "", 20, importRegexFullMatch, 1, 1},
      {"StringConcat", "", 20, importStringConcat, 2, 2},
      {"StringNormalizer", "", 10, importStringNormalizer, 1, 1, false, true},
      {"StringSplit", "", 20, importStringSplit, 1, 1, false, true},
  };
  return table;
}

bool takesStrings(const Operator &op) {
  static const llvm::StringSet<> names = {"Cast",
                                          "CastLike",
                                          "CenterCropPad",
                                          "Compress",
                                          "Concat",
                                          "ConcatFromSequence",
                                          "DepthToSpace",
                                          "Equal",
                                          "Expand",
                                          "Flatten",
                                          "Gather",
                                          "GatherElements",
                                          "GatherND",
                                          "Identity",
                                          "If",
                                          "Loop",
                                          "OneHot",
                                          "Optional",
                                          "OptionalGetElement",
                                          "OptionalHasElement",
                                          "Pad",
                                          "RegexFullMatch",
                                          "Reshape",
                                          "ReverseSequence",
                                          "Scan",
                                          "Scatter",
                                          "ScatterElements",
                                          "ScatterND",
                                          "SequenceAt",
                                          "SequenceConstruct",
                                          "SequenceErase",
                                          "SequenceInsert",
                                          "SequenceLength",
                                          "SequenceMap",
                                          "Shape",
                                          "Size",
                                          "Slice",
                                          "SpaceToDepth",
                                          "Split",
                                          "SplitToSequence",
                                          "Squeeze",
                                          "StringConcat",
                                          "StringNormalizer",
                                          "StringSplit",
                                          "TfIdfVectorizer",
                                          "Tile",
                                          "Transpose",
                                          "Trilu",
                                          "Unique",
                                          "Unsqueeze",
                                          "Where"};
  static const llvm::StringSet<> classical = {"ArrayFeatureExtractor",
                                              "CategoryMapper", "LabelEncoder",
                                              "OneHotEncoder"};
  return (op.domain.empty() && names.contains(op.name)) ||
         (op.domain == mlDomain && classical.contains(op.name));
}

} // namespace sinter::onnx
