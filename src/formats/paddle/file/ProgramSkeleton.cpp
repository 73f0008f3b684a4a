#include "formats/paddle/file/ProgramSkeleton.h"

#include "formats/paddle/file/framework.pb.h"

namespace sinter::paddle {

void appendField(std::string &out, uint32_t number, std::string_view content) {
  appendTag(out, number, WireType::Bytes);
  appendVarint(out, content.size());
  out += content;
}

void appendRun(std::string &block, uint64_t count) {
  appendTag(block, schema::BlockDesc::kOpsFieldNumber, WireType::Varint);
  appendVarint(block, count);
}

bool isRun(const WireField &field) {
  return field.number == schema::BlockDesc::kOpsFieldNumber &&
         field.type == WireType::Varint;
}

} // namespace sinter::paddle
