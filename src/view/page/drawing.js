// Draws a laid out graph, of which only what is in sight is in the document: rows are found by bisection.

const svgSpace = 'http://www.w3.org/2000/svg';
// As many items are drawn with text; of more, or of smaller ones, only boxes.
const mostItems = 1500, leastScale = 0.22;
const greatestScale = 3;

function svg(name, attributes = {}) {
  const element = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** The index of the first of sorted rows that ends below y. */
function firstRow(rows, y) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].top + rows[middle].height < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

class Drawing {
  /** Calls onChoose(item index, or -1) where the user clicks. */
  constructor(element, onChoose) {
    this.element = element;
    this.onChoose = onChoose;
    this.world = element.appendChild(svg('g'));
    this.edges = this.world.appendChild(svg('path', {class: 'edges'}));
    this.far = this.world.appendChild(svg('path', {class: 'far'}));
    this.heads = this.world.appendChild(svg('path', {class: 'heads'}));
    this.coarse = this.world.appendChild(svg('g'));
    this.chosenEdges = this.world.appendChild(svg('path', {class: 'chosen-edges'}));
    this.boxes = this.world.appendChild(svg('g'));
    this.chosen = -1;
    this.shown = new Map();
    this.view = {x: 0, y: 0, scale: 1};
    this.listen();
  }

  /** Shows items with their layout, and the edges between them. */
  show(graph) {
    this.graph = graph;
    this.chosen = -1;
    this.boxes.replaceChildren();
    this.shown.clear();
    this.vertexOf = new Map();
    for (const vertex of graph.layout.vertices)
      if (vertex.item >= 0) this.vertexOf.set(vertex.item, vertex);
    if (graph.view) this.setView(graph.view);
    else this.start();
  }

  size() {
    const box = this.element.getBoundingClientRect();
    return {width: box.width || 1, height: box.height || 1};
  }

  /** All of a small graph, else its beginning in a size that can be read. */
  start() {
    const {width, height} = this.size(), {left, right, top, bottom} = this.graph.layout.bounds;
    const scale = Math.min(1, (width - 40) / (right - left), (height - 40) / (bottom - top));
    if (scale > 0.6) return this.fit();
    const first = this.graph.layout.rows[0]?.vertices[0];
    this.setView({scale: 0.8, x: width / 2 - (first ? first.x : 0) * 0.8, y: 24});
  }

  fit() {
    const {width, height} = this.size(), {left, right, top, bottom} = this.graph.layout.bounds;
    const scale = Math.min(1.2, (width - 40) / Math.max(1, right - left), (height - 40) / Math.max(1, bottom - top));
    this.setView({scale, x: (width - (left + right) * scale) / 2, y: Math.max(20, (height - (top + bottom) * scale) / 2)});
  }

