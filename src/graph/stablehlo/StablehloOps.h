//===- StablehloOps.h - the StableHLO operation set -----------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_STABLEHLOOPS_H
#define SINTER_GRAPH_STABLEHLO_STABLEHLOOPS_H

#include "graph/Types.h"
#include "graph/interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "graph/stablehlo/StablehloDialect.h.inc"
#include "graph/stablehlo/StablehloEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "graph/stablehlo/StablehloTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "graph/stablehlo/StablehloAttrs.h.inc"

namespace sinter::stablehlo {

/// One spatial dimension of a window that slides over another dimension.
struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t paddingLow = 0;
  int64_t paddingHigh = 0;
  int64_t baseDilation = 1;
  int64_t windowDilation = 1;
  bool reversed = false;
};
using ConvolutionWindow = llvm::SmallVector<WindowDimension, 3>;

/// How many places a window has over a dimension of \p size elements; `?` for
/// `?`. Nothing if the numbers make no sense or overflow.
std::optional<int64_t> windowedSize(int64_t size,
                                    const WindowDimension &window);

/// A window of the given numbers, one of each a dimension, with the
/// specification's defaults for what is missing. Nothing if they do not have
/// as many elements.
std::optional<ConvolutionWindow>
makeWindow(llvm::ArrayRef<int64_t> sizes,
           std::optional<llvm::ArrayRef<int64_t>> strides,
           std::optional<mlir::DenseIntElementsAttr> padding = {},
           std::optional<llvm::ArrayRef<int64_t>> baseDilations = {},
           std::optional<llvm::ArrayRef<int64_t>> windowDilations = {},
           std::optional<llvm::ArrayRef<bool>> reversal = {});

/// One operand of a product: its dimensions by what becomes of them.
struct ProductSide {
  mlir::Value value;
  llvm::ArrayRef<int64_t> batching, contracting;

  /// Those that are neither batching nor contracting, in order.
  llvm::SmallVector<int64_t> free() const;
};

/// A shape that is a value has no more dimensions than this.
inline constexpr int64_t mostDimensions = 1024;

/// The process ids of each group of a collective op: its \p groups are rows of
/// ids (-1, which pads a shorter group, is left out) or axes of a mesh that
/// \p op 's module may name. Nothing if the mesh or the axes make no sense.
std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>>
replicaGroups(mlir::Operation *op, mlir::Attribute groups);

/// Checks that a mesh that \p groups names is there.
mlir::LogicalResult verifyMesh(mlir::Operation *op, mlir::Attribute groups,
                               mlir::SymbolTableCollection &symbols);

/// Whether a constant of the type \p written may have the type \p actual: the
/// same, or one that is stored as \p written.
bool compatibleConstantTypes(mlir::TypeRange written, mlir::TypeRange actual);

/// Checks that operands and results have one baseline type; see
/// SameBaselineType.
mlir::LogicalResult verifySameBaselineType(mlir::Operation *op);

/// Checks that the quantised result of \p op expresses the type of its operand,
/// or what that expresses.
mlir::LogicalResult verifyExpressedType(mlir::Operation *op);

namespace traits {
template <typename Op>
class SameBaselineType : public mlir::OpTrait::TraitBase<Op, SameBaselineType> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifySameBaselineType(op);
  }
};
} // namespace traits

/// Whether the region is `return op(arg0, arg1)` (in either order where \p op
/// is commutative) and, if so, the op's name.
std::optional<llvm::StringRef> soleOperation(mlir::Region &region);

/// Whether that is an operation by which many elements are joined in any order,
/// but for rounding: a sum, say.
bool joinsInAnyOrder(mlir::Region &region);

} // namespace sinter::stablehlo

#define GET_OP_CLASSES
#include "graph/stablehlo/StablehloOps.h.inc"

#endif // SINTER_GRAPH_STABLEHLO_STABLEHLOOPS_H
