//===- ProgramWriter.h - state of writing a Paddle program ----------------===//
//
// One attempt to write a module: the groups of ops that are written as the
// operator they came from, the variable of every value, and the operators added
// so far. Rules (WriterRules.h) access it through an OperatorWriter.
//
// A program is not in SSA form: an operator may overwrite a variable. A kept
// operator does so as before unless a later operator uses the old value; else
// it writes a new variable.
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

/// An operator of the original program that is kept.
struct KeptOperator {
  formats::UntouchedNode node;
  /// In the original program.
  const Operator *source = nullptr;
  /// The op at whose position it is written.
  mlir::Operation *anchor = nullptr;
};

class ProgramWriter {
public:
  /// \p module is changed: ops without a rule are decomposed in it.
  /// \p readProgram is the program that \p module was imported from; without
  /// blocks if there is none.
  ProgramWriter(mlir::ModuleOp module, Program readProgram);

  /// Fills program() and parameters(); failures are in unsupportedOps().
  void run();

  Program &program() { return written; }
  /// The parameters of the program, unordered.
  std::vector<WrittenParameter> takeParameters();
  /// The ops that cannot be written, with counts.
  const std::map<std::string, int64_t> &unsupportedOps() const {
    return unsupported;
  }

  //===--- For OperatorWriter ---------------------------------------------===//

  /// The variable that holds a value. Constants become parameters at first use,
  /// broadcasts operators.
  Name name(mlir::Value value);
  /// Declares the variable for \p value, which is written now.
  Name claim(mlir::Value value);
  /// Declares a new variable.
  Name declareNew(llvm::StringRef wanted, mlir::RankedTensorType type);
  /// Unbinds \p value from its variable.
  void release(mlir::Value value) { names.erase(value); }
  /// Adds a parameter.
  Name constant(const Tensor &tensor, llvm::StringRef wanted);
  /// The same, one for each value and name.
  Name constantNamed(mlir::ElementsAttr value, llvm::StringRef wanted);
  /// Whether \p op is a broadcast, which is written at first use.
  bool isBroadcast(mlir::Operation *op) const;
  /// The parameter called \p name; nothing if there is none.
  std::optional<Tensor> parameter(const Name &name) const {
    auto found = parameters.find(name);
    return found == parameters.end() ? std::nullopt
                                     : std::optional(found->second);
  }
  void add(Operator op) { operators.push_back(std::move(op)); }
  /// The last operator added.
  Operator &last() { return operators.back(); }
  size_t count() const { return operators.size(); }
  void addUnsupported(mlir::Operation *op, llvm::StringRef reason);

private:
  struct Holder {
    /// Null: a result that is no value of the graph.
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
  /// Writes the ops of a block except constants, broadcasts and the terminator.
  void writeOps(mlir::Block &block);
  void writeAny(mlir::Operation *op);
  void writeKept(const KeptOperator &kept);
  void writeOp(mlir::Operation *op);
  bool tryRule(mlir::Operation *op, std::string &reason);
  bool decompose(mlir::Operation *op);

  //===--- Branches and loops (ControlFlow.cpp) ---------------------------===//
  /// Writes \p op if it is one; else false.
  bool writeControlFlow(mlir::Operation *op);
  void writeLoop(stablehlo::WhileOp op);
  void writeBranch(stablehlo::IfOp op);
  void writeCases(stablehlo::CaseOp op);
  /// Writes the ops of \p region, whose arguments are \p arguments, and the
  /// operators that \p writeEnd adds, as a new block; returns its index.
  int64_t writeInner(mlir::Region &region, llvm::ArrayRef<Name> arguments,
                     llvm::function_ref<void()> writeEnd);
  std::vector<Name> captured(llvm::ArrayRef<int64_t> blocks) const;
  void addAssign(const Name &from, const Name &to);
  /// A new variable for the scopes that an operator runs its block in.
  Name declareScopes(llvm::StringRef wanted);

  void writeOutputs();
  void dropUnread();
  void writeVariables();

  /// The position of the operator that \p op belongs to.
  size_t positionOf(mlir::Operation *op);
  /// The position of the last use of \p value.
  size_t lastUse(mlir::Value value);
  /// Whether variable \p name may hold a value of \p type from here on.
  bool mayHold(llvm::StringRef name, mlir::Type type);
  Name take(const Name &name, mlir::Value value, mlir::RankedTensorType type);
  Name deadOutput(const Name &name);
  Name freshName(llvm::StringRef wanted);
  /// Binds \p value to variable \p name until the end of the block.
  const Name &bind(mlir::Value value, Name name);
  /// Declares a variable in the current block.
  void declare(const Variable &variable);
  void addParameter(const Name &name, const Tensor &tensor);

  mlir::ModuleOp module;
  mlir::Block &entry;
  /// The original program; empty if there is none.
  Program before;
  llvm::StringMap<const Variable *> beforeVariables;
  llvm::StringMap<const Operator *> constantSources;
  llvm::StringSet<> keptConstants;
  Program written;
  /// The current block, and its operators so far.
  int64_t current = 0;
  std::vector<Operator> operators;
  /// The values that got variables in the current block; unbound at the end of
  /// a nested block.
  std::vector<mlir::Value> named;
  int innerDepth = 0;

  llvm::DenseMap<mlir::Value, Name> names;
  /// The replacements of results of decomposed ops.
  llvm::DenseMap<mlir::Value, mlir::Value> decomposed;
  llvm::DenseMap<mlir::Value, Name> wanted;
  /// Reserved names, not used for new variables.
  llvm::StringSet<> reserved;
  /// The names of parameters, written or not.
  llvm::StringSet<> weightNames;
  /// Those that count as trainable weights.
  llvm::StringSet<> trained;
  llvm::StringMap<int64_t> nextNumbers;
  /// The current values of variables.
  llvm::StringMap<Holder> holders;
  llvm::StringMap<Variable> declared;
  /// The blocks of variables that are not in the main block.
  llvm::StringMap<int64_t> homes;
  llvm::StringMap<Tensor> parameters;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, Name> weights;

  std::vector<std::unique_ptr<KeptOperator>> kept;
  llvm::DenseMap<mlir::Operation *, KeptOperator *> keptOf;
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  /// The current position, and whether the operator there reads all its
  /// operands before it writes its results.
  size_t position = 0;
  bool readsFirst = false;
  std::map<std::string, int64_t> unsupported;
  int depth = 0;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_PROGRAMWRITER_H
