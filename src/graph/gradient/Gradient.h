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

/// The interface by a function (Op, TensorBuilder &, gradients of the results).
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

/// Whether the element type is one that gradients have.
inline bool isDifferentiable(mlir::Value value) {
  return mlir::isa<mlir::FloatType>(tensorOf(value).getElementType());
}

inline llvm::SmallVector<int64_t> allDimensions(mlir::Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(value).getRank()));
}

/// Whether the elements are complex; the conjugate, of what is real itself.
bool isComplex(mlir::Value value);
mlir::Value conjugate(TensorBuilder &e, mlir::Value value);

/// Whether there are gradients by \p value: a tensor of real or complex floats.
bool hasGradient(mlir::Value value);

/// The name of the operation that a reduction's body consists of, with the
/// body's two arguments as operands; "" if it is anything else.
llvm::StringRef combinerOf(mlir::Region &region);

/// What the results of \p op follow from: its operands, then what its regions
/// read from outside, each once.
llvm::SmallVector<mlir::Value> sourcesOf(mlir::Operation *op);

/// backpropagate from those of \p outputs that have a seed. The gradient by an
/// input that is there twice counts once: it is that of the first.
Gradients backpropagateKnown(mlir::OpBuilder &builder,
                             llvm::ArrayRef<mlir::Value> outputs,
                             mlir::ValueRange seeds,
                             llvm::ArrayRef<mlir::Value> inputs);

/// How often the body of \p loop runs, where a counter goes by a constant from
/// a constant to a constant; nothing where that is not known.
std::optional<int64_t> tripsOf(stablehlo::WhileOp loop);

/// How many processes a group of the collective operation \p op has, where that
/// follows from the operation and all groups have as many.
std::optional<int64_t> groupSizeOf(mlir::Operation *op);

/// Most elements that a loop which a rule builds keeps of all its trips.
inline constexpr int64_t mostKept = int64_t(1) << 24;

/// A stablehlo.while over \p carried.
stablehlo::WhileOp
buildLoop(TensorBuilder &e, llvm::ArrayRef<mlir::Value> carried,
          llvm::function_ref<mlir::Value(TensorBuilder &, mlir::ValueRange)>
              condition,
          TensorBuilder::Body body);

/// Gradients of reductions by any body that has a form for whole tensors
/// (applyToTensors): through a tree of them, or a loop over the places of large
/// windows. Failure of other bodies, and where that keeps more than mostKept.
Gradients reducedByTree(stablehlo::ReduceOp op, TensorBuilder &e,
                        mlir::ValueRange dy);
Gradients reducedWindowsByTree(stablehlo::ReduceWindowOp op, TensorBuilder &e,
                               mlir::ValueRange dy);

/// \p parts, of which there is at least one, combined by \p body, of two
/// arguments, one after the other. Failure as above.
mlir::FailureOr<mlir::Value>
combinedInOrder(TensorBuilder &e, mlir::Block &body, mlir::ValueRange parts);

/// What \p op gives, which takes or gives quantised numbers: computed with the
/// real numbers that they stand for and rounded, by operations that have
/// gradients. Built where \p builder stands; failure where there is no such
/// form.
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
