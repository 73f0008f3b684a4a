//===- PaddleFile.h - a program with its parameters -----------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PADDLEFILE_H
#define SINTER_FORMATS_PADDLE_FILE_PADDLEFILE_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::paddle {

/// Where parameters come from if not from the usual files.
struct ParameterSource {
  /// A combined file, or a folder with a file per parameter; empty: the usual
  /// names beside the program.
  std::string path;
  /// If set, parameters are drawn from this seed instead.
  std::optional<uint64_t> randomSeed;
  /// Whether parameters that cannot be found are drawn; missing() is the reason
  /// why they cannot.
  bool drawsMissing = false;
};

/// Copies share the same open files.
class PaddleFile {
public:
  /// Opens and checks the program at \p path: a program file, or a folder with
  /// one in it. A program that trains is Unsupported. Its parameters are
  /// mapped; every one is located and compared with the program's declaration,
  /// and a combined file must end with the last. Missing parameters are an
  /// error only when one is requested, unless \p source has their path.
  static Result<PaddleFile> open(const std::string &path,
                                 const ParameterSource &source = {});

  /// The same for a program, and the bytes of a combined file, in memory.
  /// \p name is the file name in messages.
  static Result<PaddleFile>
  fromMemory(std::string program, std::string parameters, std::string name);

  const Program &program() const;
  /// The path of the program's file, for messages.
  const std::string &name() const;
  /// The other files that the model consists of, relative to the program's
  /// folder; none if that folder was opened as a whole, and none that are
  /// elsewhere.
  const std::vector<std::string> &dataFiles() const;

  /// Why there are no parameters; empty if they were found or are to be drawn.
  const std::string &missing() const;

  /// The parameter called \p name, over the mapped bytes.
  Result<Tensor> parameter(std::string_view name) const;

private:
  friend class ParameterOpener;
  struct State;
  explicit PaddleFile(std::shared_ptr<const State> state)
      : state(std::move(state)) {}
  static Result<std::shared_ptr<State>> load(std::string name,
                                             std::string_view contents);

  std::shared_ptr<const State> state;
};

/// Whether \p path is a folder with such a program, or a file with a name of
/// Paddle's (if it is no program, the error of open() describes it).
bool isPaddlePath(const std::string &path);
/// Whether \p contents are such a program.
bool isPaddleProgram(std::string_view contents);

/// A parameter to write.
struct WrittenParameter {
  std::string name;
  Tensor tensor;
};

/// Writes a program in the form of program.era, and its parameters, all that it
/// declares, in one file sorted by name. \p path is a program file
/// (`x.pdmodel`, `x.json`, `__model__`; the parameters go beside it under the
/// usual name) or a folder (`inference.pdmodel` or `inference.json` in it). A
/// folder is created; in an existing one the new program replaces the old one,
/// under its name, and all else stays. A file, and a folder as a whole, is
/// written completely or not at all. Unsupported, with a list, if operators
/// have no name in that era.
Result<void> writePaddle(const Program &program,
                         std::vector<WrittenParameter> parameters,
                         const std::string &path);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PADDLEFILE_H
