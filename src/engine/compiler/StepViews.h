//===- StepViews.h - the steps of a program, and the nodes they compute ---===//

#ifndef SINTER_ENGINE_COMPILER_STEPVIEWS_H
#define SINTER_ENGINE_COMPILER_STEPVIEWS_H

#include "engine/Compiler.h"
#include "engine/compiler/ViewGraph.h"

namespace sinter {

/// The steps of the program of \p model, whose nodes are \p nodes, without
/// code. Sets `lowered` of these. The locations of the model's operations
/// become the numbers of their nodes (NodeTags.h). Errors: as of compilation.
Result<std::vector<ViewedStep>> viewSteps(const Model &model,
                                          NodesOfGraph &nodes,
                                          const CompileRequest &request);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_STEPVIEWS_H
