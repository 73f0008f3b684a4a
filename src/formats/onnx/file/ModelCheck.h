//===- ModelCheck.h - structural checks of a model ------------------------===//
//
// Checked before import: names are defined once and before they are used,
// nothing depends on itself, nesting is bounded. The importer checks operators
// and attributes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_MODELCHECK_H
#define SINTER_FORMATS_ONNX_FILE_MODELCHECK_H

#include "runtime/Result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::onnx {

class ModelProto;
class NodeProto;

/// Maximum nesting depth of graphs in attributes of nodes.
inline constexpr int maxGraphNesting = 60;
/// Maximum call depth of local functions.
inline constexpr int maxFunctionNesting = 256;
/// Maximum number of nodes of a model after inlining all local functions.
inline constexpr int64_t maxExpandedNodes = 4'000'000;

/// Checks the structure of \p model: ir_version, opset imports, a graph; in
/// every graph and function that values are defined exactly once, that every
/// used name is defined in the graph or around it, and that no node depends on
/// itself; that local functions do not call themselves, nest at most
/// maxFunctionNesting deep and expand to at most maxExpandedNodes.
///
/// ONNX requires nodes in topological order. Some exporters violate it, so
/// nodes are sorted here, keeping the given order where possible. A name inside
/// a nested graph may shadow an outer one.
///
/// Errors do not name the file.
Result<void> checkModel(ModelProto &model);

/// How messages name a node: "node 'conv1' (Conv)", or by its first output
/// where it has no name.
std::string describe(const NodeProto &node);

/// \p error, found at \p node.
Error atNode(const NodeProto &node, Error error);
/// A name in a message: "'conv1'".
std::string quoted(std::string_view name);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_MODELCHECK_H
