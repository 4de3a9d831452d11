
"use strict";
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// The reading line below a picture: what the bar under the pointer, or chosen by arrow keys, stands for.
for (const svg of all("svg.calls")) {
  const session = svg.closest(".session");
  const { left, step, bars, top, bottom } =
    Object.fromEntries(Object.entries(svg.dataset).map(([name, value]) => [name, Number(value)]));
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("y", top);
  cursor.setAttribute("height", bottom - top);
  cursor.setAttribute("width", step);
  let at = -1;
  const show = (index) => {
    at = Math.max(0, Math.min(bars - 1, index));
    const row = session.querySelectorAll("table.calls tbody tr")[at];
    if (!row) return;
    const [call, turn, time, read, written, neither, output] = [...row.cells].map((cell) => cell.textContent.trim());
    session.querySelector(".reading").textContent =
      `Call ${call} · turn ${turn} · ${time} · read ${read} · written ${written} · neither ${neither} · output ${output}`;
    cursor.setAttribute("x", left + at * step);
    svg.append(cursor);
  };
  svg.addEventListener("pointermove", (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const index = Math.floor((place.x - left) / step);
    if (index >= 0 && index < bars && index !== at) show(index);
  });
  svg.parentElement.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move || event.target !== svg.parentElement) return;
    event.preventDefault();
    show(at + move);
  });
}

// Which session is open. Without a script the page does this too, by its addresses alone.
const open = () => {
  const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  const session = target?.closest(".session") ?? document.querySelector(".session.first");
  for (const row of all(".sessions tbody tr")) {
    const link = row.querySelector("a");
    const on = Boolean(session && link && link.hash === `#${session.id}`);
    row.classList.toggle("on", on);
    if (link) on ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  }
};
addEventListener("hashchange", open);
open();

const list = document.querySelector(".sessions tbody");
if (list) {
  const find = document.querySelector(".find");
  const input = find.querySelector("input");
  find.hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    let count = 0;
    for (const row of list.rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      count += !row.hidden;
    }
    find.querySelector("output").textContent = wanted ? `${count} of ${list.rows.length}` : "";
  });
  all(".sessions thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      all(".sessions thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const number = list.rows[0].cells[column].dataset.v !== undefined;
      const compare = number ? (a, b) => a - b : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      const rows = [...list.rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
      list.append(...rows);
    });
  });
}
