#include "view/ModelPage.h"

#include "runtime/Json.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

namespace sinter {

// pagePart_html, _css and the scripts: see EmbedText.cmake.
#include "view/PageParts.inc"

namespace {

using nlohmann::json;

json jsonOf(const ConstantFacts &facts) {
  return {{"elements", facts.elements}, {"looked", facts.looked},
          {"min", facts.min},           {"max", facts.max},
          {"mean", facts.mean},         {"first", facts.first}};
}

json jsonOf(const ViewedTensor &tensor) {
  json all = {{"name", tensor.name},
              {"type", tensor.type},
              {"role", name(tensor.role)}};
  if (tensor.bytes)
    all["bytes"] = *tensor.bytes;
  if (tensor.constant)
    all["constant"] = jsonOf(*tensor.constant);
  return all;
}

json jsonOf(const ViewedOperation &operation) {
  json all = {{"name", operation.name}};
  for (const auto &[name, value] : operation.attributes)
    all["attributes"].push_back({name, value});
  return all;
}

json jsonOf(const ViewedNode &node) {
  json all = {{"op", node.op},
              {"name", node.name},
              {"in", node.inputs},
              {"out", node.outputs}};
  for (const ViewedOperation &operation : node.operations)
    all["operations"].push_back(jsonOf(operation));
  if (node.owner)
    all["owner"] = *node.owner;
  if (!node.rewrites.empty())
    all["rewrites"] = node.rewrites;
  if (!node.lowered.empty())
    all["lowered"] = node.lowered;
  if (!node.counterparts.empty())
    all["other"] = node.counterparts;
  return all;
}

json jsonOf(const GraphView &graph) {
  json nodes = json::array(), tensors = json::array();
  for (const ViewedNode &node : graph.nodes)
    nodes.push_back(jsonOf(node));
  for (const ViewedTensor &tensor : graph.tensors)
    tensors.push_back(jsonOf(tensor));
  return {{"nodes", std::move(nodes)},
          {"tensors", std::move(tensors)},
          {"inputs", graph.inputs},
          {"outputs", graph.outputs}};
}

json jsonOf(const ViewedStep &step) {
  json all = {{"step", step.number},   {"stages", step.stages},
              {"layer", step.layer},   {"op", step.op},
              {"kernel", step.kernel}, {"depth", step.depth},
              {"nodes", step.nodes}};
  if (step.tasks)
    all["tasks"] = *step.tasks;
  if (step.flops > 0)
    all["flops"] = step.flops;
  if (step.bytesMoved > 0)
    all["bytes"] = step.bytesMoved;
  if (step.seconds)
    all["ms"] = *step.seconds * 1e3;
  if (!step.choice.empty())
    all["choice"] = step.choice;
  return all;
}

/// Puts measured times in place of estimates. Steps of one name are executed in
/// their order; those of loops more often than once, so that they share the
/// time.
void setTimes(json &list, std::span<const ViewedStep> steps,
              std::span<const MeasuredStep> measured) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, std::vector<double>> times;
  for (const MeasuredStep &each : measured)
    times[{each.layer, each.op, each.kernel}].push_back(each.seconds * 1e3);
  std::map<Key, std::vector<size_t>> places;
  for (size_t i = 0; i < steps.size(); ++i) {
    list[i].erase("ms");
    places[{steps[i].layer, steps[i].op, steps[i].kernel}].push_back(i);
  }
  for (const auto &[key, all] : places) {
    const std::vector<double> &found = times[key];
    if (found.empty())
      continue;
    size_t stages = 0;
    for (const size_t place : all)
      stages += steps[place].stages;
    const double sum = std::accumulate(found.begin(), found.end(), 0.0);
    auto next = found.begin();
    for (const size_t place : all) {
      if (found.size() != stages) {
        list[place]["ms"] = sum / static_cast<double>(all.size());
        continue;
      }
      const auto end = next + static_cast<int64_t>(steps[place].stages);
      list[place]["ms"] = std::accumulate(next, end, 0.0);
      next = end;
    }
  }
}

/// JSON in a script element: nothing in it ends the element, and all of it is
/// ASCII. What is no UTF-8 is replaced.
std::string scriptText(const json &data) {
  std::string text;
  for (const char each : jsonText(data, -1, /*isAscii=*/true))
    if (each == '<')
      text += "\\u003c";
    else
      text += each;
  return text;
}

} // namespace

json modelViewJson(const std::string &title, const ModelView &view,
                   std::span<const MeasuredStep> measured) {
  json steps = json::array();
  for (const ViewedStep &step : view.steps)
    steps.push_back(jsonOf(step));
  if (!measured.empty())
    setTimes(steps, view.steps, measured);
  json graphs = json::array({jsonOf(view.before)});
  if (view.after)
    graphs.push_back(jsonOf(*view.after));
  json rewrites = json::object();
  for (const auto &[label, picture] : view.pictures)
    rewrites[label] = picture;
  return {{"model", title},
          {"version", SINTER_VERSION},
          {"graphs", std::move(graphs)},
          {"steps", std::move(steps)},
          {"measured", !measured.empty()},
          {"rewrites", std::move(rewrites)},
          {"notes", view.notes}};
}

std::string modelPage(const std::string &title, const ModelView &view,
                      std::span<const MeasuredStep> measured) {
  const std::string data = scriptText(modelViewJson(title, view, measured));
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"/*style*/", pagePart_style_css},
      {"/*data*/", data},
      {"/*layout*/", pagePart_layout_js},
      {"/*drawing*/", pagePart_drawing_js},
      {"/*details*/", pagePart_details_js},
      {"/*page*/", pagePart_page_js}};
  std::string_view rest = pagePart_page_html;
  std::string page;
  for (const auto &[mark, text] : parts) {
    const size_t place = rest.find(mark);
    page += rest.substr(0, place);
    page += text;
    rest.remove_prefix(place + mark.size());
  }
  return page.append(rest);
}

} // namespace sinter
