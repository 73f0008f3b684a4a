#include "passes/OldNames.h"

namespace sinter {

namespace {
struct Renamed {
  llvm::StringLiteral old, current;
};
} // namespace

static constexpr Renamed renamed[] = {
    {"cpu-estimate-areas", "cpu-assume-spatial-sizes"},
    {"cpu-form-sized-calls", "cpu-outline-sized-calls"},
    {"cpu-fuse-extremes", "cpu-fuse-min-max"},
    {"cpu-join-open", "cpu-inline-dynamic"},
    {"cpu-keep-parts", "cpu-keep-split-operands"},
    {"cpu-name-sizes", "cpu-infer-dimensions"},
    {"cpu-narrow-products", "cpu-low-bit-products"},
    {"cpu-narrow-tables", "cpu-low-bit-tables"},
    {"cpu-pair-extremes", "cpu-pair-min-max"},
    {"cpu-part-open", "cpu-outline-dynamic"},
    {"cpu-remove-unused", "cpu-remove-dead-code"},
    {"cpu-split-joints", "cpu-split-concatenates"},
    {"cpu-spread-batch-norms", "cpu-lower-batch-norms"},
    {"cpu-tabulate-bytes", "cpu-tabulate-int8"},
    {"cpu-widen-bytes", "cpu-widen-int8"},
    {"cut-once", "split-once"},
    {"fuse-extremes", "fuse-min-max"},
    {"keep-parts", "keep-split-operands"},
    {"narrow-product", "low-bit-product"},
    {"narrow-table", "low-bit-table"},
    {"pair-extremes", "pair-min-max"},
    {"split-joint", "split-concatenate"},
    {"tabulate-bytes", "tabulate-int8"},
    {"widen-bytes", "widen-int8"},
};

llvm::StringRef currentName(llvm::StringRef name) {
  for (const Renamed &each : renamed)
    if (name == each.old)
      return each.current;
  return name;
}

} // namespace sinter
