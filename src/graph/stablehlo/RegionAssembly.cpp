// The text form of constant, reduce and while.

#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::stablehlo {

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
  bool commutative = isa<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(op);
  if (inOrder || (swapped && commutative))
    return op.getName().getStringRef();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Whether `applies` says all there is to say about the body: one input, the
/// operands in order and of the type that would be made again.
static std::optional<StringRef> shortBody(ReduceOp op) {
  if (op.getInputs().size() != 1)
    return std::nullopt;
  Block &block = op.getBody().front();
  std::optional<StringRef> name = soleOperation(op.getBody());
  if (!name || block.front().getOperand(0) != block.getArgument(0) ||
      op->getDialect()->getNamespace() !=
          block.front().getName().getDialectNamespace())
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
  // The pairs (accumulator, value) as they combine.
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
  if (inner->getDialectNamespace() != "stablehlo" || !inner->isRegistered() ||
      inner->hasTrait<OpTrait::ZeroOperands>() ||
      !inner->hasTrait<OpTrait::OneResult>() ||
      !inner->hasTrait<OpTrait::NOperands<2>::Impl>())
    return parser.emitError(location, "'applies' takes an operation of two "
                                      "operands and one result");
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

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()),
                        printer, [&](auto pair) {
                          printer.printOperand(std::get<0>(pair));
                          printer << " = ";
                          printer.printOperand(std::get<1>(pair));
                        });
  printer << ')';
  if (getNumOperands()) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << " cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  // Both regions name their arguments alike.
  printer.shadowRegionArgs(getBody(), getCond().getArguments());
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parsePair))
    return failure();
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (types.size() != operands.size())
    return parser.emitError(location, "expected a type for each operand");
  if (parser.resolveOperands(operands, types, location, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseKeyword("cond"))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  result.addTypes(types);
  if (parser.parseRegion(*result.addRegion(), arguments) ||
      parser.parseKeyword("do") ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return success();
}

} // namespace sinter::stablehlo
