// Recurrent networks.

#include "formats/onnx/write/WriterRules.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::onnx {

static std::vector<float> floatsOf(ArrayAttr attribute) {
  std::vector<float> values;
  for (Attribute each : attribute)
    values.push_back(
        static_cast<float>(cast<FloatAttr>(each).getValueAsDouble()));
  return values;
}

template <typename Op>
static LogicalResult writeRecurrent(NodeWriter &e, Op op, StringRef opType,
                                    ArrayRef<Value> more,
                                    NodeAttributes attributes) {
  std::vector<std::string> activations;
  for (Attribute each : op.getActivations())
    activations.push_back(cast<StringAttr>(each).getValue().str());
  attributes.push_back({"direction", op.getDirection()});
  attributes.push_back({"hidden_size", tensorOf(op.getR()).getDimSize(2)});
  attributes.push_back({"activations", activations});
  if (auto alpha = op.getActivationAlpha())
    attributes.push_back({"activation_alpha", floatsOf(*alpha)});
  if (auto beta = op.getActivationBeta())
    attributes.push_back({"activation_beta", floatsOf(*beta)});
  if (auto clip = op.getClip())
    attributes.push_back({"clip", clip->convertToDouble()});
  Names inputs;
  for (Value value : {Value(op.getX()), Value(op.getW()), Value(op.getR()),
                      Value(op.getBias()), Value(op.getSequenceLengths()),
                      Value(op.getInitialH())})
    inputs.push_back(value ? e.operand(value) : Name());
  for (Value value : more)
    inputs.push_back(value ? e.operand(value) : Name());
  return e.result(opType, inputs, attributes);
}

static LogicalResult writeLstm(NodeWriter &e, nn::LstmOp op) {
  return writeRecurrent(e, op, "LSTM", {op.getInitialC(), op.getPeephole()},
                        {{"input_forget", op.getInputForget()}});
}

static LogicalResult writeGru(NodeWriter &e, nn::GruOp op) {
  return writeRecurrent(e, op, "GRU", {},
                        {{"linear_before_reset", op.getLinearBeforeReset()}});
}

static LogicalResult writeRnn(NodeWriter &e, nn::RnnOp op) {
  return writeRecurrent(e, op, "RNN", {}, {});
}

WriterRules structuredRules() {
  static const WriterRule rules[] = {
      writerRule<writeLstm>(), writerRule<writeGru>(), writerRule<writeRnn>()};
  return rules;
}

} // namespace sinter::onnx
