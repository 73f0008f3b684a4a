//===- NodeTraces.h - what becomes of nodes in passes ---------------------===//

#ifndef SINTER_ENGINE_COMPILER_NODETRACES_H
#define SINTER_ENGINE_COMPILER_NODETRACES_H

#include "engine/compiler/ViewGraph.h"
#include "passes/ValueNumbers.h"

#include <map>

namespace sinter {

/// Labels of rewrites, each once.
using Labels = std::vector<std::string>;
void addOnce(Labels &labels, llvm::StringRef label);

/// Which nodes have the values with trace numbers, and which rewrites replaced
/// these. Lives as long as the passes that it watches.
class NodeTraces {
public:
  /// Numbers the values of \p model, whose nodes are \p nodes.
  NodeTraces(const Model &model, const NodesOfGraph &nodes);
  NodeTraces(const NodeTraces &) = delete;

  ReplacementWatcher *watcher() { return &numbers; }
  /// By the numbers of their values.
  const llvm::DenseMap<int64_t, uint32_t> &nodes() const { return nodeOf; }
  const Labels &labelsOf(int64_t number) const;

private:
  ValueNumbers numbers;
  llvm::DenseMap<int64_t, uint32_t> nodeOf;
  std::map<int64_t, Labels> labels;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_NODETRACES_H
