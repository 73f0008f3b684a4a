//===- TreeLayout.h - how a tree ensemble lies in tables ------------------===//
//
// The form in which machines go through trees. A place of the table of nodes
// has one word of 64 bits, or two:
//
//     narrow   threshold (f32)   |  control (32 bits)
//     wide     threshold (f64)   |  control (64 bits), the next word
//
// The control has, from its lowest bit on: whether NaN goes to the first child,
// whether the condition is == instead of <=, the feature (`featureBits`), and
// how many places further on the first child is; the second one is beside it.
// Leaves have no child: distance 0. What is left of their word tells what the
// tree gives: the weight, in place of the threshold, or, with `rows`, the
// number of a row of the table of weights.
//
//     place += distance + (distance != 0 && !(x[feature] <= threshold))
//
// Every other comparison becomes one of these two: the children change places,
// and the threshold becomes the next number below.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_TREELAYOUT_H
#define SINTER_GRAPH_NN_TREELAYOUT_H

#include <cstdint>

namespace sinter::nn {

struct TreeLayout {
  bool isWide = false;
  bool hasRows = false;
  /// Whether any node has the control's first bit, and the second.
  bool knowsNaN = false;
  bool hasEqual = false;
  unsigned featureBits = 1;
  /// The greatest number of nodes from a root to a leaf.
  int64_t depth = 0;

  static constexpr unsigned nanBit = 0, equalBit = 1, featureShift = 2;
  int64_t words() const { return isWide ? 2 : 1; }
  unsigned distanceShift() const { return featureShift + featureBits; }
};

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_TREELAYOUT_H
