// Runs models with onnxruntime-node and writes what they give.
//
//   node RuntimeOutputs.js < tasks
//
// A line of the input is {"model": PATH, "folder": DIR, "inputs": [{"name", "type", "dims", "file"}]} with raw values in
// each file; a line of the output is {"model", "outputs": [...]} in the same form, or {"model", "error"}.
const fs = require('fs');
const readline = require('readline');
const path = require('path');
// Its native part counts on its own version of the package.
const ort = require(require.resolve('onnxruntime-node', {paths: [process.env.BENCH || path.join(__dirname, '../../../bench')]}));

const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, bool: Uint8Array,
};

async function run(task) {
  const feeds = {};
  for (const {name, type, dims, file} of task.inputs) {
    const bytes = fs.readFileSync(file);
    const copy = new ArrayBuffer(bytes.length);
    new Uint8Array(copy).set(bytes);
    feeds[name] = new ort.Tensor(type, new arrays[type](copy), dims);
  }
  const session = await ort.InferenceSession.create(task.model, {logSeverityLevel: 4, intraOpNumThreads: 1});
  const results = await session.run(feeds);
  const outputs = [];
  for (const name of session.outputNames) {
    const {type, dims, data} = results[name];
    const file = path.join(task.folder, `out_${outputs.length}.bin`);
    fs.writeFileSync(file, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    outputs.push({name, type, dims: dims.map(Number), file});
  }
  await session.release();
  return {model: task.model, outputs};
}

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    const task = JSON.parse(line);
    let answer;
    try {
      answer = await run(task);
    } catch (error) {
      answer = {model: task.model, error: String(error.message).split('\n')[0]};
    }
    console.log(JSON.stringify(answer));
  }
})();
