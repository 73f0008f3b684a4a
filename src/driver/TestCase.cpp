//===- TestCase.cpp - a model with inputs and what it should give ---------===//

#include "driver/TestCase.h"

#include "engine/CompilerLibrary.h"
#include "formats/onnx/file/TensorFile.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace sinter::driver {

namespace fs = std::filesystem;

namespace {

constexpr const char *modelFile = "model.onnx";

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

bool isOnnxCase(const fs::path &folder) {
  std::error_code ignored;
  return fs::exists(folder / modelFile, ignored) && !dataSetsIn(folder).empty();
}

/// The tensors <kind>_0.pb, <kind>_1.pb, ... in \p folder.
Result<std::vector<Tensor>> readTensors(const std::string &folder,
                                        const std::string &kind) {
  std::vector<Tensor> tensors;
  while (true) {
    const std::string path =
        folder + "/" + kind + "_" + std::to_string(tensors.size()) + ".pb";
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      return tensors;
    Result<Tensor> tensor = onnx::readTensorFile(path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
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
    if (Result<void> same = compare(got[i], expected[i], tolerance); !same) {
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

Result<void> runOnnxCase(const std::string &folder,
                         const SessionOptions &options,
                         const Tolerance &tolerance) {
  auto opened = Session::open(folder + "/" + modelFile, options);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  std::vector<Tensor> preparedFor;
  bool prepared = false;
  for (const std::string &set : dataSetsIn(folder)) {
    Result<std::vector<Tensor>> inputs = readTensors(set, "input");
    if (!inputs)
      return inputs.takeError();
    Result<std::vector<Tensor>> expected = readTensors(set, "output");
    if (!expected)
      return expected.takeError();
    const auto &declared = session.model().inputs;
    for (size_t i = 0; i < std::min(inputs->size(), declared.size()); ++i)
      readAsBFloat16((*inputs)[i], declared[i].spec.type);
    if (!prepared || !servesBoth(session.model(), preparedFor, *inputs)) {
      if (Result<void> ready = session.prepare(*inputs); !ready)
        return ready;
      preparedFor = *inputs;
      prepared = true;
    }
    Result<std::vector<Tensor>> results = session.executor().run(*inputs);
    if (!results)
      return results.takeError();
    for (size_t i = 0; i < std::min(expected->size(), results->size()); ++i)
      readAsBFloat16((*expected)[i], (*results)[i].type());
    if (Result<void> same = compareAll(session.executor().outputs(), *results,
                                       *expected, tolerance);
        !same)
      return same;
  }
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
  request.fastConvolution = options.fastConvolution;
  request.threads = options.threads;
  request.print = [](const std::string &text) {
    std::fputs(text.c_str(), stderr);
  };
  return (*compiler)->test(path, first, request, observer);
}

} // namespace

Result<std::vector<std::string>> findTestCases(const std::string &path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status))
    return systemError("cannot open '" + path + "': no such file or directory");
  if (!fs::is_directory(status)) {
    if (path.ends_with(".mlir"))
      return std::vector<std::string>{path};
    const fs::path folder = fs::path(path).parent_path();
    if (fs::path(path).filename() == modelFile && isOnnxCase(folder))
      return std::vector<std::string>{folder.string()};
    return usageError("'" + path +
                      "' is no test: expected a folder with model.onnx and "
                      "test_data_set_0, or an .mlir file");
  }
  if (isOnnxCase(path))
    return std::vector<std::string>{fs::path(path).string()};
  std::vector<std::string> cases;
  for (fs::recursive_directory_iterator
           entry(path, fs::directory_options::skip_permission_denied, failed),
       end;
       !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && isOnnxCase(entry->path())) {
      cases.push_back(entry->path().string());
      entry.disable_recursion_pending();
    } else if (entry->path().extension() == ".mlir") {
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
  if (path.ends_with(".mlir"))
    return runPrograms(path, first, options, observer);
  if (first > 0 || !observer.begin(""))
    return {};
  TestOutcome outcome;
  if (Result<void> done = runOnnxCase(path, options, tolerance); !done)
    outcome = {TestOutcome::Status::Failed, done.error().message};
  observer.end(outcome);
  return {};
}

} // namespace sinter::driver
