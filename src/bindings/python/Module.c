/*===- Module.c - the module sinter._sinter -------------------------------===*
 *
 * Threads may share every object, since the C interface locks what it has to
 * and the extension adds nothing to lock: its global variables, the types and
 * exceptions, are set once, when the module is made, and an object's members
 * when the object is. What changes later is atomic (session_object::clock), or
 * is changed by a binding that is being made (Session.bind).
 *
 *===----------------------------------------------------------------------===*/

#include "Extension.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "sinter._sinter",
    "The C interface of Sinter as Python objects.",
    -1,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL};

PyMODINIT_FUNC PyInit__sinter(void) {
  if (sinter_api_version() < SINTER_API_VERSION) {
    PyErr_Format(PyExc_ImportError,
                 "libsinter.so is older than this module: version %d of its "
                 "interface, %d is needed",
                 (int)sinter_api_version(), SINTER_API_VERSION);
    return NULL;
  }
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return NULL;
  if (add_errors(module) < 0 || add_tensor_type(module) < 0 ||
      add_cancellation_type(module) < 0 || add_model_type(module) < 0 ||
      add_session_type(module) < 0 || add_trainer_type(module) < 0 ||
      PyModule_AddStringConstant(module, "__version__", sinter_version()) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
