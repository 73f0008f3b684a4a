// Runs models with onnxruntime-node and writes what they give.
//
//   node OnnxRuntime.js < tasks
//
// A line of the input is {"model": PATH, "folder": DIR, "inputs": [{"name", "type", "dims", "file"}] or null,
// "optimised": PATH or null, "level": graphOptimizationLevel or null} with raw values in each file; a line of the output is {"outputs": [...]} in the same form, or
// {"error"}. Without inputs the model is only loaded; with "optimised" the runtime's own graph of it is written there.
const fs = require('fs');
const readline = require('readline');
const path = require('path');
// Its native part counts on its own version of the package.
const ort = require(require.resolve('onnxruntime-node', {paths: [process.env.BENCH || path.join(__dirname, '../../bench')]}));

const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, bool: Uint8Array,
};

// The session of the task before, which the next one on the same model takes over.
let last = null;

// Where there is no VNNI, sums of two products of bytes saturate at 16 bits unless it is asked not to; some models of
// signed bytes, which do not, are rewritten for that into what it has no kernels for.
async function created(model, options) {
  try {
    return await ort.InferenceSession.create(model, {...options, extra: {session: {x64quantprecision: '1'}}});
  } catch {
    return ort.InferenceSession.create(model, options);
  }
}

async function sessionOf({model, level, optimised}) {
  const key = JSON.stringify([model, level, optimised]);
  if (last && last.key === key) return last.session;
  if (last) await last.session.release();
  last = null;
  const options = {logSeverityLevel: 4, intraOpNumThreads: 1};
  if (level) options.graphOptimizationLevel = level;
  if (optimised) Object.assign(options, {graphOptimizationLevel: 'all', optimizedModelFilePath: optimised});
  last = {key, session: await created(model, options)};
  return last.session;
}

async function run(task) {
  const session = await sessionOf(task);
  const outputs = [];
  if (task.inputs) {
    const feeds = {};
    for (const {name, type, dims, file} of task.inputs) {
      const bytes = fs.readFileSync(file);
      const copy = new ArrayBuffer(bytes.length);
      new Uint8Array(copy).set(bytes);
      feeds[name] = new ort.Tensor(type, new arrays[type](copy), dims);
    }
    const results = await session.run(feeds);
    for (const name of session.outputNames) {
      const {type, dims, data} = results[name];
      if (!data || type === 'string') continue;
      const file = path.join(task.folder, `out_${outputs.length}.bin`);
      fs.writeFileSync(file, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
      outputs.push({name, type, dims: dims.map(Number), file});
    }
  }
  return {outputs};
}

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    let answer;
    try {
      answer = await run(JSON.parse(line));
    } catch (error) {
      answer = {error: String(error.message).split('\n')[0]};
    }
    console.log(JSON.stringify(answer));
  }
})();
