// onnx-operators: prints docs/onnx-operators.md from the tables that the reader
// and the writer work with.

#include "formats/onnx/Operators.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Model.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace sinter;
using namespace sinter::onnx;

namespace {

/// How the operators of a family come back when a model is written.
struct Family {
  llvm::ArrayRef<Operator> (*operators)();
  const char *written;
};

/// All others are given back as they were read, where that can be told.
constexpr Family families[] = {
    {controlFlowOperators, "as read around its graphs, or anew"},
    {sequenceOperators, "resolved"},
};

llvm::StringRef writtenAs(const Operator &op) {
  for (const Family &family : families)
    if (llvm::any_of(family.operators(), [&](const Operator &each) {
          return each.domain == op.domain && each.name == op.name;
        }))
      return family.written;
  return "as read or anew";
}

std::string inputsOf(const Operator &op) {
  if (op.maxInputs >= anyNumber)
    return std::to_string(op.minInputs) + " or more";
  if (op.minInputs == op.maxInputs)
    return std::to_string(op.minInputs);
  return std::to_string(op.minInputs) + " to " + std::to_string(op.maxInputs);
}

void printOperators(llvm::raw_ostream &os) {
  os << "| domain | operator | from version | inputs | written | notes |\n"
        "|---|---|---:|---|---|---|\n";
  for (const Operator &op : allOperators())
    os << "| " << (op.domain.empty() ? "ai.onnx" : op.domain) << " | "
       << op.name << " | " << op.since << " | " << inputsOf(op) << " | "
       << writtenAs(op) << " | "
       << (op.takesAnyValue ? "inputs may be sequences or optionals" : "")
       << " |\n";
}

llvm::StringRef writtenAs(mlir::RegisteredOperationName op) {
  if (findWriterRule(op.getStringRef()))
    return "by a rule";
  if (op.getStringRef() == nn::DeferredOp::getOperationName())
    return "as read";
  if (op.hasInterface<DecomposableOpInterface>())
    return "by its decomposition";
  return "";
}

/// The operations of a dialect that can be written, and the names of the rest.
void printRules(mlir::MLIRContext &context, llvm::StringRef dialect,
                llvm::raw_ostream &os, std::vector<llvm::StringRef> &rest) {
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != dialect)
      continue;
    // Constants and terminators are no nodes: an initializer, a graph's end.
    if (op.getStringRef() == stablehlo::ConstantOp::getOperationName() ||
        op.hasTrait<mlir::OpTrait::IsTerminator>())
      continue;
    if (llvm::StringRef how = writtenAs(op); !how.empty())
      os << "| " << op.getStringRef() << " | " << how << " |\n";
    else
      rest.push_back(op.getStringRef());
  }
}

void printPage(llvm::raw_ostream &os) {
  os << R"(# ONNX operators

Made by `build/bin/onnx-operators`; a test holds it. Do not edit.

## Read and written

)" << allOperators().size()
     << R"( operators are read, from the version of the operator set that the table names on. What in one of them is not supported
(a rare attribute, say) is listed, with all else, when the model is read.

Where dimensions are unknown, some operators take other operations, and some wait: their node is one `nn.deferred` until all sizes are known, and goes back to
a file as it was (a `Loop` or `Scan` that gathers values with its body). To run, sizes are those of the inputs that are given. What cannot
wait: an operator of which even the rank of the result is neither known nor declared in the file.

How an operator is written:

- *as read or anew*: the node is given back as it was, with its name, if no pass changed what came of it and all that it takes is still there
  to be given (`src/formats/onnx/NodeGroups.h`). Else what it became is written by the rules of the second table. Where nothing was left to be
  computed (`Constant`, a `Dropout` that drops nothing), the value is written.
- *as read around its graphs, or anew*: the nodes in its graphs are written like any others. What the file says of the graphs stays (their names,
  inputs and outputs), if they still take and give as many values.
- *resolved*: reading resolves sequences and optionals; tensors are left.

)";
  printOperators(os);
  os << R"(
## Operations of the graph as ONNX

By a rule of `src/formats/onnx/write`, else by its decomposition, whose operations have rules. A rule may not know every form of its operation;
what it does not know is listed, with counts, and no file is written.

| operation | written |
|---|---|
)";
  auto context = makeContext();
  std::vector<llvm::StringRef> rest;
  for (llvm::StringRef dialect : {"nn", "stablehlo"})
    printRules(*context, dialect, os, rest);
  if (rest.empty())
    return;
  os << "\nNot written: ";
  llvm::interleaveComma(
      rest, os, [&](llvm::StringRef name) { os << '`' << name << '`'; });
  os << ".\n";
}

} // namespace

int main() {
  printPage(llvm::outs());
  llvm::outs().flush();
  return llvm::outs().has_error() ? 1 : 0;
}
