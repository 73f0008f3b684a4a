// stablehlo-status: prints docs/stablehlo-status.md from what the code says of
// an example of each operation, and from the tests of its constraints.
//
//     stablehlo-status test/graph/stablehlo

#include "backend/cpu/Compiler.h"
#include "graph/Model.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "passes/Specialize.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

using namespace mlir;
using namespace sinter;

namespace {

/// The constraints of an operation that tests break on purpose, and how many
/// tests do.
struct Constraints {
  std::set<std::pair<char, unsigned>> labels;
  unsigned tests = 0;
};

/// `func.func @add_c1(...)` in a file of invalid programs, for all of them.
bool readConstraints(llvm::StringRef folder,
                     std::map<std::string, Constraints> &constraints) {
  llvm::Regex pattern(
      "^func\\.func @([a-z0-9_]+)_([ci])([0-9]+)(_[a-z_]+)?\\(");
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(folder, error), end;
       !error && file != end; file.increment(error)) {
    if (!llvm::StringRef(file->path()).ends_with("-invalid.mlir"))
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(file->path());
    if (!buffer)
      return false;
    llvm::SmallVector<llvm::StringRef> lines, parts;
    (*buffer)->getBuffer().split(lines, '\n');
    for (llvm::StringRef line : lines) {
      unsigned number;
      if (!pattern.match(line, &parts) || parts[3].getAsInteger(10, number))
        continue;
      Constraints &each = constraints[parts[1].str()];
      each.labels.insert({parts[2] == "c" ? 'C' : 'I', number});
      ++each.tests;
    }
  }
  return !error;
}

/// The first operation of this name.
Operation *findFirst(Operation *top, llvm::StringRef name) {
  Operation *found = nullptr;
  top->walk([&](Operation *op) {
    if (op->getName().getStringRef() != name)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Whether the backend compiles the module with \p example as its entry.
bool compiles(ModuleOp module, func::FuncOp example) {
  auto context = makeContext();
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  auto copy = parseSourceString<ModuleOp>(text, context.get());
  if (!copy)
    return false;
  auto function = copy->lookupSymbol<func::FuncOp>(example.getName());
  function.setName(entryName);
  // What the example does not call is not asked for.
  for (auto other : llvm::make_early_inc_range(copy->getOps<func::FuncOp>()))
    if (other != function && SymbolTable::symbolKnownUseEmpty(other, *copy))
      other.erase();
  Model model(context, std::move(copy));
  return specialize(model, SpecializeOptions()) && cpu::compileForCpu(model);
}

llvm::StringRef effectsOf(Operation *op) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return "its regions'";
  return isMemoryEffectFree(op) ? "none" : "some";
}

llvm::StringRef yes(bool is) { return is ? "yes" : ""; }

void printRow(llvm::raw_ostream &os, ModuleOp module, Operation *op,
              const Constraints &constraints) {
  auto example = op->getParentOfType<func::FuncOp>();
  os << "| " << op->getName().stripDialect() << " | " << effectsOf(op) << " | ";
  llvm::interleaveComma(constraints.labels, os,
                        [&](auto label) { os << label.first << label.second; });
  bool isTerminator = op->hasTrait<OpTrait::IsTerminator>();
  os << " | " << yes(isa<InferTypeOpInterface>(op)) << " | "
     << yes(isa<DecomposableOpInterface>(op)) << " | "
     << yes(isTerminator || canEvaluate(op)) << " | "
     << yes(compiles(module, example)) << " | "
     << yes(isa<DifferentiableOpInterface>(op)) << " | "
     << constraints.tests + 1 << " |\n";
}

constexpr llvm::StringLiteral head =
    R"(# StableHLO: what there is of each operation

Made by `build/bin/stablehlo-status test/graph/stablehlo`; a test holds it. Do not edit.

- *effects*: what stands in the way of removing or merging it; *its regions'* are those of the operations inside.
- *verifier*: labels of the specification's constraints (C) and inputs (I) that a test in `test/graph/stablehlo` breaks, and that a diagnostic
  names. Types of results that are inferred are compared besides.
- *inference*: the result's type follows from the operands, attributes and regions.
- *decomposition*: other operations can express it, for some operands at least.
- *oracle*, *CPU backend*: it takes the example in `test/graph/stablehlo/samples.mlir`, alone and in one process.
- *gradient*: it has a rule that builds its gradient; what has a decomposition only is differentiated through that.
- *tests*: in `test/graph/stablehlo`; what the operations compute is tested in `test/interpreter` and `test/backend`.

| operation | effects | verifier | inference | decomposition | oracle | CPU backend | gradient | tests |
|---|---|---|---|---|---|---|---|---:|
)";

int run(llvm::StringRef folder) {
  std::map<std::string, Constraints> constraints;
  if (!readConstraints(folder, constraints)) {
    llvm::errs() << folder << ": cannot be read\n";
    return 5;
  }
  llvm::SmallString<128> samples(folder);
  llvm::sys::path::append(samples, "samples.mlir");
  auto context = makeContext();
  // What is not supported is no error here.
  context->getDiagEngine().registerHandler(
      [](Diagnostic &) { return success(); });
  auto module = parseSourceFile<ModuleOp>(samples.str(), context.get());
  if (!module) {
    llvm::errs() << samples << ": is not valid\n";
    return 3;
  }
  llvm::SmallVector<RegisteredOperationName> names;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == "stablehlo")
      names.push_back(name);
  llvm::sort(names, [](RegisteredOperationName lhs, auto rhs) {
    return lhs.getStringRef() < rhs.getStringRef();
  });
  llvm::outs() << head;
  for (RegisteredOperationName name : names) {
    std::string symbol = name.stripDialect().str();
    std::replace(symbol.begin(), symbol.end(), '-', '_');
    auto example = module->lookupSymbol<func::FuncOp>(symbol);
    Operation *op = example ? findFirst(example, name.getStringRef()) : nullptr;
    if (!op) {
      llvm::errs() << samples << ": has no example of " << name.getStringRef()
                   << '\n';
      return 1;
    }
    printRow(llvm::outs(), *module, op, constraints[symbol]);
  }
  llvm::outs().flush();
  return llvm::outs().has_error() ? 5 : 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: stablehlo-status FOLDER\n";
    return 2;
  }
  return run(argv[1]);
}
