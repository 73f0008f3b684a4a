/*===- DLPack.h - the structs of DLPack 1.1 -------------------------------===*
 *
 * As dmlc/dlpack has them (include/dlpack/dlpack.h): their layout is fixed.
 *
 *===----------------------------------------------------------------------===*/

#ifndef SINTER_BINDINGS_PYTHON_DLPACK_H
#define SINTER_BINDINGS_PYTHON_DLPACK_H

#include "sinter.h"

typedef struct {
  int32_t device_type, device_id;
} dl_device;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} dl_type;

typedef struct {
  void *data;
  dl_device device;
  int32_t ndim;
  dl_type type;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_managed_versioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct dl_managed_versioned *);
  uint64_t flags;
  dl_tensor tensor;
} dl_managed_versioned;

enum { dl_cpu = 1, dl_read_only = 1, dl_is_copied = 2 };
enum {
  dl_int,
  dl_uint,
  dl_float,
  dl_bfloat = 4,
  dl_complex,
  dl_bool,
  dl_f8_e4m3 = 8,
  dl_f8_e4m3b11fnuz,
  dl_f8_e4m3fn,
  dl_f8_e4m3fnuz,
  dl_f8_e5m2,
  dl_f8_e5m2fnuz
};

/** The type of elements in DLPack. Returns 0, or -1 if it has none. */
int dlpack_of_type(sinter_type type, dl_type *to);

#endif /* SINTER_BINDINGS_PYTHON_DLPACK_H */
