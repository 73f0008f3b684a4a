// The model, what is chosen of it, search and keys.

const mostFound = 60;
const kinds = [
  ['quant', /quant|qlinear|rescale/],
  ['matmul', /conv|gemm|matmul|dot|linear|^fc$|attention|lstm|gru|rnn|einsum/],
  ['norm', /norm|lrn/],
  ['activation', /relu|sigmoid|tanh|gelu|softmax|softplus|swish|silu|mish|elu|clip|clamp|erf|logistic|hard_?s/],
  ['pool', /pool|reduce|argm|cumsum|scan/],
  ['shape', /reshape|transpose|flatten|squeeze|slice|concat|split|pad|gather|broadcast|expand|shape|cast|convert|identity|tile|take|resize|iota/],
  ['control', /^(if|case|while|loop)$/],
];

function kindOf(op) {
  const name = op.toLowerCase();
  return kinds.find(([, words]) => words.test(name))?.[0] ?? 'other';
}

/** The end of a long text: names of nodes differ there. */
function shortened(text, most) {
  return text.length > most ? '…' + text.slice(1 - most) : text;
}

/** Adds to each node what it shows, and makes items of inputs and outputs: items are in an order in which edges lead forward. */
function prepareGraph(graph, model, isCompiled) {
  const border = (op, tensor) => ({op, name: graph.tensors[tensor].name, kind: 'border', in: op === 'output' ? [tensor] : [],
    out: op === 'output' ? [] : [tensor], extra: graph.tensors[tensor].type});
  graph.nodes.forEach((node, i) => { node.node = i; node.kind = kindOf(node.op); });
  graph.items = [...graph.inputs.map(tensor => border(graph.tensors[tensor].role === 'state' ? 'state' : 'input', tensor)), ...inOrder(graph),
                 ...graph.outputs.map(tensor => border('output', tensor))];
  graph.itemOfNode = [];
  graph.items.forEach((item, i) => { if (item.node !== undefined) graph.itemOfNode[item.node] = i; });
  graph.producer = graph.tensors.map(() => -1);
  graph.consumers = graph.tensors.map(() => []);
  graph.items.forEach((item, i) => {
    for (const tensor of item.out) graph.producer[tensor] = i;
    for (const tensor of item.in) graph.consumers[tensor].push(i);
  });
  graph.edges = [];
  graph.edgesOf = graph.items.map(() => []);
  graph.items.forEach((item, to) => {
    for (const from of new Set(item.in.map(tensor => graph.producer[tensor])))
      if (from >= 0 && from !== to) {
        const edge = {from, to};
        graph.edges.push(edge);
        graph.edgesOf[from].push(edge);
        graph.edgesOf[to].push(edge);
      }
  });
  if (isCompiled) addSteps(graph, model);
  for (const item of graph.items) describe(item, model);
  graph.layout = layOut(graph.items, graph.edges);
}

/** The nodes behind those that they take, as far as there is such an order. A loop is behind its body. */
function inOrder(graph) {
  const producer = graph.tensors.map(() => -1);
  graph.nodes.forEach((node, i) => { for (const tensor of node.out) producer[tensor] = i; });
  const state = new Uint8Array(graph.nodes.length), ordered = [];
  for (let root = 0; root < graph.nodes.length; ++root) {
    const stack = [root];
    while (stack.length) {
      const i = stack.at(-1);
      if (state[i] === 0) {
        state[i] = 1;
        for (const tensor of graph.nodes[i].in)
          if (producer[tensor] >= 0 && state[producer[tensor]] === 0) stack.push(producer[tensor]);
        continue;
      }
      stack.pop();
      if (state[i] === 1) {
        state[i] = 2;
        ordered.push(graph.nodes[i]);
      }
    }
  }
  return ordered;
}

function addSteps(graph, model) {
  model.steps.forEach((step, i) => {
    for (const node of step.nodes) (graph.nodes[node].steps ??= []).push(i);
  });
  for (const node of graph.nodes)
    if (node.steps && model.total) node.share = node.steps.reduce((sum, i) => sum + (model.steps[i].ms ?? 0), 0) / model.total;
}

