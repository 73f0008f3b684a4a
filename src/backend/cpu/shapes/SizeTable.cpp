//===- SizeTable.cpp - what the names of sizes stand for ------------------===//

#include "backend/cpu/shapes/SizeTable.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The module's attribute: a dictionary of the parameters' names, what follows
/// from them, the guards, and, once sizes have names, what these stand for.
static constexpr StringLiteral tableAttribute = "cpu.size_table",
                               parametersKey = "parameters",
                               followingKey = "following", guardsKey = "guards",
                               sizesKey = "sizes";

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

/// What it needs: two sizes, the relation, and three texts.
static DictionaryAttr encoded(const ShapeGuard &guard, Builder &builder) {
  return builder.getDictionaryAttr({
      builder.getNamedAttr("left",
                           builder.getDenseI64ArrayAttr(encoded(guard.left))),
      builder.getNamedAttr("left_is", builder.getStringAttr(guard.leftIs)),
      builder.getNamedAttr("node", builder.getStringAttr(guard.node)),
      builder.getNamedAttr(
          "relation",
          builder.getI32IntegerAttr(static_cast<int32_t>(guard.relation))),
      builder.getNamedAttr("right",
                           builder.getDenseI64ArrayAttr(encoded(guard.right))),
      builder.getNamedAttr("right_is", builder.getStringAttr(guard.rightIs)),
  });
}

static std::optional<ShapeGuard> decodedGuard(DictionaryAttr dictionary) {
  auto relation = dictionary.getAs<IntegerAttr>("relation");
  auto left = dictionary.getAs<DenseI64ArrayAttr>("left"),
       right = dictionary.getAs<DenseI64ArrayAttr>("right");
  auto leftIs = dictionary.getAs<StringAttr>("left_is"),
       rightIs = dictionary.getAs<StringAttr>("right_is"),
       node = dictionary.getAs<StringAttr>("node");
  if (!relation || !left || !right || !leftIs || !rightIs || !node ||
      relation.getValue().ugt(
          static_cast<uint64_t>(ShapeGuard::Relation::Broadcast)))
    return std::nullopt;
  const auto first = decoded(left.asArrayRef()),
             second = decoded(right.asArrayRef());
  if (!first || !second)
    return std::nullopt;
  return ShapeGuard{
      static_cast<ShapeGuard::Relation>(relation.getValue().getZExtValue()),
      *first,
      *second,
      node.str(),
      leftIs.str(),
      rightIs.str()};
}

std::optional<SizeTable> SizeTable::readFrom(ModuleOp module, bool named) {
  auto entries = module->getAttrOfType<DictionaryAttr>(tableAttribute);
  if (!entries)
    return std::nullopt;
  auto names = entries.getAs<ArrayAttr>(parametersKey),
       following = entries.getAs<ArrayAttr>(followingKey),
       guards = entries.getAs<ArrayAttr>(guardsKey),
       sizes = entries.getAs<ArrayAttr>(sizesKey);
  if (!names || !following || !guards || (named && !sizes))
    return std::nullopt;
  SizeTable table;
  for (auto name : names.getAsRange<StringAttr>())
    table.parameters.push_back(name.str());
  for (auto each : following.getAsRange<DenseI64ArrayAttr>()) {
    std::optional<FollowingSize> size = decodedFollowing(each.asArrayRef());
    if (!size)
      return std::nullopt;
    table.following.push_back(std::move(*size));
  }
  for (auto each : guards.getAsRange<DictionaryAttr>()) {
    std::optional<ShapeGuard> guard = decodedGuard(each);
    if (!guard)
      return std::nullopt;
    table.guards.push_back(std::move(*guard));
  }
  if (!named)
    return table;
  for (auto each : sizes.getAsRange<DenseI64ArrayAttr>()) {
    std::optional<SizeExpression> size = decoded(each.asArrayRef());
    if (!size)
      return std::nullopt;
    table.sizes.push_back(std::move(*size));
  }
  return table;
}

void SizeTable::writeTo(ModuleOp module, bool named) const {
  Builder builder(module.getContext());
  auto listOf = [&](const auto &list, auto encode) {
    SmallVector<Attribute> all;
    for (const auto &each : list)
      all.push_back(encode(each));
    return builder.getArrayAttr(all);
  };
  auto numbers = [&](const auto &each) {
    return builder.getDenseI64ArrayAttr(encoded(each));
  };
  NamedAttrList entries;
  entries.set(parametersKey, builder.getStrArrayAttr(
                                 llvm::to_vector_of<StringRef>(parameters)));
  entries.set(followingKey, listOf(following, numbers));
  entries.set(guardsKey, listOf(guards, [&](const ShapeGuard &guard) {
                return encoded(guard, builder);
              }));
  if (named)
    entries.set(sizesKey, listOf(sizes, numbers));
  module->setAttr(tableAttribute, entries.getDictionary(module.getContext()));
}

std::optional<SizeTable> SizeTable::of(ModuleOp module) {
  return readFrom(module, /*named=*/true);
}

void SizeTable::setOf(ModuleOp module) const {
  writeTo(module, /*named=*/true);
}

SizeTable SizeTable::begunFor(ModuleOp module) {
  return readFrom(module, /*named=*/false).value_or(SizeTable());
}

void SizeTable::beginFor(ModuleOp module) const {
  if (!guards.empty())
    writeTo(module, /*named=*/false);
}

SizeTable SizeTable::ofInputs(size_t inputs) const {
  SizeTable kept;
  kept.parameters.assign(parameters.begin(), parameters.begin() + inputs);
  // The new number of each parameter that stays.
  llvm::DenseMap<uint32_t, uint32_t> numbers;
  for (uint32_t i = 0; i < inputs; ++i)
    numbers[i] = i;
  auto renumbered =
      [&](const SizeExpression &size) -> std::optional<SizeExpression> {
    std::vector<SizeExpression::Term> terms = size.terms();
    for (SizeExpression::Term &term : terms)
      for (uint32_t &parameter : term.parameters) {
        auto found = numbers.find(parameter);
        if (found == numbers.end())
          return std::nullopt;
        parameter = found->second;
      }
    return SizeExpression::of(terms);
  };
  // Each follows from those before it.
  for (const FollowingSize &each : following) {
    const auto size = renumbered(each.size), other = renumbered(each.other);
    if (!size || !other)
      continue;
    const auto number = static_cast<uint32_t>(kept.parameters.size());
    numbers[each.parameter] = number;
    kept.parameters.push_back(parameters[each.parameter]);
    kept.following.push_back({number, each.kind, *size, *other, each.divisor});
  }
  for (const ShapeGuard &guard : guards) {
    const auto left = renumbered(guard.left), right = renumbered(guard.right);
    if (!left || !right)
      continue;
    ShapeGuard &copy = kept.guards.emplace_back(guard);
    copy.left = *left;
    copy.right = *right;
  }
  return kept;
}

SizeExpression SizeTable::expressionOf(Dim size) const {
  const std::optional<int64_t> number = size.name();
  return number ? sizes[*number] : SizeExpression(size.value());
}

std::optional<SizeExpression> SizeTable::countOf(ArrayRef<Dim> shape) const {
  std::optional<SizeExpression> count = 1;
  for (Dim size : shape)
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

std::optional<SizeExpression> SizeTable::partsOf(const TaskExtent &part) {
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
