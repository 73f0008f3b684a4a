//===- StringTensors.cpp - strings of the C interface ---------------------===//

#include "bindings/c/StringTensors.h"

#include "runtime/Strings.h"

#include <vector>

namespace sinter::c {

Result<Tensor> stringsOf(const TensorView &view, const std::string &what) {
  // A type of as many bytes lets elements be checked and gathered.
  static_assert(sizeof(sinter_string) == 16);
  TensorView elements = view;
  elements.type = ElementType::C128;
  if (Result<AddressRange> sound = addressesOf(elements); !sound)
    return inside(what, sound.takeError());
  Result<Tensor> dense = Tensor::allocate(
      ElementType::C128, Shape(view.shape.begin(), view.shape.end()));
  if (!dense)
    return inside(what, dense.takeError());
  copyElements(elements,
               {ElementType::C128, dense->shape(), dense->mutableBytes()});
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i < dense->size(); ++i) {
    const auto each = dense->at<sinter_string>(i);
    if (!each.data && each.size)
      return usageError(what + ": string " + std::to_string(i) + " is NULL");
    texts.emplace_back(each.data, each.size);
  }
  return stringTensor(dense->shape(), std::span<const std::string_view>(texts));
}

Tensor describedStrings(Tensor tensor) {
  struct Described {
    Tensor tensor;
    std::vector<sinter_string> strings;
  };
  auto described = std::make_shared<Described>();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const std::string_view text = stringAt(tensor, i);
    described->strings.push_back({text.data(), text.size()});
  }
  Shape shape = tensor.shape();
  described->tensor = std::move(tensor);
  const sinter_string *data = described->strings.data();
  return Tensor::share(ElementType::STRING, std::move(shape), data,
                       std::move(described));
}

} // namespace sinter::c
