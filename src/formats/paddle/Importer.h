//===- Importer.h - from a Paddle program to the graph language -----------===//
//
// A program is not in SSA form: operators write variables, some of them
// repeatedly. So the importer walks a block in order and keeps, for each name,
// the value that was written last; a sub-block sees its parents' names, and its
// writes are local until its operator (ops/ControlFlow.cpp) uses them. Each
// operator is translated by its reader (Operators.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_IMPORTER_H
#define SINTER_FORMATS_PADDLE_IMPORTER_H

#include "formats/import/BranchChoice.h"
#include "formats/import/EntryFunction.h"
#include "formats/import/NodeGroups.h"
#include "formats/import/Unsupported.h"
#include "formats/paddle/file/PaddleFile.h"
#include "graph/FirstError.h"
#include "graph/Model.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

namespace sinter::paddle {

/// The value of a variable during import.
struct Bound {
  enum Kind : uint8_t { Tensor, Array, Missing, Poisoned };
  Bound() = default;
  Bound(mlir::Value value) : kind(Tensor), value(value) {}
  static Bound array(std::vector<mlir::Value> elements) {
    Bound bound;
    bound.kind = Array;
    bound.elements = std::move(elements);
    return bound;
  }
  static Bound missing(std::string why) {
    Bound bound;
    bound.why = std::move(why);
    return bound;
  }
  static Bound poisoned() {
    Bound bound;
    bound.kind = Poisoned;
    return bound;
  }
  /// Array: a tensor array of known length. Missing: an output that its
  /// operator's reader does not compute; `why` is the reason. Poisoned: an
  /// operator that it depends on is not supported.
  Kind kind = Missing;
  mlir::Value value;
  std::vector<mlir::Value> elements;
  std::string why;
};

/// The variables of a block during import.
struct Frame {
  Frame *parent = nullptr;
  int64_t block = 0;
  llvm::StringMap<Bound> values;
  int depth = 0;
};

class Importer {
public:
  Importer(PaddleFile file, const ReadOptions &options,
           std::shared_ptr<mlir::MLIRContext> context);

  Result<Model> run();

  //===--- For operators and their sub-blocks -----------------------------===//

  /// The value of a variable; null if nothing was written to it.
  const Bound *lookup(Frame &frame, llvm::StringRef name);
  /// The program's declaration of a variable visible in \p frame; null if none.
  const Variable *declaration(const Frame &frame, llvm::StringRef name) const;
  /// Translates the operators of \p frame.block at the insertion point. False
  /// if an error was recorded.
  bool importBlock(Frame &frame);
  /// The variables of enclosing blocks that block \p block, or one nested in
  /// it, writes, sorted.
  std::vector<std::string> writtenOutside(int64_t block) const;
  /// Whether an operator was found to be invalid.
  bool failed() const { return firstError.has_value(); }
  /// Whether an operator was found that is not supported.
  bool hasUnsupported() const { return !unsupportedOperators.empty(); }

  /// The verifiers' messages while an operator is translated.
  FirstError &diagnostics() { return reported; }
  /// A constant at the start of the entry function.
  mlir::Value makeParameter(const class sinter::Tensor &tensor,
                            llvm::StringRef name) {
    return constants.make(builder, entryBlock, tensor, name);
  }

  PaddleFile file;
  const ReadOptions &options;
  std::shared_ptr<mlir::MLIRContext> contextOwner;
  mlir::OpBuilder builder;
  formats::KnownValues known;
  /// The branches that operators were decided to take.
  formats::DecidedBranches decided;

private:
  Result<void> bindInputs(Frame &frame, mlir::func::FuncOp function);
  Result<mlir::Value> addArgument(const Port &port, const Variable &declared,
                                  mlir::NamedAttrList &attributes);
  Result<void> bindOutputs(Frame &frame, mlir::func::FuncOp function);
  void importOperator(const Operator &op, Frame &frame);
  void translate(const Operator &op, Frame &frame,
                 const struct OperatorReader &reader);
  void bindResults(class OperatorContext &op);
  void poison(const Operator &op, Frame &frame);
  /// \p error, found at \p op.
  Error inOperator(const Operator &op, Error error) const;
  void addUnsupported(const Operator &op, const std::string &reason);
  void eraseUnneeded(class OperatorContext &op);
  bool defer(class OperatorContext &op);
  /// Whether the model may be written as a program again.
  bool keepsRecords() const {
    return options.keepsNodes || options.keepsSource;
  }
  void record(class OperatorContext &op);
  void keepUnread();
  std::optional<Error>
  keepRecords(const llvm::DenseSet<mlir::Operation *> &erased);
  /// An operator that was translated, before its record is made.
  struct Pending {
    int64_t number = 0;
    std::string type, name;
    formats::GroupRecord group;
    std::vector<mlir::Operation *> made;
    /// The ops that define its inputs and outputs.
    std::vector<mlir::Operation *> definitions;
  };
  void finishRecord(Pending &entry,
                    const llvm::DenseSet<mlir::Operation *> &erased);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *entryBlock = nullptr;
  formats::EntryConstants constants;
  /// For each block its variables by name.
  std::vector<llvm::DenseMap<llvm::StringRef, const Variable *>> variables;
  FirstError reported;
  std::optional<Error> firstError;
  formats::UnsupportedOperators unsupportedOperators;
  int64_t operatorCount = 0;
  /// The records in the module's attributes (graph/Source.h).
  std::vector<mlir::Attribute> records;
  std::vector<Pending> pending;
  llvm::SmallVector<mlir::Attribute> wholeOperators;
  /// The indices of operators that stay even if they are constant.
  std::vector<int64_t> lastingOperators;
};

/// The main output of \p op: of slot Y or Out or, without those, the first (the
/// slots of a batch norm begin with MeanOut). Null if it has no output.
const std::string *mainOutput(const Operator &op);

/// "operator 'conv2d' that gives 'conv2d_0.tmp_0'", for messages.
std::string describe(const Operator &op);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_IMPORTER_H
