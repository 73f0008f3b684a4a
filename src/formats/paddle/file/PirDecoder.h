//===- PirDecoder.h - decodes a program from PIR's JSON -------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRDECODER_H
#define SINTER_FORMATS_PADDLE_FILE_PIRDECODER_H

#include "formats/paddle/file/PirControlFlow.h"
#include "formats/paddle/file/PirOperator.h"
#include "runtime/Result.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace sinter::paddle {

/// The definition of a value.
struct PirValue {
  /// The name of the variable; empty if it is absent.
  std::string name;
  bool isList = false, isVisible = true, isArray = false;
  std::optional<ElementType> type;
  /// The variables of a list.
  std::vector<std::string> elements;
  /// The value of a constant.
  AttributeValue constant;
  /// The nesting depth of its block.
  size_t depth = 0;
};

/// What the values that a region yields are assigned to.
struct PirRegionEnd {
  enum Form : uint8_t { None, Then, Else, Loop };
  Form form = None;
  std::vector<std::string> results;
  /// For a loop: the declaration of each result.
  std::vector<Variable> variables;
  PirLoop loop;
};

class PirDecoder {
public:
  explicit PirDecoder(std::string_view text)
      : text(text), copied(text.data()) {}

  Result<Program> decode();

private:
  Error broken(const std::string &why) const { return invalidModel(why); }
  bool stop(Error error) {
    if (!problem)
      problem = std::move(error);
    return false;
  }
  bool stopAt(const RawPirOperator &raw, const std::string &why) {
    return stop(broken("operator '" + raw.name + "': " + why));
  }
  /// A reader of a slice of the text.
  JsonReader readerOf(std::string_view part) const {
    return JsonReader(part, part.data() - text.data());
  }
  bool check(const JsonReader &in) {
    return in.failed() ? stop(broken(in.problem())) : !problem;
  }

  bool decodeHeader(JsonReader &in);
  bool decodeRegions(JsonReader &in, const std::vector<PirRegionEnd> &endings,
                     std::vector<int64_t> *indices);
  bool decodeBlock(JsonReader &in, int64_t index, const PirRegionEnd &ending);
  bool decodeArguments(JsonReader &in, int64_t index,
                       const PirRegionEnd &ending);
  bool decodeOperator(JsonReader &in, int64_t index,
                      const PirRegionEnd &ending);

  bool addParameter(const RawPirOperator &raw, int64_t block);
  bool addInput(const RawPirOperator &raw, int64_t block);
  bool addOutput(const RawPirOperator &raw, int64_t block);
  bool addList(const RawPirOperator &raw);
  bool addParts(const RawPirOperator &raw);
  bool addHidden(const RawPirOperator &raw, int64_t block, bool &isHidden);
  bool addBranch(const RawPirOperator &raw, int64_t block);
  bool addLoop(const RawPirOperator &raw, int64_t block);
  bool addOther(const RawPirOperator &raw, int64_t block);
  bool addEnd(const RawPirOperator &raw, int64_t block,
              const PirRegionEnd &ending);
  void append(int64_t block, std::vector<Operator> operators, size_t ordinal);

  const PirValue *lookup(int64_t id);
  const PirValue *operand(const RawPirOperator &raw, size_t i);
  bool operandNames(const RawPirOperator &raw, size_t i,
                    std::vector<std::string> &names);
  /// Defines a value; null, with an error, if there is one already.
  PirValue *define(int64_t id, std::string name);
  /// Declares result \p i as a new variable.
  PirValue *declare(const RawPirOperator &raw, size_t i, int64_t block);
  void declare(int64_t block, Variable variable, std::string name);

  bool bindOperands(const RawPirOperator &raw, const PirOperator *row,
                    Operator &op, std::string &overwritten);
  bool bindAttributeOperand(const PirOperand &operand, const PirValue &value,
                            Operator &op);
  bool bindResults(const RawPirOperator &raw, const PirOperator *row,
                   int64_t block, Operator &op, const std::string &overwritten);
  void addCastType(const RawPirOperator &raw, Operator &op);

  void copyUntil(const char *end) {
    program.encoded.append(copied, end - copied);
    copied = end;
  }
  /// Appends the count of the operators that were left out.
  void endRun() {
    if (run > 0)
      program.encoded += std::to_string(run);
    run = 0;
  }

  std::string_view text;
  Program program;
  std::unordered_map<int64_t, PirValue> values;
  std::unordered_set<std::string> names;
  /// The ids that the enclosing regions define, innermost last.
  std::vector<std::vector<int64_t>> scopes;
  std::vector<int64_t> columns;
  /// The current block.
  int64_t current = -1;
  size_t nextOrdinal = 0;
  const char *copied;
  size_t run = 0;
  std::optional<Error> problem;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRDECODER_H
