#include "formats/paddle/ops/Listed.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::paddle {

/// The elements of list attribute \p name, of f64 or i64; null if there are
/// none.
static Value listedElements(OperatorContext &op, StringRef name, Shape shape,
                            int64_t count) {
  const AttributeValue *found = op.attribute(name);
  if (!found)
    return {};
  const auto *reals = std::get_if<std::vector<double>>(found);
  Ints wholes = reals ? Ints() : op.getInts(name);
  const auto given =
      static_cast<int64_t>(reals ? reals->size() : wholes.size());
  if (given == 0)
    return {};
  if (given != count)
    return op.fail("attribute '" + name + "' has " + Twine(given) +
                   " elements for " + Twine(count));
  return reals
             ? op.constant(Tensor::of<double>(ElementType::F64, shape, *reals))
             : op.constant(Tensor::of<int64_t>(
                   ElementType::I64, shape,
                   std::vector<int64_t>(wholes.begin(), wholes.end())));
}

Value listedValues(OperatorContext &op, Type element) {
  Ints shape = op.getInts("shape");
  if (!element || op.failed())
    return {};
  if (!op.hasAttribute("shape") && op.hasAttribute("value"))
    shape = {static_cast<int64_t>(op.getInts("value").size())};
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(count, size, count))
      return op.fail("attribute 'shape' is negative or too large");
  if (count == 0)
    return op.splat(element, 0, shape);
  for (StringRef name :
       {"values", "value", "fp32_values", "fp64_values", "int32_values",
        "int64_values", "int8_values", "bool_values"}) {
    Value list =
        listedElements(op, name, Shape(shape.begin(), shape.end()), count);
    if (op.failed() || list)
      return list ? op.cast(list, element) : Value();
  }
  return op.fail("has no attribute with the values");
}

} // namespace sinter::paddle
