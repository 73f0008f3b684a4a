//===- Quantizer.h - quantises a model ------------------------------------===//
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
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/OutputAgreement.h"
#include "engine/compiler/SampleRuns.h"
#include "formats/Format.h"
#include "quantize/Plan.h"
#include "quantize/Profile.h"

#include <array>
#include <map>

namespace sinter {

/// A graph with quantised layers, and their report.
struct QuantizedModel {
  Model model;
  quantize::Units units;
  quantize::Plan plan;
  /// The result of each unit, while the graph is not changed.
  std::vector<NumberedValue> results;
  /// The names of kernels that end in a unit.
  std::map<std::string, unsigned> unitOfKernel;
};

/// One run of the command. Stages are grouped by the files that define them.
class Quantizer {
public:
  explicit Quantizer(const QuantizeRequest &request)
      : request(request), chosen(request.options) {}

  Result<QuantizeReport> run();

private:
  // Quantizer.cpp: the graph, and the stages in their order.
  Result<ModelToRewrite> readGraph() const;
  Result<void> read();
  Result<QuantizedModel> quantized(quantize::Exceptions exceptions);
  Result<void> write(const Model &made);

  // QuantizerProfile.cpp: the statistics of its tensors.
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

  // QuantizerJudge.cpp: the loss of accuracy, and which layers stay float.
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

  // QuantizerSizes.cpp: the same at other sizes than the samples'.
  bool takes(const std::vector<Tensor> &inputs,
             const std::vector<Shape> &shapes) const;
  Result<void> judgeSizes(const QuantizedModel &quantized);

  // QuantizerReport.cpp: the report on layers.
  void describeLayers(const QuantizedModel &quantized);
  std::string note() const;
  /// The model with quantised types, whose rescales are counted.
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
  /// Its options, with the defaults of the format.
  quantize::QuantizeOptions chosen;
  const Format *written = nullptr;
  Model model;
  ModelDescription description;
  /// The name of each value of `model`.
  llvm::DenseMap<mlir::Value, std::string> names;
  /// Its index in the profile, if it has one.
  llvm::DenseMap<mlir::Value, int64_t> tensorOf;
  quantize::Profile profile;
  /// Units that stay float for speed, and the reason.
  std::map<unsigned, quantize::WhyFloat> slow;
  std::unique_ptr<SampleRuns> floatRuns;
  /// Of the float and of the last quantised model that were evaluated.
  std::array<std::map<std::string, double>, 2> kernelTimes;
  QuantizeReport report;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_QUANTIZER_H
