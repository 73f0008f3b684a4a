#include "formats/paddle/WritePaddle.h"

#include "formats/import/Unsupported.h"
#include "formats/paddle/Records.h"
#include "formats/paddle/write/ProgramWriter.h"
#include "graph/WeightConstants.h"
#include "graph/storage/Storage.h"

using namespace mlir;

namespace sinter::paddle {

Result<WrittenProgram> toProgram(const Model &model) {
  if (!model.entry())
    return invalidModel(whyNoEntry(model.module()));
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  if (!storage->states().empty())
    return unsupported("Paddle has no form for state '" +
                       storage->states().front().spec.name +
                       "'; freeze makes it a constant");
  Model copy = model.clone();
  listWeights(copy.module(), copy.entry());
  Result<std::optional<Program>> before = keptProgram(copy.module());
  if (!before)
    return before.takeError();
  ProgramWriter writer(copy.module(), std::move(*before).value_or(Program()));
  writer.run();
  if (!writer.unsupportedOps().empty())
    return unsupported("Paddle has no form for: " +
                       formats::listOf(writer.unsupportedOps(), "; "));
  return WrittenProgram{std::move(writer.program()), writer.takeParameters()};
}

void setEra(Program &program, Era era) {
  if (program.era == era)
    return;
  program.era = era;
  program.version = 0;
  program.encoded.clear();
  // Positions in the other file do not apply here.
  for (Block &block : program.blocks)
    for (Variable &variable : block.variables)
      variable.index = -1;
}

} // namespace sinter::paddle
