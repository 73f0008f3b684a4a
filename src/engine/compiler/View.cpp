//===- View.cpp - a model's graphs and program, to be shown ---------------===//

#include "engine/compiler/LinkedRewriting.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/StepViews.h"
#include "engine/compiler/ViewGraph.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace sinter {

/// Leaves the labels of rewrites in \p view, and adds the diagrams of these.
/// Passes name other steps (decompositions) by their operations.
static void addPictures(ModelView &view) {
  llvm::StringMap<llvm::StringRef> known;
  for (const PatternInfo &pattern : allPatterns())
    known[pattern.label] = pattern.picture;
  std::map<std::string, std::string> used;
  const auto look = [&](std::vector<std::string> &labels) {
    llvm::erase_if(labels, [&](const std::string &label) {
      const auto found = known.find(label);
      if (found == known.end())
        return true;
      used[label] = found->second.str();
      return false;
    });
  };
  for (GraphView *graph : {&view.before, view.after ? &*view.after : nullptr})
    if (graph)
      for (ViewedNode &node : graph->nodes) {
        look(node.rewrites);
        look(node.lowered);
      }
  view.pictures.assign(used.begin(), used.end());
}

/// The view for the sizes of \p request. Errors are those of the graph as it
/// was read, and System; what else fails is a note.
Result<ModelView> MlirCompilerModel::viewFor(const CompileRequest &request) {
  Result<Model> model = modelFor(request);
  if (!model)
    return model.takeError();
  Result<NodesOfGraph> before = viewGraph(*model);
  if (!before)
    return before.takeError();
  ModelView view;
  Result<NodesOfGraph> after = rewriteLinked(*model, *before, request.passes);
  Result<std::vector<ViewedStep>> steps =
      after ? viewSteps(*model, *after, request)
            : Result<std::vector<ViewedStep>>(after.takeError());
  if (!steps && steps.error().kind == ErrorKind::System)
    return steps.takeError();
  view.before = std::move(before->view);
  if (after)
    view.after = std::move(after->view);
  if (steps)
    view.steps = std::move(*steps);
  else
    view.notes.push_back("there is no program: " + steps.error().message());
  addPictures(view);
  return view;
}

/// The graph as it was read, if nothing can be made of it: \p why.
static Result<ModelView> viewAsRead(ModelSource &source, const Error &why) {
  Result<std::shared_ptr<const Model>> model = source.view();
  if (!model)
    return model.takeError();
  if (!(*model)->entry())
    return why;
  Result<NodesOfGraph> nodes = viewGraph(**model);
  if (!nodes)
    return nodes.takeError();
  ModelView view;
  view.before = std::move(nodes->view);
  view.notes.push_back("there is no program: " + why.message());
  return view;
}

Result<ModelView> MlirCompilerModel::view(const CompileRequest &request) {
  Result<ModelView> view = viewFor(request);
  const bool isPlanned = view && view->notes.empty();
  if (!isPlanned && !request.dynamic.empty() && !request.shapes.empty()) {
    CompileRequest sized = request;
    sized.dynamic.clear();
    if (Result<ModelView> other = viewFor(sized);
        other && other->notes.empty()) {
      other->notes.push_back(
          "the program is for these sizes only: " +
          (view ? view->notes.front() : view.error().message()));
      return other;
    }
  }
  if (view || view.error().kind == ErrorKind::System)
    return view;
  return viewAsRead(*source, view.error());
}

} // namespace sinter
