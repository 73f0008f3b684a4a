/*===- workflow.c - a model's whole way -----------------------------------===*
 *
 *     workflow glyphs.onnx FOLDER
 *
 * Loads, compiles, runs, simplifies, quantises, trains and saves a model. It
 * takes images 1x32x32 and gives a probability for each of 36 classes. FOLDER
 * gets simple.onnx, int8.onnx and trained.onnx.
 *
 *===----------------------------------------------------------------------===*/

#include <sinter.h>
#include <stdio.h>

enum { BATCH = 8, PIXELS = 32 * 32, CLASSES = 36, STEPS = 10 };

static const int64_t imageShape[] = {BATCH, 1, 32, 32};
static const int64_t classShape[] = {BATCH};

static float images[BATCH * PIXELS];
static int64_t classes[BATCH];

/* Images and classes number INDEX: the top bits of a linear congruential
   generator stand for data. */
static void make_batch(size_t index) {
  uint32_t state = (uint32_t)index + 1;
  for (size_t i = 0; i < BATCH * PIXELS; ++i) {
    state = state * 1664525u + 1013904223u;
    images[i] = (float)(state >> 8) * 0x1p-24f;
  }
  for (size_t i = 0; i < BATCH; ++i)
    classes[i] = (int64_t)((i + index) % CLASSES);
}

static sinter_tensor image_tensor(void) {
  sinter_tensor tensor = {sizeof(tensor), SINTER_F32, 4,
                          imageShape,     NULL,       images};
  return tensor;
}

static int32_t give_sample(void *user, size_t index, sinter_tensor *inputs,
                           size_t count) {
  (void)user;
  (void)count;
  make_batch(index);
  inputs[0] = image_tensor();
  return 0;
}

static sinter_status save(sinter_model *model, const char *folder,
                          const char *name, sinter_error **error) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  sinter_status status = sinter_model_save(model, path, NULL, error);
  sinter_model_free(model, NULL);
  return status;
}

static sinter_status run(const sinter_model *model, sinter_error **error) {
  sinter_options *options;
  sinter_session *session;
  static float y[BATCH * CLASSES];
  const int64_t shape[] = {BATCH, CLASSES};
  sinter_tensor output = {sizeof(output), SINTER_F32, 2, shape, NULL, y};
  sinter_status status = sinter_options_new(&options, error);
  if (status)
    return status;
  if (!(status = sinter_options_set(options, "threads", "2", error)) &&
      !(status = sinter_compile(model, options, &session, error))) {
    make_batch(0);
    const sinter_tensor input = image_tensor();
    status =
        sinter_session_run(session, &input, 1, &output, 1, NULL, NULL, error);
    sinter_session_free(session, NULL);
  }
  sinter_options_free(options, NULL);
  if (!status)
    printf("%.8g\n", y[0]);
  return status;
}

static sinter_status train(const sinter_model *model, sinter_model **trained,
                           sinter_error **error) {
  static const char *const chosen[][2] = {
      {"loss", "cross-entropy"}, {"optimizer", "adamw"}, {"lr", "1e-3"}};
  sinter_options *options;
  sinter_trainer *trainer;
  sinter_status status = sinter_options_new(&options, error);
  if (status)
    return status;
  for (size_t i = 0; i < 3 && !status; ++i)
    status = sinter_options_set(options, chosen[i][0], chosen[i][1], error);
  if (!status)
    status = sinter_trainer_new(model, options, &trainer, error);
  sinter_options_free(options, NULL);
  if (status)
    return status;
  double loss = 0;
  for (size_t step = 0; step < STEPS && !status; ++step) {
    make_batch(step);
    const sinter_tensor batch[] = {
        image_tensor(),
        {sizeof(sinter_tensor), SINTER_I64, 1, classShape, NULL, classes}};
    status = sinter_trainer_step(trainer, batch, 2, &loss, error);
  }
  if (!status)
    status = sinter_trainer_model(trainer, trained, error);
  sinter_trainer_free(trainer, NULL);
  if (!status)
    printf("%.8g\n", loss);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: workflow glyphs.onnx FOLDER\n"), 2;
  sinter_error *error;
  sinter_model *model, *made;
  if (sinter_model_open(argv[1], NULL, &model, &error) || run(model, &error) ||
      sinter_model_optimize(model, NULL, &made, NULL, &error) ||
      save(made, argv[2], "simple.onnx", &error) ||
      sinter_model_quantize(model, NULL, give_sample, NULL, 4, &made, NULL,
                            &error) ||
      save(made, argv[2], "int8.onnx", &error) || train(model, &made, &error) ||
      save(made, argv[2], "trained.onnx", &error)) {
    fprintf(stderr, "%s\n", sinter_error_message(error));
    return sinter_error_status(error);
  }
  sinter_model_free(model, NULL);
}
