//===- PirEncoder.h - encodes a program as PIR's JSON ---------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRENCODER_H
#define SINTER_FORMATS_PADDLE_FILE_PIRENCODER_H

#include "formats/paddle/file/PirControlFlow.h"
#include "formats/paddle/file/PirSkeleton.h"
#include "runtime/Result.h"

#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace sinter::paddle {

/// The terminator of a region.
struct PirEnding {
  enum Form : uint8_t { None, Branch, Loop, NewBranch, NewLoop };
  Form form = None;
  bool isThen = false;
  /// For a new region: the variables that it yields, for a loop the condition
  /// first.
  std::vector<std::string> results;
  PirLoop loop;
  /// For a new loop: the ids of the region's arguments.
  std::vector<int64_t> arguments;
};

class PirEncoder {
public:
  explicit PirEncoder(const Program &program) : program(program) {}

  Result<std::string> encode();

private:
  /// The index of the preceding operator in the file, and the distance from it.
  using Place = std::pair<int64_t, int64_t>;
  struct Chunk {
    Place place;
    std::string text;
  };

  void fail(const std::string &why);
  void refuse(const Operator &op, const std::string &why = "");
  const Variable *declarationOf(const std::string &name) const;

  //===--- Values ---------------------------------------------------------===//
  int64_t freshId();
  /// Binds \p name to the value \p id; isAlias: in addition to its previous
  /// ids.
  void setName(const std::string &name, int64_t id, bool isAlias);
  /// Defines a value, with the id \p wanted if that is free. \p name may be
  /// empty.
  int64_t define(const std::string &name, int64_t wanted, bool isAlias = false);
  /// The current id of a variable; \p original if that is one of them.
  int64_t idOf(const std::string &name, int64_t original);
  int64_t listOf(const std::vector<std::string> &names, int64_t original);
  void splitList(int64_t id);
  void defineList(int64_t id, const std::vector<std::string> &names);

  //===--- Text -----------------------------------------------------------===//
  /// Adds \p text, which defines \p results, after the current text and the
  /// definitions of \p operands, at \p ordinal unless that has passed.
  void add(int64_t ordinal, std::string text, std::span<const int64_t> operands,
           std::span<const int64_t> results);
  void addNew(std::string text, std::span<const int64_t> operands,
              std::span<const int64_t> results) {
    add(-1, std::move(text), operands, results);
  }
  void addHidden(PirSkeleton::Item &item);
  static std::string stopsGradient(size_t count);
  void appendResult(std::string &out, int64_t id, const Variable *variable,
                    const std::string &name);

  //===--- From the file --------------------------------------------------===//
  int64_t readOperand(const Operator &op, const RawPirOperator &raw,
                      const PirOperand *described, size_t i);
  void encodeRead(const Operator &op, const RawPirOperator &raw);
  void addParts(const std::vector<int64_t> &results);
  std::vector<std::string> namesOf(const RawPirOperator &raw);
  std::string encodeRegions(const PirSkeleton::Item &item,
                            const std::vector<int64_t> &blocks,
                            const PirEnding &ending);
  size_t encodeGroup(std::span<const Operator> list, PirSkeleton::Item &item);
  size_t encodeEnd(std::span<const Operator> list, PirSkeleton::Item &item,
                   const PirEnding &ending);

  //===--- New operators (EncodePirOperators.cpp)
  //---------------------------===//
  void encodeNew(const Operator &op);
  std::string newOperator(const Operator &op, const PirOperator &row);
  int64_t newOperand(const Operator &op, const PirOperator &row, size_t i);
  /// A constant from an attribute, as an operand; its id is \p wanted if that
  /// is free.
  int64_t constantOperand(const Operator &op, const PirOperand &operand,
                          int64_t wanted = 0);
  int64_t addConstant(const AttributeValue &value, PirKind kind, int64_t type,
                      int64_t wanted = 0);
  std::string newAttributes(const Operator &op, const PirOperator &row);
  AttributeValue newAttribute(const Operator &op, const PirAttribute &attribute,
                              bool &isThere);
  std::string newResults(const Operator &op, const PirOperator &row,
                         std::vector<int64_t> &ids);
  int64_t alignedOperand(const Operator &op);
  bool checkFixed(const Operator &op, const PirOperator &row);
  /// Fails for an attribute that would be lost.
  bool checkKnown(const Operator &op, const PirOperator &row);
  void encodePorts(PirSkeleton *skeleton);
  void encodeParameters(PirSkeleton *skeleton);
  void encodeInputs(PirSkeleton *skeleton);
  void encodeOutputs(PirSkeleton *skeleton);

