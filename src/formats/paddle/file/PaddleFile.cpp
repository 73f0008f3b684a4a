#include "formats/paddle/file/PaddleFile.h"

#include "formats/import/Unsupported.h"
#include "formats/paddle/file/FindFiles.h"
#include "formats/paddle/file/ParameterFile.h"
#include "formats/paddle/file/PirProgram.h"
#include "formats/paddle/file/ProgramDesc.h"
#include "formats/paddle/file/RandomParameters.h"
#include "runtime/MappedFile.h"
#include "runtime/OpenBeneath.h"
#include "runtime/OptionNames.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unistd.h>

namespace fs = std::filesystem;

namespace sinter::paddle {

struct PaddleFile::State {
  std::string name;
  Program program;
  std::vector<std::string> dataFiles;

  /// The parameters of `program`, by name.
  std::vector<const Variable *> declared;
  /// One for each declared parameter; empty if none were found.
  std::vector<Result<Tensor>> tensors;
  std::optional<RandomParameters> random;
  /// Why there are no parameters.
  std::string missing;
};

namespace {

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

Result<Program> decodeProgram(std::string_view contents) {
  if (contents.empty())
    return invalidModel("not a Paddle program: the file is empty");
  if (contents.starts_with("version https://git-lfs.github.com/spec/"))
    return invalidModel("not a Paddle program but a Git LFS pointer to one; "
                        "get the file itself with 'git lfs pull'");
  const size_t first = contents.find_first_not_of(" \t\r\n");
  const bool isText = first != contents.npos && contents[first] == '{';
  Result<Program> program =
      isText ? decodePir(contents) : decodeProgramDesc(contents);
  if (program || program.error().kind != ErrorKind::InvalidModel)
    return program;
  return invalidModel((isText || beginsProtobufProgram(contents)
                           ? "broken Paddle program: "
                           : "not a Paddle program: ") +
                      program.error().message());
}

/// Whether an operator is for training: a gradient, or a step of an optimiser.
bool isTraining(const Operator &op) {
  return op.type.ends_with("_grad") || op.type.ends_with("_grad_") ||
         (op.input("Grad") && op.input("LearningRate"));
}

/// Checks that the program is for inference.
Result<void> checkInference(const Program &program) {
  constexpr const char *advice =
      "; paddle.static.save_inference_model (fluid.io.save_inference_model) or "
      "paddle.jit.save write a program that infers";
  std::map<std::string, int64_t> training;
  for (const Block &block : program.blocks)
    for (const Operator &op : block.operators)
      if (isTraining(op))
        ++training[op.type];
  if (!training.empty()) {
    return unsupported("a program that trains (" + formats::listOf(training) +
                       ")" + advice);
  }
  if (program.outputs.empty())
    return invalidModel(std::string("no operator 'fetch' says what the program "
                                    "gives") +
                        advice);
  return {};
}

//===----------------------------------------------------------------------===//
// The parameters
//===----------------------------------------------------------------------===//

/// Fails for parameters whose form in a combined file is unknown, so that the
/// next tensor cannot be found.
Result<void> checkKinds(const Program &program) {
  for (const Variable &each : program.blocks.front().variables)
    if (each.isPersistable && (each.kind == VariableKind::TensorArray ||
                               each.kindName == "SELECTED_ROWS"))
      return unsupported("variable '" + each.name +
                         "' persists between runs and is no tensor but "
                         "of kind " +
                         each.kindName);
  return {};
}

Result<std::vector<Result<Tensor>>>
tensorsOf(ParameterBytes file, std::span<const Variable *const> declared) {
  Result<std::vector<Tensor>> tensors = readCombined(std::move(file), declared);
  if (!tensors)
    return tensors.takeError();
  return std::vector<Result<Tensor>>(std::make_move_iterator(tensors->begin()),
                                     std::make_move_iterator(tensors->end()));
}

/// Opens a parameter's file in \p folder.
Result<ParameterBytes> openSeparate(const std::string &folder,
                                    const Variable &parameter) {
  Result<int> descriptor = openBeneath(folder, parameter.name);
  if (!descriptor)
    return descriptor.takeError();
  auto file = MappedFile::fromDescriptor(*descriptor, parameter.name);
  if (!file)
    return file.takeError();
  return ParameterBytes{(*file)->bytes(), *file};
}

} // namespace

/// Finds and opens the parameter files for a State.
class ParameterOpener {
public:
  ParameterOpener(PaddleFile::State &state, const ParameterSource &source)
      : state(state), source(source),
        folder(fs::path(state.name).parent_path().string()) {}

  Result<void> open() {
    if (state.declared.empty())
      return {};
    if (source.randomSeed) {
      state.random.emplace(state.program, *source.randomSeed);
      return {};
    }
    if (!source.path.empty())
      return dynamicGiven();
    const std::vector<std::string> combined = combinedFilesOf(state.name);
    if (combined.size() > 1)
      return inFile(
          withHint(optionText("params") + " FILE says in which",
                   usageError("its parameters may be in '" + combined[0] +
                              "' or '" + combined[1] + "'")),
          state.name);
    if (combined.size() == 1)
      return openCombined((fs::path(folder) / combined.front()).string(),
                          combined.front());
    if (mayBeSeparate(folder))
      return openSeparately(folder);
    state.missing = "its parameters are missing: there is no '" +
                    parametersNameFor(state.name) + "' beside the program; " +
                    optionText("params") + " FILE says where they are, " +
                    optionText("random-parameters") + " draws some";
    if (source.drawsMissing)
      state.random.emplace(state.program, 0);
    return {};
  }

private:
  Result<void> dynamicGiven() {
    std::error_code ignored;
    if (fs::is_directory(source.path, ignored))
      return openSeparately(source.path);
    return openCombined(source.path, "");
  }

