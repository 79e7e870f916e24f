'use strict';
// Draws the plots of a bench report from the JSON in the page. Numbers in words and tables are not
// made here: they stand in the page as the program wrote them.
const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';

function node(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2);
}
/// Milliseconds as the program prints them: three digits, unit by size.
function ms(value) {
  if (value >= 1000) return digits(value / 1000) + ' s';
  if (value >= 1) return digits(value) + ' ms';
  return value >= 0.001 ? digits(value * 1000) + ' us' : Math.round(value * 1e6) + ' ns';
}
/// The same without idle zeros, for axes.
function axisMs(value) {
  return ms(value).replace(/\.0+ /, ' ').replace(/(\.\d*[1-9])0+ /, '$1 ');
}
function count(value) {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ' ');
}
function percentile(share) {
  const text = (share * 100).toFixed(5).replace(/\.?0+$/, '');
  return 'P' + text;
}

function linearTicks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high * (1 + 1e-9); t += step) ticks.push(t);
  return ticks;
}
function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const steps = decades > 4 ? [1] : decades > 2 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); ++e) {
    for (const s of steps) {
      const t = s * Math.pow(10, e);
      if (t >= low * 0.999 && t <= high * 1.001) ticks.push(t);
    }
  }
  return ticks;
}

/// A plot that fits its place: draws axes, calls `draw`, shows `tip(x)` under the pointer.
function plot(id, options) {
  const place = document.getElementById(id);
  if (!place) return;
  const render = () => {
    place.textContent = '';
    const width = place.clientWidth, height = options.height || 270;
    const margin = {left: 58, right: 14, top: 12, bottom: 40};
    const svg = node(place, 'svg', {viewBox: `0 0 ${width} ${height}`, height: height, role: 'img'});
    svg.setAttribute('aria-label', options.label);
    const inner = {w: width - margin.left - margin.right, h: height - margin.top - margin.bottom};
    const bend = options.logY ? Math.log10 : (v) => v;
    const [y0, y1] = options.y.map(bend), [x0, x1] = options.x;
    const X = (v) => margin.left + (v - x0) / (x1 - x0) * inner.w;
    const Y = (v) => {
      const share = (bend(Math.max(v, options.logY ? options.y[0] : -Infinity)) - y0) / (y1 - y0);
      return margin.top + (1 - Math.min(Math.max(share, 0), 1)) * inner.h;
    };
    const yTicks = options.logY ? logTicks(...options.y) : linearTicks(...options.y, 5);
    for (const t of yTicks) {
      node(svg, 'line', {class: 'rule', x1: X(x0), x2: X(x1), y1: Y(t), y2: Y(t)});
      node(svg, 'text', {x: margin.left - 8, y: Y(t) + 4, 'text-anchor': 'end'},
           options.formatY(t));
    }
    const xTicks = options.ticksX ? options.ticksX(inner.w)
        : linearTicks(x0, x1, Math.max(2, inner.w / 90));
    for (const t of xTicks) {
      node(svg, 'text', {x: X(t), y: height - margin.bottom + 18, 'text-anchor': 'middle'},
           options.formatX(t));
    }
    node(svg, 'line', {class: 'axis', x1: X(x0), x2: X(x1), y1: Y(options.y[0]),
                       y2: Y(options.y[0])});
    node(svg, 'text', {x: X(x1), y: height - 4, 'text-anchor': 'end'}, options.titleX);
    options.draw(svg, X, Y);
    if (options.tip) follow(place, svg, options, X, {margin, inner, x0, x1, height});
  };
  render();
  let last = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth !== last) { last = place.clientWidth; render(); }
  }).observe(place);
}

function follow(place, svg, options, X, g) {
  const cursor = node(svg, 'line', {class: 'cursor', y1: g.margin.top, y2: g.margin.top + g.inner.h,
                                    visibility: 'hidden'});
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  place.appendChild(tip);
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const at = event.clientX - box.left - g.margin.left;
    const shown = options.tip(g.x0 + at / g.inner.w * (g.x1 - g.x0));
    if (!shown || at < -8 || at > g.inner.w + 8) { hide(); return; }
    const x = X(shown.x);
    cursor.setAttribute('x1', x);
    cursor.setAttribute('x2', x);
    cursor.setAttribute('visibility', 'visible');
    tip.replaceChildren(...shown.lines.flatMap((line, i) => {
      const text = document.createElement(i === 0 ? 'b' : 'span');
      text.textContent = line;
      return i === 0 ? [text] : [document.createElement('br'), text];
    }));
    tip.hidden = false;
    const right = x + 14 + tip.offsetWidth < box.width;
    tip.style.left = (right ? x + 14 : Math.max(0, x - 14 - tip.offsetWidth)) + 'px';
    tip.style.top = g.margin.top + 'px';
  });
  const hide = () => { tip.hidden = true; cursor.setAttribute('visibility', 'hidden'); };
  svg.addEventListener('pointerleave', hide);
}

