#!/usr/bin/env node
// Times ONNX Runtime on a model in ONNX test form and prints one JSON object with the keys of `sinter bench --json`.
//
//   node ort_bench.js MODEL_DIR [--threads 1] [--seconds 2] [--warmup 3] [--sweep SYMBOL=SIZE,SIZE,... [--at SYMBOL=SIZE,...]]
//
// With --sweep it prints an array, an object a size of that unknown dimension, as `sinter bench --sweep` does. Inputs of other sizes than the
// test data's repeat these, and other symbols are what --at says, or 1.
//
// MODEL_DIR holds model.onnx and test_data_set_0/{input,output}_N.pb. `max_error` is the largest difference from the
// expected outputs, as a part of the largest expected magnitude of that output; `cosine` is the least of an output with what
// is expected, null where nothing is.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { Tensor, env } = require('onnxruntime-node');
// The public run() waits for a turn of the event loop, which small models would be charged for; the native one does not.
const { binding, initOrt } = require('onnxruntime-node/dist/binding.js');

// Of onnx.TensorProto.DataType: number -> [name in onnxruntime-node, typed array, field with the values if not raw].
const TYPES = {
  1: ['float32', Float32Array, 4],
  2: ['uint8', Uint8Array, 5],
  3: ['int8', Int8Array, 5],
  6: ['int32', Int32Array, 5],
  7: ['int64', BigInt64Array, 7],
  9: ['bool', Uint8Array, 5],
  11: ['float64', Float64Array, 10],
};

/** Walks the fields of a protobuf message: yields [field number, varint as BigInt or bytes as Buffer]. */
function* fields(message) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const bytes = (length) => message.subarray(at, (at += length));
  while (at < message.length) {
    const key = Number(varint());
    const kind = key & 7;
    if (kind === 0) yield [key >> 3, varint()];
    else if (kind === 1) yield [key >> 3, bytes(8)];
    else if (kind === 2) yield [key >> 3, bytes(Number(varint()))];
    else if (kind === 5) yield [key >> 3, bytes(4)];
    else throw new Error(`wire type ${kind} in a tensor file`);
  }
}

/** The varints of a packed field, or the one of an unpacked field. */
function varints(value) {
  if (typeof value === 'bigint') return [value];
  const result = [];
  for (let at = 0, item = 0n, shift = 0n; at < value.length; at++) {
    item |= BigInt(value[at] & 127) << shift;
    shift += 7n;
    if (value[at] < 128) {
      result.push(BigInt.asIntN(64, item));
      item = shift = 0n;
    }
  }
  return result;
}

/** Reads a TensorProto file as {name, tensor}. */
function readTensor(file) {
  let name = '';
  let type = 0;
  let raw = null;
  const dims = [];
  const values = [];
  for (const [field, value] of fields(fs.readFileSync(file))) {
    if (field === 1) dims.push(...varints(value).map(Number));
    else if (field === 2) type = Number(value);
    else if (field === 8) name = value.toString();
    else if (field === 9) raw = value;
    else if (field === 5 || field === 7) values.push(...varints(value));
    else if (field === 4 || field === 10) raw = raw ? Buffer.concat([raw, value]) : value;
  }
  if (!TYPES[type]) throw new Error(`${file}: element type ${type} is not supported here`);
  const [typeName, ArrayType] = TYPES[type];
  let data;
  if (raw) data = new ArrayType(new Uint8Array(raw).buffer);
  else data = ArrayType.from(values, (value) => (ArrayType === BigInt64Array ? value : Number(value)));
  return { name, tensor: new Tensor(typeName, data, dims) };
}

/** The tensors KIND_0.pb, KIND_1.pb ... of a data set, by the name in the file or else by position in NAMES. */
function readSet(directory, kind, names) {
  const tensors = {};
  for (let i = 0; fs.existsSync(path.join(directory, `${kind}_${i}.pb`)); i++) {
    const { name, tensor } = readTensor(path.join(directory, `${kind}_${i}.pb`));
    tensors[names.includes(name) ? name : names[i]] = tensor;
  }
  return tensors;
}

/** The largest |got - expected| over all outputs, each relative to its largest expected magnitude. */
function maxError(got, expected) {
  let worst = 0;
  for (const name of Object.keys(expected)) {
    const want = expected[name].data;
    const have = got[name].data;
    if (want.length !== have.length) return Infinity;
    let range = 0;
    let difference = 0;
    for (let i = 0; i < want.length; i++) {
      range = Math.max(range, Math.abs(Number(want[i])));
      difference = Math.max(difference, Math.abs(Number(want[i]) - Number(have[i])));
    }
    worst = Math.max(worst, range > 0 ? difference / range : difference);
  }
  return worst;
}

/** The least cosine of an output with what is expected, or null where nothing is. */
function leastCosine(got, expected) {
  let least = null;
  for (const name of Object.keys(expected)) {
    const want = expected[name].data;
    const have = got[name].data;
    let product = 0;
    let wantSquares = 0;
    let haveSquares = 0;
    for (let i = 0; i < want.length; i++) {
      const [a, b] = [Number(want[i]), Number(have[i])];
      product += a * b;
      wantSquares += a * a;
      haveSquares += b * b;
    }
    const norms = Math.sqrt(wantSquares * haveSquares);
    const value = want.length !== have.length ? 0 : norms > 0 ? product / norms : Number(wantSquares === haveSquares);
    least = least === null ? value : Math.min(least, value);
  }
  return least;
}

