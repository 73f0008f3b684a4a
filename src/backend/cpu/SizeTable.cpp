//===- SizeTable.cpp - what the names of sizes stand for ------------------===//

#include "backend/cpu/SizeTable.h"

#include "graph/NamedSizes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr StringLiteral parametersAttribute = "cpu.size_parameters",
                               sizesAttribute = "cpu.sizes",
                               followingAttribute = "cpu.sizes_that_follow",
                               limitsAttribute = "cpu.size_limits";

/// Terms one after the other: the factor, how many parameters, these.
static SmallVector<int64_t> encoded(const SizeExpression &size) {
  SmallVector<int64_t> numbers;
  for (const SizeExpression::Term &term : size.terms()) {
    numbers.push_back(term.factor);
    numbers.push_back(static_cast<int64_t>(term.parameters.size()));
    llvm::append_range(numbers, term.parameters);
  }
  return numbers;
}

static std::optional<SizeExpression> decoded(ArrayRef<int64_t> numbers) {
  std::vector<SizeExpression::Term> terms;
  while (numbers.size() >= 2) {
    const auto count = static_cast<uint64_t>(numbers[1]);
    SizeExpression::Term &term = terms.emplace_back();
    term.factor = numbers[0];
    numbers = numbers.drop_front(2);
    if (count > numbers.size())
      return std::nullopt;
    for (int64_t parameter : numbers.take_front(count))
      term.parameters.push_back(static_cast<uint32_t>(parameter));
    numbers = numbers.drop_front(count);
  }
  return numbers.empty() ? SizeExpression::of(terms) : std::nullopt;
}

/// The parameter, the kind, the divisor, how many numbers the first size is in,
/// and both sizes.
static SmallVector<int64_t> encoded(const FollowingSize &each) {
  const SmallVector<int64_t> size = encoded(each.size);
  SmallVector<int64_t> numbers = {each.parameter,
                                  static_cast<int64_t>(each.kind), each.divisor,
                                  static_cast<int64_t>(size.size())};
  llvm::append_range(numbers, size);
  llvm::append_range(numbers, encoded(each.other));
  return numbers;
}

static std::optional<FollowingSize>
decodedFollowing(ArrayRef<int64_t> numbers) {
  constexpr size_t head = 4;
  if (numbers.size() < head || numbers[3] < 0 ||
      numbers.size() - head < static_cast<uint64_t>(numbers[3]) ||
      numbers[1] < 0 ||
      numbers[1] > static_cast<int64_t>(FollowingKind::Together))
    return std::nullopt;
  const auto size = decoded(numbers.slice(head, numbers[3])),
             other = decoded(numbers.drop_front(head + numbers[3]));
  if (!size || !other)
    return std::nullopt;
  return FollowingSize{static_cast<uint32_t>(numbers[0]),
                       static_cast<FollowingKind>(numbers[1]), *size, *other,
                       numbers[2]};
}

std::optional<SizeTable> SizeTable::of(ModuleOp module) {
  auto names = module->getAttrOfType<ArrayAttr>(parametersAttribute);
  auto sizes = module->getAttrOfType<ArrayAttr>(sizesAttribute);
  auto limits = module->getAttrOfType<ArrayAttr>(limitsAttribute);
  if (!names || !sizes || !limits)
    return std::nullopt;
  SizeTable table;
  for (auto name : names.getAsRange<StringAttr>())
    table.parameters.push_back(name.str());
  auto read = [](ArrayAttr list, std::vector<SizeExpression> &expressions) {
    for (auto size : list.getAsRange<DenseI64ArrayAttr>()) {
      std::optional<SizeExpression> expression = decoded(size.asArrayRef());
      if (!expression)
        return false;
      expressions.push_back(std::move(*expression));
    }
    return true;
  };
  if (!read(sizes, table.sizes) || !read(limits, table.limits))
    return std::nullopt;
  if (auto following = module->getAttrOfType<ArrayAttr>(followingAttribute))
    for (auto each : following.getAsRange<DenseI64ArrayAttr>()) {
      std::optional<FollowingSize> size = decodedFollowing(each.asArrayRef());
      if (!size)
        return std::nullopt;
      table.following.push_back(std::move(*size));
    }
  return table;
}

void SizeTable::setOf(ModuleOp module) const {
  Builder builder(module.getContext());
  module->setAttr(
      parametersAttribute,
      builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(parameters)));
  auto write = [&](StringRef name, ArrayRef<SizeExpression> expressions) {
    SmallVector<Attribute> all;
    for (const SizeExpression &size : expressions)
      all.push_back(builder.getDenseI64ArrayAttr(encoded(size)));
    module->setAttr(name, builder.getArrayAttr(all));
  };
  write(sizesAttribute, sizes);
  write(limitsAttribute, limits);
  if (following.empty())
    return;
  SmallVector<Attribute> all;
  for (const FollowingSize &each : following)
    all.push_back(builder.getDenseI64ArrayAttr(encoded(each)));
  module->setAttr(followingAttribute, builder.getArrayAttr(all));
}

