//===- Unique.h - distinct elements, or slices along an axis --------------===//

#ifndef SINTER_FORMATS_IMPORT_UNIQUE_H
#define SINTER_FORMATS_IMPORT_UNIQUE_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// The distinct elements or slices, whose count is known only at run time; for
/// each, the index of its first occurrence and its number of occurrences; and
/// for each index of the operand, which of them is there. Indices are
/// tensor<?xi64>.
struct UniqueSlices {
  mlir::Value slices, first, inverse, counts;
};

/// The distinct slices of \p x along \p axis, or without one its distinct
/// elements as a list; in ascending order if \p isSorted, else in the order of
/// their first occurrences. Fails where the size of \p x is not known, or 0.
std::optional<UniqueSlices> uniqueSlices(GraphBuilder &builder, mlir::Value x,
                                         std::optional<int64_t> axis,
                                         bool isSorted);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_UNIQUE_H
