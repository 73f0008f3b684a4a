//===- Format.h - the table of file formats -------------------------------===//
//
// Code that reads or writes models looks formats up in this table and names
// none. A format is a folder that defines a row, listed by name in Format.cpp.
// How to add one: CONTRIBUTING.md, "A file format".
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_FORMAT_H
#define SINTER_FORMATS_FORMAT_H

#include "formats/FileCounts.h"
#include "formats/ModelMetadata.h"
#include "formats/OpenOptions.h"
#include "formats/import/ReadOptions.h"
#include "graph/Model.h"
#include "mlir/IR/Value.h"
#include "runtime/Executor.h"
#include "runtime/Result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// What a file declares about an input or output tensor.
struct DeclaredTensor {
  TensorSpec spec;
  /// One symbolic dimension per dimension; empty if the size is static or has
  /// no name.
  std::vector<std::string> symbols;
  /// False if the file does not even give the rank.
  bool isRanked = true;
};

/// What a file declares of its inputs and outputs.
struct Signature {
  std::vector<DeclaredTensor> inputs, outputs;
  /// All inputs with a default value. Those that are not in
  /// ReadOptions::replacedDefaults become constants.
  std::vector<DeclaredTensor> defaults;
  /// Whether the sizes of inputs are only hints, which a run need not follow.
  bool sizesAreHints = false;
};

/// The open file of a model, parsed.
class ModelFile {
public:
  virtual ~ModelFile() = default;

  /// Translates it to a graph. Weights stay in the mapped file. Errors are one
  /// line: file, node, operator, reason; all that is unsupported is listed at
  /// once.
  virtual Result<Model> read(const ReadOptions &options) = 0;

  /// What the file declares, with the shapes of \p options, if read() depends
  /// on shapes and values: then it is translated again when more of them are
  /// known. Nothing if it is translated once and the graph describes its inputs
  /// and outputs.
  virtual std::optional<Signature> signature(const ReadOptions &options) const {
    return std::nullopt;
  }
  /// Files that the model consists of besides its own, relative to its folder.
  virtual std::vector<std::string> dataFiles() const { return {}; }

  /// What the file says of itself, but for the name of its format; after
  /// read().
  virtual ModelMetadata metadata() const { return {}; }
  /// Its operators and weights; reads it, where they are not known before.
  virtual Result<FileCounts> counts() = 0;
  /// Whether no shapes and values can make the file readable.
  virtual bool isHopeless() const { return false; }
};

/// A file name extension that selects a format for writing.
struct Extension {
  /// ".mlir", or "/" for a folder.
  llvm::StringRef suffix;
  /// "text": a variant of the format; may be empty.
  llvm::StringRef what = "";
  /// Whether files are written for a version of the format (--target-version).
  bool isVersioned = false;
  /// Whether such a file may be a list of programs that check themselves.
  bool holdsTests = false;
  /// Whether messages list it.
  bool isListed = true;
};

/// Whether a file is of a format.
enum class Likeness {
  No,
  Perhaps, ///< Nothing speaks against it.
  Yes,     ///< Its name or its contents say so.
};

struct WriteOptions {
  /// The version of the format to write for; empty: the newest.
  std::string targetVersion;
  /// Whether to write fused operators of ONNX Runtime's domain.
  bool forOnnxRuntime = false;
};

/// A row of the table.
struct Format {
  /// "onnx": its name in records (graph/Source.h).
  llvm::StringRef name;
  /// "ONNX": its name in messages.
  llvm::StringRef title;
  llvm::ArrayRef<Extension> extensions;
  /// Whether a file may have several functions, of which one is chosen.
  bool hasFunctions = false;
  /// Whether parameters are in files of their own, so that OpenOptions apply.
  bool hasParameterFiles = false;
  /// Whether constants without a name are the file's own, in its order; else
  /// the reader made them.
  bool hasUnnamedConstants = false;
  /// Whether the format has quantised types; else quantised tensors are between
  /// operators that quantise and dequantise (QDQ).
  bool hasQuantizedTypes = false;
  /// Whether its quantise and dequantise operators have zero points.
  bool hasZeroPoints = true;
  /// Whether weights may have a scale for a block of them.
  bool hasBlockScales = false;
  /// Whether runtimes have operators of their own beside the format's.
  bool hasRuntimeOperators = false;
  /// Whether files keep what graph/Metadata.h is about.
  bool hasMetadata = false;

  /// Whether \p path, with \p contents (none for a folder), is of this format.
  Likeness (*recognises)(const std::string &path,
                         std::span<const std::byte> contents);
  /// Opens a recognised file; InvalidModel if it is broken. Only openModelFile
  /// calls it.
  Result<std::unique_ptr<ModelFile>> (*open)(const std::string &path,
                                             const OpenOptions &options);
  /// Writes the model, which appears complete or not at all. \p path has one of
  /// the extensions.
  Result<void> (*write)(const Model &model, const std::string &path,
                        const WriteOptions &options);
  /// The additional files, for weights, that may be written for the model at
  /// \p path; null if there are none.
  std::vector<std::string> (*besides)(const std::string &path) = nullptr;
  /// Checks that there is such a version; else a Usage error. Null where no
  /// extension is versioned.
  Result<void> (*checkVersion)(const std::string &version) = nullptr;
  /// Calls back with the file's names of the values of a model that was read
  /// from it; may be null.
  void (*nameValues)(
      const Model &model,
      llvm::function_ref<void(mlir::Value, llvm::StringRef)> tell) = nullptr;
};

/// All formats, including those from addFormat().
std::vector<const Format *> allFormats();

/// Adds a row for the rest of the process, unless it is there. Not thread-safe.
/// \p format and what it refers to must outlive the table.
void addFormat(const Format &format);

/// The format of a file, or a folder without \p contents; null if no row
/// recognises it. Likeness::Yes wins over Perhaps.
const Format *formatOf(const std::string &path,
                       std::span<const std::byte> contents);

/// Opens a model of \p format. Options that do not apply to the format are a
/// Usage error.
Result<std::unique_ptr<ModelFile>>
openModelFile(const Format &format, const std::string &path,
              const OpenOptions &options = {});

/// A format and one of its extensions.
struct WrittenForm {
  const Format *format;
  const Extension *extension;
};
/// Selected by the extension of \p path; else a Usage error that lists the
/// extensions.
Result<WrittenForm> writtenForm(const std::string &path);

/// Checks that \p path can be written for \p version; else a Usage error.
Result<void> checkTargetVersion(const std::string &path,
                                const std::string &version);

} // namespace sinter

#endif // SINTER_FORMATS_FORMAT_H
