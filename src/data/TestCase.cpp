//===- TestCase.cpp - a model with inputs and expected outputs ------------===//

#include "data/TestCase.h"

#include "engine/CompilerLibrary.h"
#include "formats/TestData.h"
#include "runtime/Npy.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace sinter {

namespace fs = std::filesystem;

namespace {

/// The extensions of models; none without the compiler's library, which is
/// reported first.
const std::vector<FormatDescription> &formats() {
  static const std::vector<FormatDescription> all = [] {
    Result<Compiler *> compiler = loadCompiler();
    return compiler ? (*compiler)->formats() : std::vector<FormatDescription>();
  }();
  return all;
}

/// Whether the file may be a list of self-checking programs.
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

/// The path of the model in \p folder, the first that exists; empty if there is
/// none.
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

/// Whether the tensors in folder \p set have names.
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
        !same)
      return inside("output '" + specs[i].name + "'", same.takeError());
  return {};
}

/// The public cases store bfloat16 values as the bits of UINT16: such a tensor
/// gets the type of the model.
void readAsBFloat16(Tensor &tensor, ElementType declared) {
  if (declared == ElementType::BF16 && tensor.type() == ElementType::UI16)
    tensor = Tensor::of<std::byte>(ElementType::BF16, tensor.shape(),
                                   {tensor.data(), tensor.bytes()});
}

/// Whether a program for \p before also runs on \p now.
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

/// One case: a session, reused as long as it fits the next data sets.
class DataCase {
public:
  DataCase(const std::string &folder, const SessionOptions &options)
      : path(modelIn(folder)), options(options) {}

  /// Finds the shapes and types of the data.
  Result<void> open() {
    Result<TestData> opened = TestData::open(path);
    if (!opened)
      return opened.takeError();
    data = std::move(*opened);
    return {};
  }

