//===- ExportCases.cpp - which models can be written ----------------------===//
//
// export-cases [--generic] [--simplify] FOLDER PATH...: reads every model.onnx
// below each path (or the .onnx or .mlir file itself) and writes it to FOLDER,
// as its path with `_` for `/`. --generic forgets the nodes that it was read
// from, so that everything is written by the rules; --simplify simplifies it
// first. Prints the written files and why others could not be written.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/WriteOnnx.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipelines.h"
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

namespace fs = std::filesystem;
using namespace sinter;

static std::set<std::string> modelsBelow(const fs::path &path) {
  std::set<std::string> models;
  if (fs::is_regular_file(path))
    return {path.string()};
  for (const auto &entry : fs::recursive_directory_iterator(path))
    if (entry.path().filename() == "model.onnx")
      models.insert(entry.path().string());
  return models;
}

static Result<Model> readModel(const std::string &path) {
  if (!path.ends_with(".mlir"))
    return readOnnx(path);
  auto context = makeContext();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, context.get());
  if (!module)
    return invalidModel(path + ": is not MLIR");
  return Model(context, std::move(module));
}

int main(int argc, char **argv) {
  bool generic = false, simplified = false;
  int first = 1;
  for (; first < argc && std::string(argv[first]).starts_with("--"); ++first) {
    generic |= argv[first] == std::string("--generic");
    simplified |= argv[first] == std::string("--simplify");
  }
  if (argc < first + 2) {
    std::cerr
        << "usage: export-cases [--generic] [--simplify] FOLDER PATH...\n";
    return 2;
  }
  fs::create_directories(argv[first]);
  int64_t read = 0, written = 0, unread = 0;
  for (int i = first + 1; i < argc; ++i)
    for (const std::string &path : modelsBelow(argv[i])) {
      Result<Model> model = readModel(path);
      if (!model) {
        ++unread;
        continue;
      }
      ++read;
      if (generic)
        model->module()->removeAttr(sourceRecordsAttribute);
      std::string name = path;
      std::replace(name.begin(), name.end(), '/', '_');
      std::string target = std::string(argv[first]) + "/" + name;
      if (!target.ends_with(".onnx"))
        target += ".onnx";
      Result<void> done;
      if (simplified)
        if (auto report = simplify(*model); !report)
          done = report.takeError();
      if (done)
        done = writeOnnx(*model, target);
      if (done)
        std::cout << target << "\t" << path << "\n";
      else
        std::cout << "not written: " << path << ": " << done.error().message()
                  << "\n";
      written += bool(done);
    }
  std::cout << unread << " not read, " << read << " read, " << written
            << " written\n";
  return written != read;
}
