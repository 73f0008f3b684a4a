/*===- classify.c - the most probable class of an image -------------------===*
 *
 *     classify MODEL IMAGE.png
 *
 * The model has one input, an image 1xCxHxW of f32 from 0 to 1 with one or
 * three channels, and one output, a number for each class. Prints the class
 * with the largest one, from 0 on, and that number.
 *
 *===----------------------------------------------------------------------===*/

#include <png.h>
#include <sinter.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const sinter_error *error) {
  fprintf(stderr, "%s\n", sinter_error_message(error));
  return sinter_error_status(error);
}

/* The elements of the image at PATH, channel by channel, and its height and
   width in SHAPE. NULL if it cannot be read. */
static float *read_png(const char *path, int64_t *shape) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&image, path))
    return NULL;
  image.format = shape[1] == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const size_t area = (size_t)image.height * image.width;
  const size_t channels = PNG_IMAGE_PIXEL_CHANNELS(image.format);
  png_bytep bytes = malloc(area * channels);
  float *elements = malloc(area * channels * sizeof(float));
  if (!bytes || !elements ||
      !png_image_finish_read(&image, NULL, bytes, 0, NULL))
    return NULL;
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < area; ++i)
      elements[c * area + i] = (float)(bytes[i * channels + c] * (1.0 / 255));
  free(bytes);
  shape[2] = image.height;
  shape[3] = image.width;
  return elements;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: classify MODEL IMAGE.png\n"), 2;
  sinter_model *model;
  sinter_session *session;
  sinter_error *error;
  sinter_value_info info = {.struct_size = sizeof(info)};
  if (sinter_model_open(argv[1], NULL, &model, &error) ||
      sinter_model_input(model, 0, &info, &error) ||
      sinter_compile(model, NULL, &session, &error))
    return fail(error);
  int64_t shape[] = {1, info.rank == 4 ? info.shape[1] : 3, 0, 0};
  float *elements = read_png(argv[2], shape);
  if (!elements)
    return fprintf(stderr, "%s cannot be read\n", argv[2]), 5;
  const sinter_tensor input = {sizeof(input), SINTER_F32, 4,
                               shape,         NULL,       elements};
  sinter_tensor output = {.struct_size = sizeof(output)};
  sinter_value *value;
  if (sinter_session_run(session, &input, 1, &output, 1, &value, NULL, &error))
    return fail(error);
  const float *scores = output.data;
  int64_t best = 0;
  for (int64_t i = 1; i < output.shape[output.rank - 1]; ++i)
    best = scores[i] > scores[best] ? i : best;
  printf("class %d: %.9g\n", (int)best, scores[best]);
  sinter_value_free(value);
  free(elements);
  sinter_session_free(session, NULL);
  sinter_model_free(model, NULL);
}
