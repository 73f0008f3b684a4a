#include "backend/cpu/layout/FormTrees.h"

#include "backend/cpu/ir/TreeOps.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/nn/TreeTables.h"

using namespace mlir;

namespace sinter::cpu {

using nn::TensorBuilder;

static constexpr llvm::StringLiteral formTreesLabel = "form-trees";

ArrayRef<PatternInfo> formTreesPatterns() {
  static const PatternInfo infos[] = {
      {formTreesLabel, "tree_ensemble(x) -> cpu.tree_ensemble(x, nodes, roots)",
       "cpu-form-trees"}};
  return infos;
}

/// The weights in f32 where that holds them.
static Value weightsOf(TensorBuilder &emit, const nn::TreeTables &tables) {
  if (!tables.layout.hasRows)
    return {};
  const bool isExact = llvm::all_of(tables.weights, [](double each) {
    return double(static_cast<float>(each)) == each || std::isnan(each);
  });
  if (!isExact)
    return nn::tableConstant(emit, ElementType::F64, tables.weights);
  return nn::tableConstant(
      emit, ElementType::F32,
      std::vector<float>(tables.weights.begin(), tables.weights.end()));
}

static void form(nn::TreeEnsembleOp op, PatternRun &run) {
  auto operandType = tensorOf(op.getOperand());
  // What the code reads of a row must be there.
  if (operandType.isDynamicDim(1) || operandType.getDimSize(1) == 0 ||
      operandType.getDimSize(1) > (int64_t(1) << 20))
    return;
  std::optional<nn::TreeTables> tables = nn::treeTablesOf(op);
  if (!tables)
    return;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  const nn::TreeLayout &layout = tables->layout;
  const auto trees = static_cast<int32_t>(tables->roots.size());
  std::vector<int32_t> starts(tables->targetStarts.begin(),
                              tables->targetStarts.end());
  if (layout.hasRows)
    starts = {0, trees};
  std::vector<int32_t> roots = tables->roots;
  llvm::append_range(roots, starts);
  const Type element = operandType.getElementType().isF64()
                           ? Type(builder.getF64Type())
                           : Type(builder.getF32Type());
  auto unit = [&](bool is) { return is ? builder.getUnitAttr() : UnitAttr(); };
  auto whole = builder.create<TreeEnsembleOp>(
      op.getLoc(), tensorOf(op.getResult()).clone(element),
      emit.convert(op.getOperand(), element),
      nn::tableConstant(emit, ElementType::I64, tables->nodes),
      nn::tableConstant(emit, ElementType::I32, roots),
      weightsOf(emit, *tables), builder.getDenseI32ArrayAttr(starts),
      op.getAggregateAttr(), unit(layout.isWide), unit(layout.hasRows),
      unit(layout.knowsNaN), unit(layout.hasEqual),
      builder.getI64IntegerAttr(layout.featureBits),
      builder.getI64IntegerAttr(layout.depth));
  run.replace(formTreesLabel, op,
              emit.convert(whole.getResult(),
                           tensorOf(op.getResult()).getElementType()));
  run.graphIsWhole(formTreesLabel);
}

void formTrees(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(formTreesLabel))
    return;
  SmallVector<nn::TreeEnsembleOp> found;
  function.walk([&](nn::TreeEnsembleOp op) { found.push_back(op); });
  for (nn::TreeEnsembleOp op : found)
    form(op, run);
}

} // namespace sinter::cpu
