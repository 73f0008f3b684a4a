//===- InspectReport.h - what sinter inspect prints -----------------------===//

#ifndef SINTER_DRIVER_INSPECTREPORT_H
#define SINTER_DRIVER_INSPECTREPORT_H

#include "engine/Compiler.h"
#include "runtime/Program.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sinter::driver {

/// What is known of a model.
struct InspectedModel {
  /// The file, and --precision, as they were given.
  std::string path, precision;
  ModelDescription description;
  FileCounts counts;
  /// Nothing if the graph depends on values of inputs; `notes` say so.
  std::optional<GraphFacts> facts;
  ModelFlops flops;
  /// Null if there is none.
  std::shared_ptr<const Program> program;
  std::vector<std::string> notes;
};

/// What the text has besides.
struct InspectTables {
  /// Every tensor; every step of the program; the operations of the graph.
  bool tensors = false, steps = false, operations = false;
};

void printInspected(const InspectedModel &model, const InspectTables &tables);
void printInspectedJson(const InspectedModel &model);

/// The functions of a file that has several, and none to run.
void printFunctions(const std::vector<FunctionDescription> &functions);
void printFunctionsJson(const std::string &model,
                        const std::vector<FunctionDescription> &functions,
                        const std::string &note);

} // namespace sinter::driver

#endif // SINTER_DRIVER_INSPECTREPORT_H
