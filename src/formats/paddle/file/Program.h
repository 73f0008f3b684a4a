//===- Program.h - a PaddlePaddle program of any era ----------------------===//
//
// Paddle saved programs as protobuf (`__model__`, `.pdmodel`) and, since
// version 3, as JSON (PIR). Both are read into this one form, in the vocabulary
// of the older one: operators, slots and attributes are called as in
// ProgramDesc (`elementwise_add`, `X`, `axis`), and PirNames.h has PIR's names.
// A value of PIR without a name is called `%7` by its id.
//
// Nothing here is in SSA form: a variable may be written again, and an operator
// may overwrite its operand. A sub-block sees its parents' variables.
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

/// The file format of a program.
enum class Era : uint8_t {
  Protobuf, ///< ProgramDesc: `__model__`, `.pdmodel`.
  Pir,      ///< JSON: `.json`.
};

/// The kind of a variable.
enum class VariableKind : uint8_t {
  Tensor,
  Feed,  ///< The list that `feed` takes inputs from.
  Fetch, ///< The list that `fetch` puts outputs in.
  TensorArray,
  StepScopes,
  Raw,
  Other, ///< Not supported; `kindName` is its name.
};

struct Variable {
  std::string name;
  VariableKind kind = VariableKind::Tensor;
  /// For messages: "SELECTED_ROWS", or the number.
  std::string kindName;
  /// The element type of a tensor or an array of them; nothing if it is not
  /// declared or no element type (strings).
  std::optional<ElementType> type;
  /// The sizes that the program declares, -1 for a dynamic one. Hints: they are
  /// not checked when the program runs. Those of parameters are exact.
  std::vector<int64_t> dims;
  int32_t lodLevel = 0;
  /// A parameter (or feed, fetch): kept from run to run.
  bool isPersistable = false;
  /// For a parameter: it is not trained.
  bool stopsGradient = false;
  /// Its index among its block's variables in the file, or -1 for a new one.
  int64_t index = -1;
};

/// A block of the program as an attribute.
struct BlockIndex {
  int64_t index = 0;
  bool operator==(const BlockIndex &) const = default;
};
/// Variables that hold the value of the attribute.
struct VariableNames {
  std::vector<std::string> names;
  bool operator==(const VariableNames &) const = default;
};

/// The stored kinds of numbers are not distinguished, since files differ.
/// monostate: a kind that is not used here.
using AttributeValue =
    std::variant<std::monostate, bool, int64_t, double, std::string,
                 std::vector<bool>, std::vector<int64_t>, std::vector<double>,
                 std::vector<std::string>, BlockIndex, std::vector<BlockIndex>,
                 VariableNames>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

/// A named list of operands or results; empty if an optional one is absent.
struct Slot {
  std::string name;
  std::vector<std::string> arguments;
};

struct Operator {
  std::string type;
  std::vector<Slot> inputs, outputs;
  /// Without attributes that do not affect the computation: op_callstack,
  /// op_role and similar.
  std::vector<Attribute> attributes;
  /// The layer that it belongs to ("/Block/Attention/Linear/"); may be empty.
  std::string scope;
  /// Its encoded form in a file of era `encodedEra`: a serialised OpDesc
  /// without call stack, or JSON. Empty for a new one. The slots above override
  /// the arguments in it.
  std::string encoded;
  Era encodedEra = Era::Protobuf;

  /// The attribute's value; null if there is none.
  const AttributeValue *attribute(std::string_view attributeName) const;
  /// The slot's arguments; null if there is no such slot.
  const std::vector<std::string> *input(std::string_view slot) const;
  const std::vector<std::string> *output(std::string_view slot) const;
};

struct Block {
  /// The index of the enclosing block; -1 for the main one.
  int64_t parent = -1;
  std::vector<Variable> variables;
  /// In the order of execution.
  std::vector<Operator> operators;
  /// In PIR: the names of the block's arguments, in order.
  std::vector<std::string> arguments;
};

/// An input or an output of the program.
struct Port {
  /// The variable.
  std::string variable;
  /// Its name for users of the program.
  std::string name;
};

struct Program {
  Era era = Era::Protobuf;
  /// major * 1000000 + minor * 1000 + patch; 0 if the file has none.
  int64_t version = 0;
  /// The main block first.
  std::vector<Block> blocks;
  /// In the order of their columns. The operators feed and fetch (PIR: data and
  /// fetch) are not among those of the main block.
  std::vector<Port> inputs, outputs;
  /// The rest of the file for the writer of the same era (versions, map of
  /// operators' versions, feed and fetch, the bytes of variables): an encoded
  /// program without operators. Empty for a new program, or one that was read
  /// in another era than it is written in; then variables' indices do not
  /// apply.
  std::string encoded;

  /// The parameters in the order of a combined file: persistable variables of
  /// the main block that are tensors, by name, byte by byte.
  std::vector<const Variable *> parameters() const;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PROGRAM_H
