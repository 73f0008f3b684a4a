//===- Compiler.h - the compiler, seen from outside -----------------------===//
//
// Everything that needs MLIR, LLVM or protobuf lives in a shared library of its
// own, libsinter-compiler.so, since loading it takes tens of megabytes and
// milliseconds that the run of a cached program has no use for. This is what
// the library offers; CompilerLibrary.h loads it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_H
#define SINTER_ENGINE_COMPILER_H

#include "engine/Binding.h"
#include "engine/ModelDescription.h"
#include "engine/Overwrite.h"
#include "formats/OpenOptions.h"
#include "runtime/CompileStage.h"
#include "runtime/FloatMode.h"
#include "runtime/MachineCeilings.h"
#include "runtime/Precision.h"
#include "runtime/Role.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// How passes are to be run and watched.
struct PassOptions {
  /// Labels of patterns: those not to use ("all": none), and those to use even
  /// if they are off by default.
  std::vector<std::string> disabledPatterns, enabledPatterns;
  /// What rewrites may take of floating-point arithmetic: "reassociate", ...
  std::vector<std::string> allowed;
  /// Compare against the interpreter before and after every pass.
  bool verifyNumerics = false;
  /// Compare after every single application of a pattern.
  bool verifyEach = false;
  /// Rewriting ends after so many steps, simplification and raising for
  /// kernels together; the graph is whole after each.
  uint64_t mostSteps = std::numeric_limits<uint64_t>::max();
  /// Print the graph to standard error after these passes.
  std::vector<std::string> printIrAfter;
  /// Told what was compared and how far it differs, in a line.
  std::function<void(const std::string &)> note;
};

/// For which machine code is made, and how exactly it computes.
struct CodeOptions {
  /// What products of f32 values may be computed with, but for those of which
  /// the model says so itself.
  Precision precision = Precision::Default;
  /// The CPU to compile for, by LLVM's name; empty: the one here.
  std::string cpu;
  /// What that has besides, or shall do without: "+gfni,-amx-tile".
  std::string features;
  /// Whether what is compiled keeps denormal numbers, if it is run so; the
  /// interpreter keeps them.
  Denormals denormals = Denormals::Flush;
};

/// What a model is made ready for.
struct CompileRequest : CodeOptions {
  /// One shape per input, every dimension known. There may be none where
  /// compile() opens some; what cannot be opened is an error then.
  std::vector<Shape> shapes;
  /// The same with -1 for each dimension that the program shall leave open;
  /// empty where there is none. A model that cannot be compiled so is compiled
  /// for `shapes`, and `closed` told why.
  std::vector<Shape> open;
  std::function<void(const std::string &why)> closed;
  /// Told why a program whose sizes follow from values is made for `values`.
  std::function<void(const std::string &why)> perValues;
  /// Whether it is made for `values` though there may be a program for all.
  bool forValues = false;
  /// One place per input: its values, if it is one that may feed shapes (see
  /// mayFeedShapes) and they are known.
  std::vector<std::optional<Tensor>> values;
  PassOptions passes;
  /// Values whose every computation the executor's observer is told of, by
  /// their numbers (ValueFacts).
  std::vector<int64_t> observed;
  /// Whether the interpreter runs what the passes make of the model, and not
  /// the model as it stands.
  bool interpretsRewritten = false;
  /// Threads to compile with; 0: as many as there are processors.
  unsigned threads = 0;
  /// What this machine was measured to do at most, which decides between
  /// kernels; what is typical where nothing was.
  std::optional<MachineCeilings> ceilings;
  /// Told of each product, once a layer, which kernels could compute it in what
  /// time, in a line.
  std::function<void(const std::string &)> choice;
  /// A folder in which the code of kernels is looked up and kept; none if
  /// empty. `compiler` says which build of the compiler's library it is of.
  std::string kernelFolder, compiler;
  /// Told after each of \p total kernels.
  std::function<void(unsigned done, unsigned total)> progress;
  /// Told of each stage.
  CompileObserver stages;
};

/// How often something occurs, or was done, by name.
using Counts = std::vector<std::pair<std::string, int64_t>>;

