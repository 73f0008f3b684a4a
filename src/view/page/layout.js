// Where nodes and edges are drawn: layers by the longest way from the inputs (Sugiyama's method), ordered by barycentres, each
// with the least squares of distances to neighbours. All steps are linear but for sorting within layers.

const layerGap = 46, itemGap = 22, bendGap = 10;
// An edge over more layers is drawn in one curve, without a place of its own in those between.
const longestBent = 8;
const orderSweeps = 4, placeSweeps = 6;

/** The layer of each item: behind all that it takes, and one without inputs just before its first user. */
function layersOf(items, edges) {
  const layer = new Int32Array(items.length);
  const outgoing = items.map(() => []);
  const hasInput = new Uint8Array(items.length);
  for (const edge of edges) {
    outgoing[edge.from].push(edge.to);
    hasInput[edge.to] = 1;
  }
  for (let from = 0; from < items.length; ++from)
    for (const to of outgoing[from])
      layer[to] = Math.max(layer[to], layer[from] + 1);
  for (let i = 0; i < items.length; ++i)
    if (!hasInput[i] && outgoing[i].length) {
      let first = Infinity;
      for (const to of outgoing[i]) first = Math.min(first, layer[to]);
      layer[i] = first - 1;
    }
  return layer;
}

/** Vertices: items, and bends of edges, which edges of one item share. Segments lead from layer to layer. */
function verticesOf(items, edges, layer) {
  const vertices = items.map((item, i) => ({item: i, layer: layer[i], width: item.width, up: [], down: [], x: 0, place: 0}));
  const far = [], segments = [];
  const bends = items.map(() => []);
  const connect = (from, to) => {
    from.down.push(to);
    to.up.push(from);
    segments.push({from, to});
  };
  for (const edge of edges) {
    const span = layer[edge.to] - layer[edge.from];
    if (span > longestBent) {
      far.push(edge);
      continue;
    }
    edge.bends = [];
    let last = vertices[edge.from];
    for (let i = 0; i < span - 1; ++i) {
      const at = bends[edge.from];
      if (!at[i]) {
        at[i] = {item: -1, layer: layer[edge.from] + 1 + i, width: 0, up: [], down: [], x: 0, place: 0};
        vertices.push(at[i]);
        connect(last, at[i]);
      }
      last = at[i];
      edge.bends.push(last);
    }
    connect(last, vertices[edge.to]);
  }
  return {vertices, segments, far};
}

function mean(vertices, what) {
  let sum = 0;
  for (const each of vertices) sum += each[what];
  return sum / vertices.length;
}

/** Orders each layer by the mean place of its neighbours, downwards and upwards in turn. */
function orderLayers(layers) {
  const number = row => row.forEach((vertex, i) => { vertex.place = i; });
  layers.forEach(number);
  for (let sweep = 0; sweep < orderSweeps; ++sweep) {
    const isDown = sweep % 2 === 0;
    const side = isDown ? 'up' : 'down';
    for (let i = 0; i < layers.length; ++i) {
      const row = layers[isDown ? i : layers.length - 1 - i];
      for (const vertex of row) vertex.key = vertex[side].length ? mean(vertex[side], 'place') : vertex.place;
      row.sort((a, b) => a.key - b.key || a.place - b.place);
      number(row);
    }
  }
}

/** Places a row as near as can be to where its vertices want to be, in order and apart: isotonic regression. */
function placeRow(row, wish) {
  const blocks = [];
  let offset = 0;
  const offsets = row.map((vertex, i) => {
    if (i > 0) {
      const before = row[i - 1];
      offset += (before.width + vertex.width) / 2 + (vertex.item < 0 || before.item < 0 ? bendGap : itemGap);
    }
    return offset;
  });
  for (let i = 0; i < row.length; ++i) {
    blocks.push({sum: wish(row[i]) - offsets[i], count: 1});
    for (let last = blocks.length - 1; last > 0 && blocks[last - 1].sum * blocks[last].count > blocks[last].sum * blocks[last - 1].count; --last) {
      const block = blocks.pop();
      blocks[last - 1].sum += block.sum;
      blocks[last - 1].count += block.count;
    }
  }
  let i = 0;
  for (const block of blocks)
    for (let k = 0; k < block.count; ++k, ++i)
      row[i].x = block.sum / block.count + offsets[i];
}

function placeLayers(layers) {
  for (const row of layers) placeRow(row, () => 0);
  for (let sweep = 0; sweep < placeSweeps; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (let i = 0; i < layers.length; ++i)
      placeRow(layers[isDown ? i : layers.length - 1 - i], vertex => {
        const near = isDown ? vertex.up : vertex.down, other = isDown ? vertex.down : vertex.up;
        const wanted = near.length ? near : other;
        return wanted.length ? mean(wanted, 'x') : vertex.x;
      });
  }
}

/**
 * Lays out items, which have a width and a height, in an order in which each is behind those that it takes, with edges
 * {from, to}, which get `bends`, or none if they are drawn in one curve. Gives vertices by layer with x and top, segments between them, edges without bends, and what all of it covers.
 */
function layOut(items, edges) {
  const forward = edges.filter(edge => edge.from < edge.to);
  const layer = layersOf(items, forward);
  const {vertices, segments, far} = verticesOf(items, forward, layer);
  const layers = [];
  for (const vertex of vertices) (layers[vertex.layer] ??= []).push(vertex);
  for (let i = 0; i < layers.length; ++i) layers[i] ??= [];
  orderLayers(layers);
  placeLayers(layers);
  let top = 0, left = Infinity, right = -Infinity;
  const rows = layers.map(row => {
    let height = 0;
    for (const vertex of row) {
      if (vertex.item >= 0) height = Math.max(height, items[vertex.item].height);
      left = Math.min(left, vertex.x - vertex.width / 2);
      right = Math.max(right, vertex.x + vertex.width / 2);
    }
    const made = {top, height, vertices: row, segments: []};
    for (const vertex of row) {
      vertex.top = top;
      vertex.bottom = vertex.item < 0 ? top + height : top + items[vertex.item].height;
    }
    top += height + layerGap;
    return made;
  });
  for (const segment of segments) rows[segment.from.layer].segments.push(segment);
  // An edge against the order (of nodes that take each other's results) is drawn in one curve, too.
  far.push(...edges.filter(edge => edge.from > edge.to));
  return {rows, far, vertices, bounds: rows.length ? {left, right, top: 0, bottom: top - layerGap} : {left: 0, right: 1, top: 0, bottom: 1}};
}
