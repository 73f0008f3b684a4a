#include "engine/compiler/StepViews.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/program/Compiler.h"
#include "engine/compiler/NodeTags.h"
#include "engine/compiler/NodeTraces.h"
#include "engine/compiler/ProgramOptions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter {

namespace {

/// The names of steps by the nodes of their kernels.
using Layers = std::vector<std::string>;

/// Makes the location of each operation the number of its node, and gives the
/// names that the steps of these would have.
Layers tagNodes(const Model &model, const NodesOfGraph &nodes) {
  Layers layers(nodes.view.nodes.size());
  for (auto [op, node] : nodes.nodeOf) {
    layers[node] = cpu::layerOf(op->getLoc());
    op->setLoc(tagLocation(node, model.context()));
  }
  return layers;
}

/// Plans the program of a graph whose operations are tagged.
class StepViewer {
public:
  StepViewer(const NodesOfGraph &nodes, Layers layers,
             const cpu::Target &target, std::vector<ViewedStep> &steps)
      : nodes(nodes), layers(std::move(layers)), target(target), steps(steps) {}

  /// Notes the nodes in each kernel of \p prepared.
  void noteKernels(ModuleOp prepared);
  void noteChoice(const std::string &layer,
                  const cpu::Alternatives &alternatives);
  void add(std::span<const Step> added, bool isDynamic, unsigned depth = 0);

  std::string nameOf(uint32_t node) const {
    return node < nodes.view.nodes.size() ? nodes.view.nodes[node].name : "";
  }

private:
  ViewedStep viewOf(const Step &step, bool isDynamic) const;
  std::optional<double> secondsOf(const Step &step,
                                  std::optional<uint32_t> tag) const;

  const NodesOfGraph &nodes;
  const Layers layers;
  const cpu::Target &target;
  std::vector<ViewedStep> &steps;
  /// The number of the next step.
  size_t count = 0;
  /// By the node of a kernel's location.
  std::map<uint32_t, llvm::SmallSetVector<uint32_t, 4>> nodesIn;
  struct Choice {
    std::string kernel, text;
    double seconds = 0;
  };
  std::map<uint32_t, std::vector<Choice>> choices;
};

} // namespace

void StepViewer::noteKernels(ModuleOp prepared) {
  nodesIn.clear();
  choices.clear();
  prepared.walk([&](cpu::KernelOp kernel) {
    const std::optional<uint32_t> root = tagIn(kernel.getLoc());
    if (!root)
      return;
    auto &inside = nodesIn[*root];
    kernel.walk([&](Operation *op) {
      if (const auto node = tagIn(op->getLoc()))
        inside.insert(*node);
    });
  });
}

void StepViewer::noteChoice(const std::string &layer,
                            const cpu::Alternatives &alternatives) {
  const std::optional<uint32_t> tag = tagIn(StringRef(layer));
  if (!tag || alternatives.empty())
    return;
  choices[*tag].push_back({alternatives.front().kernel.str(),
                           textOf(nameOf(*tag), alternatives),
                           alternatives.front().seconds});
}

/// By the cost model where it chose the kernel, else by the rates of the
/// machine.
std::optional<double> StepViewer::secondsOf(const Step &step,
                                            std::optional<uint32_t> tag) const {
  if (const auto found = tag ? choices.find(*tag) : choices.end();
      found != choices.end())
    for (const Choice &choice : found->second)
      if (choice.kernel == step.kernelName && choice.seconds > 0)
        return choice.seconds;
  const cpu::Rates &rates = target.rates;
  const double arithmetic = step.arithmetic == ElementType::F64  ? rates.f64
                            : step.arithmetic == ElementType::I8 ? rates.i8
                            : step.arithmetic == ElementType::BF16
                                ? std::max(rates.bf16, rates.f32)
                                : rates.f32;
  const double bytes = step.bytesMoved <= static_cast<double>(target.l2Bytes)
                           ? rates.cache
                           : rates.memory;
  double seconds = 0;
  if (arithmetic > 0)
    seconds = step.flops / arithmetic;
  if (bytes > 0)
    seconds = std::max(seconds, step.bytesMoved / bytes);
  return seconds;
}

