// The text form of scan.

#include "graph/chlo/ChloOps.h"

using namespace mlir;

namespace sinter::chlo {

void ScanOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setNameFn) {
  for (BlockArgument argument : region.getArguments())
    setNameFn(argument,
              argument.getArgNumber() < getInputs().size() ? "input" : "carry");
}

/// `(%inputs) inits(%inits) dimension=0 attributes {...} {...} : (...) -> ...`
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension;
  FunctionType type;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() ||
      parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()) || parser.parseColonType(type))
    return failure();

  if (type.getNumInputs() != inputs.size() + inits.size())
    return parser.emitError(location, "expected ")
           << inputs.size() + inits.size() << " operand types";
  if (type.getNumResults() < inits.size())
    return parser.emitError(location, "expected a result type for each carry");
  int32_t outputs = type.getNumResults() - inits.size();
  auto types = type.getInputs();
  if (parser.resolveOperands(inputs, types.take_front(inputs.size()), location,
                             result.operands) ||
      parser.resolveOperands(inits, types.take_back(inits.size()), location,
                             result.operands))
    return failure();
  result.addTypes(type.getResults());

  Builder &builder = parser.getBuilder();
  result.addAttribute("dimension", builder.getI64IntegerAttr(dimension));
  auto &properties = result.getOrAddProperties<Properties>();
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(inputs.size()),
                               static_cast<int32_t>(inits.size())},
             properties.operandSegmentSizes.begin());
  llvm::copy(ArrayRef<int32_t>{outputs, static_cast<int32_t>(inits.size())},
             properties.resultSegmentSizes.begin());
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ") inits(" << getInits()
          << ") dimension=" << getDimension();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/true);
  printer << " : ";
  printer.printFunctionalType(*this);
}

} // namespace sinter::chlo
