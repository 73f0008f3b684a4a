//===- Compiler.h - the interface of the compiler's library ---------------===//
//
// Everything that needs MLIR, LLVM or protobuf is in a shared library of its
// own, libsinter-compiler.so: loading it takes tens of megabytes and
// milliseconds that the run of a cached program does not need. This is its
// interface; CompilerLibrary.h loads it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_H
#define SINTER_ENGINE_COMPILER_H

#include "engine/Binding.h"
#include "engine/ModelDescription.h"
#include "engine/ModelView.h"
#include "engine/Overwrite.h"
#include "engine/TargetFacts.h"
#include "formats/FileCounts.h"
#include "formats/OpenOptions.h"
#include "runtime/Bundle.h"
#include "runtime/Cancellation.h"
#include "runtime/CompileStage.h"
#include "runtime/FloatMode.h"
#include "runtime/Image.h"
#include "runtime/MachineCeilings.h"
#include "runtime/Precision.h"
#include "runtime/Role.h"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// Options for running and observing passes.
struct PassOptions {
  /// Labels of patterns: those to disable ("all": all), and those to enable
  /// although they are off by default.
  std::vector<std::string> disabledPatterns, enabledPatterns;
  /// What rewrites may assume of floating-point arithmetic: "reassociate", ...
  std::vector<std::string> allowed;
  /// Compare against the interpreter before and after every pass.
  bool verifyNumerics = false;
  /// Compare after every single application of a pattern.
  bool verifyEach = false;
  /// Shapes of inputs by name at which to compare a graph of dynamic
  /// dimensions, in order; empty: the smallest ones.
  std::vector<NamedShapes> verifyShapes;
  /// Rewriting ends after this many steps, of simplification and raising for
  /// kernels together; the graph is valid after each.
  uint64_t mostSteps = std::numeric_limits<uint64_t>::max();
  /// The passes after which to print the graph, by \p printIr or, if that is
  /// empty, to standard error.
  std::vector<std::string> printIrAfter;
  std::function<void(const std::string &text)> printIr;
  /// Called with a line for each comparison and its result.
  std::function<void(const std::string &)> note;
  /// Ends the passes, and the call that they are part of, with Cancelled; null:
  /// nothing does.
  std::shared_ptr<const Cancellation> cancellation;
};

/// The target of machine code, and its precision.
struct CodeOptions {
  /// The precision of f32 matmuls and convolutions that have none in the model.
  Precision precision = Precision::Default;
  /// The CPU to compile for, by LLVM's name; empty: this one.
  std::string cpu;
  /// Features to add or remove: "+gfni,-amx-tile".
  std::string features;
  /// Whether compiled code keeps denormal numbers, if it runs in such a mode;
  /// the interpreter keeps them.
  Denormals denormals = Denormals::Flush;
};

/// The inputs that a model is compiled for.
struct CompileRequest : CodeOptions {
  /// LLVM's name of the system and processor to compile for; empty: this one.
  std::string triple;
  /// One static shape per input. May be empty if compile() keeps some
  /// dimensions dynamic; then it is an error if that is impossible.
  std::vector<Shape> shapes;
  /// The same with -1 for each dimension to keep dynamic; empty if there is
  /// none. A model without such a program is compiled for `shapes`, and
  /// `onStatic` gets the reason.
  std::vector<Shape> dynamic;
  std::function<void(const std::string &why)> onStatic;
  /// Gets the reason why a program with value-dependent sizes is specialised to
  /// `values`.
  std::function<void(const std::string &why)> perValues;
  /// Whether to specialise to `values` although a generic program may be
  /// possible.
  bool forValues = false;
  /// One entry per input: its values, if it may feed shapes (see mayFeedShapes)
  /// and they are known.
  std::vector<std::optional<Tensor>> values;
  PassOptions passes;
  /// Values to report to the executor's observer whenever they are computed, by
  /// their ids (ValueFacts).
  std::vector<int64_t> observed;
  /// Whether the interpreter runs the optimised model instead of the original.
  bool interpretsRewritten = false;
  /// Threads to compile with; 0: one per processor.
  unsigned threads = 0;
  /// The measured peak rates of this machine, for choosing kernels; typical
  /// ones if nothing was measured.
  std::optional<MachineCeilings> ceilings;
  /// Called with a line for each matmul and convolution, once per layer: the
  /// candidate kernels and their estimated times.
  std::function<void(const std::string &)> choice;
  /// A folder of cached kernels; empty: none. `compiler` identifies the build
  /// of the compiler's library.
  std::string kernelFolder, compiler;
  /// Called after each of \p total kernels.
  std::function<void(unsigned done, unsigned total)> progress;
  /// Called after each stage.
  CompileObserver stages;
};

