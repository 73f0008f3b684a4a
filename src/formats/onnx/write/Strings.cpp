// Operations on strings.

#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/text/TextOps.h"

using namespace mlir;

namespace sinter::onnx {

static LogicalResult writeStringCast(NodeWriter &e, Operation *op) {
  auto element =
      sinter::elementTypeOf(getElementTypeOrSelf(op->getResult(0).getType()));
  auto dataType = element ? dataTypeOf(*element) : std::nullopt;
  if (!dataType)
    return e.unsupported("between these element types");
  return e.result("Cast", e.operands(), {{"to", *dataType}});
}

static LogicalResult writeFormat(NodeWriter &e, text::FormatOp op) {
  return writeStringCast(e, op);
}

static LogicalResult writeParse(NodeWriter &e, text::ParseOp op) {
  return writeStringCast(e, op);
}

static LogicalResult writeStringConcat(NodeWriter &e, text::ConcatOp) {
  e.need(20);
  return e.result("StringConcat", e.operands());
}

static LogicalResult writeFullMatch(NodeWriter &e, text::FullMatchOp op) {
  e.need(20);
  return e.result("RegexFullMatch", e.operands(),
                  {{"pattern", op.getPattern()}});
}

static LogicalResult writeChangeCase(NodeWriter &e, text::ChangeCaseOp op) {
  if (tensorOf(op).getRank() != 1)
    return e.unsupported("of other than one dimension");
  return e.result("StringNormalizer", e.operands(),
                  {{"case_change_action", op.getUpper() ? "UPPER" : "LOWER"},
                   {"is_case_sensitive", int64_t(1)},
                   {"locale", op.getLocale()}});
}

/// The first of the keys that is equal is the first of the greatest flags.
static LogicalResult writeFind(NodeWriter &e, text::FindOp op) {
  const int64_t rank = tensorOf(op.getOperand()).getRank();
  const int64_t count = tensorOf(op.getKeys()).getDimSize(0);
  if (count == 0 || ShapedType::isDynamic(count))
    return e.unsupported("without keys, or with an unknown number of them");
  e.need(19);
  Builder builder(op.getContext());
  Type flag = builder.getI1Type(), number = builder.getI32Type();
  const Name isEqual =
      e.make("Equal", {e.unsqueeze(e.operand(op.getOperand()), {rank}),
                       e.operand(op.getKeys())});
  const Name flags = e.cast(isEqual, flag, number);
  const Name place =
      e.make("ArgMax", {flags}, {{"axis", rank}, {"keepdims", int64_t(0)}});
  const Name isFound =
      e.cast(e.reduce("ReduceMax", flags, {rank}, false), number, flag);
  return e.result("Where",
                  {isFound, place, e.scalar(builder.getI64Type(), -1)});
}

static LogicalResult writeSplit(NodeWriter &e, text::SplitOp op) {
  e.need(20);
  return e.result("StringSplit", e.operands(),
                  {{"delimiter", op.getDelimiter()},
                   {"maxsplit", op.getMost().value_or(INT64_MAX)}});
}

WriterRules stringRules() {
  static const WriterRule rules[] = {
      writerRule<writeFormat>(),       writerRule<writeParse>(),
      writerRule<writeStringConcat>(), writerRule<writeFullMatch>(),
      writerRule<writeChangeCase>(),   writerRule<writeSplit>(),
      writerRule<writeFind>(),
  };
  return rules;
}

} // namespace sinter::onnx