/// A rewrite.
struct PatternDescription {
  std::string label, picture, pass;
  /// What it must be allowed, as in PassOptions; empty: nothing.
  std::string needs;
  /// Whether it leaves the nodes of a file that is written again as they are.
  bool isForm = false;
};

/// An ending of the names of models.
struct FormatDescription {
  /// ".mlir".
  std::string suffix;
  /// Whether such a file may be a list of programs that check themselves.
  bool holdsTests = false;
  /// Whether users are told of it.
  bool isListed = true;
};

/// What simplification did.
struct OptimizeReport {
  /// Operations by name, before and after.
  Counts before, after;
  /// How often each pattern was applied.
  Counts patterns;
  /// Rescales of quantised tensors, once they have quantised types, and after
  /// all.
  int64_t rescalesBefore = 0, rescalesAfter = 0;
  /// Lines for the user: what was left as it is, and why.
  std::vector<std::string> notes;
};

/// Values for inputs, by name or number: weights, say.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// A model's file, and what is known of its inputs.
struct ModelRequest {
  std::string path;
  NamedShapes shapes;
  /// Inputs that become constants.
  NamedTensors bound;
  /// The function that is run, where a file has several; empty: the only
  /// public one, or `main`.
  std::string function;
  /// Is told what of the file is left out; may be empty.
  std::function<void(const std::string &)> note;
  /// Where its parameters are.
  OpenOptions opening;
  /// Whether it may be written in its own format again.
  bool isRewritten = false;
  /// Inputs that stay, of which the file is read for these values alone.
  NamedTensors known;
  /// What `shapes` call dimensions that they leave open: as the file does.
  std::vector<DimensionName> dimensionNames;
};

struct OptimizeRequest {
  ModelRequest input;
  /// What of the model itself the output may take the place of.
  Overwrite overwrite = Overwrite::Nothing;
  /// Empty: only the report is wanted.
  std::string output;
  PassOptions passes;
  /// Whether states become constants first.
  bool freeze = false;
  /// Whether quantisation that is spelt out becomes quantised types.
  bool raiseQuantized = false;
  /// Whether outputs may have other quantised types than they had.
  bool changeOutputs = false;
};

struct ConvertRequest {
  ModelRequest input;
  /// As in OptimizeRequest.
  Overwrite overwrite = Overwrite::Nothing;
  std::string output;
  /// The version of StableHLO that a portable artifact is for; empty: the
  /// newest.
  std::string targetVersion;
};

struct ReduceRequest {
  std::string input, output;
  /// Whether the program at \p path still has what makes it worth keeping.
  std::function<bool(const std::string &path)> isInteresting;
  /// Told after each step how many operations are left.
  std::function<void(const std::string &step, int operations)> progress;
};

/// How many operations a program had and has, and how many were tried.
struct ReduceOutcome {
  int before = 0, after = 0, attempts = 0;
};

/// A tensor of a graph.
struct TensorFacts {
  /// As the user's file calls it, or what computes it there.
  std::string name;
  Role role = Role::Temporary;
  /// "f32 [2, ?]".
  std::string type;
  /// Nothing where a size is not known.
  std::optional<int64_t> bytes;
  /// The operation that gives it; empty for inputs and states.
  std::string op;
};

/// What outlives a run, and what it holds at first.
struct StateFacts {
  TensorSpec spec;
  Tensor initial;
};

/// What `inspect` prints of the graph.
struct GraphFacts {
  int64_t parameters = 0;
  int64_t parameterBytes = 0;
  /// Operations by name.
  Counts operations;
  std::vector<StateFacts> state;
  /// The arguments of the function that is run, and every result in it, those
  /// in branches and loops included, in order.
  std::vector<TensorFacts> tensors;
};

/// A value on the way through a model that was made ready for inputs.
struct ValueFacts {
  /// By which it is known, however the model is run.
  int64_t number = 0;
  /// As the user's file calls it, else what computes it there; empty if that
  /// has no name.
  std::string name;
  /// Whether `name` is of this value alone.
  bool isNamed = false;
  /// The name of the source's node.
  std::string origin;
  /// The operation that gives it, and its type: "f32 [2, 3]".
  std::string op, type;
  int64_t bytes = 0;
  /// Whether it is computed in a branch or a loop.
  bool isInside = false;
  /// Whether it can be observed in a run: passes may do without it.
  bool isLeft = true;
};