/// What a model is compiled to ahead of time.
struct BundleRequest : CompileRequest {
  BundleOptions bundle;
  /// An entry point, for inputs of static `shapes`, or for sizes that callers
  /// give, `dynamic`; in place of those of the request.
  struct Entry {
    /// Empty: that of the bundle.
    std::string name;
    std::vector<Shape> shapes, dynamic;
  };
  /// At least one.
  std::vector<Entry> entries;
  TargetChanges changes;
};

/// Counts, by name.
using Counts = std::vector<std::pair<std::string, int64_t>>;

/// A rewrite.
struct PatternDescription {
  std::string label, picture, pass;
  /// The \p allow option that it needs, as in PassOptions; empty: none.
  std::string needs;
  /// Whether it keeps the nodes of a file that is written again.
  bool isForm = false;
};

/// A file name extension of models.
struct FormatDescription {
  /// ".mlir".
  std::string suffix;
  /// Whether such a file may be a list of self-checking programs.
  bool holdsTests = false;
  /// Whether help lists it.
  bool isListed = true;
};

/// The floating-point operations of a model as its author wrote it: two for
/// each multiply-add of its matmuls, convolutions, attention and recurrent
/// layers (graph/ArithmeticCount.h), in whatever type they are computed. Of
/// branches, the one with more counts; the body of a loop counts once.
struct ModelFlops {
  /// Nothing if sizes are dynamic, or not known.
  std::optional<int64_t> number;
  /// "1024*N": in the symbols of dynamic dimensions; empty if there is a
  /// number, or no formula.
  std::string formula;
  /// Why there is neither, or what they leave out; empty if nothing is to say.
  std::string note;
};

/// The report of a simplification.
struct OptimizeReport {
  /// Operations of the graph by name, before and after.
  Counts before, after;
  /// The number of applications of each pattern.
  Counts patterns;
  /// The number of rescales of quantised tensors, after they get quantised
  /// types, and at the end.
  int64_t rescalesBefore = 0, rescalesAfter = 0;
  /// Notes for the user: what stayed unoptimised, and why.
  std::vector<std::string> notes;
  /// If OptimizeRequest::counts: of the file, and of what is written. Without
  /// an output, of what would be; nothing if a note says that it cannot.
  FileCounts fileBefore;
  std::optional<FileCounts> fileAfter;
  /// If OptimizeRequest::counts: of the model as it was.
  ModelFlops flops;
};

