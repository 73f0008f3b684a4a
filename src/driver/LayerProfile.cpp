//===- LayerProfile.cpp - layers' times over several runs -----------------===//

#include "driver/LayerProfile.h"

#include "driver/Text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sinter::driver {

void LayerProfile::add(std::span<const LayerTime> run) {
  const bool first = layers.empty();
  for (size_t i = 0; i < run.size(); ++i) {
    const LayerTime &time = run[i];
    if (first)
      layers.push_back({std::string(time.name), std::string(time.op),
                        std::string(time.kernel), time.flops, time.bytes,
                        time.arithmetic, time.threads});
    if (i >= layers.size() || layers[i].name != time.name)
      continue;
    layers[i].seconds += time.seconds;
    layers[i].least = std::min(layers[i].least, time.seconds);
    ++layers[i].runs;
  }
}

double LayerProfile::flops() const {
  double sum = 0;
  for (const Layer &layer : layers)
    sum += layer.flops;
  return sum;
}

nlohmann::json LayerProfile::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Layer &layer : layers)
    list.push_back({{"name", layer.name},
                    {"op", layer.op},
                    {"kernel", layer.kernel},
                    {"ms", layer.milliseconds()},
                    {"gflops", layer.gflops()}});
  return list;
}

std::vector<LayerTime> LayerProfile::fastest() const {
  std::vector<LayerTime> fastest;
  for (const Layer &layer : layers)
    fastest.push_back({layer.name, layer.op, layer.kernel, 0, layer.least,
                       layer.flops, layer.bytes, layer.arithmetic,
                       layer.threads});
  return fastest;
}

std::string LayerProfile::table() const {
  std::vector<const Layer *> order;
  double total = 0;
  for (const Layer &layer : layers) {
    order.push_back(&layer);
    total += layer.milliseconds();
  }
  std::ranges::sort(order, [](const Layer *a, const Layer *b) {
    return std::pair(-a->milliseconds(), a) < std::pair(-b->milliseconds(), b);
  });
  std::string table = text("\n%9s %7s %9s  %-32s %-18s %s\n", "ms", "share",
                           "GFLOP/s", "layer", "kernel", "operation");
  for (const Layer *layer : order)
    table += text("%9.4f %6.1f%% %9.1f  %-32s %-18s %s\n",
                  layer->milliseconds(), 100 * layer->milliseconds() / total,
                  layer->gflops(), oneLine(layer->name).c_str(),
                  layer->kernel.c_str(), layer->op.c_str());
  return table;
}

} // namespace sinter::driver
