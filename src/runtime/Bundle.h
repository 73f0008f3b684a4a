//===- Bundle.h - a program compiled ahead of time, as data ---------------===//
//
// What a backend makes of a model for programs that are linked without this
// library: code with C functions whose names begin with the bundle's, the
// weights that they read, and what a caller has to know of both. src/bundle
// writes it to files; docs/ahead-of-time.md describes the functions.
//
// All memory is the caller's:
//
//     inputs, outputs   a pointer each, in two structs
//     sizes             a struct of the sizes of dynamic dimensions
//     state             a struct of the states, each at `BundleTensor::offset`
//     workspace         `workspaceBytes`, undefined between runs; and
//                       `threadBytes` for each thread but the first one
//     weights           in the code, or a file's bytes, or an array of C
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_BUNDLE_H
#define SINTER_RUNTIME_BUNDLE_H

#include "runtime/Executor.h"
#include "runtime/FloatMode.h"
#include "runtime/Hash.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// The form of a bundle's code: a relocatable object, an archive with that
/// object alone, a shared library, or text for an assembler or for LLVM.
enum class BundleCode : uint8_t {
  Object,
  Archive,
  SharedLibrary,
  Assembly,
  LlvmIr
};

/// Where the weights are: in the code's read-only data, in a file of their own,
/// whose bytes the caller passes, or in an array of C that the code refers to.
enum class BundleWeights : uint8_t { InCode, InFile, InArray };

struct BundleOptions {
  /// The prefix of all symbols: a C identifier.
  std::string name;
  BundleCode code = BundleCode::Object;
  BundleWeights weights = BundleWeights::InCode;
  /// The name that a shared library records for the loader.
  std::string libraryName;
  /// Whether steps are divided among threads that the caller lends.
  bool isParallel = false;
  /// Whether the code may call functions of libsinter-runtime.
  bool mayCallRuntime = false;
  /// Other forms of the code to make as well.
  std::vector<BundleCode> also;
  /// The file of the listing that debug information refers to, as an absolute
  /// path; empty: no debug information.
  std::string listing;
  /// Upper bounds of dynamic dimensions, by their symbols.
  std::map<std::string, int64_t> most = {};
};

/// The code in one of its forms.
struct BundleText {
  BundleCode form;
  std::vector<char> bytes;
};

/// A size that the caller gives: that of the dynamic dimensions with a symbol.
struct BundleSize {
  std::string name;
  std::optional<int64_t> most;
  /// With the samples of the others, one that the code is for, if one was
  /// found.
  int64_t sample = 1;
};

/// An input, an output or a state.
struct BundleTensor {
  /// A dimension that follows from sizes of the caller is -1.
  TensorSpec spec;
  /// Where one does: all dimensions as texts, "2*N + 1".
  std::vector<std::string> dimensions = {};
  /// Of a tensor with such dimensions: at most, or 0 where sizes have no bound.
  uint64_t bytes = 0;
  /// Of the caller's pointer; in the struct of states always bundleAlignment.
  uint64_t alignment = 1;
  /// Of a state: in the struct of states.
  uint64_t offset = 0;

  bool isDynamic() const { return !dimensions.empty(); }
};

/// The alignment of the workspace, the weights and each state.
inline constexpr uint64_t bundleAlignment = 64;

/// The results of a bundle's functions.
enum class BundleStatus : int {
  Done = 0,
  NullPointer = 1,   ///< A pointer to some memory is null.
  Misaligned = 2,    ///< A pointer is not as aligned as the tensor must be.
  WrongWeights = 3,  ///< The weights are another bundle's.
  BadSizes = 4,      ///< The code is not for these sizes.
  NoMatrixUnits = 5, ///< The system does not let this process use AMX.
  Failed = 6         ///< A function of the runtime library failed.
};

/// What weights that are not in the code begin with, in bundleAlignment bytes:
/// this, the hash (16 bytes, low half first) and the size of the file (8
/// bytes), all little-endian.
inline constexpr char bundleWeightsMagic[] = "SINTERW1";

/// What a caller of an entry point's functions has to know.
struct BundleInterface {
  /// What the names of functions, types and macros begin with: that of the
  /// bundle, or that and one of its own.
  std::string name;
  std::vector<BundleTensor> inputs, outputs;
  /// The sizes that callers give; none of a program of static sizes.
  std::vector<BundleSize> sizes;
  /// A multiple of bundleAlignment. The workspace of a program with sizes: at
  /// most, or nothing if they have no bound.
  std::optional<uint64_t> workspaceBytes = 0;
  /// For each thread but the first one, if there may be several; known with the
  /// workspace.
  uint64_t threadBytes = 0;
};

struct Bundle {
  /// What the names begin with of all that entry points share.
  std::string name;
  /// The entry points, at least one, which share weights and states.
  std::vector<BundleInterface> entries;
  /// Of the compiler.
  std::string version;
  /// Of code, weights and interface.
  Hash128 hash;
  std::string triple, cpu;
  /// What the processor must have, by LLVM's names.
  std::vector<std::string> features;
  Denormals denormals = Denormals::Flush;
  std::vector<BundleTensor> states;
  /// Multiples of bundleAlignment.
  uint64_t stateBytes = 0, weightBytes = 0;
  bool isParallel = false;
  /// Whether it calls functions of libsinter-runtime.
  bool needsRuntime = false;
  /// Of machine code, and of read-only data without weights.
  uint64_t codeBytes = 0, dataBytes = 0;
  /// At most, of all functions of the code; external functions not counted.
  uint64_t stackBytes = 0;
  /// Functions of other libraries that the code calls.
  std::vector<std::string> externals;

  BundleCode form = BundleCode::Object;
  BundleWeights weightsIn = BundleWeights::InCode;
  /// The file of `form`, and the weights if they are not in it.
  std::vector<char> code, weights;
  /// As the options say.
  std::vector<BundleText> also;
  std::string listing;
};

} // namespace sinter

#endif // SINTER_RUNTIME_BUNDLE_H
