//===- InspectCommand.cpp - sinter inspect --------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

/// The memory and the work of a compiled program.
struct Plan {
  uint64_t arenaBytes = 0, constantBytes = 0, codeBytes = 0;
  uint64_t inputBytes = 0, outputBytes = 0;
  size_t steps = 0, kernels = 0;
  double flops = 0, bytesMoved = 0;
};

void addSteps(std::span<const Step> steps, Plan &plan) {
  for (const Step &step : steps) {
    ++plan.steps;
    plan.flops += step.flops;
    plan.bytesMoved += step.bytesMoved;
    for (const std::vector<Step> &body : step.bodies)
      addSteps(body, plan);
  }
}

uint64_t bytesOf(std::span<const TensorSpec> specs) {
  uint64_t sum = 0;
  for (const TensorSpec &spec : specs)
    sum += byteCount(spec.type, spec.shape).value_or(0);
  return sum;
}

Plan planOf(const Program &program) {
  Plan plan;
  plan.arenaBytes = program.arenaBytes;
  for (const ConstantData &constant : program.constants)
    plan.constantBytes += constant.bytes.size();
  plan.codeBytes = program.code.text.size;
  plan.kernels = program.code.entries.size();
  plan.inputBytes = bytesOf(program.inputs);
  plan.outputBytes = bytesOf(program.outputs);
  addSteps(program.steps, plan);
  return plan;
}

nlohmann::json planJson(const Plan &plan) {
  return {{"arena_bytes", plan.arenaBytes},
          {"constant_bytes", plan.constantBytes},
          {"code_bytes", plan.codeBytes},
          {"input_bytes", plan.inputBytes},
          {"output_bytes", plan.outputBytes},
          {"steps", plan.steps},
          {"kernels", plan.kernels},
          {"flops", plan.flops},
          {"bytes_moved", plan.bytesMoved}};
}

class InspectCommand : public Command {
public:
  explicit InspectCommand(CLI::App &app) {
    addModel(app, common);
    addFunction(app, common);
    addShapes(app, common);
    addBinding(app, common);
    addPasses(app, common);
    app.add_flag("--no-plan", noPlan,
                 "look at the graph only: do not compile it")
        ->group("Compile");
    app.add_option("--threads", common.threads, "threads to compile with")
        ->check(CLI::Range(1, 4096))
        ->group("Compile");
    addReport(app, common);
  }

  Result<int> run() override {
    Result<ModelRequest> request = modelRequest(common);
    if (!request)
      return request.takeError();
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    auto model = (*compiler)->open(*request);
    if (!model)
      return model.takeError();
    Result<GraphFacts> facts = (*model)->facts();
    if (!facts)
      return inFile(facts.takeError(), common.model);
    // The graph's facts are worth printing even if it does not compile.
    std::optional<Plan> plan;
    std::optional<Error> failure;
    if (!noPlan) {
      Result<std::shared_ptr<const Program>> program =
          compile(**model, request->shapes);
      if (program)
        plan = planOf(**program);
      else
        failure = inFile(program.takeError(), common.model);
    }
    if (common.json)
      printJson((*model)->description(), *facts, plan);
    else
      printText((*model)->description(), *facts, plan);
    if (failure)
      return *failure;
    return 0;
  }

private:
  Result<std::shared_ptr<const Program>> compile(CompilerModel &model,
                                                 const NamedShapes &shapes) {
    const ModelDescription &description = model.description();
    Result<std::vector<Shape>> bound =
        bindShapes(description, shapes, {}, printNote);
    if (!bound)
      return bound.takeError();
    CompileRequest request;
    request.shapes = std::move(*bound);
    request.values.resize(request.shapes.size());
    request.passes = passOptions(common);
    request.threads = common.threads;
    return model.compile(request);
  }

  static void printText(const ModelDescription &model, const GraphFacts &facts,
                        const std::optional<Plan> &plan) {
    for (const ModelInput &input : model.inputs)
      std::printf("input   %-28s %s\n", input.spec.name.c_str(),
                  input.text().c_str());
    for (const TensorSpec &output : model.outputs)
      std::printf("output  %-28s %s\n", output.name.c_str(),
                  ModelInput{output, {}, true, false}.text().c_str());
    for (const TensorSpec &state : facts.state)
      std::printf("state   %-28s %s\n", state.name.c_str(),
                  ModelInput{state, {}, true, false}.text().c_str());
    std::printf("parameters  %lld, %s\n",
                static_cast<long long>(facts.parameters),
                bytesText(static_cast<double>(facts.parameterBytes)).c_str());
    std::printf("operations\n");
    for (const auto &[operation, count] : facts.operations)
      std::printf("%8lld  %s\n", static_cast<long long>(count),
                  operation.c_str());
    if (plan)
      printPlan(*plan);
  }

  static void printPlan(const Plan &plan) {
    const auto row = [](const char *what, uint64_t bytes) {
      std::printf("  %-12s %s\n", what,
                  bytesText(static_cast<double>(bytes)).c_str());
    };
    std::printf("work        %.3f GFLOP, %s moved, in %zu steps of %zu "
                "different kernels\n",
                plan.flops / 1e9, bytesText(plan.bytesMoved).c_str(),
                plan.steps, plan.kernels);
    std::printf("memory plan\n");
    row("constants", plan.constantBytes);
    row("arena", plan.arenaBytes);
    row("inputs", plan.inputBytes);
    row("outputs", plan.outputBytes);
    row("code", plan.codeBytes);
  }

  void printJson(const ModelDescription &model, const GraphFacts &facts,
                 const std::optional<Plan> &plan) const {
    nlohmann::json result = nlohmann::json::parse(toJson(model));
    result["model"] = common.model;
    result["state"] = nlohmann::json::array();
    for (const TensorSpec &state : facts.state)
      result["state"].push_back(
          {{"name", state.name}, {"type", toString(state.type, state.shape)}});
    result["parameters"] = facts.parameters;
    result["parameter_bytes"] = facts.parameterBytes;
    nlohmann::json &operations = result["operations"] =
        nlohmann::json::object();
    for (const auto &[operation, count] : facts.operations)
      operations[operation] = count;
    result["plan"] = plan ? planJson(*plan) : nlohmann::json();
    printJsonLine(result);
  }

  CommonOptions common;
  bool noPlan = false;
};

} // namespace

std::unique_ptr<Command> makeInspectCommand(CLI::App &app) {
  return std::make_unique<InspectCommand>(app);
}

} // namespace sinter::driver
