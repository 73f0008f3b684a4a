//===- GatheredRows.cpp - rows that loops collect, as host functions ------===//

#include "runtime/OutOfMemory.h"
#include "runtime/host/Builtin.h"

#include <cstring>

namespace sinter::host {

/// Null for a call outside of a run.
static GatheredRows *rowsOf(const HostCall &call) {
  return call.lists ? &(*call.lists)[HostConfiguration(call.configuration)
                                         .number("list")]
                    : nullptr;
}

static Error ofNoRun() { return systemError("rows are gathered in no run"); }

Result<void> beginRows(const HostCall &call) {
  GatheredRows *all = rowsOf(call);
  if (!all)
    return ofNoRun();
  *all = {};
  return {};
}

Result<void> addRows(const HostCall &call) {
  const Tensor &rows = call.inputs[0];
  if (rows.rank() == 0)
    return invalidModel("rows have no dimension that counts them");
  GatheredRows *all = rowsOf(call);
  if (!all)
    return ofNoRun();
  if (Result<void> kept =
          catchingOutOfMemory("what a loop gathers",
                              [&]() -> Result<void> {
                                all->bytes.insert(all->bytes.end(), rows.data(),
                                                  rows.data() + rows.bytes());
                                return {};
                              });
      !kept)
    return kept;
  all->rows += rows.dim(0);
  return {};
}

Result<void> countRows(const HostCall &call) {
  GatheredRows *all = rowsOf(call);
  if (!all)
    return ofNoRun();
  call.outputs[0].set<int64_t>(0, all->rows);
  return {};
}

Result<void> takeRows(const HostCall &call) {
  GatheredRows *all = rowsOf(call);
  if (!all)
    return ofNoRun();
  Tensor &rows = call.outputs[0];
  if (rows.bytes() != all->bytes.size())
    return systemError("another number of rows was gathered than was counted");
  if (rows.bytes() != 0)
    std::memcpy(rows.mutableBytes(), all->bytes.data(), rows.bytes());
  *all = {};
  return {};
}

} // namespace sinter::host
