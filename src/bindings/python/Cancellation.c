/*===- Cancellation.c - ends runs and calls from another thread -----------===*/

#include "Extension.h"

typedef struct {
  PyObject_HEAD sinter_cancellation *cancellation;
} cancellation_object;

static PyTypeObject *cancellation_type;

static PyObject *cancellation_create(PyTypeObject *type, PyObject *arguments,
                                     PyObject *keywords) {
  static char *names[] = {NULL};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, ":Cancellation", names))
    return NULL;
  cancellation_object *made = PyObject_New(cancellation_object, type);
  if (!made)
    return NULL;
  made->cancellation = NULL;
  sinter_error *error = NULL;
  if (sinter_cancellation_new(&made->cancellation, &error) == SINTER_OK)
    return (PyObject *)made;
  Py_DECREF(made);
  return raise_error(error);
}

static void cancellation_dealloc(cancellation_object *self) {
  PyTypeObject *type = Py_TYPE((PyObject *)self);
  if (self->cancellation)
    sinter_cancellation_free(self->cancellation);
  PyObject_Free(self);
  Py_DECREF(type);
}

int cancellation_of(PyObject *object, const sinter_cancellation **to) {
  *to = NULL;
  if (object == Py_None)
    return 0;
  if (Py_TYPE(object) != cancellation_type) {
    PyErr_Format(PyExc_TypeError, "expected a Cancellation, given %R",
                 (PyObject *)Py_TYPE(object));
    return -1;
  }
  *to = ((cancellation_object *)object)->cancellation;
  return 0;
}

static PyObject *cancellation_cancel(cancellation_object *self,
                                     PyObject *ignored) {
  sinter_cancellation_cancel(self->cancellation);
  return Py_NewRef(Py_None);
}

static PyObject *cancellation_reset(cancellation_object *self,
                                    PyObject *ignored) {
  sinter_cancellation_reset(self->cancellation);
  return Py_NewRef(Py_None);
}

static PyMethodDef cancellation_methods[] = {
    {"cancel", (PyCFunction)cancellation_cancel, METH_NOARGS,
     "Ends runs and calls that have it soon, and those that begin."},
    {"reset", (PyCFunction)cancellation_reset, METH_NOARGS,
     "Lets runs and calls begin again."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot cancellation_slots[] = {
    {Py_tp_new, cancellation_create},
    {Py_tp_dealloc, cancellation_dealloc},
    {Py_tp_methods, cancellation_methods},
    {Py_tp_doc, "A cancellation of the C interface."},
    {0, NULL}};

static PyType_Spec cancellation_spec = {
    "sinter._sinter.Cancellation", sizeof(cancellation_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, cancellation_slots};

int add_cancellation_type(PyObject *module) {
  cancellation_type = (PyTypeObject *)PyType_FromSpec(&cancellation_spec);
  return cancellation_type
             ? PyModule_AddObjectRef(module, "Cancellation",
                                     (PyObject *)cancellation_type)
             : -1;
}
