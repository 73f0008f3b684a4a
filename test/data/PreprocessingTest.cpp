#include "data/Preprocessing.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

Preprocessing given(std::vector<std::pair<std::string, std::string>> options) {
  Preprocessing all;
  for (const auto &[name, text] : options) {
    const Result<void> set = setPreprocessing(all, name, text);
    EXPECT_TRUE(set) << set.error().message();
  }
  return all;
}

TEST(Preprocessing, OptionsAsTexts) {
  const Preprocessing all = given({{"resize", "20x30"},
                                   {"crop", "8"},
                                   {"fit", "Cover"},
                                   {"layout", "NHWC"},
                                   {"channels", "bgr"},
                                   {"scale", "2"},
                                   {"mean", "1,2,3"},
                                   {"pad-value", "9"},
                                   {"pad-multiple", "32"},
                                   {"interpolation", "nearest"},
                                   {"rate", "16000"}});
  const ImageOptions how = imageOptions(all);
  EXPECT_EQ(how.resize, (PictureSize{20, 30}));
  EXPECT_EQ(how.crop, (PictureSize{8, 8}));
  EXPECT_EQ(how.fit, ImageFit::Cover);
  EXPECT_EQ(how.layout, ImageLayout::Nhwc);
  EXPECT_EQ(how.channels, ImageChannels::Bgr);
  EXPECT_EQ(how.scale, 2);
  EXPECT_EQ(how.mean, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(how.padValue, std::vector<double>{9});
  EXPECT_EQ(how.padMultiple, 32);
  EXPECT_EQ(how.interpolation, Interpolation::Nearest);
  EXPECT_EQ(all.rate, 16000);
  EXPECT_EQ(describe(all),
            "resize 20x30 fit cover interpolation nearest crop 8x8 "
            "pad-multiple 32 pad-value 9 channels bgr mean 1,2,3 scale 2 "
            "layout nhwc rate 16000");
}

TEST(Preprocessing, NothingGiven) {
  EXPECT_TRUE(isEmpty({}));
  const ImageOptions how = imageOptions(Preprocessing());
  EXPECT_EQ(how.layout, ImageLayout::Nchw);
  EXPECT_EQ(how.scale, 1.0 / 255);
  EXPECT_EQ(how.fit, ImageFit::Stretch);
  EXPECT_EQ(how.interpolation, Interpolation::Bilinear);
  EXPECT_FALSE(how.resize || how.crop || how.channels);
}

TEST(Preprocessing, WhatIsRefused) {
  Preprocessing all;
  for (const auto &[name, text] :
       std::vector<std::pair<std::string, std::string>>{
           {"resize", ""},       {"resize", "0"},       {"resize", "1x"},
           {"resize", "-4"},     {"resize", "20000"},   {"resize", "1x2x3"},
           {"fit", "contain"},   {"channels", "rg"},    {"mean", "1,,2"},
           {"mean", "nan"},      {"mean", "inf"},       {"std", "1,0"},
           {"scale", "1,2"},     {"scale", ""},         {"pad-value", "-1"},
           {"pad-value", "256"}, {"pad-multiple", "0"}, {"rate", "0"},
           {"rate", "1e4"},      {"preset", "vgg"},     {"blur", "1"}}) {
    const Result<void> set = setPreprocessing(all, name, text);
    EXPECT_FALSE(set) << name << " " << text;
    EXPECT_NE(set.error().message().find(name), std::string::npos);
  }
  EXPECT_TRUE(isEmpty(all));
}

TEST(Preprocessing, WhatIsGivenComesFirst) {
  const Preprocessing kept = given({{"preset", "imagenet"}, {"resize", "9"}});
  const Preprocessing all =
      combined(given({{"preset", "imagenet-tf"}, {"std", "5"}}), kept);
  EXPECT_FALSE(all.preset);
  EXPECT_EQ(all.resize, (PictureSize{9, 9}));
  EXPECT_EQ(all.mean, std::vector<double>{1});
  EXPECT_EQ(all.std, std::vector<double>{5});
  EXPECT_EQ(all.scale, 1 / 127.5);
}

TEST(Preprocessing, ThereAndBackAsJson) {
  for (const std::string &name : presetNames()) {
    const Preprocessing all =
        given({{"preset", name}, {"resize", "3x4"}, {"pad-value", "1,2,3"}});
    const Result<Preprocessing> back =
        parsePreprocessing(preprocessingText(all));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(describe(*back), describe(combined(all, {})));
    EXPECT_EQ(back->mean, combined(all, {}).mean);
  }
  EXPECT_EQ(preprocessingText({}), "{}");
}

TEST(Preprocessing, MetadataOfOthers) {
  for (const char *text :
       {"", "[]", "{", "{\"resize\": {}}", "{\"resize\": null}",
        "{\"resize\": \"0\"}", "{\"mean\": [\"a\"]}", "{\"mean\": [1, []]}",
        "{\"scale\": true}", "{\"sharpen\": 1}"}) {
    const Result<Preprocessing> parsed = parsePreprocessing(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::InvalidModel);
  }
  ModelDescription model;
  EXPECT_TRUE(isEmpty(*preprocessingOf(model)));
  model.metadata.entries = {{preprocessingKey, "{\"rate\": 8000}"}};
  EXPECT_EQ(preprocessingOf(model)->rate, 8000);
  EXPECT_TRUE(preprocessingToKeep(model, {})->empty());
  const auto kept = preprocessingToKeep(model, given({{"crop", "2"}}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->front().second, R"({"crop":"2x2","rate":8000})");
}

} // namespace
} // namespace sinter
