//===- DynamicInstance.h - a dynamic program for known sizes --------------===//
//
// The steps of a dynamic program are split into sections: each but the last
// ends with a Size step, which reads sizes that the program computes. A section
// is instantiated once all its sizes are known, and reused as long as the sizes
// stay the same: a run with the sizes of the previous one instantiates nothing.
//
// Temporaries get offsets in one arena section by section: those of a section
// around the live temporaries of earlier sections.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_DYNAMICINSTANCE_H
#define SINTER_RUNTIME_DYNAMICINSTANCE_H

#include "runtime/DynamicProgram.h"

namespace sinter {

/// Sizes and offsets of a program's slots for given sizes.
struct SlotPlan {
  std::vector<uint64_t> bytes, offsets;
  uint64_t arenaBytes = 0;
};

class DynamicInstance {
public:
  /// \p program is dynamic and verified. If \p largest is given and no slot is
  /// larger than there, all offsets are the same as there. Errors: Usage if a
  /// size is invalid or a guard rejects \p given; System if the program is
  /// damaged.
  static Result<std::unique_ptr<DynamicInstance>>
  create(std::shared_ptr<const Program> program, std::vector<int64_t> given,
         const SlotPlan *largest = nullptr);

  /// For \p program, whose sizes all follow from its inputs, and \p parameters,
  /// which its guards need not accept. Errors: Usage if a size is invalid.
  static Result<SlotPlan> planOf(std::shared_ptr<const Program> program,
                                 std::vector<int64_t> parameters);

  /// The memory and code for the steps of all sections: constants and kernels,
  /// the arena as far as its size is known, and inputs and outputs, with -1 for
  /// sizes that are not known yet. It has no steps and no code of its own.
  const std::shared_ptr<Program> &program() const { return made; }
  const std::vector<int64_t> &given() const { return givenSizes; }

  /// Begins a run: only the sizes of the inputs are known.
  void restart();
  size_t sections() const { return all.size(); }

  struct Section {
    std::span<const Step> steps;
    /// Whether the steps differ from those of the previous instantiation.
    bool isNew = false;
  };
  /// Section \p number, after the previous sections have run and defined their
  /// sizes. Its steps stay valid until it is instantiated again. Errors as
  /// those of create(), and System if a computed size overflows.
  Result<Section> section(size_t number);

  /// The buffer with the sizes that section \p number has computed for later
  /// ones; nothing if there is none.
  const BufferReference *sizesFrom(size_t number) const;
  /// Sets these sizes. Errors: Usage for a value that is no size.
  Result<void> define(size_t number, const std::byte *numbers);

private:
  struct SectionState {
    /// The range of the dynamic program's steps.
    size_t first = 0, last = 0;
    /// The Size step at its end, unless it is the last section.
    std::optional<size_t> definition;
    /// The slots that it uses first, and the slots in the arena that are live
    /// from earlier sections.
    std::vector<uint32_t> owned, before;
    /// The parameters it was instantiated for, and the offsets of `before`
    /// then.
    std::optional<std::vector<int64_t>> madeFor;
    std::vector<uint64_t> offsetsBefore;
    uint64_t arenaBytes = 0;
    std::vector<Step> steps;
    BufferReference sizesFrom;
  };

  explicit DynamicInstance(std::shared_ptr<const Program> program);

  void cut();
  void findSlots();
  Result<void> begin();
  Error wrong(const SizeExpression &size, const std::string &what) const;
  Result<int64_t> valueOf(const SizeExpression &size) const;
  Result<Shape> shapeOf(const std::vector<SizeExpression> &sizes) const;
  Result<void> setTensors();
  Result<void> setTable();
  Result<void> setPlaces(const SectionState &section);
  void placeInArena(SectionState &section);
  bool placeAsIn(const SlotPlan &plan);
  struct Turn;
  Result<void> addTurns(std::span<const Step> from,
                        std::span<const DynamicStep> sizes,
                        std::vector<Step> &to);
  Result<void> addStep(const Step &from, const DynamicStep &sizes,
                       const Turn &turn, std::vector<Step> &to);
  bool isTaken(const DynamicStep &step, size_t body) const;
  Result<void> addSteps(std::span<const Step> from,
                        std::span<const DynamicStep> sizes,
                        std::vector<Step> &to);
  Result<void> setBuffers(Step &step) const;
  Result<void> setWork(Step &step, const DynamicStep &sizes, const Turn &turn,
                       bool &isEmpty);
  Result<void> setContract(const Step &step);

  std::shared_ptr<const Program> source;
  const DynamicProgram &dynamic;
  const SlotPlan *largest = nullptr;
  std::vector<int64_t> givenSizes, parameters;
  std::shared_ptr<Program> made;
  std::vector<SectionState> all;
  /// Offsets of the slots.
  std::vector<BufferReference> places;
  std::shared_ptr<Tensor> table;
  uint32_t tableConstant = 0;
};

} // namespace sinter

#endif // SINTER_RUNTIME_DYNAMICINSTANCE_H
