// stablehlo-status: prints docs/stablehlo-status.md from what the code says of
// an example of each operation, and from the tests of its constraints; or
// docs/nn-gradients.md from examples of `nn`.
//
//     stablehlo-status test/graph/stablehlo
//     stablehlo-status test/graph/nn-samples.mlir

#include "backend/cpu/program/Compiler.h"
#include "graph/FirstError.h"
#include "graph/Model.h"
#include "graph/gradient/Gradient.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/nn/NnAssume.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/OpenTuples.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
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

/// Whether there are real or complex numbers in \p type, quantised ones among
/// them.
bool holdsFloats(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getTypes(), holdsFloats);
  if (auto future = dyn_cast<stablehlo::FutureType>(type))
    return llvm::any_of(future.getTypes(), holdsFloats);
  return isa<ShapedType>(type) &&
         isa<FloatType, ComplexType, quant::QuantizedType>(
             cast<ShapedType>(type).getElementType());
}

bool isKnownTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

/// The gradients of the example's results that numbers come from, by all
/// arguments that are floats: how many there are of both, and whether they can
/// be built. With \p isTwice of the gradients again.
struct GradientReport {
  bool isDue = false, isBuilt = false;
};

GradientReport tryGradient(ModuleOp module, func::FuncOp example,
                           bool isTwice = false) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  auto function = copy->lookupSymbol<func::FuncOp>(example.getName());
  FirstError quiet(module.getContext());
  inlineFutures(function);
  openTuples(function);
  Operation *end = function.front().getTerminator();
  OpBuilder builder(end);
  llvm::SmallVector<Value> outputs, inputs;
  for (Value output : end->getOperands())
    if (holdsFloats(output.getType()))
      outputs.push_back(output);
  for (Value input : function.getArguments())
    if (holdsFloats(input.getType()))
      inputs.push_back(input);
  if (outputs.empty() || inputs.empty())
    return {};
  if (!llvm::all_of(outputs, isKnownTensor) ||
      !llvm::all_of(inputs, isKnownTensor))
    return {true, false};
  for (int times = isTwice ? 2 : 1; times > 0; --times) {
    llvm::SmallVector<Value> seeds;
    for (Value output : outputs) {
      auto type = tensorOf(output);
      // The gradient by a quantised value is of the type that it stands for.
      if (auto quantized =
              dyn_cast<quant::QuantizedType>(type.getElementType()))
        type = type.clone(quantized.getExpressedType());
      seeds.push_back(nn::TensorBuilder(builder, output.getLoc())
                          .splat(1, cast<RankedTensorType>(type)));
    }
    auto gradients = backpropagate(builder, outputs, seeds, inputs);
    if (failed(gradients))
      return {true, false};
    outputs.clear();
    llvm::copy_if(*gradients, std::back_inserter(outputs),
                  [](Value each) { return bool(each); });
    if (outputs.empty())
      break;
  }
  return {true, true};
}

/// "rule" or "parts"; a dash where no floats go in or come out.
llvm::StringRef gradientOf(ModuleOp module, Operation *op) {
  auto report = tryGradient(module, op->getParentOfType<func::FuncOp>());
  if (!report.isDue || op->hasTrait<OpTrait::IsTerminator>())
    return "–";
  if (!report.isBuilt)
    return "";
  return isa<DifferentiableOpInterface>(op) ? "rule" : "parts";
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
     << yes(compiles(module, example)) << " | " << gradientOf(module, op)
     << " | " << constraints.tests + 1 << " |\n";
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
- *gradient*: how the example is differentiated: by a *rule* of the operation, or through the *parts* that it is decomposed into, or holds. –: no floats
  go in, or none come out. `test/graph/gradient` holds each of them against finite differences in f64. [training.md](training.md) says what the rules do not cover.
- *tests*: in `test/graph/stablehlo`; what the operations compute is tested in `test/interpreter` and `test/backend`.

| operation | effects | verifier | inference | decomposition | oracle | CPU backend | gradient | tests |
|---|---|---|---|---|---|---|---|---:|
)";

constexpr llvm::StringLiteral nnHead =
    R"(# The gradients of `nn`

Made by `build/bin/stablehlo-status test/graph/nn-samples.mlir`; a test holds it. Do not edit.

How the example in `test/graph/nn-samples.mlir` is differentiated: by a *rule* of the operation, or through the *parts* that it is decomposed into.
–: no floats go in, or none come out. *Twice*: so is its gradient. `test/graph/gradient/SamplesTest.cpp` holds both against finite differences in f64, and
`test/graph/DecomposeTest.cpp` those of other examples.

| operation | gradient | twice |
|---|---|---|
)";

/// The file of examples, each in a function of its operation's name.
class Samples {
public:
  explicit Samples(llvm::StringRef path) : path(path), context(makeContext()) {
    // What is not supported is no error here.
    context->getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
    module = parseSourceFile<ModuleOp>(path, context.get());
  }

  /// Calls \p print for an example of each operation of \p dialect; an exit
  /// code.
  int forEach(llvm::StringRef dialect,
              llvm::function_ref<void(Operation *, llvm::StringRef)> print) {
    if (!module) {
      llvm::errs() << path << ": is not valid\n";
      return 3;
    }
    llvm::SmallVector<RegisteredOperationName> names;
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (name.getDialectNamespace() == dialect)
        names.push_back(name);
    llvm::sort(names, [](RegisteredOperationName lhs, auto rhs) {
      return lhs.getStringRef() < rhs.getStringRef();
    });
    for (RegisteredOperationName name : names) {
      // What stands for a value while a file is read is in no graph, and what
      // a graph is for has no value.
      if (name.getStringRef() == nn::DeferredOp::getOperationName() ||
          name.getStringRef() == nn::AssumeOp::getOperationName())
        continue;
      std::string symbol = name.stripDialect().str();
      std::replace(symbol.begin(), symbol.end(), '-', '_');
      auto example = module->lookupSymbol<func::FuncOp>(symbol);
      Operation *op =
          example ? findFirst(example, name.getStringRef()) : nullptr;
      if (!op) {
        llvm::errs() << path << ": has no example of " << name.getStringRef()
                     << '\n';
        return 1;
      }
      print(op, symbol);
    }
    llvm::outs().flush();
    return llvm::outs().has_error() ? 5 : 0;
  }

  std::string path;
  std::shared_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

int printStatus(llvm::StringRef folder) {
  std::map<std::string, Constraints> constraints;
  if (!readConstraints(folder, constraints)) {
    llvm::errs() << folder << ": cannot be read\n";
    return 5;
  }
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "samples.mlir");
  Samples samples(path);
  llvm::outs() << head;
  return samples.forEach("stablehlo", [&](Operation *op, llvm::StringRef name) {
    printRow(llvm::outs(), *samples.module, op, constraints[name.str()]);
  });
}

int printGradients(llvm::StringRef path) {
  Samples samples(path);
  llvm::outs() << nnHead;
  return samples.forEach("nn", [&](Operation *op, llvm::StringRef) {
    auto twice =
        tryGradient(*samples.module, op->getParentOfType<func::FuncOp>(), true);
    llvm::outs() << "| " << op->getName().stripDialect() << " | "
                 << gradientOf(*samples.module, op) << " | "
                 << yes(twice.isDue && twice.isBuilt) << " |\n";
  });
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: stablehlo-status FOLDER|NN-SAMPLES\n";
    return 2;
  }
  return llvm::sys::fs::is_directory(argv[1]) ? printStatus(argv[1])
                                              : printGradients(argv[1]);
}
