//===- ImportCases.cpp - which models can be read -------------------------===//
//
// import-cases [--print] [--run] PATH...: reads every model.onnx below each
// path (or the file itself) and counts why the others could not be read.
// --print writes the graphs; --run also interprets them on test_data_set_0 and
// compares. --list writes a line a model instead, tab-separated: the path, the
// exit code that a command would have, the message. --to-write reads as for a
// file that is written again.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/TensorFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "graph/Source.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include <cmath>
#include <filesystem>
#include <iostream>
#include <regex>
#include <set>

namespace fs = std::filesystem;

static std::set<std::string> modelsBelow(const fs::path &path) {
  std::set<std::string> models;
  if (fs::is_regular_file(path))
    return {path.string()};
  for (const auto &entry : fs::recursive_directory_iterator(path))
    if (entry.path().filename() == "model.onnx")
      models.insert(entry.path().string());
  return models;
}

/// What is left of a message without the names of the file and the node.
static std::string reasonOf(const std::string &message,
                            const std::string &path) {
  std::string reason = message;
  if (reason.starts_with(path))
    reason = reason.substr(path.size());
  return std::regex_replace(reason, std::regex("node '[^']*' "), "node ");
}

static std::vector<sinter::Tensor> tensorsOf(const fs::path &folder,
                                             const std::string &what) {
  std::vector<sinter::Tensor> tensors;
  for (int i = 0;; ++i) {
    fs::path path = folder / (what + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(path))
      return tensors;
    auto tensor = sinter::onnx::readTensorFile(path.string());
    if (!tensor)
      return tensors;
    tensors.push_back(*tensor);
  }
}

/// Reads with the values of small integer inputs where it takes them.
static sinter::Result<sinter::Model>
readWith(const std::string &path, const std::vector<sinter::Tensor> &inputs) {
  auto model = sinter::readOnnx(path);
  if (model || model.error().kind != sinter::ErrorKind::Unsupported)
    return model;
  auto file = sinter::onnx::OnnxFile::open(path);
  sinter::ReadOptions options;
  size_t i = 0;
  for (const auto &input : file->model().graph().input()) {
    bool constant = std::any_of(
        file->model().graph().initializer().begin(),
        file->model().graph().initializer().end(),
        [&](const auto &tensor) { return tensor.name() == input.name(); });
    if (constant || i >= inputs.size())
      continue;
    const sinter::Tensor &tensor = inputs[i++];
    options.shapes[input.name()] = tensor.shape();
    if (tensor.size() <= 64)
      options.values[input.name()] = tensor;
  }
  auto again = sinter::readOnnx(path, options);
  return again;
}

/// What is wrong with the interpreter's results; empty if nothing is.
static std::string compare(const sinter::Model &model,
                           const std::vector<sinter::Tensor> &inputs,
                           const std::vector<sinter::Tensor> &expected) {
  auto results = sinter::interpret(model.entry(), inputs);
  if (!results)
    return "interpreter: " + results.error().message();
  for (size_t i = 0; i < expected.size() && i < results->size(); ++i) {
    const sinter::Tensor &got = (*results)[i], &want = expected[i];
    if (got.type() != want.type())
      return "another element type";
    if (got.shape() != want.shape())
      return "another shape";
    double largest = 0;
    for (int64_t k = 0; k < got.size(); ++k)
      if (std::isfinite(want.toDouble(k)))
        largest = std::max(largest, std::abs(want.toDouble(k)));
    for (int64_t k = 0; k < got.size(); ++k) {
      double x = got.toDouble(k), y = want.toDouble(k);
      bool same = x == y || (std::isnan(x) && std::isnan(y)) ||
                  std::abs(x - y) <= 1e-7 + 1e-3 * std::abs(y) + 1e-4 * largest;
      if (!same)
        return "another value";
    }
  }
  return "";
}

/// What a command would say of a model that it is to read.
static void list(const std::string &path, const sinter::ReadOptions &options) {
  auto model = sinter::readOnnx(path, options);
  int code = model ? 0 : static_cast<int>(model.error().kind);
  std::string message = model ? "" : model.error().message();
  if (model && mlir::failed(mlir::verify(model->module())))
    code = -1, message = "the graph is not valid";
  std::cout << path << '\t' << code << '\t' << message << std::endl;
}

int main(int argc, char **argv) {
  bool print = false, run = false, lists = false;
  sinter::ReadOptions options;
  int read = 0;
  std::map<std::string, std::vector<std::string>> failures;
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == std::string("--print")) {
      print = true;
      continue;
    }
    if (argv[i] == std::string("--run")) {
      run = true;
      continue;
    }
    if (argv[i] == std::string("--list")) {
      lists = true;
      continue;
    }
    if (argv[i] == std::string("--to-write")) {
      options.keepsNodes = options.keepsUnknown = true;
      continue;
    }
    for (const std::string &path : modelsBelow(argv[i])) {
      if (lists) {
        list(path, options);
        continue;
      }
      fs::path data = fs::path(path).parent_path() / "test_data_set_0";
      auto inputs = tensorsOf(data, "input");
      auto model = run ? readWith(path, inputs) : sinter::readOnnx(path);
      if (!model) {
        failures[reasonOf(model.error().message(), path)].push_back(path);
        continue;
      }
      if (failed(mlir::verify(model->module())))
        failures["the graph is not valid"].push_back(path);
      else if (std::string wrong =
                   run ? compare(*model, inputs, tensorsOf(data, "output"))
                       : "";
               !wrong.empty())
        failures[wrong].push_back(path);
      else
        ++read;
      if (print) {
        model->module()->removeAttr(sinter::sourceRecordsAttribute);
        model->module()->print(llvm::outs(), mlir::OpPrintingFlags()
                                                 .elideLargeElementsAttrs(16)
                                                 .elideLargeResourceString(4));
      }
    }
  }
  if (lists)
    return 0;
  int failed = 0;
  std::vector<std::pair<size_t, std::string>> histogram;
  for (const auto &[reason, paths] : failures) {
    std::string where;
    for (size_t i = 0; i < paths.size() && i < 60; ++i)
      where += " " + fs::path(paths[i]).parent_path().filename().string();
    histogram.emplace_back(paths.size(), reason + "  [" + where + "]");
    failed += paths.size();
  }
  std::sort(histogram.rbegin(), histogram.rend());
  for (const auto &[count, reason] : histogram)
    std::cout << count << " " << reason << "\n";
  std::cout << read << " read, " << failed << " failed\n";
  return failed != 0;
}
