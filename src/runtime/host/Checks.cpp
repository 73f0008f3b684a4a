//===- Checks.cpp - checks, prints and probes of programs -----------------===//

#include "runtime/Comparison.h"
#include "runtime/TensorText.h"
#include "runtime/host/Builtin.h"

#include <bit>
#include <cstring>

namespace sinter::host {

Result<void> expectation(const HostCall &call) {
  const HostConfiguration configuration(call.configuration);
  Expectation wanted;
  wanted.kind = static_cast<Expectation::Kind>(configuration.number("kind"));
  wanted.tolerance.absolute =
      std::bit_cast<double>(configuration.number("tolerance"));
  wanted.minUlp = static_cast<uint64_t>(configuration.number("min_ulp"));
  wanted.maxUlp = static_cast<uint64_t>(configuration.number("max_ulp"));
  const Tensor *got = &call.inputs[0], *expected = &call.inputs[1];
  if (configuration.number("swapped") != 0)
    std::swap(got, expected);
  for (Tensor &output : call.outputs)
    std::memset(output.mutableBytes(), 1, output.bytes());
  return expect(*got, *expected, wanted);
}

Result<void> probe(const HostCall &call) {
  if (call.observer)
    (*call.observer)(call.configuration, call.inputs[0]);
  return {};
}

Result<void> print(const HostCall &call) {
  const std::string text =
      oneLine(call.configuration) + " = " + tensorText(call.inputs[0]) + "\n";
  if (call.printer && *call.printer)
    (*call.printer)(text);
  else
    printToStandardOutput(text);
  return {};
}

} // namespace sinter::host
