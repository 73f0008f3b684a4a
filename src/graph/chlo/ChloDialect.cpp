#include "graph/chlo/ChloOps.h"

#include "graph/chlo/Broadcasting.h"
#include "graph/interfaces/Axes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::chlo;

static FailureOr<SmallVector<int64_t>> parseDimensions(AsmParser &parser) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(values.emplace_back());
      }))
    return failure();
  return values;
}

static void printDimensions(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

/// The comparison's type as the attribute of stablehlo.
static stablehlo::ComparisonTypeAttr comparisonType(BroadcastCompareOp op) {
  if (std::optional<stablehlo::ComparisonType> type = op.getCompareType())
    return stablehlo::ComparisonTypeAttr::get(op.getContext(), *type);
  return {};
}

#include "graph/chlo/ChloDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "graph/chlo/ChloAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "graph/chlo/ChloOps.cpp.inc"

void ChloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "graph/chlo/ChloAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "graph/chlo/ChloOps.cpp.inc"
      >();
  attachAxes(getContext());
}
