//===- PaddleReaderFuzzer.cpp - Paddle programs that are nearly right -----===//
//
// Reads the bytes as a program into the graph language, with parameters as it
// declares them. Nothing may crash, every error is one line, and what is read
// is a sound module. Mutations change the program's parts rather than its
// bytes: other operators, arguments, attributes, sizes. So most of what is
// tried gets past the file's checks, to the operators' readers.
//
//===----------------------------------------------------------------------===//

#include "MemoryErrors.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/PaddleReader.h"
#include "formats/paddle/file/ParameterFile.h"
#include "formats/paddle/file/ProgramDesc.h"
#include "formats/paddle/file/RandomParameters.h"
#include "mlir/IR/Verifier.h"

#include <cstdio>
#include <cstdlib>
#include <random>

using namespace sinter;
using namespace sinter::paddle;

namespace {

/// A combined file for \p program; nothing where that would be large.
std::optional<std::string> parametersFor(const Program &program) {
  const RandomParameters random(program, 0);
  std::string bytes;
  for (const Variable *each : program.parameters()) {
    const auto size =
        each->type ? byteCount(*each->type, each->dims) : std::nullopt;
    if (!size || *size > 1 << 16 || bytes.size() > 1 << 20)
      return std::nullopt;
    const Tensor tensor = *random.draw(*each);
    bytes += *tensorHeader(tensor);
    bytes.append(reinterpret_cast<const char *>(tensor.data()), tensor.bytes());
  }
  return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const AbortOnMemoryErrors atTheEnd;
  const std::string bytes(reinterpret_cast<const char *>(data), size);
  Result<Program> program = decodeProgramDesc(bytes);
  if (!program)
    return 0;
  const std::optional<std::string> parameters = parametersFor(*program);
  if (!parameters)
    return 0;
  Result<PaddleFile> file = PaddleFile::fromMemory(bytes, *parameters, "fuzz");
  if (!file)
    return 0;
  Result<Model> model = readPaddle(*file);
  if (!model) {
    if (model.error().message().find('\n') != std::string::npos) {
      std::fprintf(stderr, "%s\n", model.error().message().c_str());
      std::abort();
    }
    return 0;
  }
  if (failed(mlir::verify(model->module())))
    std::abort();
  return 0;
}

namespace {

/// Changes a program in one place at a time.
class Mutator {
public:
  Mutator(Program &program, unsigned seed) : program(program), random(seed) {}

  void mutate() {
    for (int edits = 1 + below(3); edits > 0; --edits)
      edit(program.blocks[below(program.blocks.size())]);
  }

private:
  size_t below(size_t limit) { return random() % limit; }
  template <typename List> auto *pick(List &list) {
    return list.empty() ? nullptr : &list[below(list.size())];
  }

  int64_t number() {
    static constexpr int64_t numbers[] = {
        0,  1,  2,  3,         4,         5,         7,         16,
        -1, -2, -3, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 20};
    return numbers[below(std::size(numbers))];
  }
  double real() {
    static constexpr double numbers[] = {0, 1, -1, 0.5, 1e-30, 1e30, 3};
    return numbers[below(std::size(numbers))];
  }

  void edit(Block &block) {
    if (below(5) == 0) {
      if (Variable *variable = pick(block.variables))
        editVariable(*variable);
    } else if (Operator *op = pick(block.operators)) {
      // It is no longer what stands in the file.
      op->encoded.clear();
      editOperator(block, *op);
    }
  }

  void editVariable(Variable &variable) {
    variable.index = -1;
    switch (below(4)) {
    case 0:
      variable.type = ElementType(below(size_t(ElementType::C128) + 1));
      return;
    case 1:
      if (!variable.dims.empty())
        variable.dims.pop_back();
      return;
    case 2:
      variable.dims.push_back(1 + static_cast<int64_t>(below(4)));
      return;
    default:
      if (int64_t *dim = pick(variable.dims))
        *dim = number();
    }
  }

  void editOperator(Block &block, Operator &op) {
    switch (below(7)) {
    case 0: {
      const auto tables = operatorTables();
      const OperatorReaders readers = tables[below(tables.size())]();
      op.type = readers[below(readers.size())].name.str();
      return;
    }
    case 1: // Another argument, perhaps one of a later operator.
      if (Slot *slot = pick(op.inputs))
        if (std::string *argument = pick(slot->arguments))
          if (Variable *variable = pick(block.variables))
            *argument = variable->name;
      return;
    case 2:
      if (Slot *slot = pick(below(3) ? op.inputs : op.outputs)) {
        if (below(2))
          slot->arguments.clear();
        else if (!slot->arguments.empty())
          slot->arguments.push_back(slot->arguments.front());
      }
      return;
    case 3: // A slot by the name of another operator's.
      if (Slot *slot = pick(op.inputs))
        if (Operator *other = pick(block.operators))
          if (Slot *from = pick(other->inputs))
            slot->name = from->name;
      return;
    case 4:
      if (!op.attributes.empty())
        op.attributes.erase(op.attributes.begin() +
                            static_cast<long>(below(op.attributes.size())));
      return;
    default:
      if (Attribute *attribute = pick(op.attributes))
        editAttribute(*attribute);
    }
  }

  void editAttribute(Attribute &attribute) {
    if (auto *integer = std::get_if<int64_t>(&attribute.value)) {
      *integer = number();
    } else if (auto *truth = std::get_if<bool>(&attribute.value)) {
      *truth = !*truth;
    } else if (auto *one = std::get_if<double>(&attribute.value)) {
      *one = real();
    } else if (auto *list =
                   std::get_if<std::vector<int64_t>>(&attribute.value)) {
      if (below(3) == 0)
        list->push_back(number());
      else if (int64_t *each = pick(*list); each && below(2))
        *each = number();
      else if (!list->empty())
        list->pop_back();
    } else if (auto *text = std::get_if<std::string>(&attribute.value)) {
      static constexpr const char *texts[] = {"",     "SAME", "VALID", "NHWC",
                                              "NCHW", "max",  "linear"};
      *text = texts[below(std::size(texts))];
    } else if (auto *block = std::get_if<BlockIndex>(&attribute.value)) {
      block->index = static_cast<int64_t>(below(program.blocks.size()));
    }
  }

  Program &program;
  std::mt19937 random;
};

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Result<Program> program =
      decodeProgramDesc({reinterpret_cast<const char *>(data), size});
  if (!program)
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator(*program, seed).mutate();
  const Result<std::string> bytes = encodeProgramDesc(*program);
  if (!bytes || bytes->size() > maxSize)
    return size;
  std::memcpy(data, bytes->data(), bytes->size());
  return bytes->size();
}
