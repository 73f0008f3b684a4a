//===- Specialize.h - dynamic dimensions become static --------------------===//
//
//   main(x : ?x3, N = 8)                       main(x : 8x3)
//     s = shape(x)                               y = reshape(x) : 24
//     y = dynamic_reshape(x, product(s))   ->
//
// Argument types are set, every type that follows from them is inferred again,
// and shape computations that became constant are folded and resolved,
// alternately until nothing changes. This includes regions and called
// functions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_SPECIALIZE_H
#define SINTER_PASSES_SPECIALIZE_H

#include "graph/Model.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include <map>
#include <string>

namespace sinter {

struct SpecializeOptions {
  /// A whole shape for an input, by its name. A size of -1 leaves that
  /// dimension to its symbolic dimension.
  std::map<std::string, Shape> shapes;
  /// A size for a symbolic dimension ("N").
  std::map<std::string, int64_t> symbols;
  /// Values of inputs that only feed shapes, by name: they become constants,
  /// though they stay arguments.
  std::map<std::string, Tensor> values;
  /// Whether dimensions without a given size stay dynamic.
  bool leavesDynamic = false;
};

/// On success every type of \p model is static, or its dynamic dimensions
/// follow from arguments that are dynamic. On failure \p model stays as it was.
/// Errors: Usage for an input that does not exist, a shape that does not fit
/// its type, or sizes of one symbolic dimension that differ; Unsupported, with
/// the operation and the dimension, where one stays dynamic; InvalidModel where
/// the sizes are invalid for an operation.
Result<void> specialize(Model &model, const SpecializeOptions &options);

/// With a shape for each input by name.
inline Result<void> specialize(Model &model,
                               const std::map<std::string, Shape> &shapes) {
  SpecializeOptions options;
  options.shapes = shapes;
  return specialize(model, options);
}

} // namespace sinter

#endif // SINTER_PASSES_SPECIALIZE_H
