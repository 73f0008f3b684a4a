#include "formats/paddle/WritePaddle.h"

#include "formats/paddle/Records.h"
#include "formats/paddle/write/ProgramWriter.h"
#include "graph/storage/Storage.h"

using namespace mlir;

namespace sinter::paddle {

static Error listUnsupported(const std::map<std::string, int64_t> &ops) {
  std::string text = "Paddle has no form for: ";
  bool first = true;
  for (const auto &[what, count] : ops) {
    text += (first ? "" : "; ") + std::to_string(count) + " x " + what;
    first = false;
  }
  return unsupported(text);
}

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
  Result<std::optional<Program>> before = keptProgram(copy.module());
  if (!before)
    return before.takeError();
  ProgramWriter writer(copy.module(), std::move(*before).value_or(Program()));
  writer.run();
  if (!writer.unsupportedOps().empty())
    return listUnsupported(writer.unsupportedOps());
  return WrittenProgram{std::move(writer.program()), writer.takeParameters()};
}

void setEra(Program &program, Era era) {
  if (program.era == era)
    return;
  program.era = era;
  program.version = 0;
  program.encoded.clear();
  // Places in the other file mean nothing here.
  for (Block &block : program.blocks)
    for (Variable &variable : block.variables)
      variable.index = -1;
}

} // namespace sinter::paddle
