//===- Quantize.h - options and report of a quantisation ------------------===//

#ifndef SINTER_ENGINE_QUANTIZE_H
#define SINTER_ENGINE_QUANTIZE_H

#include "engine/Compiler.h"
#include "engine/SampleSizes.h"
#include "quantize/Options.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// Inputs for calibration and evaluation. They are loaded one by one, some
/// several times, and not kept in memory.
struct Samples {
  size_t count = 0;
  /// One tensor per input, of static shapes.
  std::function<Result<std::vector<Tensor>>(size_t index)> load;
  /// The label of each; empty if unknown.
  std::vector<int64_t> classes;
  /// The file or folder of each.
  std::vector<std::string> paths;
  /// What names each: its path from the folder that was given, or "x.npy[3]".
  /// None: the paths.
  std::vector<std::string> names;
  /// The indices of the inputs that differ from sample to sample; none: not
  /// known.
  std::vector<size_t> inputs;
};

struct QuantizeRequest {
  ModelRequest input;
  /// As in OptimizeRequest.
  Overwrite overwrite = Overwrite::Nothing;
  /// Empty: only a profile or a report is wanted.
  std::string output;
  quantize::QuantizeOptions options;
  /// Whether the user chose the scheme and the type of activations; else the
  /// written format decides.
  bool hasScheme = false, hasActivations = false;
  PassOptions passes;
  Samples samples;
  /// Where the samples are, as the user gave it, for the report; may be empty.
  std::string data;
  /// A profile as text and its file, instead of measuring; empty if there is
  /// none.
  std::string profile, profilePath;
  /// Whether the report needs the new profile as text.
  bool wantsProfile = false;
  /// Whether the profile is the only result.
  bool onlyMeasures = false;
  /// The maximum loss of accuracy (in percent) on the evaluated samples, if
  /// labels are known, and with enough of them on other samples
  /// (QuantizeReport::accuracyLossOfOthers); else the minimum SQNR of the
  /// outputs, in dB, on other samples (QuantizeReport::decibelsOfOthers). The
  /// layers that cost most stay float until that holds.
  std::optional<double> mostLoss;
  /// The CPU, by LLVM's name or "native": layers that are estimated to be no
  /// faster there in int8 stay float; empty: speed decides nothing.
  std::string target;
  unsigned threads = 0;
  std::string kernelFolder, compiler;
  std::optional<MachineCeilings> ceilings;
  /// Called with the progress of each stage.
  std::function<void(const std::string &stage, size_t done, size_t total)>
      progress;
  /// Gets what the model prints on samples; empty: standard output does.
  Printer print;
};

/// One layer of the report.
struct QuantizedLayer {
  enum class Kind : uint8_t { Convolution, Matmul, Other };

  /// Of the graph's operation \p op, "convolution"; the file's is \p opInFile,
  /// "Conv".
  std::string name, op, opInFile;
  Kind kind = Kind::Other;
  bool keptFloat = true;
  /// Why; the same without names and numbers, as of other layers; and what
  /// would make it integer.
  std::string reason, commonReason, remedy;
  /// "u8 asymmetric, weights i8 by channel".
  std::string scheme;
  /// Whether its weights have no scales per block, though these were requested.
  bool isWithoutBlocks = false;
  /// For its result: the range of its integers, how it was chosen, and the
  /// observed range.
  std::string rangeMethod;
  double least = 0, greatest = 0, seenLeast = 0, seenGreatest = 0;
  std::vector<uint64_t> histogram;
  /// The SQNR of its result against the float model; infinite if they are
  /// equal.
  std::optional<double> decibels;
  /// The time of kernels that end in this layer in each model; 0 if it is fused
  /// into another layer.
  double floatMilliseconds = 0, milliseconds = 0;
};

/// One of the two models.
struct QuantizedSide {
  int64_t bytes = 0;
  double milliseconds = 0;
  std::optional<double> accuracy;
};

struct QuantizeReport {
  /// As in the request; and how: "u8 asymmetric, weights i8 by channel, ranges:
  /// best".
  std::string data, method;
  bool isWeightsOnly = false;
  /// How many samples the ranges are of, and on how many both models were
  /// compared; whether these are others.
  size_t samples = 0, judged = 0;
  bool isJudgedOnOthers = false;
  /// Why samples were evaluated by static programs although dimensions are
  /// dynamic; empty if one shape-generic program was evaluated, or none is
  /// dynamic.
  std::string staticBecause;
  /// The SQNR of the outputs for dynamic dimensions: of an evaluated sample
  /// with its elements repeated to these sizes.
  struct AtSizes {
    SampleSizes sizes;
    std::optional<double> decibels;
  };
  std::vector<AtSizes> sizes;
  QuantizedSide before, after;
  /// The fraction of samples for which both models agree on the most probable
  /// class, if outputs are scores of classes.
  std::optional<double> agreement;
  /// Over all outputs and evaluated samples.
  std::optional<double> cosine, decibels;
  /// The lower confidence bound (90 %) of the SQNR on unseen samples; nothing
  /// for fewer than two samples.
  std::optional<double> decibelsOfOthers;
  /// An upper confidence bound (90 %) of the fraction of other samples that
  /// become wrong; nothing without classes.
  std::optional<double> accuracyLossOfOthers;
  /// The number of samples with known labels, those of them whose answer became
  /// wrong and right, and how many it takes at least to show that others lose
  /// no more than the bound.
  uint64_t classified = 0, becameWrong = 0, becameRight = 0, enough = 0;
  std::vector<QuantizedLayer> layers;
  /// The number of values with a scale per tensor, and in the quantised model.
  int64_t rescalesBefore = 0, rescalesAfter = 0;
  /// Rescales if each tensor had its own scale, and in the quantised model.
  std::vector<std::string> notes, warnings;
  std::string profile;
  /// Whether the requested bound holds; otherwise nothing is written.
  bool boundHolds = true;
  /// Whether a model satisfies the bound on the evaluated samples, even without
  /// confidence for others.
  bool judgedHold = false;
};

} // namespace sinter

#endif // SINTER_ENGINE_QUANTIZE_H
