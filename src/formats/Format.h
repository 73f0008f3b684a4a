//===- Format.h - the table of file formats -------------------------------===//
//
// Whoever reads or writes models asks this table and names no format. A format
// is a folder of its own, which defines a row, and its name in Format.cpp. How
// to add one: CONTRIBUTING.md, "A file format".
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_FORMAT_H
#define SINTER_FORMATS_FORMAT_H

#include "formats/OpenOptions.h"
#include "formats/ReadOptions.h"
#include "graph/Model.h"
#include "mlir/IR/Value.h"
#include "runtime/Executor.h"
#include "runtime/Result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// What a file says of a tensor that goes in or comes out.
struct DeclaredTensor {
  TensorSpec spec;
  /// One name a dimension; empty where the size is known or has no name.
  std::vector<std::string> symbols;
  /// False where the file leaves even the number of dimensions open.
  bool isRanked = true;
};

/// The open file of a model.
class ModelFile {
public:
  virtual ~ModelFile() = default;

  /// The model. Weights stay in the mapped file. Errors are one line: file,
  /// node, operator, reason; what is unsupported is listed all at once.
  virtual Result<Model> read(const ReadOptions &options) = 0;

  /// Files that the model consists of besides its own, relative to its folder.
  virtual std::vector<std::string> dataFiles() const { return {}; }

  /// Whether read() makes something else of other shapes and values. Then the
  /// file is read again for what becomes known, and says before what it takes
  /// and gives. Otherwise it is read once, and the graph says all that.
  virtual bool dependsOnSizes() const { return false; }
  /// \p shapes are known of some of the inputs.
  virtual std::vector<DeclaredTensor>
  inputs(const std::map<std::string, std::vector<int64_t>> &shapes) const {
    return {};
  }
  virtual std::vector<DeclaredTensor> outputs() const { return {}; }
  /// Whether the sizes that the file declares of its inputs are hints, to which
  /// nothing holds those who run it.
  virtual bool suggestsSizes() const { return false; }
  /// Whether no shapes and values make the file readable.
  virtual bool isHopeless() const { return false; }
};

/// An ending of names by which a format writes.
struct Extension {
  /// ".mlir", or "/" for a folder.
  llvm::StringRef suffix;
  /// "text": what it says beyond the format; may be empty.
  llvm::StringRef what = "";
  /// Whether what is written is for readers of some version of the format
  /// (--target-version).
  bool isVersioned = false;
  /// Whether such a file may be a list of programs that check themselves.
  bool holdsTests = false;
  /// Whether users are told of it.
  bool isListed = true;
};

/// Whether a file is of a format.
enum class Likeness {
  No,
  Perhaps, ///< Nothing speaks against it.
  Yes,     ///< Its name or its contents say so.
};

struct WriteOptions {
  /// The version of the format that readers understand; empty: the newest.
  std::string targetVersion;
};

/// A row of the table.
struct Format {
  /// "onnx": as records call it (graph/Source.h).
  llvm::StringRef name;
  /// "ONNX": as messages do.
  llvm::StringRef title;
  llvm::ArrayRef<Extension> extensions;
  /// Whether a file may have several functions, of which one is chosen.
  bool hasFunctions = false;
  /// Whether parameters are in files of their own, so that OpenOptions mean
  /// something.
  bool hasParameterFiles = false;
  /// Whether constants without a name are the file's own, in its order; else
  /// they are what the reader made.
  bool hasUnnamedConstants = false;
  /// Whether quantised tensors are types; else they are between operators that
  /// quantise and dequantise.
  bool hasQuantizedTypes = false;
  /// Whether what quantises and dequantises knows zero points.
  bool hasZeroPoints = true;
  /// Whether weights may have a scale for a block of them.
  bool hasBlockScales = false;

  /// Whether \p path, with \p contents, is of this format. A folder has none.
  Likeness (*recognises)(const std::string &path,
                         std::span<const std::byte> contents);
  /// Opens what is recognised: InvalidModel where it is broken. To be called
  /// by openModelFile.
  Result<std::unique_ptr<ModelFile>> (*open)(const std::string &path,
                                             const OpenOptions &options);
  /// Writes the model, which appears complete or not at all. \p path has one of
  /// the extensions.
  Result<void> (*write)(const Model &model, const std::string &path,
                        const WriteOptions &options);
  /// The files that may be written for the model at \p path besides that one,
  /// for weights; null if there are none.
  std::vector<std::string> (*besides)(const std::string &path) = nullptr;
  /// Whether there is such a version: a Usage error. Null where no extension is
  /// versioned.
  Result<void> (*checkVersion)(const std::string &version) = nullptr;
  /// Tells what the file calls the values of a model that was read from it; may
  /// be null.
  void (*nameValues)(
      const Model &model,
      llvm::function_ref<void(mlir::Value, llvm::StringRef)> tell) = nullptr;
};

/// All formats, those that addFormat() added too.
std::vector<const Format *> allFormats();

/// Adds a row for the rest of the process, unless it is there. Not to be called
/// while others use the table. \p format and what it refers to must stay.
void addFormat(const Format &format);

/// The format of a file, or a folder without \p contents; null if no row takes
/// it. One that is sure goes before one that is not.
const Format *formatOf(const std::string &path,
                       std::span<const std::byte> contents);

/// Opens a model of \p format. Options that mean nothing there are a Usage
/// error.
Result<std::unique_ptr<ModelFile>>
openModelFile(const Format &format, const std::string &path,
              const OpenOptions &options = {});

/// A format and one of its extensions.
struct WrittenForm {
  const Format *format;
  const Extension *extension;
};
/// By what \p path ends with; else a Usage error that lists the extensions.
Result<WrittenForm> writtenForm(const std::string &path);

/// Whether \p version is one for which \p path can be written: a Usage error.
Result<void> checkTargetVersion(const std::string &path,
                                const std::string &version);

} // namespace sinter

#endif // SINTER_FORMATS_FORMAT_H
