//===- InspectCommand.cpp - sinter inspect --------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/InspectReport.h"
#include "driver/Progress.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "interface/KeptCeilings.h"
#include "interface/OutputFiles.h"
#include "runtime/MappedFile.h"
#include "view/ViewModel.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace sinter::driver {
namespace {

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

  const CommonOptions *modelOptions() const override { return &common; }

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
    return report(**model, *request);
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

  Result<int> report(CompilerModel &model, const ModelRequest &request) {
    InspectedModel found;
    found.path = common.model;
    found.precision = common.precision;
    Result<FileCounts> counts = model.counts();
    if (!counts)
      return inFile(counts.takeError(), common.model);
    found.counts = std::move(*counts);
    // Facts are printed even if others are known only at run time.
    if (Result<GraphFacts> facts = model.facts())
      found.facts = std::move(*facts);
    else if (facts.error().kind == ErrorKind::Unsupported)
      found.notes.push_back(
          "operations and tensors depend on values of inputs, which "
          "`sinter run` takes: " +
          facts.error().message());
    else
      return inFile(facts.takeError(), common.model);
    Result<SizedFacts> sized = sizedFacts(model, request.shapes);
    if (!sized)
      return sized.takeError();
    found.flops = std::move(sized->flops);
    std::optional<Error> failure;
    if (!noPlan && found.facts)
      failure = addProgram(model, request, found);
    // Compiling completes it.
    found.description = model.description();
    if (sized->outputs.size() == found.description.outputs.size())
      found.description.outputs = std::move(sized->outputs);
    if (common.json)
      printInspectedJson(found);
    else
      printInspected(found, {withTensors, withSteps, common.verbose});
    for (const std::string &note : found.notes)
      printNote(note);
    if (failure)
      return *failure;
    return 0;
  }

  /// What follows from sizes. An error of the model is why nothing does:
  /// compiling it reports it, too.
  static Result<SizedFacts> sizedFacts(CompilerModel &model,
                                       const NamedShapes &shapes) {
    Result<SizedFacts> sized = model.sizedFacts(shapes);
    if (sized || sized.error().kind == ErrorKind::System)
      return sized;
    SizedFacts none;
    none.flops.note = sized.error().message();
    return none;
  }

  /// Adds the program, or a note that there is none; an error that is the
  /// model's is returned.
  std::optional<Error> addProgram(CompilerModel &model,
                                  const ModelRequest &request,
                                  InspectedModel &found) {
    bool isAssumed = false;
    Result<std::shared_ptr<const Program>> compiled =
        compile(model, request.shapes, isAssumed);
    if (compiled)
      found.program = std::move(*compiled);
    else if (compiled.error().kind == ErrorKind::Unsupported || isAssumed ||
             isDynamic(compiled.error(), request))
      found.notes.push_back("there is no memory plan: " +
                            compiled.error().message());
    else
      return inFile(compiled.takeError(), common.model);
    return std::nullopt;
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
    if (common.json)
      printFunctionsJson(common.model, *functions, note);
    else
      printFunctions(*functions);
    printNote(note);
    return 0;
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
