//===- InspectCommand.cpp - sinter inspect --------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/OutputFiles.h"
#include "driver/ProgramPlan.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "interface/KeptCeilings.h"
#include "runtime/MappedFile.h"
#include "view/ViewModel.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

/// One line of a table: the role, the name and the type.
void printRow(const char *what, const std::string &name,
              const std::string &rest) {
  printTo(stdout, "%-7s %-28s %s\n", what, oneLine(name).c_str(), rest.c_str());
}

/// The number of tensors of each role, and their bytes: "3 temporary (12.0
/// kB)".
/// Tensors with dynamic dimensions count without bytes.
std::string rolesText(const std::vector<TensorFacts> &tensors) {
  std::string line;
  for (const Role role : {Role::Constant, Role::Input, Role::Output,
                          Role::State, Role::Temporary}) {
    size_t count = 0;
    double bytes = 0;
    bool isDynamic = false;
    for (const TensorFacts &tensor : tensors)
      if (tensor.role == role) {
        ++count;
        bytes += static_cast<double>(tensor.bytes.value_or(0));
        isDynamic |= !tensor.bytes;
      }
    if (count)
      line += (line.empty() ? "" : ", ") + std::to_string(count) + " " +
              std::string(name(role)) + " (" + (isDynamic ? "at least " : "") +
              bytesText(bytes) + ")";
  }
  return line;
}

class InspectCommand : public Command {
public:
  explicit InspectCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    addShapes(app, common);
    addBinding(app, common);
    addPasses(app, common);
    app.add_flag("--no-plan", noPlan,
                 "inspect the graph only: do not compile it")
        ->group("Compile");
    app.add_flag("--tensors", withTensors,
                 "list every tensor of the graph with its role: constant, "
                 "input, output, state or temporary")
        ->group("Report");
    app.add_flag(
           "--steps", withSteps,
           "list every step (instruction) of the program with its operands: "
           "read (in), written (out) or both (inout), and their offsets")
        ->group("Report")
        ->excludes("--no-plan");
    addArithmetic(app, common);
    addReport(app, common);
    app.add_option("--html", page,
                   "write a page that shows the graph before and after "
                   "simplification, with kernels, times and rewrites, in place "
                   "of what is printed")
        ->type_name("FILE")
        ->group("Report")
        ->excludes("--no-plan", "--tensors", "--steps", "--json");
    app.add_flag(
           "--measure", isMeasured,
           "run the model on random inputs, so that the page has measured "
           "times, not estimated ones")
        ->group("Report")
        ->needs("--html");
  }

  Result<int> run() override {
    if (!page.empty())
      return writePage();
    Result<ModelRequest> request = modelRequest(common);
    if (!request)
      return request.takeError();
    request->opening.drawsMissing = true;
    Result<Compiler *> compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    auto model = (*compiler)->open(*request);
    if (!model)
      return listFunctions(**compiler, *request, model.takeError());
    const ModelDescription &description = (*model)->description();
    // Facts are printed even if others are known only at run time.
    std::optional<GraphFacts> facts;
    std::shared_ptr<const Program> program;
    std::optional<Error> failure;
    std::vector<std::string> notes;
    if (Result<GraphFacts> found = (*model)->facts())
      facts = std::move(*found);
    else if (found.error().kind == ErrorKind::Unsupported)
      notes.push_back(
          "operations and tensors depend on values of inputs, which "
          "`sinter run` takes: " +
          found.error().message());
    else
      return inFile(found.takeError(), common.model);
    if (!noPlan && facts) {
      bool isAssumed = false;
      Result<std::shared_ptr<const Program>> compiled =
          compile(**model, request->shapes, isAssumed);
      if (compiled)
        program = std::move(*compiled);
      else if (compiled.error().kind == ErrorKind::Unsupported || isAssumed ||
               isDynamic(compiled.error(), *request))
        notes.push_back("there is no memory plan: " +
                        compiled.error().message());
      else
        failure = inFile(compiled.takeError(), common.model);
    }
    if (common.json)
      printJson(description, facts, program.get(), notes);
    else
      printText(description, facts, program.get());
    for (const std::string &note : notes)
      printNote(note);
    if (failure)
      return *failure;
    return 0;
  }

