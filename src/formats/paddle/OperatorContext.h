//===- OperatorContext.h - interface for operator readers -----------------===//
//
// One operator of the program during its translation: a GraphBuilder with
// access to the operator's operands and attributes. Operands and results are in
// named slots, each a list. A wrong attribute is a sticky error like any other,
// so a reader is straight-line code that ends with `return op.result("Out",
// v)`.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_OPERATORCONTEXT_H
#define SINTER_FORMATS_PADDLE_OPERATORCONTEXT_H

#include "formats/import/GraphBuilder.h"
#include "formats/paddle/Importer.h"

namespace sinter::paddle {

using formats::Dim;
using formats::Dims;
using formats::Failure;
using formats::Ints;
using formats::MaybeValue;

class OperatorContext : public formats::GraphBuilder {
public:
  OperatorContext(Importer &importer, Frame &frame, const Operator &proto,
                  int64_t index);

  llvm::StringRef type() const { return proto.type; }

  //===--- Operands -------------------------------------------------------===//

  /// The number of arguments of a slot; 0 if it is absent.
  size_t count(llvm::StringRef slot) const;
  bool has(llvm::StringRef slot) const { return count(slot) > 0; }
  /// The slot's only argument; fails if it is absent.
  mlir::Value operand(llvm::StringRef slot);
  /// The same; null if it is absent.
  mlir::Value optional(llvm::StringRef slot) {
    return has(slot) ? operand(slot) : mlir::Value();
  }
  /// All arguments; fails if there is none.
  Values operands(llvm::StringRef slot);
  /// Argument \p index of any kind: a tensor or an array of them.
  const Bound &bound(llvm::StringRef slot, size_t index = 0);

  //===--- Results --------------------------------------------------------===//

  bool wants(llvm::StringRef slot) const;
  size_t outputCount(llvm::StringRef slot) const;
  /// Sets the outputs of a slot, in order; a null Value fails. Other operators
  /// cannot use slots that are never set.
  mlir::LogicalResult result(llvm::StringRef slot, mlir::Value value) {
    return results(slot, {value});
  }
  mlir::LogicalResult results(llvm::StringRef slot,
                              llvm::ArrayRef<mlir::Value> values);
  mlir::LogicalResult boundResult(llvm::StringRef slot, Bound value);
  /// Sets a variable that a sub-block wrote to \p value.
  mlir::LogicalResult write(llvm::StringRef variable, Bound value);

  const ReadOptions &readOptions() const override { return importer.options; }

  //===--- Attributes -----------------------------------------------------===//
  // A missing attribute gives the default; one of another kind fails. Kinds of
  // numbers are not distinguished, and a scalar is a list of one.

  const AttributeValue *attribute(llvm::StringRef name) const;
  bool hasAttribute(llvm::StringRef name) const { return attribute(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  bool getBool(llvm::StringRef name, bool otherwise);
  double getFloat(llvm::StringRef name, double otherwise);
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise);
  Ints getInts(llvm::StringRef name, Ints otherwise = {});
  llvm::SmallVector<double> getFloats(llvm::StringRef name);
  std::vector<std::string> getStrings(llvm::StringRef name);
  /// The sub-block; fails if it is absent or no block of the program.
  std::optional<int64_t> getBlock(llvm::StringRef name);
  /// An element type from a value of VarType.Type or PIR's name of a type;
  /// fails for types that are no element type.
  mlir::Type elementType(llvm::StringRef attributeName, int64_t otherwise);
  mlir::Type elementTypeOf(int64_t dataType);

  /// Integers from a tensor or, in \p slots of lists, from one tensor per
  /// element, else from attribute \p name: the first slot that is present wins.
  /// Fails if a tensor is not known.
  std::optional<Ints> integersFrom(llvm::ArrayRef<llvm::StringRef> slots,
                                   llvm::StringRef name);
  /// The same as a tensor<Nxi64>, whose elements may be known only at run time.
  mlir::Value integersValue(llvm::ArrayRef<llvm::StringRef> slots,
                            llvm::StringRef name);
  /// A scalar of type \p element from a tensor of one element in \p slot, else
  /// from attribute \p name.
  mlir::Value numberFrom(llvm::StringRef slot, llvm::StringRef name,
                         double otherwise, mlir::Type element);

  Importer &importer;
  Frame &frame;
  const Operator &proto;

private:
  friend class Importer;
  /// The operator's index (graph/Source.h).
  int64_t index;
  /// The outputs that were set, by slot and position.
  std::map<std::pair<std::string, size_t>, Bound> given;
  /// The arguments of write(), in order.
  std::vector<std::pair<std::string, Bound>> written;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPERATORCONTEXT_H
