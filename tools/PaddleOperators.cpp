// paddle-operators: prints docs/paddle-operators.md from the tables that the
// reader works with.

#include "formats/paddle/Operators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace sinter::paddle;

namespace {

struct Family {
  const char *title;
  OperatorReaders (*operators)();
};

/// What is read, in the order of the page.
constexpr Family families[] = {
    {"Activations", activationReaders},
    {"Arithmetic, comparisons, functions", elementwiseReaders},
    {"Matmuls", productReaders},
    {"Convolutions", convolutionReaders},
    {"Deformable convolutions", deformableReaders},
    {"Pools", poolingReaders},
    {"Interpolation", resizeReaders},
    {"Normalisation", normalizationReaders},
    {"Recurrent networks", recurrentReaders},
    {"Reductions, searches, sums along an axis", reductionReaders},
    {"Shapes", shapeReaders},
    {"Movement", movementReaders},
    {"Repeating", repeatingReaders},
    {"Channels and pixels", pixelReaders},
    {"Slices", slicingReaders},
    {"Indices and tables", indexingReaders},
    {"Grids and regions of images", samplingReaders},
    {"Boxes of detectors", detectionReaders},
    {"The best boxes", suppressionReaders},
    {"Regions by level", proposalReaders},
    {"Quantisation", quantizationReaders},
    {"Constants, casts, identities", constantReaders},
    {"Random numbers", randomReaders},
    {"Loops, branches, arrays of tensors", controlFlowReaders},
};

void printNames(llvm::raw_ostream &os, OperatorReaders readers) {
  llvm::interleaveComma(readers, os, [&](const OperatorReader &each) {
    os << '`' << each.name << '`';
  });
}

void printPage(llvm::raw_ostream &os) {
  size_t count = 0;
  for (const Family &family : families)
    count += family.operators().size();
  os << R"(# PaddlePaddle operators

Made by `build/bin/paddle-operators`; a test holds it. Do not edit.

)" << count
     << R"( operators are read, by the names that they have in `__model__` and `.pdmodel`; those of PIR's programs (`.json`) are supported as their counterparts here are.
Names of several generations (`reshape`, `reshape2`) are operators of their own. What in one of them is not supported (a rare attribute, say) is listed,
with all else, when the program is read.

| family | operators |
|---|---|
)";
  for (const Family &family : families) {
    os << "| " << family.title << " | ";
    printNames(os, family.operators());
    os << " |\n";
  }
  os << R"(
Sizes of -1 stay unknown. An operator that needs a size which nothing says waits for it: it runs with the sizes of the inputs that are given, and a file that
keeps unknown sizes keeps it as it was.

Not read, since they work on levels of detail (LoD), sequences of several lengths in one tensor: )";
  printNames(os, levelOfDetailReaders());
  os << ".\n";
}

} // namespace

int main() {
  printPage(llvm::outs());
  llvm::outs().flush();
  return llvm::outs().has_error() ? 1 : 0;
}
