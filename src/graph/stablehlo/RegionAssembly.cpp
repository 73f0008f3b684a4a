// The text form of constant, reduce and while.

#include "graph/stablehlo/RegionAssembly.h"

using namespace mlir;

namespace sinter::stablehlo {

/// Whether such an operation is commutative.
static bool isCommutative(OperationName name) {
  static const std::array<StringRef, 7> names = {
      AddOp::getOperationName(), MulOp::getOperationName(),
      MaxOp::getOperationName(), MinOp::getOperationName(),
      AndOp::getOperationName(), OrOp::getOperationName(),
      XorOp::getOperationName()};
  return llvm::is_contained(names, name.getStringRef());
}

std::optional<StringRef> soleOperation(Region &region) {
  if (!region.hasOneBlock())
    return std::nullopt;
  Block &block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return std::nullopt;
  Operation &op = block.front();
  Operation &terminator = block.back();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 ||
      terminator.getNumOperands() != 1 ||
      terminator.getOperand(0) != op.getResult(0) || !op.getAttrs().empty())
    return std::nullopt;
  bool inOrder = op.getOperand(0) == block.getArgument(0) &&
                 op.getOperand(1) == block.getArgument(1);
  bool swapped = op.getOperand(0) == block.getArgument(1) &&
                 op.getOperand(1) == block.getArgument(0);
  if (inOrder || (swapped && isCommutative(op.getName())))
    return op.getName().getStringRef();
  return std::nullopt;
}

