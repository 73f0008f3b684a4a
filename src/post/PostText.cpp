//===- PostText.cpp - what post-processing found, as text and JSON --------===//

#include "post/PostText.h"

#include "runtime/Text.h"

#include <map>
#include <nlohmann/json.hpp>

namespace sinter {

namespace {

using Json = nlohmann::json;
using Labels = std::vector<std::string>;

std::string labelOf(int64_t label, const Labels &labels) {
  return label >= 0 && static_cast<size_t>(label) < labels.size() &&
                 !labels[label].empty()
             ? labels[label]
             : "class " + std::to_string(label);
}

/// {"class", and "label" if it is known}.
Json classJson(int64_t label, const Labels &labels) {
  Json json = {{"class", label}};
  if (label >= 0 && static_cast<size_t>(label) < labels.size())
    json["label"] = labels[label];
  return json;
}

/// How many pixels of \p map each class has.
std::map<int64_t, int64_t> pixelsOf(const Tensor &map) {
  std::map<int64_t, int64_t> counts;
  for (int64_t i = 0; i < map.size(); ++i)
    ++counts[map.toInteger(i)];
  return counts;
}

double shareOf(int64_t pixels, const Tensor &map) {
  return static_cast<double>(pixels) / static_cast<double>(map.size());
}

/// Text of the values of each kind; "0: " in front if there are several.
class TextOfResult {
public:
  explicit TextOfResult(const Labels &labels) : labels(labels) {}

  void operator()(const std::vector<std::vector<RankedClass>> &rows) {
    for (size_t i = 0; i < rows.size(); ++i)
      for (const RankedClass &each : rows[i])
        add(i, rows.size(),
            text("%-24s %.4f", labelOf(each.label, labels).c_str(),
                 each.score));
  }
  void operator()(const std::vector<Tensor> &maps) {
    for (size_t i = 0; i < maps.size(); ++i)
      for (const auto &[label, count] : pixelsOf(maps[i]))
        add(i, maps.size(),
            text("%-24s %6.2f %% of %lldx%lld pixels",
                 labelOf(label, labels).c_str(), shareOf(count, maps[i]) * 100,
                 static_cast<long long>(maps[i].dim(1)),
                 static_cast<long long>(maps[i].dim(0))));
  }
  void operator()(const std::vector<DecodedText> &texts) {
    for (size_t i = 0; i < texts.size(); ++i)
      add(i, texts.size(),
          text("%s  %.4f", texts[i].text.c_str(), texts[i].confidence));
  }
  void operator()(const std::vector<std::vector<Detection>> &images) {
    for (size_t i = 0; i < images.size(); ++i)
      for (const Detection &each : images[i])
        add(i, images.size(),
            text("%-24s %.4f  %.1f, %.1f to %.1f, %.1f",
                 labelOf(each.label, labels).c_str(), each.score, each.box.left,
                 each.box.top, each.box.right, each.box.bottom));
  }

  std::vector<std::string> lines;

private:
  void add(size_t index, size_t count, const std::string &line) {
    lines.push_back(count > 1 ? std::to_string(index) + ": " + line : line);
  }

  const Labels &labels;
};

/// The name of what is listed, and the list.
class JsonOfResult {
public:
  explicit JsonOfResult(const Labels &labels) : labels(labels) {}

  std::pair<const char *, Json>
  operator()(const std::vector<std::vector<RankedClass>> &rows) const {
    Json all = Json::array();
    for (const auto &row : rows) {
      Json list = Json::array();
      for (const RankedClass &each : row) {
        list.push_back(classJson(each.label, labels));
        list.back()["score"] = each.score;
      }
      all.push_back(std::move(list));
    }
    return {"rows", std::move(all)};
  }
  std::pair<const char *, Json>
  operator()(const std::vector<Tensor> &maps) const {
    Json all = Json::array();
    for (const Tensor &map : maps) {
      Json classes = Json::array();
      for (const auto &[label, count] : pixelsOf(map)) {
        classes.push_back(classJson(label, labels));
        classes.back()["share"] = shareOf(count, map);
      }
      all.push_back({{"height", map.dim(0)},
                     {"width", map.dim(1)},
                     {"classes", std::move(classes)}});
    }
    return {"maps", std::move(all)};
  }
  std::pair<const char *, Json>
  operator()(const std::vector<DecodedText> &texts) const {
    Json all = Json::array();
    for (const DecodedText &each : texts)
      all.push_back({{"text", each.text}, {"confidence", each.confidence}});
    return {"texts", std::move(all)};
  }
  std::pair<const char *, Json>
  operator()(const std::vector<std::vector<Detection>> &images) const {
    Json all = Json::array();
    for (const auto &image : images) {
      Json list = Json::array();
      for (const Detection &each : image) {
        list.push_back(classJson(each.label, labels));
        list.back()["score"] = each.score;
        list.back()["box"] = {each.box.left, each.box.top, each.box.right,
                              each.box.bottom};
      }
      all.push_back(std::move(list));
    }
    return {"boxes", std::move(all)};
  }

private:
  const Labels &labels;
};

} // namespace

std::vector<std::string> postText(const PostResult &result,
                                  const std::vector<std::string> &labels) {
  TextOfResult all(labels);
  std::visit(all, result.value);
  return std::move(all.lines);
}

nlohmann::json postJson(const PostResult &result,
                        const std::vector<std::string> &labels) {
  auto [name, list] = std::visit(JsonOfResult(labels), result.value);
  Json json = {{"step", nameOf(result.kind)}, {name, std::move(list)}};
  if (!result.output.empty())
    json["output"] = result.output;
  return json;
}

} // namespace sinter
