//===- OperatorWriter.h - writes one operation as Paddle operators --------===//
//
// The interface for a WriterRule. Helpers add operators and return the
// variables that these write. A rule ends with result() or alias(), or with a
// failure, after which the operators that it added are removed. Operators get
// only attributes that all generations of Paddle have.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_OPERATORWRITER_H
#define SINTER_FORMATS_PADDLE_WRITE_OPERATORWRITER_H

#include "formats/paddle/write/ProgramWriter.h"
#include "graph/Types.h"
#include <type_traits>

namespace sinter::paddle {

using Ints = llvm::SmallVector<int64_t>;

/// A variable as an operand.
struct Var {
  Name name;
  mlir::RankedTensorType type;

  mlir::Type element() const { return type.getElementType(); }
  int64_t rank() const { return type.getRank(); }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
};
using Vars = llvm::SmallVector<Var, 4>;

/// The variables of a slot.
struct Given {
  Given(const char *slot, const Var &var) : slot(slot), vars{var} {}
  Given(const char *slot, Vars vars) : slot(slot), vars(std::move(vars)) {}
  const char *slot;
  Vars vars;
};

/// An attribute of an operator. A list of integers is 32-bit.
struct Setting {
  Setting(const char *name, bool value) : name(name), value(value) {}
  template <typename T,
            std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                             int> = 0>
  Setting(const char *name, T value)
      : name(name), value(static_cast<int64_t>(value)) {}
  Setting(const char *name, double value) : name(name), value(value) {}
  Setting(const char *name, const char *value)
      : name(name), value(std::string(value)) {}
  Setting(const char *name, std::string value)
      : name(name), value(std::move(value)) {}
  Setting(const char *name, llvm::ArrayRef<int64_t> value)
      : name(name), value(value.vec()) {}
  Setting(const char *name, const Ints &value)
      : Setting(name, llvm::ArrayRef<int64_t>(value)) {}
  Setting(const char *name, std::vector<double> value)
      : name(name), value(std::move(value)) {}

  const char *name;
  AttributeValue value;
};
using Settings = std::vector<Setting>;

class OperatorWriter {
public:
  OperatorWriter(ProgramWriter &writer, mlir::Operation *op)
      : writer(writer), op(op), origin(originOf(op)) {}

  //===--- Operands -------------------------------------------------------===//

  Var operand(mlir::Value value) {
    return {writer.name(value), tensorOf(value)};
  }

  //===--- Operators ------------------------------------------------------===//

  /// Adds an operator with one output, in \p slot.
  Var make(llvm::StringRef type, std::vector<Given> inputs, Settings settings,
           mlir::RankedTensorType result, const char *slot = "Out");
  /// Adds the operator whose output is the op's only result.
  mlir::LogicalResult result(llvm::StringRef type, std::vector<Given> inputs,
                             Settings settings = {}, const char *slot = "Out") {
    return alias(make(type, std::move(inputs), std::move(settings),
                      tensorOf(op->getResult(0)), slot));
  }
  /// Makes \p var result \p index of the op.
  mlir::LogicalResult alias(const Var &var, unsigned index = 0);
  /// Adds an operator with several outputs. Those without a variable are the
  /// op's results, in order.
  mlir::LogicalResult
  resultsOf(llvm::StringRef type, std::vector<Given> inputs, Settings settings,
            llvm::ArrayRef<std::pair<const char *, Var>> outputs);
  /// Declares a variable for an operator's output.
  Var declare(mlir::RankedTensorType type);

  /// Fails with the reason why the op cannot be written.
  mlir::LogicalResult unsupported(const llvm::Twine &reason) {
    why = reason.str();
    return mlir::failure();
  }
  llvm::StringRef reason() const {
    return lacksType ? llvm::StringRef("with an element type that Paddle lacks")
                     : llvm::StringRef(why);
  }
  /// Whether an added operator needs a type that Paddle lacks, even if the rule
  /// succeeds.
  bool isBroken() const { return lacksType; }
  void undo();

  //===--- Types ----------------------------------------------------------===//

