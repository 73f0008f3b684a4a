//===- Slices.h - slices with bounds that may be unknown ------------------===//

#ifndef SINTER_FORMATS_IMPORT_SLICES_H
#define SINTER_FORMATS_IMPORT_SLICES_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// A bound of a slice: static, or element `index` of a list that is known only
/// at run time.
struct SliceBound {
  Element element;
  mlir::Value list;
  int64_t index;
};

/// The elements of the vector \p list, whose length is known, as far as they
/// are known.
std::vector<SliceBound> sliceBounds(GraphBuilder &builder, mlir::Value list);

/// Builds a slice axis by axis. Bounds are those of Python: a negative one
/// counts from the end, one outside is clamped.
class Slicer {
public:
  Slicer(GraphBuilder &builder, mlir::Value data)
      : builder(builder), data(data), strides(builder.rank(data), 1),
        sizes(builder.shape(data)), first(builder.rank(data), 0),
        limit(builder.shape(data)), starts(builder.rank(data), Dim(0)),
        limits(builder.dims(data)) {}

  /// \p step is not 0.
  void along(int64_t axis, const SliceBound &start, const SliceBound &end,
             int64_t step);
  mlir::Value finish();

private:
  void alongDynamic(int64_t axis, const SliceBound &start,
                    const SliceBound &end, bool isReversed);

  GraphBuilder &builder;
  mlir::Value data;
  Ints strides, sizes;
  /// The static bounds.
  Ints first, limit, reversed;
  /// The same with bounds that are known only at run time.
  Dims starts, limits;
  bool isKnown = true;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_SLICES_H
