//===- BoxDecoding.cpp - boxes in the outputs of detectors ----------------===//

#include "post/BoxDecoding.h"

#include <algorithm>
#include <cmath>

namespace sinter {

static constexpr std::pair<BoxHead, const char *> namedHeads[] = {
    {BoxHead::Auto, "auto"},     {BoxHead::Yolov8, "yolov8"},
    {BoxHead::Yolov5, "yolov5"}, {BoxHead::EndToEnd, "end2end"},
    {BoxHead::List, "list"},
};

static constexpr std::pair<BoxForm, const char *> namedForms[] = {
    {BoxForm::Corners, "xyxy"},
    {BoxForm::SwappedCorners, "yxyx"},
    {BoxForm::CornerAndSize, "xywh"},
    {BoxForm::CentreAndSize, "cxcywh"},
};

template <typename T, size_t N>
static std::optional<T> valueNamed(const std::pair<T, const char *> (&names)[N],
                                   const std::string &text) {
  for (const auto &[value, name] : names)
    if (text == name)
      return value;
  return std::nullopt;
}

template <typename T, size_t N>
static std::string nameAmong(const std::pair<T, const char *> (&names)[N],
                             T wanted) {
  for (const auto &[value, name] : names)
    if (value == wanted)
      return name;
  return "";
}

std::optional<BoxHead> boxHeadNamed(const std::string &text) {
  return valueNamed(namedHeads, text);
}

std::optional<BoxForm> boxFormNamed(const std::string &text) {
  return valueNamed(namedForms, text);
}

std::string nameOf(BoxHead head) { return nameAmong(namedHeads, head); }
std::string nameOf(BoxForm form) { return nameAmong(namedForms, form); }

namespace {

/// Elements of a [N, boxes, values] or [N, values, boxes] tensor.
struct BoxRows {
  const Tensor &tensor;
  int64_t boxes, values;
  bool areBoxesLast;

  double at(int64_t image, int64_t box, int64_t value) const {
    const int64_t inside =
        areBoxesLast ? value * boxes + box : box * values + value;
    return tensor.toDouble(image * boxes * values + inside);
  }
};

/// The outputs of a head of lists.
struct BoxLists {
  const Tensor *boxes = nullptr, *scores = nullptr, *labels = nullptr;
};

class BoxDecoder {
public:
  BoxDecoder(const std::vector<std::string> &names,
             const std::vector<Tensor> &outputs, const BoxOptions &options,
             int64_t width, int64_t height)
      : names(names), outputs(outputs), options(options), width(width),
        height(height) {}

  Result<std::vector<std::vector<Detection>>> decode();

private:
  Result<BoxHead> findHead() const;
  double leastScore() const {
    constexpr double usual = 0.25;
    return options.score.value_or(usual);
  }
  Error noHead(const std::string &what) const;
  const Tensor *rowsOutput() const;
  Result<BoxLists> findLists() const;
  void decodeRows(const Tensor &output, BoxHead head);
  void decodeFinal(const Tensor &output);
  Result<void> decodeLists();
  void keep(std::vector<Detection> &found, BoxForm form, const double (&at)[4],
            double score, double label) const;

