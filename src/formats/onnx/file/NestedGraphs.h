//===- NestedGraphs.h - the graphs in attributes of nodes -----------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_NESTEDGRAPHS_H
#define SINTER_FORMATS_ONNX_FILE_NESTEDGRAPHS_H

#include "formats/onnx/file/onnx.pb.h"

#include <type_traits>

namespace sinter::onnx {

/// Calls \p visit with each graph in the attributes of \p node, but not with
/// graphs nested in these. \p Node is NodeProto, const or not, and so are the
/// graphs.
template <typename Node, typename Visit>
void forEachGraph(Node &node, const Visit &visit) {
  if constexpr (std::is_const_v<Node>) {
    for (const AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        visit(attribute.g());
      for (const GraphProto &graph : attribute.graphs())
        visit(graph);
    }
  } else {
    for (AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        visit(*attribute.mutable_g());
      for (GraphProto &graph : *attribute.mutable_graphs())
        visit(graph);
    }
  }
}

/// Whether \p node has any.
inline bool hasGraph(const NodeProto &node) {
  bool found = false;
  forEachGraph(node, [&](const GraphProto &) { found = true; });
  return found;
}

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_NESTEDGRAPHS_H