SizeExpression SizeTable::expressionOf(int64_t size) const {
  const std::optional<int64_t> number = namedSize(size);
  return number ? sizes[*number] : SizeExpression(size);
}

std::optional<SizeExpression>
SizeTable::countOf(ArrayRef<int64_t> shape) const {
  std::optional<SizeExpression> count = 1;
  for (int64_t size : shape)
    if (count)
      count = SizeExpression::productOf(*count, expressionOf(size));
  return count;
}

void SizeTable::addParameter(std::string name) {
  // A name of names would grow without end.
  constexpr size_t longest = 200;
  if (name.size() > longest)
    name = "size " + std::to_string(parameters.size());
  parameters.push_back(std::move(name));
}

std::optional<SizeExpression> SizeTable::quotientOf(const SizeExpression &size,
                                                    int64_t divisor) {
  // floor((s * e + c) / s) = e + floor(c / s)
  std::vector<SizeExpression::Term> terms;
  int64_t rest = 0;
  bool isMultiple = true;
  for (const SizeExpression::Term &term : size.terms())
    if (term.parameters.empty())
      rest = term.factor;
    else if (term.factor % divisor == 0)
      terms.push_back({term.factor / divisor, term.parameters});
    else
      isMultiple = false;
  if (isMultiple) {
    const int64_t number =
        rest / divisor - (rest % divisor != 0 && rest < 0 ? 1 : 0);
    const std::optional<SizeExpression> whole = SizeExpression::of(terms);
    return whole ? SizeExpression::sumOf(*whole, number) : std::nullopt;
  }
  return parameterOf({FollowingKind::Quotient, size, {}, divisor}, [&] {
    return "floor((" + size.text(parameters) + ") / " +
           std::to_string(divisor) + ")";
  });
}

SizeExpression SizeTable::followingOf(FollowingKind kind,
                                      const SizeExpression &size,
                                      const SizeExpression &other) {
  index();
  // Either order is the same.
  if (auto found = bySource.find({kind, other, size, 1});
      found != bySource.end())
    return SizeExpression::parameter(following[found->second].parameter);
  return parameterOf({kind, size, other, 1}, [&] {
    const char *name = kind == FollowingKind::Least      ? "min"
                       : kind == FollowingKind::Greatest ? "max"
                                                         : "together";
    return std::string(name) + "(" + size.text(parameters) + ", " +
           other.text(parameters) + ")";
  });
}

size_t SizeTable::SourceHash::operator()(const Source &source) const {
  const SizeExpressionHash hash;
  return llvm::hash_combine(static_cast<int>(source.kind), hash(source.size),
                            hash(source.other), source.divisor);
}

void SizeTable::index() const {
  for (; indexed < following.size(); ++indexed) {
    const FollowingSize &each = following[indexed];
    bySource.try_emplace({each.kind, each.size, each.other, each.divisor},
                         indexed);
    byParameter.try_emplace(each.parameter, indexed);
  }
}

SizeExpression
SizeTable::parameterOf(const Source &source,
                       llvm::function_ref<std::string()> nameOf) {
  index();
  if (auto found = bySource.find(source); found != bySource.end())
    return SizeExpression::parameter(following[found->second].parameter);
  const auto number = static_cast<uint32_t>(parameters.size());
  following.push_back(
      {number, source.kind, source.size, source.other, source.divisor});
  addParameter(nameOf());
  return SizeExpression::parameter(number);
}

const FollowingSize *SizeTable::sourceOf(uint32_t parameter) const {
  index();
  auto found = byParameter.find(parameter);
  return found == byParameter.end() ? nullptr : &following[found->second];
}

std::optional<SizeExpression> SizeTable::partsOf(const TaskPart &part) {
  std::optional<SizeExpression> count = 1;
  auto blocksOf = [&](const std::optional<SizeExpression> &size,
                      int64_t block) -> std::optional<SizeExpression> {
    if (!size || block == 1)
      return size;
    const auto more = SizeExpression::sumOf(*size, block - 1);
    return more ? quotientOf(*more, block) : std::nullopt;
  };
  for (auto [i, size] : llvm::enumerate(part.sizes)) {
    const auto tiles = blocksOf(expressionOf(size), part.tileOf(i));
    count = count && tiles ? SizeExpression::productOf(*count, *tiles)
                           : std::nullopt;
  }
  return blocksOf(count, part.block);
}
