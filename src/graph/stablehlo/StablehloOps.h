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

  bool operator==(const WindowDimension &) const = default;
};
using ConvolutionWindow = llvm::SmallVector<WindowDimension, 3>;

/// How many positions a window has over a dimension of \p size elements; `?`
/// for `?`. Nothing if the parameters are invalid or overflow.
std::optional<int64_t> windowedSize(int64_t size,
                                    const WindowDimension &window);

/// A window of the given attributes, with one entry per dimension each, and the
/// specification's defaults for missing ones. Nothing if one has another size.
std::optional<ConvolutionWindow>
makeWindow(llvm::ArrayRef<int64_t> sizes,
           std::optional<llvm::ArrayRef<int64_t>> strides,
           std::optional<mlir::DenseIntElementsAttr> padding = {},
           std::optional<llvm::ArrayRef<int64_t>> baseDilations = {},
           std::optional<llvm::ArrayRef<int64_t>> windowDilations = {},
           std::optional<llvm::ArrayRef<bool>> reversal = {});

/// The roles of the dimensions of one operand of a dot_general.
struct ProductSide {
  mlir::Value value;
  llvm::ArrayRef<int64_t> batching, contracting;

  /// The dimensions that are neither batching nor contracting, in order.
  llvm::SmallVector<int64_t> free() const;
};

/// The greatest rank of a shape operand.
inline constexpr int64_t mostDimensions = 1024;

/// The process ids of each group of a collective op: its \p groups are rows of
/// ids (-1, which pads a shorter group, is left out) or axes of a mesh,
/// possibly one of \p op 's module. Nothing if the mesh or the axes are
/// invalid.
std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>>
replicaGroups(mlir::Operation *op, mlir::Attribute groups);

/// Checks that the mesh that \p groups refers to exists.
mlir::LogicalResult verifyMesh(mlir::Operation *op, mlir::Attribute groups,
                               mlir::SymbolTableCollection &symbols);

/// Whether a constant with a value of type \p written may have the type
/// \p actual: the same, or a quantised one with storage type \p written.
bool compatibleConstantTypes(mlir::TypeRange written, mlir::TypeRange actual);

/// Checks that operands and results have the same baseline type; see
/// SameBaselineType.
mlir::LogicalResult verifySameBaselineType(mlir::Operation *op);

/// Checks that the quantised result of \p op has the type of its operand, or
/// the operand's expressed type, as expressed type.
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

/// Whether that operation is associative and commutative up to rounding, as
/// addition is.
bool joinsInAnyOrder(mlir::Region &region);

} // namespace sinter::stablehlo

#define GET_OP_CLASSES
#include "graph/stablehlo/StablehloOps.h.inc"

#endif // SINTER_GRAPH_STABLEHLO_STABLEHLOOPS_H
