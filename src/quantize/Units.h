//===- Units.h - the layers of a graph, as quantisation sees them ---------===//
//
//   w, b = constant
//   p = convolution x, w             one unit: between x and y every number is
//   s = add p, broadcast(b)    =>    a float; x and y may be stored as integers
//   y = relu s
//
// A unit is what one node of the user's file became, a product with its bias
// and the clamp behind it, or a single operation. Operations that compute sizes
// and what repeats or rearranges constants belong to the unit that reads them.
// What a unit lets integers do, its operation says itself (RescaleOpInterface).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_UNITS_H
#define SINTER_QUANTIZE_UNITS_H

#include "graph/Model.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <set>
#include <string>
#include <vector>

namespace sinter::quantize {

enum class UnitKind {
  /// A convolution or matrix product with constant weights.
  Product,
  /// Computes with numbers of any scales, and gives numbers of another.
  Computes,
  /// Gives numbers that it was given.
  Moves,
  /// Anything else: it is given floats, and gives floats.
  Other
};

/// A product's constant operand.
struct Weights {
  mlir::OpOperand *operand = nullptr;
  /// Of the constant: along which output channels lie, if that is one.
  std::optional<int64_t> channelAxis;
  /// Of the constant: along which is summed up over channels, if that is one,
  /// and along which dimension of the activation they lie.
  std::optional<int64_t> depthAxis, activationAxis;
};

struct Unit {
  UnitKind kind = UnitKind::Other;
  /// In the order of the text.
  llvm::SmallVector<mlir::Operation *> ops;
  /// What the unit is there for.
  mlir::Operation *core = nullptr;
  /// The floats that come from outside and are no constants.
  llvm::SmallVector<mlir::OpOperand *> data;
  /// Constants beside them: of an addition, say.
  llvm::SmallVector<mlir::OpOperand *> constants;
  /// Of a Product.
  Weights weights;
  /// Of a Product: the operand that is the constant of the bias, one number a
  /// channel, or null. Where `biasIsOwn`, it is the product's own operand in
  /// the user's file.
  mlir::OpOperand *bias = nullptr;
  bool biasIsOwn = false;
  /// What others read of the unit, a tensor of floats; null of Other with none,
  /// or several.
  mlir::Value result;
  /// The name of the node in the user's file, and what it does, as the graph
  /// calls it.
  std::string name, op;
  /// As the user's file calls it: "Conv". Several of nodes with one name; none
  /// where the graph's words are the file's.
  std::set<std::string> opsInFile;
  /// Whether it is a layer norm.
  bool isNorm = false;
  /// Why it is Other, for people.
  std::string why;
};

struct Units {
  std::vector<Unit> units;
  llvm::DenseMap<mlir::Operation *, unsigned> unitOf;
};

/// The units of the entry function of \p model and of its branches and loops.
Units findUnits(const Model &model);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_UNITS_H