  const std::vector<std::string> &names;
  const std::vector<Tensor> &outputs;
  const BoxOptions &options;
  int64_t width, height;
  std::vector<std::vector<Detection>> images;
};

} // namespace

Error BoxDecoder::noHead(const std::string &what) const {
  std::string list;
  for (size_t i = 0; i < outputs.size(); ++i)
    list += (i ? ", '" : "'") + names[i] + "' " +
            toString(outputs[i].type(), outputs[i].shape());
  return usageError("boxes: " + what + "; the outputs are " + list);
}

/// The only output of floats and three dimensions, or the first of them.
const Tensor *BoxDecoder::rowsOutput() const {
  const auto found = std::ranges::find_if(outputs, [](const Tensor &each) {
    return isFloat(each.type()) && each.rank() == 3;
  });
  return found == outputs.end() ? nullptr : &*found;
}

/// Whether the name of an output has \p word in it.
static bool isCalled(const std::string &name, const char *word) {
  return name.find(word) != std::string::npos;
}

Result<BoxLists> BoxDecoder::findLists() const {
  BoxLists lists;
  for (const Tensor &each : outputs)
    if (!lists.boxes && isFloat(each.type()) && each.rank() >= 2 &&
        each.dim(each.rank() - 1) == 4)
      lists.boxes = &each;
  if (!lists.boxes)
    return noHead("no output holds boxes of four coordinates");
  Shape shape = lists.boxes->shape();
  shape.pop_back();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor &each = outputs[i];
    if (&each == lists.boxes)
      continue;
    // Classes are integers, or floats of that name.
    const bool isList = each.shape() == shape;
    if (isList && !lists.labels &&
        (isInteger(each.type()) || isCalled(names[i], "label") ||
         isCalled(names[i], "class")))
      lists.labels = &each;
    else if (isList && !lists.scores && isFloat(each.type()))
      lists.scores = &each;
  }
  if (lists.scores && lists.labels)
    return lists;
  // Scores of all classes of each box.
  for (const Tensor &each : outputs)
    if (&each != lists.boxes && isFloat(each.type()) &&
        each.rank() == lists.boxes->rank() &&
        std::equal(shape.begin(), shape.end(), each.shape().begin())) {
      lists.scores = &each;
      lists.labels = nullptr;
      return lists;
    }
  return noHead("beside the boxes, " +
                toString(lists.boxes->type(), lists.boxes->shape()) +
                ", neither scores and classes of each are there nor scores of "
                "all classes");
}

Result<BoxHead> BoxDecoder::findHead() const {
  if (options.head != BoxHead::Auto)
    return options.head;
  if (outputs.size() > 1 && findLists())
    return BoxHead::List;
  const Tensor *rows = rowsOutput();
  if (!rows)
    return noHead("no output has three dimensions, [N, 4 + classes, boxes] or "
                  "[N, boxes, 5 + classes]");
  const int64_t second = rows->dim(1), third = rows->dim(2);
  if (third == 6)
    return noHead("[N, boxes, 6] may be a box, a score and a class "
                  "(head=end2end), or an objectness and one class "
                  "(head=yolov5): say which");
  if (second < third && second > 4)
    return BoxHead::Yolov8;
  if (third < second && third > 5)
    return BoxHead::Yolov5;
  return noHead("no head is known of this shape");
}

/// Adds a detection, unless it is left out.
void BoxDecoder::keep(std::vector<Detection> &found, BoxForm form,
                      const double (&at)[4], double score, double label) const {
  // NaN is not kept, either.
  if (!(score >= leastScore()) || !std::isfinite(score) ||
      !std::ranges::all_of(at, [](double each) { return std::isfinite(each); }))
    return;
  constexpr double mostLabel = 1e9;
  if (!(std::abs(label) <= mostLabel))
    return;
  Box box;
  switch (form) {
  case BoxForm::Corners:
    box = {at[0], at[1], at[2], at[3]};
    break;
  case BoxForm::SwappedCorners:
    box = {at[1], at[0], at[3], at[2]};
    break;
  case BoxForm::CornerAndSize:
    box = {at[0], at[1], at[0] + at[2], at[1] + at[3]};
    break;
  case BoxForm::CentreAndSize:
    box = {at[0] - at[2] / 2, at[1] - at[3] / 2, at[0] + at[2] / 2,
           at[1] + at[3] / 2};
    break;
  }
  if (options.areRelative) {
    box.left *= static_cast<double>(width);
    box.right *= static_cast<double>(width);
    box.top *= static_cast<double>(height);
    box.bottom *= static_cast<double>(height);
  }
  found.push_back({box, score, std::llround(label)});
}

void BoxDecoder::decodeRows(const Tensor &output, BoxHead head) {
  const bool isLast = head == BoxHead::Yolov8;
  const BoxRows rows{output, output.dim(isLast ? 2 : 1),
                     output.dim(isLast ? 1 : 2), isLast};
  const int64_t first = isLast ? 4 : 5;
  const BoxForm form = options.form.value_or(BoxForm::CentreAndSize);
  for (int64_t image = 0; image < output.dim(0); ++image)
    for (int64_t box = 0; box < rows.boxes; ++box) {
      const double object = isLast ? 1 : rows.at(image, box, 4);
      // No score of a class is above 1.
      if (!(object >= leastScore()))
        continue;
      int64_t label = 0;
      double score = rows.at(image, box, first);
      for (int64_t i = 1; first + i < rows.values; ++i)
        if (const double each = rows.at(image, box, first + i); each > score) {
          score = each;
          label = i;
        }
      const double at[4] = {rows.at(image, box, 0), rows.at(image, box, 1),
                            rows.at(image, box, 2), rows.at(image, box, 3)};
      keep(images[image], form, at, object * score, static_cast<double>(label));
    }
}

