// Parsing, printing and verification of attributes and types.

#include "graph/stablehlo/AssemblyFormat.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sinter::stablehlo {

namespace {
/// A field of a struct attribute: a list of integers or one integer.
struct Field {
  StringRef name;
  SmallVector<int64_t> *list;
  int64_t *number;
};
} // namespace

/// `name = [1, 2], other = 3>`, every field optional, in any order, perhaps
/// with a comma after the last.
static ParseResult parseFieldsInside(AsmParser &parser,
                                     ArrayRef<Field> fields) {
  llvm::StringSet<> seen;
  auto parseField = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const Field *field = llvm::find_if(
        fields, [&](const Field &each) { return each.name == name; });
    if (field == fields.end() || !seen.insert(name).second)
      return parser.emitError(location, "unexpected field '") << name << "'";
    if (field->number)
      return parser.parseInteger(*field->number);
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parser.parseInteger(field->list->emplace_back());
    });
  };
  while (failed(parser.parseOptionalGreater())) {
    if (parseField())
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

static ParseResult parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  return failure(parser.parseLess() || parseFieldsInside(parser, fields));
}

/// Prints the non-empty lists and the integer field.
static void
printFields(AsmPrinter &printer,
            ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> lists,
            std::optional<std::pair<StringRef, int64_t>> number = {}) {
  printer << '<';
  bool first = true;
  for (auto [name, values] : lists) {
    if (values.empty())
      continue;
    printer << (first ? "" : ", ") << name << " = [";
    llvm::interleaveComma(values, printer);
    printer << ']';
    first = false;
  }
  if (number)
    printer << (first ? "" : ", ") << number->first << " = " << number->second;
  printer << '>';
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr numbers;
  if (parser.parseLess())
    return {};
  // After `raw` come the names and values of all fields.
  if (succeeded(parser.parseOptionalKeyword("raw"))) {
    int64_t batch = 0, feature = 0, kernelIn = 0, kernelOut = 0, outBatch = 0,
            outFeature = 0;
    SmallVector<int64_t> input, kernel, output;
    if (parseFieldsInside(
            parser, {{"input_batch_dimension", nullptr, &batch},
                     {"input_feature_dimension", nullptr, &feature},
                     {"input_spatial_dimensions", &input, nullptr},
                     {"kernel_input_feature_dimension", nullptr, &kernelIn},
                     {"kernel_output_feature_dimension", nullptr, &kernelOut},
                     {"kernel_spatial_dimensions", &kernel, nullptr},
                     {"output_batch_dimension", nullptr, &outBatch},
                     {"output_feature_dimension", nullptr, &outFeature},
                     {"output_spatial_dimensions", &output, nullptr}}))
      return {};
    return get(parser.getContext(), batch, feature, input, kernelIn, kernelOut,
               kernel, outBatch, outFeature, output);
  }
  if (parseConvolutionDimensions(parser, numbers) || parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvolutionDimensions(printer, *this);
  printer << '>';
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (parseFields(parser,
                  {{"lhs_batching_dimensions", &lhsBatch, nullptr},
                   {"rhs_batching_dimensions", &rhsBatch, nullptr},
                   {"lhs_contracting_dimensions", &lhsContract, nullptr},
                   {"rhs_contracting_dimensions", &rhsContract, nullptr}}))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"lhs_batching_dimensions", getLhsBatchingDimensions()},
               {"rhs_batching_dimensions", getRhsBatchingDimensions()},
               {"lhs_contracting_dimensions", getLhsContractingDimensions()},
               {"rhs_contracting_dimensions", getRhsContractingDimensions()}});
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, operandBatch, indicesBatch, map;
  int64_t indexVectorDim = 0;
  if (parseFields(parser,
                  {{"offset_dims", &offset, nullptr},
                   {"collapsed_slice_dims", &collapsed, nullptr},
                   {"operand_batching_dims", &operandBatch, nullptr},
                   {"start_indices_batching_dims", &indicesBatch, nullptr},
                   {"start_index_map", &map, nullptr},
                   {"index_vector_dim", nullptr, &indexVectorDim}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatch, indicesBatch,
             map, indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"offset_dims", getOffsetDims()},
               {"collapsed_slice_dims", getCollapsedSliceDims()},
               {"operand_batching_dims", getOperandBatchingDims()},
               {"start_indices_batching_dims", getStartIndicesBatchingDims()},
               {"start_index_map", getStartIndexMap()}},
              {{"index_vector_dim", getIndexVectorDim()}});
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> window, inserted, inputBatch, indicesBatch, map;
  int64_t indexVectorDim = 0;
  if (parseFields(parser,
                  {{"update_window_dims", &window, nullptr},
                   {"inserted_window_dims", &inserted, nullptr},
                   {"input_batching_dims", &inputBatch, nullptr},
                   {"scatter_indices_batching_dims", &indicesBatch, nullptr},
                   {"scatter_dims_to_operand_dims", &map, nullptr},
                   {"index_vector_dim", nullptr, &indexVectorDim}}))
    return {};
  return get(parser.getContext(), window, inserted, inputBatch, indicesBatch,
             map, indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(
      printer,
      {{"update_window_dims", getUpdateWindowDims()},
       {"inserted_window_dims", getInsertedWindowDims()},
       {"input_batching_dims", getInputBatchingDims()},
       {"scatter_indices_batching_dims", getScatterIndicesBatchingDims()},
       {"scatter_dims_to_operand_dims", getScatterDimsToOperandDims()}},
      {{"index_vector_dim", getIndexVectorDim()}});
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

ParseResult parseDimSize(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  if (succeeded(parser.parseOptionalQuestion())) {
    sizes.push_back(ShapedType::kDynamic);
    return success();
  }
  return parser.parseInteger(sizes.emplace_back());
}

void printDimSize(AsmPrinter &printer, int64_t size) {
  if (ShapedType::isDynamic(size))
    printer << '?';
  else
    printer << size;
}

ParseResult parseDimSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseDimSize(parser, sizes);
  });
}

void printDimSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << '[';
  llvm::interleaveComma(sizes, printer,
                        [&](int64_t size) { printDimSize(printer, size); });
  printer << ']';
}

LogicalResult TypeExtensionsAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getBounds().size())
    return emitError() << "a tensor of rank " << shape.size() << " has "
                       << getBounds().size() << " bounds";
  for (auto [size, bound] : llvm::zip_equal(shape, getBounds())) {
    if (ShapedType::isDynamic(bound))
      continue;
    if (!ShapedType::isDynamic(size))
      return emitError() << "a dimension of size " << size
                         << " has a bound: " << bound;
    if (bound < 0)
      return emitError() << "a bound is negative: " << bound;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

/// `name = 0.5,`, or nothing.
static ParseResult parseTolerance(AsmParser &parser, StringRef name,
                                  double &value) {
  if (failed(parser.parseOptionalKeyword(name)))
    return success();
  return failure(parser.parseEqual() || parser.parseFloat(value) ||
                 parser.parseComma());
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  if (parser.parseLess() || parseTolerance(parser, "atol", atol) ||
      parseTolerance(parser, "rtol", rtol))
    return {};
  if (succeeded(parser.parseOptionalKeyword("ulps")))
    if (parser.parseEqual() || parser.parseInteger(ulps) || parser.parseComma())
      return {};
  if (parser.parseKeyword("mode") || parser.parseEqual() ||
      parser.parseCustomAttributeWithFallback(mode) || parser.parseGreater())
    return {};
  return parser.getChecked<ResultAccuracyAttr>(
      location, parser.getContext(), APFloat(atol), APFloat(rtol), ulps, mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  auto tolerance = [&](StringRef name, const APFloat &value) {
    if (value.isZero())
      return;
    printer << name << " = ";
    printer.printFloat(value);
    printer << ", ";
  };
  tolerance("atol", getAtol());
  tolerance("rtol", getRtol());
  if (getUlps())
    printer << "ulps = " << getUlps() << ", ";
  printer << "mode = ";
  printer.printAttribute(getMode());
  printer << '>';
}

// MLIR declares it with values.
// NOLINTBEGIN(performance-unnecessary-value-param)
LogicalResult
ResultAccuracyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           APFloat atol, APFloat rtol, int64_t ulps,
                           ResultAccuracyModeAttr mode) {
  if (!mode)
    return emitError() << "a result's accuracy has no mode";
  if (!atol.isFinite() || !rtol.isFinite() || atol.isNegative() ||
      rtol.isNegative() || ulps < 0)
    return emitError() << "a tolerance is negative or not finite";
  bool tolerates = !atol.isZero() || !rtol.isZero() || ulps != 0;
  if (tolerates && mode.getValue() != ResultAccuracyMode::TOLERANCE)
    return emitError() << "mode "
                       << stringifyResultAccuracyMode(mode.getValue())
                       << " takes no tolerances";
  return success();
}
// NOLINTEND(performance-unnecessary-value-param)

/// Whether hardware has such a matmul with this many operand components: the
/// algorithms of XLA's PrecisionConfig. Text may have one component where the
/// number of products implies more.
static bool isKnownAlgorithm(Type type, Type accumulation, int64_t components,
                             int64_t operations) {
  struct Row {
    Type type, accumulation;
    int64_t components, operations;
  };
  Builder types(type.getContext());
  Type f32 = types.getF32Type(), bf16 = types.getBF16Type();
  Type f16 = types.getF16Type(), tf32 = types.getTF32Type();
  const Row known[] = {{f16, f16, 1, 1},
                       {f16, f32, 1, 1},
                       {bf16, bf16, 1, 1},
                       {bf16, f32, 1, 1},
                       {bf16, f32, 2, 3},
                       {bf16, f32, 3, 6},
                       {bf16, f32, 3, 9},
                       {tf32, f32, 1, 1},
                       {tf32, f32, 2, 3},
                       {f32, f32, 1, 1},
                       {types.getF64Type(), types.getF64Type(), 1, 1}};
  return llvm::any_of(known, [&](const Row &row) {
    return row.type == type && row.accumulation == accumulation &&
           row.operations == operations &&
           (components == 1 || components == row.components);
  });
}

LogicalResult
DotAlgorithmAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type lhs,
                         Type rhs, Type accumulation, int64_t lhsComponents,
                         int64_t rhsComponents, int64_t operations,
                         bool isImprecise) {
  for (Type type : {lhs, rhs, accumulation})
    if (!mlir::isa<FloatType>(type))
      return emitError() << "(I8, I9, I10) " << type
                         << " is not a floating-point type";
  if (lhsComponents < 1)
    return emitError() << "(C22) lhs_component_count is not positive";
  if (rhsComponents < 1)
    return emitError() << "(C23) rhs_component_count is not positive";
  if (operations < 1)
    return emitError() << "(C24) num_primitive_operations is not positive";
  auto isOfEightBits = [](Type type) {
    return type.getIntOrFloatBitWidth() == 8;
  };
  bool isKnown =
      isOfEightBits(lhs) && isOfEightBits(rhs)
          ? accumulation.isF32() && lhsComponents == 1 && rhsComponents == 1 &&
                operations == 1
          : lhs == rhs && lhsComponents == rhsComponents && !isImprecise &&
                isKnownAlgorithm(lhs, accumulation, lhsComponents, operations);
  if (!isKnown)
    return emitError() << "no machine is known to compute a product by this "
                          "algorithm: "
                       << lhs << " in " << lhsComponents << " parts times "
                       << rhs << " in " << rhsComponents << ", " << operations
                       << " products summed in " << accumulation
                       << (isImprecise ? ", imprecisely" : "");
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult FutureType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Type> types) {
  for (Type type : types)
    if (!mlir::isa<RankedTensorType>(type))
      return emitError() << "a future holds ranked tensors, not " << type;
  return success();
}

} // namespace sinter::stablehlo
