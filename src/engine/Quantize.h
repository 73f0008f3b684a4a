//===- Quantize.h - what is asked of a quantisation, and what it gave -----===//

#ifndef SINTER_ENGINE_QUANTIZE_H
#define SINTER_ENGINE_QUANTIZE_H

#include "engine/Compiler.h"
#include "quantize/Options.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// Inputs to learn and to judge by. They are loaded one after the other, some
/// several times, and not kept.
struct Samples {
  size_t count = 0;
  /// One tensor an input, of known shapes.
  std::function<Result<std::vector<Tensor>>(size_t index)> load;
  /// The right class of each; empty where that is not known.
  std::vector<int64_t> classes;
  /// The file or folder of each.
  std::vector<std::string> paths;
};

struct QuantizeRequest {
  ModelRequest input;
  /// As in OptimizeRequest.
  Overwrite overwrite = Overwrite::Nothing;
  /// Empty: only a profile or a report is wanted.
  std::string output;
  quantize::QuantizeOptions options;
  /// Whether somebody chose the scheme, and the type of activations; else they
  /// are what the format that is written has.
  bool hasScheme = false, hasActivations = false;
  PassOptions passes;
  Samples samples;
  /// A profile as text and the file that it is of, in place of measuring; empty
  /// if there is none.
  std::string profile, profilePath;
  /// Whether the report needs the new profile as text.
  bool wantsProfile = false;
  /// Whether nothing else is wanted.
  bool onlyMeasures = false;
  /// How much accuracy (in percent) of the judged samples may be lost where
  /// classes are known, and, where they are enough to tell, of others
  /// (QuantizeReport::accuracyLossOfOthers), else the least ratio of signal to
  /// noise of the outputs, in dB, that other samples may have
  /// (QuantizeReport::decibelsOfOthers). Layers that cost most stay float until
  /// that holds.
  std::optional<double> mostLoss;
  /// The CPU, by LLVM's name or "native", for which a layer stays float that is
  /// estimated to be no faster with bytes; empty: speed decides nothing.
  std::string target;
  unsigned threads = 0;
  std::string kernelFolder, compiler;
  std::optional<MachineCeilings> ceilings;
  /// Told how far each stage is.
  std::function<void(const std::string &stage, size_t done, size_t total)>
      progress;
};

/// One layer, for the report.
struct QuantizedLayer {
  std::string name, op;
  bool keptFloat = true;
  std::string reason;
  /// "u8 asymmetric, weights i8 by channel".
  std::string scheme;
  /// Whether its weights are integers that no blocks have scales for, though
  /// these were asked for.
  bool isWithoutBlocks = false;
  /// Of what it gives: the range that its integers cover, how it was chosen,
  /// and what was seen.
  std::string rangeMethod;
  double least = 0, greatest = 0, seenLeast = 0, seenGreatest = 0;
  std::vector<uint64_t> histogram;
  /// Signal to noise of what it gives, against the float model; infinite where
  /// they are equal.
  std::optional<double> decibels;
  /// What the kernels that end in this layer take in either model; 0 where it
  /// is computed along with another.
  double floatMilliseconds = 0, milliseconds = 0;
};

/// One of the two models.
struct QuantizedSide {
  int64_t bytes = 0;
  double milliseconds = 0;
  std::optional<double> accuracy;
};

struct QuantizeReport {
  size_t samples = 0, judged = 0;
  QuantizedSide before, after;
  /// The part of samples of which both models find the same class most
  /// probable, where outputs are scores of classes.
  std::optional<double> agreement;
  /// Of all outputs on all judged samples.
  std::optional<double> cosine, decibels;
  /// What the ratio is at least on samples that were not seen, with 90 %
  /// confidence; nothing where fewer than two were judged.
  std::optional<double> decibelsOfOthers;
  /// What part of other samples is right before and not after, at most, with
  /// 90 % confidence; nothing without classes.
  std::optional<double> accuracyLossOfOthers;
  /// How many samples' classes are known, of how many of these the answer
  /// became wrong and right, and how many it takes at least to tell that others
  /// lose no more than the bound.
  uint64_t classified = 0, becameWrong = 0, becameRight = 0, enough = 0;
  std::vector<QuantizedLayer> layers;
  /// With a scale for each tensor, and in the quantised model.
  int64_t rescalesBefore = 0, rescalesAfter = 0;
  /// What was done besides, in lines.
  std::vector<std::string> notes;
  std::string profile;
  /// Whether the bound that was asked for holds; nothing is written if not.
  bool boundHolds = true;
  /// Whether a model was found that holds it on the judged samples, be it
  /// without the confidence that others hold it, too.
  bool judgedHold = false;
};

} // namespace sinter

#endif // SINTER_ENGINE_QUANTIZE_H
