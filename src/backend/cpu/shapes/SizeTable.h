//===- SizeTable.h - what the names of sizes stand for --------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_SIZETABLE_H
#define SINTER_BACKEND_CPU_SHAPES_SIZETABLE_H

#include "backend/cpu/kernels/common/TaskExtent.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/DynamicProgram.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::cpu {

/// What the names in a module stand for.
struct SizeTable {
  /// Of the parameters: the symbols of the model's dimensions.
  std::vector<std::string> parameters;
  /// By the number of the name.
  std::vector<SizeExpression> sizes;
  /// Parameters that follow from those before them.
  std::vector<FollowingSize> following;
  /// What the graph relies on of its sizes: it computes the same as long as all
  /// of these hold.
  std::vector<ShapeGuard> guards;

  /// Of \p module; nothing if it has no named sizes.
  static std::optional<SizeTable> of(mlir::ModuleOp module);
  void setOf(mlir::ModuleOp module) const;
  /// What is known of \p module before its sizes have names: the guards of the
  /// model, and the parameters of these. Empty where there is nothing.
  static SizeTable begunFor(mlir::ModuleOp module);
  void beginFor(mlir::ModuleOp module) const;
  /// Without parameters that are neither among the first \p inputs nor follow
  /// from those, and without what mentions them.
  SizeTable ofInputs(size_t inputs) const;

  /// What a static or a named dimension stands for.
  SizeExpression expressionOf(Dim size) const;
  /// The number of elements of a shape; nothing on overflow.
  std::optional<SizeExpression> countOf(llvm::ArrayRef<Dim> shape) const;

  /// floor(size / divisor), which is a parameter of its own unless each term is
  /// a multiple; nothing on overflow.
  std::optional<SizeExpression> quotientOf(const SizeExpression &size,
                                           int64_t divisor);
  /// The parameter that follows from \p size and \p other.
  SizeExpression followingOf(FollowingKind kind, const SizeExpression &size,
                             const SizeExpression &other);
  /// What \p parameter follows from; null where it does not.
  const FollowingSize *sourceOf(uint32_t parameter) const;
  /// How many blocks \p part is; nothing on overflow.
  std::optional<SizeExpression> partsOf(const TaskExtent &part);

private:
  /// What a following size is of, but for its number.
  struct Source {
    FollowingKind kind;
    SizeExpression size, other;
    int64_t divisor;
    bool operator==(const Source &) const = default;
  };
  struct SourceHash {
    size_t operator()(const Source &source) const;
  };

  /// The module's attribute, with what names stand for where they are \p named.
  static std::optional<SizeTable> readFrom(mlir::ModuleOp module, bool named);
  void writeTo(mlir::ModuleOp module, bool named) const;
  void addParameter(std::string name);
  /// The parameter that is \p source, a new one called \p nameOf() if there is
  /// none.
  SizeExpression parameterOf(const Source &source,
                             llvm::function_ref<std::string()> nameOf);
  /// Puts those of `following` that are not there yet into the tables below.
  void index() const;

  /// Where each is in `following`, by what it is of and by its number, as far
  /// as they have been put here.
  mutable std::unordered_map<Source, size_t, SourceHash> bySource;
  mutable std::unordered_map<uint32_t, size_t> byParameter;
  mutable size_t indexed = 0;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_SIZETABLE_H
