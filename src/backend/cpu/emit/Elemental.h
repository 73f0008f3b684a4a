//===- Elemental.h - the value of a tensor at one place -------------------===//
//
// Writes code that computes one element of a tensor from elements of the
// tensors it depends on, down to what is bound to memory. A kernel is a loop
// nest around that: what lies between is fused by construction.
//
// A coordinate may stand for several neighbours at once (`lanes`): then values
// that depend on it are vectors. An operation that has no rule for its
// coordinates' lanes is computed lane by lane.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ELEMENTAL_H
#define SINTER_BACKEND_CPU_EMIT_ELEMENTAL_H

#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/kernels/common/KernelBuilder.h"
#include "graph/Values.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <functional>

namespace sinter::cpu {

class LookupOp;

/// An index along one dimension.
struct Coordinate {
  mlir::Value value;
  /// Stands for value, value + 1, ... up to the number of lanes.
  bool lanes = false;

  Coordinate(mlir::Value value = {}, bool lanes = false)
      : value(value), lanes(lanes) {}
};
using Coordinates = llvm::SmallVector<Coordinate, 6>;

/// Whether some coordinate of \p place stands for several.
inline bool hasLanes(llvm::ArrayRef<Coordinate> place) {
  return llvm::any_of(place, [](const Coordinate &c) { return c.lanes; });
}

/// Whether a reshape of \p from to \p to leaves each dimension whose size is
/// named as it is, with dimensions of size 1 beside it or not. Only then can
/// code tell where an element was.
bool keepsNamedDimensions(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to);

/// How an element type lies in memory: one byte for i1 and smaller integers,
/// integers without sign, i8 for floats of eight bits.
mlir::Type storageType(mlir::Type element);
/// The type of a value of an element type in code: integers without sign, i8
/// for floats of eight bits.
mlir::Type valueType(mlir::Type element);

class Elemental {
public:
  /// \p lanes is the number of neighbours of a coordinate with lanes.
  explicit Elemental(KernelBuilder &code, int64_t lanes = 1)
      : code(code), lanes(lanes) {}

  KernelBuilder &code;
  const int64_t lanes;

  /// From now on \p tensor is what \p read gives.
  using Reader = std::function<mlir::Value(llvm::ArrayRef<Coordinate>)>;
  void bind(mlir::Value tensor, Reader read) {
    readers[tensor] = std::move(read);
  }
  /// \p tensor lies in \p memory: rank 1, of the storage type, row-major.
  void bindMemory(mlir::Value tensor, mlir::Value memory);

  /// The value at a place: a scalar, or a vector if a coordinate has lanes that
  /// matter.
  mlir::Value at(mlir::Value tensor, llvm::ArrayRef<Coordinate> place);
  mlir::Value at(mlir::Value tensor, llvm::ArrayRef<mlir::Value> place);
  /// All results of the operation at a place.
  llvm::SmallVector<mlir::Value> allAt(mlir::Operation *op,
                                       llvm::ArrayRef<Coordinate> place);

  /// The results of a region on scalar tensors (of a reduce, a sort, ...).
  /// \p reassociate allows sums and products to be taken in another order.
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region,
                                              mlir::ValueRange arguments,
                                              bool reassociate = false);

  /// Element \p offset of \p memory as a value of \p element, and back.
  mlir::Value load(mlir::Value memory, mlir::Value offset, mlir::Type element,
                   bool asVector = false);
  void store(mlir::Value value, mlir::Value memory, mlir::Value offset,
             mlir::Type element);
  /// A value of \p element, or a vector of them, as it lies in memory.
  mlir::Value stored(mlir::Value value, mlir::Type element);
  /// The row-major position of \p place in \p shape.
  mlir::Value linearize(llvm::ArrayRef<Coordinate> place,
                        llvm::ArrayRef<Dim> shape);
  mlir::Value splat(mlir::Value value);
  /// Where a slice of \p slice elements of \p size starts, either of which may
  /// be named: so that it ends inside.
  mlir::Value clampedStart(mlir::Value tensor, llvm::ArrayRef<Coordinate> place,
                           Dim size, Dim slice);
  /// Whether the first coordinates of a place in \p op's result are not those
  /// of padding; i1.
  mlir::Value isInside(stablehlo::PadOp op, llvm::ArrayRef<Coordinate> place);
  mlir::Value zero(mlir::Type element);
  /// \p attribute's value in code.
  mlir::Value constant(mlir::Type element, mlir::Attribute attribute);

private:
  friend class RegionScope;
  friend struct ElementRules;
  using Place = llvm::ArrayRef<Coordinate>;