/// Values for inputs, by name or index: weights, for example.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// A model's file, and facts about its inputs.
struct ModelRequest {
  std::string path;
  NamedShapes shapes;
  /// Inputs that become constants.
  NamedTensors bound;
  /// The function to run, if a file has several; empty: the only public one, or
  /// `main`.
  std::string function;
  /// Called for each part of the file that is left out; may be empty.
  std::function<void(const std::string &)> note;
  /// The file or folder of its parameters.
  OpenOptions opening;
  /// Symbols by which `shapes` keep dimensions dynamic, as in the file.
  std::vector<DimensionName> dimensionNames;
  /// Inputs with a default value that the caller provides: they are ordinary
  /// inputs. Names of other inputs are ignored.
  std::vector<std::string> replacedDefaults;
  /// The files of `bound`, for errors: one per array, or none.
  std::vector<std::string> boundFiles;
  /// Whether operations say from which operators of the file they came.
  bool keepsSource = false;
  /// Metadata of a file that is written from the model, texts by name, in
  /// place of what it has of these names. `note` gets a line if the format has
  /// no place for them.
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

struct OptimizeRequest {
  ModelRequest input;
  /// Which files of the model the output may replace.
  Overwrite overwrite = Overwrite::Nothing;
  /// Empty: only a report.
  std::string output;
  PassOptions passes;
  /// Whether states become constants first.
  bool freeze = false;
  /// Whether quantisation by QDQ or integer operations becomes quantised types.
  bool raiseQuantized = false;
  /// Whether outputs may get other quantised types.
  bool changeOutputs = false;
  /// Whether operators that the format's standard does not have are written as
  /// those that it has. An error names those that cannot be.
  bool standardOperators = false;
  /// Whether what ONNX Runtime has fused operators for is written with these.
  bool forOnnxRuntime = false;
  /// Entries of the metadata to set, in the place of those of the same keys,
  /// which begin with "sinter.".
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Pairs "OUTPUT=INPUT" that become states, kept from run to run and zero at
  /// first.
  std::vector<std::string> states;
  /// Called with the model that was read; its error ends the call. May be
  /// empty.
  std::function<Result<void>(const ModelDescription &)> checkModel;
  /// Whether the report has the operators and weights of both files, and FLOPs.
  bool counts = false;
  /// The pre-processing of images that becomes a part of the model
  /// (passes/EmbedPreprocessing.h); nothing: none.
  std::optional<ImageOptions> embeds = std::nullopt;
};

struct ConvertRequest {
  ModelRequest input;
  /// As in OptimizeRequest.
  Overwrite overwrite = Overwrite::Nothing;
  std::string output;
  /// The version of StableHLO for a portable artifact; empty: the newest.
  std::string targetVersion;
};

struct ReduceRequest {
  std::string input, output;
  /// Whether the program at \p path is still interesting.
  std::function<bool(const std::string &path)> isInteresting;
  /// Called after each step with the number of operations left.
  std::function<void(const std::string &step, int operations)> progress;
};

/// The numbers of operations before and after, and of tried programs.
struct ReduceOutcome {
  int before = 0, after = 0, attempts = 0;
};

/// A tensor of a graph.
struct TensorFacts {
  /// The name in the user's file, or of the node that computes it.
  std::string name;
  Role role = Role::Temporary;
  /// "f32 [2, ?]".
  std::string type;
  /// Nothing if a size is dynamic.
  std::optional<int64_t> bytes;
  /// The operation that computes it; empty for inputs and states.
  std::string op;
};

/// A state, and its initial value.
struct StateFacts {
  TensorSpec spec;
  Tensor initial;
};

/// The facts of the graph that `inspect` prints.
struct GraphFacts {
  int64_t parameters = 0;
  int64_t parameterBytes = 0;
  /// Operations by name.
  Counts operations;
  std::vector<StateFacts> state;
  /// The arguments of the function that is run, and every result in it,
  /// including those in branches and loops, in order.
  std::vector<TensorFacts> tensors;
};

/// The facts that follow from the sizes of inputs.
struct SizedFacts {
  ModelFlops flops;
  /// With sizes, or else expressions over the symbols of inputs as symbols:
  /// "2*S+1".
  std::vector<ModelOutput> outputs;
};

/// An intermediate value of a model compiled for given inputs.
struct ValueFacts {
  /// The id, the same for all backends.
  int64_t number = 0;
  /// The name in the user's file, else of the node that computes it; empty if
  /// that has none.
  std::string name;
  /// Whether `name` is unique to this value.
  bool isNamed = false;
  /// The name of the source node.
  std::string origin;
  /// The operation that computes it, and its type: "f32 [2, 3]".
  std::string op, type;
  int64_t bytes = 0;
  /// Whether it is computed in a branch or a loop.
  bool isInside = false;
  /// Whether a run can report it: passes may remove it.
  bool isLeft = true;
  /// Hashes of the operations and shapes by which it follows from the inputs,
  /// and by which the outputs follow from it, whatever the constants; 0: of a
  /// value in a branch or loop, or that no output depends on.
  uint64_t fromInputs = 0, toOutputs = 0;
  /// Of the result of a matmul or convolution, or of what follows from it by
  /// constants of channels: the operations with constants of channels that are
  /// still to come ("add batch_norm_inference"). A file into which they are
  /// folded has another value here, whatever its name.
  std::string unfolded;
};

/// The observable values of a run, and the rewrites before it.
struct RunFacts {
  /// In the order of the graph, without constants.
  std::vector<ValueFacts> values;
  /// Each pass, and the number of steps at its end.
  std::vector<std::pair<std::string, uint64_t>> passes;
  /// The last step, if PassOptions::mostSteps were done: the pattern, the
  /// rewritten operation, and its location in the source.
  std::string label, op, location;
};

/// A weight of a model, and where it is used.
struct WeightFacts {
  /// Its name in the user's file; of a folded one, that of what it comes from.
  std::string name;
  /// The node that uses it (the first), and the operation there.
  std::string layer, op;
  Tensor value;
};

/// The weights of a model.
struct ModelWeights {
  /// Whether the model stores or computes quantised values.
  bool isQuantized = false;
  /// The named constants of floating-point elements as the file has them, in
  /// the order of the graph.
  std::vector<WeightFacts> stored;
  /// The constant operand of each matmul and convolution and its bias in the
  /// simplified graph, where norms are folded and integers dequantised; empty
  /// unless asked for.
  std::vector<WeightFacts> folded;
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
  /// What the file consists of.
  virtual Result<FileCounts> counts() = 0;
  /// The facts for inputs of \p shapes, by name; of other dynamic dimensions,
  /// whatever their sizes are.
  virtual Result<SizedFacts> sizedFacts(const NamedShapes &shapes) = 0;
  /// The model as native code for this machine.
  virtual Result<std::shared_ptr<const Program>>
  compile(const CompileRequest &request) = 0;
  /// The model as code and data that need no library. Errors: those of
  /// compile(); Unsupported for what needs the library, all of it listed.
  virtual Result<Bundle> bundle(const BundleRequest &request) = 0;
  /// Whether the model accepts the shapes and values of \p request; the error
  /// says why not.
  virtual Result<void> accepts(const CompileRequest &request) = 0;
  /// The observable values of the compiled or interpreted model. Of dynamic
  /// dimensions if the request keeps some dynamic.
  virtual Result<RunFacts> runFacts(const CompileRequest &request,
                                    bool compiled) = 0;
  /// The weights of the model; \p folds: those of the simplified graph, too.
  virtual Result<ModelWeights> weights(const CompileRequest &request,
                                       bool folds) = 0;
  /// The graph as it was read, the one that is compiled, and the program, but
  /// not its code. What cannot be compiled is left out, with a note.
  virtual Result<ModelView> view(const CompileRequest &request) = 0;
  /// The original model, evaluated operation by operation.
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
  /// The signatures of a file's functions if it has several and none to run,
  /// such as @main; empty if one is run.
  virtual Result<std::vector<FunctionDescription>>
  functions(const ModelRequest &request) = 0;
  /// Simplifies a model and writes it in its own format.
  virtual Result<OptimizeReport> optimize(const OptimizeRequest &request) = 0;
  /// Writes a model in the format of the output's extension.
  virtual Result<void> convert(const ConvertRequest &request) = 0;
  /// Quantises a float model (Quantize.h).
  virtual Result<QuantizeReport> quantize(const QuantizeRequest &request) = 0;
  /// Reads a model to train it (Train.h).
  virtual Result<std::unique_ptr<TrainableModel>>
  train(const TrainRequest &request) = 0;
  /// Runs the self-checking programs in the file at \p path from number \p
  /// first on: see TestFile.h. The error is of the file as a whole.
  virtual Result<void> test(const std::string &path, size_t first,
                            const TestRequest &request,
                            TestObserver &observer) = 0;
  /// All patterns, by label.
  virtual std::vector<PatternDescription> patterns() = 0;
  /// The extensions of models, grouped by format.
  virtual std::vector<FormatDescription> formats() = 0;
  /// Whether the folder \p path is a model itself.
  virtual bool isModelFolder(const std::string &path) = 0;
  /// \p output as it is to be written: a folder's name ends with a slash.
  /// Without an extension, it is a folder if the model \p input is in a folder
  /// and its format can be written to one.
  virtual std::string outputFor(const std::string &input,
                                const std::string &output) = 0;
  /// Writes the smallest interesting program found.
  virtual Result<ReduceOutcome> reduce(const ReduceRequest &request) = 0;
  /// Peak rates of one thread of this machine, measured in about \p seconds.
  virtual Result<MachineCeilings> measureMachine(double seconds) = 0;
  /// The CPUs of which caches are known, by target, the first of each for any
  /// of it; or all of \p triple that the code generator knows.
  virtual Result<std::vector<TargetFacts>>
  targets(const std::string &triple) = 0;
};

/// The two symbols of libsinter-compiler.so: the compiler, which lives as long
/// as the process, and the contract it was built for
/// (runtime/LibraryContract.h).
inline constexpr const char *compilerEntry = "sinterCompiler";
using CompilerEntry = Compiler *();
inline constexpr const char *compilerContractEntry = "sinterCompilerContract";
using CompilerContractEntry = const char *();

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_H
