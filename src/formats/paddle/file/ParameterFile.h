//===- ParameterFile.h - Paddle's parameter files -------------------------===//
//
// A tensor in a file is a version, levels of detail, a small message with type
// and sizes, and its elements, little-endian and row-major, without padding. A
// combined file holds one after the other, without names, in the order of the
// names of the program's parameters (Program::parameters). So tensors are found
// by walking. They are not copied: the tensors refer to the file's bytes,
// aligned or not.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PARAMETERFILE_H
#define SINTER_FORMATS_PADDLE_FILE_PARAMETERFILE_H

#include "formats/paddle/file/Program.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter::paddle {

/// Bytes of a file and their owner.
struct ParameterBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Takes one tensor off the front of \p file. Errors do not name the tensor.
Result<Tensor> takeTensor(ParameterBytes &file);

/// The parameters in a combined file, in the order of \p declared, which is
/// that of Program::parameters. Each must have the declared type and sizes, and
/// the file must end with the last; the error names the first that differs.
Result<std::vector<Tensor>>
readCombined(ParameterBytes file, std::span<const Variable *const> declared);

/// The parameter \p declared from a separate file.
Result<Tensor> readSeparate(ParameterBytes file, const Variable &declared);

/// The header before the elements of \p tensor in a file. Unsupported for
/// element types that Paddle lacks.
Result<std::string> tensorHeader(const Tensor &tensor);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PARAMETERFILE_H
