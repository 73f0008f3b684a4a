#include "graph/Collectives.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/SymbolTable.h"
#include <map>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static std::vector<std::vector<int64_t>> rowsOf(DenseIntElementsAttr ids) {
  std::vector<std::vector<int64_t>> rows;
  if (ids.getType().getRank() != 2)
    return rows;
  const int64_t width = ids.getType().getDimSize(1);
  if (width == 0)
    return rows;
  int64_t position = 0;
  for (int64_t id : ids.getValues<int64_t>()) {
    if (position++ % width == 0)
      rows.emplace_back();
    rows.back().push_back(id);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

namespace {

/// One axis of a mesh, or the piece of it before, in or after a sub-axis.
struct GridAxis {
  int64_t size;
  /// Its position among the axes that processes of a group differ in.
  std::optional<size_t> place;
};

} // namespace

namespace {

/// A mesh, whichever way it is written.
struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;
  /// Empty: 0, 1, ...
  std::vector<int64_t> devices;
};

} // namespace

static Mesh fromAttribute(MeshAttr attribute) {
  Mesh mesh;
  for (MeshAxisAttr axis : attribute.getAxes())
    mesh.axes.emplace_back(axis.getName().str(), axis.getSize());
  if (DenseIntElementsAttr ids = attribute.getDeviceIds())
    llvm::append_range(mesh.devices, ids.getValues<int64_t>());
  return mesh;
}

/// {axes = [{name = "x", size = 2}], device_ids = dense<...>}
static std::optional<Mesh> fromDictionary(DictionaryAttr attribute) {
  Mesh mesh;
  auto axes = attribute.getAs<ArrayAttr>("axes");
  if (!axes)
    return std::nullopt;
  for (Attribute axis : axes) {
    auto fields = dyn_cast<DictionaryAttr>(axis);
    auto name = fields ? fields.getAs<StringAttr>("name") : StringAttr();
    auto size = fields ? fields.getAs<IntegerAttr>("size") : IntegerAttr();
    if (!name || !size || size.getValue().getSignificantBits() > 64)
      return std::nullopt;
    mesh.axes.emplace_back(name.str(), size.getValue().getSExtValue());
  }
  if (auto ids = attribute.getAs<DenseIntElementsAttr>("device_ids"))
    for (const APInt &id : ids)
      mesh.devices.push_back(id.trunc(64).getSExtValue());
  return mesh;
}

/// mesh<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
static std::optional<Mesh> fromText(StringRef text) {
  Mesh mesh;
  if (!text.consume_front("mesh<["))
    return std::nullopt;
  while (text.ltrim(", ").starts_with("\"")) {
    StringRef name;
    std::tie(name, text) = text.ltrim(", ").drop_front().split('"');
    int64_t size = 0;
    if (!text.consume_front("=") || text.consumeInteger(10, size))
      return std::nullopt;
    mesh.axes.emplace_back(name.str(), size);
  }
  text.consume_front("]");
  if (text.ltrim(", ").starts_with("device_ids=["))
    for (text = text.split('[').second; !text.starts_with("]");
         text = text.ltrim(", ")) {
      int64_t id = 0;
      if (text.consumeInteger(10, id))
        return std::nullopt;
      mesh.devices.push_back(id);
    }
  return mesh;
}

/// The mesh that a collective operation refers to; nothing if there is none.
static std::optional<Mesh> meshOf(Operation *op,
                                  ReplicaGroupMeshAxesAttr groups) {
  if (auto mesh = dyn_cast<MeshAttr>(groups.getMesh()))
    return fromAttribute(mesh);
  auto name = dyn_cast<FlatSymbolRefAttr>(groups.getMesh());
  Operation *symbol =
      name ? SymbolTable::lookupNearestSymbolFrom(op, name) : nullptr;
  if (!symbol)
    return std::nullopt;
  for (StringRef key : {"stablehlo.mesh", "mesh"}) {
    const Attribute attribute = symbol->getAttr(key);
    if (auto mesh = dyn_cast_or_null<MeshAttr>(attribute))
      return fromAttribute(mesh);
    if (auto fields = dyn_cast_or_null<DictionaryAttr>(attribute))
      return fromDictionary(fields);
    if (auto opaque = dyn_cast_or_null<OpaqueAttr>(attribute))
      return fromText(opaque.getAttrData());
  }
  return std::nullopt;
}

