// Comfort for readers with scripts. The page is whole without them, and a control that needs them is shown from here.

const told = document.getElementById("told");

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", () => copyBeside(button));
}

// Readers without this see closed parts printed as well, where the browser knows ::details-content.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const part of opened) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of opened) part.open = false;
});

async function copyBeside(button) {
  told.textContent = ""; // so that the same words are told again
  const parts = [...button.closest(".copyable").querySelectorAll("code[data-lines]")];
  const shown = parts.filter((code) => code.checkVisibility());
  const done = await copied(shown.map(textOf).join("\n"));
  if (!done) getSelection().setBaseAndExtent(shown[0], 0, shown.at(-1), shown.at(-1).childNodes.length);
  tell(button, done ? "Copied" : "Selected, not copied");
}

// A log's lines are elements of their own, without line feeds between them.
function textOf(code) {
  const lines = [...code.querySelectorAll(":scope > span")];
  return lines.length ? lines.map((line) => line.textContent).join("\n") : code.textContent;
}

// Whether the browser took the text. Its clipboard is there only in a secure context, which a page of a share is not.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

function copiedBySelection(text) {
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.className = "visually-hidden";
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused.focus({ preventScroll: true });
  return done;
}

function tell(button, what) {
  const label = button.firstElementChild;
  told.textContent = what;
  label.textContent = what;
  setTimeout(() => {
    label.textContent = "Copy";
  }, 2500);
}
