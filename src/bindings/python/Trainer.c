/*===- Trainer.c - models in training -------------------------------------===*/

#include "Extension.h"

typedef struct {
  holder base;
  sinter_trainer *trainer;
} trainer_object;

static PyTypeObject *trainer_type;

PyObject *trainer_of(const sinter_model *model, PyObject *dictionary) {
  options given;
  if (options_take(&given, dictionary) < 0)
    return NULL;
  sinter_trainer *trainer = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_trainer_new(model, given.options, &trainer, &error);
  Py_END_ALLOW_THREADS options_release(&given);
  if (status != SINTER_OK) {
    Py_XDECREF(given.callbacks);
    return raise_error(error);
  }
  trainer_object *made = holder_new(trainer_type, given.callbacks);
  if (!made) {
    sinter_trainer_free(trainer, NULL);
    return NULL;
  }
  made->trainer = trainer;
  PyObject_GC_Track(made);
  return (PyObject *)made;
}

static void trainer_dealloc(trainer_object *self) {
  PyObject_GC_UnTrack(self);
  sinter_trainer_free(self->trainer, NULL);
  holder_end(&self->base);
}

static PyObject *trainer_names(trainer_object *self, PyObject *ignored) {
  PyObject *all = PyList_New(0);
  const size_t count = sinter_trainer_array_count(self->trainer);
  for (size_t i = 0; all && i < count; ++i) {
    PyObject *each =
        PyUnicode_FromString(sinter_trainer_array_name(self->trainer, i));
    if (!each || PyList_Append(all, each) < 0)
      Py_CLEAR(all);
    Py_XDECREF(each);
  }
  return all;
}

typedef sinter_status batch_call(sinter_trainer *, const sinter_tensor *,
                                 size_t, double *, sinter_error **);

static PyObject *with_batch(trainer_object *self, PyObject *batch,
                            batch_call *call) {
  arrays taken;
  if (arrays_take(&taken, batch, "a batch") < 0)
    return NULL;
  double loss = 0;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      call(self->trainer, taken.tensors, taken.count, &loss, &error);
  Py_END_ALLOW_THREADS arrays_release(&taken);
  return status == SINTER_OK ? PyFloat_FromDouble(loss) : raise_error(error);
}

static PyObject *trainer_step(trainer_object *self, PyObject *batch) {
  return with_batch(self, batch, sinter_trainer_step);
}

static PyObject *trainer_evaluate(trainer_object *self, PyObject *batch) {
  return with_batch(self, batch, sinter_trainer_evaluate);
}

static PyObject *trainer_rate(trainer_object *self, PyObject *ignored) {
  double rate = 0;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_trainer_learning_rate(self->trainer, &rate, &error);
  Py_END_ALLOW_THREADS return status == SINTER_OK ? PyFloat_FromDouble(rate)
                                                  : raise_error(error);
}

static PyObject *trainer_set_rate(trainer_object *self, PyObject *value) {
  const double rate = PyFloat_AsDouble(value);
  if (PyErr_Occurred())
    return NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_trainer_set_learning_rate(self->trainer, rate, &error);
  Py_END_ALLOW_THREADS return status == SINTER_OK ? Py_NewRef(Py_None)
                                                  : raise_error(error);
}

static PyObject *trainer_model(trainer_object *self, PyObject *ignored) {
  sinter_model *model = NULL;
  sinter_error *error = NULL;
  sinter_status status;
  Py_BEGIN_ALLOW_THREADS status =
      sinter_trainer_model(self->trainer, &model, &error);
  Py_END_ALLOW_THREADS return status == SINTER_OK
      ? model_new(model, Py_XNewRef(self->base.callbacks))
      : raise_error(error);
}

static PyMethodDef trainer_methods[] = {
    {"names", (PyCFunction)trainer_names, METH_NOARGS,
     "The names of a batch's arrays."},
    {"step", (PyCFunction)trainer_step, METH_O, "step(list) -> loss"},
    {"evaluate", (PyCFunction)trainer_evaluate, METH_O,
     "evaluate(list) -> loss"},
    {"rate", (PyCFunction)trainer_rate, METH_NOARGS, "The learning rate."},
    {"set_rate", (PyCFunction)trainer_set_rate, METH_O, "set_rate(rate)"},
    {"model", (PyCFunction)trainer_model, METH_NOARGS,
     "A Model with the present weights."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot trainer_slots[] = {
    {Py_tp_dealloc, trainer_dealloc},
    {Py_tp_traverse, holder_traverse},
    {Py_tp_methods, trainer_methods},
    {Py_tp_doc, "A trainer of the C interface."},
    {0, NULL}};

static PyType_Spec trainer_spec = {
    "sinter._sinter.Trainer", sizeof(trainer_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
        Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    trainer_slots};

int add_trainer_type(PyObject *module) {
  trainer_type = (PyTypeObject *)PyType_FromSpec(&trainer_spec);
  if (!trainer_type)
    return -1;
  return PyModule_AddObjectRef(module, "Trainer", (PyObject *)trainer_type);
}
