"use strict";
// The page is whole without this script. It adds reading of values, zoom, series on and off, other
// axes, and buttons that copy. A picture is drawn anew from its values only where somebody zooms or
// changes an axis; README.md of candor-chart describes the values and the attributes.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const spoken = document.getElementById("spoken");

  // ---- Numbers, by the rules of candor_record::fmt ----

  const COUNTS = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]];
  const DECIMAL = [" B", " kB", " MB", " GB", " TB", " PB"].map((name, n) => [1000 ** n, name]);
  const BINARY = [" B", " KiB", " MiB", " GiB", " TiB", " PiB"].map((name, n) => [1024 ** n, name]);
  const TIMES = [[1, " ns"], [1e3, " µs"], [1e6, " ms"], [1e9, " s"]];
  const ELAPSED = [[0, 1e3, "µs"], [5e6, 1e6, "ms"], [2e9, 1e9, "s"], [18e10, 6e10, "min"],
    [108e11, 36e11, "h"]];

  const trimmed = (text) => text.includes(".") ? text.replace(/\.?0+$/, "") : text;

  // Halves go to the even digit there; toFixed has them go up. Halves of hundredths are eighths.
  function fixed(value, decimals) {
    const text = value.toFixed(decimals);
    const isHalf = value * 8 % 1 === 0 && value.toFixed(decimals + 1).endsWith("5");
    return isHalf ? text.replace(/[13579]$/, (digit) => digit - 1) : text;
  }

  function number(value) {
    if (!Number.isFinite(value)) return "unknown";
    const size = Math.abs(value);
    const text = fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
    if (Number(text) === 0) return value === 0 ? "0" : "<0.01";
    return trimmed(text);
  }

  const largest = (units, value) =>
    units.findLast(([size]) => Math.abs(value) / size >= 0.9995) || units[0];

  function scaled(value, units) {
    const [size, name] = largest(units, value);
    return number(value / size) + name;
  }

  const count = (value) => Math.abs(value) < 1e4 ? number(value) : scaled(value, COUNTS);

  function percent(share) {
    const value = share * 100;
    if (!Number.isFinite(value)) return "an unknown share";
    if (value > 0 && value < 0.1) return "less than 0.1 %";
    if (value > 99.9 && value < 100) return "more than 99.9 %";
    const short = Math.abs(value) < 10 || (value > 99 && value < 100);
    return `${short ? fixed(value, 1).replace(/\.0$/, "") : fixed(value, 0)} %`;
  }

  // A value with its unit.
  function short(value, unit) {
    if (value === null || !Number.isFinite(value)) return "unknown";
    switch (unit) {
      case "bytes": return scaled(value, BINARY).replace(/ B$/, " bytes");
      case "bytes_per_s": return `${scaled(value, DECIMAL)}/s`;
      case "ops_per_s": case "count": return count(value);
      case "ns": return scaled(value, TIMES);
      case "share": return percent(value);
      case "celsius": return `${number(value)} °C`;
      default: return number(value);
    }
  }

  // A value of an axis in a sentence.
  function told(axis, value) {
    switch (axis.scale) {
      case "category": return axis.names[Math.round(value)] || "";
      case "nines": return `p${value}`;
      case "elapsed": return short(value, "ns");
      case "date": return new Date(value * 1000).toISOString().slice(0, 16).replace("T", " ");
      default: return short(value, axis.unit);
    }
  }

  // ---- Axes ----

  function transformed(scale, value) {
    if (value === null) return NaN;
    if (scale === "log") return value > 0 ? Math.log10(value) : NaN;
    if (scale === "times") return Math.log1p(value);
    if (scale === "nines") return value < 100 ? -Math.log10(1 - value / 100) : NaN;
    return value;
  }

  function restored(scale, value) {
    if (scale === "log") return 10 ** value;
    if (scale === "times") return Math.expm1(value);
    if (scale === "nines") return 100 * (1 - 10 ** -value);
    return value;
  }

  class Axis {
    // `low` and `high` are values, `from` and `to` their pixels.
    constructor(scale, low, high, from, to) {
      Object.assign(this, { scale, low, high, from, to });
      this.a = transformed(scale, low);
      this.b = transformed(scale, high);
    }
    place(value) {
      return this.from + (transformed(this.scale, value) - this.a) / (this.b - this.a)
        * (this.to - this.from);
    }
    value(pixel) {
      const share = (pixel - this.from) / (this.to - this.from);
      return restored(this.scale, this.a + share * (this.b - this.a));
    }
    within(low, high) {
      return new Axis(this.scale, low, high, this.from, this.to);
    }
  }

  function niceStep(length, sixty) {
    if (!(length > 0)) return 1;
    if (sixty && length > 0.5) {
      const step = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180].find((of) => of >= length);
      if (step) return step;
    }
    const power = 10 ** Math.floor(Math.log10(length));
    return ([1, 2, 2.5, 5].find((of) => of * power >= length * (1 - 1e-9)) || 10) * power;
  }

  function unitOf(axis, greatest) {
    if (axis.scale === "elapsed") {
      const [, size, name] = ELAPSED.findLast(([from]) => greatest >= from);
      return { size, name, suffix: "" };
    }
    const of = (units, after) => {
      const [size, name] = largest(units, greatest);
      return { size, name: name.trim() + after, suffix: "" };
    };
    switch (axis.unit) {
      case "bytes": return of(BINARY, "");
      case "bytes_per_s": return of(DECIMAL, "/s");
      case "ns": return of(TIMES, "");
      case "ops_per_s": case "count": {
        const [size, suffix] = largest(COUNTS, greatest < 1e4 ? 1 : greatest);
        return { size, name: "", suffix };
      }
      case "share": return { size: 0.01, name: "%", suffix: "" };
      default: return { size: 1, name: "", suffix: "" };
    }
  }

  // Values with ticks, and their texts; the unit is the one of the whole picture.
  function ticks(axis, placed, greatest, most) {
    const { low, high } = placed;
    if (axis.scale === "category") {
      return axis.names.map((name, at) => [at, name]).filter(([at]) => at >= low && at <= high);
    }
    if (axis.ticks) return axis.ticks.filter(([at]) => at >= low && at <= high);
    if (placed.scale === "nines") {
      const all = ["0", "50", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999"];
      return all.map((text) => [Number(text), text]).filter(([at]) => at >= low && at <= high);
    }
    if (placed.scale === "log") {
      const all = [];
      for (let power = Math.floor(placed.a); power <= Math.ceil(placed.b); power++) {
        for (const of of [1, 2, 5]) all.push([of, of * 10 ** power]);
      }
      const within = all.filter(([, at]) => at >= low * 0.999 && at <= high * 1.001);
      const tens = within.filter(([of]) => of === 1);
      const shown = within.length <= most || tens.length < 2 ? within : tens;
      return shown.map(([, at]) => [at, short(at, axis.unit)]);
    }
    const unit = unitOf(axis, greatest);
    const sixty = axis.scale === "elapsed" && ["s", "min"].includes(unit.name);
    const step = niceStep((high - low) / unit.size / most, sixty);
    const decimals = [0, 1, 2, 3, 4, 5, 6].find((d) => {
      const moved = step * 10 ** d;
      return Math.abs(moved - Math.round(moved)) < 1e-6 * Math.max(1, moved);
    }) ?? 6;
    const list = [];
    for (let n = Math.ceil(low / unit.size / step - 1e-6);
      n * step <= high / unit.size + step * 1e-6; n++) {
      const text = (n * step).toFixed(decimals);
      list.push([n * step * unit.size, Number(text) === 0 ? "0" : text + unit.suffix]);
    }
    return list;
  }

  // ---- Drawing ----

  function add(parent, tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  const round = (pixel) => Math.round(pixel * 10) / 10;

  // A path through places; a place that is no number is a gap.
  function way(places) {
    let d = "", pen = false;
    for (const [x, y] of places) {
      const is = Number.isFinite(x) && Number.isFinite(y);
      if (is) d += `${pen ? "L" : "M"}${round(x)} ${round(y)}`;
      pen = is;
    }
    return d;
  }

  function stepped(points) {
    return points.flatMap(([x, y], n) => n + 1 < points.length ? [[x, y], [points[n + 1][0], y]]
      : [[x, y]]);
  }

  function drawSeries(group, series, x, y) {
    const { points, shape } = series;
    const slot = series.slot % 8;
    const at = ([px, py]) => [x.place(px), y.place(py)];
    const line = (places, more) => add(group, "path", { class: `l${slot}`, d: way(places),
      "stroke-width": places.length > 400 ? 1.2 : 1.8, "stroke-linejoin": "round", ...more });
    const face = (d, opacity) =>
      add(group, "path", { class: `f${slot}`, d, "fill-opacity": opacity });
    if (shape === "line") line(points.map(at));
    if (shape === "dotted") line(points.map(at), { "stroke-dasharray": "2 3" });
    if (shape === "step" || shape === "area") {
      const places = stepped(points).map(at).filter((place) => place.every(Number.isFinite));
      if (shape === "area" && places.length > 1) {
        const base = y.scale === "log" ? y.from : y.place(Math.max(0, y.low));
        face(`${way(places)}L${round(places.at(-1)[0])} ${round(base)}L${round(places[0][0])} `
          + `${round(base)}Z`, 0.3);
      }
      line(stepped(points).map(at));
    }
    if (shape === "dots" || (shape !== "dotted" && points.length <= 40)) {
      if (["line", "step", "dots"].includes(shape)) {
        for (const [cx, cy] of points.map(at).filter((place) => place.every(Number.isFinite))) {
          add(group, "circle", { class: `f${slot}`, cx: round(cx), cy: round(cy), r: 3 });
        }
      }
    }
    if (shape === "band") {
      const seen = points.filter(([px, low, high]) =>
        [x.place(px), y.place(low), y.place(high)].every(Number.isFinite));
      const outline = [...seen.map(([px, , high]) => at([px, high])),
        ...seen.toReversed().map(([px, low]) => at([px, low]))];
      if (seen.length > 1) face(`${way(outline)}Z`, 0.2);
    }
    if (shape === "whiskers") {
      for (const [px, low, high] of points) {
        const [cx, top] = at([px, high]);
        const [, bottom] = at([px, low]);
        line([[cx - 4, top], [cx + 4, top], [cx, top], [cx, bottom], [cx - 4, bottom],
          [cx + 4, bottom]]);
      }
    }
  }

  // ---- One picture ----

  class Picture {
    constructor(plot, svg, data) {
      Object.assign(this, { plot, svg, data, isLog: false, hidden: new Set(), cursor: null });
      this.x = this.axisOf(svg.dataset.x);
      // A series without a name belongs to the one of its panel that has its colour.
      for (const { series } of data.panels) {
        for (const of of series) {
          of.isPart = of.name === "";
          of.name ||= series.find((other) => other.slot === of.slot && other.name)?.name ?? "";
        }
      }
      this.panels = [...svg.querySelectorAll("[data-panel]")].map((group) => {
        const [left, top, width, height] = group.dataset.plot.split(" ").map(Number);
        const model = data.panels[Number(group.dataset.panel)];
        const y = this.axisOf(group.dataset.y);
        y.from = top + height;
        y.to = top;
        return { group, model, left, top, right: left + width, bottom: top + height,
          y: new Axis(y.scale, y.low, y.high, y.from, y.to) };
      });
      const [first] = this.panels;
      this.x = new Axis(this.x.scale, this.x.low, this.x.high, first.left, first.right);
      this.whole = this.x;
      this.places = this.allPlaces();
      this.canZoom = data.x.scale !== "category"
        && data.panels.every((panel) => panel.series.every((of) => of.shape !== "cells"));
      this.controls();
      this.reading();
    }

    axisOf(text) {
      const [low, high, scale] = text.split(" ");
      return { low: Number(low), high: Number(high), scale };
    }

    allPlaces() {
      const all = new Set();
      for (const { series } of this.data.panels) {
        for (const of of series) {
          for (const point of of.points) {
            if (of.shape === "cells") all.add((point[0] + point[1]) / 2);
            else if (of.shape !== "bars") all.add(point[0]);
          }
        }
      }
      return [...all].sort((a, b) => a - b);
    }

    // ---- Buttons ----

    controls() {
      const bar = document.createElement("div");
      bar.className = "controls";
      const button = (into, name, text, title, act) => {
        const made = document.createElement("button");
        made.type = "button";
        made.className = name;
        made.textContent = text;
        made.title = title;
        made.addEventListener("click", () => act(made));
        into.append(made);
        return made;
      };
      const names = new Set(this.data.panels.flatMap((panel) => panel.series.map((of) => of.name)));
      names.delete("");
      if (names.size > 1) {
        const menu = document.createElement("details");
        menu.className = "menu";
        const summary = document.createElement("summary");
        summary.textContent = "Series";
        menu.append(summary);
        for (const name of names) {
          const made = button(menu, "series", name, `Show or hide ${name}`, () => {
            this.hidden.has(name) ? this.hidden.delete(name) : this.hidden.add(name);
            made.setAttribute("aria-pressed", String(!this.hidden.has(name)));
            this.showSeries();
          });
          made.setAttribute("aria-pressed", "true");
        }
        bar.append(menu);
      }
      if (this.canZoom) {
        const scales = this.data.panels.filter((panel) => ["linear", "spread", "log"].includes(
          panel.y.scale) && panel.y.unit !== "share");
        if (scales.length > 0) {
          const other = scales.every((panel) => panel.y.scale === "log") ? "Linear" : "Log";
          const change = "Change the vertical axis";
          const made = button(bar, "log", `${other} axis`, change, () => {
            this.isLog = !this.isLog;
            made.setAttribute("aria-pressed", String(this.isLog));
            this.draw();
          });
          made.setAttribute("aria-pressed", "false");
        }
        button(bar, "in", "+", "Zoom in (or drag over the picture)", () => this.zoom(0.5));
        button(bar, "out", "\u2212", "Zoom out", () => this.zoom(2));
        button(bar, "all", "Whole", "Show the whole picture", () => this.show(this.whole));
      }
      if (bar.childElementCount > 0) this.plot.before(bar);
    }

    showSeries() {
      for (const { group, model } of this.panels) {
        model.series.forEach((of, n) => {
          const drawn = group.querySelector(`[data-series="${group.dataset.panel}.${n}"]`);
          if (drawn) drawn.style.display = this.hidden.has(of.name) ? "none" : "";
        });
      }
    }

    // ---- Zoom ----

    zoom(factor) {
      const centre = this.x.value((this.x.from + this.x.to) / 2);
      const middle = transformed(this.x.scale, this.cursor ?? centre);
      const half = (this.x.b - this.x.a) * factor / 2;
      this.show(this.x.within(restored(this.x.scale, middle - half),
        restored(this.x.scale, middle + half)));
    }

    // Moves the window into the picture; below a thousandth of it there is nothing to see.
    show(window) {
      const { whole } = this;
      const all = whole.b - whole.a;
      const length = Math.min(Math.max(window.b - window.a, all / 1000), all);
      const start = Math.min(Math.max(window.a, whole.a), whole.b - length);
      this.x = this.x.within(restored(whole.scale, start), restored(whole.scale, start + length));
      if (length >= all) this.x = whole;
      this.draw();
      this.say(`From ${told(this.data.x, this.x.low)} to ${told(this.data.x, this.x.high)}`);
    }

    // Draws the panels anew; titles, legends and the verdict stay.
    draw() {
      this.svg.classList.toggle("zoomed", this.x !== this.whole);
      for (const panel of this.panels) this.drawPanel(panel);
      this.drawX();
      this.showSeries();
      this.hover(null);
    }

    yAxis({ model, y }) {
      if (!this.isLog || model.y.unit === "share") return y;
      if (y.scale === "log") return new Axis("linear", 0, y.high, y.from, y.to);
      if (!["linear", "spread"].includes(y.scale)) return y;
      const values = model.series.flatMap((of) => of.points.flatMap((point) => point.slice(1)))
        .filter((value) => value > 0);
      if (values.length === 0) return y;
      const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
      return new Axis("log", low, Math.max(y.high, low * 10), y.from, y.to);
    }

    drawPanel(panel) {
      const { group, model, left, right, top, bottom } = panel;
      const marks = [...group.querySelectorAll(".caution")];
      group.replaceChildren();
      const y = this.yAxis(panel);
      panel.shown = y;
      const clip = `${this.svg.id}-clip-${group.dataset.panel}`;
      const cut = add(group, "clipPath", { id: clip });
      add(cut, "rect", { x: left, y: top - 1, width: right - left, height: bottom - top + 2 });
      const inside = add(group, "g", { "clip-path": `url(#${clip})` });
      const line = (d, name, more) => add(inside, "path", { class: name, d, ...more });
      const ranges = this.data.marks.filter((mark) => mark.until !== null);
      ranges.filter((_, n) => n % 2 === 0).forEach((mark) => {
        const [from, to] = [mark.at, mark.until].map((at) => this.x.place(at));
        add(inside, "rect", { class: "shade", x: round(from), y: top, width: round(to - from),
          height: bottom - top });
      });
      for (const [value] of this.xTicks()) {
        const at = round(this.x.place(value));
        line(`M${at} ${top}V${bottom}`, "grid");
      }
      const most = Math.max(2, (bottom - top) / 42);
      for (const [value, text] of ticks(model.y, y, panel.y.high, most)) {
        const at = round(y.place(value));
        line(`M${left} ${at}H${right}`, "grid");
        add(group, "text", { class: "faint", x: left - 8, y: at + 4, "text-anchor": "end" }, text);
      }
      group.append(...marks);
      for (const mark of this.data.marks.filter((of) => of.until === null)) {
        const at = round(this.x.place(mark.at));
        line(`M${at} ${top}V${bottom}`, "mark-line", { "stroke-dasharray": "4 3" });
      }
      model.series.forEach((of, n) => {
        const drawn = add(inside, "g", { "data-series": `${group.dataset.panel}.${n}` });
        drawSeries(drawn, of, this.x, y);
      });
      for (const level of model.levels) {
        const at = round(y.place(level.value));
        if (!(at >= top && at <= bottom)) continue;
        line(`M${left} ${at}H${right}`, "level-line", { "stroke-dasharray": "5 4" });
        const above = at - 5 < top + 8 ? at + 13 : at - 5;
        add(group, "text", { class: "ink halo", x: right - 4, y: above, "text-anchor": "end" },
          `${level.label} ${short(level.value, model.y.unit)}`);
      }
      add(group, "path", { class: "axis", d: `M${left} ${bottom}H${right}` });
    }

    xTicks() {
      const most = Math.max(2, (this.x.to - this.x.from) / 90);
      return ticks(this.data.x, this.x, this.whole.high, most);
    }

    // Ticks below the last panel, and names of marks above the first.
    drawX() {
      const [first] = this.panels;
      const last = this.panels.at(-1);
      for (const old of [...this.svg.children]) {
        const y = Number(old.getAttribute("y"));
        const isTick = old.classList.contains("axis")
          || (old.classList.contains("faint") && y > last.bottom && y < last.bottom + 24);
        const isName = (old.classList.contains("mark") || old.classList.contains("faint"))
          && y > first.top - 70 && y < first.top;
        if (isTick || isName || old.classList.contains("ticks")) old.remove();
      }
      const group = add(this.svg, "g", { class: "ticks" });
      for (const [value, text] of this.xTicks()) {
        const at = round(this.x.place(value));
        add(group, "path", { class: "axis", d: `M${at} ${last.bottom}v4` });
        const below = { x: at, y: last.bottom + 18, "text-anchor": "middle" };
        add(group, "text", { class: "faint", ...below }, text);
      }
      let free = 0;
      for (const mark of this.data.marks) {
        const at = Math.max(this.x.place(mark.at), first.left);
        const end = mark.until === null ? this.x.to : this.x.place(mark.until);
        if (at < free || at > this.x.to || end < first.left + 30) continue;
        free = at + mark.label.length * 7 + 8;
        add(group, "text", { class: mark.until === null ? "mark" : "faint", x: round(at + 4),
          y: first.top - 5 }, mark.label);
      }
    }

    // ---- Reading values ----

    reading() {
      const { plot, svg } = this;
      this.tip = document.createElement("div");
      this.tip.className = "tip";
      this.tip.hidden = true;
      plot.append(this.tip);
      plot.tabIndex = 0;
      plot.setAttribute("role", "group");
      plot.setAttribute("aria-label", `${this.data.title}: arrows read values`
        + (this.canZoom ? ", + and - zoom, Home shows the whole" : ""));
      let start = null;
      svg.addEventListener("pointermove", (event) => {
        const [x, y] = this.pixel(event);
        this.hover(this.nearest(x), y);
        if (start !== null) this.select(start, x);
      });
      svg.addEventListener("pointerleave", () => this.hover(null));
      svg.addEventListener("pointerdown", (event) => {
        const [x, y] = this.pixel(event);
        const isInside = this.panels.some((panel) => y >= panel.top && y <= panel.bottom);
        if (!this.canZoom || event.button !== 0 || !isInside) return;
        start = x;
        if (event.pointerType === "mouse") svg.setPointerCapture(event.pointerId);
      });
      svg.addEventListener("pointerup", (event) => {
        const from = start;
        start = null;
        this.select(null);
        if (from === null) return;
        const [low, high] = [from, this.pixel(event)[0]].sort((a, b) => a - b);
        if (high - low < 8) return;
        this.show(this.x.within(this.x.value(Math.max(low, this.x.from)),
          this.x.value(Math.min(high, this.x.to))));
      });
      svg.addEventListener("pointercancel", () => { start = null; this.select(null); });
      plot.onkeydown = (event) => this.key(event);
      plot.onblur = () => this.hover(null);
    }

    // The place of an event in units of the picture.
    pixel(event) {
      const box = this.svg.getBoundingClientRect();
      const scale = this.svg.viewBox.baseVal.width / box.width;
      return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    }

    seen() {
      return this.places.filter((at) => at >= this.x.low && at <= this.x.high
        && Number.isFinite(this.x.place(at)));
    }

    nearest(pixel) {
      let best = null, distance = Infinity;
      for (const at of this.seen()) {
        const far = Math.abs(this.x.place(at) - pixel);
        if (far < distance) [best, distance] = [at, far];
      }
      return best;
    }

    key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const move = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 }[event.key];
      if (move !== undefined) {
        const seen = this.seen();
        const at = this.cursor === null ? (move > 0 ? -1 : seen.length) : seen.indexOf(this.cursor);
        this.hover(seen[Math.min(Math.max(at + move, 0), seen.length - 1)] ?? null);
        this.say(this.words().join("; "));
      } else if ((event.key === "+" || event.key === "=") && this.canZoom) this.zoom(0.5);
      else if (event.key === "-" && this.canZoom) this.zoom(2);
      else if (["Home", "0"].includes(event.key) && this.canZoom) this.show(this.whole);
      else if (event.key === "Escape") this.hover(null);
      else return;
      event.preventDefault();
    }

    // The values at the cursor: the place, then each series; a band tells both of its ends.
    words(y) {
      const lines = [told(this.data.x, this.cursor)];
      for (const panel of this.panels) {
        const { series, y: axis } = panel.model;
        for (const of of series) {
          const isOfBand = !of.isPart && series.some((other) =>
            other.isPart && other.slot === of.slot && other.shape === "band");
          if (this.hidden.has(of.name) || of.shape === "bars" || isOfBand) continue;
          const value = of.shape === "cells" ? this.cell(panel, of, y) : this.value(of, axis);
          if (value !== null) lines.push(`${of.name || axis.label} ${value}`);
        }
      }
      return lines;
    }

    value(of, axis) {
      const holds = ["step", "area"].includes(of.shape);
      const found = of.points.find(([x]) => x === this.cursor)
        ?? (holds ? of.points.findLast(([x]) => x <= this.cursor) : null);
      if (!found || found[1] === null) return null;
      return found.slice(1).map((value) => short(value, axis.unit)).join(" to ");
    }

    cell(panel, of, y) {
      const at = y === undefined ? null : panel.y.value(y);
      if (at === null) return null;
      const found = of.points.find(([from, to, low, high]) =>
        this.cursor >= from && this.cursor <= to && at >= low && at < high);
      return found ? short(found[4], of.key.unit) : null;
    }

    hover(place, y) {
      this.cursor = place;
      this.svg.querySelector(".cursor")?.remove();
      this.tip.hidden = place === null;
      if (place === null) return;
      const x = round(this.x.place(place));
      const group = add(this.svg, "g", { class: "cursor" });
      for (const { top, bottom } of this.panels) {
        add(group, "path", { d: `M${x} ${top}V${bottom}` });
      }
      const [head, ...lines] = this.words(y);
      const strong = document.createElement("b");
      strong.textContent = head;
      this.tip.replaceChildren(strong, ...lines.map((line) => {
        const made = document.createElement("span");
        made.textContent = line;
        return made;
      }));
      const scale = this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
      const isRight = x > (this.x.from + this.x.to) / 2;
      this.tip.style.left = isRight ? "" : `${(x + 12) * scale}px`;
      this.tip.style.right = isRight
        ? `${this.plot.clientWidth - (x - 12) * scale}px` : "";
      this.tip.style.top = `${this.panels[0].top * scale}px`;
    }

    // The range that would be zoomed into.
    select(from, to) {
      this.svg.querySelector(".selected")?.remove();
      if (from === null) return;
      const group = add(this.svg, "g", { class: "selected" });
      const [low, high] = [from, to].sort((a, b) => a - b);
      for (const { top, bottom } of this.panels) {
        const size = { width: round(high - low), height: bottom - top };
        add(group, "rect", { x: round(low), y: top, ...size });
      }
    }

    say(text) {
      spoken.textContent = text;
    }
  }

  // ---- The page ----

  const small = matchMedia("(max-width: 40rem)");

  // Gives life to the drawing of a picture that is shown: on a phone there is another one.
  function enliven(plot) {
    const svg = plot.querySelector(`${small.matches ? ".narrow" : ".wide"} svg[data-x]`);
    plot.parentElement.querySelector(".controls")?.remove();
    plot.querySelector(".tip")?.remove();
    if (svg) new Picture(plot, svg, JSON.parse(plot.querySelector("script").textContent));
  }

  for (const plot of document.querySelectorAll(".picture .plot")) {
    // Pictures below the screen wait until somebody comes near.
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      enliven(plot);
      small.addEventListener("change", () => enliven(plot));
    }, { rootMargin: "600px" });
    watch.observe(plot);
  }

  for (const frame of document.querySelectorAll(".copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const code = frame.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        // Without leave to write there, the text is at least selected for the reader's own keys.
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      spoken.textContent = button.textContent;
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    frame.append(button);
  }

  // Paper has no folds, and a table that is folded away there is lost.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.long)")];
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
})();