/// What can be seen of a run on the way, and what was rewritten for it.
struct RunFacts {
  /// In the order of the graph; constants left out.
  std::vector<ValueFacts> values;
  /// Each pass, and how many steps were done at its end.
  std::vector<std::pair<std::string, uint64_t>> passes;
  /// The last step, where PassOptions::mostSteps were done: the pattern, the
  /// operation that it rewrote, and where that stands in the source.
  std::string label, op, location;
};

/// One function of a file that has several.
struct FunctionDescription {
  std::string name;
  struct Argument {
    std::string name, type; ///< "x", "f32 [N, 3]"
  };
  std::vector<Argument> inputs, outputs;
  /// Operations by name.
  Counts operations;
};

/// A model that was read.
class CompilerModel {
public:
  virtual ~CompilerModel() = default;

  /// Which inputs feed shapes is known only after compile() or interpret().
  virtual const ModelDescription &description() const = 0;
  virtual Result<GraphFacts> facts() = 0;
  /// The model as native code for this machine.
  virtual Result<std::shared_ptr<const Program>>
  compile(const CompileRequest &request) = 0;
  /// What can be observed where the model is compiled, or interpreted.
  virtual Result<RunFacts> runFacts(const CompileRequest &request,
                                    bool compiled) = 0;
  /// The model as it stands, evaluated operation by operation.
  virtual Result<std::unique_ptr<Executor>>
  interpret(const CompileRequest &request) = 0;
};

struct QuantizeRequest;
struct QuantizeReport;
struct TrainRequest;
class TrainableModel;
struct TestRequest;
class TestObserver;

class Compiler {
public:
  virtual ~Compiler() = default;

  /// Reads a model, with dimensions and inputs bound as the request says.
  virtual Result<std::unique_ptr<CompilerModel>>
  open(const ModelRequest &request) = 0;
  /// What the functions of a file take and give that has several and none to
  /// run, @main say; empty where one is run.
  virtual Result<std::vector<FunctionDescription>>
  functions(const ModelRequest &request) = 0;
  /// Simplifies a model and writes it in the format that it came in.
  virtual Result<OptimizeReport> optimize(const OptimizeRequest &request) = 0;
  /// Writes a model in the format that the output's extension names.
  virtual Result<void> convert(const ConvertRequest &request) = 0;
  /// Makes an 8-bit model of a float one (Quantize.h).
  virtual Result<QuantizeReport> quantize(const QuantizeRequest &request) = 0;
  /// Reads a model to train it (Train.h).
  virtual Result<std::unique_ptr<TrainableModel>>
  train(const TrainRequest &request) = 0;
  /// Runs the self-checking programs in the file at \p path, those before
  /// number \p first left out: see TestFile.h. The error is of the file as a
  /// whole.
  virtual Result<void> test(const std::string &path, size_t first,
                            const TestRequest &request,
                            TestObserver &observer) = 0;
  /// All patterns, by label.
  virtual std::vector<PatternDescription> patterns() = 0;
  /// The endings of the names of models, those of one format together.
  virtual std::vector<FormatDescription> formats() = 0;
  /// Whether the folder \p path is a model itself.
  virtual bool isModelFolder(const std::string &path) = 0;
  /// \p output as it is to be written: a folder's name ends with a slash. One
  /// without an extension is that of a folder where the model \p input is in a
  /// folder and its format can be written to one.
  virtual std::string outputFor(const std::string &input,
                                const std::string &output) = 0;
  /// Writes the smallest program found that is as interesting as the input.
  virtual Result<ReduceOutcome> reduce(const ReduceRequest &request) = 0;
  /// What one thread of this machine can do at most, measured in about \p
  /// seconds.
  virtual Result<MachineCeilings> measureMachine(double seconds) = 0;
};

/// The two symbols of libsinter-compiler.so: the compiler, which lives as long
/// as the process, and the contract it was built for (CompilerContract.h).
inline constexpr const char *compilerEntry = "sinterCompiler";
using CompilerEntry = Compiler *();
inline constexpr const char *compilerContractEntry = "sinterCompilerContract";
using CompilerContractEntry = const char *();

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_H
