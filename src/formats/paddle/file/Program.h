//===- Program.h - a PaddlePaddle program, of whatever era ----------------===//
//
// Paddle saved programs as protobuf (`__model__`, `.pdmodel`) and, since
// version 3, as JSON (PIR). Both are read into this one form, in the vocabulary
// of the older one: operators, slots and attributes are called as in
// ProgramDesc (`elementwise_add`, `X`, `axis`), and PirNames.h says what PIR
// calls them. A value of PIR without a name is called `%7` by its number.
//
// Nothing here is in SSA form: a variable may be written again, and an
// operator may give what it takes. A sub-block sees its parents' variables.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PROGRAM_H
#define SINTER_FORMATS_PADDLE_FILE_PROGRAM_H

#include "runtime/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sinter::paddle {

/// How a program is written down.
enum class Era : uint8_t {
  Protobuf, ///< ProgramDesc: `__model__`, `.pdmodel`.
  Pir,      ///< JSON: `.json`.
};

/// What a variable holds.
enum class VariableKind : uint8_t {
  Tensor,
  Feed,  ///< The list that `feed` takes inputs from.
  Fetch, ///< The list that `fetch` puts outputs in.
  TensorArray,
  StepScopes,
  Raw,
  Other, ///< Known to nobody here; `kindName` says what.
};

struct Variable {
  std::string name;
  VariableKind kind = VariableKind::Tensor;
  /// For messages: "SELECTED_ROWS", or the number.
  std::string kindName;
  /// Of a tensor or an array of them; nothing where the program does not say or
  /// no tensor has such elements (strings).
  std::optional<ElementType> type;
  /// The sizes that the program declares, -1 for an unknown one. Hints: nobody
  /// checks them when the program runs. Of parameters they are true.
  std::vector<int64_t> dims;
  int32_t lodLevel = 0;
  /// A parameter (or feed, fetch): kept from run to run.
  bool isPersistable = false;
  /// Of a parameter: it is not to be trained.
  bool stopsGradient = false;
  /// Where it stands in the file: the index among its block's variables, or -1
  /// for one that is new.
  int64_t index = -1;
};

/// A block of the program as an attribute.
struct BlockIndex {
  int64_t index = 0;
  bool operator==(const BlockIndex &) const = default;
};
/// Variables that hold what the attribute says.
struct VariableNames {
  std::vector<std::string> names;
  bool operator==(const VariableNames &) const = default;
};

/// What kind of number an attribute is stored as is not told apart: files
/// disagree. monostate: a kind that nothing here reads.
using AttributeValue =
    std::variant<std::monostate, bool, int64_t, double, std::string,
                 std::vector<bool>, std::vector<int64_t>, std::vector<double>,
                 std::vector<std::string>, BlockIndex, std::vector<BlockIndex>,
                 VariableNames>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

/// A named list of operands or results; empty where an optional one is absent.
struct Slot {
  std::string name;
  std::vector<std::string> arguments;
};

struct Operator {
  std::string type;
  std::vector<Slot> inputs, outputs;
  /// Without what says nothing of the computation: op_callstack, op_role and
  /// the like.
  std::vector<Attribute> attributes;
  /// The layer that it came of ("/Block/Attention/Linear/"); may be empty.
  std::string scope;
  /// As it stands in a file of era `encodedEra`: a serialised OpDesc without
  /// call stack, or JSON. Empty for one that is new. Arguments are what the
  /// slots above say, whatever is called so in there.
  std::string encoded;
  Era encodedEra = Era::Protobuf;

  /// The attribute's value; null if there is none.
  const AttributeValue *attribute(std::string_view attributeName) const;
  /// The slot's arguments; null if there is no such slot.
  const std::vector<std::string> *input(std::string_view slot) const;
  const std::vector<std::string> *output(std::string_view slot) const;
};

struct Block {
  /// The index of the block around it; -1 for the main one.
  int64_t parent = -1;
  std::vector<Variable> variables;
  /// In the order of execution.
  std::vector<Operator> operators;
  /// Of PIR: the names of the values that the block is given, in order.
  std::vector<std::string> arguments;
};

/// An input or an output of the program.
struct Port {
  /// The variable.
  std::string variable;
  /// What it is called for those who run the program.
  std::string name;
};

struct Program {
  Era era = Era::Protobuf;
  /// major * 1000000 + minor * 1000 + patch; 0 where the file has none.
  int64_t version = 0;
  /// The main block first.
  std::vector<Block> blocks;
  /// In the order of their columns. The operators feed and fetch (PIR: data and
  /// fetch) are not among those of the main block.
  std::vector<Port> inputs, outputs;
  /// What the file holds beside blocks and what ports need, for the writer of
  /// the same era (versions, map of operators' versions, feed and fetch, the
  /// bytes of variables): an encoded program without operators. Empty for a
  /// program that is new, or was read in another era than it is written in;
  /// then variables' indices mean nothing.
  std::string encoded;

  /// The parameters in the order of a combined file: persistable variables of
  /// the main block that are tensors, by name, byte by byte.
  std::vector<const Variable *> parameters() const;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PROGRAM_H
