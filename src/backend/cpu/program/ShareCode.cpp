//===- ShareCode.cpp - one code for kernels that differ in sizes ----------===//

#include "backend/cpu/program/ShareCode.h"

#include "llvm/ADT/StringMap.h"

#include <map>

using namespace sinter;
using namespace sinter::cpu;

std::string SharedCode::textOf(const CodeForm &form) const {
  std::string text = form.text;
  llvm::raw_string_ostream out(text);
  for (auto [place, number] : llvm::zip_equal(places, form.numbers))
    if (place)
      out << '[' << *place << ']';
    else
      out << number.number << ' ';
  return text;
}

/// Finds places for what the kernels of \p code differ in, and for all entries.
static void choosePlaces(SharedCode &code, llvm::ArrayRef<CodeForm> forms) {
  const size_t count = forms[code.kernels.front()].numbers.size();
  code.places.resize(count);
  code.tables.resize(code.kernels.size());
  // Numbers that are the same in each kernel have one place.
  std::map<std::vector<FormNumber>, uint32_t> known;
  std::vector<FormNumber> column(code.kernels.size());
  for (size_t i = 0; i < count; ++i) {
    for (auto [each, kernel] : llvm::zip_equal(column, code.kernels))
      each = forms[kernel].numbers[i];
    if (llvm::all_equal(column) && !column.front().isEntry)
      continue;
    const auto [found, isNew] =
        known.try_emplace(column, static_cast<uint32_t>(known.size()));
    code.places[i] = found->second;
    if (isNew)
      for (auto [table, number] : llvm::zip_equal(code.tables, column))
        table.push_back(number);
  }
}

std::vector<SharedCode> cpu::shareCode(llvm::ArrayRef<CodeForm> forms) {
  std::vector<SharedCode> all;
  llvm::StringMap<size_t> known;
  for (auto [i, form] : llvm::enumerate(forms)) {
    const auto [entry, isNew] = known.try_emplace(form.text, all.size());
    if (isNew)
      all.emplace_back();
    all[entry->second].kernels.push_back(i);
  }
  for (SharedCode &code : all)
    choosePlaces(code, forms);
  return all;
}
