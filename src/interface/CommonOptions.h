//===- CommonOptions.h - options of the command and of libraries ----------===//
//
// The command and the C interface have the same options, with the same names,
// values and checks: both add them to a parser of command lines.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERFACE_COMMONOPTIONS_H
#define SINTER_INTERFACE_COMMONOPTIONS_H

#include "engine/NamedSizes.h"
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

namespace sinter {

/// The models that are read and written, for help texts: as in the table of
/// formats (formats/Format.h), which the command without a compiler does not
/// know. UsageTest checks them.
inline constexpr const char *readForms =
    ".onnx, .mlir, .mlir.bc, .stablehlo, .pdmodel, .json, or a folder of "
    "PyTorch/XLA "
    "or PaddlePaddle";
inline constexpr const char *writtenForms =
    ".onnx, .mlir (text), .mlir.bc or .stablehlo (portable artifact), "
    ".pdmodel, .json (Paddle's PIR), / (a folder of PaddlePaddle)";

/// The options as written, with only their form checked.
struct CommonOptions {
  std::string model;
  /// The file or folder of its parameters, and the seed of random ones.
  std::string parameters, randomParameters;
  /// Empty: the only public one, or `main`.
  std::string function;

  std::string backend = "cpu";
  /// Whether models that the backend does not support may run on the
  /// interpreter: not if the user named a backend.
  bool mayInterpret = false;
  unsigned threads = 0;
  std::string precision{name(Precision::Default)};
  std::string cpu, features;
  bool denormals = false;
  std::vector<std::string> shapes;
  /// Which dimensions stay dynamic by default.
  DynamicSizes dynamicSizes = DynamicSizes::None;
  /// The symbols of dimensions that stay dynamic, "N,sequence"; "*": all;
  /// empty: by `dynamicSizes`.
  std::string dynamic;
  bool isStatic = false;
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

  /// Gets what a user should know, a line a call; may not be empty.
  std::function<void(const std::string &)> note;
};

/// The positional argument MODEL; \p needed: whether it is required.
void addModel(CLI::App &app, CommonOptions &options, bool needed = true);
/// --params, --random-parameters
void addParameters(CLI::App &app, CommonOptions &options);
/// --function
void addFunction(CLI::App &app, CommonOptions &options);
/// --shape
void addShapes(CLI::App &app, CommonOptions &options);
/// --dynamic, --static, --max
void addDynamic(CLI::App &app, CommonOptions &options);
/// --bind
void addBinding(CLI::App &app, CommonOptions &options);
/// --backend and those of addArithmetic
void addBackend(CLI::App &app, CommonOptions &options);
/// --threads
void addThreads(CLI::App &app, CommonOptions &options);
/// --threads, --precision, --cpu, --features, --denormals
void addArithmetic(CLI::App &app, CommonOptions &options);
/// --disable-patterns, --enable-patterns, --allow, --verify-numerics,
/// --print-ir-after
void addPasses(CLI::App &app, CommonOptions &options);
/// --disable-patterns, --enable-patterns, --allow
void addPatterns(CLI::App &app, CommonOptions &options);
/// The tolerance between two ways to compute the same: kernels accumulate in
/// another order than the definitions.
inline Tolerance backendTolerance() { return {1e-3, 1e-7, 1e-4}; }
/// --rtol, --atol, --range-atol
void addTolerance(CLI::App &app, Tolerance &tolerance, const char *group);
/// --cache-dir, --no-cache
void addCache(CLI::App &app, CommonOptions &options);
/// The folder of compiled programs; empty: none.
std::string cacheFolder(const CommonOptions &options);
/// Checks values: CLI11's ranges accept `nan`.
CLI::Validator isNumber();
/// --force
void addForce(CLI::App &app, bool &force);
/// --force and --in-place.
struct OverwriteOptions {
  bool force = false, inPlace = false;
  Overwrite allowed() const {
    return inPlace ? Overwrite::Anything
           : force ? Overwrite::Files
                   : Overwrite::Nothing;
  }
};
void addOverwrite(CLI::App &app, OverwriteOptions &options);

/// --shape: a size per dimension, and the symbols of dynamic ones; sizes by
/// symbol.
struct GivenShapes {
  NamedShapes shapes;
  std::vector<DimensionName> names;
  SymbolSizes sizes;
};
/// "name:1x3x224x224" by name, where `?` or a symbol keeps a dimension dynamic,
/// and "batch=2,sequence=16".
Result<GivenShapes> parseShapes(const std::vector<std::string> &texts);
/// --max: "N=64".
Result<SizeBounds> parseBounds(const std::vector<std::string> &texts);
/// The shapes of --shape for the inputs of \p model.
Result<NamedShapes> shapesFor(const CommonOptions &options,
                              const ModelDescription &model);

/// MODEL with the shapes of --shape and the arrays of --bind, in the given
/// order.
Result<ModelRequest> modelRequest(const CommonOptions &options);
PassOptions passOptions(const CommonOptions &options);
CodeOptions codeOptions(const CommonOptions &options);
Result<SessionOptions> sessionOptions(const CommonOptions &options);

} // namespace sinter

#endif // SINTER_INTERFACE_COMMONOPTIONS_H
