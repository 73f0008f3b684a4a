#include "backend/cpu/emit/KernelPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace sinter::cpu {

size_t KernelPlan::functions() const {
  return std::visit(
      llvm::makeVisitor(
          [](const TaskLoop &) { return size_t(1); },
          [](const DynamicTaskLoop &) { return size_t(1); },
          [](const auto &staged) { return staged.stages.size(); }),
      work);
}

int64_t KernelPlan::tasksOf(size_t number) const {
  return std::visit(
      llvm::makeVisitor(
          [](const TaskLoop &loop) { return loop.tasks; },
          [](const DynamicTaskLoop &) { return int64_t(1); },
          [&](const Stages &all) {
            return all.rounds * all.stages[number].tasks;
          },
          [&](const DynamicStages &all) { return all.stages[number].tasks; }),
      work);
}

Workspace KernelPlan::workspace() const {
  return std::visit(
      llvm::makeVisitor([](const TaskLoop &) { return Workspace(); },
                        [](const DynamicTaskLoop &) { return Workspace(); },
                        [](const auto &staged) { return staged.workspace; }),
      work);
}

std::string stageName(llvm::StringRef name, size_t stage) {
  return stage == 0 ? name.str() : (name + "." + llvm::Twine(stage)).str();
}

} // namespace sinter::cpu
