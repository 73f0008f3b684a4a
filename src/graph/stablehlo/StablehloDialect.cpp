#include "graph/stablehlo/StablehloOps.h"

#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/AssemblyFormat.h"
#include "graph/stablehlo/ElementOrder.h"
#include "graph/stablehlo/InferDynamic.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::stablehlo;

#include "graph/stablehlo/StablehloDialect.cpp.inc"
#include "graph/stablehlo/StablehloEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "graph/stablehlo/StablehloTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "graph/stablehlo/StablehloAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "graph/stablehlo/StablehloOps.cpp.inc"

void StablehloDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "graph/stablehlo/StablehloTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "graph/stablehlo/StablehloAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "graph/stablehlo/StablehloOps.cpp.inc"
      >();
  inferDynamicTypes(getContext());
  attachAxes(getContext());
}

Attribute StablehloDialect::parseAttribute(DialectAsmParser &parser,
                                           Type type) const {
  SMLoc location = parser.getCurrentLocation();
  StringRef name;
  Attribute attribute;
  OptionalParseResult parsed =
      generatedAttributeParser(parser, &name, type, attribute);
  if (parsed.has_value())
    return attribute;
  // `bounds<?, 4>` is short for `type_extensions<bounds = [?, 4]>`.
  if (name == "bounds") {
    SmallVector<int64_t> bounds;
    auto parseOne = [&] { return parseDimSize(parser, bounds); };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                       parseOne))
      return {};
    return TypeExtensionsAttr::get(getContext(), bounds);
  }
  parser.emitError(location, "unknown stablehlo attribute '") << name << "'";
  return {};
}

void StablehloDialect::printAttribute(Attribute attribute,
                                      DialectAsmPrinter &printer) const {
  if (auto extensions = dyn_cast<TypeExtensionsAttr>(attribute)) {
    printer << "bounds<";
    llvm::interleaveComma(extensions.getBounds(), printer,
                          [&](int64_t bound) { printDimSize(printer, bound); });
    printer << '>';
    return;
  }
  (void)generatedAttributePrinter(attribute, printer);
}
