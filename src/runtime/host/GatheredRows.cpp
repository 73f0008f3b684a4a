//===- GatheredRows.cpp - what loops gather, as host functions ------------===//

#include "runtime/host/Builtin.h"

#include <cstring>
#include <new>

namespace sinter::host {

/// Null for a call that is none of a run.
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
  try {
    all->bytes.insert(all->bytes.end(), rows.data(),
                      rows.data() + rows.bytes());
  } catch (const std::bad_alloc &) {
    return systemError("not enough memory for what a loop gathers");
  }
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
