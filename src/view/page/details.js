// What the panel beside the graph says. All texts are of the model's file, and are set as text.

/** An element with children; texts become text nodes. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {}))
    if (key === 'onclick') made.addEventListener('click', value);
    else made.setAttribute(key, value);
  made.append(...children.flat().filter(child => child !== null && child !== undefined));
  return made;
}

function bytesText(bytes) {
  if (bytes < 1000) return bytes + ' bytes';
  const units = ['kB', 'MB', 'GB', 'TB'];
  let unit = -1;
  do { bytes /= 1000; ++unit; } while (bytes >= 999.5 && unit < 3);
  return bytes.toPrecision(3) + ' ' + units[unit];
}

function timeText(ms) {
  return ms >= 1 ? ms.toPrecision(4) + ' ms' : (ms * 1000).toPrecision(3) + ' µs';
}

function numberText(value) {
  return value === null ? 'NaN' : Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

function percentText(share) {
  return (share * 100).toFixed(share < 0.1 ? 2 : 1) + ' %';
}

class Details {
  /** go: {item(graph index, item index), search(text)}: what links do. */
  constructor(panel, model, go) {
    this.panel = panel;
    this.model = model;
    this.go = go;
  }

  set(...children) {
    this.panel.replaceChildren(...children.flat().filter(Boolean));
    this.panel.scrollTop = 0;
  }

  link(text, action) {
    return element('a', {href: '#', onclick: event => { event.preventDefault(); action(); }}, text);
  }

  itemLink(graph, item) {
    const {op, name} = this.model.graphs[graph].items[item];
    return this.link(name ? `${op} ${name}` : op, () => this.go.item(graph, item));
  }

  section(title, ...children) {
    const all = children.flat(Infinity).filter(Boolean);
    return all.length ? [element('h3', {}, title), ...all] : [];
  }

  table(rows) {
    const shown = rows.filter(row => row && row[1] !== undefined && row[1] !== '');
    return shown.length ? element('table', {}, shown.map(([name, value]) => element('tr', {}, element('th', {}, name), element('td', {}, value)))) : null;
  }

  tensor(tensor) {
    const {constant} = tensor;
    return [
      element('div', {}, tensor.name || '(no name)', tensor.role === 'temporary' ? null : element('span', {class: 'quiet'}, ' ' + tensor.role)),
      element('div', {class: 'type'}, tensor.type + (tensor.bytes === undefined ? '' : ', ' + bytesText(tensor.bytes))),
      constant && constant.elements > 0 && element('div', {class: 'quiet'},
        constant.elements === 1 ? 'value ' + constant.first[0]
          : `min ${numberText(constant.min)}, max ${numberText(constant.max)}, mean ${numberText(constant.mean)}` +
            (constant.looked < constant.elements ? ` of ${constant.looked} of ${constant.elements} elements` : '') +
            `; ${constant.first.join(', ')}${constant.first.length < constant.elements ? ', ...' : ''}`)].filter(Boolean);
  }

  tensors(title, graphIndex, indices, linksOf) {
    const graph = this.model.graphs[graphIndex];
    return this.section(title, indices.length ? element('ul', {}, indices.map(index => {
      const links = linksOf(graph, index);
      return element('li', {}, this.tensor(graph.tensors[index]),
                     links.length ? element('div', {}, links.slice(0, 30).flatMap((item, i) => [i ? ', ' : '', this.itemLink(graphIndex, item)]),
                                            links.length > 30 ? `, and ${links.length - 30} more` : null) : null);
    })) : null);
  }

  operation(operation) {
    return [element('p', {}, element('code', {}, operation.name)),
            this.table((operation.attributes ?? []).map(([name, value]) => [name, element('code', {}, value)]))];
  }

  rewrites(title, labels) {
    return this.section(title, (labels ?? []).map(label => element('p', {}, this.link(label, () => this.go.search(label)),
      this.model.rewrites[label] ? element('div', {}, element('code', {class: 'quiet'}, this.model.rewrites[label])) : null)));
  }

  /** What is known of a step that computes a node, and which others it computes. */
  step(index, node) {
    const step = this.model.steps[index], others = step.nodes.filter(each => each !== node);
    return this.table([
      ['kernel', step.kernel || 'loops'],
      [step.stages > 1 ? 'steps' : 'step', `${step.stages > 1 ? `${step.step} to ${step.step + step.stages - 1}` : step.step}, ${step.op}`],
      ['layer', step.layer],
      ['together with', others.length ? element('span', {}, others.slice(0, 20).flatMap((other, i) =>
        [i ? ', ' : '', this.itemLink(1, this.model.graphs[1].itemOfNode[other])]), others.length > 20 ? `, and ${others.length - 20} more` : null) : undefined],
      step.ms === undefined ? null
        : [this.model.measured ? 'measured' : 'estimated', `${timeText(step.ms)}, ${percentText(step.ms / this.model.total)} of the run`],
      ['operations', step.flops === undefined ? undefined : (step.flops / 1e6).toPrecision(4) + ' M'],
      ['bytes moved', step.bytes === undefined ? undefined : bytesText(step.bytes)],
      ['tasks', step.tasks === undefined ? undefined : String(step.tasks)],
      ['considered', step.choice]]);
  }

  counterparts(graphIndex, item) {
    if (this.model.graphs.length < 2 || item.node === undefined) return [];
    const other = 1 - graphIndex, all = item.other ?? [];
    return this.section(graphIndex ? 'Made of, in the graph as read' : 'Became, in the compiled graph',
      all.length ? element('ul', {}, all.slice(0, 50).map(node => element('li', {}, this.itemLink(other, this.model.graphs[other].itemOfNode[node]))))
        : element('p', {class: 'quiet'}, graphIndex ? 'of no node in particular' : 'nothing of its own: it was removed, or is part of a constant'));
  }

  showItem(graphIndex, index) {
    const graph = this.model.graphs[graphIndex], item = graph.items[index];
    this.set(
      element('h2', {}, item.op),
      item.name ? element('p', {}, item.name) : null,
      item.owner === undefined ? null : element('p', {class: 'quiet'}, 'inside ', this.itemLink(graphIndex, graph.itemOfNode[item.owner])),
      this.section(item.steps?.length > 1 ? 'Kernels' : 'Kernel', (item.steps ?? []).map(step => this.step(step, item.node))),
      this.section('Operations', (item.operations ?? []).map(operation => this.operation(operation))),
      this.tensors('Inputs', graphIndex, item.in, (of, tensor) => of.producer[tensor] < 0 ? [] : [of.producer[tensor]]),
      this.tensors('Outputs', graphIndex, item.out, (of, tensor) => of.consumers[tensor]),
      this.counterparts(graphIndex, item),
      this.rewrites(graphIndex ? 'Rewrites that made it' : 'Rewrites of its results', item.rewrites),
      this.rewrites('Rewrites of the backend', item.lowered));
  }

  showModel(graphIndex) {
    const {model} = this, graph = model.graphs[graphIndex];
    const slowest = model.steps.map((step, i) => i).filter(i => model.steps[i].ms > 0)
      .sort((a, b) => model.steps[b].ms - model.steps[a].ms).slice(0, 15);
    const counts = new Map();
    for (const node of model.graphs.at(-1).nodes)
      for (const label of [...node.rewrites ?? [], ...node.lowered ?? []]) counts.set(label, (counts.get(label) ?? 0) + 1);
    const labels = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const constants = graph.tensors.filter(tensor => tensor.role === 'constant');
    this.set(
      element('h2', {}, model.model.split('/').pop()),
      this.table([
        ['nodes', model.graphs.map(each => each.nodes.length).join(' as read, ') + (model.graphs.length > 1 ? ' compiled' : ' as read')],
        ['constants', `${constants.length}, ${bytesText(constants.reduce((sum, each) => sum + (each.bytes ?? 0), 0))}`],
        ['steps', model.steps.length ? String(model.steps.reduce((sum, step) => sum + step.stages, 0)) : undefined],
        model.total ? [model.measured ? 'measured' : 'estimated', timeText(model.total) + (model.measured ? '' : ' of one thread')]
          : model.steps.length ? ['times', 'sizes are dynamic: --shape gives estimates, --measure times'] : null]),
      this.section('Notes', model.notes.map(note => element('p', {}, note))),
      this.tensors('Inputs', graphIndex, graph.inputs, (of, tensor) => of.consumers[tensor]),
      this.tensors('Outputs', graphIndex, graph.outputs, (of, tensor) => of.producer[tensor] < 0 ? [] : [of.producer[tensor]]),
      this.section('Slowest steps', slowest.length ? element('table', {id: 'slowest'}, slowest.map(i => element('tr', {},
        element('td', {class: 'number'}, percentText(model.steps[i].ms / model.total)),
        element('td', {class: 'number'}, timeText(model.steps[i].ms)),
        element('td', {}, this.stepLink(i), ' ', element('span', {class: 'quiet'}, model.steps[i].kernel))))) : null),
      this.section('Rewrites', labels.length ? element('table', {}, labels.map(([label, count]) => element('tr', {},
        element('td', {class: 'number'}, String(count)), element('td', {}, this.link(label, () => this.go.search(label)))))) : null),
      element('p', {class: 'quiet'}, 'Sinter ' + model.version));
  }

  stepLink(index) {
    const step = this.model.steps[index], graph = this.model.graphs[1];
    if (!graph || !step.nodes.length) return step.layer || step.op;
    const item = graph.itemOfNode[step.nodes.at(-1)];
    return this.link(step.layer || graph.items[item].title, () => this.go.item(1, item));
  }
}
