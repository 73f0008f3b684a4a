//===- NodeGroups.h - the ops that came from one node of the file ---------===//
//
// What ONNX's reader records of node i of the file to give it back as it was,
// in addition to the entries in formats/import/NodeGroups.h:
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
// ModelProto: its producer and metadata, the declared inputs, outputs and
// tensors (of initializers: their metadata, and which are sparse), the
// annotations of tensors with the initializers that these refer to, and the
// functions that kept nodes call. An argument's `sinter.default` is its default
// value.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_NODEGROUPS_H
#define SINTER_FORMATS_ONNX_NODEGROUPS_H

#include "formats/import/NodeGroups.h"
#include <optional>
#include <string>

namespace sinter::onnx {

/// The format name in the module's records (graph/Source.h), and the attributes
/// for the rest of the file.
inline constexpr llvm::StringLiteral formatName = "onnx";
inline constexpr llvm::StringLiteral opsetsAttribute = "sinter.source.opsets";
inline constexpr llvm::StringLiteral headerAttribute = "sinter.source.header";
inline constexpr llvm::StringLiteral defaultAttribute = "sinter.default";

/// The region of an op that holds a graph of a node: the graph's inputs are the
/// first arguments of the region's block, its outputs the operands of the
/// terminator from \p firstOutput on.
struct HeldGraph {
  mlir::Block *block;
  unsigned firstOutput;
};
/// Where \p op holds the graph in attribute \p name of its node; nothing if it
/// does not.
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
