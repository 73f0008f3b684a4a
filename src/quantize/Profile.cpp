//===- Profile.cpp - the distributions of a model's tensors ---------------===//

#include "quantize/Profile.h"

#include "runtime/ElementDispatch.h"
#include "runtime/OptionNames.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

namespace sinter::quantize {

/// Calls \p use with each element of \p values, a tensor of floats, in order.
template <typename Use>
static void forEachNumber(const Tensor &values, Use use) {
  dispatch(values.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!isStdComplex<T> && !std::is_integral_v<T>)
      for (int64_t i = 0; i < values.size(); ++i)
        use(i, static_cast<double>(values.at<T>(i)));
  });
}

double TensorProfile::power() const {
  if (histogram.empty())
    return wasReached() ? least * least : 0;
  double sum = 0;
  uint64_t all = 0;
  for (size_t bin = 0; bin < histogram.size(); ++bin) {
    sum += static_cast<double>(histogram[bin]) * middleOf(bin) * middleOf(bin);
    all += histogram[bin];
  }
  return all ? sum / static_cast<double>(all) : 0;
}

namespace {

/// Which slice along a dimension an element is of.
class SliceOf {
public:
  SliceOf(const Tensor &values, int64_t axis)
      : size(values.dim(axis)),
        inner(std::max<int64_t>(
            1, elementCount(std::span(values.shape()).subspan(axis + 1))
                   .value_or(1))) {}
  int64_t count() const { return size; }
  size_t operator()(int64_t index) const { return index / inner % size; }

private:
  int64_t size, inner;
};

/// Ranges and sums of the slices along a dimension.
class ChannelSums {
public:
  ChannelSums(ChannelProfile &profile, const Tensor &values)
      : profile(profile), sliceOf(values, profile.axis), sums(sliceOf.count()),
        squares(sliceOf.count()), counts(sliceOf.count()) {}

  void add(int64_t index, double number) {
    const size_t channel = sliceOf(index);
    profile.least[channel] = std::min(profile.least[channel], number);
    profile.greatest[channel] = std::max(profile.greatest[channel], number);
    sums[channel] += number;
    squares[channel] += number * number;
    ++counts[channel];
  }

  /// Every tensor with elements has the same weight in the mean.
  void finish() {
    for (size_t channel = 0; channel < sums.size(); ++channel) {
      if (counts[channel] == 0)
        continue;
      const auto tensors = static_cast<double>(++profile.tensors[channel]);
      const auto update = [&](double &mean, double sum) {
        mean += (sum / static_cast<double>(counts[channel]) - mean) / tensors;
      };
      update(profile.mean[channel], sums[channel]);
      update(profile.square[channel], squares[channel]);
    }
  }

private:
  ChannelProfile &profile;
  SliceOf sliceOf;
  std::vector<double> sums, squares;
  std::vector<uint64_t> counts;
};

} // namespace

void MinMax::add(double leastOfOne, double greatestOfOne) {
  const auto insert = [](std::vector<double> &list, double number,
                         auto isFarther) {
    list.insert(std::upper_bound(list.begin(), list.end(), number, isFarther),
                number);
    if (list.size() > most)
      list.pop_back();
  };
  insert(least, leastOfOne, std::less<>());
  insert(greatest, greatestOfOne, std::greater<>());
}

