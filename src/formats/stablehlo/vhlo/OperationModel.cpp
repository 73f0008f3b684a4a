//===- OperationModel.cpp - one model for all operations of VHLO ----------===//
//
// MLIR accesses the properties of a registered operation through a virtual
// interface that TableGen implements for each operation. All of VHLO's
// operations have properties of the same form, a dictionary of the attributes
// that the table lists, so one implementation suffices, and only the table
// lists the operations.
//
//===----------------------------------------------------------------------===//

#include "formats/stablehlo/vhlo/Dialect.h"
#include "formats/stablehlo/vhlo/Operations.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

/// The attributes of an operation, by name. An operation without attributes has
/// no properties at all.
struct Properties {
  DictionaryAttr attributes;
};

Properties &propertiesOf(Operation *op) {
  return *op->getPropertiesStorage().as<Properties *>();
}

/// Writes the attributes in the order of their names, like TableGen.
struct PropertiesEncoder : public BytecodeOpInterface::Concept {
  using Interface = BytecodeOpInterface;
  PropertiesEncoder() : Concept{read, write} {}

  /// Not used: ArtifactReader.h reads artifacts.
  static LogicalResult read(DialectBytecodeReader &reader, OperationState &) {
    return reader.emitError("this is a portable artifact: it is not to be read "
                            "as mere bytecode");
  }
  static void write(const Concept *, Operation *op,
                    DialectBytecodeWriter &writer) {
    for (NamedAttribute attribute : propertiesOf(op).attributes)
      writer.writeAttribute(attribute.getValue());
  }
};

mlir::detail::InterfaceMap encoderOf(const OperationRow &row) {
  mlir::detail::InterfaceMap map;
  if (!row.attributes.empty())
    map.insertModels<PropertiesEncoder>();
  return map;
}

class Model : public OperationName::Impl {
public:
  Model(Dialect *dialect, const OperationRow &row, TypeID id)
      : Impl(StringAttr::get(dialect->getContext(),
                             "vhlo." + row.versionedName()),
             dialect, id, encoderOf(row)),
        row(row) {}

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>,
                         SmallVectorImpl<OpFoldResult> &) override {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &,
                                   MLIRContext *) override {}
  bool hasTrait(TypeID) override { return false; }
  OperationName::ParseAssemblyFn getParseAssemblyFn() override {
    return [](OpAsmParser &parser, OperationState &) -> ParseResult {
      return parser.emitError(parser.getNameLoc(),
                              "operations of vhlo have no text form");
    };
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) override {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) override {
    printer.printGenericOp(op);
  }
  LogicalResult verifyInvariants(Operation *) override { return success(); }
  LogicalResult verifyRegionInvariants(Operation *) override {
    return success();
  }

  std::optional<Attribute> getInherentAttr(Operation *op,
                                           StringRef name) override {
    if (!isInherent(name))
      return std::nullopt;
    const DictionaryAttr all = propertiesOf(op).attributes;
    return all ? all.get(name) : Attribute();
  }
  void setInherentAttr(Operation *op, StringAttr name,
                       Attribute value) override {
    Properties &properties = propertiesOf(op);
    NamedAttrList list(properties.attributes);
    list.set(name, value);
    properties.attributes = list.getDictionary(op->getContext());
  }
  void populateInherentAttrs(Operation *op, NamedAttrList &list) override {
    if (!row.attributes.empty() && propertiesOf(op).attributes)
      for (NamedAttribute attribute : propertiesOf(op).attributes)
        list.append(attribute);
  }
  LogicalResult
  verifyInherentAttrs(OperationName, NamedAttrList &,
                      function_ref<InFlightDiagnostic()>) override {
    return success();
  }

  int getOpPropertyByteSize() override {
    return row.attributes.empty() ? 0 : sizeof(Properties);
  }
  void initProperties(OperationName, OpaqueProperties storage,
                      OpaqueProperties init) override {
    new (storage.as<Properties *>())
        Properties(init ? *init.as<Properties *>() : Properties());
  }
  void deleteProperties(OpaqueProperties) override {}
  void populateDefaultProperties(OperationName, OpaqueProperties) override {}
  LogicalResult
  setPropertiesFromAttr(OperationName, OpaqueProperties properties,
                        Attribute attribute,
                        function_ref<InFlightDiagnostic()>) override {
    auto dictionary = dyn_cast<DictionaryAttr>(attribute);
    if (row.attributes.empty() || !dictionary)
      return failure();
    properties.as<Properties *>()->attributes = dictionary;
    return success();
  }
  Attribute getPropertiesAsAttr(Operation *op) override {
    return row.attributes.empty() ? Attribute() : propertiesOf(op).attributes;
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) override {
    if (!row.attributes.empty())
      *to.as<Properties *>() = *from.as<Properties *>();
  }
  bool compareProperties(OpaqueProperties a, OpaqueProperties b) override {
    return row.attributes.empty() ||
           a.as<Properties *>()->attributes == b.as<Properties *>()->attributes;
  }
  llvm::hash_code hashProperties(OpaqueProperties properties) override {
    if (row.attributes.empty())
      return 0;
    return hash_value(properties.as<Properties *>()->attributes);
  }

private:
  bool isInherent(StringRef name) const {
    return llvm::any_of(row.attributes, [&](const AttributeRow &attribute) {
      return attribute.name == name;
    });
  }

  const OperationRow &row;
};

/// Every registered operation needs a distinct id.
SelfOwningTypeID *typeIds() {
  static std::vector<SelfOwningTypeID> ids(operationRows().size());
  return ids.data();
}

} // namespace

void VhloDialect::addOperations() {
  SelfOwningTypeID *ids = typeIds();
  for (const OperationRow &row : operationRows()) {
    SmallVector<StringRef> names;
    for (const AttributeRow &attribute : row.attributes)
      names.push_back(attribute.name);
    RegisteredOperationName::insert(std::make_unique<Model>(this, row, *ids++),
                                    names);
  }
}

} // namespace sinter::vhlo