/** The lines in an item's box, its size, and what search looks at. */
function describe(item, model) {
  item.lines = [{kind: 'op', text: shortened(item.op, 28)}];
  if (item.name) item.lines.push({kind: 'name', text: shortened(item.name, 30)});
  if (item.extra) item.lines.push({kind: 'name', text: shortened(item.extra, 30)});
  const kernels = [...new Set((item.steps ?? []).map(i => model.steps[i].kernel || 'loops'))];
  if (kernels.length)
    item.lines.push({kind: 'name', text: shortened(kernels.join(', '), 22) + (item.share === undefined ? '' : ' · ' + percentText(item.share))});
  item.title = item.name ? `${item.op} ${item.name}` : item.op;
  item.height = 12 + 15 * item.lines.length;
  item.width = Math.max(60, ...item.lines.map(line => 20 + line.text.length * (line.kind === 'op' ? 7.8 : 6.6)));
}

class Page {
  constructor(model) {
    this.model = model;
    model.total = model.steps.reduce((sum, step) => sum + (step.ms ?? 0), 0);
    this.find = id => document.getElementById(id);
    this.prepared = new Set();
    this.drawing = new Drawing(this.find('drawing'), item => this.choose(item));
    this.details = new Details(this.find('details'), model, {item: (graph, item) => this.goTo(graph, item), search: text => this.searchFor(text)});
    document.title = model.model.split('/').pop() + ' - sinter inspect';
    this.find('model').textContent = this.find('model').title = model.model;
    this.makeGraphButtons();
    this.listen();
    model.graphs.forEach((graph, i) => prepareGraph(graph, model, i === 1));
    this.showGraph(model.graphs.length - 1);
  }

  makeGraphButtons() {
    this.buttons = this.model.graphs.map((graph, i) => {
      const button = element('button', {type: 'button', onclick: () => this.showGraph(i)}, `${i ? 'Compiled' : 'As read'} (${graph.nodes.length})`);
      button.title = (i ? 'The graph after simplification, of which the program is made' : 'The graph of the file') + ' (press ' + (i ? 'a' : 'b') + ')';
      return button;
    });
    this.find('graphs').append(...this.buttons.flatMap((button, i) => i ? [' ', button] : [button]));
  }

  get graph() { return this.model.graphs[this.index]; }

  showGraph(index) {
    if (!this.model.graphs[index]) return;
    this.index = index;
    this.buttons.forEach((button, i) => button.setAttribute('aria-pressed', i === index));
    this.drawing.show(this.graph);
    this.choose(-1);
    this.search();
    this.hideFound();
  }

  choose(item) {
    this.chosen = item;
    this.drawing.choose(item);
    if (item < 0) this.details.showModel(this.index);
    else this.details.showItem(this.index, item);
  }

  goTo(graph, item) {
    if (graph !== this.index) this.showGraph(graph);
    this.choose(item);
    this.drawing.reveal(item);
  }

  searchFor(text) {
    this.find('search').value = text;
    this.find('search').focus();
    this.search();
  }

  /** Why an item is found, or null: the text of it that has the words. */
  matchOf(item, words) {
    const has = text => { const lower = text.toLowerCase(); return words.every(word => lower.includes(word)); };
    if (has(item.title)) return '';
    for (const operation of item.operations ?? []) if (has(operation.name)) return operation.name;
    for (const step of item.steps ?? []) if (has(this.model.steps[step].kernel)) return 'kernel ' + this.model.steps[step].kernel;
    for (const tensor of [...item.out, ...item.in]) if (has(this.graph.tensors[tensor].name)) return 'tensor ' + this.graph.tensors[tensor].name;
    for (const label of [...item.rewrites ?? [], ...item.lowered ?? []]) if (has(label)) return 'rewrite ' + label;
    return null;
  }

