"""Quantised and half-precision forms of ONNX models; bench/quantized.py is the command."""
