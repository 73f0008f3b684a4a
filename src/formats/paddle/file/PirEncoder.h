//===- PirEncoder.h - a program while it is written as PIR's JSON ---------===//

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

/// What the end of a region stands for.
struct PirEnding {
  enum Form : uint8_t { None, Branch, Loop, NewBranch, NewLoop };
  Form form = None;
  bool isThen = false;
  /// Of a new one: the variables that it yields, of a loop the condition first.
  std::vector<std::string> results;
  PirLoop loop;
  /// Of a new loop: the ids of what its region is given.
  std::vector<int64_t> arguments;
};

class PirEncoder {
public:
  explicit PirEncoder(const Program &program) : program(program) {}

  Result<std::string> encode();

private:
  /// The number of what was read before it, and how far behind that.
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
  /// \p name is the value \p id from now on; isAlias: and is still what it was.
  void setName(const std::string &name, int64_t id, bool isAlias);
  /// A value: \p wanted if no other has that id. \p name may be empty.
  int64_t define(const std::string &name, int64_t wanted, bool isAlias = false);
  /// What a variable is here; \p original where that is the same.
  int64_t idOf(const std::string &name, int64_t original);
  int64_t listOf(const std::vector<std::string> &names, int64_t original);
  void splitList(int64_t id);
  void defineList(int64_t id, const std::vector<std::string> &names);

  //===--- Text -----------------------------------------------------------===//
  /// Puts \p text behind what is there and what defines \p operands, at
  /// \p ordinal unless that has passed. It gives \p results.
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

  //===--- What was read --------------------------------------------------===//
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

  //===--- What is new (EncodePirOperators.cpp) ---------------------------===//
  void encodeNew(const Operator &op);
  std::string newOperator(const Operator &op, const PirOperator &row);
  int64_t newOperand(const Operator &op, const PirOperator &row, size_t i);
  /// A constant that an attribute says, as an operand; \p wanted is its id
  /// where no other value has that.
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
  /// Refuses an attribute that would be lost.
  bool checkKnown(const Operator &op, const PirOperator &row);
  void encodePorts(PirSkeleton *skeleton);
  void encodeParameters(PirSkeleton *skeleton);
  void encodeInputs(PirSkeleton *skeleton);
  void encodeOutputs(PirSkeleton *skeleton);

  //===--- New branches and loops (EncodePirControlFlow.cpp) --------------===//
  /// Encodes one that stands first in \p rest; how many operators that were.
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
  /// \p name is from here on the value that \p from is.
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
  /// Of every variable, once somebody asks.
  std::unordered_map<std::string, Uses> uses;
  /// What operators in regions read, which stand behind it.
  std::vector<int64_t> innerReads;
  /// New regions so far.
  int64_t regions = 0;
  std::unordered_set<int64_t> definedIds;
  /// What each variable is: the same value may have several ids.
  std::unordered_map<std::string, std::vector<int64_t>> idsOfNames;
  std::unordered_map<int64_t, std::string> nameOfIds;
  /// What setName changed, latest last.
  struct Undo {
    std::string name;
    bool isAlias;
    /// What the variable was, but for an alias.
    std::vector<int64_t> before;
  };
  std::vector<Undo> undo;
  std::unordered_map<int64_t, Place> placeOfIds;
  /// Lists that an operator gave, and what is still in one.
  std::unordered_map<int64_t, std::vector<std::string>> listNames;
  std::unordered_map<std::string, int64_t> listOfParts;
  /// Of the skeleton: what makes the list, and what takes it apart.
  std::unordered_map<int64_t, PirSkeleton::Item *> combines;
  /// What something read in the file.
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
