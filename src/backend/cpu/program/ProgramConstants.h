//===- ProgramConstants.h - constants of a program, each there once -------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_PROGRAMCONSTANTS_H
#define SINTER_BACKEND_CPU_PROGRAM_PROGRAMCONSTANTS_H

#include "backend/cpu/emit/KernelPlan.h"
#include "graph/ConstantScope.h"
#include "graph/Model.h"
#include "mlir/IR/Value.h"
#include "runtime/Program.h"

#include <array>
#include <map>
#include <memory>

namespace sinter::cpu {

/// Adds constants to a program. They share the bytes of the model where these
/// are aligned, and keep it alive then.
class ProgramConstants {
public:
  /// What is packed for all kernels that read it is freed, if \p constantScope,
  /// which may be null, has it.
  ProgramConstants(std::shared_ptr<Model> model, ConstantScope *constantScope,
                   Program &program);

  /// The index of \p constant, packed if \p packing is not null. Errors:
  /// Unsupported where its elements cannot be read or computed.
  Result<uint32_t> indexOf(mlir::Value constant, const Packing *packing);
  /// The index of \p tensor, whose bytes the model has.
  uint32_t ofModel(const Tensor &tensor) { return add(tensor, model); }
  /// The index of \p tensor, whose bytes are its own.
  uint32_t owned(const Tensor &tensor) { return add(tensor, nullptr); }

private:
  uint32_t add(const Tensor &tensor, std::shared_ptr<Model> owner);

  void packed(mlir::Value constant);

  std::shared_ptr<Model> model;
  ConstantScope *constantScope;
  /// How often each constant of `constantScope` is still to be packed, if
  /// nothing but kernels reads it.
  llvm::DenseMap<mlir::Attribute, size_t> toPack;
  Program &program;
  /// By hash and size.
  std::map<std::array<uint64_t, 3>, uint32_t> known;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_PROGRAMCONSTANTS_H
