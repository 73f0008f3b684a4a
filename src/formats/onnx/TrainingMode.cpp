#include "formats/onnx/TrainingMode.h"

#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/NestedGraphs.h"

#include <algorithm>
#include <map>

namespace sinter::onnx {

namespace {

class TrainingNodes {
public:
  void addGraph(const GraphProto &graph, int64_t version);
  template <typename Nodes> void addNodes(const Nodes &nodes, int64_t version);

  size_t norms = 0, dropouts = 0;

private:
  bool isTrainingDropout(const NodeProto &node, int64_t version) const;

  void addScalar(const std::string &name, const TensorProto &value);

  /// Whether a scalar is other than zero, by name, of all graphs around.
  std::map<std::string, bool> flags;
};

} // namespace

static const AttributeProto *attributeOf(const NodeProto &node,
                                         const std::string &name) {
  const auto found =
      std::ranges::find(node.attribute(), name,
                        [](const AttributeProto &each) { return each.name(); });
  return found == node.attribute().end() ? nullptr : &*found;
}

/// Whether the element of \p scalar is other than zero.
static bool isSet(const TensorProto &scalar) {
  auto isNonZero = [](auto element) { return element != 0; };
  return std::ranges::any_of(scalar.int32_data(), isNonZero) ||
         std::ranges::any_of(scalar.float_data(), isNonZero) ||
         std::ranges::any_of(scalar.double_data(), isNonZero) ||
         std::ranges::any_of(scalar.raw_data(), isNonZero);
}

/// Before version 14, a norm in training mode has more outputs than one.
static bool isTrainingNorm(const NodeProto &node, int64_t version) {
  if (version < 14)
    return node.output_size() > 1 && !node.output(1).empty();
  const AttributeProto *mode = attributeOf(node, "training_mode");
  return mode && mode->i() != 0;
}

void TrainingNodes::addScalar(const std::string &name,
                              const TensorProto &value) {
  if (std::ranges::all_of(value.dims(), [](int64_t size) { return size == 1; }))
    flags[name] = isSet(value);
}

/// Before version 7 a dropout says whether it tests, from 12 on an input says
/// whether it trains. One whose ratio is 0 drops nothing.
bool TrainingNodes::isTrainingDropout(const NodeProto &node,
                                      int64_t version) const {
  if (version < 7) {
    const AttributeProto *tests = attributeOf(node, "is_test");
    return !tests || tests->i() == 0;
  }
  if (version < 12 || node.input_size() < 3)
    return false;
  const auto mode = flags.find(node.input(2)),
             ratio = flags.find(node.input(1));
  return mode != flags.end() && mode->second &&
         (ratio == flags.end() || ratio->second);
}

template <typename Nodes>
void TrainingNodes::addNodes(const Nodes &nodes, int64_t version) {
  for (const NodeProto &node : nodes) {
    forEachGraph(node,
                 [&](const GraphProto &graph) { addGraph(graph, version); });
    if (!isStandardDomain(node.domain()))
      continue;
    if (node.op_type() == "Constant" && node.output_size() == 1) {
      if (const AttributeProto *value = attributeOf(node, "value");
          value && value->has_t())
        addScalar(node.output(0), value->t());
    } else if (node.op_type() == "BatchNormalization") {
      norms += isTrainingNorm(node, version);
    } else if (node.op_type() == "Dropout") {
      dropouts += isTrainingDropout(node, version);
    }
  }
}

void TrainingNodes::addGraph(const GraphProto &graph, int64_t version) {
  for (const TensorProto &each : graph.initializer())
    addScalar(each.name(), each);
  addNodes(graph.node(), version);
}

/// The version of ONNX's own operators among \p imports.
template <typename Imports>
static int64_t versionAmong(const Imports &imports) {
  for (const OperatorSetIdProto &each : imports)
    if (isStandardDomain(each.domain()))
      return each.version();
  return 1;
}

std::string trainingModeNote(const OnnxFile &file) {
  TrainingNodes found;
  found.addGraph(file.model().graph(),
                 versionAmong(file.model().opset_import()));
  for (const FunctionProto &function : file.model().functions())
    found.addNodes(function.node(), versionAmong(function.opset_import()));
  if (found.norms + found.dropouts == 0)
    return "";
  std::string what;
  if (found.norms > 0)
    what = std::to_string(found.norms) +
           (found.norms == 1 ? " batch norm normalises"
                             : " batch norms normalise") +
           " by the batch";
  if (found.dropouts > 0)
    what += (what.empty() ? "" : ", ") + std::to_string(found.dropouts) +
            (found.dropouts == 1 ? " dropout drops" : " dropouts drop") +
            " elements";
  return "the model is in training mode: " + what +
         "; it is fit for training, and to run it as it will be used, export "
         "it after model.eval()";
}

} // namespace sinter::onnx
