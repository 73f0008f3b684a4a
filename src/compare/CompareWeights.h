//===- CompareWeights.h - which weights of two models differ --------------===//
//
// Weights of the same name are compared as the files have them. Where one file
// has weights that the other has not (norms were folded into matmuls and
// convolutions, or weights became integers), those of each matmul and
// convolution are compared in both simplified graphs, in which everything is
// folded that can be.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_COMPARE_COMPAREWEIGHTS_H
#define SINTER_COMPARE_COMPAREWEIGHTS_H

#include "compare/CompareReport.h"
#include "engine/Compiler.h"

#include <vector>

namespace sinter {

/// Whether each stored weight of one model has one of its name in the other.
bool haveSameWeights(const ModelWeights &first, const ModelWeights &second);

/// The least SQNR, in dB, of a weight of a quantised model: that of 4 bits.
inline constexpr double quantizedWeightDecibels = 10;

struct WeightDifferences {
  /// In the order of the first model.
  std::vector<ComparedWeight> weights;
  /// Layers of a quantised model with other scales of channels, as equalisation
  /// leaves them.
  std::vector<std::string> scaledLayers;
};

/// The weights that differ. Weights of one name are the same if their bits are;
/// folded ones if they are within the rounding of folding; kernels of a float
/// model and a quantised one from an SQNR of `quantizedWeightDecibels`, with
/// any scales of their channels.
WeightDifferences differingWeights(const ModelWeights &first,
                                   const ModelWeights &second);

} // namespace sinter

#endif // SINTER_COMPARE_COMPAREWEIGHTS_H
