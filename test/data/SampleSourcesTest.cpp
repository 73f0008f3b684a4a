#include "data/SampleSources.h"
#include "TemporaryFolder.h"
#include "runtime/Npy.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace sinter {
namespace {

TEST(SampleSources, Kinds) {
  const test::TemporaryFolder folder;
  folder.write("a.png", "");
  folder.write("list.txt", "");
  folder.write("b[1].png", "");
  EXPECT_EQ(kindOfSource("-"), SampleSourceKind::StandardInput);
  EXPECT_EQ(kindOfSource(folder.path()), SampleSourceKind::Folder);
  EXPECT_EQ(kindOfSource(folder.file("a.png")), SampleSourceKind::File);
  EXPECT_EQ(kindOfSource(folder.file("list.txt")), SampleSourceKind::List);
  EXPECT_EQ(kindOfSource("@" + folder.file("a.png")), SampleSourceKind::List);
  EXPECT_EQ(kindOfSource(folder.file("*.png")), SampleSourceKind::Pattern);
  // A file of this name is meant itself.
  EXPECT_EQ(kindOfSource(folder.file("b[1].png")), SampleSourceKind::File);
  EXPECT_EQ(kindOfSource(folder.file("none.npy")), SampleSourceKind::File);
}

TEST(SampleSources, Patterns) {
  const test::TemporaryFolder folder;
  for (const char *name : {"b.png", "a.png", "c.txt", ".d.png"})
    folder.write(name, "");
  auto found = filesMatching("inputs", folder.file("*.png"));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::vector<std::string>{folder.file("a.png"),
                                              folder.file("b.png")}));
  auto none = filesMatching("inputs", folder.file("*.jpg"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Usage);
  EXPECT_EQ(none.error().message(),
            "inputs: no file matches '" + folder.file("*.jpg") + "'");
}

TEST(SampleSources, Lists) {
  const std::vector<ListedSample> lines =
      listedSamples("# a list\na.png\tcat\r\n\n  \nx=b.npy\ty=c.npy\n\t\nd e");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].fields, (std::vector<std::string>{"a.png", "cat"}));
  EXPECT_EQ(lines[1].fields, (std::vector<std::string>{"x=b.npy", "y=c.npy"}));
  EXPECT_EQ(lines[2].fields, (std::vector<std::string>{"d e"}));
  const test::TemporaryFolder folder;
  folder.write("a.png", "");
  EXPECT_EQ(listedPath("a.png", folder.path()), folder.file("a.png"));
  EXPECT_EQ(listedPath("none.png", folder.path()), "none.png");
  EXPECT_EQ(listedPath("/a.png", folder.path()), "/a.png");
}

/// A pipe into which a thread writes \p text, a few bytes at a time.
class Pipe {
public:
  explicit Pipe(std::string text) {
    if (::pipe(ends) != 0)
      throw std::system_error(errno, std::generic_category());
    writer = std::thread([text = std::move(text), to = ends[1]] {
      for (size_t at = 0; at < text.size(); at += 7)
        if (::write(to, text.data() + at,
                    std::min<size_t>(7, text.size() - at)) < 0)
          break;
      ::close(to);
    });
  }
  ~Pipe() {
    ::close(ends[0]);
    writer.join();
  }
  int descriptor() const { return ends[0]; }

private:
  int ends[2] = {};
  std::thread writer;
};

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SampleStream, Lines) {
  const std::string longLine(100'000, 'x');
  const Pipe pipe("a.png\n\n" + longLine + "\nlast");
  SampleStream stream(pipe.descriptor(), "pipe");
  EXPECT_FALSE(*stream.holdsArrays());
  for (const std::string &wanted :
       {std::string("a.png"), std::string(), longLine, std::string("last")}) {
    auto line = stream.line();
    ASSERT_TRUE(line);
    EXPECT_EQ(*line, wanted);
  }
  EXPECT_EQ(*stream.line(), std::nullopt);
}

TEST(SampleStream, Arrays) {
  const test::TemporaryFolder folder;
  const std::vector<Shape> shapes = {{2, 3}, {}, {0}, {70'000}};
  std::string text;
  for (const Shape &shape : shapes) {
    Tensor tensor(ElementType::F32, shape);
    if (tensor.size() > 0)
      tensor.set<float>(tensor.size() - 1, 5);
    ASSERT_TRUE(writeNpy(folder.file("a"), tensor));
    text += contentsOf(folder.file("a"));
  }
  const Pipe pipe(text);
  SampleStream stream(pipe.descriptor(), "pipe");
  EXPECT_TRUE(*stream.holdsArrays());
  for (const Shape &shape : shapes) {
    auto array = stream.array();
    ASSERT_TRUE(array && *array) << array.error().message();
    EXPECT_EQ((*array)->shape(), shape);
    if ((*array)->size() > 0)
      EXPECT_EQ((*array)->at<float>((*array)->size() - 1), 5);
  }
  auto end = stream.array();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST(SampleStream, BrokenArrays) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(writeNpy(folder.file("a"), Tensor(ElementType::F32, {100})));
  const std::string whole = contentsOf(folder.file("a"));
  // Of the magic, of the header, of the data.
  for (const size_t length : {size_t(4), size_t(9), size_t(50), size_t(300)}) {
    const Pipe pipe(whole.substr(0, length));
    SampleStream stream(pipe.descriptor(), "pipe");
    auto array = stream.array();
    ASSERT_FALSE(array) << length;
    EXPECT_EQ(array.error().kind, ErrorKind::System);
  }
  const Pipe other(whole + "something else");
  SampleStream stream(other.descriptor(), "pipe");
  ASSERT_TRUE(stream.array());
  EXPECT_FALSE(stream.array());
  // More than there is, of which no memory is taken beforehand.
  std::string large = whole;
  large.replace(large.find("(100,)"), 6, "(9999999999999,)");
  const Pipe lying(large);
  SampleStream liar(lying.descriptor(), "pipe");
  EXPECT_FALSE(liar.array());
}

} // namespace
} // namespace sinter
