#include "graph/stablehlo/AssemblyFormat.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sinter::stablehlo {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

ParseResult parseExponentMantissa(AsmParser &parser, IntegerAttr &exponent,
                                  IntegerAttr &mantissa) {
  SMLoc location = parser.getCurrentLocation();
  StringRef text;
  int32_t exponentBits, mantissaBits;
  if (parser.parseKeyword(&text))
    return failure();
  StringRef rest = text;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) ||
      !rest.consume_front("m") || rest.consumeInteger(10, mantissaBits) ||
      !rest.empty())
    return parser.emitError(location, "expected a format such as e5m10");
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

void printExponentMantissa(AsmPrinter &printer, Operation *,
                           IntegerAttr exponent, IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    start.emplace_back();
    limit.emplace_back();
    stride.emplace_back(1);
    if (parser.parseInteger(start.back()) || parser.parseColon() ||
        parser.parseInteger(limit.back()))
      return failure();
    if (succeeded(parser.parseOptionalColon()))
      return parser.parseInteger(stride.back());
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     parseRange))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *,
                      ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                      ArrayRef<int64_t> strides) {
  printer << '[';
  for (size_t i = 0; i < starts.size(); ++i) {
    if (i)
      printer << ", ";
    printer << starts[i] << ':' << limits[i];
    if (strides[i] != 1)
      printer << ':' << strides[i];
  }
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ParseResult
parseOperandsWithAttr(OpAsmParser &parser,
                      SmallVectorImpl<UnresolvedOperand> &operands) {
  while (true) {
    UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

ParseResult
parseOperandsWithAttr(OpAsmParser &parser, UnresolvedOperand &first,
                      SmallVectorImpl<UnresolvedOperand> &operands) {
  if (parser.parseOperand(first) || parser.parseComma())
    return failure();
  return parseOperandsWithAttr(parser, operands);
}

void printOperandsWithAttr(OpAsmPrinter &printer, Operation *,
                           OperandRange operands) {
  for (Value operand : operands)
    printer << operand << ", ";
}

void printOperandsWithAttr(OpAsmPrinter &printer, Operation *op, Value first,
                           OperandRange operands) {
  printer << first << ", ";
  printOperandsWithAttr(printer, op, operands);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// One list such as [b, 0, 1, f]: \p firstName and \p secondName are the two
/// dimensions that are not spatial.
static ParseResult parseDimensionList(AsmParser &parser, char firstName,
                                      char secondName, int64_t &first,
                                      int64_t &second,
                                      SmallVectorImpl<int64_t> &spatial) {
  SMLoc location = parser.getCurrentLocation();
  first = second = -1;
  SmallVector<std::pair<int64_t, int64_t>> places; // spatial index, dimension
  int64_t dimension = 0;
  auto parseOne = [&]() -> ParseResult {
    int64_t here = dimension++;
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    int64_t index;
    OptionalParseResult integer = parser.parseOptionalInteger(index);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      places.push_back({index, here});
      return success();
    }
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword.size() == 1 && keyword[0] == firstName && first < 0)
      first = here;
    else if (keyword.size() == 1 && keyword[0] == secondName && second < 0)
      second = here;
    else
      return parser.emitError(location, "unexpected dimension ") << keyword;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  if (first < 0 || second < 0)
    return parser.emitError(location, "expected dimensions ")
           << StringRef(&firstName, 1) << " and " << StringRef(&secondName, 1);
  llvm::sort(places);
  for (auto [index, place] : llvm::enumerate(places)) {
    if (place.first != static_cast<int64_t>(index))
      return parser.emitError(location, "expected spatial dimensions 0 to ")
             << places.size() - 1 << ", each once";
    spatial.push_back(place.second);
  }
  return success();
}

ParseResult parseConvolutionDimensions(AsmParser &parser,
                                       ConvDimensionNumbersAttr &numbers) {
  int64_t inputBatch, inputFeature, kernelInput, kernelOutput, outputBatch,
      outputFeature;
  SmallVector<int64_t> input, kernel, output;
  if (parseDimensionList(parser, 'b', 'f', inputBatch, inputFeature, input) ||
      parser.parseKeyword("x") ||
      parseDimensionList(parser, 'i', 'o', kernelInput, kernelOutput, kernel) ||
      parser.parseArrow() ||
      parseDimensionList(parser, 'b', 'f', outputBatch, outputFeature, output))
    return failure();
  numbers = ConvDimensionNumbersAttr::get(
      parser.getContext(), inputBatch, inputFeature, input, kernelInput,
      kernelOutput, kernel, outputBatch, outputFeature, output);
  return success();
}

static void printDimensionList(AsmPrinter &printer, char firstName,
                               char secondName, int64_t first, int64_t second,
                               ArrayRef<int64_t> spatial) {
  SmallVector<std::string> names(spatial.size() + 2, "?");
  auto setName = [&](int64_t dimension, std::string name) {
    if (dimension >= 0 && dimension < static_cast<int64_t>(names.size()))
      names[dimension] = std::move(name);
  };
  setName(first, std::string(1, firstName));
  setName(second, std::string(1, secondName));
  for (auto [index, dimension] : llvm::enumerate(spatial))
    setName(dimension, std::to_string(index));
  printer << '[';
  llvm::interleaveComma(names, printer);
  printer << ']';
}

void printConvolutionDimensions(AsmPrinter &printer,
                                ConvDimensionNumbersAttr numbers) {
  printDimensionList(printer, 'b', 'f', numbers.getInputBatchDimension(),
                     numbers.getInputFeatureDimension(),
                     numbers.getInputSpatialDimensions());
  printer << 'x';
  printDimensionList(printer, 'i', 'o',
                     numbers.getKernelInputFeatureDimension(),
                     numbers.getKernelOutputFeatureDimension(),
                     numbers.getKernelSpatialDimensions());
  printer << "->";
  printDimensionList(printer, 'b', 'f', numbers.getOutputBatchDimension(),
                     numbers.getOutputFeatureDimension(),
                     numbers.getOutputSpatialDimensions());
}

static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

static ParseResult parsePadding(OpAsmParser &parser,
                                DenseIntElementsAttr &padding) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<int64_t> values;
  int64_t rows = 0;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
        ++rows;
        return parseIntegers(parser, values);
      }))
    return failure();
  if (static_cast<int64_t>(values.size()) != 2 * rows)
    return parser.emitError(location, "expected [low, high] for each spatial "
                                      "dimension");
  if (rows == 0)
    return success();
  auto type =
      RankedTensorType::get({rows, 2}, parser.getBuilder().getIntegerType(64));
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

