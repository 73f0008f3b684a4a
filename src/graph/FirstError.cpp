//===- FirstError.cpp - keeps the first error instead of printing it ------===//

#include "graph/FirstError.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace sinter {

/// \p text without the numbers of the specification's constraints, "(C14)",
/// which verifiers write and users do not know.
static std::string withoutConstraints(std::string text) {
  for (size_t at = 0; (at = text.find("(C", at)) != std::string::npos;) {
    size_t end = at + 2;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
      ++end;
    if (end == at + 2 || end == text.size() || text[end] != ')') {
      at = end;
      continue;
    }
    ++end;
    // With the space behind it, or that in front at the end.
    if (end < text.size() && text[end] == ' ')
      ++end;
    else if (at > 0 && text[at - 1] == ' ')
      --at;
    text.erase(at, end - at);
  }
  return text;
}

FirstError::FirstError(MLIRContext *context)
    : handler(
          context,
          [this](Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
                text.empty()) {
              // Some print the operation, over many lines.
              text = diagnostic.str();
              text.resize(std::min(text.find('\n'), text.size()));
              text = withoutConstraints(std::move(text));
              line = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
            }
            return success();
          }),
      context(context),
      didShowOperations(context->shouldPrintOpOnDiagnostic()) {
  context->printOpOnDiagnostic(false);
}

FirstError::~FirstError() { context->printOpOnDiagnostic(didShowOperations); }

std::string FirstError::take() { return std::exchange(text, {}); }

Error FirstError::takeError(ErrorKind kind, const std::string &path) {
  Error error(kind, take());
  if (line) {
    error.file = oneLine(line.getFilename().strref());
    error.position =
        std::to_string(line.getLine()) + ":" + std::to_string(line.getColumn());
  }
  return inFile(std::move(error), path);
}

} // namespace sinter