void TensorProfile::measure(const Tensor &values) {
  ++times;
  if (channels.axis >= 0) {
    const bool hasAxis = channels.axis < values.rank();
    const size_t size = hasAxis ? values.dim(channels.axis) : 0;
    if (times == 1) {
      channels.least.assign(size, std::numeric_limits<double>::infinity());
      channels.greatest.assign(size, -std::numeric_limits<double>::infinity());
      channels.mean.assign(size, 0);
      channels.square.assign(size, 0);
      channels.tensors.assign(size, 0);
    }
    if (size == 0 || size != channels.least.size())
      channels = {};
  }
  std::optional<ChannelSums> sums;
  if (channels.axis >= 0)
    sums.emplace(channels, values);
  double leastNow = std::numeric_limits<double>::infinity(),
         greatestNow = -leastNow;
  forEachNumber(values, [&](int64_t index, double number) {
    if (!std::isfinite(number)) {
      ++notFinite;
      return;
    }
    ++elements;
    leastNow = std::min(leastNow, number);
    greatestNow = std::max(greatestNow, number);
    if (sums)
      sums->add(index, number);
  });
  if (leastNow <= greatestNow)
    sampleMinMax.add(leastNow, greatestNow);
  least = std::min(least, leastNow);
  greatest = std::max(greatest, greatestNow);
  if (sums)
    sums->finish();
}

void TensorProfile::count(const Tensor &values) {
  if (!wasReached() || isConstant())
    return;
  histogram.resize(bins);
  const double perUnit = static_cast<double>(bins) / (greatest - least);
  forEachNumber(values, [&](int64_t, double number) {
    if (!std::isfinite(number))
      return;
    const double bin = std::floor((number - least) * perUnit);
    ++histogram[static_cast<size_t>(
        std::clamp(bin, 0.0, static_cast<double>(bins - 1)))];
  });
}

void TensorProfile::compare(const Tensor &values) {
  ChannelErrors &errors = channels.errors;
  if (!(errors.scale > 0) || channels.axis < 0 ||
      channels.axis >= values.rank() ||
      values.dim(channels.axis) != static_cast<int64_t>(channels.mean.size()) ||
      values.size() == 0)
    return;
  const SliceOf sliceOf(values, channels.axis);
  errors.mean.resize(sliceOf.count());
  errors.tensors.resize(sliceOf.count());
  std::vector<double> sums(sliceOf.count());
  std::vector<uint64_t> counts(sliceOf.count());
  forEachNumber(values, [&](int64_t index, double number) {
    if (!std::isfinite(number))
      return;
    const double stored =
        std::clamp(std::nearbyint(number / errors.scale) * errors.scale,
                   errors.least, errors.greatest);
    sums[sliceOf(index)] += stored - number;
    ++counts[sliceOf(index)];
  });
  for (size_t channel = 0; channel < sums.size(); ++channel)
    if (counts[channel])
      errors.mean[channel] +=
          (sums[channel] / static_cast<double>(counts[channel]) -
           errors.mean[channel]) /
          static_cast<double>(++errors.tensors[channel]);
}

//===----------------------------------------------------------------------===//
// As a file
//===----------------------------------------------------------------------===//

template <typename Number>
static void writeList(llvm::json::OStream &json, llvm::StringRef key,
                      const std::vector<Number> &numbers) {
  json.attributeBegin(key);
  // One line: a list of thousands is for machines.
  std::string line;
  llvm::raw_string_ostream stream(line);
  llvm::json::OStream compact(stream);
  compact.arrayBegin();
  for (Number number : numbers)
    compact.value(llvm::json::Value(number));
  compact.arrayEnd();
  json.rawValue(line);
  json.attributeEnd();
}

static void writeErrors(llvm::json::OStream &json,
                        const ChannelErrors &errors) {
  if (errors.mean.empty())
    return;
  json.attributeObject("errors", [&] {
    json.attribute("scale", errors.scale);
    json.attribute("least", errors.least);
    json.attribute("greatest", errors.greatest);
    writeList(json, "mean", errors.mean);
  });
}