  search() {
    const words = this.find('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const list = this.find('found');
    this.results = [];
    this.marked = 0;
    if (!words.length) return this.hideFound();
    let count = 0;
    this.graph.items.forEach((item, i) => {
      const why = this.matchOf(item, words);
      if (why === null) return;
      if (++count <= mostFound) this.results.push({item: i, why});
    });
    list.replaceChildren(...this.results.map(({item, why}) => element('li', {role: 'option', onclick: () => this.take(item)},
      this.graph.items[item].title, why ? element('span', {class: 'why'}, '  ' + why) : null)),
      element('li', {class: 'why'}, count > mostFound ? `${count} nodes, the first ${mostFound} are shown` : count === 1 ? '1 node' : `${count} nodes`));
    list.hidden = false;
    this.mark(0);
  }

  mark(index) {
    const options = this.find('found').querySelectorAll('[role=option]');
    if (!options.length) return;
    this.marked = (index + options.length) % options.length;
    options.forEach((option, i) => option.setAttribute('aria-selected', i === this.marked));
    options[this.marked].scrollIntoView({block: 'nearest'});
  }

  take(item) {
    this.hideFound();
    this.choose(item);
    this.drawing.reveal(item);
    this.find('drawing').focus();
  }

  hideFound() { this.find('found').hidden = true; }

  /** To a neighbour: up to what the chosen item takes, down to what takes it, or within its layer. */
  walk(key) {
    const {vertexOf, graph} = this.drawing;
    if (this.chosen < 0) return this.graph.items.length && this.goTo(this.index, 0);
    const here = vertexOf.get(this.chosen);
    let next;
    if (key === 'ArrowUp' || key === 'ArrowDown') {
      const near = graph.edgesOf[this.chosen].filter(edge => (key === 'ArrowUp' ? edge.to : edge.from) === this.chosen)
        .map(edge => vertexOf.get(key === 'ArrowUp' ? edge.from : edge.to));
      next = near.sort((a, b) => Math.abs(a.layer - here.layer) - Math.abs(b.layer - here.layer) || Math.abs(a.x - here.x) - Math.abs(b.x - here.x))[0];
    } else {
      const row = graph.layout.rows[here.layer].vertices.filter(vertex => vertex.item >= 0);
      next = row[row.indexOf(here) + (key === 'ArrowLeft' ? -1 : 1)];
    }
    if (next) this.goTo(this.index, next.item);
  }

  listen() {
    const search = this.find('search');
    search.addEventListener('input', () => this.search());
    search.addEventListener('focus', () => search.value && this.search());
    search.addEventListener('keydown', event => {
      if (event.key === 'ArrowDown') this.mark(this.marked + 1);
      else if (event.key === 'ArrowUp') this.mark(this.marked - 1);
      else if (event.key === 'Enter' && this.results[this.marked]) this.take(this.results[this.marked].item);
      else if (event.key === 'Escape') { this.hideFound(); this.find('drawing').focus(); }
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    document.addEventListener('pointerdown', event => { if (!this.find('searching').contains(event.target)) this.hideFound(); });
    this.find('zoom-in').addEventListener('click', () => this.drawing.zoom(1.3));
    this.find('zoom-out').addEventListener('click', () => this.drawing.zoom(1 / 1.3));
    this.find('fit').addEventListener('click', () => this.drawing.fit());
    this.find('drawing').addEventListener('keydown', event => {
      if (!event.key.startsWith('Arrow')) return;
      this.walk(event.key);
      event.preventDefault();
    });
    document.addEventListener('keydown', event => {
      if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
      const action = {'/': () => search.focus(), '+': () => this.drawing.zoom(1.3), '-': () => this.drawing.zoom(1 / 1.3), '0': () => this.drawing.fit(),
        b: () => this.showGraph(0), a: () => this.showGraph(1), Escape: () => this.choose(-1)}[event.key];
      if (!action) return;
      action();
      event.preventDefault();
    });
  }
}

window.page = new Page(JSON.parse(document.getElementById('data').textContent));
