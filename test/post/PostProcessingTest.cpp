// Covers: post BoxDecoding ClassMaps CtcDecoding PostProcessing PostSteps

#include "post/PostProcessing.h"
#include "TemporaryFolder.h"
#include "post/ClassMaps.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace sinter {
namespace {

Tensor floats(Shape shape, std::vector<float> values) {
  return Tensor::of<float>(ElementType::F32, std::move(shape), values);
}

Tensor integers(Shape shape, std::vector<int64_t> values) {
  return Tensor::of<int64_t>(ElementType::I64, std::move(shape), values);
}

PostProcessing steps(const std::vector<std::string> &texts) {
  Result<PostProcessing> parsed = PostProcessing::parse(texts, "post");
  EXPECT_TRUE(parsed) << parsed.error().message();
  return std::move(*parsed);
}

TEST(PostProcessing, SoftmaxAndTopK) {
  const Tensor scores = floats({2, 3}, {0, std::log(2.0F), 0, 5, 5, 4});
  Result<PostResults> results =
      steps({"softmax", "top-k=2"}).apply({"y"}, {scores}, {});
  ASSERT_TRUE(results);
  EXPECT_NEAR(results->outputs[0].at<float>(1), 0.5, 1e-6);
  ASSERT_EQ(results->found.size(), 1U);
  EXPECT_EQ(results->found[0].output, "y");
  const auto &rows = std::get<0>(results->found[0].value);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[0].size(), 2U);
  EXPECT_EQ(rows[0][0].label, 1);
  EXPECT_NEAR(rows[0][0].score, 0.5, 1e-6);
  // Of equal scores the first.
  EXPECT_EQ(rows[0][1].label, 0);
  EXPECT_EQ(rows[1][0].label, 0);
  EXPECT_EQ(rows[1][1].label, 1);
}

TEST(PostProcessing, SoftmaxOfPixels) {
  const Tensor scores = floats({1, 2, 1, 2}, {0, 0, 0, std::log(3.0F)});
  Result<PostResults> results = steps({"softmax"}).apply({"y"}, {scores}, {});
  ASSERT_TRUE(results);
  const Tensor &parts = results->outputs[0];
  EXPECT_NEAR(parts.at<float>(0), 0.5, 1e-6);
  EXPECT_NEAR(parts.at<float>(1), 0.25, 1e-6);
  EXPECT_NEAR(parts.at<float>(2), 0.5, 1e-6);
  EXPECT_NEAR(parts.at<float>(3), 0.75, 1e-6);
}

TEST(PostProcessing, TheNamedOutput) {
  const std::vector<Tensor> outputs = {floats({1, 2}, {1, 2}),
                                       floats({1, 2}, {2, 1})};
  Result<PostResults> results =
      steps({"top-k=1:output=b"}).apply({"a", "b"}, outputs, {});
  ASSERT_TRUE(results);
  EXPECT_EQ(std::get<0>(results->found[0].value)[0][0].label, 0);
  const auto missing =
      steps({"top-k=1:output=c"}).apply({"a", "b"}, outputs, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "top-k: the model has no output 'c'");
  EXPECT_FALSE(steps({"argmax-map"}).apply({"a", "b"}, outputs, {}));
}

TEST(PostProcessing, TextsThatAreNoSteps) {
  const test::TemporaryFolder folder;
  folder.write("chars", "a\nb\n");
  const std::string chars = "ctc=" + folder.file("chars");
  for (const std::string &wrong :
       {std::string("sofmax"), std::string(""), std::string("softmax=3"),
        std::string("top-k=0"), std::string("top-k=x"),
        std::string("top-k=5:k=3"), std::string("ctc"),
        std::string("boxes:iou=2"), std::string("boxes:iou=-0.1"),
        std::string("boxes:score=nan"), std::string("boxes:max=0"),
        std::string("boxes:head=ssd"), std::string("boxes:form=abcd"),
        std::string("boxes:what=1"), std::string("boxes=3"),
        std::string("argmax-map:layout=chw"), std::string("softmax:output="),
        chars + ":blank=x", chars + ":blnk=1"}) {
    const auto parsed = PostProcessing::parse({wrong}, "--post");
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Usage) << wrong;
    EXPECT_TRUE(parsed.error().message().starts_with("--post"))
        << parsed.error().message();
  }
  EXPECT_EQ(PostProcessing::parse({"ctc=/nowhere"}, "--post").error().kind,
            ErrorKind::System);
}

