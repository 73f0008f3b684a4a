#include "interpreter/TotalOrder.h"

#include <cstring>
#include <limits>

namespace sinter::interpreter {

static bool lacksNegativeZero(ElementType type) {
  return type == ElementType::F8E4M3FNUZ ||
         type == ElementType::F8E4M3B11FNUZ || type == ElementType::F8E5M2FNUZ;
}

template <typename Code>
static void fill(const std::byte *elements, bool lacksNegativeZero,
                 std::span<int64_t> keys) {
  constexpr Code sign = Code(1) << (8 * sizeof(Code) - 1);
  for (int64_t &key : keys) {
    Code code;
    std::memcpy(&code, elements, sizeof(Code));
    elements += sizeof(Code);
    const auto magnitude = static_cast<int64_t>(code & Code(~sign));
    key = (code & sign) == 0 ? magnitude : -1 - magnitude;
    if (lacksNegativeZero && code == sign)
      key = std::numeric_limits<int64_t>::min();
  }
}

void totalOrderKeys(ElementType type, const std::byte *elements,
                    std::span<int64_t> keys) {
  const bool lacks = lacksNegativeZero(type);
  switch (byteSize(type)) {
  case 1:
    return fill<uint8_t>(elements, lacks, keys);
  case 2:
    return fill<uint16_t>(elements, lacks, keys);
  case 4:
    return fill<uint32_t>(elements, lacks, keys);
  default:
    return fill<uint64_t>(elements, lacks, keys);
  }
}

} // namespace sinter::interpreter
