//===- SubCommands.cpp - the commands of `sinter` -------------------------===//

#include "driver/SubCommands.h"

namespace sinter::driver {

const char *taskExamples() {
  return R"(Compiles trained neural networks to native code.

  sinter run resnet50.onnx --input photo.png --labels labels.txt    run a model
  sinter bench resnet50.onnx --threads 2 --layers                   measure it, layer by layer
  sinter optimize resnet50.onnx -o simple.onnx --stats              simplify it, same format in and out
  sinter convert net.onnx -o net.mlir                               change its format
  sinter compile net.onnx -o build/ --name net                      make code that needs no library
  sinter quantize net.onnx --calibration images/ -o net_int8.onnx   quantise it to int8
  sinter evaluate net_int8.onnx --data test/ --against net.onnx     measure its accuracy
  sinter train net.onnx --data train/ -o trained.onnx               train or fine-tune it
  sinter test models/ --filter resnet                               check it against expected outputs
  sinter compare old.onnx new.onnx                                  find where two models differ
  sinter inspect resnet50.onnx                                      see what is in it
  sinter reduce wrong.mlir -o small.mlir                            shrink a program on which the backends differ

`sinter help COMMAND` has all options of a command, and examples; `sinter
completion bash` (or zsh) prints a script that completes command lines. Exit
codes: 0 done, 1 wrong result, 2 wrong usage, 3 not a valid model, 4 something in
it is unsupported, 5 the system failed.
)";
}

static constexpr SubCommand commandRows[] = {
    {"run", "compile a model for this machine and run it", "running",
     R"(  sinter run resnet50.onnx --input photo.png --labels labels.txt --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225
  sinter run net.onnx --input x=x.npy --input mask=mask.pb --output-dir results/
  sinter run net.onnx --shape x:8x3x224x224 --input random:42
)",
     makeRunCommand},
    {"bench", "measure how fast a model runs", "measuring",
     R"(  sinter bench resnet50.onnx --threads 2
  sinter bench resnet50.onnx --layers --json > layers.json
  sinter bench net.onnx --input x=x.npy --seconds 10
  sinter bench --machine --json
)",
     makeBenchCommand},
    {"optimize", "simplify a model and write it in its own format",
     "simplifying",
     R"(  sinter optimize resnet50.onnx -o simple.onnx --stats
  sinter optimize net.mlir -o simple.mlir --disable-patterns LABEL --verify-numerics
  sinter optimize --list-patterns
)",
     makeOptimizeCommand},
    {"convert", "write a model in another format", "converting",
     R"(  sinter convert net.onnx -o net.mlir
  sinter convert net.onnx -o net.mlir.bc --shape x:1x3x224x224
)",
     makeConvertCommand},
    {"compile", "compile a model ahead of time, to code that needs no library",
     "compiling",
     R"(  sinter compile resnet50.onnx -o build/ --name resnet50
  sinter compile net.onnx -o net.so --shape x:1x3x224x224 --cpu x86-64-v3
  sinter compile net.onnx -o net.o --target aarch64-linux-gnu --cpu cortex-a76 --weights file
)",
     makeCompileCommand},
    {"targets", "list what `sinter compile` makes code for", "listing",
     R"(  sinter targets
  sinter targets thumbv7em-none-eabihf
  sinter targets --json
)",
     makeTargetsCommand},
    {"quantize", "quantise a float model to int8", "quantising",
     R"(  sinter quantize net.onnx --calibration images/ -o net_int8.onnx --html report.html
  sinter quantize net.onnx --calibration images/ --profile-out net.profile.json
  sinter quantize net.onnx --profile net.profile.json --range max -o net_int8.mlir
  sinter quantize net.onnx --calibration images/ --truth truth.txt --max-loss 0.5 -o net_int8.onnx
)",
     makeQuantizeCommand},
    {"evaluate", "measure how right a model is on labelled samples",
     "evaluating",
     R"(  sinter evaluate resnet50.onnx --data validation/ --labels labels.txt --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225
  sinter evaluate net_int8.onnx --data test.npz --against net.onnx --max-loss 0.5
  sinter evaluate net.onnx --data test/ --metric top1,cross-entropy --at-least top1=90% --json
)",
     makeEvaluateCommand},
    {"train", "train or fine-tune a model", "training",
     R"(  sinter train net.onnx --data train/ --validate test/ --optimizer adamw --lr 1e-3 --schedule cosine --epochs 10 --batch 64 -o trained.onnx
  sinter train net.onnx --data d.npz --optimizer sgd --momentum 0.9 --lr 0.05 --batch 16 --no-shuffle --log log.jsonl -o trained.onnx
  sinter train net.onnx --data d.npz --frozen 'features.*' --freeze-batch-norm -o tuned.onnx
  sinter train net.onnx --data d.npz --batch 16 --write-step step.mlir
)",
     makeTrainCommand},
    {"test", "run models that come with inputs and expected outputs", "testing",
     R"(  sinter test models/
  sinter test models/ --backend interpreter --filter resnet
  sinter test models/ --rtol 1e-3 --range-atol 1e-4 --json
)",
     makeTestCommand},
    {"compare",
     "run two models, or one in two ways, and find where they differ",
     "comparing",
     R"(  sinter compare old.onnx new.onnx --html difference.html
  sinter compare net.onnx --backend interpreter,cpu
  sinter compare net.onnx --passes --bisect --reduce small.onnx
  sinter compare net.onnx --input x=x.npy --with other-tool.npz --json
)",
     makeCompareCommand},
    {"inspect", "print what is in a model", "inspecting",
     R"(  sinter inspect resnet50.onnx
  sinter inspect net.onnx --shape x:1x128 --json
)",
     makeInspectCommand},
    {"reduce", "find the smallest program that still fails", "reducing",
     R"(  sinter reduce wrong.mlir -o small.mlir
  sinter reduce crash.mlir -o small.mlir --command 'other-tool {}'
)",
     makeReduceCommand},
};

std::span<const SubCommand> subCommands() { return commandRows; }

} // namespace sinter::driver
