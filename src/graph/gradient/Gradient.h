//===- Gradient.h - how gradients are attached to operations --------------===//

#ifndef SINTER_GRAPH_GRADIENT_GRADIENT_H
#define SINTER_GRAPH_GRADIENT_GRADIENT_H

#include "graph/interfaces/Differentiable.h"
#include "graph/nn/TensorBuilder.h"

namespace sinter::gradient {

using nn::TensorBuilder;
using Gradients = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

inline Gradients list(std::initializer_list<mlir::Value> values) {
  return llvm::SmallVector<mlir::Value>(values);
}

/// Implements the interface by a function (Op, TensorBuilder &, gradients of
/// the results).
template <typename Op, auto build>
struct Model : DifferentiableOpInterface::ExternalModel<Model<Op, build>, Op> {
  Gradients buildGradients(mlir::Operation *op, mlir::OpBuilder &builder,
                           mlir::ValueRange gradients) const {
    if (!nn::isStatic(op))
      return mlir::failure();
    TensorBuilder emit(builder, op->getLoc());
    return build(mlir::cast<Op>(op), emit, gradients);
  }
};

template <typename Op, auto build> void attach(mlir::MLIRContext *context) {
  Op::template attachInterface<Model<Op, build>>(*context);
}

/// Whether gradients can have the element type.
inline bool isDifferentiable(mlir::Value value) {
  return mlir::isa<mlir::FloatType>(tensorOf(value).getElementType());
}

inline llvm::SmallVector<int64_t> allDimensions(mlir::Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(value).getRank()));
}

/// Whether the elements are complex; the conjugate, which is \p value itself if
/// it is real.
bool isComplex(mlir::Value value);
mlir::Value conjugate(TensorBuilder &e, mlir::Value value);

/// Whether \p value can have a gradient: a tensor of real or complex floats.
bool hasGradient(mlir::Value value);

/// The name of the only operation of a reduction's body, whose operands are the
/// body's two arguments; "" for other bodies.
llvm::StringRef combinerOf(mlir::Region &region);

/// All values that the results of \p op depend on: its operands, then the
/// values that its regions capture, each once.
llvm::SmallVector<mlir::Value> sourcesOf(mlir::Operation *op);

/// backpropagate() from those of \p outputs that have a seed. If an input is
/// there twice, the first one gets its gradient.
Gradients backpropagateKnown(mlir::OpBuilder &builder,
                             llvm::ArrayRef<mlir::Value> outputs,
                             mlir::ValueRange seeds,
                             llvm::ArrayRef<mlir::Value> inputs);

/// The trip count of \p loop, if a counter has constant start, limit and step;
/// else nothing.
std::optional<int64_t> tripsOf(stablehlo::WhileOp loop);

/// The group size of the collective operation \p op, if the operation
/// determines it and all groups have the same.
std::optional<int64_t> groupSizeOf(mlir::Operation *op);

/// The most elements that the loop of a gradient may keep over all its trips.
inline constexpr int64_t mostKept = int64_t(1) << 24;

/// A stablehlo.while over \p carried.
stablehlo::WhileOp
buildLoop(TensorBuilder &e, llvm::ArrayRef<mlir::Value> carried,
          llvm::function_ref<mlir::Value(TensorBuilder &, mlir::ValueRange)>
              condition,
          TensorBuilder::Body body);

/// Gradients of reductions whose body has a form for whole tensors
/// (applyToTensors): through a tree of these, or a loop over the positions of
/// large windows. Failure for other bodies, and where that keeps more than
/// mostKept elements.
Gradients reducedByTree(stablehlo::ReduceOp op, TensorBuilder &e,
                        mlir::ValueRange dy);
Gradients reducedWindowsByTree(stablehlo::ReduceWindowOp op, TensorBuilder &e,
                               mlir::ValueRange dy);

/// Combines \p parts, at least one, by \p body, of two arguments, one after the
/// other. Failure as above.
mlir::FailureOr<mlir::Value>
combinedInOrder(TensorBuilder &e, mlir::Block &body, mlir::ValueRange parts);

/// The results of \p op, which has quantised operands or results: computed on
/// the real values and rounded, by operations that have gradients. Built at
/// \p builder's insertion point; failure where there is no such form.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
quantizedParts(mlir::OpBuilder &builder, mlir::Operation *op);

void attachAlgebra(mlir::MLIRContext *context);
void attachComplex(mlir::MLIRContext *context);
void attachControlFlow(mlir::MLIRContext *context);
void attachDistribution(mlir::MLIRContext *context);
void attachDraws(mlir::MLIRContext *context);
void attachElementwise(mlir::MLIRContext *context);
void attachMovement(mlir::MLIRContext *context);
void attachIndexing(mlir::MLIRContext *context);
void attachOrder(mlir::MLIRContext *context);
void attachProducts(mlir::MLIRContext *context);
void attachQuantized(mlir::MLIRContext *context);
void attachReductions(mlir::MLIRContext *context);

} // namespace sinter::gradient

#endif // SINTER_GRAPH_GRADIENT_GRADIENT_H
