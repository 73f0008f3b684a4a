#include "formats/paddle/Records.h"

#include "formats/paddle/file/PirProgram.h"
#include "formats/paddle/file/ProgramDesc.h"
#include "graph/Model.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace sinter::paddle {

std::string toString(Place place) {
  return std::to_string(place.block) + " " + std::to_string(place.op);
}

const Operator *operatorAt(const Program &program, StringRef text) {
  auto [block, op] = text.split(' ');
  Place place;
  if (block.getAsInteger(10, place.block) || op.getAsInteger(10, place.op) ||
      place.block >= program.blocks.size() ||
      place.op >= program.blocks[place.block].operators.size())
    return nullptr;
  return &program.blocks[place.block].operators[place.op];
}

/// A fingerprint of the entry function's arguments, operations and results.
/// Result types follow from the arguments.
static int64_t fingerprintOf(ModuleOp module) {
  auto entry = entryOf(module);
  if (!entry)
    return 0;
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Type type : entry.getArgumentTypes())
    os << type << ';';
  os << formats::fingerprintOf(entry.getBody().front());
  return static_cast<int64_t>(llvm::xxh3_64bits(os.str()));
}

Result<void> keepProgram(ModuleOp module, const Program &program) {
  Result<std::string> text =
      program.era == Era::Pir ? encodePir(program) : encodeProgramDesc(program);
  if (!text)
    return text.takeError();
  Builder builder(module.getContext());
  module->setAttr(programAttribute, builder.getStringAttr(*text));
  module->setAttr(eraAttribute,
                  builder.getI64IntegerAttr(static_cast<int64_t>(program.era)));
  module->setAttr(graphAttribute,
                  builder.getI64IntegerAttr(fingerprintOf(module)));
  return {};
}

Result<std::optional<Program>> keptProgram(ModuleOp module) {
  auto text = keptOfSource<StringAttr>(module, formatName, programAttribute);
  if (!text)
    return std::optional<Program>();
  auto era = keptOfSource<IntegerAttr>(module, formatName, eraAttribute);
  const bool isPir = era && era.getInt() == static_cast<int64_t>(Era::Pir);
  Result<Program> program =
      isPir ? decodePir(text.getValue()) : decodeProgramDesc(text.getValue());
  if (!program)
    return inside("the Paddle program that the model was read from (" +
                      programAttribute.str() + ") is broken",
                  program.takeError());
  return std::optional<Program>(std::move(*program));
}

bool isUntouched(ModuleOp module) {
  auto before = keptOfSource<IntegerAttr>(module, formatName, graphAttribute);
  return before && before.getInt() == fingerprintOf(module);
}

} // namespace sinter::paddle
