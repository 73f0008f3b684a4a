// Operators that sample images with interpolation.

#include "formats/import/Sampling.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

using formats::GridRules;
using formats::RoiRules;

static std::optional<GridRules> readGridRules(NodeContext &node) {
  GridRules rules;
  rules.mode =
      node.getString("mode", node.version() < 20 ? "bilinear" : "linear");
  if (rules.mode == "bilinear")
    rules.mode = "linear";
  if (rules.mode == "bicubic")
    rules.mode = "cubic";
  rules.alignCorners = node.getBool("align_corners", false);
  std::string outside = node.getString("padding_mode", "zeros");
  if (outside == "border")
    rules.outside = GridRules::Outside::Border;
  else if (outside == "reflection")
    rules.outside = GridRules::Outside::Reflection;
  else if (outside != "zeros")
    return node.fail("attribute 'padding_mode' is '" + outside + "'");
  if (rules.mode != "linear" && rules.mode != "cubic" &&
      rules.mode != "nearest")
    return node.fail("attribute 'mode' is '" + rules.mode + "'");
  return rules;
}

static LogicalResult importGridSample(NodeContext &node) {
  Value image = node.operand(0), grid = node.operand(1);
  auto rules = readGridRules(node);
  if (!image || !grid || !rules)
    return failure();
  return node.result(sampleGrid(node, image, grid, *rules));
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

static std::optional<RoiRules> readRoiRules(NodeContext &node) {
  RoiRules rules;
  rules.bins[0] = node.getInt("output_height", 1);
  rules.bins[1] = node.getInt("output_width", 1);
  rules.samples = node.getInt("sampling_ratio", 0);
  rules.scale = node.getFloat("spatial_scale", 1);
  std::string coordinates =
      node.getString("coordinate_transformation_mode",
                     node.version() < 16 ? "output_half_pixel" : "half_pixel");
  rules.halfPixel = coordinates == "half_pixel";
  std::string mode = node.getString("mode", "avg");
  if (mode != "avg" && mode != "max")
    return node.fail("attribute 'mode' is not avg or max");
  rules.maximum = mode == "max";
  auto small = [](int64_t x) { return x >= 1 && x <= 4096; };
  if (!small(rules.bins[0]) || !small(rules.bins[1]) || rules.samples > 4096)
    return node.fail("a size is out of range");
  rules.samples = std::max<int64_t>(rules.samples, 0);
  return rules;
}

static LogicalResult importRoiAlign(NodeContext &node) {
  auto rules = readRoiRules(node);
  if (!rules)
    return failure();
  return node.result(alignRegions(node, node.operand(0), node.operand(1),
                                  node.operand(2), *rules));
}

llvm::ArrayRef<Operator> samplingOperators() {
  static const Operator table[] = {
      {"GridSample", "", 16, importGridSample, 2, 2},
      {"RoiAlign", "", 10, importRoiAlign, 3, 3},
  };
  return table;
}

} // namespace sinter::onnx
