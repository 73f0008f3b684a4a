// Covers: runtime Utf8

#include "runtime/TraceWriter.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

TEST(TraceWriterTest, WritesEvents) {
  TraceWriter trace;
  trace.add("compile", "conv", "kernel", 0.001, 0.0005);
  LayerTime layer{"a\"b", "convolution", "direct",         0.5, 0.001,
                  2e6,    4e6,           ElementType::F32, 2};
  trace.addLayers("run", std::span(&layer, 1), 1);
  EXPECT_EQ(trace.text(), R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"sinter"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"compile"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"run"}},
{"ph":"X","pid":1,"tid":1,"name":"conv","cat":"kernel","ts":1000.000,"dur":500.000,"args":{}},
{"ph":"X","pid":1,"tid":2,"name":"a\"b","cat":"convolution","ts":1500000.000,"dur":1000.000,"args":{"kernel":"direct","threads":2,"gflops":2.00}}
]}
)");
}

TEST(TraceWriterTest, JsonStringsAreAlwaysValid) {
  EXPECT_EQ(jsonString("a\n\"\\"), "\"a\\u000a\\\"\\\\\"");
  EXPECT_EQ(jsonString("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(jsonString("\xff\xc3"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(jsonString("\xed\xa0\x80").find('\xed'), std::string::npos);
}

} // namespace
