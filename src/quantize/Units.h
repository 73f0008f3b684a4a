//===- Units.h - the layers of a graph, as quantisation sees them ---------===//
//
//   w, b = constant
//   p = convolution x, w             one unit: between x and y every value is
//   s = add p, broadcast(b)    =>    a float; x and y may be stored as integers
//   y = relu s
//
// A unit is the operations of one node of the user's file, a product with its
// bias and the clamp behind it, or a single operation. Shape computations, and
// broadcasts and rearrangements of constants, belong to the unit that uses
// them. An operation's RescaleOpInterface defines how its unit can be
// quantised.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_UNITS_H
#define SINTER_QUANTIZE_UNITS_H

#include "graph/Model.h"
#include "quantize/FloatReason.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <set>
#include <string>
#include <vector>

namespace sinter::quantize {

enum class UnitKind {
  /// A convolution or matmul with constant weights.
  Product,
  /// Computes with operands of any scales, and returns a result with another.
  Computes,
  /// Returns elements of its operands.
  Moves,
  /// Anything else: operands and results are floats.
  Other
};

/// A product's constant operand.
struct Weights {
  /// The use of the constant, by the product or by a rearrangement for it.
  mlir::OpOperand *operand = nullptr;
  /// The index of the product's operand.
  unsigned side = 0;
  /// How many groups lie one after the other along `depthAxis`, each with its
  /// outputs along `channelAxis`, as in the weights of a grouped transposed
  /// convolution; 1: outputs of all groups lie along `channelAxis`.
  int64_t depthGroups = 1;
  /// The constant's dimension of output channels, if that is one.
  std::optional<int64_t> channelAxis;
  /// The constant's dimension of input channels, which is contracted, if that
  /// is one, and the activation's dimension of these channels.
  std::optional<int64_t> depthAxis, activationAxis;
};

struct Unit {
  UnitKind kind = UnitKind::Other;
  /// In the order of the text.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The main operation of the unit.
  mlir::Operation *core = nullptr;
  /// The float operands from outside that are not constants.
  llvm::SmallVector<mlir::OpOperand *> data;
  /// Constants beside them, such as one that is added.
  llvm::SmallVector<mlir::OpOperand *> constants;
  /// Of a Product.
  Weights weights;
  /// Of a Product: the operand that is the constant of the bias, one element a
  /// channel, or null. Where `biasIsOwn`, it is the product's own operand in
  /// the user's file.
  mlir::OpOperand *bias = nullptr;
  bool biasIsOwn = false;
  /// The result that other units use, a tensor of floats; null for Other with
  /// none, or several.
  mlir::Value result;
  /// The name of the node in the user's file, and the name of its operation in
  /// the graph.
  std::string name, op;
  /// The operation in the user's file: "Conv". Several for nodes with one name;
  /// none where the graph's operations are the file's.
  std::set<std::string> opsInFile;
  /// Whether it is a layer norm.
  bool isNorm = false;
  /// Why it is Other.
  FloatReason why = FloatReason::None;
};

struct Units {
  std::vector<Unit> units;
  llvm::DenseMap<mlir::Operation *, unsigned> unitOf;
};

/// The units of the entry function of \p model and of its branches and loops.
Units findUnits(const Model &model);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_UNITS_H