  /// Runs a model of dynamic dimensions at other sizes than those of the data,
  /// until there are \p wanted; checked sizes are added to \p notes.
  Result<void> runOtherSizes(size_t wanted, const Tolerance &tolerance,
                             std::vector<std::string> &notes) {
    if (!session || options.backend != Backend::Cpu ||
        options.dynamicSizes == DynamicSizes::None || !elements.empty() ||
        seen.size() >= wanted)
      return {};
    const std::vector<ModelInput> &inputs = session->model().inputs;
    const bool isDynamic =
        std::ranges::any_of(inputs, [](const ModelInput &input) {
          return std::ranges::find(input.spec.shape, -1) !=
                 input.spec.shape.end();
        });
    // Inputs that feed shapes fit the data only, and empty tensors cannot be
    // repeated.
    if (!isDynamic ||
        std::ranges::any_of(inputs,
                            [](const ModelInput &input) {
                              return input.feedsShapes || !input.ranked;
                            }) ||
        std::ranges::any_of(
            preparedFor, [](const Tensor &input) { return input.size() == 0; }))
      return {};
    SessionOptions interpreting = options;
    interpreting.backend = Backend::Interpreter;
    auto oracle = Session::open(path, std::move(interpreting));
    if (!oracle)
      return oracle.takeError();
    auto choices = session->sizesToCheck(
        std::vector<std::optional<Tensor>>(inputs.size()));
    if (!choices)
      return choices.takeError();
    const std::vector<Tensor> data = preparedFor;
    for (const SampleSizes &sizes : *choices) {
      if (seen.size() >= wanted || !seen.insert(sizes.shapes).second)
        continue;
      std::vector<Tensor> sized;
      for (size_t i = 0; i < data.size(); ++i)
        sized.push_back(repeatedTo(data[i], sizes.shapes[i]));
      if (Result<void> same = runBoth(**oracle, sized, tolerance); !same) {
        return inside("at " + sizes.text() + ", against the interpreter",
                      same.takeError());
      }
      notes.push_back("checked at " + sizes.text() + ", too");
    }
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
  static Result<std::vector<Tensor>> outputsOf(Session &session,
                                               std::span<const Tensor> inputs) {
    if (Result<void> ready = session.prepare(inputs); !ready)
      return ready.takeError();
    session.executor().resetStates();
    return session.executor().run(inputs);
  }

  /// Sizes that both refuse are not compared.
  Result<void> runBoth(Session &oracle, std::span<const Tensor> inputs,
                       const Tolerance &tolerance) {
    Result<std::vector<Tensor>> expected = outputsOf(oracle, inputs);
    if (!expected && expected.error().kind != ErrorKind::InvalidModel)
      return expected.takeError();
    Result<std::vector<Tensor>> got = outputsOf(*session, inputs);
    if (!got)
      return expected || got.error().kind != ErrorKind::InvalidModel
                 ? Result<void>(got.takeError())
                 : Result<void>();
    if (!expected)
      return Error{ErrorKind::WrongResult, "it computes what is refused: " +
                                               expected.error().message()};
    // Kernels accumulate in another order than the definitions.
    const Tolerance both{std::max(tolerance.relative, 1e-3),
                         std::max(tolerance.absolute, 1e-7),
                         std::max(tolerance.ofRange, 1e-4)};
    return compareAll(session->executor().outputs(), *got, *expected, both);
  }

  Result<TestTensors> namedInputs(const std::string &set) const {
    Result<std::vector<Tensor>> tensors =
        readNamed(set, "input", session->model().inputNames());
    if (!tensors)
      return tensors.takeError();
    return TestTensors{std::move(*tensors), {}};
  }
  Result<TestTensors> namedOutputs(const std::string &set) const {
    Result<std::vector<Tensor>> tensors =
        readNamed(set, "output", session->model().outputNames());
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
  /// unless the present one fits.
  Result<void> prepare(TestTensors &inputs) {
    if (!session || inputs.elements != elements)
      if (Result<void> opened = openSession(inputs.elements); !opened)
        return opened;
    const auto &declared = session->model().inputs;
    for (size_t i = 0; i < std::min(inputs.tensors.size(), declared.size());
         ++i)
      readAsBFloat16(inputs.tensors[i], declared[i].spec.type);
    std::vector<Shape> shapes;
    for (const Tensor &input : inputs.tensors)
      shapes.push_back(input.shape());
    seen.insert(std::move(shapes));
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
  /// The shapes of inputs of earlier runs.
  std::set<std::vector<Shape>> seen;
};

Result<void> runDataCase(const std::string &folder,
                         const SessionOptions &options,
                         const Tolerance &tolerance, size_t sizes,
                         std::vector<std::string> &notes) {
  DataCase testCase(folder, options);
  if (Result<void> open = testCase.open(); !open)
    return open;
  for (const std::string &set : dataSetsIn(folder))
    if (Result<void> passed = testCase.run(set, tolerance); !passed)
      return passed;
  return testCase.runOtherSizes(sizes, tolerance, notes);
}

/// A file of self-checking programs.
Result<void> runPrograms(const std::string &path, size_t first,
                         const SessionOptions &options, TestObserver &observer,
                         std::function<void(const std::string &)> print) {
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  TestRequest request;
  request.interpret = options.backend == Backend::Interpreter;
  request.passes = options.passes;
  static_cast<CodeOptions &>(request) = options;
  request.threads = options.threads;
  request.print = std::move(print);
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
                          const Tolerance &tolerance, size_t sizes,
                          TestObserver &observer,
                          std::function<void(const std::string &)> print) {
  if (mayCheckItself(path))
    return runPrograms(path, first, options, observer, std::move(print));
  if (first > 0 || !observer.begin(""))
    return {};
  TestOutcome outcome;
  SessionOptions noting = options;
  noting.note = [&](const std::string &note) {
    outcome.notes.push_back(note);
    if (options.note)
      options.note(note);
  };
  if (Result<void> done =
          runDataCase(path, noting, tolerance, sizes, outcome.notes);
      !done) {
    outcome.status = TestOutcome::Status::Failed;
    outcome.reason = done.error().message();
  }
  observer.end(outcome);
  return {};
}

} // namespace sinter
