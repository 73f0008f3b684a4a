//===- WriteArtifacts.cpp - a corpus of portable artifacts ----------------===//
//
// write-artifacts PROGRAMS.mlir FOLDER: writes each program of the text (they
// are separated by lines `// -----`) for some versions of StableHLO, as far as
// they can say it.
//
//===----------------------------------------------------------------------===//

#include "formats/stablehlo/vhlo/ArtifactWriter.h"
#include "graph/Model.h"
#include "mlir/Parser/Parser.h"
#include "runtime/MappedFile.h"

#include <cstdio>

using namespace mlir;
using namespace sinter;

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  Result<std::string> text = readFile(argv[1]);
  if (!text)
    return 5;
  std::shared_ptr<MLIRContext> context = makeContext();
  SmallVector<StringRef> programs;
  StringRef(*text).split(programs, "// -----\n");
  int count = 0;
  for (StringRef program : programs)
    for (vhlo::Version version : {vhlo::Version{0, 9}, vhlo::Version{0, 13},
                                  vhlo::Version{1, 0}, vhlo::currentVersion}) {
      auto module = parseSourceString<ModuleOp>(program.str(), context.get());
      if (!module)
        return 3;
      Result<std::string> artifact = vhlo::writeArtifact(*module, version);
      if (!artifact)
        continue;
      const std::string path =
          std::string(argv[2]) + "/" + std::to_string(count++) + ".stablehlo";
      if (!writeFileAtomically(path, *artifact))
        return 5;
    }
  std::printf("%d artifacts in the corpus\n", count);
  return 0;
}
