//===- StepLines.h - debug information of a bundle ------------------------===//
//
// The source of a bundle's code, for debuggers and profilers, is a listing: a
// line for each step, with the layer's name, and one for each function of a
// kernel, with those of all layers that it computes.
//
//     net_run                              a function of line 1
//       /conv1/Conv, inlined at line 3     the code that calls the kernel
//     /conv1/Conv, a function of line 40   the kernel
//
// Functions of kernels are renamed after their layers, for tools that know
// nothing but symbols.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_STEPLINES_H
#define SINTER_BACKEND_CPU_AHEAD_STEPLINES_H

#include "runtime/Program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/DIBuilder.h"

#include <memory>
#include <string>
#include <vector>

namespace sinter::cpu {

class StepLines {
public:
  /// Begins the listing that will be at \p path, of the code of \p module,
  /// whose symbols begin with \p prefix.
  StepLines(llvm::Module &module, std::string prefix, const std::string &path);

  /// Adds \p steps, whose kernels have the symbols \p kernels, without the
  /// prefix. Steps must stay where they are.
  void addSteps(llvm::ArrayRef<Step> steps,
                llvm::ArrayRef<std::string> kernels);

  /// Where code of \p step in \p function is.
  llvm::DILocation *locationOf(const Step &step, llvm::Function &function);

  /// Gives all other code its lines, when all functions have been added, and
  /// renames the kernels. Returns the listing.
  std::string finish();

  /// \p module as it is without debug information.
  static std::unique_ptr<llvm::Module> strip(const llvm::Module &module);

private:
  void renameKernels();
  void addStep(const Step &step, llvm::ArrayRef<std::string> kernels,
               unsigned depth);
  void addLayer(llvm::Function &function, const std::string &layer);
  llvm::DISubprogram *subprogram(llvm::StringRef name, llvm::StringRef symbol,
                                 unsigned line);
  /// Appends a line and returns its number.
  unsigned addLine(const std::string &content);

  llvm::Module &module;
  std::string prefix;
  std::unique_ptr<llvm::DIBuilder> builder;
  llvm::DIFile *file;
  llvm::DISubroutineType *type;
  std::string listing;
  unsigned lines = 0;
  llvm::DenseMap<const Step *, unsigned> lineOf;
  /// The layers that each function computes, in the order of their steps.
  llvm::MapVector<llvm::Function *, std::vector<std::string>> layersOf;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_STEPLINES_H