function path(points, X, Y) {
  let pen = 'M';
  return points.map(([x, y]) => {
    if (y === null) { pen = 'M'; return ''; }
    const part = pen + X(x).toFixed(1) + ' ' + Y(y).toFixed(1);
    pen = 'L';
    return part;
  }).join('');
}
function nearest(list, x, of) {
  let best = null;
  for (const item of list) {
    if (best === null || Math.abs(of(item) - x) < Math.abs(of(best) - x)) best = item;
  }
  return best;
}
function limitLine(svg, X, Y, x, top) {
  if (data.limit_ms === null || data.limit_ms > top) return;
  node(svg, 'line', {class: 'limit', x1: X(x[0]), x2: X(x[1]), y1: Y(data.limit_ms),
                     y2: Y(data.limit_ms)});
  node(svg, 'text', {x: X(x[1]) - 4, y: Y(data.limit_ms) - 5, 'text-anchor': 'end'},
       'limit ' + axisMs(data.limit_ms));
}
function color(name) {
  const known = getComputedStyle(document.documentElement).getPropertyValue('--' + name);
  return known ? `var(--${name})` : 'var(--network)';
}
function legend(id, entries) {
  const place = document.getElementById(id);
  if (!place) return;
  for (const [name, fill] of entries) {
    const item = document.createElement('span'), mark = document.createElement('i');
    mark.style.background = fill;
    item.append(mark, name);
    place.append(item);
  }
}

function drawDistribution() {
  if (data.curve.length === 0) return;
  const depth = (q) => -Math.log10(1 - q);
  const deepest = Math.max(1, depth(data.curve[data.curve.length - 1][0]));
  const top = data.curve[data.curve.length - 1][1];
  const low = Math.min(data.curve[0][1], (data.service_curve[0] || [0, Infinity])[1]);
  const x = [0, deepest], y = [low * 0.8, top * 1.15];
  plot('distribution', {
    x, y, logY: true, label: 'latency by percentile', formatY: axisMs,
    titleX: 'share of requests that are not slower',
    formatX: (t) => t === 0 ? '0 %' : percentile(1 - Math.pow(10, -t)).slice(1) + ' %',
    ticksX: (w) => [0, depth(0.5), 1, 2, 3, 4, 5, 6, 7].filter((t) => t <= deepest + 1e-6 &&
      (t === 0 || t >= 1 || w * t / deepest > 48)),
    draw: (svg, X, Y) => {
      limitLine(svg, X, Y, x, y[1]);
      const line = (curve, stroke, extra) => node(svg, 'path', {
        d: path(curve.map(([q, v]) => [depth(q), v]), X, Y), fill: 'none', stroke, ...extra});
      line(data.service_curve, 'var(--second)', {'stroke-width': 1.5, 'stroke-dasharray': '4 3'});
      line(data.curve, 'var(--main)', {'stroke-width': 2.2});
    },
    tip: (at) => {
      const point = nearest(data.curve, at, (p) => depth(p[0]));
      const service = nearest(data.service_curve, at, (p) => depth(p[0]));
      return {x: depth(point[0]), lines: [percentile(point[0]), 'latency ' + ms(point[1]),
                                          'service ' + ms(service[1])]};
    },
  });
  legend('distribution-legend', [['latency, from the intended start', 'var(--main)'],
                                 ['service time, from the first byte sent', 'var(--second)']]);
}

function secondTip(at, lines) {
  const s = nearest(data.seconds, at, (v) => v.second + 0.5);
  return s && {x: s.second + 0.5, lines: [`second ${s.second}`, ...lines(s)]};
}

/// Seconds of the warm-up are shown, but step back.
function faded(s) {
  return s.second + 1 <= data.warmup_s + 1e-9 ? 0.35 : 1;
}

