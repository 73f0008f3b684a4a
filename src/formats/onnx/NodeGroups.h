//===- NodeGroups.h - the ops that came from one node of the file ---------===//
//
// What ONNX's reader records of node i of the file
// (formats/import/NodeGroups.h) to give it back as it was, beside what stands
// there:
//
//   op_type, domain, name  strings; `version`, the domain's opset, an i64
//   proto        the serialised NodeProto, its graphs without initializers and
//                nodes (except Identity that gives an output); absent where the
//                node cannot be given back (it was written out, or has large
//                tensors as attributes)
//
// A node with graphs has one op that holds them (heldGraph below).
//
// The module's attribute `sinter.source.opsets` is a dictionary: domain -> i64.
// `sinter.source.header` is the file without its computation, a serialised
// ModelProto: who made it, what it says of itself, the inputs, outputs and
// tensors as it declares them (of initializers: what it says of them, and which
// are sparse), the annotations of tensors with the initializers that these
// name, and the functions that nodes call that are kept. An argument's
// `sinter.default` is the value that it has where none is given.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_NODEGROUPS_H
#define SINTER_FORMATS_ONNX_NODEGROUPS_H

#include "formats/import/NodeGroups.h"
#include <optional>
#include <string>

namespace sinter::onnx {

/// Whose the module's records are (graph/Source.h), and what else is kept of a
/// file.
inline constexpr llvm::StringLiteral formatName = "onnx";
inline constexpr llvm::StringLiteral opsetsAttribute = "sinter.source.opsets";
inline constexpr llvm::StringLiteral headerAttribute = "sinter.source.header";
inline constexpr llvm::StringLiteral defaultAttribute = "sinter.default";

/// Where a graph of a node is in the op that holds it: its inputs are the first
/// arguments of the region's block, its outputs what that returns from
/// \p firstOutput on.
struct HeldGraph {
  mlir::Block *block;
  unsigned firstOutput;
};
/// Where \p op holds the graph that is attribute \p name of its node; nothing
/// if it does not.
std::optional<HeldGraph> heldGraph(mlir::Operation *op, llvm::StringRef name);
using formats::heldOps;
using formats::holdsGraphs;
using formats::UntouchedNode;
using formats::untouchedNode;

/// What the reader knows of a node that it has translated.
struct NodeRecord : formats::GroupRecord {
  std::string opType, domain, name;
  int64_t version = 0;
};

/// The record; without `proto` if the node cannot be given back.
mlir::DictionaryAttr toAttribute(const NodeRecord &record,
                                 mlir::MLIRContext *context);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_NODEGROUPS_H