  setView(view) {
    this.view = view;
    if (this.graph) this.graph.view = view;
    this.world.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`);
    if (!this.pending) this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); });
  }

  /** Zooms by a factor around a point of the element, else around the middle. */
  zoom(factor, at) {
    const {width, height} = this.size();
    const {x, y} = at ?? {x: width / 2, y: height / 2};
    const {left, right, top, bottom} = this.graph.layout.bounds;
    const least = Math.min(0.5, (width - 40) / Math.max(1, right - left), (height - 40) / Math.max(1, bottom - top)) / 2;
    const scale = Math.min(greatestScale, Math.max(least, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.setView({scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio});
  }

  /** Brings an item into the middle if it is not in sight. */
  reveal(item) {
    const vertex = this.vertexOf.get(item), {width, height} = this.size();
    const scale = Math.max(this.view.scale, 0.6);
    const x = vertex.x * scale + this.view.x, y = (vertex.top + vertex.bottom) / 2 * scale + this.view.y;
    if (scale === this.view.scale && x > 80 && x < width - 80 && y > 40 && y < height - 40) return;
    this.setView({scale, x: width / 2 - vertex.x * scale, y: height / 2 - (vertex.top + vertex.bottom) / 2 * scale});
  }

  /** Marks an item (-1: none), its edges and its neighbours. */
  choose(item) {
    this.chosen = item;
    this.related = new Set();
    if (item >= 0)
      for (const edge of this.graph.edgesOf[item]) this.related.add(edge.from === item ? edge.to : edge.from);
    this.boxes.replaceChildren();
    this.shown.clear();
    this.draw();
  }

  /** The part of the graph that is in sight, and a margin. */
  sight() {
    const {width, height} = this.size(), {x, y, scale} = this.view;
    const marginX = 100 / scale, marginY = 100 / scale;
    return {left: -x / scale - marginX, right: (width - x) / scale + marginX, top: -y / scale - marginY, bottom: (height - y) / scale + marginY};
  }

  draw() {
    if (!this.graph) return;
    const {rows} = this.graph.layout, sight = this.sight();
    const visible = [], segments = [];
    for (let i = Math.max(0, firstRow(rows, sight.top) - 1); i < rows.length && rows[i].top <= sight.bottom; ++i) {
      for (const vertex of rows[i].vertices)
        if (vertex.item >= 0 && vertex.x + vertex.width / 2 >= sight.left && vertex.x - vertex.width / 2 <= sight.right) visible.push(vertex);
      for (const segment of rows[i].segments)
        if (Math.max(segment.from.x, segment.to.x) >= sight.left && Math.min(segment.from.x, segment.to.x) <= sight.right) segments.push(segment);
    }
    this.drawEdges(segments, sight);
    if (visible.length > mostItems || this.view.scale < leastScale) this.drawCoarsely(visible);
    else this.drawItems(visible);
  }

  drawEdges(segments, sight) {
    let lines = '', heads = '';
    for (const {from, to} of segments) {
      lines += segmentCurve(from, to);
      if (to.item >= 0) heads += head(to.x, to.top);
    }
    let far = '';
    for (const edge of this.graph.layout.far) {
      const from = this.vertexOf.get(edge.from), to = this.vertexOf.get(edge.to);
      if (Math.min(from.bottom, to.top) > sight.bottom || Math.max(from.bottom, to.top) < sight.top) continue;
      far += farCurve(from, to);
      heads += head(to.x, to.top);
    }
    let chosen = '';
    if (this.chosen >= 0)
      for (const edge of this.graph.edgesOf[this.chosen]) {
        const from = this.vertexOf.get(edge.from), to = this.vertexOf.get(edge.to);
        if (!edge.bends) {
          chosen += farCurve(from, to);
          continue;
        }
        const stations = [from, ...edge.bends, to];
        for (let i = 1; i < stations.length; ++i) chosen += segmentCurve(stations[i - 1], stations[i]);
      }
    this.edges.setAttribute('d', lines);
    this.far.setAttribute('d', far);
    this.heads.setAttribute('d', heads);
    this.chosenEdges.setAttribute('d', chosen);
  }

  /** One path for all boxes of a kind. */
  drawCoarsely(visible) {
    this.boxes.replaceChildren();
    this.shown.clear();
    const paths = new Map();
    for (const vertex of visible) {
      const kind = 'coarse kind-' + this.graph.items[vertex.item].kind + (vertex.item === this.chosen ? ' chosen' : '');
      paths.set(kind, (paths.get(kind) ?? '') +
        `M${vertex.x - vertex.width / 2} ${vertex.top}h${vertex.width}V${vertex.bottom}h${-vertex.width}z`);
    }
    this.coarse.replaceChildren(...[...paths].map(([kind, d]) => svg('path', {class: kind, d})));
  }

  drawItems(visible) {
    this.coarse.replaceChildren();
    const wanted = new Set(visible.map(vertex => vertex.item));
    for (const [item, element] of this.shown)
      if (!wanted.has(item)) {
        element.remove();
        this.shown.delete(item);
      }
    for (const vertex of visible)
      if (!this.shown.has(vertex.item)) {
        const element = this.makeItem(vertex, this.graph.items[vertex.item]);
        this.boxes.append(element);
        this.shown.set(vertex.item, element);
      }
  }

  makeItem(vertex, item) {
    const mark = vertex.item === this.chosen ? ' chosen' : this.related?.has(vertex.item) ? ' related' : '';
    const group = svg('g', {class: 'item' + mark, 'data-item': vertex.item, role: 'img', 'aria-label': item.title});
    const left = vertex.x - vertex.width / 2;
    group.append(svg('rect', {class: 'box kind-' + item.kind, x: left, y: vertex.top, width: vertex.width, height: item.height, rx: 5}));
    if (item.share)
      group.append(svg('rect', {class: 'heat', x: left + 3, y: vertex.bottom - 5, width: Math.max(1, (vertex.width - 6) * item.share), height: 3, rx: 1.5}));
    item.lines.forEach((line, i) => {
      const text = svg('text', {class: line.kind, x: vertex.x, y: vertex.top + 17 + 15 * i});
      text.textContent = line.text;
      group.append(text);
    });
    return group;
  }

  /** The item at a point of the element, or -1. */
  itemAt(x, y) {
    const at = {x: (x - this.view.x) / this.view.scale, y: (y - this.view.y) / this.view.scale};
    const row = this.graph.layout.rows[firstRow(this.graph.layout.rows, at.y)];
    const hit = row?.vertices.find(vertex => vertex.item >= 0 && at.y >= vertex.top && at.y <= vertex.bottom &&
                                             Math.abs(at.x - vertex.x) <= vertex.width / 2);
    return hit ? hit.item : -1;
  }

  listen() {
    const pointers = new Map();
    let moved = false;
    const place = event => {
      const box = this.element.getBoundingClientRect();
      return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    this.element.addEventListener('pointerdown', event => {
      pointers.set(event.pointerId, place(event));
      moved = pointers.size > 1;
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener('pointermove', event => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const now = place(event);
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        this.zoom(Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(last.x - other.x, last.y - other.y)), other);
      } else if (moved || Math.hypot(now.x - last.x, now.y - last.y) > 3) {
        moved = true;
        this.element.classList.add('dragging');
        this.setView({...this.view, x: this.view.x + now.x - last.x, y: this.view.y + now.y - last.y});
      } else {
        return;
      }
      pointers.set(event.pointerId, now);
    });
    const end = event => {
      const was = pointers.delete(event.pointerId);
      this.element.classList.remove('dragging');
      if (was && !moved && event.type === 'pointerup') {
        const {x, y} = place(event);
        this.onChoose(this.itemAt(x, y));
      }
    };
    this.element.addEventListener('pointerup', end);
    this.element.addEventListener('pointercancel', end);
    this.element.addEventListener('wheel', event => {
      event.preventDefault();
      const delta = event.deltaY * (event.deltaMode === 1 ? 20 : 1);
      this.zoom(Math.exp(-Math.max(-200, Math.min(200, delta)) * 0.002), place(event));
    }, {passive: false});
    new ResizeObserver(() => this.graph && this.setView(this.view)).observe(this.element);
  }
}

/** From one layer to the next, and past the height of a bend. */
function segmentCurve(from, to) {
  const middle = (from.bottom + to.top) / 2;
  return `M${from.x} ${from.bottom}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.top}` + (to.item < 0 ? `V${to.bottom}` : '');
}

/** Past the side of what lies between. */
function farCurve(from, to) {
  const bend = Math.min(120, 40 + Math.abs(to.top - from.bottom) / 40);
  const side = Math.max(from.x + from.width / 2, to.x + to.width / 2) + bend;
  return `M${from.x} ${from.bottom}C${from.x} ${from.bottom + 40} ${side} ${from.bottom + 20} ${side} ${from.bottom + 60}` +
    `L${side} ${to.top - 60}C${side} ${to.top - 20} ${to.x} ${to.top - 40} ${to.x} ${to.top}`;
}

function head(x, y) {
  return `M${x} ${y}l-3.5 -7h7z`;
}
