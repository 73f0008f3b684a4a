// Inputs, outputs and metadata of a written graph and its tensors.

#include "formats/onnx/write/GraphWriter.h"

#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/Domain.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include <set>

using namespace mlir;

namespace sinter::onnx {

/// The file's declarations of tensors, by name.
template <typename Infos>
static llvm::StringMap<const ValueInfoProto *> byName(const Infos &infos) {
  llvm::StringMap<const ValueInfoProto *> map;
  for (const ValueInfoProto &each : infos)
    map[each.name()] = &each;
  return map;
}

void GraphWriter::writeInputs(func::FuncOp function) {
  GraphProto &graph = *current->proto;
  const auto before = byName(header.graph().input());
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto dims = function.getArgAttrOfType<ArrayAttr>(number, dimsAttribute);
    Name name = claim(argument);
    names[argument] = name;
    current->tensors.insert(name);
    if (!describe(*graph.add_input(), name, argument.getType(), dims,
                  before.lookup(name), /*isInput=*/true))
      ++unsupported["inputs of a type that ONNX lacks"];
    auto value =
        function.getArgAttrOfType<ElementsAttr>(number, defaultAttribute);
    if (!value)
      continue;
    addInitializer(name, toTensor(value));
  }
}

void GraphWriter::writeOutputs(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  const auto before = byName(header.graph().output());
  std::set<Name> written;
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto given = function.getResultAttrOfType<StringAttr>(i, nameAttribute);
    auto dims = function.getResultAttrOfType<ArrayAttr>(i, dimsAttribute);
    Name wantedName = given ? given.str() : "result" + std::to_string(i);
    Name tensor = name(value);
    // A tensor is at most one output, and no constant; an input only under its
    // own name.
    if (tensor != wantedName || !current->tensors.contains(tensor) ||
        written.contains(tensor)) {
      if (used.contains(wantedName))
        wantedName = freshName(wantedName);
      else
        used.insert(wantedName);
      NodeProto &node = addNode("Identity");
      node.set_name(freshNodeName(wantedName + "_copy"));
      node.add_input(tensor);
      node.add_output(wantedName);
      current->tensors.insert(wantedName);
    }
    written.insert(wantedName);
    if (!describe(*current->proto->add_output(), wantedName, value.getType(),
                  dims, before.lookup(wantedName), /*isInput=*/false))
      ++unsupported["outputs of a type that ONNX lacks"];
  }
}

/// Whether a declaration's known sizes are not those of \p type.
static bool contradicts(const ValueInfoProto &info, Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  if (!tensor || !info.type().tensor_type().has_shape())
    return false;
  const TensorShapeProto &shape = info.type().tensor_type().shape();
  if (shape.dim_size() != tensor.getRank())
    return true;
  for (auto [dim, size] : llvm::zip_equal(shape.dim(), tensor.getShape()))
    if (dim.has_dim_value() && !ShapedType::isDynamic(size) &&
        dim.dim_value() != size)
      return true;
  return false;
}

/// Writes the file's declarations \p before of tensors that still exist, as far
/// as they hold.
void GraphWriter::writeTensorInfos(const GraphProto &before) {
  const auto outputs = byName(current->proto->output());
  llvm::StringMap<Type> types;
  for (const auto &[value, name] : names)
    types[name] = value.getType();
  for (const ValueInfoProto &each : before.value_info())
    if (current->kept.contains(each.name()) && !outputs.contains(each.name()) &&
        !contradicts(each, types.lookup(each.name())))
      *current->proto->add_value_info() = each;
}

void GraphWriter::writeImports() {
  const bool declaresStandard =
      header.opset_import_size() == 0 ||
      llvm::any_of(header.opset_import(), [](const OperatorSetIdProto &each) {
        return isStandardDomain(each.domain());
      });
  // In the file's order, then new ones.
  std::vector<std::string> domains;
  for (const OperatorSetIdProto &each : header.opset_import())
    domains.push_back(each.domain().empty() ? "ai.onnx" : each.domain());
  for (const auto &[domain, opset] : opsets)
    domains.push_back(domain);
  llvm::StringSet<> imported;
  for (const std::string &domain : domains) {
    auto found = opsets.find(domain);
    bool isNeeded = domain != "ai.onnx" || declaresStandard || usesStandard;
    if (found == opsets.end() || !isNeeded || !imported.insert(domain).second)
      continue;
    OperatorSetIdProto &import = *proto.add_opset_import();
    import.set_domain(std::string(domainKey(domain)));
    import.set_version(found->second);
  }
}

/// Sets the sizes of \p type in a message with the file's declaration. A static
/// size replaces what is declared. A dynamic one keeps it for an output, whose
/// declaration may say more than was inferred; for an input it replaces a
/// static one or another name, since the input may be of another meaning.
static void setSizes(TensorShapeProto &shape, RankedTensorType type,
                     ArrayAttr dims, bool isInput) {
  while (shape.dim_size() > type.getRank())
    shape.mutable_dim()->RemoveLast();
  const int declared = shape.dim_size();
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    const bool isDeclared = static_cast<int>(i) < declared;
    auto &dim = isDeclared ? *shape.mutable_dim(i) : *shape.add_dim();
    if (!ShapedType::isDynamic(size)) {
      dim.set_dim_value(size);
      continue;
    }
    const bool isReplaced =
        !isDeclared ||
        (isInput && (dim.has_dim_value() || dim.has_dim_param()));
    if (isInput)
      dim.clear_dim_value();
    auto symbol =
        dims && i < dims.size() ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
    if (isReplaced && symbol && !symbol.empty())
      dim.set_dim_param(symbol.str());
  }
}

bool GraphWriter::describe(ValueInfoProto &info, const Name &name, Type type,
                           ArrayAttr dims, const ValueInfoProto *before,
                           bool isInput) {
  if (before)
    info = *before;
  info.set_name(name);
  auto tensor = dyn_cast<RankedTensorType>(type);
  // Types that the graph language lacks are those in the file.
  if (!tensor)
    return before != nullptr && before->has_type();
  auto element = sinter::elementTypeOf(tensor.getElementType());
  auto dataType = element ? dataTypeOf(*element) : std::nullopt;
  if (!dataType)
    return false;
  auto &typeProto = *info.mutable_type()->mutable_tensor_type();
  typeProto.set_elem_type(*dataType);
  setSizes(*typeProto.mutable_shape(), tensor, dims, isInput);
  return true;
}

} // namespace sinter::onnx
