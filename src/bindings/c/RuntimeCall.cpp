//===- RuntimeCall.cpp - functions for code compiled ahead of time --------===//

#include "bindings/c/Handles.h"

#include "runtime/FloatMode.h"
#include "runtime/HostFunctions.h"

#include <string>

namespace sinter::c {

/// The message of this thread's last call that failed.
static std::string &lastError() {
  thread_local std::string message;
  return message;
}

static Result<Tensor> tensorOf(const sinter_runtime_tensor &given) {
  const std::optional<ElementType> type =
      parseElementType(given.type ? given.type : "");
  if (!type || (given.rank != 0 && !given.shape))
    return usageError("a tensor of the call is none");
  Shape shape(given.shape, given.shape + given.rank);
  if (!byteCount(*type, shape))
    return usageError("a tensor of the call has no such size");
  // Memory of the caller, which outlives the call.
  return Tensor::share(*type, std::move(shape), given.data, nullptr);
}

static Result<void> callFunction(const sinter_runtime_call &call) {
  const HostFunction *function =
      findHostFunction(call.function ? call.function : "");
  if (!function || !call.configuration || !call.random)
    return unsupported(
        std::string("this version of libsinter has no function '") +
        (call.function ? call.function : "") + "'");
  std::vector<Tensor> inputs, outputs;
  for (size_t i = 0; i < call.inputs + call.outputs; ++i) {
    Result<Tensor> tensor = tensorOf(call.tensors[i]);
    if (!tensor)
      return tensor.takeError();
    (i < call.inputs ? inputs : outputs).push_back(std::move(*tensor));
  }
  RandomStream random{call.random[0], call.random[1]};
  // As in a run of the library, whatever mode the caller has set.
  const FloatMode mode(Denormals::Keep);
  Result<void> done =
      (*function)(HostCall{call.configuration, inputs, outputs, random});
  call.random[0] = random.seed;
  call.random[1] = random.drawn;
  return done;
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_call_runtime(const sinter_runtime_call *call) {
  sinter_error *error = nullptr;
  const sinter_status status = guarded(&error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(call, "call"); !good)
      return good;
    if (Result<void> good =
            checkSize(call->struct_size, sizeof(*call), sizeof(*call), "call");
        !good)
      return good;
    return callFunction(*call);
  });
  if (error)
    lastError() = sinter_error_message(error);
  sinter_error_free(error);
  return status;
}

const char *sinter_runtime_error(void) { return lastError().c_str(); }

} // extern "C"