/// The number of steps at the beginning of \p steps that are stages of one
/// kernel.
static size_t stagesOf(std::span<const Step> steps) {
  const Step &first = steps.front();
  if (first.kind != StepKind::Kernel || first.kernelName.empty())
    return 1;
  const auto other = std::ranges::find_if(steps, [&](const Step &step) {
    return step.kind != first.kind || step.layer != first.layer ||
           step.op != first.op || step.kernelName != first.kernelName;
  });
  return static_cast<size_t>(other - steps.begin());
}

/// The work of all \p stages, which move the same memory.
static Step wholeOf(std::span<const Step> stages) {
  Step whole = stages.front();
  for (const Step &stage : stages.subspan(1)) {
    whole.flops += stage.flops;
    whole.bytesMoved = std::max(whole.bytesMoved, stage.bytesMoved);
    whole.tasks = std::max(whole.tasks, stage.tasks);
  }
  return whole;
}

void StepViewer::add(std::span<const Step> added, bool isDynamic,
                     unsigned depth) {
  for (size_t i = 0, stages = 0; i < added.size(); i += stages) {
    stages = stagesOf(added.subspan(i));
    steps.push_back(stages == 1
                        ? viewOf(added[i], isDynamic)
                        : viewOf(wholeOf(added.subspan(i, stages)), isDynamic));
    steps.back().number = count;
    steps.back().stages = stages;
    steps.back().depth = depth;
    count += stages;
    for (const std::vector<Step> &body : added[i].bodies)
      add(body, isDynamic, depth + 1);
  }
}

ViewedStep StepViewer::viewOf(const Step &step, bool isDynamic) const {
  const std::optional<uint32_t> tag = tagIn(StringRef(step.layer));
  ViewedStep view;
  view.layer = tag && *tag < layers.size() ? layers[*tag] : step.layer;
  view.op = step.op;
  view.kernel = step.kernelName;
  if (!isDynamic) {
    view.flops = step.flops;
    view.bytesMoved = step.bytesMoved;
    view.tasks = step.tasks;
  }
  if (!isDynamic && step.bodies.empty())
    view.seconds = secondsOf(step, tag);
  if (const auto found = tag ? choices.find(*tag) : choices.end();
      found != choices.end())
    for (const Choice &choice : found->second)
      if (choice.kernel == step.kernelName)
        view.choice = choice.text;
  if (const auto found = tag ? nodesIn.find(*tag) : nodesIn.end();
      step.kind == StepKind::Kernel && found != nodesIn.end())
    view.nodes.assign(found->second.begin(), found->second.end());
  else if (tag)
    view.nodes = {*tag};
  return view;
}

Result<std::vector<ViewedStep>> viewSteps(const Model &model,
                                          NodesOfGraph &nodes,
                                          const CompileRequest &request) {
  Result<cpu::CpuOptions> options = cpuOptionsOf(request);
  if (!options)
    return options.takeError();
  Result<cpu::Target> target =
      options->target ? *options->target : cpu::Target::host();
  if (!target)
    return target.takeError();
  if (request.ceilings && !options->target)
    target->setRates(*request.ceilings);
  Layers layers = tagNodes(model, nodes);
  NodeTraces traces(model, nodes);
  options->passes.watcher = traces.watcher();
  std::vector<ViewedStep> steps;
  StepViewer viewer(nodes, std::move(layers), *target, steps);
  options->onPrepared = [&](const SimplifyReport &, ModuleOp prepared) {
    viewer.noteKernels(prepared);
  };
  options->onChoice = [&](const std::string &layer,
                          const cpu::Alternatives &alternatives) {
    viewer.noteChoice(layer, alternatives);
  };
  Result<Program> program = cpu::planForCpu(model, *options);
  if (!program) {
    Error error = program.takeError();
    return Error{error.kind, withoutTags(error.message(), [&](uint32_t node) {
                   return viewer.nameOf(node);
                 })};
  }
  viewer.add(program->steps, program->dynamic != nullptr);
  for (auto [number, node] : traces.nodes())
    for (const std::string &label : traces.labelsOf(number))
      addOnce(nodes.view.nodes[node].lowered, label);
  return steps;
}

} // namespace sinter