  Values compute(mlir::Operation *op, Place place);
  Values laneByLane(mlir::Operation *op, Place place);
  mlir::Value readMemory(mlir::Value memory, mlir::RankedTensorType type,
                         Place place);
  mlir::Value readLanes(mlir::Value memory, mlir::Value offset,
                        mlir::RankedTensorType type, Place place);
  Values lane(mlir::Value value);

  // One rule an operation, which ElementalModels.cpp puts to use; nothing where
  // it does not cover the lanes of the place. See ElementalMove.cpp,
  // ElementalReduce.cpp.
  std::optional<Values> elementwiseAt(mlir::Operation *op, Place place);
  std::optional<Values> constantAt(stablehlo::ConstantOp op, Place place);
  std::optional<Values> broadcastAt(stablehlo::BroadcastInDimOp op,
                                    Place place);
  std::optional<Values> reshapeAt(stablehlo::ReshapeOp op, Place place);
  std::optional<Values> transposeAt(stablehlo::TransposeOp op, Place place);
  std::optional<Values> sliceAt(stablehlo::SliceOp op, Place place);
  std::optional<Values> padAt(stablehlo::PadOp op, Place place);
  std::optional<Values> padModeAt(nn::PadModeOp op, Place place);
  std::optional<Values> concatenateAt(stablehlo::ConcatenateOp op, Place place);
  std::optional<Values> reverseAt(stablehlo::ReverseOp op, Place place);
  std::optional<Values> iotaAt(stablehlo::IotaOp op, Place place);
  std::optional<Values> gatherAt(stablehlo::GatherOp op, Place place);
  std::optional<Values> dynamicSliceAt(stablehlo::DynamicSliceOp op,
                                       Place place);
  std::optional<Values> dynamicUpdateAt(stablehlo::DynamicUpdateSliceOp op,
                                        Place place);
  std::optional<Values> reduceAt(stablehlo::ReduceOp op, Place place);
  std::optional<Values> reduceWindowAt(stablehlo::ReduceWindowOp op,
                                       Place place);
  std::optional<Values> dotAt(stablehlo::DotGeneralOp op, Place place);
  std::optional<Values> convolutionAt(stablehlo::ConvolutionOp op, Place place);
  std::optional<Values> mapAt(stablehlo::MapOp op, Place place);
  // ElementalLookup.cpp.
  std::optional<Values> lookupAt(LookupOp op, Place place);
  // ElementalTable.cpp.
  mlir::Value tableAt(stablehlo::ConstantOp op, mlir::Value offset);
  // ElementalRegion.cpp.
  mlir::Value stackBuffer(mlir::Type element, int64_t size);
  mlir::Value bufferOf(mlir::Value tensor);
  void copyTo(mlir::Value tensor, mlir::Value buffer);
  void computeInBuffers(mlir::Operation *op);
  void computeWhole(mlir::Operation *op);
  void computeInOrder(mlir::Block &block);
  // ElementalControl.cpp.
  void bindScalars(mlir::ValueRange tensors, mlir::ValueRange values);
  Values branchInto(mlir::Region &region, mlir::ValueRange results);
  Values chooseRegion(mlir::Value index, mlir::Operation *op, size_t first);
  Values repeatLoop(stablehlo::WhileOp loop);
  Values nextOf(mlir::Block &block, mlir::ValueRange carried);
  void computeControl(mlir::Operation *op);

  std::optional<Values> bitcastAt(stablehlo::BitcastConvertOp op, Place place);

  llvm::DenseMap<mlir::Value, Reader> readers;
  /// What lies in memory, and where.
  llvm::DenseMap<mlir::Value, mlir::Value> memories;
  /// Where tensors of regions lie: on the stack, or constants in the code.
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  bool reassociate = false;
};

/// The value of an elementwise operation (convert, compare, select and clamp
/// among them) from its operands' values, scalars or vectors of one length.
/// Null if \p op is not one that this knows.
mlir::Value emitElementwise(KernelBuilder &code, mlir::Operation *op,
                            llvm::ArrayRef<mlir::Value> operands,
                            bool reassociate = false);
/// The type of a tensor's elements; that of a scalar or vector likewise.
inline mlir::Type elementOf(mlir::Value value) {
  return mlir::getElementTypeOrSelf(value.getType());
}

/// \p value of element type \p from as one of element type \p to, by the rules
/// of stablehlo.convert.
mlir::Value emitConvert(KernelBuilder &code, mlir::Value value, mlir::Type from,
                        mlir::Type to);
/// Products and sums as stablehlo defines them. Of floats: fused where the
/// machine can, and in any order, if that is allowed.
mlir::Value emitMultiplyAdd(KernelBuilder &code, mlir::Value a, mlir::Value b,
                            mlir::Value sum, bool mayFuse = true);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ELEMENTAL_H