TEST(PostProcessing, MetadataHasAllButTheFile) {
  const test::TemporaryFolder folder;
  folder.write("chars", "\xC3\xA4\nb\n");
  const PostProcessing all =
      steps({"softmax:output=y", "top-k=3", "argmax-map:layout=nhwc",
             "ctc=" + folder.file("chars") + ":blank=last:space:time-first",
             "boxes:head=list:form=yxyx:iou=0.5:score=0.1:max=7:relative"});
  const std::string text = all.toMetadata();
  EXPECT_EQ(text.find("chars\""), std::string::npos);
  const Result<PostProcessing> back = PostProcessing::fromMetadata(text);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->toMetadata(), text);
  const PostStep &ctc = back->all()[3];
  EXPECT_EQ(ctc.ctc.characters,
            (std::vector<std::string>{"\xC3\xA4", "b", " "}));
  EXPECT_EQ(ctc.ctc.blank, -1);
  EXPECT_EQ(ctc.ctc.isTimeFirst, true);
  EXPECT_EQ(back->all()[4].boxes.most, 7U);
  EXPECT_TRUE(back->all()[4].boxes.areRelative);
  EXPECT_EQ(back->text(), "softmax, top-k=3, argmax-map, ctc of 3 characters, "
                          "boxes:score=0.1:iou=0.5");
  for (const char *wrong :
       {"", "{}", "[3]", "[{}]", R"([{"step": "x"}])",
        R"([{"step": "top-k", "k": -1}])", R"([{"step": "top-k", "k": [1]}])",
        R"([{"step": "ctc", "characters": [1]}])",
        R"([{"step": "boxes", "iou": 7}])",
        R"([{"step": "boxes", "what": 7}])"})
    EXPECT_FALSE(PostProcessing::fromMetadata(wrong)) << wrong;
}

TEST(ClassMaps, OfScoresAndOfClasses) {
  const Tensor scores = floats({2, 2, 1, 2}, {1, 0, 0, 1, /**/ 0, 0, 0, 3});
  Result<std::vector<Tensor>> maps = classMaps(scores, false);
  ASSERT_TRUE(maps);
  ASSERT_EQ(maps->size(), 2U);
  EXPECT_EQ((*maps)[0].shape(), (Shape{1, 2}));
  EXPECT_EQ((*maps)[0].toInteger(0), 0);
  EXPECT_EQ((*maps)[0].toInteger(1), 1);
  EXPECT_EQ((*maps)[1].toInteger(1), 1);
  maps = classMaps(floats({1, 1, 1, 2}, {0, 1}), true);
  ASSERT_TRUE(maps);
  EXPECT_EQ((*maps)[0].toInteger(0), 1);
  maps = classMaps(integers({1, 1, 1, 2}, {3, 300}), false);
  ASSERT_TRUE(maps);
  EXPECT_EQ((*maps)[0].toInteger(1), 300);
  EXPECT_FALSE(asBytes((*maps)[0]));
  EXPECT_TRUE(asBytes(integers({1, 2}, {0, 255})));
  EXPECT_FALSE(classMaps(floats({1, 2}, {0, 1}), false));
  EXPECT_FALSE(classMaps(floats({1, 1, 1, 2}, {0, 1}), false));
  EXPECT_FALSE(classMaps(integers({1, 2}, {0, 1}), false));
  EXPECT_FALSE(classMaps(floats({0, 2, 1, 1}, {}), false));
}

/// Scores of one-hot steps.
Tensor path(std::vector<int64_t> classes, int64_t count, Shape shape) {
  Tensor scores(ElementType::F32, std::move(shape));
  for (size_t i = 0; i < classes.size(); ++i)
    scores.set<float>(static_cast<int64_t>(i) * count + classes[i], 1.0F);
  return scores;
}

TEST(DecodeCtc, MergesRepetitionsAndDropsBlanks) {
  CtcOptions options;
  options.characters = {"a", "b"};
  auto texts = decodeCtc(path({1, 1, 0, 1, 2, 2, 0}, 3, {1, 7, 3}), options);
  ASSERT_TRUE(texts) << texts.error().message();
  ASSERT_EQ(texts->size(), 1U);
  EXPECT_EQ((*texts)[0].text, "aab");
  EXPECT_NEAR((*texts)[0].confidence, 1, 1e-12);
  // The steps first; and without samples at all.
  EXPECT_EQ((*decodeCtc(path({1, 0, 2}, 3, {3, 1, 3}), options))[0].text, "ab");
  EXPECT_EQ((*decodeCtc(path({1, 0, 2}, 3, {3, 3}), options))[0].text, "ab");
  options.isTimeFirst = true;
  texts = decodeCtc(path({1, 2, 0, 2}, 3, {2, 2, 3}), options);
  EXPECT_EQ((*texts)[0].text, "a");
  EXPECT_EQ((*texts)[1].text, "b");
  options.isTimeFirst.reset();
  options.blank = -1;
  EXPECT_EQ((*decodeCtc(path({0, 2, 0, 1}, 3, {1, 4, 3}), options))[0].text,
            "aab");
  EXPECT_EQ((*decodeCtc(path({2, 2}, 3, {1, 2, 3}), options))[0].confidence, 0);
}