function drawTimeline() {
  const values = data.dots.map((d) => d[1]).concat(data.seconds.map((s) => s.max).filter((v) => v));
  if (values.length === 0) return;
  const x = [0, data.length_s], y = [Math.min(...values) * 0.8, Math.max(...values) * 1.2];
  // The highest percentile that a second's samples support.
  const tail = data.seconds.some((s) => s.p99 !== null) ? 'p99' : 'p90';
  plot('timeline', {
    x, y, logY: true, height: 300, label: 'latency over time', formatY: axisMs,
    formatX: (t) => t.toFixed(t % 1 ? 1 : 0) + ' s', titleX: 'intended start',
    draw: (svg, X, Y) => {
      if (data.warmup_s > 0) {
        node(svg, 'rect', {x: X(0), y: Y(y[1]), width: X(data.warmup_s) - X(0),
                           height: Y(y[0]) - Y(y[1]), fill: 'var(--grid)', opacity: 0.6});
        if (X(data.warmup_s) - X(0) > 60) {
          node(svg, 'text', {x: X(0) + 6, y: Y(y[1]) + 14}, 'warm-up');
        }
      }
      for (const [at, value, ok] of data.dots) {
        node(svg, 'circle', {cx: X(at).toFixed(1), cy: Y(value).toFixed(1), r: ok ? 1.8 : 2.4,
                             fill: ok ? 'var(--dot)' : 'var(--bad)', opacity: ok ? 0.35 : 0.9});
      }
      const line = (key, stroke, width) => node(svg, 'path', {
        d: path(data.seconds.filter((s) => s.ok || s.failed).map((s) => [
          Math.min(s.second + 0.5, data.length_s), s[key]]), X, Y),
        fill: 'none', stroke, 'stroke-width': width});
      line(tail, 'var(--second)', 1.8);
      line('p50', 'var(--ink)', 1.8);
      limitLine(svg, X, Y, x, y[1]);
    },
    tip: (at) => secondTip(at, (s) => [
      'P50 ' + (s.p50 === null ? '-' : ms(s.p50)), 'P90 ' + (s.p90 === null ? '-' : ms(s.p90)),
      'P99 ' + (s.p99 === null ? '-' : ms(s.p99)), 'max ' + (s.ok ? ms(s.max) : '-'),
      count(s.ok) + ' good, ' + count(s.failed) + ' failed']),
  });
  const entries = [['a request', 'var(--dot)'], ['P50 of a second', 'var(--ink)'],
                   [tail.toUpperCase() + ' of a second', 'var(--second)']];
  if (data.dots.some((d) => !d[2])) entries.push(['failed', 'var(--bad)']);
  legend('timeline-legend', entries);
}

function drawStages() {
  const parts = data.parts;
  const totals = data.seconds.map((s) => s.stage_ms.reduce((a, b) => a + b, 0));
  const top = Math.max(...totals, 1e-6);
  plot('stages', {
    x: [0, data.seconds.length], y: [0, top * 1.08], label: 'mean latency by stage and second',
    formatY: (t) => t === 0 ? '0' : axisMs(t), formatX: (t) => t + ' s',
    ticksX: (w) => linearTicks(0, data.seconds.length, Math.max(2, w / 90))
      .filter((t) => t % 1 === 0), titleX: 'intended start',
    draw: (svg, X, Y) => {
      for (const s of data.seconds) {
        let below = 0;
        parts.forEach((name, p) => {
          const part = s.stage_ms[p];
          if (!(part > 0)) return;
          node(svg, 'rect', {x: X(s.second + 0.08), y: Y(below + part),
                             width: Math.max(X(s.second + 0.92) - X(s.second + 0.08), 0.5),
                             height: Math.max(Y(below) - Y(below + part), 0), fill: color(name),
                             opacity: faded(s)});
          below += part;
        });
      }
    },
    tip: (at) => secondTip(at, (s) => parts.map((name, p) => [name, s.stage_ms[p]])
      .filter((e) => e[1] > 0).reverse().map((e) => `${e[0]} ${ms(e[1])}`)),
  });
  const used = parts.filter((_, p) => data.seconds.some((s) => s.stage_ms[p] > 0));
  legend('stages-legend', used.map((name) => [name, color(name)]));
}

function drawThroughput() {
  const top = Math.max(...data.seconds.map((s) => Math.max(s.ended, s.asked, s.failed)), 1);
  plot('throughput', {
    x: [0, data.seconds.length], y: [0, top * 1.1], label: 'throughput by second',
    formatY: count, formatX: (t) => t + ' s', titleX: 'time of the reply',
    ticksX: (w) => linearTicks(0, data.seconds.length, Math.max(2, w / 90))
      .filter((t) => t % 1 === 0),
    draw: (svg, X, Y) => {
      const bar = (s, from, to, fill) => node(svg, 'rect', {
        x: X(s.second + 0.08), width: Math.max(X(s.second + 0.92) - X(s.second + 0.08), 0.5),
        y: Y(to), height: Math.max(Y(from) - Y(to), 0), fill, opacity: faded(s)});
      for (const s of data.seconds) {
        bar(s, 0, s.ended, 'var(--main)');
        if (s.failed > 0) bar(s, s.ended, s.ended + s.failed, 'var(--bad)');
      }
      if (!data.open_loop) return;
      const steps = data.seconds.filter((s) => s.asked > 0)
        .flatMap((s) => [[s.second, s.asked], [s.second + 1, s.asked]]);
      node(svg, 'path', {d: path(steps, X, Y), fill: 'none', stroke: 'var(--ink)',
                         'stroke-width': 1.4, 'stroke-dasharray': '4 3'});
    },
    tip: (at) => secondTip(at, (s) => [count(s.asked) + ' asked', count(s.sent) + ' sent',
                                       count(s.ended) + ' good replies',
                                       count(s.failed) + ' failed']),
  });
  const entries = [['good replies', 'var(--main)']];
  if (data.seconds.some((s) => s.failed > 0)) entries.push(['failed', 'var(--bad)']);
  if (data.open_loop) entries.push(['asked', 'var(--ink)']);
  legend('throughput-legend', entries);
}

drawDistribution();
drawTimeline();
drawStages();
drawThroughput();
