#include "formats/paddle/ops/Results.h"

using namespace mlir;

namespace sinter::paddle {

Value asDeclared(OperatorContext &op, StringRef slot, Value value) {
  const std::vector<std::string> *names = op.proto.output(slot);
  if (!value || op.rank(value) != 0 || !names || names->size() != 1)
    return value;
  const Variable *declared = op.importer.declaration(op.frame, names->front());
  return declared && declared->dims.size() == 1
             ? op.reshape(value, ArrayRef<int64_t>{1})
             : value;
}

} // namespace sinter::paddle
