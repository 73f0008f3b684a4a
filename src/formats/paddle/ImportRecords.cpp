// Records of the operators of a program (Records.h), and which of them passes
// leave alone (passes/Groups.h).

#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/Records.h"
#include "graph/Constants.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace sinter::paddle {

/// Whether passes may decompose operators of \p type, because the writer has
/// operators for the result: folding saves work there.
static bool mayDecompose(StringRef type) {
  return llvm::StringSwitch<bool>(type)
      .Cases("conv2d", "depthwise_conv2d", "conv2d_transpose", "conv3d", true)
      .Cases("depthwise_conv2d_transpose", "conv3d_transpose", true)
      .Cases("matmul", "matmul_v2", "mul", "fc", true)
      .Cases("batch_norm", "scale", "reshape", "reshape2", "transpose",
             "transpose2", true)
      .Default(StringRef(type).starts_with("elementwise_"));
}

/// Whether \p op is a broadcast, which Paddle's operators do implicitly.
static bool isImplicitBroadcast(mlir::Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(op);
}

void Importer::record(OperatorContext &op) {
  const std::vector<Block> &blocks = file.program().blocks;
  const Operator *first = blocks[op.frame.block].operators.data();
  formats::GroupRecord group;
  group.node = toString({static_cast<size_t>(op.frame.block),
                         static_cast<size_t>(&op.proto - first)});
  // Ops in regions have records of their own; an operator with a block is only
  // given back with its whole program.
  mlir::Block *block = builder.getInsertionBlock();
  bool isPlain = op.written.empty();
  for (mlir::Operation *each : op.made)
    isPlain &= each->getBlock() == block && !formats::holdsGraphs(each);
  for (const Slot &slot : op.proto.inputs)
    for (const std::string &name : slot.arguments) {
      const Bound *bound = lookup(op.frame, name);
      const bool isTensor = bound && bound->kind == Bound::Tensor;
      isPlain &= isTensor;
      group.inputs.push_back(isTensor ? bound->value : Value());
      auto tensor = isTensor ? known.tensor(bound->value) : std::nullopt;
      group.known.push_back(
          tensor ? toAttribute(*tensor, name, builder.getContext())
                 : ElementsAttr());
    }
  for (const Slot &slot : op.proto.outputs)
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      auto found = op.given.find({slot.name, i});
      isPlain &= found == op.given.end() || found->second.kind == Bound::Tensor;
      group.outputs.push_back(found == op.given.end() ? Value()
                                                      : found->second.value);
    }
  if (!isPlain)
    group.node.clear();
  Pending &entry = pending.emplace_back();
  entry.number = op.index;
  entry.type = op.proto.type;
  entry.name = cast<NameLoc>(op.location()).getName().str();
  entry.group = std::move(group);
  entry.made = op.made;
  for (const auto *values : {&entry.group.inputs, &entry.group.outputs})
    for (Value value : *values)
      entry.definitions.push_back(value ? value.getDefiningOp() : nullptr);
}

/// Called once dead ops are known: an unused output does not belong to a group.
void Importer::finishRecord(Pending &entry,
                            const llvm::DenseSet<mlir::Operation *> &erased) {
  llvm::erase_if(entry.made,
                 [&](mlir::Operation *each) { return erased.contains(each); });
  formats::GroupRecord &group = entry.group;
  for (auto [i, definition] : llvm::enumerate(entry.definitions)) {
    if (!definition || !erased.contains(definition))
      continue;
    const bool isInput = i < group.inputs.size();
    (isInput ? group.inputs[i] : group.outputs[i - group.inputs.size()]) = {};
    // Its computation is dead.
    if (isInput && !group.known[i])
      group.node.clear();
  }
  group.ops = entry.made;
  NamedAttrList record;
  record.set(recordedOperation, builder.getStringAttr(entry.type));
  record.set(recordedName, builder.getStringAttr(entry.name));
  formats::setGroup(record, group, builder.getContext());
  const bool isKept = record.get("proto") != nullptr;
  records[entry.number] = record.getDictionary(builder.getContext());
  const auto several = llvm::count_if(entry.made, [](mlir::Operation *each) {
    return !isImplicitBroadcast(each);
  });
  const OperatorReader *reader = findOperator(entry.type);
  if (isKept && reader && reader->staysWhole)
    lastingOperators.push_back(entry.number);
  if (isKept && several > 1 && !mayDecompose(entry.type))
    wholeOperators.push_back(builder.getDenseI64ArrayAttr(entry.number));
}

/// Keeps the parameters that no operation uses. Those that cannot be read are
/// not written.
void Importer::keepUnread() {
  llvm::StringSet<> read;
  (*module)->walk([&](stablehlo::ConstantOp op) {
    if (auto name = op->getAttrOfType<StringAttr>(nameAttribute))
      read.insert(name.getValue());
  });
  NamedAttrList unread;
  for (const Variable *each : file.program().parameters()) {
    if (read.contains(each->name))
      continue;
    Result<class Tensor> tensor = file.parameter(each->name);
    if (!tensor) {
      if (options.note)
        options.note("the written model lacks parameter '" + each->name +
                     "', which has no uses: " + tensor.error().message());
      continue;
    }
    unread.set(each->name,
               toAttribute(*tensor, each->name, builder.getContext()));
  }
  (*module)->setAttr(parametersAttribute,
                     unread.getDictionary(builder.getContext()));
}

std::optional<Error>
Importer::keepRecords(const llvm::DenseSet<mlir::Operation *> &erased) {
  records.resize(operatorCount, builder.getDictionaryAttr({}));
  for (Pending &each : pending)
    finishRecord(each, erased);
  pending.clear();
  (*module)->setAttr(sourceFormatAttribute, builder.getStringAttr(formatName));
  (*module)->setAttr(sourceRecordsAttribute, builder.getArrayAttr(records));
  (*module)->setAttr(wholeSourcesAttribute,
                     builder.getArrayAttr(wholeOperators));
  (*module)->setAttr(lastingSourcesAttribute,
                     builder.getDenseI64ArrayAttr(lastingOperators));
  keepUnread();
  if (auto kept = keepProgram(*module, file.program()); !kept)
    return inFile(kept.takeError(), file.name());
  return std::nullopt;
}

} // namespace sinter::paddle
