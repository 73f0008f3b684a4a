//===- PirText.h - PIR's JSON made piece by piece -------------------------===//

#ifndef SINTER_TEST_FORMATS_PADDLE_PIRTEXT_H
#define SINTER_TEST_FORMATS_PADDLE_PIRTEXT_H

#include <string>
#include <vector>

namespace sinter::test {

/// `"key":[a,b]` without the key.
inline std::string pirList(const std::vector<std::string> &items) {
  std::string text = "[";
  for (const std::string &each : items)
    text += (text.size() > 1 ? "," : "") + each;
  return text + "]";
}

inline std::string pirTensor(const std::string &sizes,
                             const std::string &type = "f32") {
  return R"({"#":"0.t_dtensor","D":[{"#":"0.t_)" + type + R"("},[)" + sizes +
         R"(],"NCHW",[],0]})";
}

inline std::string pirResult(int id, const std::string &type) {
  return "{\"%\":" + std::to_string(id) + ",\"TT\":" + type + "}";
}

inline std::string pirAttribute(const std::string &name,
                                const std::string &kind,
                                const std::string &data) {
  return "{\"AT\":{\"#\":\"" + kind + "\",\"D\":" + data + "},\"N\":\"" + name +
         "\"}";
}

inline std::string pirInts(const std::string &name, const std::string &kind,
                           const std::vector<int> &values) {
  std::vector<std::string> list;
  for (const int each : values)
    list.push_back("{\"#\":\"0.a_" + kind + "\",\"D\":" + std::to_string(each) +
                   "}");
  return pirAttribute(name, "0.a_array", pirList(list));
}

/// An operator; \p regions may be empty.
inline std::string pirOperator(const std::string &name,
                               const std::vector<int> &operands,
                               const std::vector<std::string> &results,
                               const std::vector<std::string> &attributes = {},
                               const std::vector<std::string> &regions = {}) {
  std::vector<std::string> ids;
  for (const int each : operands)
    ids.push_back("{\"%\":" + std::to_string(each) + "}");
  std::string text = "{\"#\":\"" + name + "\",\"A\":" + pirList(attributes) +
                     ",\"I\":" + pirList(ids) + ",\"O\":" + pirList(results) +
                     ",\"OA\":[]";
  if (!regions.empty())
    text += ",\"regions\":" + pirList(regions);
  return text + "}";
}

inline std::string pirRegion(const std::vector<std::string> &operators,
                             const std::vector<std::string> &arguments = {}) {
  return R"({"#":"region_1","blocks":[{"#":"block_1","args":)" +
         pirList(arguments) + ",\"ops\":" + pirList(operators) + "}]}";
}

inline std::string pirArgument(int id, const std::string &type) {
  return "{\"#\":" + std::to_string(id) + ",\"TT\":" + type + "}";
}

inline std::string pirParameter(int id, const std::string &name,
                                const std::string &sizes) {
  return R"({"#":"p","A":[0,1,1,")" + name + R"("],"DA":[],"O":)" +
         pirResult(id, pirTensor(sizes)) + R"(,"OA":[1,0,1],"QA":[]})";
}

inline std::string pirInput(int id, const std::string &name,
                            const std::string &type) {
  return pirOperator("1.data", {}, {pirResult(id, type)},
                     {pirAttribute("name", "0.a_str", "\"" + name + "\"")});
}

inline std::string pirOutput(int id, int value, int column,
                             const std::string &type) {
  return pirOperator("1.fetch", {value}, {pirResult(id, type)},
                     {pirAttribute("name", "0.a_str",
                                   "\"out_" + std::to_string(column) + "\""),
                      pirAttribute("col", "0.a_i32", std::to_string(column))});
}

inline std::string pirProgram(const std::vector<std::string> &operators,
                              int version = 1) {
  return R"({"base_code":{"magic":"pir","trainable":true,"version":)" +
         std::to_string(version) +
         R"(},"program":{"regions":[{"#":"region_0","blocks":[{"#":"block_0",)"
         R"("args":[],"ops":)" +
         pirList(operators) + "}]}]}}";
}

} // namespace sinter::test

#endif // SINTER_TEST_FORMATS_PADDLE_PIRTEXT_H