std::string toJson(const Profile &profile) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] {
    json.attribute("model", profile.model);
    json.attribute("samples", profile.samples);
    if (!profile.equalized.empty())
      json.attributeObject("equalized", [&] {
        for (const EqualizedTensor &each : profile.equalized)
          writeList(json, llvm::json::fixUTF8(each.tensor), each.factors);
      });
    json.attributeObject("tensors", [&] {
      for (const TensorProfile &tensor : profile.tensors)
        json.attributeObject(llvm::json::fixUTF8(tensor.name), [&] {
          json.attribute("times", tensor.times);
          json.attribute("elements", tensor.elements);
          if (tensor.notFinite)
            json.attribute("not_finite", tensor.notFinite);
          if (tensor.wasReached()) {
            json.attribute("min", tensor.least);
            json.attribute("max", tensor.greatest);
          }
          if (!tensor.sampleMinMax.least.empty())
            json.attributeObject("sample_min_max", [&] {
              writeList(json, "min", tensor.sampleMinMax.least);
              writeList(json, "max", tensor.sampleMinMax.greatest);
            });
          // A channel without a finite element has no range.
          if (tensor.channels.axis >= 0 &&
              llvm::all_of(tensor.channels.least,
                           [](double least) { return std::isfinite(least); }))
            json.attributeObject("channels", [&] {
              json.attribute("axis", tensor.channels.axis);
              writeList(json, "min", tensor.channels.least);
              writeList(json, "max", tensor.channels.greatest);
              writeList(json, "mean", tensor.channels.mean);
              writeList(json, "mean_square", tensor.channels.square);
              writeErrors(json, tensor.channels.errors);
            });
          if (!tensor.histogram.empty())
            writeList(json, "histogram", tensor.histogram);
        });
    });
  });
  return text + "\n";
}

namespace {

/// Reads fields of a JSON object, and reports those that are not valid.
class ProfileReader {
public:
  ProfileReader(const std::string &path) : path(path) {}

  Result<Profile> read(const llvm::json::Value &value) {
    const llvm::json::Object *root = value.getAsObject();
    const llvm::json::Object *tensors =
        root ? root->getObject("tensors") : nullptr;
    if (!tensors)
      return wrong("it has no object \"tensors\"");
    Profile profile;
    if (auto model = root->getString("model"))
      profile.model = model->str();
    profile.samples = countOf(*root, "samples");
    if (const llvm::json::Object *equalized = root->getObject("equalized"))
      for (const auto &[name, entry] : *equalized) {
        EqualizedTensor each{name.str(), {}};
        if (!readList(*equalized, name, each.factors) ||
            llvm::any_of(each.factors,
                         [](double factor) { return !(factor > 0); }))
          return wrong("\"equalized\": \"" + each.tensor +
                       "\" is no list of positive numbers");
        profile.equalized.push_back(std::move(each));
      }
    for (const auto &[name, entry] : *tensors) {
      const llvm::json::Object *fields = entry.getAsObject();
      if (!fields)
        return wrong("\"" + name.str() + "\" is no object");
      Result<TensorProfile> tensor = readTensor(name.str(), *fields);
      if (!tensor)
        return tensor.takeError();
      profile.tensors.push_back(std::move(*tensor));
    }
    // A JSON object has no order; the writer has one.
    std::sort(profile.tensors.begin(), profile.tensors.end(),
              [](const TensorProfile &a, const TensorProfile &b) {
                return a.name < b.name;
              });
    return profile;
  }

private:
  Error wrong(const std::string &what) const {
    return withHint(
        optionText("profile-out") + " writes one",
        systemError(optionText("profile") + " " + path + ": " + what));
  }

