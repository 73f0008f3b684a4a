//===- ArtifactWriter.cpp - write portable artifacts ----------------------===//

#include "formats/stablehlo/vhlo/ArtifactWriter.h"

#include "formats/stablehlo/vhlo/Conversion.h"
#include "formats/stablehlo/vhlo/Expansion.h"
#include "formats/stablehlo/vhlo/Steps.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace sinter::vhlo {
namespace {

/// Builds operations of VHLO from those of StableHLO.
class ArtifactBuilder {
public:
  ArtifactBuilder(MLIRContext *context, Version target)
      : context(context), target(target) {}

  OwningOpRef<ModuleOp> module(ModuleOp from) {
    OwningOpRef<ModuleOp> to = ModuleOp::create(from.getLoc());
    to->getOperation()->setAttrs(from->getAttrDictionary());
    for (Operation &op : *from.getBody())
      if (!operation(&op, to->getBody()))
        return {};
    return to;
  }

  const std::string &problem() const { return message; }

private:
  bool fail(Operation *op, const std::string &what) {
    llvm::raw_string_ostream stream(message);
    stream << op->getName() << " ";
    if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
      stream << "(" << name.getName().getValue() << ") ";
    stream << what;
    return false;
  }

  bool operation(Operation *op, Block *block) {
    const OperationRow *row = rowOf(op);
    if (!row)
      return foreign(op, block);
    OperationState state(op->getLoc(), "builtin.module");
    if (!types(op, op->getResultTypes(), state.types))
      return false;
    for (Value operand : op->getOperands())
      state.operands.push_back(values.lookup(operand));
    if (!attributes(op, *row, state))
      return false;
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *copy = Operation::create(state);
    return append(op, copy, block);
  }

  /// Copies an operation of another dialect, with VHLO's types.
  bool foreign(Operation *op, Block *block) {
    if (target < withOtherDialects)
      return fail(op, "is of another dialect, which needs version 1.11, not " +
                          target.str());
    SmallVector<Type> results;
    SmallVector<Value> operands;
    if (!types(op, op->getResultTypes(), results))
      return false;
    for (Value operand : op->getOperands())
      operands.push_back(values.lookup(operand));
    Operation *copy = Operation::create(
        op->getLoc(), op->getName(), results, operands,
        op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
        BlockRange(), op->getNumRegions());
    return append(op, copy, block);
  }

  /// Puts the copy of \p op at the end of \p block, and fills its regions.
  bool append(Operation *op, Operation *copy, Block *block) {
    block->push_back(copy);
    values.map(op->getResults(), copy->getResults());
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), copy->getRegions()))
      if (!region(op, from, to))
        return false;
    return true;
  }

  /// The newest version of an operation; null for other dialects'.
  static const OperationRow *rowOf(Operation *op) {
    const auto [dialect, name] = op->getName().getStringRef().split('.');
    const bool isFunction = isa<func::FuncOp, func::CallOp, func::ReturnOp>(op);
    return isFunction || dialect == "stablehlo" ? findNewest(name) : nullptr;
  }

  bool attributes(Operation *op, const OperationRow &newest,
                  OperationState &state) {
    NamedAttrList own, others;
    translator.problem.clear();
    if (!toVersioned(newest, op->getAttrDictionary(), own, others, translator))
      return fail(op, "cannot be written: " + translator.problem);
    SmallVector<Type> operands;
    for (Value operand : state.operands)
      operands.push_back(operand.getType());
    const OperationFacts facts{operands, state.types, op->getNumRegions()};
    std::string what;
    const OperationRow *row =
        downgrade(&newest, target, facts, own, context, what);
    if (!row)
      return fail(op, what + ", not " + target.str());
    for (NamedAttrList *list : {&own, &others})
      for (NamedAttribute attribute : *list)
        if (!isKnown(attribute.getValue(), target, what))
          return fail(op, what + ", not " + target.str());
    state.name = OperationName("vhlo." + row->versionedName(), context);
    if (!own.empty())
      state.propertiesAttr = own.getDictionary(context);
    state.attributes = others;
    return true;
  }

  bool types(Operation *op, TypeRange from, SmallVectorImpl<Type> &to) {
    for (Type type : from) {
      translator.problem.clear();
      const Type versioned = toVersioned(type, translator);
      if (!versioned)
        return fail(op, "cannot be written: " + translator.problem);
      std::string what;
      if (!isKnown(versioned, target, what))
        return fail(op, what + ", not " + target.str());
      to.push_back(versioned);
    }
    return true;
  }

  bool region(Operation *op, Region &from, Region &to) {
    for (Block &block : from) {
      Block &copy = to.emplaceBlock();
      SmallVector<Type> arguments;
      if (!types(op, block.getArgumentTypes(), arguments))
        return false;
      for (auto [argument, type] :
           llvm::zip_equal(block.getArguments(), arguments))
        values.map(argument, copy.addArgument(type, argument.getLoc()));
      for (Operation &inner : block)
        if (!operation(&inner, &copy))
          return false;
    }
    return true;
  }

  MLIRContext *context;
  Version target;
  Translator translator;
  IRMapping values;
  std::string message;
};

} // namespace

Result<std::string> writeArtifact(ModuleOp module, Version target) {
  MLIRContext *context = module.getContext();
  context->loadDialect<VhloDialect>();
  expandFor(module, target.withoutPatch());
  ArtifactBuilder builder(context, target.withoutPatch());
  OwningOpRef<ModuleOp> versioned = builder.module(module);
  if (!versioned)
    return unsupported("as a portable artifact: " + builder.problem());
  const std::string producer = "StableHLO_v" + target.str();
  BytecodeWriterConfig config(producer);
  config.setDesiredBytecodeVersion(target.bytecodeVersion());
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(*versioned, stream, config)))
    return unsupported("MLIR cannot write bytecode of version " +
                       std::to_string(target.bytecodeVersion()));
  return bytes;
}

} // namespace sinter::vhlo
