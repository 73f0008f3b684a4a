#include "formats/paddle/PaddleReader.h"

#include "formats/paddle/Importer.h"
#include "formats/paddle/Operators.h"
#include "llvm/ADT/STLExtras.h"

namespace sinter {

Result<Model> readPaddle(const paddle::PaddleFile &file,
                         const ReadOptions &options) {
  paddle::Importer importer(file, options, makeContext());
  return importer.run();
}

bool hasUnknownOperators(const paddle::PaddleFile &file) {
  return llvm::any_of(file.program().blocks, [](const paddle::Block &block) {
    return llvm::any_of(block.operators, [](const paddle::Operator &op) {
      return !paddle::findOperator(op.type);
    });
  });
}

} // namespace sinter
