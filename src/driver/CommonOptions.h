//===- CommonOptions.h - options that several sub-commands share ----------===//

#ifndef SINTER_DRIVER_COMMONOPTIONS_H
#define SINTER_DRIVER_COMMONOPTIONS_H

#include "engine/Session.h"
#include "runtime/Comparison.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
} // namespace CLI

namespace sinter::driver {

/// Which models are read and written, for help texts: what the table of formats
/// lists (formats/Format.h), of which the command without a compiler knows
/// nothing. UsageTest holds them.
inline constexpr const char *readForms =
    ".onnx, .mlir, .mlir.bc, .stablehlo, .pdmodel, .json, or a folder of "
    "PyTorch/XLA "
    "or PaddlePaddle";
inline constexpr const char *writtenForms =
    ".onnx, .mlir (text), .mlir.bc or .stablehlo (portable artifact), "
    ".pdmodel, .json (Paddle's PIR), / (a folder of PaddlePaddle)";

/// What the user wrote, unchecked but for its form.
struct CommonOptions {
  std::string model;
  /// Where its parameters are, and the seed of random ones.
  std::string parameters, randomParameters;
  /// Empty: the only public one, or `main`.
  std::string function;

  std::string backend = "cpu";
  /// Whether what that does not support may run on the interpreter: not if the
  /// user named one.
  bool mayInterpret = false;
  unsigned threads = 0;
  std::string precision{name(Precision::Default)};
  std::string cpu, features;
  bool denormals = false;
  std::vector<std::string> shapes;
  /// Which dimensions stay open if the user says nothing.
  OpenSizes openSizes = OpenSizes::None;
  /// The symbols of unknown dimensions that stay open, "N,sequence"; "*": all;
  /// empty: as `openSizes` says.
  std::string open;
  bool closed = false;
  /// "N=64": the largest sizes.
  std::vector<std::string> most;

  /// "passes" or "each"; empty: not at all.
  std::string verifyNumerics;
  std::vector<std::string> printIrAfter;
  std::vector<std::string> disabledPatterns, enabledPatterns, allowed;
  /// "name=file.npy", "file.npz" or a folder.
  std::vector<std::string> bound;

  std::string cacheFolder;
  bool noCache = false;

  bool json = false;
  bool verbose = false;
  std::string traceFile;
  /// What --trace tells of reading and compiling.
  std::shared_ptr<std::vector<CompileStage>> stages =
      std::make_shared<std::vector<CompileStage>>();
};

/// The positional argument MODEL; \p needed:
/// whether it must be there.
void addModel(CLI::App &app, CommonOptions &options, bool needed = true);
/// --params, --random-parameters
void addParameters(CLI::App &app, CommonOptions &options);
/// --function
void addFunction(CLI::App &app, CommonOptions &options);
/// --shape
void addShapes(CLI::App &app, CommonOptions &options);
/// --open, --closed, --max
void addOpen(CLI::App &app, CommonOptions &options);
/// --bind
void addBinding(CLI::App &app, CommonOptions &options);
/// --backend and those of addArithmetic
void addBackend(CLI::App &app, CommonOptions &options);
/// --threads, --precision, --exact-convolution, --cpu, --features, --denormals
void addArithmetic(CLI::App &app, CommonOptions &options);
/// --disable-patterns, --enable-patterns, --allow, --verify-numerics,
/// --print-ir-after
void addPasses(CLI::App &app, CommonOptions &options);
/// --disable-patterns, --enable-patterns, --allow
void addPatterns(CLI::App &app, CommonOptions &options);
/// --rtol, --atol, --range-atol
void addTolerance(CLI::App &app, Tolerance &tolerance, const char *group);
/// --cache-dir, --no-cache
void addCache(CLI::App &app, CommonOptions &options);
/// Where they say that programs are kept; empty: nowhere.
std::string cacheFolder(const CommonOptions &options);
/// A check of values: CLI11's ranges let `nan` pass.
CLI::Validator isNumber();
/// --force
void addForce(CLI::App &app, bool &force);
/// Those and --in-place.
struct OverwriteOptions {
  bool force = false, inPlace = false;
  Overwrite allowed() const {
    return inPlace ? Overwrite::Anything
           : force ? Overwrite::Files
                   : Overwrite::Nothing;
  }
};
void addOverwrite(CLI::App &app, OverwriteOptions &options);
/// --json, -v
void addReport(CLI::App &app, CommonOptions &options);
/// --trace
void addTrace(CLI::App &app, CommonOptions &options);

/// What --shape says: a size a dimension, and the names of some that stay open.
struct GivenShapes {
  NamedShapes shapes;
  std::vector<DimensionName> names;
};
/// "name:1x3x224x224" by name; `?` or a name leaves a dimension open.
Result<GivenShapes> parseShapes(const std::vector<std::string> &texts);

/// MODEL with what --shape says and the arrays that --bind names, in the order
/// given.
Result<ModelRequest> modelRequest(const CommonOptions &options);
PassOptions passOptions(const CommonOptions &options);
CodeOptions codeOptions(const CommonOptions &options);
/// With -v, prints which kernels could compute each product.
std::function<void(const std::string &)>
choicePrinter(const CommonOptions &options);
/// With -v, prints how long each stage of compiling takes; keeps what --trace
/// writes.
CompileObserver stageObserver(const CommonOptions &options);
Result<SessionOptions> sessionOptions(const CommonOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMMONOPTIONS_H
