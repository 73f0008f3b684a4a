//===- WritePaddle.h - write the graph language as a Paddle program -------===//

#ifndef SINTER_FORMATS_PADDLE_WRITEPADDLE_H
#define SINTER_FORMATS_PADDLE_WRITEPADDLE_H

#include "formats/paddle/file/PaddleFile.h"
#include "graph/Model.h"
#include "runtime/Result.h"

namespace sinter::paddle {

/// A program with its parameters.
struct WrittenProgram {
  Program program;
  std::vector<WrittenParameter> parameters;
};

/// \p model as a program. Ops that came from an operator of a Paddle program
/// and were not changed since become that operator (Records.h), and an
/// unchanged model its program; all other ops are written by the rules of
/// formats/paddle/write, or by their decomposition if there is no rule. Names
/// of inputs, outputs, parameters and of variables between untouched operators
/// are kept.
///
/// ErrorKind::Unsupported lists everything that Paddle cannot express, with
/// counts.
Result<WrittenProgram> toProgram(const Model &model);

/// Changes \p program to be written in the form of another era.
void setEra(Program &program, Era era);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITEPADDLE_H
