//===- Draft.h - a program that is being drawn ----------------------------===//

#ifndef SINTER_RANDOM_DRAFT_H
#define SINTER_RANDOM_DRAFT_H

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "random/Dice.h"
#include "random/RandomProgram.h"

#include <functional>

namespace sinter {

/// What an operation does to small differences between its operands'
/// implementations; see RandomProgram.h.
enum class Rounding {
  Exact,    ///< Every implementation gives the same bits for the same operands.
  Rounds,   ///< Results may differ in the last bits.
  Magnifies ///< As Rounds, and small differences of operands become large.
};

using TypeFilter = std::function<bool(mlir::RankedTensorType)>;

struct Recipe;

/// Of numbers, not quantised.
inline bool isPlain(mlir::RankedTensorType type) {
  return mlir::isa<mlir::FloatType, mlir::IntegerType, mlir::ComplexType>(
      type.getElementType());
}

class Draft {
public:
  Draft(uint64_t seed, const RandomProgramOptions &options,
        std::vector<const Recipe *> recipes);

  Dice dice;
  const RandomProgramOptions &options;

private:
  std::shared_ptr<mlir::MLIRContext> context;

public:
  mlir::OpBuilder builder;
  mlir::Location location;

  mlir::Type elementType();
  mlir::Type floatType();
  mlir::Type integerType();
  llvm::SmallVector<int64_t> shape(int lowestRank = 0);
  /// A size, seldom a large one.
  int64_t size(int64_t usual, int64_t large) {
    return dice.between(1, dice.oneIn(6) ? large : usual);
  }
  mlir::RankedTensorType type() {
    return mlir::RankedTensorType::get(shape(), elementType());
  }

  /// A value of the program that \p accepts takes, or null.
  mlir::Value pick(const TypeFilter &accepts);
  /// One of the type: among those that are there, or a new one.
  mlir::Value valueOf(mlir::RankedTensorType type);
  /// A new value of the type: an argument or a constant, elements at most
  /// \p largest in magnitude (i1: any).
  mlir::Value fresh(mlir::RankedTensorType type, int64_t largest = 4);
  mlir::Value constant(mlir::RankedTensorType type,
                       llvm::ArrayRef<int64_t> values);

  /// Adds the operation if its inference and verifier accept it, else null.
  /// Without \p types they are inferred. \p fill writes the regions' bodies.
  mlir::Operation *add(llvm::StringRef name, mlir::ValueRange operands,
                       llvm::ArrayRef<mlir::NamedAttribute> attributes,
                       std::optional<llvm::SmallVector<mlir::Type>> types,
                       Rounding rounding, unsigned regions = 0,
                       const std::function<void(mlir::Operation *)> &fill = {});

  /// A constant list of i64, as dynamic operations take sizes.
  mlir::Value sizes(llvm::ArrayRef<int64_t> values);

  mlir::NamedAttribute list(llvm::StringRef name,
                            llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute number(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute flag(llvm::StringRef name, bool value);
  /// A matrix of two columns, as paddings are written.
  mlir::NamedAttribute pairs(llvm::StringRef name,
                             llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute attribute(llvm::StringRef name, mlir::Attribute value) {
    return builder.getNamedAttr(name, value);
  }

  /// A block of \p region with arguments that are scalars of \p types, whose
  /// body \p body builds and returns the results of. Some arguments reach it by
  /// way of tensors.
  void scalarBlock(
      mlir::Region &region, mlir::TypeRange types,
      const std::function<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>
          &body);

  /// A scalar of \p element that a few random operations make of \p scalars,
  /// within a block that is being built. The same operands give the same bits.
  mlir::Value expression(mlir::ValueRange scalars, mlir::Type element,
                         int depth = 2);
  /// Writes a region of scalars of \p types that returns an expression for each
  /// of \p results.
  void expressionBlock(mlir::Region &region, mlir::TypeRange types,
                       mlir::TypeRange results);

  /// Draws operations where the builder stands, by the program's recipes.
  void drawOperations(int count);
  /// A block of \p region with arguments of \p arguments, whose operations are
  /// drawn and which returns values of \p results after \p first.
  void drawnBlock(mlir::Region &region, mlir::TypeRange arguments,
                  mlir::TypeRange results,
                  const std::function<mlir::Value(mlir::Block &)> &first = {});
  /// True where blocks of drawn operations lie as deep as they should.
  bool isDeep() const { return depth >= 2; }
  /// Says that \p values were rounded as often as may be.
  void markRounded(mlir::ValueRange values);

  /// An i1, within a block that is being built.
  mlir::Value compared(mlir::Value lhs, mlir::Value rhs,
                       stablehlo::ComparisonDirection direction);

  /// All leaves become results.
  Model finish();

private:
  mlir::Value detour(mlir::Value scalar);
  bool isTooRough(mlir::ValueRange operands, Rounding rounding) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::vector<const Recipe *> recipes;
  int depth = 0;
  llvm::SmallVector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, int> roundings;
};

/// A way to draw operations of one name. False: this time nothing came of it.
struct Recipe {
  std::string name;
  std::function<bool(Draft &)> draw;
};

/// Draws operations on as many elements as values say; false if nothing came of
/// it. Not in a region.
bool drawComputedSize(Draft &draft);

/// The recipes by topic; RandomProgram.cpp joins them.
std::vector<Recipe> elementwiseRecipes();
std::vector<Recipe> movementRecipes();
std::vector<Recipe> indexingRecipes();
std::vector<Recipe> structuredRecipes();
std::vector<Recipe> reductionRecipes();
std::vector<Recipe> controlRecipes();
std::vector<Recipe> quantizedRecipes();
std::vector<Recipe> otherRecipes();
/// Adds one for each elementwise operation of the dialect that has none and
/// whose result's type follows from its one or two operands.
void addRegisteredRecipes(std::vector<Recipe> &recipes);

} // namespace sinter

#endif // SINTER_RANDOM_DRAFT_H
