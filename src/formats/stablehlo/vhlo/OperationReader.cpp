//===- OperationReader.cpp - the operations of a portable artifact --------===//

#include "formats/stablehlo/vhlo/OperationReader.h"

#include "formats/stablehlo/vhlo/ForeignProperties.h"
#include "formats/stablehlo/vhlo/Steps.h"
#include "graph/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

/// The fields of an operation that follow its name.
enum Mask : uint8_t {
  HasAttributes = 1,
  HasResults = 2,
  HasOperands = 4,
  HasSuccessors = 8,
  HasRegions = 16,
  HasUseOrders = 32,
  HasProperties = 64,
};

} // namespace

//===----------------------------------------------------------------------===//
// Operations in the file
//===----------------------------------------------------------------------===//

bool OperationReader::readRaw(ByteReader &reader, RawOperation &raw) {
  uint64_t index, location;
  uint8_t mask;
  if (!reader.number(index) || index >= file.operationNames().size() ||
      !reader.byte(mask) || !reader.number(location))
    return broken("operation");
  const BytecodeFile::OperationName &name = file.operationNames()[index];
  raw.dialect = name.dialect;
  raw.name = name.name;
  raw.location = entries.location(location);
  if (failed())
    return false;
  const OperationName known((raw.dialect + "." + raw.name).str(), context);
  if (raw.dialect != "vhlo" && known.isRegistered())
    raw.foreign.emplace(raw.location, known);
  if (mask & HasAttributes) {
    uint64_t attributes;
    if (!reader.number(attributes))
      return broken("operation");
    auto dictionary =
        dyn_cast_or_null<DictionaryAttr>(entries.attribute(attributes));
    if (!dictionary)
      return failed() ? false : broken("dictionary of attributes");
    raw.attributes = NamedAttrList(dictionary);
  }
  if ((mask & HasProperties) && !readProperties(reader, name, raw))
    return false;
  if (mask & HasResults) {
    uint64_t count;
    if (!reader.count(count))
      return broken("list of results");
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t type;
      if (!reader.number(type))
        return broken("list of results");
      raw.results.push_back(entries.type(type));
      if (!raw.results.back())
        return false;
    }
  }
  if ((mask & HasOperands) && !readOperands(reader, raw))
    return false;
  if (mask & HasSuccessors)
    return fail(ErrorKind::InvalidModel,
                "has an operation " + raw.name + " that branches");
  if (file.version() >= BytecodeFile::withUseOrders && (mask & HasUseOrders) &&
      !skipUseOrders(reader, raw.results.size()))
    return broken("order of uses");
  if ((mask & HasRegions) && (!reader.flagged(raw.regions, raw.isIsolated) ||
                              raw.regions > reader.remaining()))
    return broken("list of regions");
  return true;
}

bool OperationReader::readProperties(ByteReader &reader,
                                     const BytecodeFile::OperationName &name,
                                     RawOperation &raw) {
  uint64_t index;
  if (!reader.number(index))
    return broken("operation");
  if (!name.isRegistered) {
    auto dictionary =
        dyn_cast_or_null<DictionaryAttr>(entries.attribute(index));
    if (!dictionary)
      return failed() ? false : broken("dictionary of properties");
    raw.attributes.append(dictionary.begin(), dictionary.end());
    return true;
  }
  if (index >= file.properties().size())
    return broken("reference to properties");
  ByteReader content(file.properties()[index]);
  if (name.dialect == "vhlo") {
    const OperationRow *row = findVersioned(name.name);
    if (!row)
      return true; // Reported when the operation is translated.
    for (const AttributeRow &attribute : row->attributes) {
      uint64_t value;
      if (!content.number(value))
        return broken("property of " + name.name);
      const Attribute found = entries.attribute(value);
      if (!found)
        return failed() ? false : broken("property of " + name.name);
      raw.attributes.append(attribute.name, found);
    }
    return content.empty() || broken("list of properties of " + name.name);
  }
  // Those of an unknown operation are not needed.
  return !raw.foreign ||
         readForeignProperties(file.properties()[index], file, entries,
                               *raw.foreign) ||
         (failed() ? false : broken("list of properties of " + name.name));
}

