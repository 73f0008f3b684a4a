//===- FirstError.cpp - keeps the first error instead of printing it ------===//

#include "graph/FirstError.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace sinter {

FirstError::FirstError(MLIRContext *context)
    : handler(
          context,
          [this](Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
                text.empty()) {
              // Some print the operation, over many lines.
              text = diagnostic.str();
              text.resize(std::min(text.find('\n'), text.size()));
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
