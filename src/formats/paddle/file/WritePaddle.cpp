//===- WritePaddle.cpp - a program and its parameters as files ------------===//

#include "formats/paddle/file/FindFiles.h"
#include "formats/paddle/file/PaddleFile.h"
#include "formats/paddle/file/ParameterFile.h"
#include "formats/paddle/file/PirProgram.h"
#include "formats/paddle/file/ProgramDesc.h"
#include "runtime/MappedFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace sinter::paddle {

namespace {

Result<std::string> encodeProgram(const Program &program) {
  return program.era == Era::Pir ? encodePir(program)
                                 : encodeProgramDesc(program);
}

//===----------------------------------------------------------------------===//
// The two files
//===----------------------------------------------------------------------===//

/// Whether a program of \p era may be in a file of this name.
bool isNameFor(const fs::path &name, Era era) {
  return (name.extension() == ".json") == (era == Era::Pir);
}

/// Checks that \p parameters, sorted, are those that \p program declares.
Result<void> checkComplete(const Program &program,
                           const std::vector<WrittenParameter> &parameters) {
  const std::vector<const Variable *> declared = program.parameters();
  for (size_t i = 0; i < std::max(declared.size(), parameters.size()); ++i) {
    const std::string *expected =
        i < declared.size() ? &declared[i]->name : nullptr;
    const std::string *given =
        i < parameters.size() ? &parameters[i].name : nullptr;
    if (expected && given && *expected == *given)
      continue;
    if (expected && (!given || *expected < *given))
      return invalidModel("parameter '" + *expected +
                          "' of the program has no value");
    return invalidModel("there is no parameter '" + *given +
                        "' in the program, or twice");
  }
  return {};
}

/// The bytes of both files.
class WrittenFiles {
public:
  static Result<WrittenFiles> make(const Program &program,
                                   std::vector<WrittenParameter> parameters) {
    WrittenFiles files;
    std::ranges::sort(parameters, {}, &WrittenParameter::name);
    if (Result<void> good = checkComplete(program, parameters); !good)
      return good.takeError();
    for (const WrittenParameter &each : parameters) {
      Result<std::string> header = tensorHeader(each.tensor);
      if (!header)
        return inside("parameter '" + each.name + "'", header.takeError());
      files.headers.push_back(std::move(*header));
    }
    files.parameters = std::move(parameters);
    Result<std::string> encoded = encodeProgram(program);
    if (!encoded)
      return encoded.takeError();
    files.program = std::move(*encoded);
    return files;
  }

  /// Writes them to \p path and beside it, complete or not at all, the program
  /// last.
  Result<void> write(const fs::path &path) const {
    std::vector<FileContents> files;
    if (!parameters.empty()) {
      FileContents &beside = files.emplace_back();
      beside.path = path.parent_path() / parametersNameFor(path);
      for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor &tensor = parameters[i].tensor;
        beside.chunks.push_back(std::as_bytes(std::span(headers[i])));
        beside.chunks.emplace_back(tensor.data(), tensor.bytes());
      }
    }
    files.push_back({path, {std::as_bytes(std::span(program))}});
    return writeFilesAtomically(files);
  }

private:
  std::vector<WrittenParameter> parameters;
  std::vector<std::string> headers;
  std::string program;
};

//===----------------------------------------------------------------------===//
// A folder
//===----------------------------------------------------------------------===//

/// A temporary folder beside another that replaces it, or is removed.
class StagedFolder {
public:
  explicit StagedFolder(const fs::path &target) : target(target) {}
  StagedFolder(const StagedFolder &) = delete;
  StagedFolder &operator=(const StagedFolder &) = delete;
  ~StagedFolder() {
    std::error_code ignored;
    if (!staging.empty())
      fs::remove_all(staging, ignored);
  }

  Result<void> create() {
    static std::atomic<unsigned> counter;
    staging = target.string() + ".tmp-" + std::to_string(::getpid()) + "-" +
              std::to_string(counter.fetch_add(1));
    std::error_code failed;
    if (fs::create_directory(staging, failed))
      return {};
    const int code = failed ? failed.value() : EEXIST;
    const std::string name = std::exchange(staging, fs::path()).string();
    return fileError("make the folder", name, code);
  }

  const fs::path &path() const { return staging; }

  /// Replaces the target, whose old contents are removed.
  Result<void> commit() {
    std::error_code ignored;
    const bool exists = fs::exists(target, ignored);
    const unsigned flags = exists ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    if (::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, target.c_str(),
                    flags) != 0)
      return fileError("write", target.string(), errno);
    if (!exists)
      staging.clear();
    return {};
  }

private:
  fs::path target, staging;
};

/// Copies to \p staging (by hard links) the files in \p folder other than its
/// Paddle program.
Result<void> keepOthers(const fs::path &folder, const std::string &program,
                        const fs::path &staging) {
  std::vector<std::string> old;
  if (!program.empty()) {
    old = {program};
    // The parameters of a program that cannot be opened are unknown.
    if (Result<PaddleFile> file = PaddleFile::open(folder / program))
      old.insert(old.end(), file->dataFiles().begin(), file->dataFiles().end());
  }
  std::error_code failed;
  fs::copy(folder, staging,
           fs::copy_options::recursive | fs::copy_options::create_hard_links |
               fs::copy_options::copy_symlinks,
           failed);
  if (failed)
    return fileError("copy", folder.string(), failed.value());
  for (const std::string &name : old)
    fs::remove(staging / name, failed);
  return {};
}

/// Writes the program into a new folder, or replaces the program in an existing
/// one, where all else stays.
Result<void> writeFolder(const Program &program, const WrittenFiles &files,
                         const fs::path &folder) {
  std::string name =
      program.era == Era::Pir ? "inference.json" : "inference.pdmodel";
  const std::vector<std::string> standing = programsIn(folder);
  if (standing.size() > 1)
    return usageError(folder.string() +
                      ": there are several Paddle programs in the folder; name "
                      "the file that is to be written");
  const std::string old = standing.empty() ? "" : standing.front();
  if (!old.empty() && isNameFor(old, program.era))
    name = old;
  StagedFolder staged(folder);
  if (Result<void> made = staged.create(); !made)
    return made;
  std::error_code ignored;
  if (fs::exists(folder, ignored))
    if (Result<void> kept = keepOthers(folder, old, staged.path()); !kept)
      return kept;
  if (Result<void> written = files.write(staged.path() / name); !written)
    return written;
  return staged.commit();
}

} // namespace

Result<void> writePaddle(const Program &program,
                         std::vector<WrittenParameter> parameters,
                         const std::string &path) {
  fs::path target = fs::path(path).lexically_normal();
  // "folder/" is the folder.
  if (target.filename().empty())
    target = target.parent_path();
  const bool isFile = target.extension() == ".pdmodel" ||
                      target.extension() == ".json" ||
                      target.filename() == "__model__";
  if (isFile && !isNameFor(target, program.era))
    return usageError("'" + path + "': a program of " +
                      (program.era == Era::Pir ? "PIR is written as .json"
                                               : "protobuf is written as "
                                                 ".pdmodel or __model__"));
  Result<WrittenFiles> files =
      WrittenFiles::make(program, std::move(parameters));
  if (!files)
    return inFile(files.takeError(), path);
  std::error_code ignored;
  if (isFile && !fs::is_directory(target, ignored))
    return files->write(target);
  if (fs::exists(target, ignored) && !fs::is_directory(target, ignored))
    return usageError("'" + path +
                      "' is a file; a Paddle program is written "
                      "to a folder, .pdmodel, .json or __model__");
  return writeFolder(program, *files, target);
}

} // namespace sinter::paddle
