//===- EncodePirNames.cpp - values of variables in PIR --------------------===//

#include "formats/paddle/file/PirEncoder.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sinter::paddle {

const Variable *PirEncoder::declarationOf(const std::string &name) const {
  for (int64_t block = current; block >= 0;
       block = program.blocks[block].parent) {
    const auto found = declared[block].find(name);
    if (found != declared[block].end())
      return found->second;
  }
  return nullptr;
}

int64_t PirEncoder::freshId() { return ++largestId; }

void PirEncoder::setName(const std::string &name, int64_t id, bool isAlias) {
  std::vector<int64_t> &ids = idsOfNames[name];
  if (isAlias)
    undo.push_back({name, true, {}});
  else
    undo.push_back({name, false, std::exchange(ids, {})});
  ids.push_back(id);
  nameOfIds[id] = name;
}

int64_t PirEncoder::define(const std::string &name, int64_t wanted,
                           bool isAlias) {
  const int64_t id =
      wanted != 0 && definedIds.insert(wanted).second ? wanted : freshId();
  definedIds.insert(id);
  if (!name.empty())
    setName(name, id, isAlias);
  return id;
}

int64_t PirEncoder::idOf(const std::string &name, int64_t original) {
  const auto found = idsOfNames.find(name);
  if (found != idsOfNames.end() && !found->second.empty()) {
    // Usually the last one.
    const std::vector<int64_t> &ids = found->second;
    return std::find(ids.rbegin(), ids.rend(), original) != ids.rend()
               ? original
               : ids.back();
  }
  if (const auto list = listOfParts.find(name); list != listOfParts.end()) {
    splitList(list->second);
    if (const auto again = idsOfNames.find(name); again != idsOfNames.end())
      return again->second.back();
  }
  fail("variable '" + name + "' is read before it is written");
  return 0;
}

/// Gives each element of a list an id.
void PirEncoder::splitList(int64_t id) {
  const std::vector<std::string> names = listNames[id];
  std::string results;
  std::vector<int64_t> ids;
  for (const std::string &name : names) {
    listOfParts.erase(name);
    ids.push_back(define(name, 0));
    appendResult(results, ids.back(), declarationOf(name), name);
  }
  addNew("{\"#\":\"0.split\",\"A\":[],\"I\":[{\"%\":" + std::to_string(id) +
             "}],\"O\":[" + results + "],\"OA\":[" +
             stopsGradient(names.size()) + "]}",
         std::array{id}, ids);
}

int64_t PirEncoder::listOf(const std::vector<std::string> &names,
                           int64_t original) {
  if (const auto list = listNames.find(original);
      list != listNames.end() && list->second == names)
    return original;
  if (const auto hidden = combines.find(original); hidden != combines.end()) {
    PirSkeleton::Item &item = *hidden->second;
    bool isSame = item.raw.operands.size() == names.size();
    for (size_t i = 0; isSame && i < names.size(); ++i)
      isSame = definedIds.contains(item.raw.operands[i]) &&
               idOf(names[i], item.raw.operands[i]) == item.raw.operands[i];
    if (isSame) {
      if (definedIds.insert(original).second)
        addHidden(item);
      return original;
    }
  }
  std::string operands, types;
  std::vector<int64_t> parts;
  for (const std::string &name : names) {
    parts.push_back(idOf(name, 0));
    operands += "{\"%\":" + std::to_string(parts.back()) + "},";
    const Variable *variable = declarationOf(name);
    if (!variable || !appendTensorType(types, *variable))
      fail("variable '" + name + "' has no type that PIR knows");
    types += ',';
  }
  if (!names.empty()) {
    operands.pop_back();
    types.pop_back();
  }
  const int64_t id = define("", 0);
  addNew("{\"#\":\"0.combine\",\"A\":[],\"I\":[" + operands +
             "],\"O\":[{\"%\":" + std::to_string(id) +
             ",\"TT\":{\"#\":\"0.t_vec\",\"D\":[" + types + "]}}],\"OA\":[" +
             stopsGradient(1) + "]}",
         parts, std::array{id});
  return id;
}

} // namespace sinter::paddle
