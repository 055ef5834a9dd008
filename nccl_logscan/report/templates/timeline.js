// Zoom of the timeline: moments move apart, letters and marks stay as large as they are. Without scripts all is shown.

for (const frame of document.querySelectorAll(".zoomable")) zoomable(frame);

function zoomable(frame) {
  const WIDEST = 32, NEAR = Number(frame.dataset.near);
  const svg = frame.querySelector("svg"), controls = frame.previousElementSibling;
  const { width, height } = svg.viewBox.baseVal;
  const moving = [...svg.querySelectorAll(".moves")].map((part) => ({ part, x: placeOf(part) }));
  const lines = svg.querySelectorAll(".lane line"), labels = svg.querySelector(".labels");
  const left = lines[0].x1.baseVal.value;
  let zoom = 1;

  controls.hidden = false;
  controls.addEventListener("click", (event) => {
    const asked = event.target.closest("button")?.dataset.zoom;
    if (asked) show({ in: zoom * 2, out: zoom / 2, whole: 1 }[asked]);
  });
  frame.addEventListener("keydown", (event) => {
    const asked = { "+": zoom * 2, "=": zoom * 2, "-": zoom / 2, 0: 1 }[event.key];
    if (asked === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(asked);
  });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    show(zoom * 2 ** (-Math.sign(event.deltaY) / 2), event.clientX - frame.getBoundingClientRect().left);
  }, { passive: false });
  frame.addEventListener("scroll", keepLabels);
  // On paper nobody scrolls.
  addEventListener("beforeprint", () => show(1));
  limit();

  // Draws the picture `wanted` times as wide; what is shown at pixel `at` of the frame stays there.
  function show(wanted, at = frame.clientWidth / 2) {
    const next = Math.min(WIDEST, Math.max(1, wanted));
    if (next === zoom) return;
    const before = pixel(), place = ((frame.scrollLeft + at) / before - left) / zoom;
    zoom = next;
    const wide = left + (width - left) * zoom;
    svg.setAttribute("viewBox", `0 0 ${wide} ${height}`);
    svg.style.width = zoom > 1 ? `${before * wide}px` : "";
    svg.style.maxWidth = "none";
    for (const { part, x } of moving) part.setAttribute("transform", `translate(${(x - left) * (zoom - 1)} 0)`);
    for (const line of lines) line.setAttribute("x2", wide - 8);
    svg.classList.toggle("is-near", zoom >= NEAR);
    frame.scrollLeft = (left + place * zoom) * pixel() - at;
    keepLabels();
    limit();
    told.textContent = zoom > 1 ? `Timeline drawn ${Math.round(zoom * 10) / 10} times as wide` : "The whole timeline is shown";
  }

  // CSS pixels of a unit of the picture.
  function pixel() {
    return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  }

  function keepLabels() {
    labels.setAttribute("transform", `translate(${frame.scrollLeft / pixel()} 0)`);
  }

  // A control that can do nothing says so, and keeps the focus that it has.
  function limit() {
    for (const button of controls.querySelectorAll("button")) {
      const done = button.dataset.zoom === "in" ? zoom >= WIDEST : zoom <= 1;
      button.setAttribute("aria-disabled", done);
    }
  }
}

function placeOf(part) {
  const at = part.cx ?? (part.x1 ?? part.querySelector("line")?.x1);
  return at ? at.baseVal.value : part.getBBox().x + part.getBBox().width / 2;
}
