// Convolutions that sample each element of a window at its own offset.

#include "formats/import/DeformedConvolution.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

static LogicalResult importDeformable(OperatorContext &op) {
  formats::DeformedConvolution form;
  form.input = op.operand("Input");
  form.filter = op.operand("Filter");
  form.offset = op.operand("Offset");
  form.mask = op.optional("Mask");
  form.groups = op.getInt("groups", 1);
  form.offsetGroups = op.getInt("deformable_groups", 1);
  if (op.failed())
    return failure();
  if (op.rank(form.input) != 4 || op.rank(form.filter) != 4)
    return op.fail("Input or Filter has not four dimensions");
  if (!op.isStatic(form.filter))
    return op.unknown("the filter's shape is known only at run time");
  auto window = readWindow(op, form.input, op.shape(form.filter).drop_front(2));
  if (!window)
    return failure();
  form.strides = window->strides;
  form.low = window->low;
  form.high = window->high;
  form.dilations = window->dilations;
  return op.result("Output",
                   deformedConvolution(op, form, op.element(form.input)));
}

OperatorReaders deformableReaders() {
  static const OperatorReader table[] = {
      {"deformable_conv", importDeformable},
      {"deformable_conv_v1", importDeformable},
  };
  return table;
}

} // namespace sinter::paddle
