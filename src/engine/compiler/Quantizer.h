//===- Quantizer.h - an 8-bit model of a float one ------------------------===//
//
//     read, simplify     batch norms are in weights before these are rounded
//     profile            the simplified graph is run on samples, twice
//     plan, insert       src/quantize
//     judge              both models are run on samples that were set aside
//     write
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_QUANTIZER_H
#define SINTER_ENGINE_COMPILER_QUANTIZER_H

#include "engine/Quantize.h"
#include "engine/compiler/OutputAgreement.h"
#include "engine/compiler/SampleRuns.h"
#include "formats/Format.h"
#include "quantize/Plan.h"
#include "quantize/Profile.h"

#include <array>
#include <map>

namespace sinter {

/// A graph with integers, and what became of its layers.
struct QuantizedModel {
  Model model;
  quantize::Units units;
  quantize::Plan plan;
  /// What each unit gives, while the graph is not changed.
  std::vector<NumberedValue> results;
  /// What kernels may be called that end in a unit.
  std::map<std::string, unsigned> unitOfKernel;
};

/// One run of the command. Stages are told by what they fill in.
class Quantizer {
public:
  explicit Quantizer(const QuantizeRequest &request)
      : request(request), chosen(request.options) {}

  Result<QuantizeReport> run();

private:
  // Quantizer.cpp: the graph, and the stages in their order.
  Result<void> read();
  Result<QuantizedModel> quantized(quantize::Exceptions exceptions);
  Result<void> write(const Model &made);

  // QuantizerProfile.cpp: what its tensors hold.
  void nameValues(const std::map<int64_t, std::string> &byNumber);
  void choosePoints();
  const quantize::TensorProfile *profileOf(mlir::Value value) const;
  SampleRuns observedRuns() const;
  Result<void> equalizeChannels();
  Result<void> profileModel();
  Result<void> measureErrors();
  Result<void> takeProfile();
  Result<void> knowProfile();
  using Measure = void (quantize::TensorProfile::*)(const Tensor &values);
  Result<void> passOverSamples(SampleRuns &runs, const char *stage, size_t most,
                               Measure measure);

  // QuantizerJudge.cpp: what integers cost, and which layers stay float for it.
  Result<void> tellTimes(const std::vector<Tensor> &inputs, SampleRuns &before,
                         SampleRuns &after);
  Result<OutputAgreement> judge(const QuantizedModel &quantized);
  Result<void> judgeLayers(const QuantizedModel &quantized);
  Result<QuantizedModel> withinBound();
  Result<std::optional<QuantizedModel>>
  fewestExceptions(const std::vector<unsigned> &order, bool areWide,
                   const std::set<unsigned> &wide);
  void tell(const OutputAgreement &judged);
  Result<void> leaveSlowLayers();
  std::vector<unsigned> byCost(const QuantizedModel &quantized) const;
  bool holds(const OutputAgreement &judged);

  // QuantizerReport.cpp: what the report says of layers.
  void describeLayers(const QuantizedModel &quantized);
  /// The quantised model with quantised types, whose rescales are counted.
  Result<Model> raised(const QuantizedModel &quantized);

  bool isSetAside(size_t sample) const {
    return setsAside() && sample % 5 == 4;
  }
  bool setsAside() const { return request.samples.count >= 5; }
  void progress(const std::string &stage, size_t done, size_t total) const {
    if (request.progress)
      request.progress(stage, done, total);
  }
  const quantize::QuantizeOptions &options() const { return chosen; }

  void chooseForFormat();

  const QuantizeRequest &request;
  /// Its options, and what was chosen for the format.
  quantize::QuantizeOptions chosen;
  const Format *written = nullptr;
  Model model;
  ModelDescription description;
  /// What each value of `model` is called.
  llvm::DenseMap<mlir::Value, std::string> names;
  /// Which tensor of the profile it is, if it is one.
  llvm::DenseMap<mlir::Value, int64_t> tensorOf;
  quantize::Profile profile;
  /// Units that stay float for their speed, and the reason.
  std::map<unsigned, std::string> slow;
  std::unique_ptr<SampleRuns> floatRuns;
  /// Of the float and of the quantised model that was judged last.
  std::array<std::map<std::string, double>, 2> kernelTimes;
  QuantizeReport report;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_QUANTIZER_H
