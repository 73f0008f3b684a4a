//===- DecodePir.cpp - programs from PIR's JSON ---------------------------===//
//
// The text is read sequentially, one operator at a time. What Program has no
// operators for (parameters, inputs and outputs, lists of values, the ends of
// regions) stays as text in Program::encoded, in which each run of other
// operators is replaced by its length. An operator's `encoded` is its index
// among all of the file's operators, a colon, and its text.
//
//===----------------------------------------------------------------------===//

#include "formats/paddle/file/PirDecoder.h"
#include "formats/paddle/file/PirProgram.h"

#include <algorithm>

namespace sinter::paddle {

/// Maximum nesting depth of regions.
static constexpr int deepestRegions = 64;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

bool PirDecoder::decodeOperator(JsonReader &in, int64_t index,
                                const PirRegionEnd &ending) {
  RawPirOperator raw;
  raw.ordinal = nextOrdinal++;
  const bool wasRead = readPirOperator(in, raw);
  if (raw.isPrerelease)
    return stop(unsupported(
        "a PIR program of a form that was never released (its keys are not "
        "shortened); export the model with Paddle 3.0 or later"));
  if (!wasRead)
    return check(in);
  const char *const begin = raw.text.data();
  bool isHidden = raw.name == "cf.yield";
  if (!(isHidden ? addEnd(raw, index, ending)
                 : addHidden(raw, index, isHidden)))
    return false;
  if (isHidden || !raw.regions.empty()) {
    if (run > 0)
      endRun();
    // The text is kept, except for operators in regions.
    if (isHidden)
      return true;
  } else if (run++ == 0) {
    copyUntil(begin);
  }
  if (raw.regions.empty())
    copied = begin + raw.text.size();
  if (raw.name == "pd_op.if")
    return addBranch(raw, index);
  if (raw.name == "pd_op.while")
    return addLoop(raw, index);
  return addOther(raw, index);
}

bool PirDecoder::decodeArguments(JsonReader &in, int64_t index,
                                 const PirRegionEnd &ending) {
  if (!in.enterArray())
    return check(in);
  while (in.nextElement()) {
    int64_t id = 0;
    PirValueType type;
    if (!in.enterObject())
      break;
    for (std::string_view key; in.nextKey(key);)
      if (key == "#")
        in.readInteger(id);
      else if (key == "TT")
        readValueType(in, type);
      else
        in.skip();
    if (!check(in))
      return false;
    std::vector<std::string> &arguments = program.blocks[index].arguments;
    // Keyword arguments repeat positional ones.
    const auto before = values.find(id);
    if (id < 0 && before != values.end() &&
        before->second.depth == scopes.size())
      continue;
    const size_t place = arguments.size();
    const bool isCarried =
        ending.form == PirRegionEnd::Loop && place < ending.results.size();
    const std::string name =
        isCarried ? ending.results[place] : "%" + std::to_string(id);
    PirValue *value = define(id, name);
    if (!value)
      return false;
    value->type = type.variable.type;
    value->isArray = type.variable.kind == VariableKind::TensorArray;
    arguments.push_back(name);
    if (!isCarried)
      declare(index, std::move(type.variable), name);
  }
  return check(in);
}

bool PirDecoder::decodeBlock(JsonReader &in, int64_t index,
                             const PirRegionEnd &ending) {
  if (!in.enterObject())
    return check(in);
  scopes.emplace_back();
  bool hasOperators = false;
  for (std::string_view key; in.nextKey(key);) {
    if (key == "id")
      return stop(unsupported(
          "a PIR program of a form that was never released (its keys are not "
          "shortened); export the model with Paddle 3.0 or later"));
    if ((key == "args" || key == "kwargs") && hasOperators)
      return stop(broken("a block has arguments after its operators"));
    if (key == "args" || key == "kwargs") {
      if (!decodeArguments(in, index, ending))
        return false;
    } else if (key == "ops") {
      hasOperators = true;
      if (!in.enterArray())
        break;
      while (in.nextElement())
        if (!decodeOperator(in, index, ending))
          return false;
      endRun();
    } else {
      in.skip();
    }
  }
  if (!check(in))
    return false;
  if (!hasOperators)
    return stop(broken("a block has no list of operators"));
  for (const int64_t id : scopes.back())
    values.find(id)->second.isVisible = false;
  scopes.pop_back();
  return true;
}

/// A list of regions, each of one block. The main region has no parent.
bool PirDecoder::decodeRegions(JsonReader &in,
                               const std::vector<PirRegionEnd> &endings,
                               std::vector<int64_t> *indices) {
  const int64_t parent = scopes.empty() ? -1 : current;
  if (static_cast<int>(scopes.size()) > deepestRegions)
    return stop(broken("regions are nested more than " +
                       std::to_string(deepestRegions) + " deep"));
  if (!in.enterArray())
    return check(in);
  for (size_t i = 0; in.nextElement(); ++i) {
    size_t blocks = 0;
    if (!in.enterObject())
      break;
    for (std::string_view key; in.nextKey(key);) {
      if (key != "blocks") {
        in.skip();
        continue;
      }
      if (!in.enterArray())
        break;
      while (in.nextElement()) {
        if (++blocks > 1)
          return stop(unsupported("a region of more than one block"));
        const auto index = static_cast<int64_t>(program.blocks.size());
        program.blocks.emplace_back().parent = parent;
        if (indices)
          indices->push_back(index);
        current = index;
        const bool done = decodeBlock(
            in, index, i < endings.size() ? endings[i] : PirRegionEnd());
        current = parent;
        if (!done)
          return false;
      }
    }
    if (check(in) && blocks == 0)
      return stop(broken("a region without a block"));
  }
  return check(in);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

bool PirDecoder::decodeHeader(JsonReader &in) {
  std::string magic;
  int64_t version = 0;
  if (!in.enterObject())
    return check(in);
  for (std::string_view key; in.nextKey(key);)
    if (key == "magic")
      in.readString(magic);
    else if (key == "version")
      in.readInteger(version);
    else
      in.skip();
  if (!check(in))
    return false;
  if (magic != "pir")
    return stop(broken("the header does not say that this is PIR"));
  if (version < 1 || version > 4)
    return stop(unsupported("a PIR program of version " +
                            std::to_string(version) +
                            "; versions 1 to 4 can be read"));
  return true;
}

Result<Program> PirDecoder::decode() {
  program.era = Era::Pir;
  JsonReader in(text);
  bool hasHeader = false, hasProgram = false;
  if (in.enterObject())
    for (std::string_view key; in.nextKey(key);) {
      if (key == "base_code") {
        hasHeader = true;
        decodeHeader(in);
      } else if (key == "program" && !hasProgram) {
        hasProgram = true;
        if (!in.enterObject())
          break;
        for (std::string_view member; in.nextKey(member);)
          if (member == "regions" && program.blocks.empty())
            decodeRegions(in, {}, nullptr);
          else
            in.skip();
      } else {
        in.skip();
      }
      if (problem)
        return *problem;
    }
  if (!check(in))
    return *problem;
  if (!in.atEnd())
    return broken("text after the program's end");
  if (!hasHeader)
    return broken("JSON without the header of a PIR program (base_code)");
  if (program.blocks.empty())
    return broken("the program has no block");
  copyUntil(text.data() + text.size());
  std::vector<std::pair<int64_t, size_t>> order;
  for (const int64_t column : columns)
    order.push_back({column, order.size()});
  std::ranges::sort(order);
  std::vector<Port> outputs;
  for (const auto &[column, i] : order)
    outputs.push_back(std::move(program.outputs[i]));
  program.outputs = std::move(outputs);
  return std::move(program);
}

Result<Program> decodePir(std::string_view text) {
  return PirDecoder(text).decode();
}

} // namespace sinter::paddle
