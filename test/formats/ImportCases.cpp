//===- ImportCases.cpp - which models can be read -------------------------===//
//
// import-cases [--print] PATH...: reads every model.onnx below each path (or
// the file itself) and counts why the others could not be read. --print writes
// the graphs.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/OnnxReader.h"
#include "mlir/IR/Verifier.h"
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

int main(int argc, char **argv) {
  bool print = false;
  int read = 0;
  std::map<std::string, std::vector<std::string>> failures;
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == std::string("--print")) {
      print = true;
      continue;
    }
    for (const std::string &path : modelsBelow(argv[i])) {
      auto model = sinter::readOnnx(path);
      if (!model) {
        failures[reasonOf(model.error().message, path)].push_back(path);
        continue;
      }
      if (failed(mlir::verify(model->module())))
        failures["the graph is not valid"].push_back(path);
      else
        ++read;
      if (print) {
        model->module()->removeAttr("onnx.nodes");
        model->module()->print(llvm::outs(), mlir::OpPrintingFlags()
                                                 .elideLargeElementsAttrs(16)
                                                 .elideLargeResourceString(4));
      }
    }
  }
  int failed = 0;
  std::vector<std::pair<size_t, std::string>> histogram;
  for (const auto &[reason, paths] : failures) {
    histogram.emplace_back(paths.size(), reason + "  [" + paths[0] + "]");
    failed += paths.size();
  }
  std::sort(histogram.rbegin(), histogram.rend());
  for (const auto &[count, reason] : histogram)
    std::cout << count << " " << reason << "\n";
  std::cout << read << " read, " << failed << " failed\n";
  return failed != 0;
}
