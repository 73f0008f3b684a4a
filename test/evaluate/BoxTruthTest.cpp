#include "evaluate/BoxTruth.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

TEST(BoxTruth, ImagesAndCategories) {
  const Result<BoxTruth> truth = parseBoxTruth(
      R"({"images": [{"id": 4, "file_name": "val/a.jpg", "height": 48,
                      "width": 64}, {"id": 5, "file_name": "b.jpg"}],
          "annotations": [
            {"image_id": 4, "category_id": 3, "bbox": [1, 2, 10, 20]},
            {"image_id": 4, "category_id": 1, "bbox": [0, 0, 1.5, 1],
             "iscrowd": 1}],
          "categories": [{"id": 3, "name": "car"}, {"id": 1}]})",
      "truth");
  ASSERT_TRUE(truth) << truth.error().message();
  ASSERT_EQ(truth->images.size(), 2U);
  const BoxTruth::Image &image = truth->images.at("a.jpg");
  EXPECT_EQ(image.size, (PictureSize{48, 64}));
  ASSERT_EQ(image.boxes.size(), 2U);
  EXPECT_EQ(image.boxes[0].label, 3);
  EXPECT_EQ(image.boxes[0].box.right, 11);
  EXPECT_EQ(image.boxes[0].box.bottom, 22);
  EXPECT_FALSE(image.boxes[0].isCrowd);
  EXPECT_TRUE(image.boxes[1].isCrowd);
  EXPECT_TRUE(truth->images.at("b.jpg").boxes.empty());
  EXPECT_EQ(truth->categories.at(3), "car");
  EXPECT_EQ(truth->categories.at(1), "1");
}

TEST(BoxTruth, AnnotationsAlone) {
  const Result<BoxTruth> truth = parseBoxTruth(
      R"([{"file_name": "a.png", "category_id": 0, "bbox": [0, 0, 1, 1]}])",
      "truth");
  ASSERT_TRUE(truth);
  EXPECT_EQ(truth->images.at("a.png").boxes.size(), 1U);
}

TEST(BoxTruth, WhatIsWrong) {
  const struct {
    const char *json, *what;
  } rows[] = {
      {"", "not a JSON file"},
      {"{", "not a JSON file"},
      {"3", "'annotations'"},
      {"{}", "'annotations'"},
      {R"({"annotations": 3})", "'annotations'"},
      {"[3]", "annotation 0 is no object"},
      {R"([{"category_id": 0, "bbox": [0, 0, 1, 1]}])", "'image_id'"},
      {R"([{"image_id": 1, "category_id": 0, "bbox": [0, 0, 1, 1]}])",
       "which is not among 'images'"},
      {R"([{"file_name": "a", "bbox": [0, 0, 1, 1]}])", "'category_id'"},
      {R"([{"file_name": "a", "category_id": 0.5, "bbox": [0, 0, 1, 1]}])",
       "'category_id'"},
      {R"([{"file_name": "a", "category_id": 0, "bbox": [0, 0, 1]}])",
       "four numbers"},
      {R"([{"file_name": "a", "category_id": 0, "bbox": [0, 0, -1, 1]}])",
       "four numbers"},
      {R"([{"file_name": "a", "category_id": 0, "bbox": [0, 0, "1", 1]}])",
       "four numbers"},
      {R"([{"file_name": "a", "category_id": 0, "bbox": [0, 0, 1e999, 1]}])",
       ""},
      {R"({"annotations": [], "images": [{"id": 1}]})", "'file_name'"},
      {R"({"annotations": [], "images": [1]})", "image 0"},
      {R"({"annotations": [], "categories": [{"name": "a"}]})", "category"}};
  for (const auto &row : rows) {
    const Result<BoxTruth> truth = parseBoxTruth(row.json, "truth");
    ASSERT_FALSE(truth) << row.json;
    EXPECT_NE(truth.error().message().find(row.what), std::string::npos)
        << truth.error().message();
  }
  EXPECT_EQ(readBoxTruth("/nowhere.json", "--truth").error().kind,
            ErrorKind::System);
}

} // namespace
} // namespace sinter
