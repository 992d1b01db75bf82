"use strict";
/* Draws the figures of a report from the numbers in it, and follows a run that is going on. */
(() => {
  const INK = "#222222", FAINT = "#8a8a8a", GRID = "#e6e6e6", RED = "#d1495b", BLUE = "#1f5fa8";
  // Those of pinn.figures.style.LINE_COLOURS, told apart with any colour vision.
  const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5c6b7a"];
  const CONFIG = {displayModeBar: false, responsive: false, showTips: false};
  // Where fingers point, a touch of a figure scrolls the page.
  const DRAG = matchMedia("(pointer: coarse)").matches ? false : "zoom";
  const MINUS = "\u2212";

  // ---- small things

  const byId = id => document.getElementById(id);

  /* A text as Plotly takes it, which reads some markup in its texts. */
  const plain = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "class") made.className = value;
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.filter(child => child != null));
    return made;
  }

  function number(value, digits = 6) {
    if (!Number.isFinite(value)) return "none";
    const size = Math.abs(value);
    const text = size !== 0 && (size < 1e-3 || size >= 1e6)
      ? value.toExponential(digits - 1).replace(/\.?0*e\+?/, "e")
      : String(Number(value.toPrecision(digits)));
    return text.replace(/-/g, MINUS);
  }

  function floats(text) {
    const letters = atob(text), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return new Float32Array(bytes.buffer);
  }

  const at = (axis, i) => axis.low + (axis.high - axis.low) * i / (axis.count - 1);
  const grid = axis => Array.from({length: axis.count}, (_, i) => at(axis, i));
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  /* A function that runs once before the next picture, however often it is asked for. */
  function once(work) {
    let asked = false;
    return () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => { asked = false; work(); });
    };
  }

  // ---- plots: each knows how high it is for a width

  const plots = new Map();

  function draw(place, traces, layout, height) {
    const width = Math.max(place.clientWidth, 200);
    const whole = {
      autosize: false, width, height: height(width), hovermode: "closest", dragmode: DRAG,
      font: {family: getComputedStyle(document.body).fontFamily, size: 12, color: INK},
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: {l: 70, r: 12, t: 10, b: 42}, showlegend: false, ...layout,
    };
    Plotly.react(place, traces, whole, CONFIG);
    plots.set(place, height);
  }

  const axis = (title, more = {}) => ({
    title: {text: plain(title), standoff: 8}, gridcolor: GRID, linecolor: FAINT, showline: true,
    ticks: "outside", tickcolor: FAINT, ticklen: 4, zeroline: false,
    exponentformat: "e", minexponent: 4, ...more,
  });

  function fit(widthOf = place => place.clientWidth) {
    for (const [place, height] of plots) {
      if (!place.isConnected) { plots.delete(place); continue; }
      const width = widthOf(place);
      if (width > 0 && width !== place._fullLayout.width)
        Plotly.relayout(place, {width, height: height(width)});
    }
  }

  /* Make plots of the same coordinates zoom together; along: of these axes. */
  function link(places, along) {
    let busy = false;
    for (const one of places) one.on("plotly_relayout", event => {
      const change = {};
      for (const letter of along) {
        const key = `${letter}axis`;
        if (event[`${key}.autorange`]) change[`${key}.autorange`] = true;
        else if (`${key}.range[0]` in event) {
          change[`${key}.range[0]`] = event[`${key}.range[0]`];
          change[`${key}.range[1]`] = event[`${key}.range[1]`];
        }
      }
      if (busy || !Object.keys(change).length) return;
      busy = true;
      Promise.all(places.filter(other => other !== one).map(other => Plotly.relayout(other, change)))
        .finally(() => { busy = false; });
    });
  }

  function slider(label, along, start, move) {
    const id = `slider-${slider.count = (slider.count || 0) + 1}`;
    const told = make("output", {for: id});
    const input = make("input", {type: "range", id, min: 0, max: along.count - 1, value: start});
    const show = () => {
      told.textContent = `${along.name} = ${number(at(along, +input.value), 4)}`;
      input.setAttribute("aria-valuetext", told.textContent);
    };
    const change = () => { show(); move(+input.value); };
    input.addEventListener("input", change);
    show();
    let timer = null;
    const play = make("button", {type: "button", "aria-pressed": "false"}, "Play");
    const stop = () => {
      clearInterval(timer); timer = null;
      play.textContent = "Play"; play.setAttribute("aria-pressed", "false");
    };
    play.addEventListener("click", () => {
      if (timer !== null) { stop(); return; }
      play.textContent = "Stop"; play.setAttribute("aria-pressed", "true");
      timer = setInterval(() => {
        if (!input.isConnected) { stop(); return; }
        input.value = (+input.value + 1) % along.count;
        change();
      }, 140);
    });
    return make("div", {class: "slider"}, make("label", {for: id}, label), input, told, play);
  }

  function choice(title, names, start, choose) {
    const group = `choice-${choice.count = (choice.count || 0) + 1}`;
    const labels = names.map((name, i) => {
      const input = make("input", {type: "radio", name: group, value: i, checked: i === start});
      input.addEventListener("change", () => choose(i));
      return make("label", {}, input, name);
    });
    return make("fieldset", {}, make("legend", {}, title), ...labels);
  }

  // ---- fields

  const tip = make("div", {id: "tip", hidden: true});
  const states = new Map();

  function drawFields(data) {
    const place = byId("field-plots");
    place.replaceChildren();
    data.groups.forEach((group, i) => {
      const key = `${i} ${group.unknowns.map(one => one.name)} ${JSON.stringify(group.axes)}`;
      if (!states.has(key)) states.set(key, {
        unknown: 0, places: group.sliders.map(one => one.start),
        cut: Math.floor((group.axes.at(-1).count - 1) / 2),
      });
      const box = make("div", {class: "group"});
      place.append(box);
      const ready = group.unknowns.map(one => ({
        ...one, values: floats(one.values), error: one.error && floats(one.error),
      }));
      (group.axes.length === 2 ? drawMaps : drawLines)(
        box, {...group, unknowns: ready}, data.colours, states.get(key));
    });
  }

  const frameOf = (group, state) =>
    group.sliders.reduce((index, one, k) => index * one.count + state.places[k], 0);

  const heldAt = group =>
    Object.entries(group.held).map(([name, value]) => `${name} = ${number(value, 4)}`);

  /* The sliders of a group, and what is said of coordinates that have none. */
  function slidersOf(group, state, update) {
    const made = group.sliders.map((one, k) =>
      slider(`at ${one.name}`, one, state.places[k], i => { state.places[k] = i; update(); }));
    const held = heldAt(group).join(", ");
    return held ? [...made, make("span", {class: "note"}, `held: ${held}`)] : made;
  }

  const whereElse = (group, state) => heldAt(group).concat(group.sliders.map(
    (one, k) => `${one.name} = ${number(at(one, state.places[k]), 4)}`));

  /* Maps of one unknown in two coordinates: network, reference and error, and a cut through them. */
  function drawMaps(box, group, colours, state) {
    const [across, up] = group.axes, xs = grid(across), ys = grid(up);
    const columns = across.count, rows = up.count, size = columns * rows;
    const alongTime = group.time === across.name;
    const cutAxis = alongTime ? across : up, alongAxis = alongTime ? up : across;
    state.cut = clamp(state.cut, 0, cutAxis.count - 1);
    const update = once(show), panels = make("div", {class: "panels"});
    const probe = make("p", {class: "probe note", "aria-live": "polite"},
      "Point at a map for its values; click to cut through it there.");
    const cutPlots = make("div", {class: "lines"}), controls = make("div", {class: "controls"});
    const cutControls = make("div", {class: "controls"});
    let one, maps = [], cuts = [], place = null;

    if (group.unknowns.length > 1) controls.append(choice(
      "Unknown", group.unknowns.map(each => each.name), state.unknown,
      i => { state.unknown = i; build(); }));
    controls.append(...slidersOf(group, state, update));
    cutControls.append(slider(`Cut at ${cutAxis.name}`, cutAxis, state.cut,
      i => { state.cut = i; update(); }));
    box.append(controls, panels, probe, cutControls, cutPlots);
    build();

    function build() {
      one = group.unknowns[state.unknown];
      const kinds = one.error ? ["network", "reference", "error"] : ["network"];
      panels.className = one.error ? "panels" : "panels single";
      maps = kinds.map(kind => ({kind, place: make("div", {
        class: "plot", tabindex: 0, role: "img",
        "aria-label": `Map of ${one.name}, ${kind}; the arrow keys move a point whose values are told`,
      })}));
      const words = {network: "network", reference: "reference",
                     error: `error, network ${MINUS} reference`};
      panels.replaceChildren(...maps.map(map => make("figure", {},
        make("figcaption", {}, `${one.name}, ${words[map.kind]}`), map.place)));
      if (one.scale.note) panels.firstChild.firstChild.append(
        " ", make("span", {class: "note"}, `(${one.scale.note})`));
      cuts = (one.error ? ["values", "error"] : ["values"]).map(
        kind => ({kind, place: make("div", {class: "plot"})}));
      cutPlots.replaceChildren(...cuts.map(cut => make("figure", {},
        make("figcaption", {}, cut.kind === "error" ? `error, network ${MINUS} reference` : one.label),
        cut.place)));
      show();
      link(maps.map(map => map.place), "xy");
      link(cuts.map(cut => cut.place), "x");
      for (const map of maps) {
        map.place.on("plotly_hover", event => {
          const [row, column] = event.points[0].pointIndex;
          tell(row, column, event.event);
        });
        map.place.on("plotly_unhover", () => { tip.hidden = true; });
        map.place.on("plotly_click", event => {
          const [row, column] = event.points[0].pointIndex;
          place = [row, column];
          state.cut = alongTime ? column : row;
          const input = cutControls.querySelector("input");
          input.value = state.cut;
          input.dispatchEvent(new Event("input"));
        });
        map.place.addEventListener("keydown", event => {
          const moves = {ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1]};
          const move = moves[event.key];
          if (!move) return;
          event.preventDefault();
          const by = event.shiftKey ? 10 : 1;
          place = place || [Math.floor(rows / 2), Math.floor(columns / 2)];
          place = [clamp(place[0] + by * move[0], 0, rows - 1),
                   clamp(place[1] + by * move[1], 0, columns - 1)];
          tell(...place, null);
          for (const each of maps) Plotly.relayout(each.place, {shapes: shapes()});
        });
      }
    }

    function valueAt(kind, index) {
      if (kind === "network") return one.values[index];
      return kind === "error" ? one.error[index] : one.values[index] - one.error[index];
    }

    function rowsOf(kind) {
      const start = frameOf(group, state) * size;
      const made = ys.map((_, row) => Float64Array.from(
        xs, (_, column) => valueAt(kind, start + row * columns + column)));
      return one.rims ? carriedOver(made) : made;
    }

    function rim() {
      if (!one.rims) return null;
      const index = one.rims.over.reduce(
        (whole, k) => whole * group.sliders[k].count + state.places[k], 0);
      return one.rims.curves[index].map(
        ([x, y]) => x.map((value, i) => `${i ? "L" : "M"}${value},${y[i]}`).join("") + "Z").join("");
    }

    function shapes() {
      const found = [], outline = rim();
      const line = (from, to, look) => ({type: "line", x0: from[0], y0: from[1], x1: to[0], y1: to[1],
                                         line: look});
      if (outline !== null) {
        // What is drawn beyond the rim is covered, so that the rim is as sharp as it is known.
        const dx = across.high - across.low, dy = up.high - up.low;
        const [x0, x1, y0, y1] = [across.low - dx, across.high + dx, up.low - dy, up.high + dy];
        found.push(
          {type: "path", path: `M${x0},${y0}L${x1},${y0}L${x1},${y1}L${x0},${y1}Z${outline}`,
           fillcolor: "#ffffff", fillrule: "evenodd", line: {width: 0}, layer: "above"});
        if (outline) found.push(
          {type: "path", path: outline, fillcolor: "rgba(0,0,0,0)", layer: "above",
           line: {color: FAINT, width: 1}});
      }
      const cut = at(cutAxis, state.cut), look = {color: INK, width: 1.2, dash: "dash"};
      found.push(alongTime ? line([cut, up.low], [cut, up.high], look)
                           : line([across.low, cut], [across.high, cut], look));
      if (place) {
        const [x, y] = [xs[place[1]], ys[place[0]]], thin = {color: INK, width: 1};
        found.push(line([x, up.low], [x, up.high], thin), line([across.low, y], [across.high, y], thin));
      }
      return found;
    }

    function tell(row, column, pointer) {
      const index = frameOf(group, state) * size + row * columns + column;
      const where = [`${across.name} = ${number(xs[column], 5)}`, `${up.name} = ${number(ys[row], 5)}`,
                     ...whereElse(group, state)].join(", ");
      const inside = !Number.isNaN(one.values[index]);
      const values = inside
        ? maps.map(map => `${map.kind} ${number(valueAt(map.kind, index))}`)
        : ["outside of the domain"];
      probe.textContent = `${one.name} at ${where}: ${values.join(", ")}`;
      tip.hidden = !pointer;
      if (!pointer) return;
      tip.textContent = [where, ...values].join("\n");
      const {clientX, clientY} = pointer;
      tip.style.left = `${clamp(clientX + 16, 0, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${clamp(clientY + 18, 0, innerHeight - tip.offsetHeight - 8)}px`;
    }

    function show() {
      const start = frameOf(group, state) * size, marks = shapes();
      const heightOf = width => {
        const room = Math.max(width - 54 - 90, 100);
        const share = group.equal ? (up.high - up.low) / (across.high - across.low) : 0.82;
        return clamp(room * share, 110, 620) + 50;
      };
      for (const map of maps) {
        const isError = map.kind === "error", scale = isError ? one.error_scale : one.scale;
        const traces = [{
          type: "heatmap", x: xs, y: ys, z: rowsOf(map.kind), zmin: scale.low, zmax: scale.high,
          zsmooth: "best", hoverinfo: "none",
          colorscale: colours[isError ? "diverging" : scale.colours],
          colorbar: {thickness: 11, outlinewidth: 0, xpad: 6, ypad: 0, tickfont: {size: 11},
                     exponentformat: "e", minexponent: 3, nticks: 6},
        }];
        if (one.measured && map.kind === "network") traces.push({
          type: "scatter", mode: "markers", x: one.measured[0], y: one.measured[1], name: "data",
          hoverinfo: "skip", cliponaxis: false, marker: {symbol: "circle-open", size: 6, color: INK},
        });
        const equal = group.equal ? {scaleanchor: "x", constrain: "domain"} : {};
        draw(map.place, traces, {
          uirevision: "kept", shapes: marks, margin: {l: 54, r: 90, t: 10, b: 40},
          xaxis: axis(across.label, {range: [across.low, across.high], constrain: "domain",
                                    showgrid: false}),
          yaxis: axis(up.label, {range: [up.low, up.high], showgrid: false, ...equal}),
        }, heightOf);
      }
      const indices = Array.from({length: alongAxis.count}, (_, i) =>
        start + (alongTime ? i * columns + state.cut : state.cut * columns + i));
      const along = grid(alongAxis), values = kind => indices.map(i => valueAt(kind, i));
      for (const cut of cuts) {
        const isError = cut.kind === "error";
        const traces = isError
          ? [line(along, values("error"), "error", RED, "solid")]
          : [line(along, values("network"), "network", BLUE, "solid"),
             ...(one.error ? [line(along, values("reference"), "reference", INK, "dash")] : [])];
        const [low, high] = isError ? [one.error_scale.low, one.error_scale.high] : one.range;
        const space = 0.06 * (high - low);
        draw(cut.place, traces, {
          uirevision: "kept", hovermode: "x unified", showlegend: !isError && !!one.error,
          legend: {orientation: "h", x: 1, xanchor: "right", y: 1, yanchor: "bottom"},
          margin: {l: 70, r: 12, t: isError ? 8 : 26, b: 40},
          xaxis: axis(alongAxis.label, {range: [alongAxis.low, alongAxis.high]}),
          yaxis: axis(isError ? "error" : one.label, {
            range: [low - space, high + space]}),
        }, () => isError ? 170 : 250);
      }
    }
  }

  /* Values carried over the rim by two rings of points: the cells that it cuts need a colour. */
  function carriedOver(rows) {
    for (let ring = 0; ring < 2; ring++) {
      const known = rows.map(row => Float64Array.from(row));
      rows.forEach((row, i) => row.forEach((value, j) => {
        if (!Number.isNaN(value)) return;
        let sum = 0, count = 0;
        for (let a = i - 1; a <= i + 1; a++) for (let b = j - 1; b <= j + 1; b++) {
          const near = known[a] && known[a][b];
          if (Number.isFinite(near)) { sum += near; count++; }
        }
        if (count) row[j] = sum / count;
      }));
    }
    return rows;
  }

  const line = (x, y, name, colour, dash) => ({
    type: "scatter", mode: "lines", x, y, name: plain(name), line: {color: colour, dash, width: 2},
    hovertemplate: "%{y:.6~g}",
  });

  /* All unknowns of one coordinate over each other, and their errors below. */
  function drawLines(box, group, _, state) {
    const [along] = group.axes, xs = grid(along), compared = group.unknowns.some(one => one.error);
    const update = once(show), plotsHere = make("div", {class: "lines"});
    const controls = make("div", {class: "controls"}, ...slidersOf(group, state, update));
    const kinds = compared ? ["values", "error"] : ["values"];
    const places = kinds.map(kind => make("div", {class: "plot"}));
    const names = group.unknowns.map(one => one.label).join(", ");
    plotsHere.append(...kinds.map((kind, i) => make("figure", {}, make("figcaption", {},
      kind === "error" ? `error, network ${MINUS} reference` : names), places[i])));
    box.append(controls, plotsHere);
    const rangeOf = (one, isError) =>
      !isError ? one.range : one.error ? [one.error_scale.low, one.error_scale.high] : [0, 0];
    const ends = isError => group.unknowns.map(one => rangeOf(one, isError)).reduce(
      (a, b) => [Math.min(a[0], b[0]), Math.max(a[1], b[1])]);
    show();
    link(places, "x");

    function show() {
      const start = frameOf(group, state) * along.count;
      places.forEach((place, kind) => {
        const traces = [];
        group.unknowns.forEach((one, i) => {
          const cut = array => Array.from(array.subarray(start, start + along.count));
          const colour = LINES[i % LINES.length], values = cut(one.values);
          if (kind === 1) {
            if (one.error) traces.push(line(xs, cut(one.error), one.name, colour, "solid"));
            return;
          }
          traces.push(line(xs, values, one.name, colour, "solid"));
          if (!one.error) return;
          const error = cut(one.error);
          traces.push(line(xs, values.map((value, j) => value - error[j]),
                           `${one.name}, reference`, INK, "dot"));
        });
        const [low, high] = ends(kind === 1);
        const space = 0.06 * (high - low);
        draw(place, traces, {
          uirevision: "kept", hovermode: "x unified", showlegend: traces.length > 1,
          legend: {orientation: "h", x: 1, xanchor: "right", y: 1.02, yanchor: "bottom"},
          margin: {l: 70, r: 12, t: 34, b: 40},
          xaxis: axis(along.label, {range: [along.low, along.high]}),
          yaxis: axis("", {range: [low - space, high + space]}),
        }, () => kind === 1 ? 230 : 360);
      });
    }
  }

  // ---- curves of training

  const how = {seconds: 0, log: true};

  function drawCurves(data) {
    const box = byId("curve-plots");
    box.replaceChildren();
    if (!data.panels.length) return;
    const rebuild = () => drawCurves(data);
    const log = make("input", {type: "checkbox", checked: how.log});
    log.addEventListener("change", () => { how.log = log.checked; rebuild(); });
    box.append(make("div", {class: "controls"},
      choice("Over", ["steps", "seconds"], how.seconds, i => { how.seconds = i; rebuild(); }),
      make("label", {}, log, "logarithmic")));
    const xs = how.seconds ? data.seconds : data.steps, holder = make("div", {class: "lines"});
    const range = [xs[0], xs.at(-1)], title = how.seconds ? "seconds" : "step";
    box.append(holder);
    const stageLines = data.stages.filter(([i]) => i > 0).map(([i]) => ({
      type: "line", xref: "x", yref: "paper", x0: xs[i], x1: xs[i], y0: 0, y1: 1,
      line: {color: FAINT, width: 1, dash: "dot"}}));
    const draws = data.draws.map(i => ({
      type: "line", xref: "x", yref: "paper", x0: xs[i], x1: xs[i], y0: 0, y1: 0.035,
      line: {color: INK, width: 1}}));
    const names = [];
    let free = -Infinity;
    for (const [i, name] of data.stages) {
      if (xs[i] < free) continue;  // the names of short stages would run into each other
      free = xs[i] + 0.013 * (name.length + 2) * (range[1] - range[0]);
      names.push({x: xs[i], xref: "x", y: 1, yref: "paper", yanchor: "bottom", xanchor: "left",
                  text: plain(name), showarrow: false, font: {size: 11, color: "#5a6068"}});
    }
    const places = data.panels.map((panel, p) => {
      const place = make("div", {class: "plot"}), isLog = panel.log && how.log;
      const told = p === 0 && draws.length ? [" ", make("span", {class: "note"},
        "(ticks at the bottom: the points were drawn anew)")] : [];
      holder.append(make("figure", {}, make("figcaption", {}, panel.title, ...told), place));
      const traces = panel.series.map(one => ({
        type: "scatter", mode: one.values.filter(v => v !== null).length > 1 ? "lines" : "markers",
        x: xs, y: one.values, connectgaps: false, hovertemplate: "%{y:.4~g}",
        name: plain(one.name.length > 26 ? `${one.name.slice(0, 15)}\u2026${one.name.slice(-9)}` : one.name),
        line: {color: one.colour, dash: one.dash, width: one.width}, marker: {color: one.colour},
      }));
      const shapes = [...stageLines, ...(p === 0 ? draws : [])];
      if (panel.band) shapes.push({
        type: "rect", xref: "paper", x0: 0, x1: 1, y0: panel.band[0], y1: panel.band[1],
        fillcolor: BLUE, opacity: 0.13, line: {width: 0}, layer: "below"});
      const wide = box.clientWidth > 620, many = traces.length > 1;
      draw(place, traces, {
        hovermode: "x unified", showlegend: many, shapes,
        annotations: p === 0 ? names : [],
        margin: {l: 70, r: wide ? (many ? 190 : 190) : 12, t: p === 0 ? 22 : 8, b: 40},
        legend: wide ? {x: 1.01, y: 1, font: {size: 11}}
                     : {orientation: "h", x: 0, y: -0.28, yanchor: "top", font: {size: 11}},
        xaxis: axis(title, range[1] > range[0] ? {range} : {}),
        yaxis: axis("", isLog ? {type: "log", dtick: decades(panel), exponentformat: "power",
                                 tickfont: {size: 11}} : {}),
      }, () => (p === 0 ? 330 : 200) + (wide || !many ? 0 : 16 * traces.length));
      return place;
    });
    link(places, "x");
  }

  /* How many powers of ten lie between two ticks of a logarithmic axis; of a short one as it comes. */
  function decades(panel) {
    const values = panel.series.flatMap(one => one.values).filter(value => value > 0);
    const span = Math.log10(values.reduce((a, b) => Math.max(a, b)) / values.reduce((a, b) => Math.min(a, b)));
    return span < 1.5 ? undefined : Math.ceil(span / 7);
  }

  // ---- following a run that is going on

  async function follow() {
    const bar = byId("following"), had = {};
    let standing = bar.textContent, changed = "";
    for (;;) {
      try {
        for (const part of ["progress", "fields"]) {
          const answer = await fetch(`/${part}.json`, {
            cache: "no-store", headers: had[part] ? {"If-None-Match": had[part]} : {}});
          if (answer.status === 304) continue;
          if (!answer.ok) throw new Error(answer.status);
          const data = await answer.json();
          had[part] = answer.headers.get("ETag");
          if (part === "fields") drawFields(data);
          else {
            showTexts(data.texts);
            standing = data.texts.standing;  // words without markup
            drawCurves(data.curves);
          }
          hideEmpty();
          changed = new Date().toLocaleTimeString();
        }
        bar.className = "";
        bar.textContent = `${standing}; last change ${changed}`;
      } catch (error) {
        bar.className = "lost";
        bar.textContent = "Nothing answers any more: python -m pinn watch has ended. " +
                          "This page stays as it is.";
      }
      await new Promise(done => setTimeout(done, 1000));
    }
  }

  function showTexts(texts) {
    for (const [id, markup] of Object.entries(texts)) {
      const place = byId(id);
      // Markup of this machine's own server, which escapes all texts in it; no script in it runs.
      if (place && place.dataset.had !== markup) {
        place.innerHTML = markup;
        place.dataset.had = markup;
      }
    }
    document.title = byId("title").textContent;
  }

  function hideEmpty() {
    for (const section of document.querySelectorAll("main > section")) {
      const empty = ![...section.children].some(one => one.tagName !== "H2" && one.childNodes.length);
      section.hidden = empty;
      document.querySelector(`nav a[href="#${section.id}"]`).parentNode.hidden = empty;
    }
  }

  // ---- begin

  document.body.append(tip);
  const data = JSON.parse(byId("data").textContent);
  if (data) {
    drawFields(data.fields);
    drawCurves(data.curves);
    hideEmpty();
  } else {
    for (const id of ["field-plots", "curve-plots"]) byId(id).replaceChildren();
    hideEmpty();
    follow();
  }
  addEventListener("resize", once(() => fit()));
  // On paper: the width of a page, maps two in a row, and nothing folded away.
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = true;
    fit(place => place.closest(".panels") && !place.closest(".single") ? 330 : 670);
  });
  addEventListener("afterprint", () => fit());
  document.documentElement.dataset.ready = "yes";
})();
