//===- StringTensors.h - strings of the C interface -----------------------===//

#ifndef SINTER_BINDINGS_C_STRINGTENSORS_H
#define SINTER_BINDINGS_C_STRINGTENSORS_H

#include "runtime/TensorView.h"
#include "sinter.h"

#include <string>

namespace sinter::c {

/// The strings of \p view, whose elements are sinter_strings, as a tensor of
/// its own. Usage errors call it \p what.
Result<Tensor> stringsOf(const TensorView &view, const std::string &what);

/// A tensor for describe() alone: its data() are a sinter_string for each
/// string of \p tensor, which it keeps.
Tensor describedStrings(Tensor tensor);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_STRINGTENSORS_H
