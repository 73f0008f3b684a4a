//===- Prepare.cpp - a graph in the operations that have kernels ----------===//

#include "backend/cpu/pipeline/Prepare.h"

#include "backend/cpu/legalize/CheckProgram.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "graph/Source.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Result<void> cpu::prepare(Model &model, const PassSetting &setting,
                          const SimplifyOptions &options,
                          SimplifyReport &report) {
  registerPatternLabels();
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel("the model has no entry function");
  if (Result<void> flat = checkNesting(function); !flat)
    return flat;
  // Nobody writes this graph, so that a node's bias need not stay in its group.
  dropSources(model.module());
  if (hasUnknownSizes(function))
    if (Result<void> guarded = collectGuards(function); !guarded)
      return guarded;
  auto shared = std::make_shared<const PassSetting>(setting);
  auto passes = [&](const std::shared_ptr<PatternRun> &run) {
    return createPasses(run, shared);
  };
  return runPasses(model.module(), options, passes, report);
}