  Result<TensorProfile> readTensor(std::string name,
                                   const llvm::json::Object &fields) const {
    TensorProfile tensor;
    const std::string of = "tensor '" + name + "': ";
    tensor.name = std::move(name);
    tensor.times = countOf(fields, "times");
    tensor.elements = countOf(fields, "elements");
    tensor.notFinite = countOf(fields, "not_finite");
    if (!tensor.wasReached())
      return tensor;
    auto least = fields.getNumber("min"), greatest = fields.getNumber("max");
    if (!least || !greatest || !std::isfinite(*least) ||
        !std::isfinite(*greatest) || *least > *greatest)
      return wrong(of + "\"min\" and \"max\" must be numbers, in this order");
    tensor.least = *least;
    tensor.greatest = *greatest;
    // Profiles of older releases.
    const llvm::StringRef ofSamples =
        fields.get("extremes") ? "extremes" : "sample_min_max";
    if (const llvm::json::Object *minMax = fields.getObject(ofSamples))
      if (!readMinMax(*minMax, tensor.sampleMinMax))
        return wrong(of + "\"" + ofSamples.str() +
                     "\" needs lists \"min\" and \"max\" of one length, the "
                     "outermost value first");
    if (const llvm::json::Array *counts = fields.getArray("histogram")) {
      for (const llvm::json::Value &count : *counts) {
        auto number = count.getAsInteger();
        if (!number || *number < 0)
          return wrong(of + "\"histogram\" holds what is no count");
        tensor.histogram.push_back(static_cast<uint64_t>(*number));
      }
      if (tensor.histogram.size() != TensorProfile::bins)
        return wrong(of + "\"histogram\" must have " +
                     std::to_string(TensorProfile::bins) + " bins");
    }
    if (const llvm::json::Object *channels = fields.getObject("channels"))
      if (!readChannels(*channels, tensor.channels))
        return wrong(of + "\"channels\" needs \"axis\" and lists \"min\", "
                          "\"max\", \"mean\" and \"mean_square\" of one "
                          "length, and \"errors\", if there are any, a scale "
                          "and \"mean\" of that length");
    return tensor;
  }

  static uint64_t countOf(const llvm::json::Object &fields,
                          llvm::StringRef key) {
    return static_cast<uint64_t>(
        std::max<int64_t>(0, fields.getInteger(key).value_or(0)));
  }

  static bool readMinMax(const llvm::json::Object &fields, MinMax &minMax) {
    return readList(fields, "min", minMax.least) &&
           readList(fields, "max", minMax.greatest) &&
           minMax.least.size() == minMax.greatest.size() &&
           llvm::is_sorted(minMax.least) &&
           llvm::is_sorted(minMax.greatest, std::greater<>());
  }

  static bool readChannels(const llvm::json::Object &fields,
                           ChannelProfile &channels) {
    channels.axis = fields.getInteger("axis").value_or(-1);
    return channels.axis >= 0 && readList(fields, "min", channels.least) &&
           readList(fields, "max", channels.greatest) &&
           readList(fields, "mean", channels.mean) &&
           readList(fields, "mean_square", channels.square) &&
           channels.least.size() == channels.greatest.size() &&
           channels.least.size() == channels.mean.size() &&
           channels.least.size() == channels.square.size() &&
           readErrors(fields, channels);
  }

  static bool readErrors(const llvm::json::Object &fields,
                         ChannelProfile &channels) {
    const llvm::json::Object *given = fields.getObject("errors");
    if (!given)
      return true;
    ChannelErrors &errors = channels.errors;
    errors.scale = given->getNumber("scale").value_or(0);
    errors.least = given->getNumber("least").value_or(0);
    errors.greatest = given->getNumber("greatest").value_or(0);
    return errors.scale > 0 && readList(*given, "mean", errors.mean) &&
           errors.mean.size() == channels.mean.size();
  }

  static bool readList(const llvm::json::Object &fields, llvm::StringRef key,
                       std::vector<double> &numbers) {
    const llvm::json::Array *list = fields.getArray(key);
    if (!list)
      return false;
    for (const llvm::json::Value &each : *list) {
      auto number = each.getAsNumber();
      if (!number)
        return false;
      numbers.push_back(*number);
    }
    return true;
  }

  const std::string &path;
};

} // namespace

Result<Profile> profileFromJson(std::string_view text,
                                const std::string &path) {
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse(llvm::StringRef(text.data(), text.size()));
  if (!parsed)
    return systemError(optionText("profile") + " " + path +
                       ": no JSON: " + llvm::toString(parsed.takeError()));
  return ProfileReader(path).read(*parsed);
}

} // namespace sinter::quantize