ParseResult parseWindowAttributes(OpAsmParser &parser,
                                  DenseI64ArrayAttr &strides,
                                  DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation,
                                  DenseI64ArrayAttr &rhsDilation,
                                  DenseBoolArrayAttr &reversal) {
  StringRef keyword;
  llvm::StringSet<> seen;
  auto integers = [&](DenseI64ArrayAttr &attribute) -> ParseResult {
    SmallVector<int64_t> values;
    if (parseIntegers(parser, values))
      return failure();
    // An empty list is the same as none.
    if (values.empty())
      return success();
    attribute = parser.getBuilder().getDenseI64ArrayAttr(values);
    return success();
  };
  auto booleans = [&]() -> ParseResult {
    SmallVector<bool> values;
    auto parseOne = [&]() -> ParseResult {
      StringRef word;
      int64_t number;
      OptionalParseResult parsed = parser.parseOptionalInteger(number);
      if (parsed.has_value()) {
        values.push_back(number != 0);
        return *parsed;
      }
      if (parser.parseKeyword(&word))
        return failure();
      values.push_back(word == "true");
      return success(word == "true" || word == "false");
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                       parseOne))
      return failure();
    if (values.empty())
      return success();
    reversal = parser.getBuilder().getDenseBoolArrayAttr(values);
    return success();
  };
  while (succeeded(parser.parseOptionalKeyword(
      &keyword, {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}))) {
    if (!seen.insert(keyword).second)
      return parser.emitError(parser.getCurrentLocation(), "'")
             << keyword << "' stands twice";
    ParseResult parsed = parser.parseEqual();
    if (failed(parsed))
      return failure();
    if (keyword == "stride")
      parsed = integers(strides);
    else if (keyword == "pad")
      parsed = parsePadding(parser, padding);
    else if (keyword == "lhs_dilate")
      parsed = integers(lhsDilation);
    else if (keyword == "rhs_dilate")
      parsed = integers(rhsDilation);
    else
      parsed = booleans();
    if (failed(parsed))
      return failure();
    if (failed(parser.parseOptionalComma()))
      break;
  }
  return success();
}

