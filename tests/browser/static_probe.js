// Looks into a page whose scripts may not run, in a frame next to it, and leaves
// what is to be seen in <pre id="probe"> as JSON.
"use strict";
window.addEventListener("load", () => {
  const pre = document.createElement("pre");
  pre.id = "probe";
  pre.textContent = JSON.stringify(look(document.querySelector("iframe")));
  document.body.append(pre);
});

function look(frame) {
  const page = frame.contentDocument;
  const all = selector => [...page.querySelectorAll(selector)];
  const texts = selector => all(selector).map(element => element.textContent);
  const seen = {text: page.body.innerText};
  seen.verdict = page.querySelector(".verdict").textContent;
  seen.sections = texts("h2");
  seen.facts = Object.fromEntries(all(".facts div").map(
      fact => [fact.querySelector("dt").textContent, fact.querySelector("dd").textContent]));
  seen.scripted = all("canvas, button, input").length;
  seen.wide = page.documentElement.scrollWidth > frame.clientWidth;
  seen.overviews = all(".overview svg").map(drawing => {
    const box = drawing.getBoundingClientRect();
    return {width: box.width, height: box.height, parts: drawing.querySelectorAll("rect").length,
            rows: drawing.querySelectorAll(".bar-name").length,
            ticks: [...drawing.querySelectorAll(".tick")].map(tick => tick.textContent)};
  });
  // Nothing takes room that is empty, and every text can be read where it is.
  seen.empty = all("svg, table, ul, .legend, .facts").filter(
      element => element.getBoundingClientRect().height === 0).length;
  seen.cut = [];
  seen.small = [];
  seen.covered = [];
  for (const drawing of all("svg")) {
    const frame = drawing.getBoundingClientRect();
    const labels = [...drawing.querySelectorAll("text")].filter(text => text.textContent.trim() !== "");
    const boxes = labels.map(text => text.getBoundingClientRect());
    labels.forEach((text, i) => {
      const box = boxes[i];
      if (box.left < frame.left - 1 || box.right > frame.right + 1) seen.cut.push(text.textContent);
      if (box.height < 9) seen.small.push(text.textContent);
      const next = boxes[i + 1];
      if (next && box.left < next.right - 1 && next.left < box.right - 1 &&
          box.top < next.bottom - 3 && next.top < box.bottom - 3) {
        seen.covered.push([text.textContent, labels[i + 1].textContent]);
      }
    });
  }
  return seen;
}
