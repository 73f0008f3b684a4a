//===- ModelCheck.h - is it a model at all? -------------------------------===//
//
// What must hold before anyone reads a graph's meaning: names are defined once
// and before they are used, nothing depends on itself, nesting is bounded.
// Whether operators exist and attributes make sense is the importer's business.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_MODELCHECK_H
#define SINTER_FORMATS_ONNX_FILE_MODELCHECK_H

#include "runtime/Result.h"

#include <cstdint>
#include <string>

namespace sinter::onnx {

class ModelProto;
class NodeProto;

/// Graphs in attributes of nodes of graphs in attributes ..., at most.
inline constexpr int maxGraphNesting = 60;
/// Local functions that call local functions ..., at most.
inline constexpr int maxFunctionNesting = 256;
/// Nodes that a model may have once every call of a local function is replaced
/// by its body.
inline constexpr int64_t maxExpandedNodes = 4'000'000;

/// Checks the structure of \p model: ir_version, opset imports, a graph; in
/// every graph and function that values are defined exactly once, that every
/// used name is defined in the graph or around it, and that no node depends on
/// itself; that local functions do not call themselves, nest at most
/// maxFunctionNesting deep and expand to at most maxExpandedNodes.
///
/// ONNX wants nodes in an order of their dependencies. Some programs write them
/// otherwise, so they are sorted here, keeping the given order where possible.
/// A name inside a nested graph may hide one from outside.
///
/// Errors do not name the file.
Result<void> checkModel(ModelProto &model);

/// How messages name a node: "node 'conv1' (Conv)", or by its first output
/// where it has no name.
std::string describe(const NodeProto &node);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_MODELCHECK_H
