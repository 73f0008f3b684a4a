#include "formats/import/TextBuilding.h"

#include "graph/text/TextOps.h"
#include "runtime/Strings.h"

using namespace mlir;

namespace sinter::formats {

bool areStrings(GraphBuilder &builder, Value value) {
  return value && isStringTensor(value.getType());
}

Value stringConstant(GraphBuilder &builder,
                     const std::vector<std::string> &texts) {
  return builder.constant(stringTensor({static_cast<int64_t>(texts.size())},
                                       std::span<const std::string>(texts)));
}

/// The type of \p x with other elements.
static RankedTensorType alike(GraphBuilder &builder, Value x, Type element) {
  return builder.tensorType(builder.shape(x), element);
}

Value castStrings(GraphBuilder &builder, Value x, Type element) {
  if (!x || builder.element(x) == element)
    return x;
  if (isa<ComplexType>(builder.element(x)) || isa<ComplexType>(element))
    return builder.unsupported("casts between strings and complex numbers");
  const RankedTensorType type = alike(builder, x, element);
  return isStringType(element) ? builder.typed<text::FormatOp>(type, x)
                               : builder.typed<text::ParseOp>(type, x);
}

Value findIn(GraphBuilder &builder, Value x,
             const std::vector<std::string> &keys) {
  return x ? builder.typed<text::FindOp>(alike(builder, x, builder.i64()), x,
                                         stringConstant(builder, keys))
           : Value();
}

Value rankOfStrings(GraphBuilder &builder, Value x) {
  return x ? builder.typed<text::RankOp>(alike(builder, x, builder.i64()), x)
           : Value();
}

Value withCase(GraphBuilder &builder, Value x, bool upper, StringRef locale) {
  return x ? builder.typed<text::ChangeCaseOp>(
                 builder.type(x), x, builder.builder().getBoolAttr(upper),
                 builder.builder().getStringAttr(locale))
           : Value();
}

} // namespace sinter::formats
