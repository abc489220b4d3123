// Makes every timeline of the page zoomable: wheel or +/- to zoom, drag
// or arrow keys to move, point to read, double click to fit a slice.
"use strict";
for (const box of document.querySelectorAll(".timeline")) {
  startTimeline(box, JSON.parse(box.querySelector(".timeline-data").textContent));
}

function startTimeline(box, data) {
  const rowHeight = 18, rowGap = 3, axisHeight = 22;
  const rows = data.rows.map(readRow);
  const end = data.length;
  const colours = readColours(data.texts);
  const canvas = document.createElement("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "timeline; arrow keys move, plus and minus zoom");
  const controls = document.createElement("div");
  controls.className = "controls";
  const whole = document.createElement("button");
  whole.textContent = "whole step";
  const find = document.createElement("input");
  find.placeholder = "find by name";
  const found = document.createElement("span");
  const hint = document.createElement("small");
  hint.textContent = "wheel or + and - zoom, drag or arrows move, a double click fits a slice";
  controls.append(whole, find, found, hint);
  const tip = document.createElement("div");
  tip.className = "tip";
  box.querySelector(".overview").replaceWith(controls, canvas, tip);

  let nameWidth = 180;  // Less on narrow screens.
  let from = 0, to = end, wanted = null, width = 0, scheduled = false;
  box.timeline = {draw, show, linked: data.linked, view: () => ({from, to, rows: rows.length}), slices: rows.reduce((sum, row) => sum + row.count, 0)};

  function readRow(row) {
    const count = row.slices.length / 4;
    const starts = new Float64Array(count), ends = new Float64Array(count);
    const names = new Uint32Array(count), styles = new Uint32Array(count);
    let last = 0;
    for (let i = 0; i < count; ++i) {
      last += row.slices[4 * i];
      starts[i] = last;
      ends[i] = last + row.slices[4 * i + 1];
      names[i] = row.slices[4 * i + 2];
      styles[i] = row.slices[4 * i + 3];
    }
    return {label: row.group + " " + row.name, count, starts, ends, names, styles};
  }

  // The colour that the style sheet gives each style.
  function readColours(texts) {
    const colours = {}, probe = document.createElement("i");
    box.append(probe);
    for (const styles of new Set(data.rows.flatMap(row => row.slices.filter((_, i) => i % 4 === 3)))) {
      probe.className = "part " + texts[styles];
      colours[styles] = getComputedStyle(probe).backgroundColor;
    }
    probe.remove();
    return colours;
  }

  // The first slice that ends after `time`.
  function firstAfter(row, time) {
    let low = 0, high = row.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.ends[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  function timeText(ns) {
    if (Math.abs(ns) >= 1e6) return (ns / 1e6).toFixed(3) + " ms";
    return (ns / 1e3).toFixed(ns < 1e4 ? 2 : 1) + " us";
  }

  function draw() {
    scheduled = false;
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth || box.clientWidth;
    nameWidth = Math.min(180, width * .3);
    const height = axisHeight + rows.length * (rowHeight + rowGap);
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = height + "px";
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const ink = getComputedStyle(box).color;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    drawAxis(pen, ink, height);
    rows.forEach((row, i) => drawRow(pen, ink, row, axisHeight + i * (rowHeight + rowGap)));
    drawMarks(pen, ink, height);
  }

  function drawAxis(pen, ink, height) {
    const rough = (to - from) / 8, unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find(factor => factor * unit >= rough);
    // One unit for all, with as many decimals as tell ticks apart.
    const inMs = Math.max(Math.abs(from), Math.abs(to)) >= 1e6, scale = inMs ? 1e6 : 1e3;
    const decimals = Math.min(6, Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)));
    let free = nameWidth;  // Up to here labels stand already.
    pen.fillStyle = ink;
    pen.textAlign = "center";
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const x = place(time);
      pen.globalAlpha = .15;
      pen.fillRect(x, axisHeight - 4, 1, height);
      pen.globalAlpha = .8;
      const label = (time / scale + 0).toFixed(decimals) + (inMs ? " ms" : " us");
      const half = pen.measureText(label).width / 2;
      const middle = Math.min(Math.max(x, nameWidth + half), width - half - 1);
      if (middle - half >= free) {
        pen.fillText(label, middle, axisHeight / 2);
        free = middle + half + 6;
      }
    }
    pen.globalAlpha = 1;
  }

  // Where the step begins and ends.
  function drawMarks(pen, ink, height) {
    pen.strokeStyle = ink;
    pen.setLineDash([4, 3]);
    for (const mark of data.marks) {
      if (mark.at < from || mark.at > to) continue;
      const x = Math.min(Math.max(place(mark.at), nameWidth + .5), width - .5);
      pen.beginPath();
      pen.moveTo(x, axisHeight - 6);
      pen.lineTo(x, height);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  // As much of a text as there is room for; what is cut off ends so.
  function fitted(pen, text, room) {
    const wide = pen.measureText(text).width;
    if (wide <= room) return text;
    const kept = Math.floor(text.length * (room - pen.measureText("…").width) / wide);
    return kept < 2 ? "" : text.slice(0, kept) + "…";
  }

  function place(time) {
    return nameWidth + (time - from) / (to - from) * (width - nameWidth);
  }

  function drawRow(pen, ink, row, y) {
    pen.fillStyle = ink;
    pen.textAlign = "right";
    pen.fillText(row.label, nameWidth - 8, y + rowHeight / 2, nameWidth - 12);
    pen.textAlign = "left";
    const scale = (width - nameWidth) / (to - from);
    let drawn = -1;  // Up to here; slices thinner than half a pixel are merged into it.
    for (let i = firstAfter(row, from); i < row.count && row.starts[i] < to; ++i) {
      const left = Math.max(nameWidth, nameWidth + (row.starts[i] - from) * scale);
      const right = Math.min(width, nameWidth + (row.ends[i] - from) * scale);
      if (right < drawn + .5) continue;
      const wide = Math.max(.5, right - left);
      pen.globalAlpha = wanted && !data.texts[row.names[i]].toLowerCase().includes(wanted) ? .2 : 1;
      pen.fillStyle = colours[row.styles[i]];
      pen.fillRect(left, y, wide > 3 ? wide - .5 : wide, rowHeight);
      drawn = left + wide;
      if (wide > 40) {
        pen.save();
        pen.beginPath();
        pen.rect(left, y, wide - 3, rowHeight);
        pen.clip();
        pen.fillStyle = "#fff";
        pen.fillText(fitted(pen, data.texts[row.names[i]], wide - 10), left + 4, y + rowHeight / 2);
        pen.restore();
      }
    }
    pen.globalAlpha = 1;
  }

  function redraw() {
    if (!scheduled) {
      scheduled = true;
      requestAnimationFrame(draw);
    }
  }

  // Linked timelines follow the one that the reader moves.
  function show(begin, finish, following = false) {
    const length = Math.min(Math.max(finish - begin, 100), end * 1.02);
    from = Math.min(Math.max(begin, -end * .01), end * 1.01 - length);
    to = from + length;
    redraw();
    for (const other of following || !data.linked ? [] : document.querySelectorAll(".timeline")) {
      if (other !== box && other.timeline?.linked) other.timeline.show(from, to, true);
    }
  }

  function zoom(factor, x) {
    const at = from + (Math.max(x, nameWidth) - nameWidth) / (width - nameWidth) * (to - from);
    show(at - (at - from) * factor, at + (to - at) * factor);
  }

  function sliceAt(x, y) {
    const row = rows[Math.floor((y - axisHeight) / (rowHeight + rowGap))];
    if (!row || x < nameWidth) return null;
    const slack = (to - from) / (width - nameWidth);
    const time = from + (x - nameWidth) * slack;
    const i = firstAfter(row, time - slack);
    return i < row.count && row.starts[i] <= time + slack ? {row, i} : null;
  }

  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * .002), event.offsetX);
  }, {passive: false});
  let dragged = null;
  canvas.addEventListener("pointerdown", event => {
    dragged = {x: event.offsetX, from, to};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => { dragged = null; });
  canvas.addEventListener("pointermove", event => {
    if (dragged) {
      const moved = (event.offsetX - dragged.x) / (width - nameWidth) * (dragged.to - dragged.from);
      show(dragged.from - moved, dragged.to - moved);
      return;
    }
    const hit = sliceAt(event.offsetX, event.offsetY);
    tip.style.display = hit ? "block" : "none";
    if (hit) {
      const {row, i} = hit;
      tip.textContent = `${data.texts[row.names[i]]}: ${timeText(row.ends[i] - row.starts[i])}, ` +
        `from ${timeText(row.starts[i])}; ${row.label}`;
      tip.style.left = Math.min(event.offsetX + 12, width - 260) + "px";
      tip.style.top = canvas.offsetTop + event.offsetY + 16 + "px";
    }
  });
  canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
  canvas.addEventListener("dblclick", event => {
    const hit = sliceAt(event.offsetX, event.offsetY);
    if (hit) {
      const begin = hit.row.starts[hit.i], length = hit.row.ends[hit.i] - begin;
      show(begin - length, begin + 2 * length);
    }
  });
  canvas.addEventListener("keydown", event => {
    const step = (to - from) / 5;
    const keys = {ArrowLeft: () => show(from - step, to - step), ArrowRight: () => show(from + step, to + step),
                  "+": () => zoom(.7, width / 2), "=": () => zoom(.7, width / 2), "-": () => zoom(1.4, width / 2),
                  "0": () => show(0, end)};
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  whole.addEventListener("click", () => show(0, end));
  find.addEventListener("input", () => {
    wanted = find.value.trim().toLowerCase() || null;
    let count = 0, time = 0;
    for (const row of wanted ? rows : []) {
      for (let i = 0; i < row.count; ++i) {
        if (data.texts[row.names[i]].toLowerCase().includes(wanted)) {
          ++count;
          time += row.ends[i] - row.starts[i];
        }
      }
    }
    found.textContent = wanted ? `${count} found, ${timeText(time)} in all` : "";
    redraw();
  });
  window.addEventListener("resize", redraw);
  show(0, end);
}