void BoxDecoder::decodeFinal(const Tensor &output) {
  const BoxRows rows{output, output.dim(1), output.dim(2), false};
  for (int64_t image = 0; image < output.dim(0); ++image)
    for (int64_t box = 0; box < rows.boxes; ++box) {
      const double at[4] = {rows.at(image, box, 0), rows.at(image, box, 1),
                            rows.at(image, box, 2), rows.at(image, box, 3)};
      keep(images[image], options.form.value_or(BoxForm::Corners), at,
           rows.at(image, box, 4), rows.at(image, box, 5));
    }
}

Result<void> BoxDecoder::decodeLists() {
  Result<BoxLists> lists = findLists();
  if (!lists)
    return lists.takeError();
  const Tensor &boxes = *lists->boxes;
  if (boxes.rank() > 3)
    return noHead("boxes have the dimensions [N, boxes, 4]");
  const int64_t count = boxes.dim(boxes.rank() - 2);
  const int64_t batch = boxes.rank() == 3 ? boxes.dim(0) : 1;
  images.resize(batch);
  const int64_t classes =
      lists->labels ? 1 : lists->scores->dim(lists->scores->rank() - 1);
  for (int64_t i = 0; i < batch * count; ++i) {
    const double at[4] = {boxes.toDouble(4 * i), boxes.toDouble(4 * i + 1),
                          boxes.toDouble(4 * i + 2), boxes.toDouble(4 * i + 3)};
    for (int64_t label = 0; label < classes; ++label)
      keep(images[i / count], options.form.value_or(BoxForm::Corners), at,
           lists->scores->toDouble(i * classes + label),
           lists->labels ? lists->labels->toDouble(i)
                         : static_cast<double>(label));
  }
  return {};
}

Result<std::vector<std::vector<Detection>>> BoxDecoder::decode() {
  // Without elements, a first dimension could be of any size.
  constexpr int64_t mostImages = 65536;
  for (const Tensor &each : outputs)
    if (each.rank() > 0 && each.size() == 0 && each.dim(0) > mostImages)
      return noHead("a batch is too large");
  Result<BoxHead> head = findHead();
  if (!head)
    return head.takeError();
  if (*head == BoxHead::List) {
    if (Result<void> done = decodeLists(); !done)
      return done.takeError();
  } else {
    const Tensor *rows = rowsOutput();
    const int64_t least = *head == BoxHead::EndToEnd ? 6
                          : *head == BoxHead::Yolov5 ? 6
                                                     : 5;
    const size_t axis = *head == BoxHead::Yolov8 ? 1 : 2;
    if (!rows || rows->dim(axis) < least ||
        (*head == BoxHead::EndToEnd && rows->dim(axis) != least))
      return noHead("no output is one of head=" + nameOf(*head));
    images.resize(rows->dim(0));
    if (*head == BoxHead::EndToEnd)
      decodeFinal(*rows);
    else
      decodeRows(*rows, *head);
  }
  const bool areFinal = *head == BoxHead::List || *head == BoxHead::EndToEnd;
  constexpr double usualOverlap = 0.45, anyOverlap = 1;
  for (std::vector<Detection> &found : images)
    found = suppressed(
        std::move(found),
        options.overlap.value_or(areFinal ? anyOverlap : usualOverlap),
        options.most);
  return std::move(images);
}

bool mayBeDetector(const std::vector<TensorSpec> &outputs, size_t classes) {
  constexpr int64_t coordinates = 4;
  const auto count = static_cast<int64_t>(classes);
  return std::ranges::any_of(outputs, [&](const TensorSpec &output) {
    // With objectness, or without.
    return isFloat(output.type) && output.shape.size() == 3 &&
           (output.shape[1] == coordinates + count ||
            output.shape[2] == coordinates + 1 + count);
  });
}

Result<std::vector<std::vector<Detection>>>
decodeBoxes(const std::vector<std::string> &names,
            const std::vector<Tensor> &outputs, const BoxOptions &options,
            int64_t width, int64_t height) {
  return BoxDecoder(names, outputs, options, width, height).decode();
}

} // namespace sinter
