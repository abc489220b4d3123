// Runs in the page under test: uses its timeline as a reader would, and leaves
// what it saw in <pre id="probe"> as JSON.
"use strict";
const problems = [];
window.addEventListener("error", event => problems.push(String(event.message)));
const complain = console.error;
console.error = (...words) => { problems.push(words.join(" ")); complain(...words); };

window.addEventListener("load", () => {
  const seen = {problems};
  try {
    look(seen);
  } catch (error) {
    problems.push(String(error));
  }
  const pre = document.createElement("pre");
  pre.id = "probe";
  pre.textContent = JSON.stringify(seen);
  document.body.append(pre);
});

function look(seen) {
  seen.title = document.title;
  seen.verdict = document.querySelector(".verdict").textContent;
  seen.sections = [...document.querySelectorAll("h2")].map(head => head.textContent);
  seen.facts = Object.fromEntries([...document.querySelectorAll(".facts div")].map(
      fact => [fact.querySelector("dt").textContent, fact.querySelector("dd").textContent]));
  seen.bars = document.querySelectorAll(".bars .bar-name").length;
  seen.parts = document.querySelectorAll(".bars rect").length;
  seen.tables = [...document.querySelectorAll("table")].map(table => table.rows.length);
  seen.cells = [...document.querySelectorAll("table")].map(
      table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent)));
  seen.barTimes = [...document.querySelectorAll(".bars .bar-time")].map(text => text.textContent);
  seen.waterfall = [...document.querySelectorAll(".waterfall rect title")].map(title => title.textContent);
  seen.charts = [...document.querySelectorAll(".chart")].map(chart => chart.getAttribute("aria-label"));
  seen.points = document.querySelectorAll(".chart [cx]").length;
  seen.marked = document.querySelectorAll('.chart [r="6"]').length;
  seen.wide = document.documentElement.scrollWidth > window.innerWidth;
  const boxes = [...document.querySelectorAll(".timeline")];
  seen.timelines = boxes.length;
  if (boxes.length === 0) return;
  const box = boxes[0], canvas = box.querySelector("canvas");
  seen.overview = box.querySelectorAll(".overview").length;
  seen.rows = box.timeline.view().rows;
  seen.slices = box.timeline.slices;
  const frame = canvas.getBoundingClientRect();
  const send = (type, kind, x, y, more) => canvas.dispatchEvent(new kind(type,
      {clientX: frame.left + x, clientY: frame.top + y, bubbles: true, cancelable: true, ...more}));

  // Every pixel of a colour is something drawn.
  box.timeline.draw();
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  seen.coloured = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    seen.coloured += pixels[i + 3] > 0 && Math.abs(pixels[i] - pixels[i + 2]) > 40;
  }

  seen.whole = box.timeline.view();
  send("wheel", WheelEvent, 600, 40, {deltaY: -400});
  seen.zoomed = box.timeline.view();
  send("pointerdown", PointerEvent, 600, 40, {pointerId: 1});
  send("pointermove", PointerEvent, 500, 40, {pointerId: 1});
  send("pointerup", PointerEvent, 500, 40, {pointerId: 1});
  seen.moved = box.timeline.view();
  seen.views = boxes.map(other => other.timeline.view());
  box.querySelector("button").click();
  seen.again = box.timeline.view();

  // Point along the first row until something says what it is.
  const tip = box.querySelector(".tip");
  for (let x = 190; x < frame.width && tip.style.display !== "block"; ++x) {
    send("pointermove", PointerEvent, x, 30, {pointerId: 1});
  }
  seen.tip = tip.textContent;

  const find = box.querySelector("input");
  find.value = "gemm";
  find.dispatchEvent(new Event("input"));
  seen.found = box.querySelector(".controls span").textContent;

  const start = performance.now();
  for (let i = 0; i < 10; ++i) {
    box.timeline.draw();
  }
  seen.draw_ms = (performance.now() - start) / 10;
}