private:
  /// Writes the page of --html.
  Result<int> writePage() {
    if (Result<void> good = checkOutputFile("--html", page, common.model);
        !good)
      return good.takeError();
    common.dynamicSizes = DynamicSizes::Unknown;
    Result<SessionOptions> options = sessionOptions(common);
    if (!options)
      return options.takeError();
    options->choice = choicePrinter(common);
    options->stages = stageObserver(common);
    Result<std::string> text =
        viewModel(common.model, common.model, std::move(*options), isMeasured);
    if (!text)
      return text.takeError();
    if (Result<void> written = writeFileAtomically(page, *text); !written)
      return written.takeError();
    return 0;
  }

  /// The functions of a file that has several and none to run. For other files,
  /// or if more is requested, the \p error.
  Result<int> listFunctions(Compiler &compiler, const ModelRequest &request,
                            Error error) const {
    if (error.kind != ErrorKind::InvalidModel || !request.shapes.empty() ||
        withTensors || withSteps)
      return error;
    auto functions = compiler.functions(request);
    if (!functions || functions->empty())
      return error;
    const std::string note =
        "there is no @main; --function NAME shows the operations, tensors and "
        "memory plan of one of these";
    if (common.json) {
      nlohmann::json all = nlohmann::json::array();
      for (const FunctionDescription &each : *functions)
        all.push_back(functionJson(each));
      printJsonLine({{"model", common.model},
                     {"functions", all},
                     {"notes", nlohmann::json::array({note})}});
    } else {
      for (const FunctionDescription &each : *functions)
        printFunction(each);
    }
    printNote(note);
    return 0;
  }

  static void printFunction(const FunctionDescription &function) {
    int64_t operations = 0;
    for (const auto &[name, count] : function.operations)
      operations += count;
    printTo(stdout, "function @%s, %lld operation%s\n",
            oneLine(function.name).c_str(), static_cast<long long>(operations),
            operations == 1 ? "" : "s");
    for (const FunctionDescription::Argument &each : function.inputs)
      printRow("  input", each.name, each.type);
    for (const FunctionDescription::Argument &each : function.outputs)
      printRow("  output", each.name, each.type);
  }

  static nlohmann::json functionJson(const FunctionDescription &function) {
    const auto arguments =
        [](const std::vector<FunctionDescription::Argument> &all) {
          nlohmann::json list = nlohmann::json::array();
          for (const FunctionDescription::Argument &each : all)
            list.push_back({{"name", each.name}, {"type", each.type}});
          return list;
        };
    nlohmann::json operations = nlohmann::json::object();
    for (const auto &[name, count] : function.operations)
      operations[name] = count;
    return {{"name", function.name},
            {"inputs", arguments(function.inputs)},
            {"outputs", arguments(function.outputs)},
            {"operations", operations}};
  }

  /// Whether the only error is that dimensions are unknown, which --shape could
  /// set.
  static bool isDynamic(const Error &error, const ModelRequest &request) {
    return error.kind == ErrorKind::Usage && request.shapes.empty();
  }

  /// The shape-generic program for the sizes that neither the file nor \p
  /// shapes fix; if there is none, a static one. \p isAssumed: whether a size
  /// was assumed, so that the model may be valid though it cannot be compiled
  /// for that size.
  Result<std::shared_ptr<const Program>>
  compile(CompilerModel &model, const NamedShapes &shapes, bool &isAssumed) {
    const ModelDescription &description = model.description();
    std::vector<std::string> notes;
    Result<std::vector<Shape>> bound =
        bindShapes(description, shapes, {}, [&](const std::string &note) {
          isAssumed = true;
          notes.push_back(note);
        });
    CompileRequest request;
    request.dynamic = dynamicShapes(description, shapes);
    if (!bound && request.dynamic.empty())
      return bound.takeError();
    static_cast<CodeOptions &>(request) = codeOptions(common);
    request.choice = choicePrinter(common);
    request.stages = stageObserver(common);
    request.progress = progressLine("compiling", "kernels");
    request.ceilings = keptCeilings(cacheFolder(common), printNote);
    if (bound)
      request.shapes = std::move(*bound);
    request.values.resize(description.inputs.size());
    request.passes = passOptions(common);
    request.threads = common.threads;
    request.onStatic = [&notes](const std::string &why) {
      notes.push_back("the program is for these sizes only: " + why);
    };
    auto program = model.compile(request);
    if (!program || !(*program)->dynamic)
      for (const std::string &note : notes)
        printNote(note);
    return program;
  }

  /// The shapes of the inputs with -1 for dynamic dimensions; none if all are
  /// static, or if a rank is unknown.
  static std::vector<Shape> dynamicShapes(const ModelDescription &model,
                                          const NamedShapes &given) {
    std::vector<Shape> shapes;
    for (const ModelInput &input : model.inputs) {
      if (!input.ranked)
        return {};
      shapes.push_back(input.spec.shape);
    }
    for (const auto &[name, shape] : given)
      if (const std::optional<size_t> index = model.inputNamed(name))
        for (size_t i = 0; i < std::min(shape.size(), shapes[*index].size());
             ++i)
          if (shape[i] >= 0)
            shapes[*index][i] = shape[i];
    const bool isDynamic = std::ranges::any_of(shapes, [](const Shape &shape) {
      return std::ranges::find(shape, -1) != shape.end();
    });
    return isDynamic ? shapes : std::vector<Shape>();
  }

  void printText(const ModelDescription &model,
                 const std::optional<GraphFacts> &facts,
                 const Program *program) const {
    for (const ModelInput &input : model.inputs) {
      std::string also;
      for (const std::string &other : input.otherNames)
        also += (also.empty() ? "  also " : ", ") + oneLine(other);
      printRow("input", input.spec.name, input.text() + also);
    }
    for (const ModelInput &input : model.defaults)
      printRow("input", input.spec.name,
               input.text() + "  has a default, which --input or --bind "
                              "replaces");
    for (const ModelOutput &output : model.outputs)
      printRow("output", output.name, output.text());
    if (facts)
      printFacts(*facts);
    if (program)
      printPlan(*program, withSteps);
  }

  void printFacts(const GraphFacts &facts) const {
    for (const StateFacts &state : facts.state)
      printTo(stdout, "state   %-28s %s\n", oneLine(state.spec.name).c_str(),
              summaryText(state.initial).c_str());
    printTo(stdout, "parameters  %lld, %s\n",
            static_cast<long long>(facts.parameters),
            bytesText(static_cast<double>(facts.parameterBytes)).c_str());
    printTo(stdout, "tensors     %s\n", rolesText(facts.tensors).c_str());
    if (withTensors)
      for (const TensorFacts &tensor : facts.tensors)
        printTo(stdout, "  %-9s  %-28s %-20s %10s  %s\n",
                std::string(name(tensor.role)).c_str(),
                oneLine(tensor.name).c_str(), tensor.type.c_str(),
                tensor.bytes ? std::to_string(*tensor.bytes).c_str() : "?",
                tensor.op.c_str());
    printTo(stdout, "operations\n");
    for (const auto &[operation, count] : facts.operations)
      printTo(stdout, "%8lld  %s\n", static_cast<long long>(count),
              operation.c_str());
  }

  static nlohmann::json stateJson(const StateFacts &state) {
    nlohmann::json json = summaryJson(state.initial);
    json["name"] = state.spec.name;
    return json;
  }

  static nlohmann::json tensorJson(const TensorFacts &tensor) {
    return {{"name", tensor.name},
            {"role", name(tensor.role)},
            {"type", tensor.type},
            {"bytes",
             tensor.bytes ? nlohmann::json(*tensor.bytes) : nlohmann::json()},
            {"op", tensor.op}};
  }

  void printJson(const ModelDescription &model,
                 const std::optional<GraphFacts> &facts, const Program *program,
                 const std::vector<std::string> &notes) const {
    nlohmann::json result = nlohmann::json::parse(toJson(model));
    result["model"] = common.model;
    result["notes"] = notes;
    result["precision"] = common.precision;
    for (const char *key : {"state", "tensors", "operations", "parameters",
                            "parameter_bytes", "plan"})
      result[key] = nlohmann::json();
    if (facts) {
      result["state"] = result["tensors"] = nlohmann::json::array();
      result["operations"] = nlohmann::json::object();
      for (const StateFacts &state : facts->state)
        result["state"].push_back(stateJson(state));
      for (const TensorFacts &tensor : facts->tensors)
        result["tensors"].push_back(tensorJson(tensor));
      for (const auto &[operation, count] : facts->operations)
        result["operations"][operation] = count;
      result["parameters"] = facts->parameters;
      result["parameter_bytes"] = facts->parameterBytes;
    }
    if (program)
      result["plan"] = planJson(*program);
    printJsonLine(result);
  }

  CommonOptions common;
  std::string page;
  bool noPlan = false, withTensors = false, withSteps = false,
       isMeasured = false;
};

} // namespace

std::unique_ptr<Command> makeInspectCommand(CLI::App &app) {
  return std::make_unique<InspectCommand>(app);
}

} // namespace sinter::driver
