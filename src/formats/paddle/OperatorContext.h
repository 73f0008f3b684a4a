//===- OperatorContext.h - what an operator's reader works with -----------===//
//
// One operator of the program while it is translated: what a GraphBuilder can,
// and what Paddle says of the operator. Operands and results stand in named
// slots, each a list. A wrong attribute is a sticky error like any other, so a
// reader is straight-line code that ends with `return op.result("Out", v)`.
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

  /// How many arguments a slot has; 0 where it is absent.
  size_t count(llvm::StringRef slot) const;
  bool has(llvm::StringRef slot) const { return count(slot) > 0; }
  /// The slot's only argument; fails where it is absent.
  mlir::Value operand(llvm::StringRef slot);
  /// The same; null where it is absent.
  mlir::Value optional(llvm::StringRef slot) {
    return has(slot) ? operand(slot) : mlir::Value();
  }
  /// All arguments; fails where there is none.
  Values operands(llvm::StringRef slot);
  /// Argument \p index whatever it is: a tensor or an array of them.
  const Bound &bound(llvm::StringRef slot, size_t index = 0);

  //===--- Results --------------------------------------------------------===//

  bool wants(llvm::StringRef slot) const;
  size_t outputCount(llvm::StringRef slot) const;
  /// Gives the outputs of a slot, in order; a null Value fails. Slots that are
  /// never given cannot be read by other operators.
  mlir::LogicalResult result(llvm::StringRef slot, mlir::Value value) {
    return results(slot, {value});
  }
  mlir::LogicalResult results(llvm::StringRef slot,
                              llvm::ArrayRef<mlir::Value> values);
  mlir::LogicalResult boundResult(llvm::StringRef slot, Bound value);
  /// A variable that a sub-block wrote has \p value from now on.
  mlir::LogicalResult write(llvm::StringRef variable, Bound value);

  bool spellsUnknown() const override { return importer.options.spellsUnknown; }

  //===--- Attributes -----------------------------------------------------===//
  // A missing attribute gives the default; one of another kind fails. Kinds of
  // numbers are not told apart, and one number is a list of one.

  const AttributeValue *attribute(llvm::StringRef name) const;
  bool hasAttribute(llvm::StringRef name) const { return attribute(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  bool getBool(llvm::StringRef name, bool otherwise);
  double getFloat(llvm::StringRef name, double otherwise);
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise);
  Ints getInts(llvm::StringRef name, Ints otherwise = {});
  llvm::SmallVector<double> getFloats(llvm::StringRef name);
  std::vector<std::string> getStrings(llvm::StringRef name);
  /// The sub-block; fails where it is absent or no block of the program.
  std::optional<int64_t> getBlock(llvm::StringRef name);
  /// A number of VarType.Type, or PIR's name of a type, as an element type;
  /// fails for what no tensor has.
  mlir::Type elementType(llvm::StringRef attributeName, int64_t otherwise);
  mlir::Type elementTypeOf(int64_t dataType);

  /// Integers that come as a tensor or, in \p slots of lists, as one tensor an
  /// element, else as attribute \p name: the first slot that is there wins.
  /// Fails if a tensor is not known.
  std::optional<Ints> integersFrom(llvm::ArrayRef<llvm::StringRef> slots,
                                   llvm::StringRef name);
  /// The same where elements may be known only at run time, as a tensor<Nxi64>.
  mlir::Value integersValue(llvm::ArrayRef<llvm::StringRef> slots,
                            llvm::StringRef name);
  /// A number that comes as a tensor of one element in \p slot, else as
  /// attribute \p name; as a scalar of \p element.
  mlir::Value numberFrom(llvm::StringRef slot, llvm::StringRef name,
                         double otherwise, mlir::Type element);

  Importer &importer;
  Frame &frame;
  const Operator &proto;

private:
  friend class Importer;
  /// The operator's number (graph/Source.h).
  int64_t index;
  /// Slot and position of each output that was given.
  std::map<std::pair<std::string, size_t>, Bound> given;
  /// What write() was told, in order.
  std::vector<std::pair<std::string, Bound>> written;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPERATORCONTEXT_H