void printWindowAttributes(OpAsmPrinter &printer, Operation *,
                           DenseI64ArrayAttr strides,
                           DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation,
                           DenseI64ArrayAttr rhsDilation,
                           DenseBoolArrayAttr reversal) {
  bool first = true;
  auto key = [&](StringRef name) -> raw_ostream & {
    if (!first)
      printer << ", ";
    first = false;
    printer << name << " = ";
    return printer.getStream();
  };
  auto integers = [&](StringRef name, DenseI64ArrayAttr values) {
    if (!values)
      return;
    key(name) << '[';
    llvm::interleaveComma(values.asArrayRef(), printer);
    printer << ']';
  };
  integers("stride", strides);
  if (padding) {
    key("pad") << '[';
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      printer << (i ? ", [" : "[") << values[i] << ", " << values[i + 1] << ']';
    printer << ']';
  }
  integers("lhs_dilate", lhsDilation);
  integers("rhs_dilate", rhsDilation);
  if (reversal) {
    key("reverse") << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool value) {
      printer << (value ? "true" : "false");
    });
    printer << ']';
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static ParseResult parseIntegerPair(AsmParser &parser,
                                    SmallVectorImpl<int64_t> &lhs,
                                    SmallVectorImpl<int64_t> &rhs) {
  return failure(parser.parseEqual() || parseIntegers(parser, lhs) ||
                 parser.parseKeyword("x") || parseIntegers(parser, rhs));
}

ParseResult parseDotDimensions(AsmParser &parser,
                               DotDimensionNumbersAttr &numbers) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")))
    if (parseIntegerPair(parser, lhsBatch, rhsBatch) || parser.parseComma())
      return failure();
  if (parser.parseKeyword("contracting_dims") ||
      parseIntegerPair(parser, lhsContract, rhsContract))
    return failure();
  numbers = DotDimensionNumbersAttr::get(parser.getContext(), lhsBatch,
                                         rhsBatch, lhsContract, rhsContract);
  return success();
}

static void printIntegerPair(AsmPrinter &printer, StringRef name,
                             ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  printer << name << " = [";
  llvm::interleaveComma(lhs, printer);
  printer << "] x [";
  llvm::interleaveComma(rhs, printer);
  printer << ']';
}

void printDotDimensions(AsmPrinter &printer, Operation *,
                        DotDimensionNumbersAttr numbers) {
  if (!numbers.getLhsBatchingDimensions().empty()) {
    printIntegerPair(printer, "batching_dims",
                     numbers.getLhsBatchingDimensions(),
                     numbers.getRhsBatchingDimensions());
    printer << ", ";
  }
  printIntegerPair(printer, "contracting_dims",
                   numbers.getLhsContractingDimensions(),
                   numbers.getRhsContractingDimensions());
}

/// precision = [DEFAULT, HIGH]
static ParseResult parsePrecisions(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> values;
  auto parseOne = [&]() -> ParseResult {
    StringRef word;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Precision> value = symbolizePrecision(word);
    if (!value)
      return parser.emitError(location, "expected DEFAULT, HIGH or HIGHEST");
    values.push_back(PrecisionAttr::get(parser.getContext(), *value));
    return success();
  };
  if (parser.parseKeyword("precision") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  precision = parser.getBuilder().getArrayAttr(values);
  return success();
}

ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return parsePrecisions(parser, precision);
}

void printPrecisionConfig(OpAsmPrinter &printer, Operation *,
                          ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision, printer, [&](Attribute value) {
    printer << stringifyPrecision(cast<PrecisionAttr>(value).getValue());
  });
  printer << ']';
}

ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser,
                                       ArrayAttr &precision,
                                       DotAlgorithmAttr &algorithm) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (failed(parser.parseOptionalKeyword("algorithm"))) {
    if (parsePrecisions(parser, precision))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
    if (parser.parseKeyword("algorithm"))
      return failure();
  }
  if (parser.parseEqual())
    return failure();
  algorithm = dyn_cast_or_null<DotAlgorithmAttr>(
      DotAlgorithmAttr::parse(parser, Type()));
  return success(static_cast<bool>(algorithm));
}

void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *op,
                                ArrayAttr precision,
                                DotAlgorithmAttr algorithm) {
  printPrecisionConfig(printer, op, precision);
  if (!algorithm)
    return;
  printer << ", algorithm = ";
  algorithm.print(printer);
}

} // namespace sinter::stablehlo
