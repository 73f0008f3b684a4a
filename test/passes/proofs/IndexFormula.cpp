#include "passes/proofs/IndexFormula.h"

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace sinter::stablehlo;
using z3::expr;

namespace sinter::test {

static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Constants are the same function wherever they stand.
expr IndexFormula::opaque(mlir::Value value, const Index &index) {
  void *key = value.getAsOpaquePointer();
  if (auto constant = value.getDefiningOp<ConstantOp>())
    key = const_cast<void *>(constant.getValue().getAsOpaquePointer());
  unsigned number = names.try_emplace(key, names.size()).first->second;
  z3::sort_vector domain(context);
  z3::expr_vector arguments(context);
  for (const expr &each : index) {
    domain.push_back(context.int_sort());
    arguments.push_back(each);
  }
  std::string name = "x" + std::to_string(number);
  if (index.empty())
    return context.constant(name.c_str(), context.int_sort());
  return context.function(name.c_str(), domain, context.int_sort())(arguments);
}

namespace {
using Index = IndexFormula::Index;

Index ofTranspose(TransposeOp op, const Index &index) {
  Index inner = index;
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    inner[from] = index[to];
  return inner;
}

/// Both sides count their elements in row-major order.
Index ofReshape(ReshapeOp op, const Index &index, z3::context &context) {
  expr place = context.int_val(0);
  for (auto [at, size] : llvm::zip_equal(index, shapeOf(op)))
    place = place * context.int_val(size) + at;
  Index inner;
  llvm::ArrayRef<int64_t> from = shapeOf(op.getOperand());
  for (int64_t size : llvm::reverse(from)) {
    expr whole = context.int_val(size);
    inner.insert(inner.begin(), mod(place, whole));
    place = place / whole;
  }
  return inner;
}

Index ofBroadcast(BroadcastInDimOp op, const Index &index,
                  z3::context &context) {
  Index inner;
  for (auto [dimension, size] :
       llvm::zip_equal(op.getBroadcastDimensions(), shapeOf(op.getOperand())))
    inner.push_back(size == 1 ? context.int_val(0) : index[dimension]);
  return inner;
}

Index ofSlice(SliceOp op, const Index &index, z3::context &context) {
  Index inner;
  for (auto [at, start, stride] :
       llvm::zip_equal(index, op.getStartIndices(), op.getStrides()))
    inner.push_back(context.int_val(start) + at * context.int_val(stride));
  return inner;
}

Index ofReverse(ReverseOp op, const Index &index, z3::context &context) {
  Index inner = index;
  for (int64_t dimension : op.getDimensions())
    inner[dimension] =
        context.int_val(shapeOf(op)[dimension] - 1) - index[dimension];
  return inner;
}
} // namespace

static expr ofPad(IndexFormula &formula, PadOp op, const Index &index,
                  z3::context &context) {
  expr inside = context.bool_val(true);
  Index inner;
  for (auto [at, low, interior, size] :
       llvm::zip_equal(index, op.getEdgePaddingLow(), op.getInteriorPadding(),
                       shapeOf(op.getOperand()))) {
    expr step = context.int_val(interior + 1);
    expr place = at - context.int_val(low);
    inside = inside && place >= 0 && mod(place, step) == 0 &&
             place / step < context.int_val(size);
    inner.push_back(place / step);
  }
  return ite(inside, formula.element(op.getOperand(), inner),
             formula.element(op.getPaddingValue(), {}));
}

static expr ofConcatenate(IndexFormula &formula, ConcatenateOp op,
                          const Index &index, z3::context &context) {
  int64_t dimension = op.getDimension(), end = shapeOf(op)[dimension];
  std::optional<expr> result;
  for (mlir::Value part : llvm::reverse(op.getInputs())) {
    end -= shapeOf(part)[dimension];
    Index inner = index;
    inner[dimension] = index[dimension] - context.int_val(end);
    expr element = formula.element(part, inner);
    result = result
                 ? ite(index[dimension] >= context.int_val(end) &&
                           index[dimension] <
                               context.int_val(end + shapeOf(part)[dimension]),
                       element, *result)
                 : element;
  }
  return *result;
}

expr IndexFormula::element(mlir::Value value, const Index &index) {
  mlir::Operation *op = value.getDefiningOp();
  if (!op)
    return opaque(value, index);
  return llvm::TypeSwitch<mlir::Operation *, expr>(op)
      .Case([&](TransposeOp op) {
        return element(op.getOperand(), ofTranspose(op, index));
      })
      .Case([&](ReshapeOp op) {
        return element(op.getOperand(), ofReshape(op, index, context));
      })
      .Case([&](BroadcastInDimOp op) {
        return element(op.getOperand(), ofBroadcast(op, index, context));
      })
      .Case([&](SliceOp op) {
        return element(op.getOperand(), ofSlice(op, index, context));
      })
      .Case([&](ReverseOp op) {
        return element(op.getOperand(), ofReverse(op, index, context));
      })
      .Case([&](PadOp op) { return ofPad(*this, op, index, context); })
      .Case([&](ConcatenateOp op) {
        return ofConcatenate(*this, op, index, context);
      })
      .Case([&](NegOp op) {
        // Any function of one element does for all that are elementwise.
        z3::func_decl function =
            context.function("negate", context.int_sort(), context.int_sort());
        return function(element(op.getOperand(), index));
      })
      .Default([&](mlir::Operation *) { return opaque(value, index); });
}

expr IndexFormula::difference(mlir::Value a, mlir::Value b) {
  Index index;
  expr inside = context.bool_val(true);
  for (auto [dimension, size] : llvm::enumerate(shapeOf(a))) {
    std::string name = "i" + std::to_string(dimension);
    index.push_back(context.int_const(name.c_str()));
    inside = inside && index.back() >= 0 && index.back() < number(size);
  }
  return inside && element(a, index) != element(b, index);
}

} // namespace sinter::test
