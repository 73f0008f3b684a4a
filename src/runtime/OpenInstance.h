//===- OpenInstance.h - an open program for sizes that are known ----------===//
//
// The steps of an open program are cut into parts: each but the last one ends
// where numbers are computed that sizes of later steps follow from. A part is
// made when all that its sizes follow from is known, and once for the same
// numbers: a run whose numbers are those of the one before makes nothing.
//
// Temporaries get their places in one arena part by part: those of a part
// around what lives on from parts before.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_OPENINSTANCE_H
#define SINTER_RUNTIME_OPENINSTANCE_H

#include "runtime/OpenProgram.h"

namespace sinter {

/// How large the slots of a program are for some sizes, and where they lie.
struct SlotPlan {
  std::vector<uint64_t> bytes, offsets;
  uint64_t arenaBytes = 0;
};

class OpenInstance {
public:
  /// \p program is open and was verified. Where nothing is larger than in
  /// \p largest, if that is given, everything lies where it does there. Errors:
  /// Usage where a size makes no sense or the program is not for \p given;
  /// System where it is damaged.
  static Result<std::unique_ptr<OpenInstance>>
  create(std::shared_ptr<const Program> program, std::vector<int64_t> given,
         const SlotPlan *largest = nullptr);

  /// Of \p program, whose sizes all follow from its inputs, for \p parameters,
  /// which it need not be for. Errors: Usage where a size makes no sense.
  static Result<SlotPlan> planOf(std::shared_ptr<const Program> program,
                                 std::vector<int64_t> parameters);

  /// What the steps of all parts run on: constants and kernels, the arena as
  /// large as it is known to be, and inputs and outputs, with -1 for sizes that
  /// are not known yet. It has no steps and no code of its own.
  const std::shared_ptr<Program> &program() const { return made; }
  const std::vector<int64_t> &given() const { return givenSizes; }

  /// A run begins: only what the inputs give is known.
  void restart();
  size_t parts() const { return all.size(); }

  struct Part {
    std::span<const Step> steps;
    /// Whether the steps are others than when it was made last.
    bool isNew = false;
  };
  /// Part \p number, after the parts before it were run and have defined their
  /// sizes. Its steps stay where they are until it is made anew. Errors as
  /// those of create(), and System where what it computes cannot be counted.
  Result<Part> part(size_t number);

  /// Where the numbers are that part \p number has computed for those behind
  /// it; nothing if there are none.
  const BufferReference *sizesFrom(size_t number) const;
  /// Takes these numbers. Errors: Usage for a number that is no size.
  Result<void> define(size_t number, const std::byte *numbers);

private:
  struct PartState {
    /// Of the open program's steps.
    size_t first = 0, last = 0;
    /// The Size step behind them, if it is not the last part.
    std::optional<size_t> definition;
    /// The slots that it is the first to use, and those of the arena that live
    /// from parts before.
    std::vector<uint32_t> owned, before;
    /// What it was made for, and where `before` were.
    std::optional<std::vector<int64_t>> madeFor;
    std::vector<uint64_t> offsetsBefore;
    uint64_t arenaBytes = 0;
    std::vector<Step> steps;
    BufferReference sizesFrom;
  };

  explicit OpenInstance(std::shared_ptr<const Program> program);

  void cut();
  void findSlots();
  Result<void> begin();
  Error wrong(const SizeExpression &size, const std::string &what) const;
  Result<int64_t> valueOf(const SizeExpression &size) const;
  Result<Shape> shapeOf(const std::vector<SizeExpression> &sizes) const;
  Result<void> setTensors();
  Result<void> setTable();
  Result<void> setPlaces(const PartState &part);
  void placeInArena(PartState &part);
  bool placeAsIn(const SlotPlan &plan);
  struct Turn;
  Result<void> addTurns(std::span<const Step> from,
                        std::span<const OpenStep> sizes, std::vector<Step> &to);
  Result<void> addStep(const Step &from, const OpenStep &sizes,
                       const Turn &turn, std::vector<Step> &to);
  bool isTaken(const OpenStep &step, size_t body) const;
  Result<void> addSteps(std::span<const Step> from,
                        std::span<const OpenStep> sizes, std::vector<Step> &to);
  Result<void> setBuffers(Step &step) const;
  Result<void> setWork(Step &step, const OpenStep &sizes, const Turn &turn,
                       bool &isEmpty);
  Result<void> setContract(const Step &step);

  std::shared_ptr<const Program> source;
  const OpenProgram &open;
  const SlotPlan *largest = nullptr;
  std::vector<int64_t> givenSizes, parameters;
  std::shared_ptr<Program> made;
  std::vector<PartState> all;
  /// Where the slots are.
  std::vector<BufferReference> places;
  std::shared_ptr<Tensor> table;
  uint32_t tableConstant = 0;
};

} // namespace sinter

#endif // SINTER_RUNTIME_OPENINSTANCE_H
