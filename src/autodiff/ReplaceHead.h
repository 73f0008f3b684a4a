//===- ReplaceHead.h - gives a model another number of classes ------------===//
//
//   y = softmax(x w + b), w : [512, 1000], b : [1000]      ->
//   y = softmax(x w' + b'), w' : [512, 5], b' : [5]
//
// The dimension of classes is followed from the output up to the matmuls and
// convolutions that yield it, through whatever keeps it (element-wise
// operations, softmax, pools, reshapes of other dimensions). What has that
// dimension gets the new size. Weights among it keep their names, and begin
// with what Reinitialize.h gives them.
//
// Restrictions: the size is known; each weight of classes is a floating-point
// constant that nothing else uses; the scores feed no other layer, and no
// operation with a constant of its own for each class is between.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_REPLACEHEAD_H
#define SINTER_AUTODIFF_REPLACEHEAD_H

#include "autodiff/Options.h"
#include "graph/Model.h"
#include "graph/WeightConstants.h"
#include "runtime/Tensor.h"

#include <string>
#include <vector>

namespace sinter::autodiff {

/// What changed.
struct ReplacedHead {
  int64_t before = 0;
  /// The nodes that yield the scores.
  std::vector<std::string> layers;
  struct Change {
    std::string name;
    Shape before, after;
  };
  std::vector<Change> weights;

  /// "the last layer '/fc/Gemm' gets 5 classes in place of 1000: fc.weight
  /// [1000, 512] -> [5, 512]".
  std::string text(int64_t classes) const;
};

/// Changes the head of \p model. Unsupported where it has none that can be
/// changed; the model is then not to be used.
Result<ReplacedHead> replaceHead(Model &model, const HeadChange &change,
                                 UnnamedConstants unnamed);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_REPLACEHEAD_H
