//===- TestPrograms.cpp - programs that check themselves ------------------===//
//
// A file is cut at lines `// -----`. In each part the function @main is a case
// if there is one, else each function without arguments. The file's lines
// `// RUN: ` are those of the public test suite: a file whose run is disabled
// is skipped, and one that is never interpreted there must survive being
// written and read again.
//
//===----------------------------------------------------------------------===//

#include "engine/TestFile.h"
#include "engine/compiler/CheckModel.h"
#include "engine/compiler/CompiledTest.h"
#include "engine/compiler/MlirCompiler.h"
#include "formats/Programs.h"
#include "graph/Constants.h"
#include "interpreter/Interpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include "runtime/MappedFile.h"

#include <set>

using namespace mlir;

namespace sinter {

namespace {

//===----------------------------------------------------------------------===//
// What the file's own lines say
//===----------------------------------------------------------------------===//

struct Directives {
  /// Why the file disables its run; empty if it does not.
  std::string disabled;
  /// Whether it is to be run, rather than to be written and read again.
  bool runs = true;
  /// The text of --args="...": the arguments of @main.
  std::string arguments;
};

/// The text between the first `--args="` of a line and the next quote.
std::string argumentsIn(StringRef line) {
  constexpr StringLiteral option = "--args=\"";
  const size_t at = line.find(option);
  if (at == StringRef::npos)
    return "";
  return line.drop_front(at + option.size()).split('"').first.str();
}

Directives directivesOf(StringRef text) {
  constexpr StringLiteral command = "// RUN: ", disabled = "// RUN-DISABLED";
  constexpr StringLiteral interpret = "--interpret";
  Directives found;
  bool hasCommands = false, interprets = false;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    if (line.starts_with(disabled) && line.contains(interpret))
      found.disabled = line.drop_front(StringRef("// ").size()).str();
    if (!line.consume_front(command))
      continue;
    hasCommands = true;
    if (!line.contains(interpret) || line.starts_with("not "))
      continue;
    interprets = true;
    if (found.arguments.empty())
      found.arguments = argumentsIn(line);
  }
  found.runs = !hasCommands || interprets;
  return found;
}

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

/// The dense attributes of a list, as tensors.
Result<std::vector<Tensor>> readArguments(const std::string &text,
                                          MLIRContext *context) {
  std::vector<Tensor> tensors;
  if (text.empty())
    return tensors;
  auto list = dyn_cast_or_null<ArrayAttr>(parseAttribute(text, context));
  if (!list)
    return invalidModel("--args: expected a list of dense attributes");
  for (Attribute attribute : list) {
    auto elements = dyn_cast<ElementsAttr>(attribute);
    std::optional<Tensor> tensor = elements ? toTensor(elements) : std::nullopt;
    if (!tensor)
      return invalidModel("--args: expected a list of dense attributes");
    tensors.push_back(tensor->owned());
  }
  return tensors;
}

Result<void> runInterpreted(func::FuncOp function,
                            const std::vector<Tensor> &arguments,
                            const TestRequest &request) {
  Environment environment;
  if (request.print)
    environment.print = request.print;
  Result<std::vector<Tensor>> results =
      interpret(function, arguments, {}, &environment);
  return results ? Result<void>() : results.takeError();
}

//===----------------------------------------------------------------------===//
// One file
//===----------------------------------------------------------------------===//

class TestRun {
public:
  TestRun(const std::string &path, StringRef text, size_t first,
          const TestRequest &request, TestObserver &observer)
      : path(path), text(text), directives(directivesOf(text)),
        chunks(splitChunks(text)), first(first), request(request),
        observer(observer) {}

  void run() {
    if (!directives.disabled.empty())
      return record("", [&]() -> Result<void> { return {}; });
    for (const TextChunk &chunk : chunks)
      runChunk(chunk);
  }

private:
  using Work = llvm::function_ref<Result<void>()>;

  /// A part of the file with only comments has no case.
  static bool isEmpty(StringRef chunk) {
    while (!chunk.empty()) {
      StringRef line;
      std::tie(line, chunk) = chunk.split('\n');
      line = line.trim();
      if (!line.empty() && !line.starts_with("//"))
        return false;
    }
    return true;
  }

  void runChunk(const TextChunk &chunk) {
    if (isEmpty(chunk.text))
      return;
    const std::string place = "line" + std::to_string(chunk.linesBefore + 1);
    Result<Model> model = parseProgram(chunk.text, path, chunk.linesBefore);
    if (model)
      if (Result<void> sound = checkModel(*model); !sound)
        model = sound.takeError();
    if (chunk.text.find("expected-error") != std::string_view::npos)
      return record(place, [&]() -> Result<void> {
        if (!model)
          return {};
        return Error{ErrorKind::WrongResult, "is read without an error"};
      });
    if (!model)
      return record(place, [&]() -> Result<void> { return model.takeError(); });
    if (!directives.runs)
      return record(place, [&] { return checkWriting(*model); });
    for (func::FuncOp function : programsIn(*model))
      record(nameOf(*model, function, place),
             [&] { return runFunction(*model, function); });
  }

  static SmallVector<func::FuncOp> programsIn(const Model &model) {
    if (func::FuncOp main = model.entry(); main && main.getName() == entryName)
      return {main};
    SmallVector<func::FuncOp> functions;
    for (auto function : model.module().getOps<func::FuncOp>())
      if (!function.isExternal() && function.getNumArguments() == 0)
        functions.push_back(function);
    return functions;
  }

  /// The name of the program in its file.
  std::string nameOf(const Model &model, func::FuncOp function,
                     const std::string &place) {
    if (chunks.size() == 1 && function.getName() == entryName)
      return "";
    std::string name = function.getName().str();
    if (name == entryName)
      name = model.module().getName().value_or(place).str();
    if (!names.insert(name).second)
      name += "." + place;
    return name;
  }

  Result<void> runFunction(const Model &model, func::FuncOp function) {
    Result<std::vector<Tensor>> arguments =
        readArguments(directives.arguments, model.context());
    if (!arguments)
      return arguments.takeError();
    if (arguments->size() != function.getNumArguments())
      return usageError("the program has inputs, so it does not check itself");
    return request.interpret ? runInterpreted(function, *arguments, request)
                             : runCompiledTest(model, function.getName().str(),
                                               *arguments, request);
  }

  void record(const std::string &name, Work work) {
    if (number++ < first || !observer.begin(name))
      return;
    TestOutcome outcome;
    if (!directives.disabled.empty()) {
      outcome = {TestOutcome::Status::Skipped, directives.disabled, {}};
    } else if (Result<void> done = work(); !done) {
      outcome = {TestOutcome::Status::Failed, done.error().message(), {}};
    }
    observer.end(outcome);
  }

  const std::string &path;
  StringRef text;
  const Directives directives;
  const std::vector<TextChunk> chunks;
  const size_t first;
  const TestRequest &request;
  TestObserver &observer;
  /// The cases so far, and their names.
  size_t number = 0;
  std::set<std::string> names;
};

} // namespace

Result<void> MlirCompiler::test(const std::string &path, size_t first,
                                const TestRequest &request,
                                TestObserver &observer) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  TestRun(path, (*file)->text(), first, request, observer).run();
  return {};
}

} // namespace sinter
