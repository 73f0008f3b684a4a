// Groups of processes, from rows of ids or from axes of a mesh.

#include "graph/stablehlo/Verify.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::MulOverflow;

namespace sinter::stablehlo {

using Groups = SmallVector<SmallVector<int64_t>>;

LogicalResult
ReplicaGroupMeshAxesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Attribute mesh, ArrayAttr axes) {
  if (!mlir::isa_and_nonnull<FlatSymbolRefAttr, MeshAttr>(mesh))
    return emitError() << "a mesh is `#stablehlo.mesh` or the name of one";
  for (Attribute axis : axes)
    if (!mlir::isa<AxisRefAttr>(axis))
      return emitError() << "an axis is not an `#stablehlo.axis_ref`: " << axis;
  auto written = mlir::dyn_cast<MeshAttr>(mesh);
  if (!written)
    return success();
  for (auto axis : axes.getAsRange<AxisRefAttr>())
    if (llvm::none_of(written.getAxes(), [&](MeshAxisAttr each) {
          return each.getName() == axis.getName();
        }))
      return emitError() << "the mesh has no axis '" << axis.getName() << "'";
  return success();
}

namespace {
/// A sub-axis of the mesh, in row-major order.
struct Stretch {
  int64_t size;
  int64_t stride;
  /// The index of its grouping axis, if any.
  std::optional<size_t> axis;
};
} // namespace

/// The mesh as stretches, split where an axis reference is a sub-axis.
static std::optional<SmallVector<Stretch>> stretchesOf(MeshAttr mesh,
                                                       ArrayAttr axes) {
  SmallVector<Stretch> stretches;
  int64_t stride = 1;
  for (MeshAxisAttr axis : llvm::reverse(mesh.getAxes())) {
    int64_t size = axis.getSize();
    if (size < 1 || size > mostProcesses || stride > mostProcesses / size)
      return std::nullopt;
    SmallVector<Stretch> parts = {{size, stride, std::nullopt}};
    for (auto [i, ref] : llvm::enumerate(axes.getAsRange<AxisRefAttr>())) {
      if (ref.getName() != axis.getName())
        continue;
      SubAxisInfoAttr sub = ref.getSubAxisInfo();
      int64_t pre = sub ? sub.getPreSize() : 1;
      int64_t part = sub ? sub.getSize() : size;
      if (pre < 1 || part < 1 || pre > size || part > size / pre ||
          size % (pre * part) != 0)
        return std::nullopt;
      // The sub-axis' stride is the size of what follows it in the axis.
      int64_t step = stride * (size / (pre * part));
      auto whole = llvm::find_if(parts, [&](const Stretch &each) {
        return !each.axis && step % each.stride == 0 &&
               each.size % (step / each.stride * part) == 0 &&
               step / each.stride * part <= each.size;
      });
      if (whole == parts.end())
        return std::nullopt;
      Stretch old = *whole;
      parts.erase(whole);
      int64_t after = step / old.stride;
      int64_t before = old.size / (after * part);
      if (after > 1)
        parts.push_back({after, old.stride, std::nullopt});
      parts.push_back({part, step, i});
      if (before > 1)
        parts.push_back({before, step * part, std::nullopt});
    }
    llvm::sort(parts, [](const Stretch &lhs, const Stretch &rhs) {
      return lhs.stride < rhs.stride;
    });
    stretches.append(parts);
    stride *= size;
  }
  std::reverse(stretches.begin(), stretches.end());
  return stretches;
}

static std::optional<Groups> groupsOfMesh(MeshAttr mesh, ArrayAttr axes) {
  std::optional<SmallVector<Stretch>> stretches = stretchesOf(mesh, axes);
  if (!stretches)
    return std::nullopt;
  // Groups are enumerated along the other stretches, members along the axes in
  // their given order.
  SmallVector<Stretch> order;
  for (const Stretch &each : *stretches)
    if (!each.axis)
      order.push_back(each);
  int64_t groupSize = 1, total = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    auto found = llvm::find_if(
        *stretches, [&](const Stretch &each) { return each.axis == i; });
    if (found == stretches->end())
      return std::nullopt;
    order.push_back(*found);
    groupSize *= found->size;
  }
  for (const Stretch &each : *stretches)
    total *= each.size;
  SmallVector<int64_t> ids;
  if (mesh.getDeviceIds() && !hasAtMost(mesh.getDeviceIds(), mostProcesses))
    return std::nullopt;
  if (DenseIntElementsAttr given = mesh.getDeviceIds())
    for (const APInt &id : given.getValues<APInt>())
      ids.push_back(id.getLimitedValue(mostProcesses));
  if (!ids.empty() && static_cast<int64_t>(ids.size()) != total)
    return std::nullopt;
  Groups groups(total / groupSize);
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, place = 0;
    for (const Stretch &each : llvm::reverse(order)) {
      place += rest % each.size * each.stride;
      rest /= each.size;
    }
    groups[i / groupSize].push_back(ids.empty() ? place : ids[place]);
  }
  return groups;
}

std::optional<Groups> replicaGroups(Operation *op, Attribute groups) {
  if (auto axes = dyn_cast_or_null<ReplicaGroupMeshAxesAttr>(groups)) {
    Attribute mesh = axes.getMesh();
    if (auto name = dyn_cast<FlatSymbolRefAttr>(mesh))
      if (Operation *symbol = SymbolTable::lookupNearestSymbolFrom(op, name))
        mesh = symbol->getAttr("mesh");
    auto written = dyn_cast_or_null<MeshAttr>(mesh);
    return written ? groupsOfMesh(written, axes.getAxes()) : std::nullopt;
  }
  auto ids = dyn_cast_or_null<DenseIntElementsAttr>(groups);
  if (!ids || ids.getType().getRank() != 2 || !hasAtMost(ids, mostProcesses) ||
      ids.getType().getDimSize(0) > mostProcesses)
    return std::nullopt;
  Groups result(ids.getType().getDimSize(0));
  if (ids.empty())
    return result;
  int64_t width = ids.getType().getDimSize(1);
  for (auto [i, id] : llvm::enumerate(ids.getValues<int64_t>()))
    if (id >= 0)
      result[i / width].push_back(id);
  return result;
}

} // namespace sinter::stablehlo
