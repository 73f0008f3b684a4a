//===- KnownValues.h - known values and shapes during import --------------===//
//
// Follows shape computations (Shape -> Gather -> Concat -> Reshape) element by
// element, so that only dimensions that are truly symbolic stay dynamic. A
// dynamic dimension has a symbol, which is an integer: equal symbols mean equal
// sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_KNOWNVALUES_H
#define SINTER_FORMATS_IMPORT_KNOWNVALUES_H

#include "mlir/IR/Operation.h"
#include "runtime/Tensor.h"
#include <map>
#include <optional>

namespace sinter::formats {

/// What is known of one element of an integer tensor.
struct Element {
  enum Kind : uint8_t { Unknown, Integer, Symbol };
  Kind kind = Unknown;
  /// The integer, or the dimension symbol that it equals.
  int64_t value = 0;

  static Element integer(int64_t value) { return {Integer, value}; }
  static Element symbol(int64_t value) { return {Symbol, value}; }
  bool isInteger() const { return kind == Integer; }
  bool operator==(const Element &) const = default;
};
using Elements = llvm::SmallVector<Element, 8>;

class KnownValues {
public:
  /// The symbol of the model's dimension parameter \p name.
  int64_t symbolNamed(llvm::StringRef name);
  /// The name of a symbol, or "".
  llvm::StringRef nameOf(int64_t symbol) const;
  /// A symbol that equals no other.
  int64_t newSymbol() { return nextSymbol++; }

  /// The size of a dimension: an integer or a symbol.
  Element sizeOf(mlir::Value value, int64_t dimension);
  void setSymbol(mlir::Value value, int64_t dimension, int64_t symbol);
  /// Whether two dimensions are known to be of the same size.
  bool sameSize(mlir::Value lhs, int64_t lhsDimension, mlir::Value rhs,
                int64_t rhsDimension);

  /// Derives the symbols of an op's results from those of its operands.
  void observe(mlir::Operation *op);

  /// To be called before an op, with its results and the arguments of its
  /// regions, or the block of an argument is erased.
  void forget(mlir::Operation *op);
  void forget(mlir::Value value);

  /// The elements of a small integer tensor; nothing if nothing is known.
  std::optional<Elements> elements(mlir::Value value);
  /// The elements where all are known integers.
  std::optional<llvm::SmallVector<int64_t>> integers(mlir::Value value);
  /// The value of a tensor that depends on constants only (and on known
  /// dimensions), computed by the interpreter where it is not a constant.
  std::optional<Tensor> tensor(mlir::Value value);

private:
  /// The elements of the operands are already known: see operandsFirst().
  std::optional<Elements> compute(mlir::Value value);
  std::optional<Elements> follow(mlir::Value value);
  std::optional<Elements> elementsOf(mlir::Value value);
  std::optional<Tensor> evaluate(mlir::Value value);
  std::optional<Tensor> interpretOp(mlir::Value value);
  /// Cases of observe().
  void observeBroadcast(mlir::Operation *op);
  void observeSlice(mlir::Operation *op);
  void observeShape(mlir::Value shape, mlir::Value result);
  void observeAxes(mlir::Operation *op);
  void copySymbol(mlir::Value from, int64_t fromDimension, mlir::Value to,
                  int64_t toDimension);

  int64_t nextSymbol = 0;
  std::map<std::string, int64_t> names;
  /// Symbols of the dynamic dimensions that were queried.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, int64_t> symbols;
  llvm::DenseMap<mlir::Value, std::optional<Elements>> known;
  llvm::DenseMap<mlir::Value, std::optional<Tensor>> evaluated;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_KNOWNVALUES_H
