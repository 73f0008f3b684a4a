//===- ProgramWriter.h - a Paddle program while it is written -------------===//
//
// One attempt to write a module: which groups of ops are given back as the
// operator they came from, what every value is called, and the operators that
// are being added. Rules (WriterRules.h) see it through an OperatorWriter.
//
// A program is no SSA form: an operator may write a variable again that another
// one wrote. An operator that is given back does so where it did, as long as
// nothing behind it reads what the variable held; else it gives a new variable.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_PROGRAMWRITER_H
#define SINTER_FORMATS_PADDLE_WRITE_PROGRAMWRITER_H

#include "formats/paddle/Records.h"
#include "formats/paddle/file/PaddleFile.h"
#include "graph/Model.h"
#include "graph/Origin.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace sinter::stablehlo {
class CaseOp;
class IfOp;
class WhileOp;
} // namespace sinter::stablehlo

namespace sinter::paddle {

using Name = std::string;

/// An operator of the program that is given back.
struct KeptOperator {
  formats::UntouchedNode node;
  /// In the program that was read.
  const Operator *source = nullptr;
  /// The op in whose place it is written.
  mlir::Operation *anchor = nullptr;
};

class ProgramWriter {
public:
  /// \p module is changed: what has no rule is decomposed in it.
  /// \p readProgram is what \p module was read of; without blocks if that was
  /// no Paddle program.
  ProgramWriter(mlir::ModuleOp module, Program readProgram);

  /// Fills program() and parameters(); failures are in unsupportedOps().
  void run();

  Program &program() { return written; }
  /// What the program reads, in no order.
  std::vector<WrittenParameter> takeParameters();
  /// What cannot be written, with counts.
  const std::map<std::string, int64_t> &unsupportedOps() const {
    return unsupported;
  }

  //===--- For OperatorWriter ---------------------------------------------===//

  /// The variable that holds a value. Constants become parameters when they
  /// are first asked for, broadcasts operators.
  Name name(mlir::Value value);
  /// The variable that is to hold \p value, which is written now; declares it.
  Name claim(mlir::Value value);
  /// A new variable.
  Name declareNew(llvm::StringRef wanted, mlir::RankedTensorType type);
  /// Takes back that \p value has a variable.
  void release(mlir::Value value) { names.erase(value); }
  /// A parameter.
  Name constant(const Tensor &tensor, llvm::StringRef wanted);
  /// The same, one for each value and name.
  Name constantNamed(mlir::ElementsAttr value, llvm::StringRef wanted);
  /// Whether \p op only repeats elements and is written when it is needed.
  bool isBroadcast(mlir::Operation *op) const;
  /// The parameter called \p name; nothing if there is none.
  std::optional<Tensor> parameter(const Name &name) const {
    auto found = parameters.find(name);
    return found == parameters.end() ? std::nullopt
                                     : std::optional(found->second);
  }
  void add(Operator op) { operators.push_back(std::move(op)); }
  /// The operator that was added last.
  Operator &last() { return operators.back(); }
  size_t count() const { return operators.size(); }
  void addUnsupported(mlir::Operation *op, llvm::StringRef reason);

private:
  struct Holder {
    /// Null: a result that nobody knows.
    mlir::Value value;
    bool isParameter = false;
  };

  bool giveBack();
  void plan();
  void planPorts();
  void planConstants();
  void planGroup(mlir::ArrayAttr records, int64_t number,
                 llvm::ArrayRef<mlir::Operation *> ops);
  void findConstantSources();
  bool keepConstant(const Name &name, mlir::RankedTensorType type);
  void want(mlir::Value value, llvm::StringRef name);
  void writeBlock();
  /// The ops of a block but constants, broadcasts and its end.
  void writeOps(mlir::Block &block);
  void writeAny(mlir::Operation *op);
  void writeKept(const KeptOperator &kept);
  void writeOp(mlir::Operation *op);
  bool tryRule(mlir::Operation *op, std::string &reason);
  bool decompose(mlir::Operation *op);

  //===--- Branches and loops (ControlFlow.cpp) ---------------------------===//
  /// Whether \p op is one; then it is written.
  bool writeControlFlow(mlir::Operation *op);
  void writeLoop(stablehlo::WhileOp op);
  void writeBranch(stablehlo::IfOp op);
  void writeCases(stablehlo::CaseOp op);
  /// Writes the ops of \p region, whose arguments are \p arguments, and what
  /// \p writeEnd adds, as a block of its own, and returns its number.
  int64_t writeInner(mlir::Region &region, llvm::ArrayRef<Name> arguments,
                     llvm::function_ref<void()> writeEnd);
  std::vector<Name> captured(llvm::ArrayRef<int64_t> blocks) const;
  void addAssign(const Name &from, const Name &to);
  /// A new variable for the scopes that an operator runs its block in.
  Name declareScopes(llvm::StringRef wanted);

  void writeOutputs();
  void dropUnread();
  void writeVariables();

  /// Where the operator that \p op belongs to is written.
  size_t positionOf(mlir::Operation *op);
  /// Where \p value is read for the last time.
  size_t lastUse(mlir::Value value);
  /// Whether variable \p name may hold something of \p type from here on.
  bool mayHold(llvm::StringRef name, mlir::Type type);
  Name take(const Name &name, mlir::Value value, mlir::RankedTensorType type);
  Name deadOutput(const Name &name);
  Name freshName(llvm::StringRef wanted);
  /// \p value is in variable \p name as long as the block is written.
  const Name &bind(mlir::Value value, Name name);
  /// Declares a variable in the block that is written.
  void declare(const Variable &variable);
  void addParameter(const Name &name, const Tensor &tensor);

  mlir::ModuleOp module;
  mlir::Block &entry;
  /// What the module was read of; empty if that was no program.
  Program before;
  llvm::StringMap<const Variable *> beforeVariables;
  llvm::StringMap<const Operator *> constantSources;
  llvm::StringSet<> keptConstants;
  Program written;
  /// The block that is written, and what is in it so far.
  int64_t current = 0;
  std::vector<Operator> operators;
  /// Values that got their variables in it; in none that is inside of another
  /// are there any once it is written.
  std::vector<mlir::Value> named;
  int innerDepth = 0;

  llvm::DenseMap<mlir::Value, Name> names;
  /// What became of results of ops that were decomposed.
  llvm::DenseMap<mlir::Value, mlir::Value> decomposed;
  llvm::DenseMap<mlir::Value, Name> wanted;
  /// Names that are somebody's: nothing new is called so.
  llvm::StringSet<> reserved;
  /// Of parameters, be they written or not.
  llvm::StringSet<> weightNames;
  /// Those that training is not to take for weights.
  llvm::StringSet<> literals;
  llvm::StringMap<int64_t> nextNumbers;
  /// What variables hold now.
  llvm::StringMap<Holder> holders;
  llvm::StringMap<Variable> declared;
  /// The blocks of variables that are not the main one's.
  llvm::StringMap<int64_t> homes;
  llvm::StringMap<Tensor> parameters;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, Name> weights;

  std::vector<std::unique_ptr<KeptOperator>> kept;
  llvm::DenseMap<mlir::Operation *, KeptOperator *> keptOf;
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  /// Where operators are written now, and whether what is written here has
  /// read all its operands when it gives its results.
  size_t position = 0;
  bool readsFirst = false;
  std::map<std::string, int64_t> unsupported;
  int depth = 0;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_PROGRAMWRITER_H