  /// \p inFolder is the file's name if it is beside the program.
  Result<void> openCombined(const std::string &path,
                            const std::string &inFolder) {
    if (Result<void> good = checkKinds(state.program); !good)
      return inFile(good.error(), state.name);
    auto file = MappedFile::open(path);
    if (!file)
      return file.takeError();
    auto tensors = tensorsOf({(*file)->bytes(), *file}, state.declared);
    if (!tensors)
      return inFile(invalidModel("not the parameters of '" + state.name +
                                 "': " + tensors.error().message()),
                    path);
    state.tensors = std::move(*tensors);
    if (!inFolder.empty())
      state.dataFiles = {inFolder};
    return {};
  }

  /// Whether some parameter has a file of its own.
  bool mayBeSeparate(const std::string &in) const {
    return std::ranges::any_of(state.declared, [&](const Variable *each) {
      const Result<int> descriptor = openBeneath(in, each->name);
      if (descriptor)
        ::close(*descriptor);
      return bool(descriptor);
    });
  }

  /// A broken file is an error now; a missing one only when its parameter is
  /// requested.
  Result<void> openSeparately(const std::string &in) {
    const bool isOwn = in == folder;
    for (const Variable *each : state.declared) {
      const auto inParameter = [&](const Error &error) {
        return inFile(inside("parameter '" + each->name + "'", error),
                      state.name);
      };
      auto file = openSeparate(in, *each);
      if (!file) {
        state.tensors.push_back(inParameter(file.error()));
        continue;
      }
      Result<Tensor> tensor = readSeparate(std::move(*file), *each);
      if (!tensor)
        return inParameter(tensor.error());
      if (isOwn)
        state.dataFiles.push_back(each->name);
      state.tensors.push_back(std::move(tensor));
    }
    return {};
  }

  PaddleFile::State &state;
  const ParameterSource &source;
  std::string folder;
};

//===----------------------------------------------------------------------===//
// PaddleFile
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<PaddleFile::State>>
PaddleFile::load(std::string name, std::string_view contents) {
  auto state = std::make_shared<State>();
  Result<Program> program = decodeProgram(contents);
  if (!program)
    return inFile(program.error(), name);
  if (Result<void> good = checkInference(*program); !good)
    return inFile(good.error(), name);
  state->name = std::move(name);
  state->program = std::move(*program);
  state->declared = state->program.parameters();
  return state;
}

Result<PaddleFile> PaddleFile::open(const std::string &path,
                                    const ParameterSource &source) {
  if (const std::string what = whatElse(path); !what.empty())
    return inFile(invalidModel("this is no Paddle program but " + what), path);
  Result<std::string> found = findProgram(path);
  if (!found)
    return found.takeError();
  auto file = MappedFile::open(*found);
  if (!file)
    return file.takeError();
  auto state = load(*found, (*file)->text());
  if (!state)
    return state.takeError();
  ParameterOpener opener(**state, source);
  if (Result<void> opened = opener.open(); !opened)
    return opened.takeError();
  if (*found != path)
    (*state)->dataFiles.clear();
  return PaddleFile(std::move(*state));
}

Result<PaddleFile> PaddleFile::fromMemory(std::string program,
                                          std::string parameters,
                                          std::string name) {
  auto state = load(std::move(name), program);
  if (!state)
    return state.takeError();
  if (parameters.empty()) {
    (*state)->missing = "its parameters are missing";
    return PaddleFile(std::move(*state));
  }
  if (Result<void> good = checkKinds((*state)->program); !good)
    return inFile(good.error(), (*state)->name);
  auto kept = std::make_shared<const std::string>(std::move(parameters));
  auto tensors =
      tensorsOf({std::as_bytes(std::span(*kept)), kept}, (*state)->declared);
  if (!tensors)
    return invalidModel((*state)->name +
                        ": not its parameters: " + tensors.error().message());
  (*state)->tensors = std::move(*tensors);
  return PaddleFile(std::move(*state));
}

const Program &PaddleFile::program() const { return state->program; }
const std::string &PaddleFile::name() const { return state->name; }
const std::vector<std::string> &PaddleFile::dataFiles() const {
  return state->dataFiles;
}

const std::string &PaddleFile::missing() const { return state->missing; }

Result<Tensor> PaddleFile::parameter(std::string_view name) const {
  const auto &declared = state->declared;
  const auto found =
      std::ranges::lower_bound(declared, name, {}, [](const Variable *each) {
        return std::string_view(each->name);
      });
  if (found == declared.end() || (*found)->name != name)
    return inFile(
        invalidModel("there is no parameter '" + std::string(name) + "'"),
        state->name);
  if (state->random) {
    Result<Tensor> drawn = state->random->draw(**found);
    return drawn ? drawn : inFile(drawn.error(), state->name);
  }
  if (state->tensors.empty())
    return inFile(invalidModel(state->missing), state->name);
  return state->tensors[found - declared.begin()];
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

bool isPaddlePath(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return !programsIn(path).empty();
  const fs::path name = fs::path(path).filename();
  return fs::is_regular_file(path, ignored) &&
         (name == "__model__" || name.extension() == ".pdmodel" ||
          !whatElse(path).empty());
}

bool isPaddleProgram(std::string_view contents) {
  return beginsProtobufProgram(contents) || beginsPirProgram(contents);
}

} // namespace sinter::paddle
