//===- TestCase.cpp - a model with inputs and what it should give ---------===//

#include "driver/TestCase.h"

#include "engine/CompilerLibrary.h"
#include "formats/TestData.h"
#include "runtime/Npy.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace sinter::driver {

namespace fs = std::filesystem;

namespace {

/// How names of models end; none where there is no compiler, which is reported
/// before they are asked for.
const std::vector<FormatDescription> &formats() {
  static const std::vector<FormatDescription> all = [] {
    Result<Compiler *> compiler = loadCompiler();
    return compiler ? (*compiler)->formats() : std::vector<FormatDescription>();
  }();
  return all;
}

/// Whether the file may be a list of programs that check themselves.
bool mayCheckItself(const std::string &path) {
  return std::ranges::any_of(formats(), [&](const FormatDescription &each) {
    return each.holdsTests && path.ends_with(each.suffix);
  });
}

/// The folders `test_data_set_N` in \p folder, in the order of their numbers.
std::vector<std::string> dataSetsIn(const fs::path &folder) {
  std::vector<std::string> sets;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end;
       !failed && entry != end; entry.increment(failed))
    if (entry->path().filename().string().starts_with("test_data_set_"))
      sets.push_back(entry->path().string());
  std::ranges::sort(sets, [](const std::string &a, const std::string &b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  return sets;
}

/// The path of the model in \p folder, the first that there is; empty if there
/// is none.
std::string modelIn(const fs::path &folder) {
  std::error_code ignored;
  for (const FormatDescription &each : formats()) {
    const fs::path path = folder / ("model" + each.suffix);
    if (each.isListed && fs::exists(path, ignored))
      return path.string();
  }
  Result<Compiler *> compiler = loadCompiler();
  return compiler && (*compiler)->isModelFolder(folder.string())
             ? folder.string()
             : "";
}

bool isDataCase(const fs::path &folder) {
  return !modelIn(folder).empty() && !dataSetsIn(folder).empty();
}

/// Whether the tensors in folder \p set go by names.
bool goesByNames(const std::string &set) {
  std::error_code failed;
  for (fs::directory_iterator entry(set, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (entry->path().extension() == ".npy")
      return true;
  return false;
}

/// The tensors in KIND_NAME.npy for each of \p names.
Result<std::vector<Tensor>> readNamed(const std::string &set,
                                      const std::string &kind,
                                      std::vector<std::string> names) {
  std::vector<Tensor> tensors;
  for (std::string &name : names) {
    std::ranges::replace(name, '/', '_');
    Result<Tensor> tensor = readNpy(set + "/" + kind + "_" + name + ".npy");
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Result<void> compareAll(std::span<const TensorSpec> specs,
                        const std::vector<Tensor> &got,
                        const std::vector<Tensor> &expected,
                        const Tolerance &tolerance) {
  if (expected.size() > got.size())
    return Error{ErrorKind::WrongResult, "the model gives " +
                                             std::to_string(got.size()) +
                                             " outputs, expected are " +
                                             std::to_string(expected.size())};
  for (size_t i = 0; i < expected.size(); ++i)
    if (Result<void> same =
            expect(got[i], expected[i], Expectation::within(tolerance));
        !same) {
      Error error = same.takeError();
      error.message = "output '" + specs[i].name + "': " + error.message;
      return error;
    }
  return {};
}

/// The public cases keep bfloat16 values as the bits of UINT16 numbers: such a
/// tensor is taken for what the model says it is.
void readAsBFloat16(Tensor &tensor, ElementType declared) {
  if (declared == ElementType::BF16 && tensor.type() == ElementType::UI16)
    tensor = Tensor::of<std::byte>(ElementType::BF16, tensor.shape(),
                                   {tensor.data(), tensor.bytes()});
}

/// Whether a program for \p before runs on \p now, too.
bool servesBoth(const ModelDescription &model,
                const std::vector<Tensor> &before,
                const std::vector<Tensor> &now) {
  if (before.size() != now.size())
    return false;
  for (size_t i = 0; i < now.size(); ++i)
    if (model.inputs[i].feedsShapes || before[i].shape() != now[i].shape())
      return false;
  return true;
}

/// One case: a session, as long as it serves the data sets that follow.
class DataCase {
public:
  DataCase(const std::string &folder, const SessionOptions &options)
      : path(modelIn(folder)), options(options) {}

  /// Finds out what the data are of.
  Result<void> open() {
    Result<TestData> opened = TestData::open(path);
    if (!opened)
      return opened.takeError();
    data = std::move(*opened);
    return {};
  }

  Result<void> run(const std::string &set, const Tolerance &tolerance) {
    const bool isNamed = goesByNames(set);
    if (isNamed && !session)
      if (Result<void> opened = openSession({}); !opened)
        return opened;
    Result<TestTensors> inputs = isNamed ? namedInputs(set) : data->inputs(set);
    if (!inputs)
      return inputs.takeError();
    Result<TestTensors> expected =
        isNamed ? namedOutputs(set) : data->outputs(set);
    if (!expected)
      return expected.takeError();
    if (Result<void> ready = prepare(*inputs); !ready)
      return ready;
    Executor &executor = session->executor();
    Result<std::vector<Tensor>> results = executor.run(inputs->tensors);
    if (!results)
      return results.takeError();
    for (size_t i = 0; i < std::min(expected->tensors.size(), results->size());
         ++i)
      readAsBFloat16(expected->tensors[i], (*results)[i].type());
    return compareAll(executor.outputs(), *results, expected->tensors,
                      tolerance);
  }

private:
  Result<TestTensors> namedInputs(const std::string &set) const {
    Result<std::vector<Tensor>> tensors =
        readNamed(set, "input", session->model().inputNames());
    if (!tensors)
      return tensors.takeError();
    return TestTensors{std::move(*tensors), {}};
  }
  Result<TestTensors> namedOutputs(const std::string &set) const {
    std::vector<std::string> names;
    for (const TensorSpec &output : session->model().outputs)
      names.push_back(output.name);
    Result<std::vector<Tensor>> tensors = readNamed(set, "output", names);
    if (!tensors)
      return tensors.takeError();
    return TestTensors{std::move(*tensors), {}};
  }

  /// Opens a session for sequences and optionals of \p shapes.
  Result<void> openSession(const std::map<std::string, Shape> &shapes) {
    SessionOptions forThese = options;
    forThese.shapes.insert(shapes.begin(), shapes.end());
    auto opened = Session::open(path, std::move(forThese));
    if (!opened)
      return opened.takeError();
    session = std::move(*opened);
    elements = shapes;
    isPrepared = false;
    return {};
  }

  /// Opens a session for the structure of \p inputs and compiles for them,
  /// unless what is there serves them.
  Result<void> prepare(TestTensors &inputs) {
    if (!session || inputs.elements != elements)
      if (Result<void> opened = openSession(inputs.elements); !opened)
        return opened;
    const auto &declared = session->model().inputs;
    for (size_t i = 0; i < std::min(inputs.tensors.size(), declared.size());
         ++i)
      readAsBFloat16(inputs.tensors[i], declared[i].spec.type);
    if (isPrepared && servesBoth(session->model(), preparedFor, inputs.tensors))
      return {};
    if (Result<void> ready = session->prepare(inputs.tensors); !ready)
      return ready;
    preparedFor = inputs.tensors;
    isPrepared = true;
    return {};
  }

  std::string path;
  SessionOptions options;
  std::optional<TestData> data;
  std::unique_ptr<Session> session;
  std::map<std::string, Shape> elements;
  std::vector<Tensor> preparedFor;
  bool isPrepared = false;
};

Result<void> runDataCase(const std::string &folder,
                         const SessionOptions &options,
                         const Tolerance &tolerance) {
  DataCase testCase(folder, options);
  if (Result<void> open = testCase.open(); !open)
    return open;
  for (const std::string &set : dataSetsIn(folder))
    if (Result<void> passed = testCase.run(set, tolerance); !passed)
      return passed;
  return {};
}

/// A file of programs that check themselves.
Result<void> runPrograms(const std::string &path, size_t first,
                         const SessionOptions &options,
                         TestObserver &observer) {
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  TestRequest request;
  request.interpret = options.backend == Backend::Interpreter;
  request.passes = options.passes;
  static_cast<CodeOptions &>(request) = options;
  request.threads = options.threads;
  request.print = [](const std::string &text) {
    std::fputs(text.c_str(), stderr);
  };
  return (*compiler)->test(path, first, request, observer);
}

} // namespace

Result<std::vector<std::string>> findTestCases(const std::string &path) {
  if (Result<Compiler *> compiler = loadCompiler(); !compiler)
    return compiler.takeError();
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status))
    return systemError("cannot open '" + path + "': no such file or directory");
  if (!fs::is_directory(status)) {
    const fs::path folder = fs::path(path).parent_path();
    if (isDataCase(folder) && fs::equivalent(modelIn(folder), path, failed))
      return std::vector<std::string>{folder.string()};
    if (mayCheckItself(path))
      return std::vector<std::string>{path};
    return usageError("'" + path +
                      "' is no test: expected a folder with model.onnx (or "
                      "model.mlir) and test_data_set_0, or an .mlir file");
  }
  if (isDataCase(path))
    return std::vector<std::string>{fs::path(path).string()};
  std::vector<std::string> cases;
  for (fs::recursive_directory_iterator
           entry(path, fs::directory_options::skip_permission_denied, failed),
       end;
       !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && isDataCase(entry->path())) {
      cases.push_back(entry->path().string());
      entry.disable_recursion_pending();
    } else if (mayCheckItself(entry->path().filename().string())) {
      cases.push_back(entry->path().string());
    }
  }
  if (failed)
    return systemError("cannot read '" + path + "': " + failed.message());
  std::ranges::sort(cases);
  return cases;
}

Result<void> runTestCases(const std::string &path, size_t first,
                          const SessionOptions &options,
                          const Tolerance &tolerance, TestObserver &observer) {
  if (mayCheckItself(path))
    return runPrograms(path, first, options, observer);
  if (first > 0 || !observer.begin(""))
    return {};
  TestOutcome outcome;
  SessionOptions noting = options;
  noting.note = [&](const std::string &note) {
    outcome.notes.push_back(note);
    if (options.note)
      options.note(note);
  };
  if (Result<void> done = runDataCase(path, noting, tolerance); !done) {
    outcome.status = TestOutcome::Status::Failed;
    outcome.reason = done.error().message;
  }
  observer.end(outcome);
  return {};
}

} // namespace sinter::driver
