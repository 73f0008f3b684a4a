#include "runtime/ImagePixels.h"
#include "runtime/host/Builtin.h"

namespace sinter::host {

Result<void> decodeImage(const HostCall &call) {
  const HostConfiguration configuration(call.configuration);
  const int64_t format = configuration.number("format");
  if (call.inputs.size() != 1 || call.outputs.size() != 2 || !call.lists ||
      call.inputs[0].type() != ElementType::UI8 || format < 0 ||
      format > static_cast<int64_t>(ImageChannels::Gray))
    return invalidModel("decodes one encoded stream");
  Result<Tensor> pixels =
      decodePixels({call.inputs[0].data(), call.inputs[0].bytes()},
                   static_cast<ImageChannels>(format));
  if (!pixels)
    return pixels.takeError();
  GatheredRows &rows = (*call.lists)[configuration.number("list")];
  rows.rows = pixels->dim(0);
  rows.bytes.assign(pixels->data(), pixels->data() + pixels->bytes());
  call.outputs[0].set<int64_t>(0, pixels->dim(0));
  call.outputs[1].set<int64_t>(0, pixels->dim(1));
  return {};
}

} // namespace sinter::host
