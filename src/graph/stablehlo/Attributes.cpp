// The text form of the dimension numbers, `#stablehlo.dot<...>` and the like.

#include "graph/stablehlo/AssemblyFormat.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sinter::stablehlo {

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr numbers;
  if (parser.parseLess() || parseConvolutionDimensions(parser, numbers) ||
      parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvolutionDimensions(printer, *this);
  printer << '>';
}

namespace {
/// A field of a struct attribute: a list of integers or one integer.
struct Field {
  StringRef name;
  SmallVector<int64_t> *list;
  int64_t *number;
};
} // namespace

/// `<name = [1, 2], other = 3>`, every field optional, in any order.
static ParseResult parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  if (parser.parseLess())
    return failure();
  if (succeeded(parser.parseOptionalGreater()))
    return success();
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
  return failure(parser.parseCommaSeparatedList(parseField) ||
                 parser.parseGreater());
}

/// Prints the lists that are not empty, and a number.
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

} // namespace sinter::stablehlo