bool OperationReader::readOperands(ByteReader &reader, RawOperation &raw) {
  uint64_t count;
  if (!reader.count(count))
    return broken("list of operands");
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value;
    if (!reader.number(value) || scopes.empty() ||
        value >= scopes.back().values.size())
      return broken("list of operands");
    raw.operands.push_back(scopes.back().values[value]);
    if (!raw.operands.back())
      return fail(ErrorKind::InvalidModel, "has an operation " + raw.name +
                                               " that uses a value before it "
                                               "is computed");
  }
  return true;
}

/// Skips the order of use lists in memory, which has no meaning.
bool OperationReader::skipUseOrders(ByteReader &reader, size_t values) {
  uint64_t listed = 1;
  if (values > 1 && !reader.count(listed))
    return false;
  for (uint64_t i = 0; i < listed; ++i) {
    uint64_t which, count;
    bool isPairs;
    if ((values > 1 && !reader.number(which)) ||
        !reader.flagged(count, isPairs))
      return false;
    for (uint64_t entry; count > 0; --count)
      if (!reader.number(entry))
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

bool OperationReader::define(ValueRange values, const Twine &what) {
  Scope &scope = scopes.back();
  size_t &next = scope.next.back();
  if (values.size() > scope.values.size() - next)
    return broken("count of values at " + what);
  for (Value value : values)
    scope.values[next++] = value;
  return true;
}

bool OperationReader::readArguments(ByteReader &reader, Block *block) {
  uint64_t count;
  if (!reader.count(count))
    return broken("list of arguments");
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t index, entry;
    bool hasLocation = true;
    if (file.version() >= BytecodeFile::withElidedLocations
            ? !reader.flagged(index, hasLocation)
            : !reader.number(index))
      return broken("list of arguments");
    const Type versioned = entries.type(index);
    LocationAttr location = UnknownLoc::get(context);
    if (hasLocation) {
      if (!reader.number(entry))
        return broken("list of arguments");
      location = entries.location(entry);
    }
    if (failed())
      return false;
    const Type type = fromVersioned(versioned, entries.translator);
    if (!type)
      return fail(ErrorKind::Unsupported,
                  "cannot be read: " + entries.translator.problem);
    block->addArgument(type, location);
  }
  return define(block->getArguments(), "arguments");
}

bool OperationReader::readBlock(ByteReader &reader, Block *block) {
  uint64_t count;
  bool hasArguments;
  if (!reader.flagged(count, hasArguments) || count > reader.remaining())
    return broken("block");
  if (hasArguments) {
    if (!readArguments(reader, block))
      return false;
    uint8_t hasOrders = 0;
    if (file.version() >= BytecodeFile::withUseOrders &&
        (!reader.byte(hasOrders) ||
         (hasOrders && !skipUseOrders(reader, block->getNumArguments()))))
      return broken("order of uses");
  }
  for (uint64_t i = 0; i < count; ++i)
    if (!readOperation(reader, block))
      return false;
  return true;
}

bool OperationReader::readRegion(ByteReader &reader, Region &region) {
  uint64_t blocks, values;
  if (!reader.number(blocks))
    return broken("region");
  if (blocks == 0)
    return true;
  if (blocks != 1 || !reader.count(values))
    return fail(ErrorKind::InvalidModel, "has a region of several blocks");
  Scope &scope = scopes.back();
  const size_t outer = scope.values.size();
  scope.next.push_back(outer);
  scope.values.resize(outer + values);
  region.emplaceBlock();
  const bool good = readBlock(reader, &region.front());
  scopes.back().values.resize(outer);
  scopes.back().next.pop_back();
  return good;
}

bool OperationReader::readRegions(ByteReader &reader, const RawOperation &raw,
                                  Operation *op) {
  constexpr unsigned deepest = 200;
  if (op->getNumRegions() == 0)
    return true;
  if (depth >= deepest)
    return fail(ErrorKind::InvalidModel,
                "nests regions more than " + Twine(deepest) + " deep");
  ByteReader own;
  const bool isOwn =
      raw.isIsolated && file.version() >= BytecodeFile::withIsolatedRegions;
  if (isOwn) {
    unsigned id;
    ArrayRef<uint8_t> bytes;
    if (!file.section(reader, id, bytes) || id != BytecodeFile::ir)
      return broken("region");
    own = ByteReader(bytes);
  }
  if (raw.isIsolated)
    scopes.emplace_back();
  ++depth;
  bool good = true;
  for (Region &region : op->getRegions())
    good = good && readRegion(isOwn ? own : reader, region);
  --depth;
  if (raw.isIsolated)
    scopes.pop_back();
  return good;
}

//===----------------------------------------------------------------------===//
// Operations of StableHLO
//===----------------------------------------------------------------------===//

Operation *OperationReader::create(OperationName name, const RawOperation &raw,
                                   const NamedAttrList &attributes,
                                   Block *block) {
  OperationState state(raw.location, name);
  for (Type type : raw.results) {
    state.types.push_back(fromVersioned(type, entries.translator));
    if (!state.types.back()) {
      fail(ErrorKind::Unsupported,
           "cannot be read: " + entries.translator.problem);
      return nullptr;
    }
  }
  state.addOperands(raw.operands);
  for (uint64_t i = 0; i < raw.regions; ++i)
    state.addRegion();
  NamedAttrList inherent;
  for (NamedAttribute attribute : attributes) {
    const bool isInherent =
        llvm::is_contained(name.getAttributeNames(), attribute.getName());
    (isInherent ? inherent : state.attributes).append(attribute);
  }
  Operation *op = Operation::create(state);
  block->push_back(op);
  const auto complain = [&] { return op->emitError(); };
  if (!inherent.empty() && mlir::failed(op->setPropertiesFromAttribute(
                               inherent.getDictionary(context), complain))) {
    broken("attribute of " + raw.name);
    return nullptr;
  }
  return op;
}

/// The name of the operation that \p row is the newest version of.
static std::string nameOf(const OperationRow &row, Block *block) {
  const bool isBody = isa_and_nonnull<func::FuncOp>(block->getParentOp());
  if (row.name == "func" || row.name == "call" ||
      (row.name == "return" && isBody))
    return "func." + row.name.str();
  return "stablehlo." + row.name.str();
}

Operation *OperationReader::translate(const RawOperation &raw, Block *block) {
  const OperationRow *row = findVersioned(raw.name);
  if (!row) {
    fail(ErrorKind::Unsupported, "has an operation vhlo." + raw.name +
                                     ", which StableHLO " +
                                     currentVersion.str() + " does not know");
    return nullptr;
  }
  NamedAttrList versioned = raw.attributes, attributes;
  if (versioned.findDuplicate()) {
    broken("list of attributes of " + raw.name);
    return nullptr;
  }
  row = upgrade(row, versioned, context);
  if (!fromVersioned(*row, versioned, attributes, entries.translator)) {
    fail(entries.translator.isLack ? ErrorKind::Unsupported
                                   : ErrorKind::InvalidModel,
         "has an operation " + raw.name +
             " that is not to be read: " + entries.translator.problem);
    return nullptr;
  }
  const OperationName name(nameOf(*row, block), context);
  if (!name.isRegistered()) {
    fail(ErrorKind::Unsupported,
         "has an unknown operation, " + name.getStringRef());
    return nullptr;
  }
  return create(name, raw, attributes, block);
}

/// Reads an operation of another dialect than VHLO, whose values have VHLO's
/// types.
bool OperationReader::readForeign(ByteReader &reader, RawOperation &raw,
                                  Block *block) {
  if (!raw.foreign) {
    // Only declarations can be left out.
    if (raw.results.empty() && raw.regions == 0 && raw.operands.empty())
      return true;
    return fail(ErrorKind::Unsupported, "has an operation " + raw.dialect +
                                            "." + raw.name +
                                            ", which is not known");
  }
  OperationState &state = *raw.foreign;
  for (Type type : raw.results) {
    state.types.push_back(fromVersioned(type, entries.translator));
    if (!state.types.back())
      return fail(ErrorKind::Unsupported,
                  "cannot be read: " + entries.translator.problem);
  }
  // Casts between VHLO's types and others are no-ops now.
  if (isa_and_nonnull<BuiltinDialect>(state.name.getDialect()) &&
      raw.name == "unrealized_conversion_cast") {
    const SmallVector<Type> given(ValueRange(raw.operands).getTypes());
    return ArrayRef<Type>(given) == ArrayRef<Type>(state.types)
               ? define(raw.operands, raw.name)
               : fail(ErrorKind::Unsupported, "converts between types");
  }
  state.addOperands(raw.operands);
  for (uint64_t i = 0; i < raw.regions; ++i)
    state.addRegion();
  state.attributes = raw.attributes;
  Operation *op = Operation::create(state);
  block->push_back(op);
  return define(op->getResults(), raw.name) && readRegions(reader, raw, op);
}

/// Whether the operation is a function of the module whose body can be skipped.
bool OperationReader::canLeaveOut(const RawOperation &raw) const {
  const OperationRow *row = findVersioned(raw.name);
  return row && row->name == "func" && depth == 1 && raw.isIsolated &&
         file.version() >= BytecodeFile::withIsolatedRegions;
}

/// Reads a function, or leaves it out if it is not supported.
bool OperationReader::readFunction(ByteReader &reader, const RawOperation &raw,
                                   Block *block) {
  Operation *op = translate(raw, block);
  unsigned id;
  ArrayRef<uint8_t> body;
  if (op ? readRegions(reader, raw, op) : !file.section(reader, id, body))
    return op || broken("region");
  const bool isLack = firstError && firstError->kind == ErrorKind::Unsupported;
  const Attribute versioned = raw.attributes.get("sym_name");
  if (!isLack || entries.error() || !versioned)
    return false;
  Translator names;
  auto name = dyn_cast_or_null<StringAttr>(fromVersioned(versioned, names));
  if (!name)
    return false;
  missing[name] = firstError->message();
  firstError.reset();
  entries.translator.problem.clear();
  entries.translator.isLack = false;
  if (op)
    op->erase();
  return true;
}

/// Leaves out callers of functions that were left out.
void OperationReader::leaveOutCallers(ModuleOp module) {
  llvm::DenseMap<StringAttr, SmallVector<func::FuncOp>> callers;
  for (auto function : module.getOps<func::FuncOp>())
    if (auto uses = SymbolTable::getSymbolUses(function.getOperation()))
      for (const SymbolTable::SymbolUse &use : *uses)
        callers[use.getSymbolRef().getRootReference()].push_back(function);
  SmallVector<StringAttr> gone(llvm::make_first_range(missing));
  llvm::SmallPtrSet<Operation *, 8> erased;
  while (!gone.empty()) {
    const StringAttr callee = gone.pop_back_val();
    for (func::FuncOp caller : callers.lookup(callee))
      if (erased.insert(caller).second) {
        missing[caller.getSymNameAttr()] = "calls @" + callee.str();
        gone.push_back(caller.getSymNameAttr());
      }
  }
  for (Operation *op : erased)
    op->erase();
}

bool OperationReader::readOperation(ByteReader &reader, Block *block) {
  RawOperation raw;
  if (!readRaw(reader, raw))
    return false;
  if (raw.dialect != "vhlo")
    return readForeign(reader, raw, block);
  if (canLeaveOut(raw))
    return readFunction(reader, raw, block);
  Operation *op = translate(raw, block);
  return op && define(op->getResults(), raw.name) &&
         readRegions(reader, raw, op);
}

OwningOpRef<ModuleOp> OperationReader::read() {
  ByteReader reader = file.operations();
  uint64_t count;
  bool hasArguments;
  scopes.emplace_back();
  RawOperation raw;
  if (!reader.flagged(count, hasArguments) || count != 1 || hasArguments) {
    broken("list of modules");
    return {};
  }
  if (!readRaw(reader, raw))
    return {};
  if (raw.dialect != "builtin" || raw.name != "module" || raw.regions != 1 ||
      !raw.results.empty()) {
    fail(ErrorKind::InvalidModel, "holds no module");
    return {};
  }
  // Before bytecode had properties, its name was among the attributes.
  for (const char *text : {"sym_name", "sym_visibility"})
    if (Attribute value = raw.attributes.get(text);
        value && !isa<StringAttr>(value)) {
      broken("property of the module");
      return {};
    }
  raw.foreign->addRegion();
  raw.foreign->addAttributes(raw.attributes);
  OwningOpRef<ModuleOp> module(cast<ModuleOp>(Operation::create(*raw.foreign)));
  if (!readRegions(reader, raw, *module))
    return {};
  if (!reader.empty() || module->getBodyRegion().empty()) {
    broken("module");
    return {};
  }
  if (missing.empty())
    return module;
  const std::string reason = missing.front().second;
  leaveOutCallers(*module);
  const bool isNeeded = module->getOps<func::FuncOp>().empty() ||
                        missing.contains(StringAttr::get(context, entryName));
  if (!isNeeded)
    return module;
  fail(ErrorKind::Unsupported, reason);
  return {};
}

} // namespace sinter::vhlo