  //===--- New branches and loops (EncodePirControlFlow.cpp) --------------===//
  /// Encodes one at the start of \p rest; returns its number of operators.
  size_t encodeNewGroup(std::span<const Operator> rest);
  bool isAssignment(std::span<const Operator> rest) const;
  void encodeNewLoop(const Operator &op);
  size_t encodeChoice(std::span<const Operator> list);
  void encodeNewBranch(const Operator &op);
  std::string encodeRegion(int64_t block, const PirEnding &ending);
  std::string encodeYield(const std::vector<std::string> &names);
  void addRegions(std::string_view name, const std::vector<int64_t> &operands,
                  const std::vector<std::string> &results,
                  const std::vector<std::string> &texts);
  int64_t blockOf(const Operator &op) const;
  std::vector<std::string> writtenBy(int64_t block) const;
  bool isDefined(const std::string &name) const;
  /// Binds \p name to the current value of \p from.
  void setAlias(const std::string &name, const std::string &from);
  void splitLists();
  struct Uses {
    int64_t reads = 0, writes = 0;
    const Operator *writer = nullptr;
  };
  const Uses &usesOf(const std::string &name);
  bool isMadeBy(std::string_view type, const std::string *name,
                const std::string *from);

  //===--- Blocks ---------------------------------------------------------===//
  void noteIds(const RawPirOperator &raw);
  void addUnreadLists(PirSkeleton &skeleton);
  void noteSkeleton(PirSkeleton &block);
  void collect(PirSkeleton &skeleton);
  std::string encodeBlock(int64_t index, PirSkeleton *skeleton,
                          const PirEnding &ending);
  size_t encodeNext(std::span<const Operator> rest, PirSkeleton *skeleton,
                    PirSkeleton::Item *end);

  const Program &program;
  int64_t current = 0;
  std::vector<std::unordered_map<std::string, const Variable *>> declared;

  int64_t largestId = 0;
  /// The uses of every variable, computed on demand.
  std::unordered_map<std::string, Uses> uses;
  /// The ids that operators in later regions use.
  std::vector<int64_t> innerReads;
  /// New regions so far.
  int64_t regions = 0;
  std::unordered_set<int64_t> definedIds;
  /// The ids of each variable: the same value may have several.
  std::unordered_map<std::string, std::vector<int64_t>> idsOfNames;
  std::unordered_map<int64_t, std::string> nameOfIds;
  /// The changes of setName, latest last.
  struct Undo {
    std::string name;
    bool isAlias;
    /// The variable's previous ids, unless it is an alias.
    std::vector<int64_t> before;
  };
  std::vector<Undo> undo;
  std::unordered_map<int64_t, Place> placeOfIds;
  /// Lists that an operator returned and that are not split yet.
  std::unordered_map<int64_t, std::vector<std::string>> listNames;
  std::unordered_map<std::string, int64_t> listOfParts;
  /// Items of the skeleton that combine a list, and that split one.
  std::unordered_map<int64_t, PirSkeleton::Item *> combines;
  /// The lists that were used in the file.
  std::unordered_set<int64_t> readLists;
  std::unordered_multimap<int64_t, PirSkeleton::Item *> parts;
  /// Branches and loops, by their ordinals.
  std::unordered_map<int64_t, PirSkeleton::Item *> groups;

  std::vector<Chunk> *chunks = nullptr;
  Place place = {-1, 0};
  std::span<const Operator> endOperators;
  std::map<std::string, int64_t> unsupportedOperators;
  std::optional<Error> problem;
};

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRENCODER_H