/// The mesh's axes, split at sub-axes; nothing if a reference does not fit.
static std::optional<std::vector<GridAxis>> axesOf(const Mesh &mesh,
                                                   ArrayAttr used) {
  std::vector<GridAxis> axes;
  size_t found = 0;
  for (const auto &[name, size] : mesh.axes) {
    // Pieces in their order in the axis.
    std::vector<std::pair<int64_t, GridAxis>> pieces;
    for (auto [place, attribute] : llvm::enumerate(used)) {
      auto reference = dyn_cast<AxisRefAttr>(attribute);
      if (!reference || reference.getName() != name)
        continue;
      ++found;
      if (SubAxisInfoAttr part = reference.getSubAxisInfo())
        pieces.push_back({part.getPreSize(), {part.getSize(), place}});
      else
        pieces.push_back({1, {size, place}});
    }
    llvm::sort(pieces,
               [](const auto &a, const auto &b) { return a.first < b.first; });
    int64_t done = 1;
    for (const auto &[before, piece] : pieces) {
      if (before < done || before % done != 0 || piece.size < 1)
        return std::nullopt;
      axes.push_back({before / done, std::nullopt});
      axes.push_back(piece);
      done = before * piece.size;
    }
    if (done < 1 || size % done != 0)
      return std::nullopt;
    axes.push_back({size / done, std::nullopt});
  }
  if (found != used.size())
    return std::nullopt;
  return axes;
}

/// Groups of processes that differ along \p used axes, the last the fastest.
static Result<std::vector<std::vector<int64_t>>> meshGroups(const Mesh &mesh,
                                                            ArrayAttr used) {
  const std::optional<std::vector<GridAxis>> axes = axesOf(mesh, used);
  if (!axes)
    return invalidModel("replica_groups: the axes do not fit the mesh");
  constexpr int64_t mostProcesses = 1 << 20;
  int64_t count = 1;
  for (const GridAxis &axis : *axes)
    if (axis.size < 1 || __builtin_mul_overflow(count, axis.size, &count) ||
        count > mostProcesses)
      return invalidModel("replica_groups: the mesh is too large");
  std::vector<int64_t> devices = mesh.devices;
  if (devices.empty())
    for (int64_t id = 0; id < count; ++id)
      devices.push_back(id);
  if (static_cast<int64_t>(devices.size()) != count)
    return invalidModel("replica_groups: the mesh has not one id a process");

  // By the coordinates outside and inside of the group.
  std::map<std::vector<int64_t>, std::map<std::vector<int64_t>, int64_t>> cells;
  for (int64_t position = 0; position < count; ++position) {
    std::vector<int64_t> outside, inside(used.size());
    int64_t rest = position;
    for (const GridAxis &axis : llvm::reverse(*axes)) {
      const int64_t coordinate = rest % axis.size;
      rest /= axis.size;
      if (axis.place)
        inside[*axis.place] = coordinate;
      else
        outside.insert(outside.begin(), coordinate);
    }
    cells[outside][inside] = devices[position];
  }
  std::vector<std::vector<int64_t>> rows;
  for (const auto &[outside, row] : cells) {
    rows.emplace_back();
    for (const auto &[inside, id] : row)
      rows.back().push_back(id);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

int64_t channelOf(Operation *op) {
  auto handle = op->getAttrOfType<ChannelHandleAttr>("channel_handle");
  return handle ? handle.getHandle() : 0;
}

/// By the labels of the operations in the specification.
static Grouping groupingOf(Operation *op) {
  const bool hasChannel = channelOf(op) > 0;
  if (isa<AllGatherOp, AllReduceOp, ReduceScatterOp>(op)) {
    if (op->hasAttr("use_global_device_ids"))
      return Grouping::FlattenedIds;
    return hasChannel ? Grouping::CrossReplicaAndPartition
                      : Grouping::CrossReplica;
  }
  return hasChannel ? Grouping::CrossPartition : Grouping::CrossReplica;
}

Result<Groups> groupsOf(Operation *op) {
  Groups groups;
  groups.grouping = groupingOf(op);
  const Attribute ids = op->getAttr("replica_groups");
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(ids)) {
    groups.ids = rowsOf(dense);
    return groups;
  }
  auto axes = dyn_cast_or_null<ReplicaGroupMeshAxesAttr>(ids);
  const std::optional<Mesh> mesh = axes ? meshOf(op, axes) : std::nullopt;
  if (!mesh)
    return unsupported("replica_groups: there is no such mesh");
  auto rows = meshGroups(*mesh, axes.getAxes());
  if (!rows)
    return rows.takeError();
  groups.ids = std::move(*rows);
  return groups;
}

Groups pairsOf(Operation *op) {
  Groups groups;
  groups.grouping = groupingOf(op);
  if (auto pairs =
          op->getAttrOfType<DenseIntElementsAttr>("source_target_pairs"))
    groups.ids = rowsOf(pairs);
  return groups;
}

} // namespace sinter