TEST(DecodeCtc, ConfidenceIsOfTheKeptSteps) {
  CtcOptions options;
  options.characters = {"a"};
  const auto texts = decodeCtc(
      floats({1, 3, 2}, {0.2F, 0.8F, 0.4F, 0.6F, 0.9F, 0.1F}), options);
  ASSERT_TRUE(texts);
  EXPECT_EQ((*texts)[0].text, "a");
  EXPECT_NEAR((*texts)[0].confidence, 0.8, 1e-6);
}

TEST(DecodeCtc, WhatDoesNotFit) {
  CtcOptions options;
  options.characters = {"a", "b"};
  const auto space = decodeCtc(floats({1, 1, 4}, {0, 0, 0, 1}), options);
  ASSERT_FALSE(space);
  EXPECT_NE(space.error().message().find(":space"), std::string::npos);
  EXPECT_FALSE(decodeCtc(floats({1, 1, 2}, {0, 1}), options));
  EXPECT_FALSE(decodeCtc(floats({3}, {0, 0, 1}), options));
  EXPECT_FALSE(decodeCtc(floats({1, 1, 1, 3}, {0, 0, 1}), options));
  EXPECT_FALSE(decodeCtc(integers({1, 1, 3}, {0, 0, 1}), options));
  EXPECT_FALSE(decodeCtc(floats({1, 0, 3}, {}), options));
  options.blank = 3;
  EXPECT_FALSE(decodeCtc(floats({1, 1, 3}, {0, 0, 1}), options));
  options.blank = -4;
  EXPECT_FALSE(decodeCtc(floats({1, 1, 3}, {0, 0, 1}), options));
}

using Found = std::vector<std::vector<Detection>>;

Result<Found> decode(const std::vector<Tensor> &outputs, BoxOptions options,
                     std::vector<std::string> names = {"a", "b", "c"}) {
  names.resize(outputs.size());
  return decodeBoxes(names, outputs, options, 100, 50);
}

TEST(DecodeBoxes, OfRowsOfChannels) {
  // Two classes, seven boxes: [1, 6, 7] is yolov8's.
  Tensor head(ElementType::F32, {1, 6, 7});
  const auto set = [&](int64_t box, std::vector<float> values) {
    for (size_t i = 0; i < values.size(); ++i)
      head.set<float>(static_cast<int64_t>(i) * 7 + box, values[i]);
  };
  set(0, {10, 20, 4, 6, 0.1F, 0.9F});
  set(1, {10, 20, 4, 5.5F, 0.1F, 0.8F}); // suppressed
  set(2, {50, 20, 4, 6, 0.7F, 0.2F});
  set(3, {70, 20, 4, 6, 0.2F, 0.1F}); // too low
  const Result<Found> found = decode({head}, {});
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->size(), 1U);
  ASSERT_EQ((*found)[0].size(), 2U);
  const Detection &first = (*found)[0][0];
  EXPECT_EQ(first.label, 1);
  EXPECT_NEAR(first.score, 0.9, 1e-6);
  EXPECT_EQ(first.box.left, 8);
  EXPECT_EQ(first.box.top, 17);
  EXPECT_EQ(first.box.right, 12);
  EXPECT_EQ(first.box.bottom, 23);
  EXPECT_EQ((*found)[0][1].label, 0);
}

TEST(DecodeBoxes, WithObjectness) {
  Tensor head(ElementType::F32, {1, 9, 7});
  const float values[] = {10, 20, 4, 6, 0.5F, 0.25F, 0.75F};
  for (int64_t i = 0; i < 7; ++i)
    head.set<float>(7 * 3 + i, values[i]);
  const Result<Found> found = decode({head}, {});
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ((*found)[0].size(), 1U);
  EXPECT_EQ((*found)[0][0].label, 1);
  EXPECT_NEAR((*found)[0][0].score, 0.375, 1e-6);
}

