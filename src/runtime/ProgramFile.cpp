//===- ProgramFile.cpp - a compiled program on disk -----------------------===//

#include "runtime/ProgramFile.h"
#include "runtime/ByteStream.h"
#include "runtime/ContractBytes.h"
#include "runtime/CpuCount.h"
#include "runtime/DynamicProgram.h"
#include "runtime/Hash.h"
#include "runtime/MappedFile.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

namespace sinter {

namespace {

constexpr std::string_view programMagic{"SINTERP\0", 8};
/// Incremented with every change of the format.
constexpr uint32_t formatVersion = 10;
constexpr size_t headerSize = 8 + 4 + 4 + 8 + 16 + 8;
constexpr uint64_t constantAlignment = 64;
/// The bytes of constants per hash.
constexpr uint64_t pieceBytes = uint64_t(4) << 20;

uint64_t alignUp(uint64_t offset) {
  return (offset + constantAlignment - 1) / constantAlignment *
         constantAlignment;
}

uint64_t pieceCount(uint64_t bytes) {
  return bytes / pieceBytes + (bytes % pieceBytes != 0);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

class MetadataWriter {
public:
  ByteWriter out;

  void program(const Program &program) {
    out.text(program.triple);
    out.list(program.features, [&](const std::string &f) { out.text(f); });
    out.text(program.producer);
    for (const auto *specs : {&program.inputs, &program.outputs})
      out.list(*specs, [&](const TensorSpec &spec) { tensorSpec(spec); });
    out.list(program.states, [&](const ProgramState &state) {
      tensorSpec(state.spec);
      out.number(state.initial);
    });
    out.number(program.arenaBytes);
    code(program.code);
    out.list(program.kernels,
             [&](const KernelContract &kernel) { writeContract(out, kernel); });
    steps(program.steps);
    // Sizes only: the constants follow each other in order, each aligned.
    out.list(program.constants, [&](const ConstantData &constant) {
      out.number(static_cast<uint64_t>(constant.bytes.size()));
    });
    out.number(static_cast<uint8_t>(program.dynamic ? 1 : 0));
    if (program.dynamic)
      dynamicSizes(*program.dynamic);
    out.list(program.nested, [&](const std::shared_ptr<const Program> &each) {
      this->program(*each);
    });
  }

private:
  void expression(const SizeExpression &size) {
    out.list(size.terms(), [&](const SizeExpression::Term &term) {
      out.number(term.factor);
      out.list(term.parameters, [&](uint32_t each) { out.number(each); });
    });
  }
  void expressions(const std::vector<SizeExpression> &list) {
    out.list(list, [&](const SizeExpression &size) { expression(size); });
  }

  void dynamicSizes(const DynamicProgram &dynamic) {
    out.list(dynamic.parameters,
             [&](const std::string &each) { out.text(each); });
    out.list(dynamic.following, [&](const FollowingSize &each) {
      out.number(each.parameter);
      out.number(each.kind);
      expression(each.size);
      expression(each.other);
      out.number(each.divisor);
    });
    expressions(dynamic.sizes);
    out.list(dynamic.guards, [&](const ShapeGuard &guard) {
      out.number(guard.relation);
      expression(guard.left);
      expression(guard.right);
      for (const std::string *text :
           {&guard.node, &guard.leftIs, &guard.rightIs})
        out.text(*text);
    });
    for (const auto *tensors : {&dynamic.inputs, &dynamic.outputs})
      out.list(*tensors, [&](const std::vector<SizeExpression> &dimensions) {
        expressions(dimensions);
      });
    out.list(dynamic.slots, [&](const DynamicSlot &slot) {
      out.number(slot.space);
      out.number(slot.index);
      expression(slot.bytes);
      out.number(slot.most);
      out.number(slot.begin);
      out.number(slot.end);
    });
    dynamicSteps(dynamic.steps);
  }

  void dynamicSteps(const std::vector<DynamicStep> &list) {
    out.list(list, [&](const DynamicStep &step) {
      out.list(step.tasks, [&](const SizePart &part) {
        expression(part.size);
        out.number(part.block);
      });
      expression(step.units);
      out.number(step.flopsPerUnit);
      out.number(step.firstSize);
      out.number(step.sizeCount);
      out.number(step.inTurns);
      expression(step.round.size);
      out.number(step.round.block);
      out.list(step.tensors, [&](const std::vector<SizeExpression> &sizes) {
        expressions(sizes);
      });
      out.list(step.defines, [&](const SizeDefinition &each) {
        out.number(each.parameter);
        out.number(each.element);
      });
      out.list(step.bodies, [&](const std::vector<DynamicStep> &body) {
        dynamicSteps(body);
      });
      out.list(step.fits, [&](const std::vector<SizeExpression> &sizes) {
        expressions(sizes);
      });
    });
  }

  void tensorSpec(const TensorSpec &spec) {
    out.text(spec.name);
    out.text(name(spec.type));
    out.list(spec.shape, [&](int64_t dim) { out.number(dim); });
  }

  void code(const CodeImage &image) {
    out.number(static_cast<uint64_t>(image.bytes.size()));
    out.raw(image.bytes);
    for (const CodeImage::Range &range :
         {image.text, image.rodata, image.data}) {
      out.number(range.offset);
      out.number(range.size);
    }
    out.list(image.entries, [&](uint64_t entry) { out.number(entry); });
    out.list(image.relocations, [&](const Relocation &relocation) {
      out.number(relocation.offset);
      out.number(relocation.symbol);
      out.number(relocation.addend);
    });
    out.list(image.externals, [&](const std::string &s) { out.text(s); });
  }

  void buffer(const BufferReference &reference) {
    out.number(reference.space);
    out.number(reference.access);
    out.number(reference.index);
    out.number(reference.offset);
    out.number(reference.bytes);
  }

  void steps(const std::vector<Step> &list) {
    out.list(list, [&](const Step &step) {
      out.number(step.kind);
      out.number(step.kernel);
      out.list(step.buffers,
               [&](const BufferReference &reference) { buffer(reference); });
      out.number(step.tasks);
      out.number(step.firstTask);
      out.number(step.flops);
      out.number(step.bytesMoved);
      out.text(name(step.arithmetic));
      out.text(step.layer);
      out.text(step.op);
      out.text(step.kernelName);
      out.text(name(step.selector));
      out.list(step.bodies,
               [&](const std::vector<Step> &body) { steps(body); });
      out.text(step.hostFunction);
      out.text(step.configuration);
      out.list(step.tensors, [&](const TensorSpec &spec) { tensorSpec(spec); });
    });
  }
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

// The minimum size of an element of each list in the file.
constexpr size_t textSize = 8;
constexpr size_t specSize = 3 * 8;
constexpr size_t bufferSize = 1 + 1 + 4 + 8 + 8;
constexpr size_t relocationSize = 8 + 4 + 8;
constexpr size_t termSize = 2 * 8;
constexpr size_t expressionSize = 8;
constexpr size_t slotSize = 1 + 4 + expressionSize + 3 * 8;
constexpr size_t dynamicStepSize =
    8 + 2 * expressionSize + 2 * 8 + 2 * 4 + 4 + 4 * 8;
constexpr size_t leastProgramSize = 2 * textSize + 11 * 8;
constexpr size_t stepSize = 1 + 4 + 8 + 4 * 8 + 7 * textSize + 2 * 8;

class MetadataReader {
public:
  explicit MetadataReader(std::span<const std::byte> bytes) : in(bytes) {}

  /// The sizes of a program's constants.
  struct Constants {
    Program *program;
    std::vector<uint64_t> sizes;
  };
  /// In the order of the file: a program, then its nested ones.
  std::vector<Constants> constants;
  /// For each chunk of the constants.
  std::vector<uint64_t> hashes;

  /// Reads all but the constants' bytes.
  void program(Program &program) {
    readProgram(program, 0);
    hashes = numbers<uint64_t>();
  }

  bool isComplete() const { return !in.failed() && in.atEnd(); }

private:
  void readProgram(Program &program, unsigned depth) {
    program.triple = in.text();
    program.features = texts();
    program.producer = in.text();
    for (auto *specs : {&program.inputs, &program.outputs})
      *specs = in.list(specSize, [&] { return tensorSpec(); });
    program.states = in.list(specSize + 4, [&] {
      ProgramState state;
      state.spec = tensorSpec();
      state.initial = in.number<uint32_t>();
      return state;
    });
    program.arenaBytes = in.number<uint64_t>();
    program.code = code();
    program.kernels = in.list(contractSize, [&] { return readContract(in); });
    program.steps = steps(0);
    constants.push_back({&program, numbers<uint64_t>()});
    if (in.number<uint8_t>() != 0)
      program.dynamic = dynamicSizes();
    if (depth == maxStepNesting)
      return in.fail();
    program.nested = in.list(leastProgramSize, [&] {
      auto each = std::make_shared<Program>();
      readProgram(*each, depth + 1);
      return std::shared_ptr<const Program>(std::move(each));
    });
  }

  template <typename T> std::vector<T> numbers() {
    return in.list(sizeof(T), [&] { return in.number<T>(); });
  }
  std::vector<std::string> texts() {
    return in.list(textSize, [&] { return in.text(); });
  }
  ElementType elementType() {
    std::optional<ElementType> type = parseElementType(in.text());
    if (!type)
      in.fail();
    return type.value_or(ElementType::I1);
  }

  SizeExpression expression() {
    auto size = SizeExpression::of(in.list(termSize, [&] {
      SizeExpression::Term term;
      term.factor = in.number<int64_t>();
      term.parameters = numbers<uint32_t>();
      return term;
    }));
    if (!size)
      in.fail();
    return size.value_or(SizeExpression());
  }
  std::vector<SizeExpression> expressions() {
    return in.list(expressionSize, [&] { return expression(); });
  }

  std::shared_ptr<const DynamicProgram> dynamicSizes() {
    auto dynamic = std::make_shared<DynamicProgram>();
    dynamic->parameters = texts();
    dynamic->following = in.list(4 + 1 + 2 * expressionSize + 8, [&] {
      FollowingSize each;
      each.parameter = in.number<uint32_t>();
      each.kind = in.number<FollowingKind>();
      each.size = expression();
      each.other = expression();
      each.divisor = in.number<int64_t>();
      return each;
    });
    dynamic->sizes = expressions();
    dynamic->guards =
        in.list(1 + 2 * expressionSize + 3 * sizeof(uint64_t), [&] {
          ShapeGuard guard;
          guard.relation = in.number<ShapeGuard::Relation>();
          guard.left = expression();
          guard.right = expression();
          for (std::string *text : {&guard.node, &guard.leftIs, &guard.rightIs})
            *text = in.text();
          return guard;
        });
    for (auto *tensors : {&dynamic->inputs, &dynamic->outputs})
      *tensors = in.list(sizeof(uint64_t), [&] { return expressions(); });
    dynamic->slots = in.list(slotSize, [&] {
      DynamicSlot slot;
      slot.space = in.number<BufferSpace>();
      slot.index = in.number<uint32_t>();
      slot.bytes = expression();
      slot.most = in.number<uint64_t>();
      slot.begin = in.number<int64_t>();
      slot.end = in.number<int64_t>();
      return slot;
    });
    dynamic->steps = dynamicSteps(0);
    return dynamic;
  }

  std::vector<DynamicStep> dynamicSteps(unsigned depth) {
    if (depth > maxStepNesting) {
      in.fail();
      return {};
    }
    return in.list(dynamicStepSize, [&] {
      DynamicStep step;
      step.tasks = in.list(expressionSize + 8, [&] {
        SizePart part;
        part.size = expression();
        part.block = in.number<int64_t>();
        return part;
      });
      step.units = expression();
      step.flopsPerUnit = in.number<double>();
      step.firstSize = in.number<uint32_t>();
      step.sizeCount = in.number<uint32_t>();
      step.inTurns = in.number<uint32_t>();
      step.round.size = expression();
      step.round.block = in.number<int64_t>();
      step.tensors = in.list(sizeof(uint64_t), [&] { return expressions(); });
      step.defines = in.list(4 + 8, [&] {
        SizeDefinition each;
        each.parameter = in.number<uint32_t>();
        each.element = in.number<int64_t>();
        return each;
      });
      step.bodies =
          in.list(sizeof(uint64_t), [&] { return dynamicSteps(depth + 1); });
      step.fits = in.list(sizeof(uint64_t), [&] { return expressions(); });
      return step;
    });
  }

  TensorSpec tensorSpec() {
    TensorSpec spec;
    spec.name = in.text();
    spec.type = elementType();
    spec.shape = numbers<int64_t>();
    return spec;
  }

  CodeImage code() {
    CodeImage image;
    auto bytes = in.raw(in.number<uint64_t>());
    image.bytes.assign(bytes.begin(), bytes.end());
    for (CodeImage::Range *range : {&image.text, &image.rodata, &image.data}) {
      range->offset = in.number<uint64_t>();
      range->size = in.number<uint64_t>();
    }
    image.entries = numbers<uint64_t>();
    image.relocations = in.list(relocationSize, [&] {
      Relocation relocation;
      relocation.offset = in.number<uint64_t>();
      relocation.symbol = in.number<uint32_t>();
      relocation.addend = in.number<int64_t>();
      return relocation;
    });
    image.externals = texts();
    return image;
  }

  BufferReference buffer() {
    BufferReference reference;
    reference.space = in.number<BufferSpace>();
    reference.access = in.number<BufferAccess>();
    reference.index = in.number<uint32_t>();
    reference.offset = in.number<uint64_t>();
    reference.bytes = in.number<uint64_t>();
    return reference;
  }

  std::vector<Step> steps(unsigned depth) {
    if (depth > maxStepNesting) {
      in.fail();
      return {};
    }
    return in.list(stepSize, [&] {
      Step step;
      step.kind = in.number<StepKind>();
      step.kernel = in.number<uint32_t>();
      step.buffers = in.list(bufferSize, [&] { return buffer(); });
      step.tasks = in.number<int64_t>();
      step.firstTask = in.number<int64_t>();
      step.flops = in.number<double>();
      step.bytesMoved = in.number<double>();
      step.arithmetic = elementType();
      step.layer = in.text();
      step.op = in.text();
      step.kernelName = in.text();
      step.selector = elementType();
      step.bodies = in.list(sizeof(uint64_t), [&] { return steps(depth + 1); });
      step.hostFunction = in.text();
      step.configuration = in.text();
      step.tensors = in.list(specSize, [&] { return tensorSpec(); });
      return step;
    });
  }

  ByteReader in;
};

Error damaged(const std::string &path, std::string_view what) {
  return systemError("'" + path +
                     "': damaged program file: " + std::string(what));
}

/// Checks the header of \p file and finds the metadata.
Result<std::span<const std::byte>> findMetadata(const MappedFile &file) {
  ByteReader header(file.bytes());
  auto start = header.raw(programMagic.size());
  if (std::string_view(reinterpret_cast<const char *>(start.data()),
                       start.size()) != programMagic)
    return damaged(file.path(), "not a Sinter program");
  const auto version = header.number<uint32_t>();
  const auto reserved = header.number<uint32_t>();
  if (version != formatVersion)
    return unsupported("'" + file.path() + "': program format version " +
                       std::to_string(version) + ", this is for version " +
                       std::to_string(formatVersion));
  const auto metadataSize = header.number<uint64_t>();
  Hash128 expected;
  expected.low = header.number<uint64_t>();
  expected.high = header.number<uint64_t>();
  if (header.number<uint64_t>() != file.bytes().size() || reserved != 0 ||
      header.failed())
    return damaged(file.path(), "its size is wrong");
  auto metadata = header.raw(metadataSize);
  if (header.failed() || hashOf(metadata) != expected)
    return damaged(file.path(), "the checksum is wrong");
  return metadata;
}

/// Points the constants of programs into \p file, which they fill from the end
/// of the metadata to the end of the file.
Result<void> placeConstants(std::span<const MetadataReader::Constants> all,
                            uint64_t metadataEnd,
                            const std::shared_ptr<const MappedFile> &file) {
  uint64_t end = metadataEnd;
  for (const auto &[program, sizes] : all)
    for (uint64_t size : sizes) {
      const uint64_t begin = alignUp(end);
      if (begin > file->bytes().size() || size > file->bytes().size() - begin)
        return damaged(file->path(), "constants are missing");
      program->constants.push_back({file, file->bytes().subspan(begin, size)});
      end = begin + size;
    }
  if (end != file->bytes().size())
    return damaged(file->path(), "its size is wrong");
  return {};
}

/// More threads than these do not increase memory bandwidth.
constexpr unsigned mostHashingThreads = 4;

/// Whether the constants, \p bytes, have these hashes.
bool isIntact(std::span<const std::byte> bytes,
              std::span<const uint64_t> hashes) {
  if (hashes.size() != pieceCount(bytes.size()))
    return false;
  std::atomic<size_t> next = 0;
  std::atomic<bool> intact = true;
  const auto work = [&] {
    for (size_t i = next++; i < hashes.size() && intact; i = next++) {
      const auto rest = bytes.subspan(i * pieceBytes);
      if (shortHashOf(rest.first(std::min<size_t>(rest.size(), pieceBytes))) !=
          hashes[i])
        intact = false;
    }
  };
  // A thread is worth two chunks.
  const size_t threads = std::min<size_t>(
      {usableCpuCount(), mostHashingThreads, hashes.size() / 2});
  std::vector<std::thread> others;
  while (others.size() + 1 < threads) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error &) {
      // Without more threads, these do the work.
      break;
    }
  }
  work();
  for (std::thread &other : others)
    other.join();
  return intact;
}

/// In the order of reading.
void addConstants(const Program &program,
                  std::vector<std::span<const std::byte>> &all) {
  for (const ConstantData &constant : program.constants)
    all.push_back(constant.bytes);
  for (const std::shared_ptr<const Program> &each : program.nested)
    addConstants(*each, all);
}

} // namespace

Result<void> saveProgram(const Program &program, const std::string &path) {
  std::vector<std::span<const std::byte>> constants;
  addConstants(program, constants);
  uint64_t constantBytes = 0;
  for (std::span<const std::byte> constant : constants)
    constantBytes = alignUp(constantBytes) + constant.size();
  MetadataWriter metadata;
  metadata.program(program);
  // The constants begin where the metadata end, at the next multiple of 64.
  const uint64_t metadataSize =
      metadata.out.size() + sizeof(uint64_t) * (1 + pieceCount(constantBytes));
  const uint64_t constantBegin = constants.empty()
                                     ? headerSize + metadataSize
                                     : alignUp(headerSize + metadataSize);

  static constexpr std::byte padding[constantAlignment] = {};
  std::vector<std::span<const std::byte>> chunks;
  uint64_t position = 0;
  for (std::span<const std::byte> constant : constants) {
    chunks.push_back(std::span(padding).first(alignUp(position) - position));
    chunks.push_back(constant);
    position = alignUp(position) + constant.size();
  }
  metadata.out.list(hashPieces(chunks, pieceBytes),
                    [&](uint64_t hash) { metadata.out.number(hash); });

  ByteWriter header;
  header.raw(bytesOf(programMagic));
  header.number(formatVersion);
  header.number(uint32_t(0));
  header.number(metadataSize);
  const Hash128 hash = hashOf(metadata.out.bytes());
  header.number(hash.low);
  header.number(hash.high);
  header.number(constantBegin + constantBytes);
  chunks.insert(
      chunks.begin(),
      {header.bytes(), metadata.out.bytes(),
       std::span(padding).first(constantBegin - headerSize - metadataSize)});
  // What the disk has lost is found by its hash.
  return writeFileAtomically(path, chunks, WriteMode::Unsynchronised,
                             Access::OwnerOnly);
}

Result<std::shared_ptr<const Program>> loadProgram(const std::string &path) {
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return loadProgram(*file);
}

Result<std::shared_ptr<const Program>>
loadProgram(const std::shared_ptr<const MappedFile> &file) {
  const std::string &path = file->path();
  Result<std::span<const std::byte>> metadata = findMetadata(*file);
  if (!metadata)
    return metadata.takeError();
  auto program = std::make_shared<Program>();
  MetadataReader reader(*metadata);
  reader.program(*program);
  if (!reader.isComplete())
    return damaged(path, "the metadata make no sense");
  const uint64_t metadataEnd = headerSize + metadata->size();
  if (Result<void> placed = placeConstants(reader.constants, metadataEnd, file);
      !placed)
    return placed.takeError();
  if (Result<void> sound = verify(*program); !sound)
    return damaged(path, sound.error().message());
  const auto rest = file->bytes().subspan(metadataEnd);
  const auto gap = rest.first(
      std::min<uint64_t>(rest.size(), alignUp(metadataEnd) - metadataEnd));
  if (!std::ranges::all_of(gap,
                           [](std::byte b) { return b == std::byte(0); }) ||
      !isIntact(rest.subspan(gap.size()), reader.hashes))
    return damaged(path, "the constants' checksum is wrong");
  return std::shared_ptr<const Program>(std::move(program));
}

} // namespace sinter
