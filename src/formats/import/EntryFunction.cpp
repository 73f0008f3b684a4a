#include "formats/import/EntryFunction.h"

#include "graph/Constants.h"
#include "graph/Model.h"
#include "graph/Types.h"

using namespace mlir;

namespace sinter::formats {

Value EntryConstants::make(OpBuilder &builder, Block *block,
                           const Tensor &tensor, StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (newest)
    builder.setInsertionPointAfter(newest);
  else
    builder.setInsertionPointToStart(block);
  Value value = makeConstant(
      builder, NameLoc::get(builder.getStringAttr(oneLine(name.str()))), tensor,
      name);
  newest = value.getDefiningOp();
  return value;
}

DictionaryAttr resultAttributes(Builder &builder, KnownValues &known,
                                StringRef name, Value value) {
  NamedAttrList list;
  list.set(nameAttribute, builder.getStringAttr(name));
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return list.getDictionary(builder.getContext());
  SmallVector<Attribute> names;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Element size = known.sizeOf(value, i);
    names.push_back(builder.getStringAttr(
        size.kind == Element::Symbol ? known.nameOf(size.value) : ""));
  }
  if (!type.hasStaticShape())
    list.set(dimsAttribute, builder.getArrayAttr(names));
  return list.getDictionary(builder.getContext());
}

} // namespace sinter::formats