TEST(DecodeBoxes, OfTwoKindsSixValues) {
  const Tensor head = floats({1, 1, 6}, {1, 2, 3, 4, 0.5F, 7});
  const Result<Found> either = decode({head}, {});
  ASSERT_FALSE(either);
  EXPECT_NE(either.error().message().find("head=end2end"), std::string::npos);
  BoxOptions options;
  options.head = BoxHead::EndToEnd;
  const Result<Found> found = decode({head}, options);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0][0].label, 7);
  EXPECT_EQ((*found)[0][0].box.right, 3);
  options.head = BoxHead::Yolov5;
  EXPECT_TRUE(decode({head}, options));
  options.head = BoxHead::Yolov8;
  EXPECT_FALSE(decode({head}, options));
}

TEST(DecodeBoxes, OfLists) {
  // As torchvision's detectors: boxes, classes, scores.
  BoxOptions options;
  Result<Found> found =
      decode({floats({2, 4}, {1, 2, 3, 4, 1, 2, 3, 4}), integers({2}, {5, 5}),
              floats({2}, {0.9F, 0.8F})},
             options);
  ASSERT_TRUE(found) << found.error().message();
  // They are final: nothing is suppressed, unless that is asked for.
  ASSERT_EQ((*found)[0].size(), 2U);
  EXPECT_EQ((*found)[0][0].label, 5);
  options.overlap = 0.5;
  found = decode({floats({2, 4}, {1, 2, 3, 4, 1, 2, 3, 4}),
                  integers({2}, {5, 5}), floats({2}, {0.9F, 0.8F})},
                 options);
  EXPECT_EQ((*found)[0].size(), 1U);
  // Relative, swapped, with a batch and the scores of all classes.
  options = {};
  options.areRelative = true;
  options.form = BoxForm::SwappedCorners;
  found = decode({floats({1, 1, 4}, {0.2F, 0.1F, 0.4F, 0.5F}),
                  floats({1, 1, 3}, {0.1F, 0.3F, 0.6F})},
                 options);
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ((*found)[0].size(), 2U);
  EXPECT_EQ((*found)[0][0].label, 2);
  EXPECT_NEAR((*found)[0][0].box.left, 10, 1e-5);
  EXPECT_NEAR((*found)[0][0].box.top, 10, 1e-5);
  EXPECT_NEAR((*found)[0][0].box.right, 50, 1e-5);
  EXPECT_NEAR((*found)[0][0].box.bottom, 20, 1e-5);
  // Classes as floats, by their name.
  found = decode(
      {floats({1, 4}, {1, 2, 3, 4}), floats({1}, {0.5F}), floats({1}, {3})}, {},
      {"boxes", "scores", "class_ids"});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ((*found)[0][0].label, 3);
  found = decode({floats({0, 4}, {}), integers({0}, {}), floats({0}, {})}, {});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE((*found)[0].empty());
}

TEST(DecodeBoxes, FormsOfCoordinates) {
  BoxOptions options;
  options.head = BoxHead::EndToEnd;
  options.form = BoxForm::CornerAndSize;
  const Tensor head = floats({1, 1, 6}, {1, 2, 3, 4, 0.5F, 7});
  EXPECT_EQ((*decode({head}, options))[0][0].box.right, 4);
  EXPECT_EQ((*decode({head}, options))[0][0].box.bottom, 6);
}

TEST(DecodeBoxes, LeavesOutWhatIsNotFinite) {
  const float none = std::numeric_limits<float>::quiet_NaN(),
              endless = std::numeric_limits<float>::infinity();
  BoxOptions options;
  options.head = BoxHead::EndToEnd;
  const Result<Found> found = decode(
      {floats({1, 4, 6}, {1,       2, 3, 4, none, 7, 1, none, 3, 4, 1, 7,
                          endless, 2, 3, 4, 1,    7, 1, 2,    3, 4, 1, none})},
      options);
  ASSERT_TRUE(found);
  EXPECT_TRUE((*found)[0].empty());
}

TEST(DecodeBoxes, WhatIsNoHead) {
  EXPECT_FALSE(decode({floats({1, 4}, {1, 2, 3, 4})}, {}));
  EXPECT_FALSE(decode({integers({1, 2, 3}, {1, 2, 3, 4, 5, 6})}, {}));
  EXPECT_FALSE(decode({floats({1, 4, 9}, std::vector<float>(36))}, {}));
  EXPECT_FALSE(
      decode({Tensor(ElementType::F32, {int64_t(1) << 40, 0, 7})}, {}));
  BoxOptions list;
  list.head = BoxHead::List;
  EXPECT_FALSE(decode({floats({1, 4}, {1, 2, 3, 4})}, list));
  EXPECT_FALSE(decode({}, list));
}

} // namespace
} // namespace sinter
