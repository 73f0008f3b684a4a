#include "formats/paddle/file/PirTypes.h"

#include <algorithm>

namespace sinter::paddle {

static constexpr PirType types[] = {
    {ElementType::I1, "bool", "bool", 0},
    {ElementType::I16, "i16", "int16", 1},
    {ElementType::I32, "i32", "int32", 2},
    {ElementType::I64, "i64", "int64", 3},
    {ElementType::F16, "f16", "float16", 4},
    {ElementType::F32, "f32", "float32", 5},
    {ElementType::F64, "f64", "float64", 6},
    {ElementType::UI8, "ui8", "uint8", 20},
    {ElementType::I8, "i8", "int8", 21},
    {ElementType::BF16, "bf16", "bfloat16", 22},
    {ElementType::C64, "c64", "complex64", 23},
    {ElementType::C128, "c128", "complex128", 24},
    {ElementType::F8E4M3FN, "f8e4m3fn", "float8_e4m3fn", 32},
    {ElementType::F8E5M2, "f8e5m2", "float8_e5m2", 33},
};

template <typename Key, typename Field>
static const PirType *find(const Key &key, Field field) {
  const auto *found = std::ranges::find(types, key, field);
  return found == std::end(types) ? nullptr : found;
}

const PirType *pirTypeTagged(std::string_view tag) {
  return find(tag, &PirType::tag);
}
const PirType *pirTypeNamed(std::string_view name) {
  return find(name, &PirType::name);
}
const PirType *pirTypeNumbered(int64_t number) {
  return find(number, &PirType::number);
}
const PirType *pirTypeOf(ElementType type) {
  return find(type, &PirType::type);
}

} // namespace sinter::paddle