function statistics(samples) {
  const sorted = Float64Array.from(samples).sort();
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  const mean = sorted.reduce((sum, x) => sum + x, 0) / sorted.length;
  const variance = sorted.reduce((sum, x) => sum + (x - mean) ** 2, 0) / sorted.length;
  return {
    latency_ms: { min: sorted[0], median: at(0.5), mean, p90: at(0.9), p99: at(0.99), max: sorted[sorted.length - 1] },
    cv: Math.sqrt(variance) / mean,
  };
}

const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Runs for SECONDS (at least three times) after WARMUP runs; the times of the runs in milliseconds. */
function time(run, seconds, warmup) {
  for (let i = 0; i < warmup; i++) run();
  const samples = [];
  const end = now() + seconds * 1e3;
  while (samples.length < 3 || now() < end) {
    const start = now();
    run();
    samples.push(now() - start);
  }
  return samples;
}

/** TENSOR with the dimensions DIMS; its values over and over. */
function resized(tensor, dims) {
  const count = dims.reduce((product, size) => product * size, 1);
  const data = new tensor.data.constructor(count);
  for (let at = 0; at < count; at += tensor.data.length) data.set(tensor.data.subarray(0, count - at), at);
  return new Tensor(tensor.type, data, dims);
}

/** FEEDS where unknown dimensions have SIZES, an object by their symbols, or 1. */
function feedsAt(feeds, metadata, sizes) {
  const sized = {};
  for (const { name, shape, symbolicDimensions } of metadata) {
    const dims = shape.map((each, axis) => (each < 0 ? sizes[symbolicDimensions[axis]] ?? 1 : each));
    sized[name] = resized(feeds[name], dims);
  }
  return sized;
}

/** "sequence=16,33" as {symbol, sizes}; null where nothing is given. */
function parseSweep(text) {
  if (!text) return null;
  const [symbol, sizes] = text.split('=');
  if (!sizes) throw new Error(`--sweep '${text}': expected SYMBOL=SIZE,SIZE,...`);
  return { symbol, sizes: sizes.split(',').map(Number) };
}

/** "batch=1,width=640" as an object. */
function parseSizes(text) {
  return Object.fromEntries(text.split(',').filter(Boolean).map((each) => [each.split('=')[0], Number(each.split('=')[1])]));
}

function parseArguments(words) {
  const options = { threads: 1, seconds: 2, warmup: 3, directory: null, sweep: '', at: '' };
  for (let i = 0; i < words.length; i++) {
    const name = words[i].replace(/^--/, '');
    if (!words[i].startsWith('--')) options.directory = words[i];
    else if (name === 'sweep' || name === 'at') options[name] = words[++i] ?? '';
    else if (name in options && name !== 'directory' && Number.isFinite(Number(words[i + 1]))) options[name] = Number(words[++i]);
    else throw new Error(`unknown option ${words[i]}`);
  }
  if (!options.directory) throw new Error('usage: ort_bench.js MODEL_DIR [--threads N] [--seconds S] [--warmup N] [--sweep SYMBOL=SIZES [--at SYMBOL=SIZE,...]]');
  return options;
}

function main() {
  const { directory, threads, seconds, warmup, sweep: sweepText, at } = parseArguments(process.argv.slice(2));
  const sweep = parseSweep(sweepText);
  const others = parseSizes(at);
  const data = path.join(directory, 'test_data_set_0');
  const model = path.join(directory, 'model.onnx');
  initOrt();
  let start = now();
  const session = new binding.InferenceSession();
  session.loadModel(model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
  const loadMs = now() - start;
  const outputNames = session.outputMetadata.map((output) => output.name);
  const feeds = readSet(data, 'input', session.inputMetadata.map((input) => input.name));
  const fetches = Object.fromEntries(outputNames.map((name) => [name, null]));
  const expected = readSet(data, 'output', outputNames);

  /** What is measured with INPUTS. */
  const measure = (inputs) => {
    const run = () => session.run(inputs, fetches, {});
    start = now();
    const first = run();
    const firstMs = now() - start;
    const timing = statistics(time(run, seconds, warmup));
    const dims = Object.values(inputs)[0]?.dims ?? [];
    return {
      model,
      backend: 'onnxruntime',
      version: env.versions.node,
      threads,
      cpu: os.cpus()[0].model,
      batch: dims.length > 0 ? dims[0] : 1,
      ...timing,
      throughput_per_s: 1e3 / timing.latency_ms.median,
      load_ms: loadMs,
      compile_ms: 0,
      first_ms: firstMs,
      peak_rss_mb: process.resourceUsage().maxRSS / 1024,
      ...(sweep ? {} : { max_error: maxError(first, expected), cosine: leastCosine(first, expected) }),
    };
  };
  const metadata = session.inputMetadata;
  const result = sweep
    ? sweep.sizes.map((size) => ({ size, ...measure(feedsAt(feeds, metadata, { ...others, [sweep.symbol]: size })) }))
    : measure(feeds);
  console.log(JSON.stringify(result));
}

try {
  main();
} catch (error) {
  console.error(`ort_bench.js: ${error.message}`);
  process.exit(1);
}