  /// The VarType.Type of an element type; nothing if Paddle lacks it.
  std::optional<int64_t> typeNumber(mlir::Type element) const;
  mlir::RankedTensorType typed(llvm::ArrayRef<int64_t> shape,
                               mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  mlir::Type boolean() const {
    return mlir::IntegerType::get(op->getContext(), 1);
  }
  mlir::Type i64() const {
    return mlir::IntegerType::get(op->getContext(), 64);
  }

  //===--- Constants ------------------------------------------------------===//

  Var constant(const Tensor &tensor, llvm::StringRef wanted = "");
  /// The same, shared by all calls with this tensor and name.
  Var shared(const Tensor &tensor, llvm::StringRef wanted);
  /// A constant of one element and rank \p rank. Rank 1 broadcasts to any
  /// tensor except rank 0.
  Var scalar(mlir::Type element, double value, int64_t rank = 1);
  /// A constant of one element of the type of \p x, with a rank that does not
  /// change that of \p x.
  Var scalarFor(const Var &x, double value) {
    return scalar(x.element(), value, x.rank() == 0 ? 0 : 1);
  }
  /// An i64 constant.
  Var integers(llvm::ArrayRef<int64_t> numbers, llvm::ArrayRef<int64_t> shape);
  /// The value of the parameter \p var; nothing if it is none.
  std::optional<Tensor> parameter(const Var &var) const {
    return writer.parameter(var.name);
  }

  //===--- Elementwise ----------------------------------------------------===//

  /// An elementwise operator on two values of the op, with a result of type
  /// \p result; takes operands before their broadcast where Paddle's own
  /// broadcasting suffices.
  Var binary(llvm::StringRef type, mlir::Value lhs, mlir::Value rhs,
             mlir::RankedTensorType result);
  /// The same on variables, broadcast by NumPy's rule.
  Var binary(llvm::StringRef type, const Var &lhs, const Var &rhs);
  Var unary(llvm::StringRef type, const Var &x, Settings settings = {}) {
    return make(type, {{"X", x}}, std::move(settings), x.type);
  }
  Var compare(llvm::StringRef type, const Var &lhs, const Var &rhs);
  /// x * scale + bias.
  Var scaled(const Var &x, double scale, double bias);
  /// condition ? yes : no, all of one shape.
  Var where(const Var &condition, const Var &yes, const Var &no);

  //===--- Common operators; none if nothing would change ------===//

  // For a parameter, reshape, transpose and reverse return another one.

  /// A type that Paddle lacks makes the rule fail.
  Var cast(const Var &x, mlir::Type to);
  /// One size may be dynamic.
  Var reshape(const Var &x, llvm::ArrayRef<int64_t> shape);
  Var transpose(const Var &x, llvm::ArrayRef<int64_t> permutation);
  Var unsqueeze(const Var &x, llvm::ArrayRef<int64_t> axes);
  Var squeeze(const Var &x, llvm::ArrayRef<int64_t> axes);
  /// An end after all elements; negative ends count from there.
  static constexpr int64_t toTheEnd = INT32_MAX;
  Var slice(const Var &x, llvm::ArrayRef<int64_t> axes,
            llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> ends,
            llvm::ArrayRef<int64_t> steps);
  /// A slice with bounds in integer vectors, one for each dimension.
  Var sliceAt(const Var &x, const Var &starts, const Var &ends,
              llvm::ArrayRef<int64_t> steps, mlir::RankedTensorType result);
  Var reverse(const Var &x, llvm::ArrayRef<int64_t> axes);
  Var concat(const Vars &parts, int64_t axis);
  /// Pads with a constant; negative padding, only of static dimensions, removes
  /// elements.
  Var pad(const Var &x, double filler, llvm::ArrayRef<int64_t> low,
          llvm::ArrayRef<int64_t> high);
  Var reduce(llvm::StringRef type, const Var &x, llvm::ArrayRef<int64_t> axes,
             bool keep);

  ProgramWriter &writer;
  mlir::Operation *op;

private:
  /// An operand before it is broadcast, and the dimension of the result that
  /// corresponds to its first one.
  struct Source {
    Var var;
    int64_t place = 0;
    bool isFull = false;
  };
  std::optional<Source> sourceOf(mlir::Value value,
                                 mlir::RankedTensorType result);

  std::string origin;
  std::string why;
  bool lacksType = false;
  /// The last result of make(), which has no other user yet.
  Name lastMade;
  llvm::SmallVector<mlir::Value> claimed;
};

inline mlir::Type elementOf(mlir::Value value) {
  return tensorOf(value).getElementType();
}
/// The value of a splat constant, if it is exact as an f32 attribute.
std::optional<double> attributeNumber(mlir::Value value);
/// The element count; dynamic if a size is.
int64_t productOf(llvm::ArrayRef<int64_t> sizes);
/// \p shape as an attribute: -1 for dynamic dimensions.
Ints dynamicShape(llvm::ArrayRef<int64_t> shape);
/// The sizes of dimensions \p dims of \p shape.
Ints sizesAt(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
/// 0, 1, ..., rank - 1.
Ints identity(int64_t rank);
Ints inverse(llvm::ArrayRef<int64_t> permutation);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_OPERATORWRITER_H