bool joinsInAnyOrder(Region &region) {
  // The commutative operations here are associative, too.
  return soleOperation(region) &&
         isCommutative(region.front().front().getName());
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// The operation for the short form `applies`, if that represents the body
/// exactly: one input, the operands in order, and the types that parsing would
/// infer.
static std::optional<StringRef> shortBody(ReduceOp op) {
  if (op.getInputs().size() != 1)
    return std::nullopt;
  Block &block = op.getBody().front();
  std::optional<StringRef> name = soleOperation(op.getBody());
  if (!name || block.front().getOperand(0) != block.getArgument(0) ||
      !isCommutative(block.front().getName()))
    return std::nullopt;
  Type type = op.getInitValues().front().getType();
  if (block.getArgument(0).getType() != type ||
      block.getArgument(1).getType() != type ||
      block.front().getResult(0).getType() != type)
    return std::nullopt;
  return name;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer,
                        [&](auto pair) {
                          printer << '(' << std::get<0>(pair)
                                  << " init: " << std::get<1>(pair) << ')';
                        });
  std::optional<StringRef> name = shortBody(*this);
  if (name)
    printer << " applies " << *name;
  printer << " across dimensions = [";
  llvm::interleaveComma(getDimensions(), printer);
  printer << ']';
  printer.printOptionalAttrDict((*this)->getDiscardableAttrs().empty()
                                    ? ArrayRef<NamedAttribute>()
                                    : (*this)->getAttrs(),
                                {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (name)
    return;
  Block &block = getBody().front();
  size_t count = getInputs().size();
  printer.printNewline();
  printer << " reducer";
  // The pairs (accumulator, value).
  for (size_t i = 0; i < count; ++i) {
    printer << '(';
    printer.printRegionArgument(block.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(i + count));
    printer << ") ";
  }
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  using Operand = OpAsmParser::UnresolvedOperand;
  SmallVector<Operand> inputs, inits;
  SMLoc location = parser.getCurrentLocation();
  auto parsePair = [&]() -> ParseResult {
    return failure(
        parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen());
  };
  if (parser.parseCommaSeparatedList(parsePair))
    return failure();
  std::optional<OperationName> inner;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    inner = *name;
  }
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(
          OpAsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(dimensions.emplace_back()); }) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  result.addAttribute("dimensions",
                      parser.getBuilder().getDenseI64ArrayAttr(dimensions));
  result.addTypes(type.getResults());
  SmallVector<Operand> operands(inputs);
  operands.append(inits);
  if (parser.resolveOperands(operands, type.getInputs(), location,
                             result.operands))
    return failure();
  Region *body = result.addRegion();

  if (!inner) {
    SmallVector<OpAsmParser::Argument> first, second;
    if (parser.parseKeyword("reducer"))
      return failure();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (parser.parseLParen() ||
          parser.parseArgument(first.emplace_back(), /*allowType=*/true) ||
          parser.parseComma() ||
          parser.parseArgument(second.emplace_back(), /*allowType=*/true) ||
          parser.parseRParen())
        return failure();
    first.append(second);
    return parser.parseRegion(*body, first);
  }

  if (inputs.size() != 1)
    return parser.emitError(location, "'applies' takes one input");
  if (!isCommutative(*inner))
    return parser.emitError(location, "'applies' takes a commutative operation "
                                      "of two operands");
  Type element = type.getInput(1);
  OpBuilder builder(parser.getContext());
  Location loc = parser.getEncodedSourceLoc(location);
  Block *block = builder.createBlock(body, {}, {element, element}, {loc, loc});
  OperationState state(loc, *inner);
  state.addOperands(block->getArguments());
  state.addTypes(element);
  Operation *op = builder.create(state);
  builder.create<ReturnOp>(loc, op->getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

// `dense<...> : type`, or `() <{value = ...}> : () -> type` where the type is
// not the value's.

void ConstantOp::print(OpAsmPrinter &printer) {
  if (getValue().getType() == getType()) {
    printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
    printer << ' ' << getValue();
    return;
  }
  printer << "() <{value = " << getValue() << "}>";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (succeeded(parser.parseOptionalLParen())) {
    FunctionType type;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseRParen())
      return failure();
    if (succeeded(parser.parseOptionalLess())) {
      StringRef name;
      if (parser.parseLBrace() || parser.parseKeyword(&name) ||
          parser.parseEqual() ||
          parser.parseAttribute(value, name, result.attributes) ||
          parser.parseRBrace() || parser.parseGreater())
        return failure();
    }
    if (parser.parseOptionalAttrDict(result.attributes) ||
        parser.parseColonType(type))
      return failure();
    if (type.getNumInputs() != 0 || type.getNumResults() != 1)
      return parser.emitError(location, "a constant takes no operands and has "
                                        "one result");
    result.addTypes(type.getResults());
    return success();
  }
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getType());
  return success();
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

bool hasOneTypePerValue(WhileOp op) {
  TypeRange types = op->getOperandTypes();
  return op->getResultTypes() == types &&
         op.getCond().getArgumentTypes() == types &&
         op.getBody().getArgumentTypes() == types;
}

// `(%argument = %operand, ...) : types`, or where operands, arguments and
// results differ in type `(%operand, ...) : (types) -> types`, and the regions
// name their own arguments.

void WhileOp::print(OpAsmPrinter &printer) {
  const bool isShort = hasOneTypePerValue(*this);
  printer << '(';
  if (isShort)
    llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()),
                          printer, [&](auto pair) {
                            printer.printOperand(std::get<0>(pair));
                            printer << " = ";
                            printer.printOperand(std::get<1>(pair));
                          });
  else
    printer.printOperands(getOperand());
  printer << ')';
  if (getNumOperands()) {
    printer << " : ";
    if (isShort)
      llvm::interleaveComma(getOperandTypes(), printer);
    else
      printer.printFunctionalType(*this);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << " cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/!isShort);
  printer << " do ";
  // Both regions use the same argument names.
  if (isShort)
    printer.shadowRegionArgs(getBody(), getCond().getArguments());
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/!isShort);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseValue = [&]() -> ParseResult {
    OpAsmParser::Argument first;
    if (parser.parseArgument(first))
      return failure();
    if (failed(parser.parseOptionalEqual())) {
      operands.push_back(first.ssaName);
      return success();
    }
    arguments.push_back(first);
    return parser.parseOperand(operands.emplace_back());
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseValue))
    return failure();
  const bool isShort = arguments.size() == operands.size();
  FunctionType type;
  SmallVector<Type> types;
  if (!isShort) {
    if (!arguments.empty())
      return parser.emitError(location, "expected an argument of the regions "
                                        "for each operand, or for none");
    if (parser.parseColonType(type))
      return failure();
    llvm::append_range(types, type.getInputs());
    result.addTypes(type.getResults());
  } else {
    if (!operands.empty() && parser.parseColonTypeList(types))
      return failure();
    result.addTypes(types);
  }
  if (types.size() != operands.size())
    return parser.emitError(location, "expected a type for each operand");
  if (parser.resolveOperands(operands, types, location, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseKeyword("cond"))
    return failure();
  for (auto [argument, each] : llvm::zip(arguments, types))
    argument.type = each;
  if (parser.parseRegion(*result.addRegion(), arguments) ||
      parser.parseKeyword("do") ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return success();
}

} // namespace sinter::stablehlo
