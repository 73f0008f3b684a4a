#include "graph/sdy/SdyOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::sdy;

/// Parses the attribute, written with its name; after a value, in brackets
/// after a comma (see ForeignText.h).
static ParseResult parseBare(OpAsmParser &parser, OpaqueAttr &attribute) {
  const bool isBracketed = succeeded(parser.parseOptionalComma());
  const SMLoc location = parser.getCurrentLocation();
  Attribute parsed;
  if ((isBracketed && parser.parseLSquare()) || parser.parseAttribute(parsed) ||
      (isBracketed && parser.parseRSquare()))
    return failure();
  attribute = dyn_cast<OpaqueAttr>(parsed);
  if (!attribute)
    return parser.emitError(location,
                            "expects an attribute of the dialect sdy");
  return success();
}

/// Prints the attribute without its name: `<...>`.
static void printBare(OpAsmPrinter &printer, Operation *op,
                      OpaqueAttr attribute) {
  const StringRef text = attribute.getAttrData();
  printer << text.substr(text.find('<'));
}

#include "graph/sdy/SdyDialect.cpp.inc"

#define GET_OP_CLASSES
#include "graph/sdy/SdyOps.cpp.inc"

void SdyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "graph/sdy/SdyOps.cpp.inc"
      >();
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return parser.getChecked<OpaqueAttr>(
      StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec(),
      NoneType::get(getContext()));
}

//===----------------------------------------------------------------------===//
// mesh
//===----------------------------------------------------------------------===//

ParseResult MeshOp::parse(OpAsmParser &parser, OperationState &state) {
  Properties &properties = state.getOrAddProperties<Properties>();
  if (parser.parseSymbolName(properties.sym_name) || parser.parseEqual() ||
      parseBare(parser, properties.mesh))
    return failure();
  return parser.parseOptionalAttrDict(state.attributes);
}

void MeshOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << " = ";
  printBare(printer, *this, getMeshAttr());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getSymNameAttrName(), getMeshAttrName()});
}

//===----------------------------------------------------------------------===//
// manual_computation
//===----------------------------------------------------------------------===//

/// Parses `in_shardings=[<...>]`: a list of shardings without names.
static ParseResult parseShardings(OpAsmParser &parser, StringRef keyword,
                                  OpaqueAttr &shardings) {
  if (parser.parseKeyword(keyword) || parser.parseEqual())
    return failure();
  return parseBare(parser, shardings);
}

static void printShardings(OpAsmPrinter &printer, StringRef keyword,
                           OpaqueAttr shardings) {
  StringRef list = shardings.getAttrData();
  list = list.substr(list.find('<') + 1);
  list.consume_back(">");
  printer << " " << keyword << "=" << list;
}

/// `manual_axes={"x", "y"}`.
static ParseResult parseAxes(OpAsmParser &parser, OpaqueAttr &axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (parser.parseKeyword("manual_axes") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
        std::string name;
        if (parser.parseString(&name))
          return failure();
        stream << (text.empty() ? "\"" : ", \"");
        llvm::printEscapedString(name, stream);
        stream << '"';
        return success();
      }))
    return failure();
  MLIRContext *context = parser.getContext();
  axes = OpaqueAttr::get(
      StringAttr::get(context, SdyDialect::getDialectNamespace()),
      "manual_axes{" + text + "}", NoneType::get(context));
  return success();
}

ParseResult ManualComputationOp::parse(OpAsmParser &parser,
                                       OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  Properties &properties = state.getOrAddProperties<Properties>();
  FunctionType type;
  const SMLoc location = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, AsmParser::Delimiter::Paren) ||
      parseShardings(parser, "in_shardings", properties.in_shardings) ||
      parseShardings(parser, "out_shardings", properties.out_shardings) ||
      parseAxes(parser, properties.manual_axes) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseRegion(*state.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), location,
                             state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

void ManualComputationOp::print(OpAsmPrinter &printer) {
  printer << "(" << getTensors() << ")";
  printShardings(printer, "in_shardings", getInShardings());
  printShardings(printer, "out_shardings", getOutShardings());
  const StringRef axes = getManualAxes().getAttrData();
  printer << " manual_axes=" << axes.substr(axes.find('{')) << " (";
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {getInShardingsAttrName(),
                                                      getOutShardingsAttrName(),
                                                      getManualAxesAttrName()});
  printer << " : ";
  printer.printFunctionalType(getTensors().getTypes(), getResultTypes());
}
